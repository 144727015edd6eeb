"""A source of runs made of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from parsers import Series
from tests.sources import MemorySource

START = 1_700_000_000.0


def series(value: Sequence[float] | np.ndarray, step: Sequence[int] | None = None, begin: float = 10.0) -> Series:
    values = np.asarray(value, np.float64)
    steps = np.arange(values.size) if step is None else np.asarray(step, np.int64)
    wall = START + begin + np.arange(values.size) * 2.0
    return Series(steps.astype(np.int64), wall, values, np.zeros(values.size, np.int32), np.arange(values.size, dtype=np.int64))


def arrays(data: Mapping[str, Mapping[str, Series]], jobs: Mapping[str, Sequence[str]] | None = None) -> MemorySource:
    """A source over {run: {tag: Series}}; jobs names the runs that are ranks of one job."""
    started = {"started": START, "updated": START}
    return MemorySource({run: {"scalar": dict(tags), "row": started} for run, tags in data.items()}, jobs=jobs)


@pytest.fixture
def source() -> MemorySource:
    return arrays(
        {
            "a": {"loss": series([3.0, 2.0, 1.5, 1.0]), "lr": series([0.4, 0.3, 0.2, 0.1]), "layer10/w": series([1.0])},
            "b": {"loss": series([4.0, np.nan, np.inf, 2.0], begin=0.0), "layer2/w": series([1.0, 2.0])},
            "job/rank_0": {"loss": series([1.0, 2.0])},
            "job/rank_1": {"loss": series([2.0, 3.0])},
        },
        jobs={"job": ["job/rank_0", "job/rank_1"]},
    )
