"""Exports of runs that are still being read: what has been read, with its last step, so that no thread waits for long."""

from __future__ import annotations

import time
from collections.abc import Sequence
from urllib.parse import quote

from flask import Response

from app.routes.refusals import Unusable
from layouts.sources import RunSources

PATIENCE = 10.0
"""Seconds a request waits for the first scan."""
READING_PATIENCE = 1.0
"""Seconds an export waits for runs that are being read for the first time; most are read within it."""
MOST_NAMED = 50
"""Runs of which the response names the last step."""
UNREAD = ("waiting", "loading")


def wait_for_scan(source: RunSources) -> None:
    """Wait for the first scan, so that an undiscovered run is not reported missing."""
    end = time.monotonic() + PATIENCE
    while (status := source.runs.status()).read_at is None:
        if status.failed:
            raise Unusable(f"scanning for runs failed: {status.failed}", 503)
        if time.monotonic() > end:
            raise Unusable("still scanning for runs; try again later", 503)
        time.sleep(0.05)


def wait_for_runs(source: RunSources, runs: Sequence[str]) -> list[str]:
    """Wait a moment until runs have been read; return those that have not been read to their end.

    Unusable (503) if nothing has been read of any of them.
    """
    end = time.monotonic() + READING_PATIENCE
    source.runs.want(runs)
    while (unread := _unread(source, runs)) and time.monotonic() < end:
        time.sleep(0.05)
    if unread and len(unread) == len(set(runs)) and not any(row.tags for run in unread if (row := source.runs.member(run))):
        raise Unusable(f"still reading {len(unread)} runs, {unread[0]!r} first; try again later", 503)
    return unread


def say_last_steps(answer: Response, source: RunSources, unread: Sequence[str]) -> Response:
    """Name the last step that has been read of runs that have not been read to their end, in the headers of an export."""
    if unread:
        steps = [f"{quote(run, safe='/')}={_last_step(source, run)}" for run in unread[:MOST_NAMED]]
        answer.headers["X-Read-To-Step"] = ", ".join(steps + ["..."] * (len(unread) > MOST_NAMED))
    return answer


def _last_step(source: RunSources, run: str) -> int:
    """Return the last step read of the scalars of a run, -1 if there is none."""
    series = (source.curves.recorded(run, tag) for tag in source.runs.tags(run))
    return max((int(one.step[-1]) for one in series if one is not None and len(one.step)), default=-1)


def _unread(source: RunSources, runs: Sequence[str]) -> list[str]:
    chosen = set(runs)
    rows = [row for row in source.runs.rows() if row.state in UNREAD]
    return [member for row in rows for member in row.members if member in chosen and _is_unread(source, member)]


def _is_unread(source: RunSources, run: str) -> bool:
    row = source.runs.member(run)
    return row is not None and row.state in UNREAD
