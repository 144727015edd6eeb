"""The list of runs, notes and saved views as JSON for the browser. Numbers that need a unit are sent as texts too."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import msgspec

from layouts.dumps.watchpoints import WatchList
from layouts.kit import units as fmt
from layouts.kit.theme import nearest_hue
from layouts.runs.chosen_runs import NEWEST, selected_runs
from layouts.runs.notes import HandColour, Mark, NamedView, Note
from layouts.runs.rows import RunChanges, RunRow
from layouts.sources import NoteSources, RunSources, Sources


def listing(source: Sources, needs: Sequence[str] = (), *, every: bool = False, since: str = "") -> dict[str, Any]:
    """Return what has changed in the list of runs since a mark of an earlier answer, for run picker, menu and runs page.

    whole: the mark was unknown, rows are all runs; otherwise they are those that changed, and gone the keys of those that no
    longer exist. colours of a row are those of its members while the state names no runs; hue and hand (key -> [colour set by
    hand, hue]) are what assets/kit/colours.js colours them by otherwise. The browser puts the list together
    (`assets/kit/runs.js`), newest first. notebook is null if it is that of the mark.

    default are the keys of the member runs on screen if the state names none, for a page that shows data of these kinds: those
    of the newest runs, at most `newest` of them. With every, both are null: those of all runs that have such data. also are
    kinds of data that pages can show without a run: live training is seen as a dump, and a study has a page of its own.
    """
    seen, _, noted = since.partition("/")
    changes = source.runs.changes(seen)
    notebook = _notebook(source)
    written = f"{zlib.crc32(msgspec.json.encode(notebook)):08x}"
    return {
        "since": seen,
        "mark": f"{changes.mark}/{written}",
        "whole": changes.whole,
        "rows": [_row(row, changes) for row in changes.rows],
        "gone": list(changes.gone),
        "default": None if every else selected_runs({}, source, needs),
        "newest": None if every else NEWEST,
        "notebook": None if written == noted and not changes.whole else notebook,
        "also": [
            *(["dump"] if source.live.status().state == "listening" else []),
            *(["study"] if source.studies.rows() else []),
        ],
    }


def _notebook(source: NoteSources) -> dict[str, Any]:
    found = source.notes.notebook()
    return {
        "kept": found.kept,
        "empty": as_json(Note()),
        "whyNot": found.why_not,
        "notes": {key: as_json(note) for key, note in found.notes.items()},
        "views": [as_json(view) for view in found.views],
        "marks": {key: [as_json(mark) for mark in marks] for key, marks in found.marks.items()},
        "boards": [
            {"key": one.key, "name": one.name, "version": one.version, "count": len(one.cards)} for one in found.boards
        ],
    }


def as_json(entry: Note | NamedView | Mark | WatchList | HandColour) -> dict[str, Any]:
    """Return a note, a view, a mark, a list of watchpoints or a colour with its version."""
    return asdict(entry) | {"version": entry.version}


def _row(row: RunRow, changes: RunChanges) -> dict[str, Any]:
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
        "valueExact": fmt.exact(row.main_value),
        "problems": row.problems,
    }


def problems(source: RunSources, limit: int, run: str = "") -> dict[str, Any]:
    """Return up to limit problems of one run or of all as [run, kind, path, offset, length, text], and their total number."""
    found: Sequence[Any] = source.runs.problems(run or None)
    return {
        "run": run,
        "failed": source.runs.status().failed,
        "total": len(found),
        "verified": list(source.runs.verified(run or None)),
        "rows": [[run, p.kind, p.path, p.offset, p.length, p.text] for run, p in found[:limit]],
    }
