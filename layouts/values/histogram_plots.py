"""Figures of histograms over steps: a heat map with quantiles, a ridge, an overlay, single steps.

In every view of a card all runs and steps have the same bins, so shapes can be compared. The bins cover the zoomed values, or
all values unless a few far-off steps would squeeze the others (`usual_limits`); values outside are counted, so no count is
lost. `layout.meta.panels` has the data of the browser's hover table: steps, times, counts outside, and counts per bin. For a
heat map the browser takes the latter from z, the share of the step's finite values. A scale that is not linear is drawn in its
places (`parsers.analysis.values.value_scales`); the browser then needs the edges. Nothing here has a theme colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers import HistogramValue
from parsers.analysis import bands, beyond, common_edges, resample, usual_limits
from parsers.analysis.values.value_scales import LINEAR, ValueScale, linear, scaled

from layouts.curves.smoothed_lines import WRONG
from layouts.kit.figures.panels import axis, grid, layout_key, titles
from layouts.kit.figures.ticks import time_ticks
from layouts.kit.figures.typed_arrays import drawn, exact_integers, numbers, typed

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Dict = dict[str, Any]

FRACTIONS = (0.05, 0.25, 0.5, 0.75, 0.95)
OLDEST_TO_NEWEST = ("#236db4", "#217f7b", "#7c8542", "#c6871a")
"""Stops of the gradient; each is readable on a light and on a dark background."""
COLOURS = ("root", "log", "robust")
"""How shares become colours: by their square root, by their logarithm over three decades, or by the square root up to the share
that 98 of 100 filled bins do not exceed."""
_DECADES = 3.0
_ROBUST = 98.0
_VIRIDIS = ("#440154", "#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#a0da39", "#fde725")
_REACH = 3.0
"""Rows covered by the tallest histogram of a ridge."""
_WHITE = "rgba(255,255,255,0.6)"
_BETWEEN_TICKS = 0.09
"""The part of an axis that is free between two labels of values."""
_NOTHING = 1e-9
"""Smaller shares of a step's values are rounding errors."""


