"""The list of runs, notes and saved views as JSON for the browser. Numbers that need a unit are sent as texts too."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from layouts import format as fmt
from layouts.notes import Mark, Note, View
from layouts.sources import NoteSource, RunRow, RunSource
from layouts.state import NEWEST, colours, selected_runs


def listing(source: NoteSource, needs: Sequence[str] = (), *, every: bool = False) -> dict[str, Any]:
    """Return all runs, newest first, for run picker, menu and runs page. colours of a row are those of its members.

    default are the keys of the member runs on screen if the state names none, for a page that shows data of these kinds: those
    of the newest runs, at most `newest` of them (null: no limit).
    """
    drawn = colours(source)
    return {
        "rows": [_row(row, drawn) for row in source.runs()],
        "default": selected_runs({}, source, needs, every=every),
        "newest": None if every else NEWEST,
        "notebook": _notebook(source),
    }


def _notebook(source: NoteSource) -> dict[str, Any]:
    found = source.notebook()
    return {
        "kept": found.kept,
        "empty": as_json(Note()),
        "whyNot": found.why_not,
        "notes": {key: as_json(note) for key, note in found.notes.items()},
        "views": [as_json(view) for view in found.views],
        "marks": {key: [as_json(mark) for mark in marks] for key, marks in found.marks.items()},
    }


def as_json(entry: Note | View | Mark) -> dict[str, Any]:
    """Return a note, a view or a mark with its version."""
    return asdict(entry) | {"version": entry.version}


def _row(row: RunRow, drawn: Mapping[str, str]) -> dict[str, Any]:
    finite = row.main_value is not None and math.isfinite(row.main_value)
    return {
        "key": row.key,
        "name": row.name,
        "path": row.path,
        "real": row.real_path if row.real_path != row.path else "",
        "members": list(row.members),
        "colours": [drawn[member] for member in row.members],
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


def problems(source: RunSource, limit: int, run: str = "") -> dict[str, Any]:
    """Return up to limit problems of one run or of all as [run, kind, path, offset, length, text], and their total number."""
    found: Sequence[Any] = source.problems(run or None)
    return {
        "run": run,
        "failed": source.status().failed,
        "total": len(found),
        "verified": list(source.verified(run or None)),
        "rows": [[run, p.kind, p.path, p.offset, p.length, p.text] for run, p in found[:limit]],
    }
