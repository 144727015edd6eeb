"""GET routes for the frames of studies (`parsers.tuning_frames`) as CSV.

    <prefix>study/trials.csv?study=KEY   also values.csv, parameters.csv, workers.csv; study as the tuning page names it
"""

from __future__ import annotations

import time
from collections.abc import Callable

from flask import Blueprint, Response, request

from app.routes.csv_files import csv_answer, table_name
from app.routes.refusals import Unusable, refusal
from layouts.sources import StudySources
from parsers.tuning_frames import TUNING_FRAMES

PATIENCE = 10.0
"""Seconds an export waits for a journal that is being read."""


def add_routes(routes: Blueprint, source: StudySources) -> None:
    """Add the routes of this module to a blueprint."""
    for name in TUNING_FRAMES:
        routes.add_url_rule(f"/study/{name}.csv", f"study-{name}-csv", _answering(source, name))


def _answering(source: StudySources, name: str) -> Callable[[], Response]:
    def respond() -> Response:
        try:
            return frame(source, name)
        except Unusable as error:
            return refusal(error)

    return respond


def frame(source: StudySources, name: str) -> Response:
    """Respond with one frame of a study; Unusable for unknown parameters or an unknown study."""
    unknown = set(request.args) - {"study"}
    if unknown:
        raise Unusable(f"expected the parameter study, found {', '.join(sorted(unknown))[:80]!r}")
    key = request.args.get("study", "")
    until = time.monotonic() + PATIENCE
    found = source.studies.open(key)
    while found.state == "reading" and time.monotonic() < until:
        time.sleep(0.05)
        found = source.studies.open(key)
    if found.study is None:
        raise Unusable(f"study: expected the key of a known study, found {key[:80]!r}")
    return csv_answer(getattr(found.study, name), table_name(key, "tuning", name))
