"""A source of runs made of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from layouts.sources import RunRow, SourceStatus
from parsers import Series
from tests.layouts.sources import EmptySource

START = 1_700_000_000.0


def series(value: Sequence[float] | np.ndarray, step: Sequence[int] | None = None, begin: float = 10.0) -> Series:
    values = np.asarray(value, np.float64)
    steps = np.arange(values.size) if step is None else np.asarray(step, np.int64)
    wall = START + begin + np.arange(values.size) * 2.0
    return Series(steps.astype(np.int64), wall, values, np.zeros(values.size, np.int32), np.arange(values.size, dtype=np.int64))


class Arrays(EmptySource):
    """A FrameSource over {run: {tag: Series}}; jobs names the runs that are ranks of one job."""

    def __init__(self, data: Mapping[str, Mapping[str, Series]], jobs: Mapping[str, Sequence[str]] | None = None) -> None:
        self.data = {run: dict(tags) for run, tags in data.items()}
        self.jobs = dict(jobs or {})
        self.wanted: list[str] = []
        self.states: dict[str, str] = {}

    def _row(self, key: str, members: Sequence[str]) -> RunRow:
        return RunRow(
            key=key, name=key, path=f"/data/{key}", real_path=f"/data/{key}", members=tuple(members), started=START,
            updated=START, size=0, state=self.states.get(key, "idle"),
        )  # fmt: skip

    def status(self) -> SourceStatus:
        return SourceStatus("/data", START, 3.0, len(self.data), len(self.data), 0, 1)

    def runs(self) -> Sequence[RunRow]:
        ranks = {member for members in self.jobs.values() for member in members}
        singles = [self._row(run, [run]) for run in self.data if run not in ranks]
        return [*singles, *(self._row(job, members) for job, members in self.jobs.items())]

    def tags(self, run: str, kind: str = "scalar") -> Sequence[str]:
        return list(self.data.get(run, {})) if kind == "scalar" else []

    def series(self, run: str, tag: str) -> Series | None:
        return self.data.get(run, {}).get(tag)

    def version(self, run: str) -> int:
        return 1 if run in self.data else 0

    def want(self, runs: Sequence[str]) -> None:
        self.wanted = list(runs)


@pytest.fixture
def source() -> Arrays:
    return Arrays(
        {
            "a": {"loss": series([3.0, 2.0, 1.5, 1.0]), "lr": series([0.4, 0.3, 0.2, 0.1]), "layer10/w": series([1.0])},
            "b": {"loss": series([4.0, np.nan, np.inf, 2.0], begin=0.0), "layer2/w": series([1.0, 2.0])},
            "job/rank_0": {"loss": series([1.0, 2.0])},
            "job/rank_1": {"loss": series([2.0, 3.0])},
        },
        jobs={"job": ["job/rank_0", "job/rank_1"]},
    )
