"""What a page may know of the application: runs, values, profiles, lineage and notes, as data and as protocols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pandas as pd
from parsers import (
    DatasetGraph,
    Graph,
    GraphLocation,
    HistogramValue,
    Insight,
    LandscapePlan,
    LineageRow,
    PayloadSeries,
    Problem,
    Series,
    Setting,
    Value,
)  # fmt: skip
from parsers.analysis import Forest

from layouts.notes import Note, Notebook, NoteChange, View


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as the pages list it. A job of several ranks is one row whose members are the keys of its ranks.

    key names the run in URLs and callbacks (never a path to open). members are the keys that hold series: (key,) for a
    single run. Times in seconds since 1970, size in bytes, steps = number of distinct steps of its longest series.
    state: "waiting" (not loaded yet), "loading", "live" (grew within the last minute), "idle", "empty" (no byte has been
    written to its files yet) or "unreadable".
    tags: kind -> number of tags; "profile" counts profiles, "profile.operators" those that give
    this frame, "checkpoints" is 1 where some were collected for landscapes.
    main_tag/main_value: the scalar a list shows (loss where there is one) and its last value.
    """

    key: str
    name: str
    path: str
    real_path: str
    members: tuple[str, ...]
    started: float | None
    updated: float
    size: int
    state: str
    steps: int = 0
    points: int = 0
    tags: Mapping[str, int] = field(default_factory=dict)
    main_tag: str = ""
    main_value: float | None = None
    problems: int = 0
    version: int = 0


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """What the header says: the base directory (or several, joined), when it was last looked at, how much is loaded.

    failed is what ended the last look before its time, "" for nothing.
    read_at is seconds since 1970 of the last finished look at the disk (None: none yet); interval the seconds between
    looks (0: once). version changes whenever any run's version, the list of runs or the list of problems changes.
    """

    base: str
    read_at: float | None
    interval: float
    total: int
    loaded: int
    problems: int
    version: int
    failed: str = ""


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """What one rank left in one session of the profiler: the key of a profile is (run, session, rank).

    session is the directory below the run ("." for it), device Ascend, GPU, CPU or "" for unknown. files are their names below
    the session, size their bytes, updated the newest mtime in seconds. frames are the names of those in parsers' FRAMES that
    any of the files gives. mark changes whenever a file does.
    """

    session: str
    rank: int
    device: str
    files: tuple[str, ...]
    size: int
    updated: float
    frames: tuple[str, ...]
    mark: str


@dataclass(frozen=True, slots=True)
class ProfileFrame:
    """One frame of a profile, or how far it is.

    state: "ready" (frame is there, perhaps of no rows), "reading" (done of total bytes read; ask again), "waiting" (others are
    read first; ask again), "missing" (no file gives it: any of `wanted` would), "cancelled" (ask with again) or "failed" (text
    says why). problems is the damage found in its files.
    """

    state: str
    frame: pd.DataFrame | None = None
    done: int = 0
    total: int = 0
    wanted: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Growth:
    """A forest that is being grown: "waiting" (for others), "growing", "done", "stopped", "failed" or "missing".

    Missing is scikit-learn; text says why it failed. forest is as of the last refit, refits how many there will be.
    """

    state: str
    refits: int = 0
    forest: Forest | None = None
    text: str = ""


