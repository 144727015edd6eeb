"""Settings, results and data pipelines of runs as CSV and JSON: `lineage.csv`, `pipelines.csv`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from flask import Response, request

from app.routes.refusals import Unusable, refusal
from app.routes.runs.listing import refuse_unknown_parameters
from app.routes.unread_runs import wait_for_scan
from app.routes.values import media
from layouts.lineage.pipeline_columns import table as pipeline_table
from layouts.runs.notes import Note
from layouts.sources import Sources
from parsers import LineageRow
from parsers.export import lineage

T = TypeVar("T")
NOTED = ("remark", "tags")
"""Columns of notes."""


def add_routes(routes: Any, source: Sources) -> None:
    """Add the routes over one source."""
    routes.add_url_rule("/lineage.csv", "lineage-csv", lambda: settings(source, "csv"))
    routes.add_url_rule("/lineage.json", "lineage-json", lambda: settings(source, "json"))
    routes.add_url_rule("/pipelines.csv", "pipelines-csv", lambda: pipelines(source, "csv"))
    routes.add_url_rule("/pipelines.json", "pipelines-json", lambda: pipelines(source, "json"))


def settings(source: Sources, kind: str) -> Response:
    """Respond with settings and metrics as "csv" or "json", with columns and runs in the order of the request.

    The columns remark and tags come from notes; without `col` they are included if any run has a note.
    """
    try:
        refuse_unknown_parameters(("run", "col"))
        wait_for_scan(source)
        described = _with_notes(source.lineage.rows(), source.notes.notebook().notes)
        rows = _named(described, [row.run for row in described], "run")
        names = _named_columns(lineage.columns(rows))
    except Unusable as error:
        return refusal(error)
    return _rows_answer(rows, names, "lineage", kind)


def pipelines(source: Sources, kind: str) -> Response:
    """Respond with the operation parameters of data pipelines as "csv" or "json", like `settings`."""
    try:
        refuse_unknown_parameters(("run", "col"))
        wait_for_scan(source)
        found = pipeline_table(source, None)
        noted = _with_notes(found.rows, source.notes.notebook().notes)
        rows = _named(noted, [row.run for row in noted], "run")
        names = _named_columns([*found.columns, *(name for name in NOTED if any(name in row.settings for row in rows))])
    except Unusable as error:
        return refusal(error)
    return _rows_answer(rows, names, "pipelines", kind)


def _rows_answer(rows: Sequence[LineageRow], names: Sequence[str], name: str, kind: str) -> Response:
    pieces, mimetype = (lineage.csv_rows, "text/csv") if kind == "csv" else (lineage.json_rows, "application/json")
    answer = Response(pieces(rows, names), mimetype=mimetype)
    answer.headers["Content-Disposition"] = media.attachment(f"{media.runs_name([row.run for row in rows])}-{name}.{kind}")
    answer.cache_control.no_store = True
    return answer


def _named_columns(known: Sequence[str]) -> list[str]:
    """Return the columns of an export: run, then the requested ones of those known and NOTED; default: all known."""
    if "col" in request.args:
        known = list(dict.fromkeys([*known, *NOTED]))
    return ["run", *(name for name in _named(known, known, "col") if name != "run")]


def _with_notes(rows: Sequence[LineageRow], notes: Mapping[str, Note]) -> list[LineageRow]:
    """Return the rows with remark and tags added as columns where a run has them."""
    return [row._replace(settings={**row.settings, **_noted(notes[row.run])}) if row.run in notes else row for row in rows]


def _noted(note: Note) -> dict[str, str]:
    columns = zip(NOTED, (note.remark, ", ".join(tag.removeprefix(":") for tag in note.tags)), strict=True)
    return {name: text for name, text in columns if text}


def _named(found: Sequence[T], keys: Sequence[str], parameter: str) -> list[T]:
    """Return the items whose keys the request names in a parameter, in its order; all if it names none."""
    named = request.args.getlist(parameter)
    by_key = dict(zip(keys, found, strict=True))
    missing = next((name for name in named if name not in by_key), None)
    if missing is not None:
        raise Unusable(f"no such {parameter}: {missing[:200]!r}", 404)
    return [by_key[name] for name in dict.fromkeys(named)] if named else list(found)
