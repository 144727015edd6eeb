"""The list of runs as the browser gets it: one small object per run, with texts where a number needs a unit; what people
say of runs, and the views they have saved."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from layouts import format as fmt
from layouts.notes import Note, View
from layouts.sources import NoteSource, RunRow, RunSource
from layouts.state import NEWEST, colours, selected_runs


def listing(source: NoteSource, needs: Sequence[str] = (), *, every: bool = False) -> dict[str, Any]:
    """All runs, newest first: what picker, menu and runs page show. colours are those of its members.

    default are the keys of the members on screen where the state names none, for a page that shows data of these kinds: those
    of the newest runs, at most `newest` of them, or of all (null).
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
        "empty": told(Note()),
        "whyNot": found.why_not,
        "notes": {key: told(note) for key, note in found.notes.items()},
        "views": [told(view) for view in found.views],
    }


def told(thing: Note | View) -> dict[str, Any]:
    """A note or a view with its version."""
    return asdict(thing) | {"version": thing.version}


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
        # JSON has no NaN; the text says which it is.
        "value": row.main_value if finite else None,
        "valueText": fmt.number(row.main_value),
        "valueExact": fmt.exact(row.main_value),
        "problems": row.problems,
    }


def problems(source: RunSource, limit: int, run: str = "") -> dict[str, Any]:
    """Up to limit problems of one run or of all as [run, kind, path, offset, length, text], and how many there are."""
    found: Sequence[Any] = source.problems(run or None)
    return {
        "run": run,
        "failed": source.status().failed,
        "total": len(found),
        "unverified": source.unverified(run or None),
        "rows": [[run, p.kind, p.path, p.offset, p.length, p.text] for run, p in found[:limit]],
    }
