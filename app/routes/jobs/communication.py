"""GET routes for the communication page: the matrix of ranks, and its tables as CSV.

    <prefix>communication/matrix?run=KEY&session=NAME&rank=N&group=HASH&measure=bandwidth    binary (`Matrix.packed`)
    <prefix>communication/totals.csv?...   also operation.csv, links.csv, packets.csv, contention.csv, matrix.csv

Parameters are those of the page's address (`layouts.jobs.rank_traffic.TrafficRequest`), and of the matrix `from` and
`to`, the first place on its axis and the first one after it. Without from and to it is the whole matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from flask import Blueprint, Response, request

from app.routes.csv_files import csv_answer, table_name
from app.routes.profiles.frames import chosen_frame, read_frame
from app.routes.refusals import answered, asked
from layouts.jobs.rank_traffic import TABLES, Traffic, TrafficRequest
from layouts.kit.state import number
from layouts.sources import ProfileSources

_WINDOW = ("from", "to")
_FARTHEST = 1e6


def add_routes(routes: Blueprint, source: ProfileSources) -> None:
    """Add the routes to a blueprint."""
    matrix = partial(_answer, source, _matrix, _WINDOW)
    routes.add_url_rule("/communication/matrix", "communication-matrix", partial(answered, matrix))
    for name in TABLES:
        table = partial(_answer, source, partial(_table, name=name))
        routes.add_url_rule(f"/communication/{name}.csv", f"communication-{name}-csv", partial(answered, table))


def _answer(source: ProfileSources, make: Callable[[Traffic], Response], more: tuple[str, ...] = ()) -> Response:
    ask = asked(TrafficRequest, more)
    return make(Traffic(source, ask, partial(chosen_frame, source, ask.choice)))


def _matrix(traffic: Traffic) -> Response:
    given = request.args.to_dict(flat=False)
    ends = [int(number(given, name, -1.0, 0.0, _FARTHEST)) for name in _WINDOW]
    drawn = traffic.matrix(max(ends[0], 0), None if ends[1] < 0 else ends[1])
    return Response(drawn.packed(), mimetype="application/octet-stream")


def _table(traffic: Traffic, name: str) -> Response:
    if name == "contention":
        choice = traffic.ask.choice
        found = traffic.contention(read_frame(traffic.source, choice.run, choice.session, choice.rank, "kernels")).operations
    else:
        found = traffic.table(name)
    return csv_answer(found, table_name(traffic.ask.choice.run, "communication", name))
