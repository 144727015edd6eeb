"""What pages ask the application for, over a dict, and rows and series to fill it with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from layouts.curves.source import CurveSource
from layouts.dumps.live_sessions import OFF, Order
from layouts.dumps.live_source import LiveSource
from layouts.dumps.source import DumpSource
from layouts.dumps.watchpoints import WatchList
from layouts.explanations.source import ExplanationSource
from layouts.graphs.source import GraphSource
from layouts.kit.patterns import PatternMatcher
from layouts.lineage.source import LineageSource
from layouts.profiles.source import ProfileSource
from layouts.runs.checks import Checks
from layouts.runs.mirrors import MirrorStatus
from layouts.runs.notes_source import NoteSource
from layouts.runs.questions import Destination
from layouts.runs.rows import RunRow
from layouts.runs.source import RunSource
from layouts.tuning.source import StudySource
from layouts.tuning.studies import Importances, OpenStudy
from layouts.values.source import ValueSource
from parsers import Problem
from tests.sources.made import recorded, row, series

__all__ = ["MemorySource", "recorded", "row", "series"]


class MemorySource:
    """The `layouts.sources.Sources` of {run: {kind: content}}; a test passes only the kinds it needs.

    "scalar": {tag: Series}
    "image" (any of VALUES): {tag: [(step, value), ...]}, or {tag: PayloadSeries} without values, or {tag: (PayloadSeries,
        [value, ...])}; an exception in place of a value is raised, None stands for an unreadable value
    "settings": {column: Setting}
    "dataset_graph": DatasetGraph, None for an unreadable one
    "graphs": {name: Graph}, "graph_locations": [GraphLocation, ...], "graph_reading": WorkResult
    "conversions": {name: ConversionReport, or an exception to raise}
    "landscape_plan": LandscapePlan, or an exception to raise
    "profiles": {(session, rank): {frame: DataFrame or ProfileFrame}}, "profile_notes": {name: value}, "job": JobFiles
    "traces": {(session, rank): OpenTrace}, "idle": {(session, rank): IdleTime}
    "dump": RunDump, or another DumpView; work on it is done at once
    "explain": RunExplanations; work on them is done at once
    "row": {field: value} to override fields of the run's row

    jobs: {key of a job: its runs}. rows: what `runs` returns instead of rows made from the data. Tests may change all of it.

    instead: a class for a subject that a test answers in another way, such as dumps=SlowDumps. The parts of other subjects are
    made when a test first asks for them.
    """

    def __init__(
        self,
        data: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        rows: Sequence[RunRow] | None = None,
        jobs: Mapping[str, Sequence[str]] | None = None,
        problems: Sequence[tuple[str, Problem]] = (),
        **instead: Callable[[MemorySource], Any],
    ) -> None:
        for subject, part in instead.items():
            setattr(self, subject, part(self))
        self.data = {run: dict(content) for run, content in (data or {}).items()}
        self.rows = None if rows is None else list(rows)
        self.jobs = dict(jobs or {})
        self.found = list(problems)
        self.places: dict[str, Destination] = {}
        self.coming = 0
        self.wanted: list[str] = []
        self.refreshed = 0
        self.number = 1
        self.read_at: float | None = 1_700_000_000.0
        self.failed = ""
        self.checked = (0, 0)
        self.mirrors: list[MirrorStatus] = []
        self.fetched: list[tuple[str, str]] = []
        self.painted: dict[str, str] = {}
        self.painted_groups: dict[tuple[str, str], str] = {}
        self.training = OFF
        self.searches: dict[str, OpenStudy] = {}
        self.importance = Importances("working")
        self.orders: list[tuple[str, Order]] = []
        self.watched: dict[str, WatchList] = {}
        self.ticked: dict[str, Checks] = {}

    def change(self, rows: Sequence[RunRow]) -> None:
        """Replace the rows and change the version of the source."""
        self.rows, self.number = list(rows), self.number + 1

    def of(self, run: str, kind: str) -> Any:
        """Return the content of a kind of a run, None if it has none."""
        return self.data.get(run, {}).get(kind)

    @cached_property
    def runs(self) -> RunSource:
        from tests.sources.runs import MemoryRuns

        return MemoryRuns(self)

    @cached_property
    def notes(self) -> NoteSource:
        from tests.sources.notes import MemoryNotes

        return MemoryNotes(self)

    @cached_property
    def curves(self) -> CurveSource:
        from tests.sources.curves import MemoryCurves

        return MemoryCurves(self)

    @cached_property
    def values(self) -> ValueSource:
        from tests.sources.values import MemoryValues

        return MemoryValues(self)

    @cached_property
    def graphs(self) -> GraphSource:
        from tests.sources.graphs import MemoryGraphs

        return MemoryGraphs(self)

    @cached_property
    def profiles(self) -> ProfileSource:
        from tests.sources.profiles import MemoryProfiles

        return MemoryProfiles(self)

    @cached_property
    def lineage(self) -> LineageSource:
        from tests.sources.lineage import MemoryLineage

        return MemoryLineage(self)

    @cached_property
    def dumps(self) -> DumpSource:
        from tests.sources.dumps import MemoryDumps

        return MemoryDumps(self)

    @cached_property
    def explanations(self) -> ExplanationSource:
        from tests.sources.explanations import MemoryExplanations

        return MemoryExplanations(self)

    @cached_property
    def live(self) -> LiveSource:
        from tests.sources.live import MemoryLive

        return MemoryLive(self)

    @cached_property
    def studies(self) -> StudySource:
        from tests.sources.studies import MemoryStudies

        return MemoryStudies(self)

    @cached_property
    def patterns(self) -> PatternMatcher:
        from tests.sources.patterns import MemoryPatterns

        return MemoryPatterns(self)
