"""When the collector of cycles runs."""

import gc
import weakref

from coalesce_lint import collector
from coalesce_lint.analysis import analyze

KERNEL = b"import triton\n@triton.jit\ndef f(x):\n    pass\n"


class Cycle:
    def __init__(self) -> None:
        self.me = self


def test_the_collector_is_as_it_was_behind_a_run():
    before = gc.get_threshold(), gc.get_freeze_count()
    with collector.between_files():
        assert gc.get_threshold()[0] > before[0][0]
    assert (gc.get_threshold(), gc.get_freeze_count()) == before


def test_cycles_of_a_file_are_gone_before_the_next(monkeypatch):
    monkeypatch.setattr(collector, "_BETWEEN", 100)
    with collector.between_files():
        left = [Cycle() for _ in range(1000)]
        watched = weakref.ref(left[0])
        del left
        assert watched() is not None
        analyze("a.py", KERNEL, None, ())
        assert watched() is None
