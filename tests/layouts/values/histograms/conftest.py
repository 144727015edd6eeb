"""A source of histograms made by numpy."""

from __future__ import annotations

import numpy as np
import pytest

from parsers import HistogramValue
from tests.sources import MemorySource

START = 1_700_000_000.0


def value_of(data: np.ndarray, bins: int = 20) -> HistogramValue:
    """A histogram of numbers as numpy counts them, non-finite ones counted apart."""
    finite = data[np.isfinite(data)]
    count, edges = np.histogram(finite, bins) if finite.size else (np.zeros(0), np.zeros(1))
    return HistogramValue(
        left=edges[:-1], width=np.diff(edges), count=count.astype(np.float64),
        min=float(finite.min()) if finite.size else np.nan, max=float(finite.max()) if finite.size else np.nan,
        sum=float(finite.sum()), total=data.size, nan=int(np.isnan(data).sum()), pos_inf=int(np.isposinf(data).sum()),
        neg_inf=int(np.isneginf(data).sum()),
    )  # fmt: skip


def histograms(data: dict[str, dict[str, list[tuple[int, HistogramValue | None]]]]) -> MemorySource:
    """A source over {run: {tag: [(step, value), ...]}}; a value that is None cannot be read."""
    started = {"started": START, "updated": START}
    return MemorySource({run: {"histogram": tags, "row": started} for run, tags in data.items()})


def growing(steps: int, size: int = 500, seed: int = 0) -> list[tuple[int, HistogramValue | None]]:
    """Normal numbers that spread as steps pass."""
    random = np.random.default_rng(seed)
    return [(10 * at, value_of(random.normal(0.0, 1.0 + at / 50, size))) for at in range(steps)]


@pytest.fixture
def source() -> MemorySource:
    nothing = value_of(np.full(30, np.nan))
    point = HistogramValue(np.array([-1.0, 0.25]), np.array([0.0, 0.5]), np.array([7.0, 3.0]), -1.0, 0.6, -5.0, 10)
    return histograms({
        "a": {"w": growing(200), "short": growing(12), "points": [(1, point), (2, point)]},
        "b": {"w": growing(30, seed=1), "short": [(0, nothing), *growing(12, seed=2)[1:], (120, None)]},
    })  # fmt: skip