@dataclass(frozen=True, slots=True)
class RunHistograms:
    """The drawn histograms of one run: steps, seconds since the run's start, places on the axis, values."""

    run: str
    label: str
    colour: str
    started: float
    step: Ints
    time: Floats
    x: Floats
    values: Sequence[HistogramValue]

    @property
    def finite(self) -> Floats:
        """Number of values in the buckets of each step; shares are relative to it."""
        return np.array([float(value.count.sum()) for value in self.values])

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Mask of steps that recorded values, but no finite one."""
        return np.array([value.total > 0 and value.finite <= 0 for value in self.values], bool)


@dataclass(frozen=True, slots=True)
class Zoom:
    """The visible ranges: (low, high) of values and of steps or times. None: chosen from the data.

    whole: show all values, even if a few far-off steps squeeze the others.
    """

    values: tuple[float, float] | None = None
    whole: bool = False
    places: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class HistogramStyle:
    """How histograms are drawn.

    axis is "step", "relative" or "absolute"; zoom.places is in its unit, for "absolute" milliseconds of local time. scale is
    that of values (`value_scales.SCALES`), colour one of COLOURS. apart: every run has bins of its own. width is that of the
    card in pixels.
    """

    axis: str = "step"
    zoom: Zoom = Zoom()
    scale: str = LINEAR
    colour: str = COLOURS[0]
    apart: bool = False
    width: int = 600


@dataclass(frozen=True, slots=True)
class Bins:
    """The bins of a card or a panel; limits says what they cover: "all" values, the "usual" ones, or the "zoom"."""

    scale: ValueScale
    limits: str

    @property
    def edges(self) -> Floats:
        """The values between which the bins are."""
        return self.scale.edges

    @property
    def places(self) -> Floats:
        """Where the edges are drawn."""
        return self.scale.places


def heat(runs: Sequence[RunHistograms], look: HistogramStyle) -> Dict:
    """Return a heat map of shares over steps for each run, overlaid with the quantiles of FRACTIONS."""
    made = _Figure(runs, look)
    brightest: list[float] = []
    for number, run in enumerate(runs):
        bins = made.bins[number]
        order = newest_of_equal(run.x)
        shares = _shares(resample([run.values[at] for at in order], bins.edges), run.finite[order])
        brightest.append(_brightest(shares, look.colour))
        limits = cell_edges(run.x[order], look.axis)
        made.data.append({
            "type": "heatmap", "x": numbers(limits), "y": numbers(bins.places), "z": typed(shares.T.astype(np.float32)),
            "colorscale": _scale(look.colour), "zmin": 0, "zauto": False, "zmax": 1, "showscale": False, "hoverinfo": "skip",
            **made.on(number),
        })  # fmt: skip
        made.data += _quantiles(run, order, bins.scale, made.on(number))
        made.layout.setdefault("shapes", []).extend(empty_spans(limits, run.empty[order], made.on(number)))
        made.panel(number, run, order, trace=len(made.data) - len(FRACTIONS) - 1)
        across = places_axis(look, np.array(look.zoom.places) if look.zoom.places else limits)
        made.axes(number, across=across, up=values_axis(bins.scale) | ({} if look.apart else made.only_first(number)))
    most = max(brightest, default=0.0)
    for trace in made.data:
        if trace["type"] == "heatmap":
            trace["zmax"] = most or 1.0
    return made.done("heat", scale={"stops": _scale(look.colour), "most": most, "more": look.colour == "robust"})


def ridge(runs: Sequence[RunHistograms], look: HistogramStyle) -> Dict:
    """Return the histograms of each run one behind the other, the newest in front; all heights have the same scale."""
    made = _Figure(runs, look)
    counts = [resample(run.values, bins.edges) for run, bins in zip(runs, made.bins, strict=True)]
    tallest = max((float(rows.max()) for rows in counts if rows.size), default=0.0) or 1.0
    for number, (run, rows) in enumerate(zip(runs, counts, strict=True)):
        bins = made.bins[number]
        outline = _outline(bins.places)
        order = np.argsort(run.x, kind="stable")
        reach = _reach(run.x, look.axis)
        colours = gradient(len(order))
        for rank, at in enumerate(order):
            base = float(run.x[at])
            if run.empty[at]:
                made.data.append(_flat(bins.places, base, made.on(number)))
                continue
            heights = np.concatenate(([0.0], rows[at], [0.0]))
            made.data.append({
                "type": "scatter", "mode": "lines", "x": outline, "y": drawn(base - heights * (reach / tallest)),
                "fill": "toself", "fillcolor": colours[rank], "line": {"color": _WHITE, "width": 0.75}, "hoverinfo": "skip",
                **made.on(number),
            })  # fmt: skip
        made.panel(number, run, order, counts=rows[order], height=reach / tallest)
        low, high = (float(run.x.min()), float(run.x.max())) if run.x.size else (0.0, 1.0)
        up = places_axis(look, np.array([high + reach * 0.1, low - reach * 1.05]))
        made.axes(number, across=values_axis(bins.scale), up=up)
    return made.done("ridge", scale=_by_age())


def overlay(runs: Sequence[RunHistograms], look: HistogramStyle) -> Dict:
    """Return the histograms of each run as overlaid lines, coloured from oldest to newest."""
    made = _Figure(runs, look)
    for number, run in enumerate(runs):
        bins = made.bins[number]
        outline = _outline(bins.places)
        order = np.argsort(run.x, kind="stable")
        rows = resample(run.values, bins.edges)[order]
        for colour, heights, empty in zip(gradient(len(order)), rows, run.empty[order], strict=True):
            on = made.on(number)
            made.data.append(_flat(bins.places, 0.0, on) if empty else _line(outline, heights, colour, 1.0) | on)
        made.panel(number, run, order, counts=rows)
        made.axes(number, across=values_axis(bins.scale), up=counts_axis(float(rows.max(initial=0.0))))
    return made.done("overlay", scale=_by_age())


def single(runs: Sequence[RunHistograms], look: HistogramStyle, *, beside: bool) -> Dict:
    """Return one step of each run in the run's colour: overlaid, or side by side on one scale."""
    made = _Figure(runs, look, panels=len(runs) if beside else min(1, len(runs)))
    tallest = 0.0
    for number, run in enumerate(runs):
        place = number if beside else 0
        bins = made.bins[place]
        outline = _outline(bins.places)
        rows = resample(run.values, bins.edges)
        tallest = max(tallest, float(rows.max(initial=0.0)))
        for heights, empty in zip(rows, run.empty, strict=True):
            if empty:
                made.data.append(_flat(bins.places, 0.0, made.on(place)) | {"meta": {"key": run.run}})
                continue
            line = _line(outline, heights, run.colour, 1.5) | made.on(place) | {"meta": {"key": run.run}}
            made.data.append(line | {"fill": "tozeroy", "fillcolor": run.colour + "33"})
        made.panel(place, run, np.arange(len(rows)), counts=rows)
    for place in range(len(made.domains)):
        made.axes(place, across=values_axis(made.bins[place].scale), up=counts_axis(tallest))
    return made.done("step")


