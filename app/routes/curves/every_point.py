"""The figures of scalars with every point, for pages that are saved as a file (assets/curves/scalars/every_point.js).

    <prefix>api/scalars-points    POST {"ask": ASK}: {"data": TRACES}

ASK is what a card of the page asks for (`layouts.curves.scalar_asks.ChartRequest`). The answer has the whole curves, not only
what is in view, and none of their points is left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
from flask import Response

from app.routes.refusals import Unusable, answered, body
from app.routes.runs.listing import json_answer
from layouts.curves.charts import chart
from layouts.curves.chosen_lines import series_of
from layouts.curves.scalar_asks import ChartRequest
from layouts.curves.smoothed_lines import VisibleRange
from layouts.sources import Sources

MOST_POINTS = 2_000_000
"""Points of a card; more would not fit into a file (assets/shell/page_file_maker.js)."""


class _Asked(msgspec.Struct, forbid_unknown_fields=True):
    ask: dict[str, list[str]]


def add_routes(routes: Any, source: Sources) -> None:
    """Add the route."""
    routes.add_url_rule("/scalars-points", "scalars-points", lambda: answered(lambda: points(source)), methods=["POST"])


def points(source: Sources) -> Response:
    """Respond with the traces of a card, with all points of its curves."""
    ask = ChartRequest.read(body(_Asked, "a card").ask)
    found = series_of(source, ask)
    number = sum(series.step.size for _, _, series in found)
    if number > MOST_POINTS:
        raise Unusable(f"expected at most {MOST_POINTS:,} points, found {number:,}")
    # As many columns as points: a reduction keeps up to four points of each.
    drawn = chart(source, replace(ask, columns=max(ask.columns, number), view=VisibleRange()), found)
    return json_answer({"data": [*drawn.get("canvas", []), *drawn["data"]]})
