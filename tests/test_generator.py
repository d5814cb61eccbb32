"""The kernel generator writes everything that the soundness tests are to cover."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))

pytest.importorskip("numpy")
from oracle.constructs import CONSTRUCTS, count  # noqa: E402
from oracle.generate import generate  # noqa: E402

KERNELS = 3000


def test_every_construct_occurs_in_generated_kernels():
    found = count(generate(seed).text for seed in range(KERNELS))
    assert found.keys() == CONSTRUCTS.keys()
    rare = {name: n for name, n in found.items() if n < 15}
    assert not rare


def test_a_seed_always_gives_the_same_kernel():
    assert [generate(seed).text for seed in range(20)] == [generate(seed).text for seed in range(20)]
