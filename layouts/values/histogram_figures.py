"""Turn an ask into a figure of histograms: select runs and steps, and count what is left out."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers import HistogramValue, PayloadError, PayloadSeries
from parsers.analysis import relative_time, thinned

from layouts.kit.figures.alternatives import described
from layouts.kit.figures.typed_arrays import whole_numbers
from layouts.runs.chosen_runs import label_of, selected_runs
from layouts.runs.rows import RunRow
from layouts.sources import RunSources, ValueSources
from layouts.values.histogram_alternatives import of_histograms
from layouts.values.histogram_asks import AUTO, HistogramRequest
from layouts.values.histogram_numbers import over_steps
from layouts.values.histogram_plots import (
    COLOURS,
    HistogramStyle,
    RunHistograms,
    Zoom,
    heat,
    newest_of_equal,
    overlay,
    ridge,
    single,
)

MOST_LINES = 60
"""Maximum number of lines in a ridge or an overlay; with more steps the automatic view is a heat map."""
MOST_COLUMNS = 500
"""Maximum number of steps in a heat map or a curve over steps."""
MOST_OVERLAID = 10
_PANELS = ((600, 2), (1200, 4), (10**9, 9))
"""(width, maximum number of runs side by side in cards narrower than this, in pixels)."""

FAR = 100.0
"""Ranges of values that differ by this factor have no common axis by default."""
_NO_STEPS = np.zeros(0, np.int64)

Found = Sequence[tuple[str, PayloadSeries]]
"""(run, its items) of every chosen run that has the tag."""
Read = Callable[[str, Sequence[int]], Sequence[HistogramValue | PayloadError | None]]
"""(run, places) -> for each place its histogram, the reason why it cannot be shown, or None if it is still being made."""


@dataclass(slots=True)
class _FigureData:
    """The data of a figure, the number of steps that could not be read, and the number still being made."""

    runs: list[RunHistograms] = field(default_factory=list)
    unread: int = 0
    waiting: int = 0
    reason: str = ""


def found_in(source: ValueSources, ask: HistogramRequest) -> Found:
    """Return the items of an ask's tag in the chosen runs."""
    runs = selected_runs(ask.state, source, ("histogram",))
    found = ((run, source.values.series(run, "histogram", ask.tag)) for run in runs)
    return [(run, items) for run, items in found if items is not None and len(items)]


def stamp(found: Found, colours: Mapping[str, str]) -> str:
    """Return a text that changes whenever the histograms of a card or the colours of its runs do."""
    parts = [f"{run}\0{len(items)}\0{int(items.order[-1])}\0{int(items.file[-1])}\0{colours.get(run)}" for run, items in found]
    return f"{zlib.crc32(chr(1).join(parts).encode('utf-8', 'surrogatepass')):08x}-{len(parts)}"


