"""A plain GET route for the frames of profiles.

    <prefix>profile.csv?run=KEY&session=NAME&rank=N&frame=NAME    every row of a frame; session may be left out where it is "."

Columns are those of the frame's schema (`parsers.frames`), with its units.
"""

from __future__ import annotations

import time

import pandas as pd
from flask import Response, request

from app.routes.media import attachment, safe_name
from app.routes.refusals import Unusable, refusal
from layouts.sources import ProfileFrame, ProfileSource
from parsers.export.frames import csv_rows
from parsers.profiler.registry import FRAMES

PATIENCE = 30.0
"""A download waits so many seconds for a profile that is still being read."""
PARAMETERS = ("run", "session", "rank", "frame")


def table(source: ProfileSource) -> Response:
    """One frame as CSV; 404 where there is none, 503 while it is being read."""
    try:
        run, session, rank, name = _wanted()
        found = _read(source, run, session, rank, name)
    except Unusable as error:
        return refusal(error)
    answer = Response(csv_rows(found), mimetype="text/csv")
    parts = (safe_name(part) for part in (run, "" if session == "." else session, f"rank{rank}", name))
    answer.headers["Content-Disposition"] = attachment(f"{'-'.join(part for part in parts if part)}.csv")
    answer.cache_control.no_store = True
    return answer


def _wanted() -> tuple[str, str, int, str]:
    unknown = sorted(set(request.args) - set(PARAMETERS))
    if unknown:
        raise Unusable(f"wanted the parameters {', '.join(PARAMETERS)}; got {unknown[0][:80]!r}")
    given = {name: request.args.getlist(name) for name in PARAMETERS}
    if any(len(values) > 1 for values in given.values()) or not (given["run"] and given["frame"]):
        raise Unusable("wanted the parameters run and frame, each once")
    name, rank = given["frame"][0], (given["rank"] or ["0"])[0]
    if name not in FRAMES:
        raise Unusable(f"frame: wanted one of {', '.join(FRAMES)}; got {name[:80]!r}")
    if not (rank.isascii() and rank.isdigit() and len(rank) <= 9):
        raise Unusable(f"rank: wanted a number; got {rank[:80]!r}")
    return given["run"][0], (given["session"] or ["."])[0], int(rank), name


def _read(source: ProfileSource, run: str, session: str, rank: int, name: str) -> pd.DataFrame:
    if not any(one.session == session and one.rank == rank for one in source.profiles(run)):
        raise Unusable(f"no profile of run {run[:200]!r}, session {session[:200]!r}, rank {rank}", 404)
    until = time.monotonic() + PATIENCE
    found = source.profile_frame(run, session, rank, name, again=True)
    while found.state in ("reading", "waiting"):
        if time.monotonic() > until:
            raise Unusable(f"still reading {name}: ask again later", 503)
        found = source.profile_frame(run, session, rank, name)
    return _frame(found, name)


def _frame(found: ProfileFrame, name: str) -> pd.DataFrame:
    if found.state == "missing":
        raise Unusable(f"no {name}: wanted any of {', '.join(found.wanted)}", 404)
    if found.frame is None:
        raise Unusable(f"{name} was not read: {found.text or found.state}", 503)
    return found.frame
