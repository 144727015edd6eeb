"""What one card of histograms asks the server for, read from the browser's own words. Every value in it is untrusted."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from layouts.figures.histograms import Zoom
from layouts.state import BadInput, flag, number, text, texts

VIEWS = ("auto", "heat", "ridge", "overlay", "step", "numbers")
AXES = ("step", "relative", "absolute")
_COLUMNS = (50, 8000)
_DAY_MINUTES = 24 * 60
_AT = re.compile(r"(-?[0-9]{1,19})(?:~([1-9][0-9]{0,8}))?")
_STEPS = 2**63
_ALL = "all"


@dataclass(frozen=True, slots=True)
class Ask:
    """One card: its tag, the runs as a state names them, and how to draw it.

    at is the step of the view "step", None for the last one, and nth which of a step recorded more than once, None for the
    last. zone is the browser's offset from UTC in seconds. beside: runs stand beside each other in the view "step", instead
    of over each other. zoom.places is in steps, seconds since the run's start or seconds since 1970, as the axis is.
    """

    tag: str
    state: dict[str, list[str]]
    view: str
    axis: str
    at: int | None
    nth: int | None
    beside: bool
    zoom: Zoom
    columns: int
    zone: float


def read_ask(data: Any) -> Ask:
    """The ask a browser sent, or BadInput."""
    tags, runs = texts(data, "tag"), texts(data, "run")
    if len(tags) != 1:
        raise BadInput(f"tag: wanted one; got {len(tags)}")
    at, nth = read_at(text(data, "at"))
    return Ask(
        tag=tags[0],
        state={"run": runs} if runs else {},
        view=text(data, "view", "auto", choices=VIEWS),
        axis=text(data, "x", "step", choices=AXES),
        at=at,
        nth=nth,
        beside=flag(data, "beside"),
        zoom=read_zoom(text(data, "zoom")),
        columns=int(number(data, "columns", 600, *_COLUMNS)),
        zone=number(data, "zone", 0.0, -_DAY_MINUTES, _DAY_MINUTES) * 60.0,
    )


def read_at(value: str) -> tuple[int | None, int | None]:
    """(step, which of it) from ``12`` or ``12~1``, None where they are not named; or BadInput."""
    if not value:
        return None, None
    found = _AT.fullmatch(value)
    if not found or not -_STEPS <= int(found[1]) < _STEPS:
        raise BadInput(f"at: wanted a step, or step~number; got {value[:80]!r}")
    return int(found[1]), int(found[2]) if found[2] else None


def read_zoom(value: str) -> Zoom:
    """A zoom from ``low,high,from,to``, where a pair may be empty and ``all,`` stands for all values; or BadInput."""
    if not value:
        return Zoom()
    parts = value.split(",")
    if len(parts) != 4:
        raise BadInput(f"zoom: wanted low,high,from,to; got {value[:80]!r}")
    whole = parts[0] == _ALL and not parts[1]
    return Zoom(None if whole else _pair(parts[0], parts[1]), whole, _pair(parts[2], parts[3]))


def _pair(low: str, high: str) -> tuple[float, float] | None:
    if not low and not high:
        return None
    try:
        pair = float(low), float(high)
    except ValueError as error:
        raise BadInput(f"zoom: wanted numbers; got {low[:40]!r} and {high[:40]!r}") from error
    if not (math.isfinite(pair[0]) and math.isfinite(pair[1]) and pair[0] < pair[1]):
        raise BadInput(f"zoom: wanted low < high; got {low[:40]!r} and {high[:40]!r}")
    return pair