# Parts ----------------------------------------------------------------------------------------------------------------


class _Figure:
    """Builds a figure: panels side by side, traces, and the facts about each panel."""

    def __init__(self, runs: Sequence[RunHistograms], look: HistogramStyle, panels: int | None = None) -> None:
        self.data: list[Dict] = []
        self.domains = grid(len(runs) if panels is None else panels, labelled=look.apart)
        several = len(self.domains) > 1
        self.look = look
        self.panels: list[Dict] = []
        if several and look.apart:
            self.bins = [bins_of([run], look) for run in runs]
        else:
            self.bins = [bins_of(runs, look)] * len(self.domains)
        self.layout: Dict = {
            "margin": {"l": 54, "r": 14, "t": 18 if several else 8, "b": 38 if look.axis == "absolute" else 26, "pad": 0},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "showlegend": False,
            "hovermode": False,
            "font": {"size": 11},
            "dragmode": "zoom",
            "uirevision": None,
        }
        if several:
            self.layout["annotations"] = titles([(run.label, run.colour) for run in runs], self.domains, look.width)

    @staticmethod
    def on(number: int) -> Dict:
        """Return the axes of a panel, for a trace."""
        return {"xaxis": axis("x", number), "yaxis": axis("y", number)}

    def axes(self, number: int, *, across: Dict, up: Dict) -> None:
        """Set the two axes of a panel."""
        x, y = self.domains[number]
        plain = {"zeroline": False, "ticks": "", "nticks": 5 if len(self.domains) == 1 else 4}
        self.layout[layout_key("x", number)] = plain | {"domain": x, "anchor": axis("y", number)} | across
        self.layout[layout_key("y", number)] = plain | {"domain": y, "anchor": axis("x", number)} | up

    def only_first(self, number: int) -> Dict:
        """Return axis properties that show tick labels only in the first panel of a row, for an axis shared by all."""
        return {"showticklabels": self.domains[number][0][0] == 0.0}

    def panel(self, number: int, run: RunHistograms, order: NDArray[np.int64], **more: Any) -> None:
        """Add the facts about a panel, in the order it is drawn.

        counts: counts per bin; trace: instead, the trace whose z has the shares; height: height of one count in a ridge.
        """
        if "counts" in more:
            more["counts"] = typed(more["counts"].astype(np.float32))
        self.panels.append(panel_facts(run, order, self.bins[number]) | self.on(number) | more)

    def done(self, view: str, **more: Any) -> Dict:
        """Return the finished figure."""
        limits = next((bins.limits for bins in self.bins if bins.limits != "all"), "all")
        meta = {"view": view, "axis": self.look.axis, "panels": self.panels, "limits": limits, **more}
        self.layout["meta"] = meta | {"ranges": ranges_of(self.layout)}
        return {"data": self.data, "layout": self.layout}


def ranges_of(layout: Dict) -> Dict:
    """Return the ranges of a figure's axes, so that the browser can restore them."""
    return {f"{name}.range": part["range"] for name, part in layout.items() if "axis" in name and "range" in part}


def panel_facts(run: RunHistograms, order: NDArray[np.int64], bins: Bins) -> Dict:
    """Return the hover data of each step of a run, in the order it is drawn. outside: counts below and above the bins.

    bins: the places of the first and the last edge, the number of bins, and the edges unless they are these places.
    """
    values, finite = [run.values[at] for at in order], run.finite[order]
    extent = [[v.min, v.mean, v.max] if v.finite > 0 else [np.nan] * 3 for v in values]
    return {
        "run": run.run, "label": run.label, "colour": run.colour, "started": run.started,
        "at": numbers(run.x[order]), "step": exact_integers(run.step[order]), "time": numbers(run.time[order]),
        "finite": numbers(finite),
        "total": numbers(np.array([v.total for v in values], np.float64)),
        "extent": typed(np.array(extent, np.float64).reshape(-1, 3)),
        "bad": typed(np.array([[v.nan, v.pos_inf, v.neg_inf] for v in values], np.float64).reshape(-1, 3)),
        "outside": typed(_outside(values, finite, bins)), "bins": _bin_facts(bins.scale),
    }  # fmt: skip


