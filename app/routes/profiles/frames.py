"""A GET route for the frames of profiles and of their jobs.

    <prefix>profile.csv?run=KEY&session=NAME&rank=N&frame=NAME    all rows of a frame; session defaults to "."

Columns and units are those of the frame's schema (`parsers.frames`, `parsers.cluster_frames`).
"""

from __future__ import annotations

import re
import time
from typing import Any

from flask import Response

from app.routes.csv_files import csv_answer
from app.routes.refusals import Unusable, answered, parameters
from app.routes.values.media import safe_name
from layouts.profiles.frames import ProfileFrame
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources
from parsers.cluster_frames import JOB_FRAMES
from parsers.deferred import pandas as pd
from parsers.profiler.registry import FRAMES

PATIENCE = 30.0
"""Seconds a download waits for a profile that is still being read."""
PARAMETERS = ("run", "session", "rank", "frame")


def add_routes(routes: Any, source: ProfileSources) -> None:
    """Add the routes over one source."""
    routes.add_url_rule("/profile.csv", "profile-csv", lambda: table(source))


def table(source: ProfileSources) -> Response:
    """Respond with one frame as CSV; 404 if there is none, 503 if it is still being read or that was stopped, 500 for a bug."""
    return answered(lambda: _table(source))


def _table(source: ProfileSources) -> Response:
    run, session, rank, name = _parameters()
    parts = (safe_name(part) for part in (run, "" if session == "." else session, f"rank{rank}", name))
    return csv_answer(read_frame(source, run, session, rank, name), "-".join(filter(None, parts)))


def _parameters() -> tuple[str, str, int, str]:
    asked = parameters(PARAMETERS)
    values_of = {name: asked.get(name, []) for name in PARAMETERS}
    if any(len(values) > 1 for values in values_of.values()) or not (values_of["run"] and values_of["frame"]):
        raise Unusable("expected the parameters run and frame, each once")
    name, rank = values_of["frame"][0], (values_of["rank"] or ["0"])[0]
    if name not in FRAMES and name not in JOB_FRAMES:
        raise Unusable(f"frame: expected one of {', '.join((*FRAMES, *JOB_FRAMES))}; found {name[:80]!r}")
    if not re.fullmatch("-1|[0-9]{1,9}", rank):
        raise Unusable(f"rank: expected a number; found {rank[:80]!r}")
    return values_of["run"][0], (values_of["session"] or ["."])[0], int(rank), name


def read_frame(source: ProfileSources, run: str, session: str, rank: int, name: str) -> pd.DataFrame:
    """Return a frame once it has been read; Unusable, with a status, if there is none or it takes too long."""
    if not any(one.session == session and one.rank == rank for one in source.profiles.rows(run)):
        raise Unusable(f"no profile of run {run[:200]!r}, session {session[:200]!r}, rank {rank}", 404)
    until = time.monotonic() + PATIENCE
    found = source.profiles.frame(run, session, rank, name, again=True)
    while found.state in ("reading", "waiting"):
        if time.monotonic() > until:
            raise Unusable(f"still reading {name}; try again later", 503)
        found = source.profiles.frame(run, session, rank, name)
    return _frame(found, name)


def chosen_frame(source: ProfileSources, choice: ProfileChoice, name: str) -> pd.DataFrame | None:
    """Return a frame of the profile of a choice, None if no file of it has that; Unusable if there is no such profile."""
    listed = source.profiles.rows(choice.run)
    known = next((one for one in listed if (one.session, one.rank) == (choice.session, choice.rank)), None)
    if known is not None and name not in known.frames:
        return None
    return read_frame(source, choice.run, choice.session, choice.rank, name)


def _frame(found: ProfileFrame, name: str) -> pd.DataFrame:
    if found.state == "missing":
        raise Unusable(f"no {name}: expected at least one of {', '.join(found.wanted)}, found none", 404)
    if found.frame is None:
        # Only what a later request may find ready is a 503: an error of the reader would occur again.
        raise Unusable(f"reading {name} did not finish: {found.text or found.state}", 500 if found.state == "failed" else 503)
    return found.frame
