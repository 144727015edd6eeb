"""Parse what one card of scalars asks the server for.

An ask has the form of a state (`layouts.kit.page.State`): {"tag": ["loss"], "x": ["step"], "smooth": ["0.6"], ...}. Every value
in it is untrusted; an invalid value raises `BadInput`. Names of tags and runs are only ever looked up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from parsers.analysis import Threshold, ThresholdError, parse_threshold
from parsers.analysis.curves.groups import BANDS, LINES

from layouts.curves.grouping import KINDS
from layouts.curves.smoothed_lines import VisibleRange
from layouts.kit import parameters as asked
from layouts.kit.parameters import Request, read_runs
from layouts.kit.state import BadInput, interval, text, texts

COLUMNS = (50, 8000)
MOST_TAGS = 50
MAX_SMOOTH = 0.99
BASES = ("run", "group")
_TAG = "tag:"
_NAME = 100_000
_DAY_MINUTES = 24 * 60


def of_kind(data: Any, key: str, kinds: Sequence[str]) -> str:
    """Return a text that begins with one of kinds, alone or before a colon; "" if there is none; or raise BadInput."""
    value = text(data, key, limit=_NAME)
    if value and value.partition(":")[0] not in kinds:
        raise BadInput(f"{key}: expected one of {', '.join(kinds)}; found {value[:80]!r}")
    return value


def read_view(value: str) -> VisibleRange:
    """Parse ``x0,x1,y0,y1``, where a pair may be empty, or raise BadInput."""
    if not value:
        return VisibleRange()
    parts = value.split(",")
    if len(parts) != 4:
        raise BadInput(f"view: expected x0,x1,y0,y1; found {value[:80]!r}")
    return VisibleRange(interval("view", parts[0], parts[1]), interval("view", parts[2], parts[3]))


def _tags(data: Any, key: str) -> tuple[str, ...]:
    found = len(texts(data, "tag")) + len(texts(data, "right"))
    if not found:
        raise BadInput("tag: expected at least one")
    if found > MOST_TAGS:
        raise BadInput(f"tag: expected at most {MOST_TAGS} in one chart; found {found}")
    return tuple(texts(data, key))


def _axis(data: Any) -> tuple[str, str]:
    """Return the axis, and the tag that it is of if it is "tag"."""
    axis = text(data, "x", "step", limit=_NAME)
    if axis.startswith(_TAG):
        return "tag", axis.removeprefix(_TAG)
    if axis not in ("step", "relative", "absolute"):
        raise BadInput(f"x: expected step, relative, absolute or tag:<name>; found {axis[:80]!r}")
    return axis, ""


def _read_thresholds(data: Any) -> dict[str, Threshold]:
    """Parse ``expression:tag`` as {tag: threshold}; an expression without a tag has the key "". Raises BadInput."""
    expressions = texts(data, "threshold")
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


def _thresholds_of_tags(data: Any) -> dict[str, Threshold]:
    return {tag: threshold for tag, threshold in _read_thresholds(data).items() if tag}


@dataclass(frozen=True, slots=True)
class ChartRequest(Request):
    """One chart: its tags on the left and on the right axis, the runs as a state names them, and how to draw it.

    axis is "step", "relative", "absolute" or "tag", axis_tag the tag in the last case. In an absolute view x is in seconds
    since 1970; zone is the browser's offset from UTC in seconds. every: draw all lines, however many. pan: dragging pans.
    outliers: value axes show outliers too. hide: runs or, if they are grouped, labels of groups that are not drawn. threshold
    applies to all tags without one of their own in thresholds. by is the grouping of runs (see `grouping`), line and band (""
    for that of `layouts.curves.chosen_lines.band_of`) say how a group is drawn, base is the run ("run:<key>") or group
    ("group:<label>") subtracted from curves.
    """

    left: tuple[str, ...] = asked.part(partial(_tags, key="tag"), "tag", default=())
    right: tuple[str, ...] = asked.part(partial(_tags, key="right"), "right", default=())
    state: dict[str, list[str]] = asked.part(read_runs, "run")
    axis: str = asked.part(lambda data: _axis(data)[0], "x", default="step")
    axis_tag: str = asked.part(lambda data: _axis(data)[1], "x", default="")
    smooth: float = asked.real("smooth", 0.0, 0.0, MAX_SMOOTH)
    log: bool = asked.switch("log")
    threshold: Threshold | None = asked.part(lambda data: _read_thresholds(data).get(""), "threshold")
    thresholds: Mapping[str, Threshold] = asked.part(_thresholds_of_tags, "threshold")
    view: VisibleRange = asked.parsed("view", read_view, default=VisibleRange())
    columns: int = asked.columns()
    zone: float = asked.zone()
    every: bool = asked.switch("every")
    pan: bool = asked.switch("pan")
    outliers: bool = asked.switch("outliers")
    hide: frozenset[str] = asked.part(lambda data: frozenset(texts(data, "hide")), "hide", default=frozenset())
    by: str = asked.part(partial(of_kind, key="group", kinds=KINDS), "group", default="")
    line: str = asked.one_of("line", LINES, "mean")
    band: str = asked.one_of("band", ("", *BANDS))
    base: str = asked.part(partial(of_kind, key="base", kinds=BASES), "base", default="")


