"""The data pipeline of a run as JSON: `dataset.json`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from flask import Response, request

from app.routes.refusals import Unusable, refusal
from app.routes.runs.listing import json_answer, json_value
from app.routes.unread_runs import wait_for_runs, wait_for_scan
from app.routes.values import media
from layouts.sources import ValueSources
from parsers import DatasetNode


def add_routes(routes: Any, source: ValueSources) -> None:
    """Add the route over one source."""
    routes.add_url_rule("/dataset.json", "dataset", lambda: dataset(source))


def dataset(source: ValueSources) -> Response:
    """Respond with the data pipeline of one run as a list of operations, the last one first; 404 if none was recorded."""
    try:
        named = request.args.getlist("run")
        if set(request.args) != {"run"} or len(named) != 1:
            raise Unusable(f"expected the parameter run once and no other, found {', '.join(request.args)[:80] or 'none'}")
        (run,) = named
        wait_for_scan(source)
        if not any(run in row.members for row in source.runs.rows()):
            raise Unusable(f"no such run: {run[:200]!r}", 404)
        unread = wait_for_runs(source, [run])
        graph = source.graphs.dataset(run)
        if graph is None and unread:
            raise Unusable(f"still reading {run[:200]!r}; try again later", 503)
        if graph is None:
            raise Unusable(f"run {run[:200]!r} has no dataset graph", 404)
    except Unusable as error:
        return refusal(error)
    operations = (_operation(number, parent, node) for number, (parent, _, node) in enumerate(graph.walk()))
    answer = json_answer({"run": run, "mark": graph.mark, "problem": graph.problem, "operations": list(operations)})
    answer.headers["Content-Disposition"] = media.attachment(f"{media.safe_name(run) or 'run'}-dataset.json")
    return answer


def _operation(number: int, parent: int, node: DatasetNode) -> dict[str, Any]:
    """Return an operation of a pipeline as JSON; feeds is the id of the operation that consumes its data."""
    fields = {"id": number, "feeds": None if parent < 0 else parent, "type": node.type, "recorded": node.recorded,
            "kind": node.kind, "parameters": node.parameters, "operations": [asdict(one) for one in node.operations],
            "sampler": node.sampler and asdict(node.sampler)}  # fmt: skip
    encoded: dict[str, Any] = _json_ready(fields)
    return encoded


def _json_ready(value: Any) -> Any:
    """Return a nested value with text in place of NaN and infinities."""
    if isinstance(value, float):
        return json_value(value)
    if isinstance(value, dict):
        return {key: _json_ready(one) for key, one in value.items()}
    return [_json_ready(one) for one in value] if isinstance(value, (list, tuple)) else value
