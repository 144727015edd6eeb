"""A FrameSource over what a test gives it, and runs to fill it with."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from layouts.notes import Note, Notebook, NoteChange, NotKept, View
from layouts.sources import Growth, ProfileFrame, ProfileRow, RunRow, SourceStatus
from parsers import (
    DatasetGraph,
    Graph,
    GraphLocation,
    HistogramValue,
    Insight,
    LandscapePlan,
    LineageRow,
    PayloadError,
    PayloadSeries,
    Problem,
    Series,
    Setting,
    Value,
    derive,
    shared_tags,
)  # fmt: skip
from parsers.analysis.insights import insights_of_run


class EmptySource:
    """What layouts.page.FrameSource answers where a run has scalars only, or nothing; sources of tests build on it."""

    def payload_series(self, run: str, kind: str, tag: str) -> PayloadSeries | None:
        return None

    def value(self, run: str, kind: str, tag: str, place: int) -> Value:
        raise PayloadError("no value")

    def distribution(self, run: str, tag: str, place: int, *, known: bool = False) -> HistogramValue | None:
        raise PayloadError("no value")

    def insights(self, run: str, tags: Sequence[str] | None = None, seconds: float = 0.1) -> tuple[Sequence[Insight], int]:
        wanted = self.tags(run) if tags is None else tags  # type: ignore[attr-defined]
        every = {tag: self.series(run, tag) for tag in wanted}  # type: ignore[attr-defined]
        return insights_of_run({tag: series for tag, series in every.items() if series is not None}), 0

    def settings(self, run: str) -> Mapping[str, Setting]:
        return {}

    def lineage(self) -> tuple[LineageRow, ...]:
        return ()

    def growth(self, rows: Sequence[LineageRow], target: str, act: str = "") -> Growth:
        return Growth("missing")

    def dataset_graph(self, run: str) -> DatasetGraph | None:
        return None

    def graphs(self, run: str) -> Sequence[GraphLocation]:
        return ()

    def graph(self, run: str, name: str) -> Graph | None:
        return None

    def matching(self, pattern: str, names: Sequence[str]) -> Sequence[str]:
        return [name for name in names if re.search(pattern, name)]

    def captured(self, pattern: str, names: Sequence[str]) -> Sequence[str | None]:
        found = [re.search(pattern, name) for name in names]
        return [match and (match[1] if match.re.groups else match[0]) for match in found]

    def landscape_plan(self, run: str) -> LandscapePlan | None:
        return None

    def notebook(self) -> Notebook:
        return Notebook()

    def annotate(self, run: str, change: NoteChange) -> Note:
        raise NotKept("no workspace")

    def save_view(self, name: str, place: str, *, instead: str | None = None) -> View:
        raise NotKept("no workspace")

    def rename_view(self, key: str, name: str, was: str) -> View:
        raise NotKept("no workspace")

    def delete_view(self, key: str, was: str) -> None:
        raise NotKept("no workspace")

    def profiles(self, run: str) -> Sequence[ProfileRow]:
        return ()

    def profile_frame(self, run: str, session: str, rank: int, name: str, *, again: bool = False) -> ProfileFrame:
        return ProfileFrame("missing")

    def cancel_profile(self, run: str, session: str, rank: int, name: str) -> None:
        return

    def profile_notes(self, run: str, session: str, rank: int) -> Mapping[str, Any]:
        return {}

    def problems(self, run: str | None = None) -> Sequence[tuple[str, Problem]]:
        return []

    def unverified(self, run: str | None = None) -> int:
        return 0

    def refresh(self) -> None:
        return


class GivenSource(EmptySource):
    """Satisfies layouts.page.FrameSource over rows and series at hand; `change` makes a new version."""

    def __init__(
        self,
        rows: Sequence[RunRow] = (),
        series: Mapping[tuple[str, str], Series] | None = None,
        problems: Sequence[tuple[str, Problem]] = (),
        base: str = "/data/runs",
        settings: Mapping[str, Mapping[str, Setting]] | None = None,
    ) -> None:
        self.rows = list(rows)
        self.given = dict(series or {})
        self.found = list(problems)
        self.base = base
        self.described = dict(settings or {})
        self.wanted: list[str] = []
        self.refreshed = 0
        self.number = 1
        self.read_at: float | None = 1_700_000_000.0

    def change(self, rows: Sequence[RunRow]) -> None:
        self.rows, self.number = list(rows), self.number + 1

    def status(self) -> SourceStatus:
        loaded = sum(row.state not in ("waiting", "loading") for row in self.rows)
        return SourceStatus(self.base, self.read_at, 3.0, len(self.rows), loaded, len(self.found), self.number)

    def runs(self) -> Sequence[RunRow]:
        return self.rows

    def member(self, run: str) -> RunRow | None:
        found = next((row for row in self.rows if run in row.members), None)
        return found and replace(found, key=run, members=(run,))

    def tags(self, run: str, kind: str = "scalar") -> Sequence[str]:
        return [tag for member, tag in self.given if member == run and kind == "scalar"]

    def series(self, run: str, tag: str) -> Series | None:
        return self.given.get((run, tag))

    def settings(self, run: str) -> Mapping[str, Setting]:
        return self.described.get(run, {})

    def lineage(self) -> tuple[LineageRow, ...]:
        keys = [key for row in self.rows for key in row.members if key in self.described]
        tags = shared_tags([self.tags(key) for key in keys])
        return tuple(LineageRow(key, f"/data/runs/{key}", self.described[key], self._derived(key, tags)) for key in keys)

    def _derived(self, run: str, tags: Sequence[str]) -> dict[str, int | float]:
        return derive(self.tags(run), lambda tag: self.series(run, tag), tags)

    def version(self, run: str) -> int:
        return next((row.version for row in self.rows if run in row.members), 0)

    def problems(self, run: str | None = None) -> Sequence[tuple[str, Problem]]:
        return [(key, problem) for key, problem in self.found if run is None or key == run]

    def want(self, runs: Sequence[str]) -> None:
        self.wanted = list(runs)

    def refresh(self) -> None:
        self.refreshed += 1


def row(key: str, members: Sequence[str] = (), **changes: object) -> RunRow:
    """A run with 3 scalar tags that ended long ago."""
    plain = RunRow(
        key=key, name=key, path=f"/data/runs/{key}", real_path=f"/data/runs/{key}", members=tuple(members) or (key,),
        started=1_699_990_000.0, updated=1_699_999_000.0, size=52_736, state="idle", steps=130, points=390,
        tags={"scalar": 3}, main_tag="loss", main_value=0.25, version=1,
    )  # fmt: skip
    return replace(plain, **changes)  # type: ignore[arg-type]


def series(steps: int, seed: int = 0) -> Series:
    """A falling curve of so many steps, one a second."""
    step = np.arange(steps, dtype=np.int64)
    value = np.exp(-step / max(steps, 1)) + np.random.default_rng(seed).normal(0, 0.02, steps)
    return Series(step, 1_699_990_000.0 + step, value, np.zeros(steps, np.int32), step * 40)
