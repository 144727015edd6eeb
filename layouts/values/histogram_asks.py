"""Parse what one card of histograms asks the server for. Every value in it is untrusted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from parsers.analysis.values.value_scales import SCALES

from layouts.kit import parameters as asked
from layouts.kit.parameters import Request, read_one_tag, read_runs
from layouts.kit.state import BadInput, interval, texts
from layouts.values.histogram_plots import COLOURS, Zoom

AUTO = "auto"
VIEWS = ("auto", "heat", "ridge", "overlay", "step", "numbers")
AXES = ("step", "relative", "absolute")
_COLUMNS = (50, 8000)
_DAY_MINUTES = 24 * 60
_AT = re.compile(r"(-?[0-9]{1,19})(?:~([1-9][0-9]{0,8}))?")
_STEPS = 2**63
_MOST_RUNS = 1e6
_ALL = "all"


def read_at(value: str) -> tuple[int | None, int | None]:
    """Parse ``12`` or ``12~1`` as (step, nth), None for what is missing, or raise BadInput."""
    if not value:
        return None, None
    found = _AT.fullmatch(value)
    if not found or not -_STEPS <= int(found[1]) < _STEPS:
        raise BadInput(f"at: expected a step, or step~number; found {value[:80]!r}")
    return int(found[1]), int(found[2]) if found[2] else None


def read_zoom(value: str) -> Zoom:
    """Parse ``low,high,from,to``, where a pair may be empty and ``all,`` stands for all values, or raise BadInput."""
    if not value:
        return Zoom()
    parts = value.split(",")
    if len(parts) != 4:
        raise BadInput(f"zoom: expected low,high,from,to; found {value[:80]!r}")
    whole = parts[0] == _ALL and not parts[1]
    return Zoom(None if whole else interval("zoom", parts[0], parts[1]), whole, interval("zoom", parts[2], parts[3]))


@dataclass(frozen=True, slots=True)
class HistogramRequest(Request):
    """One card: its tag, the runs as a state names them, and how to draw it.

    at is the step of the view "step", None for the last one; nth selects one of several records of that step, None the last.
    zone is the browser's offset from UTC in seconds. beside: the view "step" shows runs side by side instead of overlaid.
    zoom.places is in steps, seconds since the run's start or seconds since 1970, depending on the axis. scale, colour and apart
    ("1" or "0") are those of `layouts.values.histogram_plots.HistogramStyle`, AUTO what suits the values. first is the place of
    the first run that is drawn. hide: runs that are not.
    """

    tag: str = asked.part(read_one_tag, "tag")
    state: dict[str, list[str]] = asked.part(read_runs, "run")
    view: str = asked.one_of("view", VIEWS)
    axis: str = asked.one_of("x", AXES)
    at: int | None = asked.parsed("at", lambda at: read_at(at)[0])
    nth: int | None = asked.parsed("at", lambda at: read_at(at)[1])
    beside: bool = asked.switch("beside")
    zoom: Zoom = asked.parsed("zoom", read_zoom, default=Zoom())
    columns: int = asked.columns(600)
    zone: float = asked.zone()
    scale: str = asked.one_of("scale", SCALES)
    colour: str = asked.one_of("colour", (AUTO, *COLOURS))
    apart: str = asked.one_of("apart", (AUTO, "0", "1"))
    first: int = asked.count("first", 0, 0.0, _MOST_RUNS)
    hide: frozenset[str] = asked.part(lambda data: frozenset(texts(data, "hide")), "hide", default=frozenset())


