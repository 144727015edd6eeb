"""A FrameSource over a dict, and rows and series to fill it with."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from layouts.dumps.live_sessions import OFF, LiveSession, LiveStatus, Order
from layouts.dumps.open_dump import DumpView, DumpWork, OpenDump
from layouts.dumps.watchpoints import WatchList
from layouts.explanations.open_explanations import ExplanationWork, OpenExplanations
from layouts.kit.work import WorkResult
from layouts.profiles.frames import IdleTime, ProfileFrame, ProfileRow
from layouts.runs.boards import Board, BoardCard, BoardChange, ChangedBoard
from layouts.runs.notes import HandColour, Mark, Note, Notebook, NoteChange, NotKept, Stale, View
from layouts.runs.rows import RunChanges, RunRow, SourceStatus
from layouts.runs.run_colours import Colours
from layouts.sources import FrameSource, Growth
from layouts.tuning.studies import Importances, OpenStudy, StudyRow
from parsers import (
    DatasetGraph,
    Derived,
    ExpressionError,
    Graph,
    GraphLocation,
    HistogramValue,
    ImageValue,
    Insight,
    LandscapePlan,
    LineageRow,
    OpenTrace,
    PayloadError,
    PayloadSeries,
    Problem,
    Series,
    Setting,
    Value,
    derive,
    shared_tags,
)  # fmt: skip
from parsers.analysis import evaluate, parse_expression
from parsers.analysis.curves.insights import insights_of_run
from parsers.explanations.access import RunExplanations
from parsers.model import Ints
from parsers.payloads.pictures import GreyPicture
from parsers.profiler.jobs import JobFiles, Member

VALUES = ("histogram", "image", "tensor", "landscape", "text")
"""Kinds of large values."""


class MemorySource(FrameSource):
    """A FrameSource over {run: {kind: content}}; a test passes only the kinds it needs.

    "scalar": {tag: Series}
    "image" (any of VALUES): {tag: [(step, value), ...]}, or {tag: PayloadSeries} without values, or {tag: (PayloadSeries,
        [value, ...])}; an exception in place of a value is raised, None stands for an unreadable value
    "settings": {column: Setting}
    "dataset_graph": DatasetGraph, None for an unreadable one
    "graphs": {name: Graph}, "graph_locations": [GraphLocation, ...]
    "landscape_plan": LandscapePlan, or an exception to raise
    "profiles": {(session, rank): {frame: DataFrame or ProfileFrame}}, "profile_notes": {name: value}, "job": JobFiles
    "traces": {(session, rank): OpenTrace}, "idle": {(session, rank): IdleTime}
    "dump": RunDump, or another DumpView; work on it is done at once
    "explain": RunExplanations; work on them is done at once
    "row": {field: value} to override fields of the run's row

    jobs: {key of a job: its runs}. rows: what `runs` returns instead of rows made from the data. Tests may change all of it.
    """

    def __init__(
        self,
        data: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        rows: Sequence[RunRow] | None = None,
        jobs: Mapping[str, Sequence[str]] | None = None,
        problems: Sequence[tuple[str, Problem]] = (),
    ) -> None:
        self.data = {run: dict(content) for run, content in (data or {}).items()}
        self.rows = None if rows is None else list(rows)
        self.jobs = dict(jobs or {})
        self.found = list(problems)
        self.wanted: list[str] = []
        self.refreshed = 0
        self.number = 1
        self.read_at: float | None = 1_700_000_000.0
        self.failed = ""
        self.checked = (0, 0)
        self.painted: dict[str, str] = {}
        self.painted_groups: dict[tuple[str, str], str] = {}
        self.training = OFF
        self.searches: dict[str, OpenStudy] = {}
        self.importance = Importances("working")
        self.orders: list[tuple[str, Order]] = []
        self.watched: dict[str, WatchList] = {}

    def change(self, rows: Sequence[RunRow]) -> None:
        """Replace the rows and change the version of the source."""
        self.rows, self.number = list(rows), self.number + 1

    def _of(self, run: str, kind: str) -> Any:
        return self.data.get(run, {}).get(kind)

    # Runs

    def status(self) -> SourceStatus:
        rows = self.runs()
        loaded = sum(row.state not in ("waiting", "loading") for row in rows)
        base, problems = "/data/runs", len(self.found)
        return SourceStatus(base, self.read_at, 3.0, len(rows), loaded, problems, self.number, self.failed)

    def runs(self) -> Sequence[RunRow]:
        if self.read_at is None:
            return []
        if self.rows is not None:
            return self.rows
        ranks = {run for members in self.jobs.values() for run in members}
        singles = [self._row(run, [run]) for run in self.data if run not in ranks]
        return [*singles, *(self._row(job, members) for job, members in self.jobs.items())]

    def _row(self, key: str, members: Sequence[str]) -> RunRow:
        tags: dict[str, int] = {}
        for content in (self.data[run] for run in members):
            counts = {kind: len(content.get(kind, ())) for kind in ("scalar", *VALUES)}
            counts |= {"lineage": int("settings" in content), "dataset_graph": int("dataset_graph" in content)}
            counts |= {"graph": len(content.get("graphs", ())), "profile": len(content.get("profiles", ()))}
            counts |= {"dump": int("dump" in content), "explain": int("explain" in content)}
            tags |= {kind: tags.get(kind, 0) + count for kind, count in counts.items() if count}
        return row(key, members, **{"tags": tags} | self.data[members[0]].get("row", {}))

    def changes(self, since: str) -> RunChanges:
        mark = f"memory.{self.number}"
        whole = since != mark
        found = Colours(self.runs(), self.painted)
        return RunChanges(mark, whole, self.runs() if whole else (), (), found.usual, found.hues, found.by_hand)

    def colours(self, chosen: Sequence[str] = ()) -> Mapping[str, str]:
        return Colours(self.runs(), self.painted).of(chosen)

    def member(self, run: str) -> RunRow | None:
        found = next((row for row in self.runs() if run in row.members), None)
        return found and replace(found, key=run, members=(run,))

    def tags(self, run: str, kind: str = "scalar") -> Sequence[str]:
        if kind in ("dataset_graph", "explain"):
            return [kind] if kind in self.data.get(run, {}) else []
        return list(self._of(run, kind) or ())

    def series(self, run: str, tag: str) -> Series | None:
        found: Series | None = (self._of(run, "scalar") or {}).get(tag)
        if found is None and tag.startswith("="):
            with contextlib.suppress(ExpressionError):
                derived = self.derived(run, tag.removeprefix("="))
                return derived.series if derived is not None and derived.series.step.size else None
        return found

    def derived(self, run: str, expression: str) -> Derived | None:
        return evaluate(parse_expression(expression), (self._of(run, "scalar") or {}).get) if run in self.data else None

    def version(self, run: str) -> int:
        return next((row.version for row in self.runs() if run in row.members), 0)

    def problems(self, run: str | None = None) -> Sequence[tuple[str, Problem]]:
        return [(key, problem) for key, problem in self.found if run is None or key == run]

    def verified(self, run: str | None = None) -> tuple[int, int]:
        return self.checked

    def insights(self, run: str, tags: Sequence[str] | None = None, seconds: float = 0.1) -> tuple[Sequence[Insight], int]:
        every = {tag: self.series(run, tag) for tag in (self.tags(run) if tags is None else tags)}
        return insights_of_run({tag: series for tag, series in every.items() if series is not None}), 0

    def want(self, runs: Sequence[str]) -> None:
        self.wanted = list(runs)

    def refresh(self) -> None:
        self.refreshed += 1

    # Values

    def payload_series(self, run: str, kind: str, tag: str) -> PayloadSeries | None:
        found = self._recorded(run, kind, tag)
        return found and found[0]

    def value(self, run: str, kind: str, tag: str, place: int) -> Value:
        items, values = self._recorded(run, kind, tag) or (None, ())
        if items is None or not -len(values) <= place < len(values):
            raise PayloadError(f"no such {kind}")
        value: Value | Exception | None = values[place]
        if value is None:
            raise PayloadError(f"step {items.step[place]}: unreadable")
        if isinstance(value, Exception):
            raise value
        return value

    def _recorded(self, run: str, kind: str, tag: str) -> tuple[PayloadSeries, Sequence[Any]] | None:
        found = (self._of(run, kind) or {}).get(tag)
        if found is None or kind not in VALUES:
            return None
        if isinstance(found, list):
            steps, values = [step for step, _ in found], [value for _, value in found]
            return recorded(steps), values
        return (found, ()) if isinstance(found, PayloadSeries) else found

    def distribution(self, run: str, tag: str, place: int, *, known: bool = False) -> HistogramValue | None:
        raise PayloadError("no value")

    def dataset_graph(self, run: str) -> DatasetGraph | None:
        found: DatasetGraph | None = self._of(run, "dataset_graph")
        return found

    def graphs(self, run: str) -> Sequence[GraphLocation]:
        return self._of(run, "graph_locations") or ()

    def graph(self, run: str, name: str) -> Graph | None:
        found: Graph | None = (self._of(run, "graphs") or {}).get(name)
        return found

    def landscape_plan(self, run: str) -> LandscapePlan | None:
        found: LandscapePlan | Exception | None = self._of(run, "landscape_plan")
        if isinstance(found, Exception):
            raise found
        return found

    # Profiles

    def profiles(self, run: str) -> Sequence[ProfileRow]:
        every = self._of(run, "profiles") or {}
        return [
            ProfileRow(session, rank, "Ascend", ("a.csv",), 10, 5.0, tuple(frames), "m")
            for (session, rank), frames in every.items()
        ]  # fmt: skip

    def profile_frame(self, run: str, session: str, rank: int, name: str, *, again: bool = False) -> ProfileFrame:
        found = (self._of(run, "profiles") or {}).get((session, rank), {}).get(name)
        if found is None:
            return ProfileFrame("missing", wanted=(f"{name}.csv",))
        return found if isinstance(found, ProfileFrame) else ProfileFrame("ready", found)

    def job(self, run: str, session: str, rank: int) -> JobFiles | None:
        every = self._of(run, "profiles") or {}
        if (session, rank) not in every:
            return None
        given: JobFiles | None = self._of(run, "job")
        members = tuple(Member(of, of, one, "", ()) for of, one in sorted(every, key=lambda key: key[1]) if one >= 0)
        return given or JobFiles(session, members)

    def members(self, run: str, session: str, rank: int) -> Sequence[tuple[str, str, int]]:
        job = self.job(run, session, rank)
        return [(run, one.session, one.rank) for one in job.members] if job else []

    def cancel_profile(self, run: str, session: str, rank: int, name: str) -> None:
        return

    def trace(self, run: str, session: str, rank: int) -> OpenTrace | None:
        return (self._of(run, "traces") or {}).get((session, rank))

    def idle_time(self, run: str, session: str, rank: int) -> IdleTime:
        found: IdleTime | None = (self._of(run, "idle") or {}).get((session, rank))
        return found or IdleTime("missing")

    def profile_notes(self, run: str, session: str, rank: int) -> Mapping[str, Any]:
        return self._of(run, "profile_notes") or {}

    # Dumps

    def dump(self, run: str) -> OpenDump:
        found = self._of(run, "dump")
        return OpenDump("missing") if found is None else OpenDump("ready", found, f"{run}.{self.number}")

    def dump_work(self, run: str, work: DumpWork, *, again: bool = False) -> WorkResult:
        opened = self.dump(run)
        if opened.dump is None:
            return WorkResult("missing")
        return WorkResult("ready", work.job(opened.dump, Reported(opened.dump)), mark=opened.mark)

    def cancel_dump(self, run: str, work: DumpWork) -> None:
        return

    # Explanations

    def explanations(self, run: str) -> OpenExplanations:
        found: RunExplanations | None = self._of(run, "explain")
        return OpenExplanations("ready", found.snapshot(), f"{run}.{self.number}") if found else OpenExplanations("missing")

    def explanation_work(self, run: str, work: ExplanationWork, *, again: bool = False) -> WorkResult:
        opened = self.explanations(run)
        if opened.explanations is None:
            return WorkResult("missing")
        return WorkResult("ready", work.job(opened.explanations, lambda *_: None), mark=opened.mark)

    def cancel_explanation(self, run: str, work: ExplanationWork) -> None:
        return

    def explanation_picture(self, run: str, path: str) -> ImageValue:
        return self._explanations(run).pictures.picture(path)

    def explanation_outcome(self, run: str, path: str, boxes: str, mask: str) -> ImageValue:
        return self._explanations(run).pictures.outcome(path, boxes, mask)

    def explanation_heat_map(self, run: str, path: str) -> GreyPicture:
        return self._explanations(run).pictures.heat_map(path)

    def _explanations(self, run: str) -> RunExplanations:
        found: RunExplanations | None = self._of(run, "explain")
        if found is None:
            raise PayloadError("no explanations")
        return found

    # Studies

    def studies(self) -> Sequence[StudyRow]:
        return [one.study.row for one in self.searches.values() if one.study is not None]

    def study(self, key: str) -> OpenStudy:
        return self.searches.get(key, OpenStudy("missing"))

    def importances(self, key: str, target: str, method: str) -> Importances:
        return self.importance

    # Live training

    def live(self) -> LiveStatus:
        return self.training

    def order(self, session: str, order: Order) -> LiveSession:
        found = next((one for one in self.training.sessions if one.key == session), None)
        if found is None:
            raise KeyError(session)
        self.orders.append((session, order))
        return found

    # Lineage

    def settings(self, run: str) -> Mapping[str, Setting]:
        return self._of(run, "settings") or {}

    def lineage(self) -> tuple[LineageRow, ...]:
        keys = [run for row in self.runs() for run in row.members if "settings" in self.data.get(run, {})]
        tags = shared_tags([self.tags(key) for key in keys])
        return tuple(LineageRow(key, f"/data/runs/{key}", self.settings(key), self._derived(key, tags)) for key in keys)

    def _derived(self, run: str, tags: Sequence[str]) -> dict[str, int | float]:
        return derive(self.tags(run), lambda tag: self.series(run, tag), tags)

    def growth(self, rows: Sequence[LineageRow], target: str, act: str = "") -> Growth:
        return Growth("missing")

    # Notes

    def notebook(self) -> Notebook:
        return Notebook(watchpoints=dict(self.watched), groups=self.painted_groups)

    def annotate(self, run: str, change: NoteChange) -> Note:
        raise NotKept("no workspace")

    def save_view(self, name: str, place: str, *, instead: str | None = None) -> View:
        raise NotKept("no workspace")

    def rename_view(self, key: str, name: str, was: str) -> View:
        raise NotKept("no workspace")

    def delete_view(self, key: str, was: str) -> None:
        raise NotKept("no workspace")

    def save_mark(self, run: str, mark: Mark, *, instead: str | None = None) -> Mark:
        raise NotKept("no workspace")

    def delete_mark(self, key: str, was: str) -> None:
        raise NotKept("no workspace")

    def paint(self, run: str, colour: str) -> HandColour:
        raise NotKept("no workspace")

    def paint_group(self, by: str, label: str, colour: str) -> HandColour:
        raise NotKept("no workspace")

    def create_board(self, name: str, cards: Sequence[BoardCard], *, key: str = "") -> Board:
        raise NotKept("no workspace")

    def change_board(self, key: str, change: BoardChange) -> ChangedBoard:
        raise NotKept("no workspace")

    def delete_board(self, key: str) -> Board | None:
        raise NotKept("no workspace")

    def save_watchpoints(self, run: str, watched: WatchList, was: str) -> WatchList:
        known = self.watched.get(run, WatchList())
        self.data[run]  # KeyError for an unknown run
        made = watched.checked()
        if known.version not in (was, made.version):
            raise Stale(known)
        self.watched[run] = made
        return self.watched[run]

    # Patterns

    def matching(self, pattern: str, names: Sequence[str]) -> Sequence[str]:
        return [name for name in names if re.search(pattern, name)]

    def captured(self, pattern: str, names: Sequence[str]) -> Sequence[str | None]:
        found = [re.search(pattern, name) for name in names]
        return [match and (match[1] if match.re.groups else match[0]) for match in found]


class Reported:
    """What work on a dump calls, of work that is done at once."""

    def __init__(self, dump: DumpView) -> None:
        self.dump = dump
        self.told: list[tuple[int, int, Any]] = []

    def measure(self, rows: Ints, *, computed: bool = False, of: DumpView | None = None) -> None:
        (self.dump if of is None else of).measured(rows, computed=computed)

    def __call__(self, done: int, total: int, result: Any = None) -> None:
        self.told.append((done, total, result))


def row(key: str, members: Sequence[str] = (), **changes: object) -> RunRow:
    """Return the row of a run with 3 scalar tags that ended long ago."""
    plain = RunRow(
        key=key, name=key, path=f"/data/runs/{key}", real_path=f"/data/runs/{key}", members=tuple(members) or (key,),
        started=1_699_990_000.0, updated=1_699_999_000.0, size=52_736, state="idle", steps=130, points=390,
        tags={"scalar": 3}, main_tag="loss", main_value=0.25, version=1,
    )  # fmt: skip
    return replace(plain, **changes)  # type: ignore[arg-type]


def series(steps: int, seed: int = 0) -> Series:
    """Return a falling curve with this many steps, one per second."""
    step = np.arange(steps, dtype=np.int64)
    value = np.exp(-step / max(steps, 1)) + np.random.default_rng(seed).normal(0, 0.02, steps)
    return Series(step, 1_699_990_000.0 + step, value, np.zeros(steps, np.int32), step * 40)


def recorded(steps: Sequence[int], walls: Sequence[float] | None = None) -> PayloadSeries:
    """Return large values at these steps, two seconds apart unless walls are given."""
    place = np.arange(len(steps), dtype=np.int64)
    wall = 1_700_000_005.0 + place * 2.0 if walls is None else np.array(walls, np.float64)
    return PayloadSeries(np.array(steps, np.int64), wall, np.zeros(len(steps), np.int32), place, place, place)
