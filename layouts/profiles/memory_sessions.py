"""The least memory of each session of a rank, for profiles of few steps: a training that is profiled again and again."""

from __future__ import annotations

import re

import numpy as np
from parsers.analysis.profiles.memory import curve
from parsers.analysis.profiles.memory.leaks import FEWEST
from parsers.model import Ints
from parsers.profiler.jobs import alike

from layouts.profiles.frames import ProfileRow
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources

MOST = 200
"""Maximum number of sessions that are read, the newest ones."""
_STAMP = re.compile(r"\d{14,20}")


def minima_of_sessions(source: ProfileSources, choice: ProfileChoice, component: str) -> tuple[Ints, str]:
    """Return (the least bytes allocated in each session in order of time, -1 for unknown; "ready", or the state of reading).

    Sessions are those of the same rank and run whose directories differ in process and time only; none if they are too few to
    tell a leak.
    """
    like = alike(choice.session)
    rows = [row for row in source.profiles.rows(choice.run)
            if row.rank == choice.rank and "memory" in row.frames and alike(row.session) == like]  # fmt: skip
    if len(rows) < FEWEST:
        return np.zeros(0, np.int64), "ready"
    found = []
    for row in sorted(rows, key=_taken)[-MOST:]:
        read = source.profiles.frame(choice.run, row.session, row.rank, "memory")
        if read.state in ("reading", "waiting"):
            return np.zeros(0, np.int64), read.state
        series = None if read.frame is None else curve(read.frame, component)
        found.append(int(series.value.min()) if series is not None and len(series.value) else -1)
    return np.array(found, np.int64), "ready"


def _taken(row: ProfileRow) -> tuple[str, float, str]:
    stamps = _STAMP.findall(row.session)
    return stamps[-1] if stamps else "", row.updated, row.session
