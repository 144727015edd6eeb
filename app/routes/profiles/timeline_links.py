"""From the names of other pages to the timeline and back.

    <prefix>timeline/first?name=NAME&near=NS      the first slice of an operator; near: the one that starts nearest to a time of
                                                  the trace's own clock. "row" is null if there is none
    <prefix>timeline/related?row=7                where other pages tell of a slice: its operator and its node, or null
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
from flask import Blueprint, Response, request

from app.routes.profiles.timeline_parameters import allow_parameters, named_traces, opened_traces, whole_number
from app.routes.refusals import Unusable, refusal
from layouts.profiles.operator_variants import variant_of
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import Sources
from parsers import PayloadError
from parsers.deferred import pandas as pd
from parsers.profiler.trace import naming

LONGEST_NAME = 20_000
FARTHEST_NS = 1 << 62


def add_routes(routes: Blueprint, source: Sources) -> None:
    """Add the routes to a blueprint."""
    for name, answer in (("first", first), ("related", related)):
        routes.add_url_rule(f"/timeline/{name}", f"timeline-{name}", _route(source, answer))


def _route(source: Sources, answer: Callable[[Sources], dict[str, Any]]) -> Callable[[], Response]:
    def respond() -> Response:
        try:
            found = Response(msgspec.json.encode(answer(source)), mimetype="application/json")
        except Unusable as error:
            return refusal(error)
        found.cache_control.no_store = True
        return found

    return respond


def first(source: Sources) -> dict[str, Any]:
    """Return the first slice of an operator, or the one nearest to a time, in the first of the traces that has any."""
    allow_parameters("name", "near")
    name = request.args.get("name", "")
    if not name or len(name) > LONGEST_NAME:
        raise Unusable(f"name: expected 1 to {LONGEST_NAME:,} characters, found {len(name):,}")
    near = whole_number("near", -FARTHEST_NS, FARTHEST_NS) if request.args.get("near") else None
    for part in opened_traces(source).parts:
        trace = part.opened.trace
        rows = naming.slices_of(trace, part.opened.names(), name)
        if not len(rows):
            continue
        row = int(rows[0]) if near is None else naming.nearest(trace, rows, near - trace.origin_ns)
        start = int(trace.slices.start[row]) + part.shift(int(trace.slices.track[row]))
        return {"row": row + part.row, "count": len(rows), "start": start, "duration": int(trace.slices.duration[row])}
    return {"row": None, "count": 0}


def related(source: Sources) -> dict[str, Any]:
    """Return what other pages have of a slice."""
    allow_parameters("row")
    together, named = opened_traces(source), named_traces(source)
    part, row = together.of_row(whole_number("row", 0, together.rows - 1))
    trace, of = part.opened.trace, named[part.number]
    name = trace.names[int(trace.slices.name[row])]
    choice = ProfileChoice(of.run, of.session, of.rank)
    operators = choice.frame(source, "operators")
    place = None if operators is None else _operator(operators, name)
    if operators is None or place is None:
        return {"operator": None, "node": _node(source, choice.run, name)}
    own, full, core = (str(operators[column].iloc[place]) for column in ("name", "full_name", "core"))
    shown = {"in": "full_name", "q": full} if "/" in full else {"in": "name", "q": own}
    return {"operator": shown | {"core": variant_of(core)}, "node": _node(source, choice.run, name if "/" in name else full)}


def _operator(operators: pd.DataFrame, name: str) -> int | None:
    """The row of an operator in a frame of OPERATORS, by its full name or else by its last part."""
    for column in ("full_name", "name"):
        values = operators[column].astype("category").cat
        found = naming.same(name, values.categories)
        if found is not None:
            return int(np.flatnonzero(values.codes == values.categories.get_loc(found))[0])
    return None


def _node(source: Sources, run: str, name: str) -> dict[str, str] | None:
    """The graph and the node of an operator: that of the same full name, or else without the number of the operator."""
    if "/" not in name:
        return None
    for location in source.graphs.locations(run):
        try:
            graph = source.graphs.graph(run, location.name)
        except PayloadError:
            continue  # the graph page says why
        names = graph.nodes["full_name"].tolist() if graph is not None else []
        found = naming.same(name, names)
        if found is not None:
            return {"graph": location.name, "node": f"n{names.index(found)}"}
    return None
