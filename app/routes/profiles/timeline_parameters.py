"""What requests for a trace ask for: a profile, and parameters. What is not as expected is refused with a sentence."""

from __future__ import annotations

import re
import time
from typing import NamedTuple
from urllib.parse import parse_qs

from flask import request

from app.routes.refusals import Unusable
from app.routes.values.media import safe_name
from layouts.profiles.source import ProfileSource
from layouts.sources import ProfileSources
from parsers.profiler.trace.opened import OpenTrace
from parsers.profiler.trace.placing import AXES, Axis
from parsers.profiler.trace.together import MOST_PARTS, Together

PATIENCE = 30.0
"""Seconds a request waits for a trace that is still being read."""
LONGEST_NS = 1 << 61
"""Farthest time from the start of a trace that can be asked for."""
_SPANS = re.compile(r"\d{1,9}(?:-\d{1,9})?(?:,\d{1,9}(?:-\d{1,9})?)*")
_PROFILE = {"run": "", "session": ".", "rank": "0", "source": ""}
_AXIS = ("axis", "at", "devices")
_ALSO = "also"
_KNOWN = (*_PROFILE, _ALSO, *_AXIS)


class NamedTrace(NamedTuple):
    """A trace that a request names: by member run, session, rank and name, "" for the best one."""

    run: str
    session: str
    rank: int
    which: str


def opened_traces(source: ProfileSources) -> Together:
    """Return the traces that the request names, on one axis, once they have been read.

    Unusable if one does not exist or takes too long, or if they cannot be shown together.
    """
    named = named_traces(source)
    devices = one_of("devices", ("0", "1")) == "1"
    axis: Axis | None = None
    if request.args.get("axis"):
        axis = next((one for one in AXES if one == request.args["axis"]), None)
        if axis is None:
            raise Unusable(f"axis: expected one of {', '.join(AXES)}; found {request.args['axis'][:80]!r}")
    until = time.monotonic() + PATIENCE
    opened = [_opened(source, one, until) for one in named]
    try:
        return Together(opened, labels_of(named), axis, step=request.args.get("at", ""), devices=devices)
    except ValueError as error:
        raise Unusable(str(error)) from error


def named_traces(source: ProfileSources) -> list[NamedTrace]:
    """Return the traces that the request names: by run, session, rank and source, and by each `also` another one.

    `also` is a query of its own with the same parameters; those it lacks are the ones of the request.
    """
    first = {name: request.args.get(name, default) for name, default in _PROFILE.items()}
    every = [first]
    for text in request.args.getlist(_ALSO):
        try:
            more = parse_qs(text, keep_blank_values=True, max_num_fields=len(_PROFILE))
        except ValueError:
            more = {"": [text]}
        if any(name not in _PROFILE or len(values) > 1 for name, values in more.items()) or not more:
            raise Unusable(f"also: expected a query of {', '.join(_PROFILE)}, such as rank=1; found {text[:200]!r}")
        # Another profile has other sources.
        every.append(first | {"source": ""} | {name: values[0] for name, values in more.items()})
    if len(every) > MOST_PARTS:
        raise Unusable(f"expected at most {MOST_PARTS} traces; found {len(every)}")
    found = [_named(source.profiles, **one) for one in every]
    if len(set(found)) < len(found):
        raise Unusable("expected each trace once")
    return found


def labels_of(named: list[NamedTrace]) -> list[str]:
    """Return what to call traces: what they differ in, "" for a single one."""
    if len(named) == 1:
        return [""]
    shown = {"run": "", "session": "", "rank": "rank ", "which": ""}
    telling = [name for name in shown if len({getattr(one, name) for one in named}) > 1]
    texts = [{name: str(getattr(one, name)) for name in telling} for one in named]
    return [" · ".join(f"{shown[name]}{text or 'best'}" for name, text in one.items()) for one in texts]


def _opened(source: ProfileSources, named: NamedTrace, until: float) -> OpenTrace:
    while True:
        found = source.profiles.trace(*named)
        if found is not None:
            return found
        state = source.profiles.trace_frame(*named)
        if state.state == "missing":
            raise Unusable(f"no trace: expected at least one of {', '.join(state.wanted)}, found none", 404)
        if state.state in ("failed", "cancelled"):
            raise Unusable(f"reading the trace did not finish: {state.text or state.state}", 500 if state.text else 503)
        if time.monotonic() > until:
            raise Unusable("still reading the trace; try again later", 503)


def _named(profiles: ProfileSource, run: str, session: str, rank: str, source: str) -> NamedTrace:
    if not (rank.isascii() and rank.isdigit() and len(rank) <= 9):
        raise Unusable(f"rank: expected a number; found {rank[:80]!r}")
    if not any(one.session == session and one.rank == int(rank) for one in profiles.rows(run)):
        raise Unusable(f"no profile of run {run[:200]!r}, session {session[:200]!r}, rank {rank}", 404)
    known = profiles.traces(run, session, int(rank))
    if source and source not in known:
        raise Unusable(f"source: expected one of {', '.join(known)[:400]}; found {source[:200]!r}", 404)
    return NamedTrace(run, session, int(rank), "" if known and source == known[0] else source)


def allow_parameters(*known: str) -> None:
    """Refuse parameters other than these and those that name traces, and repeated ones."""
    for name in request.args:
        if name not in (*_KNOWN, *known):
            raise Unusable(f"expected the parameters {', '.join((*_KNOWN, *known))}; found {name[:80]!r}")
        if name != _ALSO and len(request.args.getlist(name)) > 1:
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


def spans(numbers: list[int]) -> str:
    """Return rising numbers as requests have them: 0-3,7."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in found)


def chosen_tracks(opened: Together) -> list[int] | None:
    """Return the numbers of the tracks that a request is about; None for all."""
    return numbers_below("tracks", opened.tracks, opened.tracks) if request.args.get("tracks") else None


def time_range(opened: Together) -> tuple[int, int]:
    """Return `from` and `to` in ns since the start of the axis; all of it if they are missing."""
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
