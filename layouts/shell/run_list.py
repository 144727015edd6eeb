"""The list of runs, notes and saved views as JSON for the browser. Numbers that need a unit are sent as texts too."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import msgspec
from parsers.analysis.curves.final_values import LastValue

from layouts.curves.last_values import tip_of
from layouts.dumps.watchpoints import WatchList
from layouts.kit import units as fmt
from layouts.kit.i18n import Text
from layouts.kit.theme import nearest_hue
from layouts.runs.checks import StepCheck
from layouts.runs.chosen_runs import USUAL, selected_runs, usual_runs
from layouts.runs.notes import HandColour, Mark, NamedView, Note
from layouts.runs.rows import RunChanges, RunRow, ShownStatus
from layouts.sources import NoteSources, RunSources, Sources

if TYPE_CHECKING:
    from layouts.runs.mirrors import MirrorStatus


SentNote = Annotated[dict[str, Any], Note]
SentView = Annotated[dict[str, Any], NamedView]
SentMark = Annotated[dict[str, Any], Mark]
ProblemCells = Annotated[list[Any], tuple[str, str, str, int, int, str]]
"""run, kind, path, offset, length, text"""


def shown_status(source: RunSources) -> ShownStatus:
    """Return the status as pages show it."""
    found = source.runs.status()
    parts = {part.name: getattr(found, part.name) for part in fields(found)}  # asdict copies: half of what an answer takes
    return ShownStatus(**parts, verified=source.runs.verified())


class SentRun(TypedDict):
    """A row of the list of runs."""

    key: str
    name: str
    path: str
    real: str
    """The path without links if that is another one, else empty."""
    members: list[str]
    colours: list[str]
    """Those of members while the state names no runs."""
    hue: int
    hand: dict[str, Annotated[list[Any], tuple[str, int]]]
    """Colours set by hand and their hues, by keys of the run and of members."""
    started: float | None
    updated: float
    size: int
    sizeText: str
    state: str
    steps: int
    points: int
    tags: dict[str, int]
    """Number of tags by kind."""
    tag: str
    value: float | None
    valueText: str
    valueTip: Annotated[Any, "Texts | null"]
    problems: int


class BoardHead(TypedDict):
    """A board without its cards."""

    key: str
    name: str
    version: str
    """Of the board with all of its cards."""
    count: int
    """Number of cards."""
    by: str
    """Who changed it last; empty if that is not known."""


class SentNotebook(TypedDict):
    """Remarks by run, saved views, marks on timelines by run, and boards."""

    kept: bool
    empty: SentNote
    whyNot: str
    readOnly: bool
    """Whether the visitor may only read."""
    notes: dict[str, SentNote]
    views: list[SentView]
    marks: dict[str, list[SentMark]]
    boards: list[BoardHead]


class RunListing(TypedDict):
    """What has changed in the list of runs."""

    since: str
    """The mark that these changes begin at."""
    mark: str
    whole: bool
    """Rows are all runs."""
    rows: list[SentRun]
    gone: list[str]
    """Keys of rows that no longer exist."""
    default: list[str] | None
    """Keys of the members on screen where the state names none; null for all that have data of a kind that the page shows."""
    usual: int | None
    bestBy: str
    """The scalar by which those of `default` are the best; empty if they are the newest."""
    groups: int
    """Number of groups of runs whose names differ in the seed alone, if those of `default` are the best of each; else 0."""
    also: list[str]
    """Kinds of data that pages can show without a run."""
    notebook: SentNotebook | None
    """Null: as before."""


MirrorCells = Annotated[list[Any], tuple[str, str, str, str, str]]
"""name, size, state, reason, code"""


class SentMirror(TypedDict):
    """A mirror of remote runs (`layouts.runs.mirrors.MirrorStatus`), with sizes as texts."""

    address: str
    running: bool
    reason: str
    code: str
    retryAt: float
    listed: float
    requests: int
    received: str
    counts: dict[str, int]
    files: list[MirrorCells]
    fetches: bool


class ProblemListing(TypedDict):
    """Problems of one run or of all."""

    run: str
    failed: str
    total: int
    notes: int
    """Number of notes, of which nothing is lost; total is without them."""
    verified: Annotated[list[int], tuple[int, int]]
    """Number of large values that are verified, and of all."""
    rows: list[ProblemCells]
    mirrors: list[SentMirror]
    """Of all runs; empty for one run."""


def listing(source: Sources, needs: Sequence[str] = (), *, every: bool = False, since: str = "") -> RunListing:
    """Return what has changed in the list of runs since a mark of an earlier answer, for run picker, menu and runs page.

    whole: the mark was unknown, rows are all runs; otherwise they are those that changed, and gone the keys of those that no
    longer exist. colours of a row are those of its members while the state names no runs; hue and hand (key -> [colour set by
    hand, hue]) are what assets/kit/colours.js colours them by otherwise. The browser puts the list together
    (`assets/kit/runs.js`), newest first. notebook is null if it is that of the mark.

    default are the keys of the member runs on screen if the state names none, for a page that shows data of these kinds: those
    of `usual_runs`, at most `usual` of them. With every, both are null: those of all runs that have such data. also are
    kinds of data that pages can show without a run: live training is seen as a dump, and a study has a page of its own.
    """
    seen, _, noted = since.partition("/")
    changes = source.runs.changes(seen)
    notebook = _notebook(source)
    written = f"{zlib.crc32(msgspec.json.encode(notebook)):08x}"
    usual = usual_runs(source.runs.rows(), needs, every=every)
    return {
        "since": seen,
        "mark": f"{changes.mark}/{written}",
        "whole": changes.whole,
        "rows": [_row(row, changes) for row in changes.rows],
        "gone": list(changes.gone),
        "default": None if every else selected_runs({}, source, needs),
        "usual": None if every else USUAL,
        "bestBy": usual.best_by,
        "groups": usual.groups,
        "notebook": None if written == noted and not changes.whole else notebook,
        "also": [
            *(["dump"] if source.live.status().state == "listening" else []),
            *(["study"] if source.studies.rows() else []),
        ],
    }


def _notebook(source: NoteSources) -> SentNotebook:
    found = source.notes.notebook()
    return {
        "kept": found.kept,
        "empty": as_json(Note()),
        "whyNot": found.why_not,
        "readOnly": found.read_only,
        "notes": {key: as_json(note) for key, note in found.notes.items()},
        "views": [as_json(view) for view in found.views],
        "marks": {key: [as_json(mark) for mark in marks] for key, marks in found.marks.items()},
        "boards": [
            {"key": one.key, "name": one.name, "version": one.version, "count": len(one.cards), "by": one.by}
            for one in found.boards
        ],
    }


def as_json(entry: Note | NamedView | Mark | WatchList | HandColour | StepCheck) -> dict[str, Any]:
    """Return a note, a view, a mark, a list of watchpoints, a colour or a check with its version."""
    return asdict(entry) | {"version": entry.version}


def _row(row: RunRow, changes: RunChanges) -> SentRun:
    by_hand = changes.by_hand
    finite = row.main_value is not None and math.isfinite(row.main_value)
    return {
        "key": row.key,
        "name": row.name,
        "path": row.path,
        "real": row.real_path if row.real_path != row.path else "",
        "members": list(row.members),
        "colours": [changes.colours[member] for member in row.members],
        "hue": changes.hues[row.key],
        "hand": {
            key: [by_hand[key], nearest_hue(by_hand[key])] for key in dict.fromkeys((row.key, *row.members)) if key in by_hand
        } if by_hand else {},
        "started": row.started,
        "updated": row.updated,
        "size": row.size,
        "sizeText": fmt.size(row.size),
        "state": row.state,
        "steps": row.steps,
        "points": row.points,
        "tags": dict(row.tags),
        "tag": row.main_tag,
        # JSON has no NaN and no infinity; valueText has them.
        "value": row.main_value if finite else None,
        "valueText": fmt.number(row.main_value),
        "valueTip": _tip(row),
        "problems": row.problems,
    }


def _tip(row: RunRow) -> Text | None:
    if row.main_value is None:
        return None
    finite = math.nan if row.main_finite is None else row.main_finite
    return tip_of(LastValue(row.main_value, row.main_step, finite, row.main_finite_step))


def problems(source: RunSources, limit: int, run: str = "") -> ProblemListing:
    """Return up to limit problems of one run or of all as [run, kind, path, offset, length, text], notes last, and their
    numbers.
    """
    found: Sequence[Any] = source.runs.problems(run or None)
    return {
        "run": run,
        "failed": source.runs.status().failed,
        "total": sum(not p.is_note for _, p in found),
        "notes": sum(p.is_note for _, p in found),
        "verified": list(source.runs.verified(run or None)),
        "rows": [[run, p.kind, p.path, p.offset, p.length, p.text]
                 for run, p in sorted(found, key=lambda one: one[1].is_note)[:limit]],
        "mirrors": [] if run else [_mirror(one) for one in source.runs.mirrors()],
    }


def _mirror(found: MirrorStatus) -> SentMirror:
    return {
        "address": found.address, "running": found.running, "reason": found.reason, "code": found.code,
        "retryAt": found.retry_at, "listed": found.listed, "requests": found.requests, "received": fmt.size(found.bytes),
        "counts": dict(found.counts),
        "files": [[one.name, fmt.size(one.size), one.state, one.reason, one.code] for one in found.files],
        "fetches": found.fetches,
    }  # fmt: skip
