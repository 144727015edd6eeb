"""What one card asks the server for, read from the browser's own words.

An ask has the form of a state (`layouts.page.State`): {"tag": ["loss"], "x": ["step"], "smooth": ["0.6"], ...}. Every value
in it is untrusted; anything that is not of its kind is `BadInput`. Names of tags and runs are only ever looked up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parsers.analysis import Threshold, ThresholdError, parse_threshold
from parsers.analysis.groups import BANDS, LINES

from layouts.figures.curves import View
from layouts.queries.grouping import KINDS
from layouts.state import BadInput, flag, number, text, texts

COLUMNS = (50, 8000)
MOST_TAGS = 50
MAX_SMOOTH = 0.99
BASES = ("run", "group")
_TAG = "tag:"
_NAME = 100_000
_DAY_MINUTES = 24 * 60


@dataclass(frozen=True, slots=True)
class Ask:
    """One chart: its tags on the left and on the right axis, the runs as a state names them, and how to draw it.

    axis is "step", "relative", "absolute" or "tag", axis_tag the tag in the last case. In an absolute view x is in seconds
    since 1970; zone is the browser's offset from UTC in seconds. every: draw all lines, however many. pan: dragging moves.
    threshold is for all tags but those that have one of their own in thresholds. by is what runs are grouped by (see
    `grouping`), line and band how a group is drawn, base the run ("run:<key>") or group ("group:<label>") that curves are
    differences to.
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    state: dict[str, list[str]]
    axis: str
    axis_tag: str
    smooth: float
    log: bool
    threshold: Threshold | None
    thresholds: Mapping[str, Threshold]
    view: View
    columns: int
    zone: float
    every: bool
    pan: bool
    by: str = ""
    line: str = "mean"
    band: str = "interval"
    base: str = ""


def read_ask(data: Any) -> Ask:
    """The ask a browser sent, or BadInput."""
    left, right = texts(data, "tag"), texts(data, "right")
    if not left and not right:
        raise BadInput("tag: wanted at least one")
    if len(left) + len(right) > MOST_TAGS:
        raise BadInput(f"tag: wanted at most {MOST_TAGS} in one chart; got {len(left) + len(right)}")
    axis = text(data, "x", "step", limit=_NAME)
    if not axis.startswith(_TAG) and axis not in ("step", "relative", "absolute"):
        raise BadInput(f"x: wanted step, relative, absolute or tag:<name>; got {axis[:80]!r}")
    thresholds = _read_thresholds(texts(data, "threshold"))
    return Ask(
        left=tuple(left),
        right=tuple(right),
        state={"run": texts(data, "run")} if texts(data, "run") else {},
        axis="tag" if axis.startswith(_TAG) else axis,
        axis_tag=axis.removeprefix(_TAG) if axis.startswith(_TAG) else "",
        smooth=number(data, "smooth", 0.0, 0.0, MAX_SMOOTH),
        log=flag(data, "log"),
        threshold=thresholds.pop("", None),
        thresholds=thresholds,
        view=read_view(text(data, "view")),
        columns=int(number(data, "columns", 1000, *COLUMNS)),
        zone=number(data, "zone", 0.0, -_DAY_MINUTES, _DAY_MINUTES) * 60.0,
        every=flag(data, "every"),
        pan=flag(data, "pan"),
        by=of_kind(data, "group", KINDS),
        line=text(data, "line", "mean", LINES),
        band=text(data, "band", "interval", BANDS),
        base=of_kind(data, "base", BASES),
    )


def of_kind(data: Any, key: str, kinds: Sequence[str]) -> str:
    """A text whose part before the first ":" is one of kinds, or "" for none; or BadInput."""
    value = text(data, key, limit=_NAME)
    if value and value.partition(":")[0] not in kinds:
        raise BadInput(f"{key}: wanted one of {', '.join(kinds)}; got {value[:80]!r}")
    return value


def _read_thresholds(expressions: Sequence[str]) -> dict[str, Threshold]:
    """Tag -> its threshold from ``expression:tag``, "" -> that of all other tags from an expression alone; or BadInput."""
    if len(expressions) > MOST_TAGS:
        raise BadInput(f"threshold: wanted at most {MOST_TAGS}; got {len(expressions)}")
    found = {}
    for text_of_one in expressions:
        expression, _, tag = text_of_one.partition(":")
        if not expression:
            continue
        try:
            found[tag] = parse_threshold(expression)
        except ThresholdError as error:
            raise BadInput(str(error)) from error
    return found


def read_view(value: str) -> View:
    """A view from ``x0,x1,y0,y1``, where a pair may be empty; or BadInput."""
    if not value:
        return View()
    parts = value.split(",")
    if len(parts) != 4:
        raise BadInput(f"view: wanted x0,x1,y0,y1; got {value[:80]!r}")
    return View(_pair(parts[0], parts[1]), _pair(parts[2], parts[3]))


def _pair(low: str, high: str) -> tuple[float, float] | None:
    if not low and not high:
        return None
    try:
        pair = float(low), float(high)
    except ValueError as error:
        raise BadInput(f"view: wanted numbers; got {low[:40]!r} and {high[:40]!r}") from error
    if not (math.isfinite(pair[0]) and math.isfinite(pair[1]) and pair[0] < pair[1]):
        raise BadInput(f"view: wanted low < high; got {low[:40]!r} and {high[:40]!r}")
    return pair
