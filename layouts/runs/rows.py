"""What pages know of runs: rows of the list, its changes, and the state of the directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

EVERY_RUN = "*"
"""What a state names instead of all runs."""
STALE_INTERVALS = 5
"""A source whose last scan is older than this many intervals is stale."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as pages list it. A job of several ranks is one row, whose members are the keys of its ranks.

    key identifies the run in URLs and callbacks; it is never opened as a path. members are the keys that have series: (key,)
    for a single run. Times are in seconds since 1970, size is in bytes, steps is the number of distinct steps of the longest
    series.
    state: "waiting" (not loaded yet), "loading", "live" (grew within the last minute), "idle", "empty" (no byte has been
    written to its files yet), "outside" (a link out of the directory of runs, which is not followed) or "unreadable".
    tags: kind -> number of tags; "profile" counts profiles, "profile.operators" profiles with that frame, "dump" dumps
    of tensors, and "checkpoints" is 1 if checkpoints were collected for landscapes.
    problems are those that are damage, notes the others (`parsers.Problem.is_note`).
    main_tag and main_value: the scalar that lists show (`parsers.analysis.lineage.results.main_tag`) and its last value
    (`parsers.analysis.curves.final_values.last_value`) with its step, and the last finite one with its step, None and
    -1 if there is none. main_points is the number of its values with restarts resolved.
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
    main_step: int = -1
    main_finite: float | None = None
    main_finite_step: int = -1
    main_points: int = 0
    problems: int = 0
    notes: int = 0
    version: int = 0

    @property
    def counts(self) -> tuple[int, int]:
        """The numbers of problems and of notes."""
        return self.problems, self.notes


@dataclass(frozen=True, slots=True)
class RunFile:
    """A file of a run, or a directory of its profiles or of a dump, and the number of problems found in it.

    path is relative to the directory of the run. kind is that of `parsers.model.SourceFile`, or "profile" or "dump". size in
    bytes and changed in seconds since 1970 are None where only the directories together were measured, or nothing was.
    """

    path: str
    kind: str
    size: int | None
    changed: float | None
    problems: int = 0


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """The status in the header: base directory (several are joined), time of the last scan, number of loaded runs.

    failed is the error that ended the last scan, "" for none. read_at is the time of the last finished scan in seconds since
    1970 (None: none yet), interval the seconds between scans (0: one scan only). version changes whenever the version of a
    run, the list of runs or the list of problems changes. age is the number of seconds since the last scan finished, or since
    the start if none has. missing is whether the last scan did not find a base directory. names are those of the directories if
    there are several. coming is the number of runs that are known to be written now and are not in the list yet.
    """

    base: str
    read_at: float | None
    interval: float
    total: int
    loaded: int
    problems: int
    version: int
    failed: str = ""
    age: float = 0.0
    missing: bool = False
    names: tuple[str, ...] = ()
    coming: int = 0

    @property
    def health(self) -> str:
        """Return "failed", "missing", "stale" if the last scan is older than STALE_INTERVALS intervals, or "ok"."""
        if self.failed:
            return "failed"
        if self.missing:
            return "missing"
        return "stale" if self.interval and self.age > STALE_INTERVALS * self.interval else "ok"


@dataclass(frozen=True, slots=True)
class ShownStatus(SourceStatus):
    """The status, and how many large values are verified, of how many."""

    verified: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class RunChanges:
    """What has changed in the list of runs since a mark.

    mark names the present state of the list; it is passed to the next call. whole: the mark was unknown, so rows are all runs,
    newest first. Otherwise rows are those that are new, changed or drawn in another colour, and gone are the keys of rows that
    no longer exist. colours: member run key -> colour of all runs while no runs are chosen. hues: key of a row -> the hue it
    wishes for. by_hand: key of a run, job or rank -> colour set by hand.
    """

    mark: str
    whole: bool
    rows: Sequence[RunRow]
    gone: Sequence[str]
    colours: Mapping[str, str]
    hues: Mapping[str, int]
    by_hand: Mapping[str, str]
