"""What requests for a trace ask for: a profile, and parameters. What is not as expected is refused with a sentence."""

from __future__ import annotations

import re
import time

from flask import request

from app.routes.media import safe_name
from app.routes.refusals import Unusable
from layouts.sources import ProfileSource, TraceSource
from parsers.profiler.trace.opened import OpenTrace

PATIENCE = 30.0
"""Seconds a request waits for a trace that is still being read."""
LONGEST_NS = 1 << 61
"""Farthest time from the start of a trace that can be asked for."""
_SPANS = re.compile(r"\d{1,9}(?:-\d{1,9})?(?:,\d{1,9}(?:-\d{1,9})?)*")
_PROFILE = ("run", "session", "rank")


def opened_trace(source: TraceSource) -> OpenTrace:
    """Return the trace that the request names, once it has been read; Unusable if there is none or it takes too long."""
    run, session, rank = _profile(source)
    until = time.monotonic() + PATIENCE
    while True:
        found = source.trace(run, session, rank)
        if found is not None:
            return found
        state = source.profile_frame(run, session, rank, "trace")
        if state.state == "missing":
            raise Unusable(f"no trace: expected at least one of {', '.join(state.wanted)}, found none", 404)
        if state.state in ("failed", "cancelled"):
            raise Unusable(f"reading the trace did not finish: {state.text or state.state}", 500 if state.text else 503)
        if time.monotonic() > until:
            raise Unusable("still reading the trace; try again later", 503)


def _profile(source: ProfileSource) -> tuple[str, str, int]:
    run, session, rank = (request.args.get(name, default) for name, default in zip(_PROFILE, ("", ".", "0"), strict=True))
    if not (rank.isascii() and rank.isdigit() and len(rank) <= 9):
        raise Unusable(f"rank: expected a number; found {rank[:80]!r}")
    if not any(one.session == session and one.rank == int(rank) for one in source.profiles(run)):
        raise Unusable(f"no profile of run {run[:200]!r}, session {session[:200]!r}, rank {rank}", 404)
    return run, session, int(rank)


def allow_parameters(*known: str) -> None:
    """Refuse parameters other than these and those that name a profile, and repeated ones."""
    for name in request.args:
        if name not in (*_PROFILE, *known):
            raise Unusable(f"expected the parameters {', '.join((*_PROFILE, *known))}; found {name[:80]!r}")
        if len(request.args.getlist(name)) > 1:
            raise Unusable(f"{name}: expected it once")


def whole_number(name: str, low: int, high: int) -> int:
    """Return a whole number from low to high."""
    text = request.args.get(name, "")
    if not re.fullmatch(r"-?[0-9]{1,20}", text) or not low <= int(text) <= high:
        raise Unusable(f"{name}: expected a whole number from {low} to {high}; found {text[:80]!r}")
    return int(text)


def numbers_below(name: str, below: int, most: int) -> list[int]:
    """Return the numbers of a list such as 0-3,7; each must be below a limit."""
    text = request.args.get(name, "")
    if not _SPANS.fullmatch(text):
        raise Unusable(f"{name}: expected numbers such as 0-3,7; found {text[:80]!r}")
    numbers: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        low, high = int(first), int(last or first)
        if not low <= high < below or len(numbers) + high - low >= most:
            raise Unusable(f"{name}: expected at most {most} numbers below {below}; found {part!r}")
        numbers.extend(range(low, high + 1))
    return list(dict.fromkeys(numbers))


def time_range(opened: OpenTrace) -> tuple[int, int]:
    """Return `from` and `to` in ns since the start of the trace; all of it if they are missing."""
    start = whole_number("from", -LONGEST_NS, LONGEST_NS) if request.args.get("from") else 0
    stop = whole_number("to", -LONGEST_NS, LONGEST_NS) if request.args.get("to") else opened.end + 1
    if start >= stop:
        raise Unusable("expected from < to")
    return start, stop


def one_of(name: str, choices: tuple[str, ...]) -> str:
    """Return one of the choices, the first by default."""
    value = request.args.get(name, choices[0])
    if value not in choices:
        raise Unusable(f"{name}: expected one of {', '.join(choices)}; found {value[:80]!r}")
    return value


def file_name() -> str:
    """Return the beginning of the name of a file with a part of the trace: run, session and rank."""
    parts = (request.args.get("run", ""), request.args.get("session", "."), f"rank{request.args.get('rank', '0')}")
    return "-".join(filter(None, (safe_name(part) for part in parts if part != "."))) or "trace"