def _bin_facts(scale: ValueScale) -> Dict:
    facts: Dict = {"low": float(scale.places[0]), "high": float(scale.places[-1]), "n": len(scale.edges) - 1}
    return facts if scale.kind == LINEAR else facts | {"edges": typed(scale.edges)}


def _outside(values: Sequence[HistogramValue], finite: Floats, bins: Bins) -> Floats:
    if bins.limits == "all":
        return np.zeros((len(values), 2))
    outside = beyond(values, float(bins.edges[0]), float(bins.edges[-1]))
    return np.where(outside > _NOTHING * finite[:, None], outside, 0.0)


def bins_of(runs: Sequence[RunHistograms], look: HistogramStyle) -> Bins:
    """Return the bins for all runs and steps of a card."""
    values = [value for run in runs for value in run.values]
    if look.zoom.values:
        return Bins(scaled(look.scale, values, *look.zoom.values), "zoom")
    usual = None if look.zoom.whole else usual_limits(values)
    if usual:
        return Bins(scaled(look.scale, values, *usual), "usual")
    edges = common_edges(values)
    every = linear(edges) if look.scale == LINEAR else scaled(look.scale, values, float(edges[0]), float(edges[-1]))
    return Bins(every, "all")


def newest_of_equal(x: Floats) -> NDArray[np.int64]:
    """Return the indices that sort x, only the last one of equal values."""
    order = np.argsort(x, kind="stable")
    return order[np.append(np.diff(x[order]) > 0, True)] if order.size else order


def _shares(counts: Floats, finite: Floats) -> Floats:
    """Return counts as shares of their step, NaN for empty bins."""
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = counts / finite[:, None]
    return np.where(counts > 0, shares, np.nan)


def cell_edges(x: Floats, kind: str) -> Floats:
    """Return the edges of heat map columns around ascending places: halfway between neighbours."""
    if not x.size:
        return np.array([0.0, 1.0])
    room = {"step": 1.0, "relative": 1.0, "absolute": 1000.0}[kind]
    if x.size == 1:
        return np.array([x[0] - room / 2, x[0] + room / 2])
    middle = (x[1:] + x[:-1]) / 2
    return np.concatenate(([x[0] - (x[1] - x[0]) / 2], middle, [x[-1] + (x[-1] - x[-2]) / 2]))


def _quantiles(run: RunHistograms, order: NDArray[np.int64], scale: ValueScale, on: Dict) -> list[Dict]:
    """Return lines for the quantiles, the median thicker than the others."""
    x = numbers(run.x[order])
    found = bands([run.values[at] for at in order], FRACTIONS)
    return [
        {"type": "scatter", "mode": "lines", "x": x, "y": drawn(scale.place(found[:, number])), "hoverinfo": "skip",
         "line": {"color": "#ffffff", "width": 1.75} if fraction == 0.5 else {"color": _WHITE, "width": 0.75}, **on}
        for number, fraction in enumerate(FRACTIONS)
    ]  # fmt: skip


def empty_spans(limits: Floats, empty: NDArray[np.bool_], on: Dict) -> list[Dict]:
    """Return red rectangles over steps without a finite value; neighbours are merged."""
    bounds = np.flatnonzero(np.diff(np.concatenate(([False], empty, [False])).astype(np.int8)))
    return [
        {"type": "rect", "xref": on["xaxis"], "yref": f"{on['yaxis']} domain", "x0": float(limits[begin]), "y0": 0,
         "x1": float(limits[end]), "y1": 1, "fillcolor": WRONG, "opacity": 0.22, "line": {"width": 0}, "layer": "below"}
        for begin, end in zip(bounds[::2], bounds[1::2], strict=True)
    ]  # fmt: skip


