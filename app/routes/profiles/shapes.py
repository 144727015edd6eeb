"""GET routes for the dynamic shapes page: its tables as CSV.

    <prefix>shapes/types.csv?run=KEY&session=NAME&rank=N   also operators.csv, steps.csv, shapes.csv, executions.csv

Parameters are those of the page's address (`layouts.profiles.shape_request.ShapeRequest`). Times are in ns.
"""

from __future__ import annotations

from functools import partial

from flask import Blueprint, Response

from app.routes.csv_files import csv_answer, table_name
from app.routes.profiles.frames import chosen_frame
from app.routes.refusals import answered, asked
from layouts.profiles.shape_request import ProfileShapeTables, ShapeRequest
from layouts.sources import ProfileSources
from parsers.analysis.profiles.shape_tables import TABLES


def add_routes(routes: Blueprint, source: ProfileSources) -> None:
    """Add the routes to a blueprint."""
    for name in TABLES:
        table = partial(_answer, source, name)
        routes.add_url_rule(f"/shapes/{name}.csv", f"shapes-{name}-csv", partial(answered, table))


def _answer(source: ProfileSources, name: str) -> Response:
    ask = asked(ShapeRequest)
    found = ProfileShapeTables(source, ask, partial(chosen_frame, source, ask.choice)).table(name)
    return csv_answer(found, table_name(ask.choice.run, "shapes", name))
