"""Medians and intervals of measured times."""

from __future__ import annotations

import numpy as np

RESAMPLES = 4000


def ratio_of_medians(before: list[float], after: list[float], seed: int = 0) -> tuple[float, float, float]:
    """The ratio of the medians and its 95 % bootstrap interval; the two lists are paired by round."""
    a, b = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    chance = np.random.default_rng(seed)
    chosen = chance.integers(0, a.size, size=(RESAMPLES, a.size))
    ratios = np.median(a[chosen], axis=1) / np.median(b[chosen], axis=1)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(np.median(a) / np.median(b)), float(low), float(high)


def median(values: list[float]) -> float:
    return float(np.median(values))