class FrameSource(Protocol):
    """All a page may know of the application.

    Every method but `value`, `insights`, `distribution`, `settings`, `dataset_graph`, `graph`, `matching`, `captured`,
    `landscape_plan` and `profile_notes` answers from memory within milliseconds; `profile_frame` within two tenths of a second.
    """

    def status(self) -> SourceStatus:
        """State of the whole."""
        ...

    def runs(self) -> Sequence[RunRow]:
        """All runs, newest first."""
        ...

    def member(self, run: str) -> RunRow | None:
        """One member run as a row of its own, where `runs` has one for all ranks of a job; None for an unknown run."""
        ...

    def tags(self, run: str, kind: str = "scalar") -> Sequence[str]:
        """Tags of one member run, in order of first appearance; empty for an unknown run."""
        ...

    def series(self, run: str, tag: str) -> Series | None:
        """One scalar series of one member run, or None."""
        ...

    def payload_series(self, run: str, kind: str, tag: str) -> PayloadSeries | None:
        """Steps, times and places of the large values of one tag of one member run, or None."""
        ...

    def value(self, run: str, kind: str, tag: str, place: int) -> Value:
        """One large value by its index in `payload_series`, read from its file unless a cache has it.

        kind decides its type: "histogram", "image", "tensor", "landscape" or "text". PayloadError, whose text is meant for
        the user, where it cannot be shown.
        """
        ...

    def distribution(self, run: str, tag: str, place: int, *, known: bool = False) -> HistogramValue | None:
        """How the values of one tensor are distributed; with known, None where it takes a look at all of them to say.

        PayloadError as of `value`; of a tensor whose record is damaged a histogram without buckets that says why.
        """
        ...

    def insights(self, run: str, tags: Sequence[str] | None = None, seconds: float = 0.1) -> tuple[Sequence[Insight], int]:
        """(what deserves a look in these scalars of one member run, how many of them have not been looked at yet).

        tags None: all, and whether the run stands still. After so many seconds of CPU no other series is begun: ask again.
        """
        ...

    def settings(self, run: str) -> Mapping[str, Setting]:
        """What a member run says of itself, by column of LINEAGE; what was not recorded is missing."""
        ...

    def lineage(self) -> tuple[LineageRow, ...]:
        """What every member run that says anything of itself says, newest first; `run` of a row is its key.

        Another object whenever it may differ.
        """
        ...

    def growth(self, rows: Sequence[LineageRow], target: str, act: str = "") -> Growth:
        """How far the forest over these rows, some of `lineage`, has come that explains a result.

        Asking has it grown in the background, and not asking for a while ends it. Rows that have changed are taken a minute
        after the forest over those before them. act is "stop", "again" (from the beginning), or "" for neither.
        """
        ...

    def dataset_graph(self, run: str) -> DatasetGraph | None:
        """The data pipeline that fed a member run, None where none was recorded."""
        ...

    def graphs(self, run: str) -> Sequence[GraphLocation]:
        """Where the computation graphs of one member run are, in the order of its files; empty for an unknown run."""
        ...

    def graph(self, run: str, name: str) -> Graph | None:
        """One graph of one member run by the name of its place, read from its file unless a cache has it, or None.

        PayloadError, whose text is meant for the user, where its bytes cannot be had.
        """
        ...

    def matching(self, pattern: str, names: Sequence[str]) -> Sequence[str]:
        """The names in which a regular expression occurs, in order, found within a time limit.

        ValueError, whose text is meant for the user, for no such expression or one that takes too long.
        """
        ...

    def captured(self, pattern: str, names: Sequence[str]) -> Sequence[str | None]:
        """What a regular expression finds in each name: its first group, else all of it, None where it does not occur.

        Found within a time limit; ValueError as of `matching`.
        """
        ...

    def landscape_plan(self, run: str) -> LandscapePlan | None:
        """What a member run's checkpoints allow to compute, read from its file; None where it collected none.

        FormatError, whose text is meant for the user, where the file is damaged.
        """
        ...

    def profiles(self, run: str) -> Sequence[ProfileRow]:
        """The profiles of one member run by session and rank; empty for an unknown run."""
        ...

    def profile_frame(self, run: str, session: str, rank: int, name: str, *, again: bool = False) -> ProfileFrame:
        """One frame of one profile by its name in FRAMES (KeyError for another); never write into it.

        What is not at hand is read in the background, and small files while the caller waits. again: also what was cancelled.
        """
        ...

    def cancel_profile(self, run: str, session: str, rank: int, name: str) -> None:
        """Read no further what `profile_frame` has begun to read."""
        ...

    def profile_notes(self, run: str, session: str, rank: int) -> Mapping[str, Any]:
        """What the small files of a profile tell: fp_start, bp_end, and what profiler_info and profiler_metadata say."""
        ...

    def version(self, run: str) -> int:
        """A number that changes whenever the data of that member run changes; 0 for an unknown run."""
        ...

    def problems(self, run: str | None = None) -> Sequence[tuple[str, Problem]]:
        """(run key, problem) of one run (a job: of its ranks) or of all."""
        ...

    def unverified(self, run: str | None = None) -> int:
        """Number of large values whose data CRC has not been checked yet."""
        ...

    def notebook(self) -> Notebook:
        """Remarks and tags of runs and the saved views, and whether they are kept; `SourceStatus.version` tells of changes."""
        ...

    def annotate(self, run: str, change: NoteChange) -> Note:
        """Change remark and tags of a run, a job or a rank; the note is on disk before this returns.

        Stale where the remark was changed meanwhile, Unfit for what is no remark or tag, NotKept (whose text is meant for the
        user) where nothing can be kept, KeyError for an unknown run.
        """
        ...

    def save_view(self, name: str, place: str, *, instead: str | None = None) -> View:
        """Save a place of the application under a name; instead is the version of the view of that name it replaces.

        Stale where there is one of that name and not of that version, Unfit for no such name or place, NotKept.
        """
        ...

    def rename_view(self, key: str, name: str, was: str) -> View:
        """Rename the view of this key and version.

        Stale where it was changed meanwhile or the name is taken, Unfit, NotKept.
        """
        ...

    def delete_view(self, key: str, was: str) -> None:
        """Delete the view of this key and version; Stale where it was changed meanwhile, NotKept."""
        ...

    def want(self, runs: Sequence[str]) -> None:
        """Say which runs are on screen: they are loaded before all others."""
        ...

    def refresh(self) -> None:
        """Look at the disk now instead of at the next interval; returns at once."""
        ...
