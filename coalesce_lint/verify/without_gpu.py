"""Lets programs that ask for CUDA, and Triton's interpreter, run where there is no GPU."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

#: What torch.cuda answers where there is none: the architecture that is compiled for, and nothing to wait
#: for.
CUDA_ANSWERS: dict[str, Any] = {
    "synchronize": lambda *_: None,
    "empty_cache": lambda: None,
    "current_device": lambda: 0,
    "set_device": lambda *_: None,
    "manual_seed": lambda *_: None,
    "get_device_capability": lambda *_: (9, 0),
    "get_device_name": lambda *_: "no GPU",
    "device": lambda *_: contextlib.nullcontext(),
}


class OnCpu:
    """Lets a program that asks for CUDA run without it: devices named cuda become the CPU."""

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        import torch
        from torch.overrides import TorchFunctionMode

        def moved(value: Any) -> Any:
            if isinstance(value, torch.device) and value.type == "cuda":
                return torch.device("cpu")
            return "cpu" if isinstance(value, str) and value.split(":")[0] == "cuda" else value

        class Mode(TorchFunctionMode):
            def __torch_function__(
                self, function: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                kwargs = dict(kwargs or {})
                name = getattr(function, "__name__", "")
                if name == "cuda":
                    return args[0]
                if "device" in kwargs:
                    kwargs["device"] = moved(kwargs["device"])
                if name == "to":
                    args = tuple(moved(a) if isinstance(a, (str, torch.device)) else a for a in args)
                return function(*args, **kwargs)

        for name, value in CUDA_ANSWERS.items():
            setattr(torch.cuda, name, value)
        with Mode():
            yield


def prepare_interpreter() -> None:
    """What launches need without a GPU: a driver that says where tensors live, and loops over numpy
    integers."""
    import numpy as np
    import torch
    from triton.runtime import interpreter
    from triton.runtime.driver import driver

    from coalesce_lint.verify.compile_worker import StandInDriver

    class CpuDriver(StandInDriver):
        def get_active_torch_device(self) -> Any:
            return torch.device("cpu")

        def get_device_interface(self) -> Any:
            return torch.cpu

    from triton.backends.compiler import GPUTarget

    driver.set_active(CpuDriver(GPUTarget("cuda", 90, 32)))
    original = interpreter._patch_lang_tensor

    def patch_tensor(tensor: Any, *scope: Any) -> None:
        original(tensor, *scope)
        tensor.__index__ = lambda value: int(np.asarray(value.handle.data).reshape(-1)[0])

    interpreter._patch_lang_tensor = patch_tensor
