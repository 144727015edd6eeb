"""GET routes for the frames of model conversions (`parsers.conversion_frames`) as CSV.

    <prefix>conversion/nodes.csv?run=KEY&model=NAME   also values.csv and weights.csv; model is the name of the report
"""

from __future__ import annotations

from functools import partial

from flask import Blueprint, Response

from app.routes.csv_files import csv_answer, table_name
from app.routes.refusals import Unusable, answered, parameters
from layouts.sources import ValueSources
from parsers import PayloadError
from parsers.conversion_frames import CONVERSION_FRAMES


def add_routes(routes: Blueprint, source: ValueSources) -> None:
    """Add the routes of this module to a blueprint."""
    for name in CONVERSION_FRAMES:
        view = partial(answered, partial(_frame, source, name))
        routes.add_url_rule(f"/conversion/{name}.csv", f"conversion-{name}-csv", view)


def _frame(source: ValueSources, name: str) -> Response:
    """Respond with one frame of a conversion; Unusable for unknown parameters, an unknown run or report, or one damaged."""
    asked = parameters(("run", "model"))
    run, model = (asked.get(key, [""])[0] for key in ("run", "model"))
    try:
        report = source.graphs.conversion(run, model)
    except PayloadError as error:
        raise Unusable(str(error), 409) from None
    if report is None:
        raise Unusable(f"model: expected a report of a conversion of run {run[:80]!r}, found no {model[:80]!r}", 404)
    frames = {"nodes": report.nodes, "values": report.values, "weights": report.weights}
    return csv_answer(frames[name], table_name(report.model, "conversion", name))
