"""The interface between pages and the application: one protocol per subject.

`FrameSource` is all of the protocols as one object; a function annotates the smallest protocol that has what it calls.
Values, profiles, lineage and notes belong to runs, so each of these protocols includes `RunSource`.
`app.store.store.Store` implements `FrameSource` over directories, `tests.sources.MemorySource` over a dict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from parsers import (
    DatasetGraph,
    Derived,
    Graph,
    GraphLocation,
    HistogramValue,
    ImageValue,
    Insight,
    LandscapePlan,
    LineageRow,
    OpenTrace,
    PayloadSeries,
    Problem,
    Series,
    Setting,
    Value,
)  # fmt: skip
from parsers.analysis import Forest
from parsers.payloads.pictures import GreyPicture
from parsers.profiler.jobs import JobFiles

from layouts.dumps.live_sessions import LiveSession, LiveStatus, Order
from layouts.dumps.open_dump import DumpWork, OpenDump
from layouts.dumps.watchpoints import WatchList
from layouts.explanations.open_explanations import ExplanationWork, OpenExplanations
from layouts.kit.patterns import PatternMatcher
from layouts.kit.work import WorkResult
from layouts.profiles.frames import IdleTime, ProfileFrame, ProfileRow
from layouts.runs.boards import Board, BoardCard, BoardChange, ChangedBoard
from layouts.runs.notes import HandColour, Mark, Note, Notebook, NoteChange, View
from layouts.runs.rows import RunChanges, RunRow, SourceStatus
from layouts.tuning.studies import Importances, OpenStudy, StudyRow


@dataclass(frozen=True, slots=True)
class Growth:
    """The progress of fitting a forest.

    state: "waiting" (for others), "growing", "done", "stopped", "failed" or "missing" (scikit-learn is not installed).
    forest is the result of the latest refit, refits the total number of refits, text the reason of a failure.
    """

    state: str
    refits: int = 0
    forest: Forest | None = None
    text: str = ""


class RunSource(Protocol):
    """Runs and their scalars.

    Every method answers from memory within milliseconds, except `insights`, which takes up to `seconds`.
    """

    def status(self) -> SourceStatus:
        """Return the status of the source."""
        ...

    def runs(self) -> Sequence[RunRow]:
        """Return all runs, newest first."""
        ...

    def changes(self, since: str) -> RunChanges:
        """Return what has changed in the list of runs since a mark of an earlier answer; any other text asks for all runs."""
        ...

    def colours(self, chosen: Sequence[str] = ()) -> Mapping[str, str]:
        """Return member run key -> colour, as #rrggbb, for every run (`layouts.runs.run_colours`).

        chosen are the runs that the state of the page names; hues are spread over them.
        """
        ...

    def member(self, run: str) -> RunRow | None:
        """Return the row of one member run; None for an unknown run. (`runs` has one row for all ranks of a job.)"""
        ...

    def tags(self, run: str, kind: str = "scalar") -> Sequence[str]:
        """Return the tags of one member run in order of first appearance; empty for an unknown run."""
        ...

    def series(self, run: str, tag: str) -> Series | None:
        """Return one scalar series of one member run, or None.

        The name of a derived curve, "=" and an expression over tags, is a tag here and for `insights`, although `tags` does not
        list it. If the run recorded a tag of this name, it is that one.
        """
        ...

    def derived(self, run: str, expression: str) -> Derived | None:
        """Return what an expression gives for one member run, None for an unknown run; ExpressionError if it is invalid."""
        ...

    def version(self, run: str) -> int:
        """Return a number that changes whenever the data of a member run changes; 0 for an unknown run."""
        ...

    def problems(self, run: str | None = None) -> Sequence[tuple[str, Problem]]:
        """Return (run key, problem) for one run (for a job: its ranks) or for all."""
        ...

    def verified(self, run: str | None = None) -> tuple[int, int]:
        """Return (number of large values whose data CRC has been checked, number of large values)."""
        ...

    def insights(self, run: str, tags: Sequence[str] | None = None, seconds: float = 0.1) -> tuple[Sequence[Insight], int]:
        """Return (insights into these scalars of one member run, number of tags not analysed yet).

        tags None: all tags, and whether the run has stalled. After `seconds` of CPU time no further series is analysed: ask
        again.
        """
        ...

    def want(self, runs: Sequence[str]) -> None:
        """Load these runs before all others, because they are on screen."""
        ...

    def refresh(self) -> None:
        """Scan the disk now instead of after the interval; return at once."""
        ...


class ValueSource(RunSource, Protocol):
    """Runs, and the data read from their files on demand: large values, data pipelines, computation graphs.

    `payload_series` and `graphs` answer from memory, the others read.
    """

    def payload_series(self, run: str, kind: str, tag: str) -> PayloadSeries | None:
        """Return steps, times and file positions of the large values of one tag of one member run, or None."""
        ...

    def value(self, run: str, kind: str, tag: str, place: int) -> Value:
        """Return one large value by its index in `payload_series`, read from its file unless it is cached.

        kind decides its type: "histogram", "image", "tensor", "landscape" or "text". Raises PayloadError, whose text is meant
        for the user, if it cannot be shown.
        """
        ...

    def distribution(self, run: str, tag: str, place: int, *, known: bool = False) -> HistogramValue | None:
        """Return the histogram of one tensor; with known, only a cached one, else None.

        Raises PayloadError as `value` does. The histogram of a damaged record has no buckets, and its problem is the reason.
        """
        ...

    def dataset_graph(self, run: str) -> DatasetGraph | None:
        """Return the data pipeline of a member run, None if none was recorded."""
        ...

    def graphs(self, run: str) -> Sequence[GraphLocation]:
        """Return the locations of the computation graphs of one member run in file order; empty for an unknown run."""
        ...

    def graph(self, run: str, name: str) -> Graph | None:
        """Return one graph of one member run by the name of its location, read from its file unless it is cached, or None.

        Raises PayloadError, whose text is meant for the user, if its bytes cannot be read.
        """
        ...

    def landscape_plan(self, run: str) -> LandscapePlan | None:
        """Return the plan for computing landscapes from a member run's checkpoints; None if it collected none.

        Raises FormatError, whose text is meant for the user, if the file is damaged.
        """
        ...


class ProfileSource(RunSource, Protocol):
    """Runs and their profiles. `profile_frame` answers within 0.2 s, whether or not the frame has been read."""

    def profiles(self, run: str) -> Sequence[ProfileRow]:
        """Return the profiles of one member run by session and rank; empty for an unknown run.

        Files about all ranks of a job whose ranks have none of their own are a profile of rank -1.
        """
        ...

    def job(self, run: str, session: str, rank: int) -> JobFiles | None:
        """Return the job to which a profile belongs: its ranks and their files; None for an unknown profile."""
        ...

    def members(self, run: str, session: str, rank: int) -> Sequence[tuple[str, str, int]]:
        """Return the profiles of the job to which a profile belongs, as (run, session, rank) in the order of its members."""
        ...

    def profile_frame(self, run: str, session: str, rank: int, name: str, *, again: bool = False) -> ProfileFrame:
        """Return one frame of one profile by its name in FRAMES, or of its job by its name in JOB_FRAMES; KeyError for another.

        It is shared, so never write into it. Frames not cached are read in the background, small files while the caller
        waits. again: resume a cancelled one. "trace" is no frame, but has the same states; `TraceSource.trace` returns it
        once it is "ready".
        """
        ...

    def cancel_profile(self, run: str, session: str, rank: int, name: str) -> None:
        """Stop reading a frame that `profile_frame` has started to read."""
        ...

    def idle_time(self, run: str, session: str, rank: int) -> IdleTime:
        """Return the idle time of a profile by cause, if its trace has been read; asking does not start reading it."""
        ...

    def profile_notes(self, run: str, session: str, rank: int) -> Mapping[str, Any]:
        """Return the metadata of a profile: fp_start, bp_end, and the contents of profiler_info and profiler_metadata."""
        ...


class TraceSource(ProfileSource, Protocol):
    """Runs, their profiles, and the traces of these."""

    def traces(self, run: str, session: str, rank: int) -> Sequence[str]:
        """Return the names of the traces of a profile, the best one first."""
        ...

    def trace(self, run: str, session: str, rank: int, which: str = "") -> OpenTrace | None:
        """Return a trace of a profile, by default the best one.

        None if it has none or has not been read, which then begins in the background. Its pyramid may come later.
        """
        ...

    def trace_frame(self, run: str, session: str, rank: int, which: str = "", *, again: bool = False) -> ProfileFrame:
        """Return the progress of reading a trace, as `profile_frame` does for that of the best one.

        A trace that is "ready" without its pyramid has the progress of this: done of total slices.
        """
        ...


class LineageSource(RunSource, Protocol):
    """Runs, their recorded settings and results, and forests that explain the results."""

    def settings(self, run: str) -> Mapping[str, Setting]:
        """Return the settings and results of a member run by column of LINEAGE; those not recorded are missing."""
        ...

    def lineage(self) -> tuple[LineageRow, ...]:
        """Return the settings and results of every member run that recorded any, newest first; `run` of a row is its key.

        The object is another one whenever its content may differ.
        """
        ...

    def growth(self, rows: Sequence[LineageRow], target: str, act: str = "") -> Growth:
        """Return the progress of the forest that explains a result over these rows of `lineage`.

        The first call starts it in the background; it ends if there are no calls for a while. Changed rows are used a minute
        after the forest over the previous ones. act is "stop", "again" (from the beginning), or "" for neither.
        """
        ...


class NoteSource(RunSource, Protocol):
    """Runs, their remarks and tags, saved views, marks on timelines, watchpoints, colours set by hand, and boards."""

    def notebook(self) -> Notebook:
        """Return remarks, tags, views, marks, watchpoints and boards, and whether they can be changed.

        `SourceStatus.version` changes with them.
        """
        ...

    def annotate(self, run: str, change: NoteChange) -> Note:
        """Change remark and tags of a run, a job or a rank; the note is on disk before this returns.

        Raises Stale if the remark was changed meanwhile, Unfit for an invalid remark or tag, NotKept (whose text is meant for
        the user) if notes cannot be written, KeyError for an unknown run.
        """
        ...

    def save_view(self, name: str, place: str, *, instead: str | None = None) -> View:
        """Save an address of the application under a name; instead is the version of the view of that name it replaces.

        Raises Stale if the view of that name has another version, Unfit for an invalid name or address, NotKept.
        """
        ...

    def rename_view(self, key: str, name: str, was: str) -> View:
        """Rename the view of this key and version.

        Raises Stale if it was changed meanwhile or the name is taken, Unfit, NotKept.
        """
        ...

    def delete_view(self, key: str, was: str) -> None:
        """Delete the view of this key and version. Raises Stale if it was changed meanwhile, NotKept."""
        ...

    def save_mark(self, run: str, mark: Mark, *, instead: str | None = None) -> Mark:
        """Save a mark on the timeline of a member run; its key is chosen here. instead is the version it replaces.

        Raises Stale if the profile has a mark of that name with another version, Unfit, NotKept, KeyError for an unknown run.
        """
        ...

    def delete_mark(self, key: str, was: str) -> None:
        """Delete the mark of this key and version. Raises Stale if it was changed meanwhile, NotKept."""
        ...

    def paint(self, run: str, colour: str) -> HandColour:
        """Set the colour of a run, a job or a rank, "" to reset it; return it as it is kept, readable in both themes.

        Raises Unfit for anything but #rrggbb, NotKept, KeyError for an unknown run.
        """
        ...

    def paint_group(self, by: str, label: str, colour: str) -> HandColour:
        """Set the colour of a group of runs, as `paint` does; by is what runs are grouped by ("column:lr")."""

    def create_board(self, name: str, cards: Sequence[BoardCard], *, key: str = "") -> Board:
        """Create a board and return it, with a number after its name if that is taken; key: that of a deleted one.

        Raises Unfit if the name or a card is not valid or there are too many, NotKept.
        """
        ...

    def change_board(self, key: str, change: BoardChange) -> ChangedBoard:
        """Change a board and return it with the cards of others that this has overridden.

        Raises Stale if it was deleted, Unfit if it is not valid afterwards, NotKept.
        """
        ...

    def delete_board(self, key: str) -> Board | None:
        """Delete a board and return it as it was, None if there is no such board. Raises NotKept."""
        ...

    def save_watchpoints(self, run: str, watched: WatchList, was: str) -> WatchList:
        """Replace the watchpoints for the dump of a run or a job, of which was is the version, and return them as kept.

        run may be a live session. `WatchList().version` is that of a run without any; an empty list deletes them. Raises Stale
        if they were changed meanwhile, Unfit if one is not valid (also its pattern), NotKept, KeyError for an unknown run.
        """
        ...


class DumpSource(NoteSource, Protocol):
    """Runs and the dumps of their tensors. Every method answers within 0.2 s."""

    def dump(self, run: str) -> OpenDump:
        """Return the dump of a run, of all ranks of a job, or of a live session; it is listed in the background."""
        ...

    def dump_work(self, run: str, work: DumpWork, *, again: bool = False) -> WorkResult:
        """Return the result of work on the dump of a run, which is done in the background. again: resume what was cancelled."""
        ...

    def cancel_dump(self, run: str, work: DumpWork) -> None:
        """Stop work that `dump_work` has started."""
        ...


class ExplanationSource(RunSource, Protocol):
    """Runs and what explainers recorded of them. Every method but the two that read a file answers within 0.2 s."""

    def explanations(self, run: str) -> OpenExplanations:
        """Return the explanations of a member run; they are read in the background."""
        ...

    def explanation_work(self, run: str, work: ExplanationWork, *, again: bool = False) -> WorkResult:
        """Return the result of work on the explanations of a run, which is done in the background.

        again: resume what was cancelled or failed.
        """
        ...

    def cancel_explanation(self, run: str, work: ExplanationWork) -> None:
        """Stop work that `explanation_work` has started."""
        ...

    def explanation_picture(self, run: str, path: str) -> ImageValue:
        """Return a picture that a record names, read from its file unless it is cached.

        Raises PayloadError, whose text is meant for the user, if it lies outside of the run or cannot be shown.
        """
        ...

    def explanation_outcome(self, run: str, path: str, boxes: str, mask: str) -> ImageValue:
        """Return a picture of which only boxes are visible, as PNG: boxes and mask are cells of the frame `counterfactuals`.

        Raises PayloadError as `explanation_picture` does, and for a mask that is not known.
        """
        ...

    def explanation_heat_map(self, run: str, path: str) -> GreyPicture:
        """Return the grey values of a heat map. Raises PayloadError as `explanation_picture` does."""
        ...


class LiveSource(RunSource, Protocol):
    """Live training.

    The key of a session also names its dump and its watchpoints: `DumpSource.dump`, `NoteSource.save_watchpoints`, which
    training learns of with the next order. They are forgotten with the session.
    """

    def live(self) -> LiveStatus:
        """Return whether and where training can connect, and the sessions."""
        ...

    def order(self, session: str, order: Order) -> LiveSession:
        """Give training an order.

        KeyError for an unknown session, Unfit (`layouts.dumps.live_sessions`) if it cannot be followed now.
        """
        ...


class StudySource(RunSource, Protocol):
    """Runs and the studies of `mindscope tune`, whose trials are runs. Every method answers within 0.2 s."""

    def studies(self) -> Sequence[StudyRow]:
        """Return all studies that were found in the workspace and below the directories of runs."""
        ...

    def study(self, key: str) -> OpenStudy:
        """Return a study by its key; its journal is followed in the background."""
        ...

    def importances(self, key: str, target: str, method: str) -> Importances:
        """Return what an evaluator (`parsers.tuning.importances.METHODS`) says of the settings; computed when asked for."""
        ...


class FrameSource(
    ValueSource, TraceSource, LineageSource, DumpSource, ExplanationSource, LiveSource, StudySource, PatternMatcher,
    Protocol,
):
    """Everything pages may know of the application."""