def draw(
    source: ValueSources, ask: HistogramRequest, found: Found, *,
    read: Read | None = None, columns: int = MOST_COLUMNS, in_browser: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Return the figure of one card; its meta has the numbers of runs and steps shown and available, and the hidden runs.

    read returns the histograms if they do not come from the source; columns is the number of steps in a heat map.
    in_browser: the browser zooms by itself and keeps the zoom for the next figure, so the figure has all values.
    """
    view = _view(ask, found)
    rows = {member: row for row in source.runs.rows() for member in row.members}
    off = [run for run, _ in found if run in ask.hide]
    found = [(run, items) for run, items in found if run not in ask.hide]
    room = _room(ask, view)
    first = _first(ask.first, room, len(found))
    shown = [_placed(run, items, rows.get(run), ask) for run, items in found[first : first + room]]
    zoom = Zoom(whole=True) if in_browser else _zoom(ask)
    look = HistogramStyle(ask.axis, zoom, ask.scale, width=ask.columns)
    for one in shown:
        one.chosen = _chosen(one, view, ask, look.zoom, (len(shown), columns))
    taken = _taken(source, ask, shown, read or _reader(source, ask.tag))
    # A file may hold any number. Values that overflow are not on screen, so numpy's warnings are of no use.
    with np.errstate(over="ignore", invalid="ignore"):
        look = _suited(look, ask, taken.runs)
        figure = _figure(view, taken.runs, look, ask)
    if in_browser:
        figure["layout"]["uirevision"] = f"{ask.tag}\0{view}\0{ask.axis}\0{ask.beside}\0{len(shown)}"
    meta = figure["layout"]["meta"]
    meta |= {
        "tags": [ask.tag],
        "runs": len(found),
        "shown": len(shown),
        "first": first,
        "room": room,
        "off": [[run, label_of(run, rows.get(run))] for run in off],
        "steps": max((np.unique(one.items.step).size for one in shown), default=0),
        "drawn": max((np.unique(one.items.step[one.chosen]).size for one in shown), default=0),
        "unread": taken.unread,
        "waiting": taken.waiting,
        "reason": taken.reason,
        "empty": sum(int(run.empty.sum()) for run in taken.runs),
        "bad": _bad(taken.runs),
        "newest": _newest(taken.runs),
        **_damage(taken.runs),
    }
    figure = described(figure, *of_histograms(ask.tag, view, taken.runs, len(found), meta["bad"]))
    meta = figure["layout"]["meta"]
    if view == "step":
        meta["choices"] = whole_numbers(_choices([one.items.step for one in shown]))
        meta["step"] = max((int(run.step[0]) for run in taken.runs if run.step.size), default=0)
    return figure


@dataclass(slots=True)
class _PlacedItems:
    """A run's items, their seconds since the run's start, their places on the axis, and which of them are drawn."""

    run: str
    items: PayloadSeries
    row: RunRow | None
    seconds: NDArray[np.float64]
    started: float
    x: NDArray[np.float64]
    chosen: NDArray[np.int64] = field(default_factory=lambda: _NO_STEPS)


def _placed(run: str, items: PayloadSeries, row: RunRow | None, ask: HistogramRequest) -> _PlacedItems:
    seconds, started = relative_time(items.wall_time, row.started if row else None)
    return _PlacedItems(run, items, row, seconds, started, _x(items, seconds, ask))


def _view(ask: HistogramRequest, found: Found) -> str:
    if ask.view != "auto":
        return ask.view
    return "heat" if max((len(items) for _, items in found), default=0) > MOST_LINES else "ridge"


def _first(wanted: int, room: int, total: int) -> int:
    """Return the place of the first run of the page that has a wanted one; the last page if there are fewer runs."""
    return min(wanted, max(total - 1, 0)) // room * room


def _room(ask: HistogramRequest, view: str) -> int:
    if view == "numbers" or (view == "step" and not ask.beside):
        return MOST_OVERLAID
    return next(panels for below, panels in _PANELS if ask.columns < below)


def _zoom(ask: HistogramRequest) -> Zoom:
    """Return the ask's zoom in the unit of its axis."""
    if ask.axis != "absolute" or ask.zoom.places is None:
        return ask.zoom
    low, high = ((place + ask.zone) * 1000.0 for place in ask.zoom.places)
    return replace(ask.zoom, places=(low, high))


def _chosen(one: _PlacedItems, view: str, ask: HistogramRequest, zoom: Zoom, most_of: tuple[int, int]) -> NDArray[np.int64]:
    """Return the indices of a run's items to draw. most_of: (number of runs, number of steps in a heat map)."""
    if view == "step":
        return np.array([_at(one.items, ask.at, ask.nth)])
    inside = np.arange(len(one.items))
    lines = view in ("ridge", "overlay")
    if zoom.places:
        low, high = zoom.places
        if not lines:  # the neighbours outside reach into the view
            low = float(one.x[one.x < low].max(initial=-np.inf))
            high = float(one.x[one.x > high].min(initial=np.inf))
        inside = np.flatnonzero((one.x >= low) & (one.x <= high))
    runs, most = most_of
    if lines:
        most = min(most, MOST_LINES if runs < 3 else MOST_LINES // 2)
    if len(inside) > most:
        inside = inside[newest_of_equal(one.x[inside])]
    return inside[thinned(len(inside), most)]


def _at(items: PayloadSeries, step: int | None, nth: int | None) -> int:
    """Return the index of the item at a step, the nth or the last one if it was recorded several times.

    Without such a step: the item of the last step before it, or of the first step.
    """
    upto = np.flatnonzero(items.step <= step) if step is not None else np.arange(len(items))
    wanted = items.step[upto].max() if upto.size else items.step.min()
    places = np.flatnonzero(items.step == wanted)
    exact = nth is not None and wanted == step
    return int(places[min(nth or 1, len(places)) - 1] if exact else places[-1])


def _choices(steps: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return all steps in order, each as many times as the run that recorded it most often."""
    counted = [np.unique(one, return_counts=True) for one in steps]
    every = np.unique(np.concatenate([_NO_STEPS, *(one for one, _ in counted)]))
    most = np.zeros(len(every), np.int64)
    for one, times in counted:
        at = np.searchsorted(every, one)
        most[at] = np.maximum(most[at], times)
    return np.repeat(every, most)


def _taken(source: RunSources, ask: HistogramRequest, shown: Sequence[_PlacedItems], read_places: Read) -> _FigureData:
    colour = source.runs.colours(ask.state.get("run", ()))
    taken = _FigureData()
    for one in shown:
        values, read = _values(read_places(one.run, one.chosen.tolist()), taken)
        kept = one.chosen[read]
        taken.runs.append(
            RunHistograms(
                run=one.run, label=label_of(one.run, one.row), colour=colour.get(one.run, "#808080"), started=one.started,
                step=one.items.step[kept], time=one.seconds[kept], x=one.x[kept], values=values,
            )
        )  # fmt: skip
    return taken


def _reader(source: ValueSources, tag: str) -> Read:
    def read(run: str, places: Sequence[int]) -> list[HistogramValue | PayloadError | None]:
        return [_value(source, run, tag, place) for place in places]

    return read


def _value(source: ValueSources, run: str, tag: str, place: int) -> HistogramValue | PayloadError:
    try:
        value = source.values.value(run, "histogram", tag, place)
    except PayloadError as error:
        return error
    assert isinstance(value, HistogramValue)
    return value


def _values(
    found: Sequence[HistogramValue | PayloadError | None], taken: _FigureData
) -> tuple[list[HistogramValue], NDArray[np.bool_]]:
    """Return the histograms found and a mask of their places; count those that cannot be read or are still being made."""
    for value in found:
        if isinstance(value, PayloadError):
            taken.unread += 1
            taken.reason = taken.reason or str(value)
    taken.waiting += sum(value is None for value in found)
    values = [value for value in found if isinstance(value, HistogramValue)]
    return values, np.array([isinstance(value, HistogramValue) for value in found], bool)


def _x(items: PayloadSeries, seconds: NDArray[np.float64], ask: HistogramRequest) -> NDArray[np.float64]:
    if ask.axis == "step":
        return items.step.astype(np.float64)
    x = seconds if ask.axis == "relative" else (items.wall_time + ask.zone) * 1000.0
    return np.where(np.isfinite(x), x, 0.0)


def _figure(view: str, runs: Sequence[RunHistograms], look: HistogramStyle, ask: HistogramRequest) -> dict[str, Any]:
    if view == "step":
        return single(runs, look, beside=ask.beside)
    return {"heat": heat, "ridge": ridge, "overlay": overlay, "numbers": over_steps}[view](runs, look)


def _suited(look: HistogramStyle, ask: HistogramRequest, runs: Sequence[RunHistograms]) -> HistogramStyle:
    """Return the style with the colours and axes that suit the values where the ask leaves them open.

    If the ranges of runs differ by FAR, each has an axis of its own, so that one that diverged does not flatten the others. If
    those of runs or of the steps of one do, colours are robust.
    """
    steps = [[float(value.max - value.min) for value in run.values] for run in runs]
    between = _far([max(spans, default=0.0) for spans in steps])
    apart = between if ask.apart == AUTO else ask.apart == "1"
    colour = ("robust" if between or any(map(_far, steps)) else COLOURS[0]) if ask.colour == AUTO else ask.colour
    return replace(look, colour=colour, apart=apart)


def _far(spans: Sequence[float]) -> bool:
    """Return whether the largest range of values is FAR times as wide as the smallest one that is not 0."""
    known = [span for span in spans if 0.0 < span < np.inf]
    return bool(known) and max(known) >= FAR * min(known)


def _bad(runs: Sequence[RunHistograms]) -> list[int]:
    """Return the numbers of NaN, +Inf and -Inf values in the drawn steps."""
    values = [value for run in runs for value in run.values]
    return [sum(v.nan for v in values), sum(v.pos_inf for v in values), sum(v.neg_inf for v in values)]


def _damage(runs: Sequence[RunHistograms]) -> dict[str, Any]:
    """Return the number of drawn histograms that are damaged, and the problem of the first one."""
    wrong = [(run, at) for run in runs for at, value in enumerate(run.values) if value.problem]
    if not wrong:
        return {"damaged": 0, "problem": ""}
    run, at = wrong[0]
    return {"damaged": len(wrong), "problem": f"{run.label}, step {int(run.step[at])}: {run.values[at].problem}"}


def _newest(runs: Sequence[RunHistograms]) -> dict[str, Any] | None:
    """Return the statistics of the first run's newest drawn step."""
    run = next((run for run in runs if run.step.size), None)
    if run is None:
        return None
    at = int(np.argmax(run.step))
    value = run.values[at]
    known = {name: float(getattr(value, name)) for name in ("min", "mean", "max")} if value.finite > 0 else {}
    return {
        "step": int(run.step[at]), "total": value.total, "bad": [value.nan, value.pos_inf, value.neg_inf],
        **{name: number if np.isfinite(number) else None for name, number in known.items()},
    }  # fmt: skip
