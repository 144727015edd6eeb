"""What the browser is sent beside a figure of histograms (`layout.meta`): axes, counts, and the data of the hover table."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypedDict

from layouts.kit.figures.typed_arrays import SentArray


class HistogramBins(TypedDict):
    """The places of the first and the last edge, the number of bins, and the edges unless they are evenly spaced."""

    low: float
    high: float
    n: int
    edges: NotRequired[SentArray]


class StepHistograms(TypedDict):
    """The hover data of each step of a run, in the order it is drawn."""

    run: str
    label: str
    colour: str
    started: float
    bins: HistogramBins
    at: SentArray
    step: SentArray
    time: SentArray
    finite: SentArray
    total: SentArray
    extent: SentArray
    outside: SentArray
    """Counts below and above the bins."""
    bad: SentArray


class HistogramPanel(StepHistograms):
    """A panel of a card: its axes, and counts, or the place of the trace that has them, or the height of one count."""

    xaxis: str
    yaxis: str
    height: NotRequired[float]
    trace: NotRequired[int]
    counts: NotRequired[SentArray]


class ColourScale(TypedDict):
    """What colours stand for."""

    stops: list[Annotated[list[Any], tuple[float, str]]]
    most: NotRequired[float]
    more: NotRequired[bool]


class NewestStep(TypedDict):
    """The statistics of the newest drawn step."""

    step: int
    total: float
    bad: Annotated[list[float], tuple[float, float, float]]
    min: NotRequired[float | None]
    mean: NotRequired[float | None]
    max: NotRequired[float | None]


class HistogramMeta(TypedDict):
    """`layout.meta` of a card of histograms."""

    view: str
    axis: str
    panels: list[HistogramPanel]
    limits: str
    """Which values the bins cover: all, usual, zoom."""
    ranges: dict[str, list[float | str]]
    scale: NotRequired[ColourScale]
    statistics: NotRequired[list[Annotated[list[str], tuple[str, str, str]]]]
    tags: list[str]
    runs: int
    shown: int
    first: int
    room: int
    off: list[Annotated[list[str], tuple[str, str]]]
    """Runs that are hidden: key and name."""
    steps: int
    drawn: int
    unread: int
    waiting: int
    reason: str
    empty: int
    bad: Annotated[list[float], tuple[float, float, float]]
    """Numbers of NaN, +Inf and -Inf."""
    newest: NewestStep | None
    damaged: int
    problem: str
    alternative: Annotated[list[str], "Texts"]
    choices: NotRequired[SentArray]
    step: NotRequired[int]
