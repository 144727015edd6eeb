"""Parse what one card of scalars asks the server for.

An ask has the form of a state (`layouts.kit.page.State`): {"tag": ["loss"], "x": ["step"], "smooth": ["0.6"], ...}. Every value
in it is untrusted; an invalid value raises `BadInput`. Names of tags and runs are only ever looked up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parsers.analysis import Threshold, ThresholdError, parse_threshold
from parsers.analysis.curves.groups import BANDS, LINES

from layouts.curves.grouping import KINDS
from layouts.curves.smoothed_lines import VisibleRange
from layouts.kit.state import BadInput, flag, interval, number, text, texts

COLUMNS = (50, 8000)
MOST_TAGS = 50
MAX_SMOOTH = 0.99
BASES = ("run", "group")
_TAG = "tag:"
_NAME = 100_000
_DAY_MINUTES = 24 * 60


@dataclass(frozen=True, slots=True)
class ChartRequest:
    """One chart: its tags on the left and on the right axis, the runs as a state names them, and how to draw it.

    axis is "step", "relative", "absolute" or "tag", axis_tag the tag in the last case. In an absolute view x is in seconds
    since 1970; zone is the browser's offset from UTC in seconds. every: draw all lines, however many. pan: dragging pans.
    outliers: value axes show outliers too. hide: runs or, if they are grouped, labels of groups that are not drawn. threshold
    applies to all tags without one of their own in thresholds. by is the grouping of runs (see `grouping`), line and band (""
    for that of `layouts.curves.chosen_lines.band_of`) say how a group is drawn, base is the run ("run:<key>") or group
    ("group:<label>") subtracted from curves.
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
    view: VisibleRange
    columns: int
    zone: float
    every: bool
    pan: bool
    outliers: bool = False
    hide: frozenset[str] = frozenset()
    by: str = ""
    line: str = "mean"
    band: str = ""
    base: str = ""


def read_ask(data: Any) -> ChartRequest:
    """Return the ask that a browser sent, or raise BadInput."""
    left, right = texts(data, "tag"), texts(data, "right")
    if not left and not right:
        raise BadInput("tag: expected at least one")
    if len(left) + len(right) > MOST_TAGS:
        raise BadInput(f"tag: expected at most {MOST_TAGS} in one chart; found {len(left) + len(right)}")
    axis = text(data, "x", "step", limit=_NAME)
    if not axis.startswith(_TAG) and axis not in ("step", "relative", "absolute"):
        raise BadInput(f"x: expected step, relative, absolute or tag:<name>; found {axis[:80]!r}")
    thresholds = _read_thresholds(texts(data, "threshold"))
    return ChartRequest(
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
        outliers=flag(data, "outliers"),
        hide=frozenset(texts(data, "hide")),
        by=of_kind(data, "group", KINDS),
        line=text(data, "line", "mean", LINES),
        band=text(data, "band", "", ("", *BANDS)),
        base=of_kind(data, "base", BASES),
    )


def of_kind(data: Any, key: str, kinds: Sequence[str]) -> str:
    """Return a text that begins with one of kinds, alone or before a colon; "" if there is none; or raise BadInput."""
    value = text(data, key, limit=_NAME)
    if value and value.partition(":")[0] not in kinds:
        raise BadInput(f"{key}: expected one of {', '.join(kinds)}; found {value[:80]!r}")
    return value


def _read_thresholds(expressions: Sequence[str]) -> dict[str, Threshold]:
    """Parse ``expression:tag`` as {tag: threshold}; an expression without a tag has the key "". Raises BadInput."""
    if len(expressions) > MOST_TAGS:
        raise BadInput(f"threshold: expected at most {MOST_TAGS}; found {len(expressions)}")
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


def read_view(value: str) -> VisibleRange:
    """Parse ``x0,x1,y0,y1``, where a pair may be empty, or raise BadInput."""
    if not value:
        return VisibleRange()
    parts = value.split(",")
    if len(parts) != 4:
        raise BadInput(f"view: expected x0,x1,y0,y1; found {value[:80]!r}")
    return VisibleRange(interval("view", parts[0], parts[1]), interval("view", parts[2], parts[3]))