def _outline(edges: Floats) -> Dict:
    """Return the x of a histogram's outline: the first edge, the bin centres, the last edge."""
    return numbers(np.concatenate((edges[:1], edges[:-1] / 2 + edges[1:] / 2, edges[-1:])))


def _line(outline: Dict, heights: Floats, colour: str, width: float) -> Dict:
    padded = np.concatenate(([0.0], heights, [0.0]))
    return {
        "type": "scatter", "mode": "lines", "x": outline, "y": drawn(padded), "hoverinfo": "skip",
        "line": {"color": colour, "width": width},
    }  # fmt: skip


def _flat(edges: Floats, base: float, on: Dict) -> Dict:
    return {
        "type": "scatter", "mode": "lines", "x": numbers(edges[[0, -1]]), "y": numbers(np.array([base, base])),
        "hoverinfo": "skip", "line": {"color": WRONG, "width": 1.5, "dash": "dot"}, **on,
    }  # fmt: skip


def _reach(x: Floats, kind: str) -> float:
    """Return the height of the tallest histogram in units of the axis."""
    span = float(x.max() - x.min()) if x.size else 0.0
    if span <= 0:
        return {"step": 1.0, "relative": 1.0, "absolute": 1000.0}[kind]
    return max(_REACH * span / max(1, x.size - 1), span * 0.12)


def gradient(count: int) -> list[str]:
    """Return count colours from oldest to newest."""
    stops = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in OLDEST_TO_NEWEST], np.float64)
    places = np.linspace(0, len(stops) - 1, count) if count > 1 else np.full(count, len(stops) - 1.0)
    parts = [np.interp(places, np.arange(len(stops)), stops[:, part]).round().astype(int) for part in range(3)]
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in zip(*parts, strict=True)]


def _brightest(shares: Floats, colour: str) -> float:
    """Return the share that has the last colour."""
    filled = shares[np.isfinite(shares)]
    if not filled.size:
        return 0.0
    return float(np.percentile(filled, _ROBUST)) if colour == "robust" else float(filled.max())


def _scale(colour: str) -> list[list[Any]]:
    """Return a colour scale on which tails are visible next to the peak: its stops grow with the square of the colour's number,
    or tenfold."""
    last = len(_VIRIDIS) - 1
    if colour == "log":
        return [[10.0 ** (-_DECADES * (1 - number / last)) if number else 0.0, name] for number, name in enumerate(_VIRIDIS)]
    return [[(number / last) ** 2, name] for number, name in enumerate(_VIRIDIS)]


def _by_age() -> Dict:
    """Return the gradient of steps, for a legend."""
    last = len(OLDEST_TO_NEWEST) - 1
    return {"stops": [[number / last, colour] for number, colour in enumerate(OLDEST_TO_NEWEST)]}


def values_axis(scale: ValueScale) -> Dict:
    """Return the properties of an axis of values: its range in places, and labels for places that are not values."""
    plain: Dict = {"range": [float(scale.places[0]), float(scale.places[-1])], "type": "linear"}
    if scale.kind == LINEAR:
        return plain | {"tickformat": ".3~g"}
    room = float(scale.places[-1] - scale.places[0]) * _BETWEEN_TICKS
    ticks: list[tuple[float, str]] = []
    for place, value in zip(scale.place(scale.ticks).tolist(), scale.ticks.tolist(), strict=True):
        if all(abs(place - other) >= room and text != f"{value:.3g}" for other, text in ticks):
            ticks.append((place, f"{value:.3g}"))
    return plain | {"tickvals": [place for place, _ in ticks], "ticktext": [text for _, text in ticks]}


def counts_axis(tallest: float) -> Dict:
    """Return the properties of an axis of counts. It always shows all counts, because only values can be zoomed."""
    form = "~s" if tallest >= 1000 else ".3~g"
    return {"range": [0, tallest * 1.05 or 1], "fixedrange": True, "tickformat": form, "type": "linear"}


def places_axis(look: HistogramStyle, limits: Floats) -> Dict:
    """Return the properties of the axis of steps or times, from the first of limits to the last."""
    low, high = float(limits[0]), float(limits[-1])
    if look.axis == "absolute":
        return {"range": [low, high], "type": "date"}
    if look.axis == "relative":
        return {"range": [low, high], "type": "linear"} | time_ticks(min(low, high), max(low, high))
    return {"range": [low, high], "type": "linear", "tickformat": "~s"}
