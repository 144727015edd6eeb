"""The list of runs, health, and what routes over all runs share: `runs.json`, `status.json`, `health`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import msgspec
from flask import Response, request

from app.routes.refusals import Unusable, refusal
from app.routes.unread_runs import wait_for_scan
from layouts.runs.rows import RunRow
from layouts.shell.run_list import shown_status
from layouts.sources import RunSources
from parsers.export import number_text

ROWS = 1000
"""Rows of the list of runs in one response, at most."""


def add_routes(routes: Any, source: RunSources) -> None:
    """Add the routes over one source."""
    routes.add_url_rule("/runs.json", "runs", lambda: runs(source))
    routes.add_url_rule("/status.json", "status", lambda: json_answer(shown_status(source)))
    routes.add_url_rule("/health", "health", lambda: health(source, **asdict(source.runs.status())))


def health(source: RunSources, **more: Any) -> Response:
    """Respond with the health of the source (`SourceStatus.health`) and more fields; 503 unless it is "ok"."""
    found = source.runs.status().health
    return json_answer({"status": found, **more}, 200 if found == "ok" else 503)


def runs(source: RunSources) -> Response:
    """Respond with a page of the list of runs: `limit` rows from the row numbered `from`; 400 for another number.

    X-Total-Count is the number of all rows, and a Link with rel="next" leads to the next page.
    """
    try:
        refuse_unknown_parameters(("from", "limit"))
        first, limit = _whole_number("from", 0, 0, 10**9), _whole_number("limit", ROWS, 1, ROWS)
        wait_for_scan(source)
    except Unusable as error:
        return refusal(error)
    rows = source.runs.rows()
    answer = json_answer([_run(row) for row in rows[first : first + limit]])
    answer.headers["X-Total-Count"] = str(len(rows))
    if first + limit < len(rows):
        answer.headers["Link"] = f'<?from={first + limit}&limit={limit}>; rel="next"'
    return answer


def _run(row: RunRow) -> RunRow | dict[str, Any]:
    """Return a row as JSON can tell it."""
    value = row.main_value
    return row if value is None or math.isfinite(value) else asdict(row) | {"main_value": json_value(value)}


def _whole_number(name: str, default: int, low: int, high: int) -> int:
    """Return a parameter that is a whole number from low to high."""
    text = single(name)
    if text is None:
        return default
    if not re.fullmatch("[0-9]{1,10}", text) or not low <= int(text) <= high:
        raise Unusable(f"{name}: expected a whole number from {low} to {high}, found {text[:80]!r}")
    return int(text)


def single(name: str) -> str | None:
    """Return the value of a parameter that a request may have once. Raises Unusable."""
    values = request.args.getlist(name)
    if len(values) > 1:
        raise Unusable(f"{name}: expected this parameter once, found it {len(values)} times")
    return values[0] if values else None


def refuse_unknown_parameters(known: Sequence[str]) -> None:
    """Raise Unusable for a parameter that is not one of these."""
    for name in request.args:
        if name not in known:
            raise Unusable(f"expected the parameters {', '.join(known)}, found {name[:80]!r}")


def json_value(value: float | None) -> float | str | None:
    """Return a value, as text if JSON has no number for it."""
    return value if value is None or math.isfinite(value) else number_text(value)


def json_answer(content: Any, status: int = 200) -> Response:
    """Respond with a value as JSON, which no browser keeps."""
    answer = Response(msgspec.json.encode(content), status=status, mimetype="application/json")
    answer.cache_control.no_store = True
    return answer
