"""Runs as lines over parallel axes, one axis per column of the lineage table.

The place of a number v is v itself, log10(v) on a logarithmic axis, or sign(v) log10(1 + |v| / c) on a symmetric one; that of a
text is the number of its category. Values without a place are drawn apart from the axis: missing values, NaN, -Inf and, on a
logarithmic axis, values that are not positive below it; +Inf above it.
assets/lineage/parallel.js draws them on a canvas, and leaves out the texts of ticks that have no room.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers.deferred import pandas as pd

from layouts.kit import units as fmt
from layouts.kit.figures.typed_arrays import typed
from layouts.kit.names import NameSet, middle
from layouts.kit.theme import PALETTE, SHADES
from layouts.values.landscapes import SCALES

Floats = NDArray[np.float64]

MISSING, NAN, MINUS, NOT_POSITIVE, PLUS = "missing", "NaN", "-Inf", "≤ 0", "+Inf"
"""Names of values drawn apart from an axis."""
LINEAR, LOG, SYMLOG = "linear", "log", "symlog"
"""Scales of numbers."""
_BELOW = (NOT_POSITIVE, MINUS, NAN, MISSING)
_APART = 0.09
"""Distance between an axis and the values apart from it, and between two kinds of those, as a fraction of the axis."""
_EXACT = 2**53
_LARGEST = 1e300
"""Larger magnitudes are treated as infinite: the length of an axis from -1e308 to 1e308 would overflow a float64."""
_SPREAD = 1e3
_ROOM = 0.025
_FEW = 7
_MOST_WRITTEN = 24
_MOST_KEYED = 12
_LONGEST = 16
_LETTER = 6.5
"""Maximum width of a letter in a tick, in pixels."""
_GREY = "#8b95a1"
_COLOURS = tuple(hue[shade] for shade in range(SHADES) for hue in PALETTE)


@dataclass(frozen=True, slots=True)
class Axis:
    """A column as an axis: the places of its rows (float64 per row), its ends, and its ticks.

    scale is the scale of its numbers, constant the c of a symmetric one. low and high are the lowest and highest place of its
    numbers or categories; apart has the places of values apart from the axis, by name. ticks are (place, text), ascending;
    categories are the texts at 0, 1, 2 ... of a category axis.
    """

    name: str
    scale: str
    places: Floats
    low: float
    high: float
    apart: Mapping[str, float]
    ticks: Sequence[tuple[float, str]]
    categories: Sequence[str] = ()
    constant: float = 1.0

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the axis including values apart from it, with room to begin a brush beyond the last value."""
        room = (self.high - self.low) * _ROOM
        return min([self.low, *self.apart.values()]) - room, max([self.high, *self.apart.values()]) + room


def is_numeric(column: pd.Series[Any]) -> bool:
    """Return whether a column of the lineage table has numbers that a float64 can hold; otherwise it has categories."""
    kind = getattr(column.dtype, "kind", "O")
    return kind == "f" or (kind in "iu" and not bool((column.abs() > _EXACT).any()))


def category_text(value: Any) -> str:
    """Return the text of a value of a category column."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    return fmt.exact(value) if isinstance(value, float) else str(value)


def brief(text: str, longest: int = 200) -> str:
    """Shorten a text to at most `longest` characters, keeping its beginning and end."""
    return middle(text, longest)


# Axes --------------------------------------------------------------------------------------------------------------


def usual_scale(values: Floats) -> str:
    """Return the scale that separates these numbers best: LINEAR unless a few numbers would squeeze all others.

    LOG for positive numbers over more than three decades if at least half of them are in the lowest tenth of the range; SYMLOG
    for numbers of both signs, or with zeros, if the largest magnitude is a thousand times the median of the nonzero ones.
    """
    values = values[np.abs(values) <= _LARGEST]
    magnitudes = np.abs(values[values != 0])
    if len(magnitudes) < 2 or magnitudes.max() / _SPREAD <= magnitudes.min():
        return LINEAR
    if bool((values > 0).all()):
        return LOG if float(np.median(values)) <= values.min() + (values.max() - values.min()) / 10 else LINEAR
    return SYMLOG if float(np.median(magnitudes)) * _SPREAD <= magnitudes.max() else LINEAR


def axis(
    name: str, column: pd.Series[Any], recorded: NDArray[np.bool_], *, scale: str = LINEAR, unit: str = ""
) -> Axis:
    """Return the axis of a column. recorded is the mask of its values; scale applies to numbers only, LOG to positive ones."""
    if not is_numeric(column):
        return _of_categories(name, column, recorded)
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    finite = np.abs(values) <= _LARGEST
    if scale == LOG and not (values[finite] > 0).any():
        scale = LINEAR
    constant = _constant(values[finite]) if scale == SYMLOG else 1.0
    inside = finite & (values > 0) if scale == LOG else finite
    places = np.full(len(values), np.nan)
    places[inside] = _placed(values[inside], scale, constant)
    known = np.unique(places[inside])
    low, high = _ends(known)
    apart = _stand_apart(places, low, high, {
        NOT_POSITIVE: finite & ~inside, MINUS: values < -_LARGEST, NAN: np.isnan(values) & recorded, MISSING: ~recorded,
        PLUS: values > _LARGEST,
    })  # fmt: skip
    ticks = _ticks(_of_numbers(known, low, high, scale, constant, unit), apart)
    return Axis(name, scale, places, low, high, apart, ticks, constant=constant)


def _constant(values: Floats) -> float:
    """Return the c of a symmetric axis: the power of ten below the median magnitude of the nonzero values.

    At least 1e-300 of the largest magnitude, so that v / c is a float64.
    """
    magnitudes = np.abs(values[values != 0])
    if not len(magnitudes):
        return 1.0
    least = max(float(np.median(magnitudes)), float(magnitudes.max()) / 1e299, 1e-300)
    return float(10.0 ** math.floor(math.log10(least)))


def _placed(values: Floats, scale: str, constant: float) -> Floats:
    if scale == LOG:
        return np.log10(values)
    if scale == SYMLOG:
        with np.errstate(divide="ignore"):
            return np.sign(values) * np.logaddexp(0.0, np.log(np.abs(values)) - math.log(constant)) / math.log(10.0)
    return values


def _value(place: float, scale: str, constant: float) -> float:
    """Return the number at a place."""
    if scale == LOG:
        return float(10.0**place)
    return math.copysign(constant * (10.0 ** abs(place) - 1.0), place) if scale == SYMLOG else place


def _of_categories(name: str, column: pd.Series[Any], recorded: NDArray[np.bool_]) -> Axis:
    texts = [category_text(value) if there else "" for value, there in zip(column.array, recorded, strict=True)]
    categories = sorted({text for text, there in zip(texts, recorded, strict=True) if there}, key=_natural)
    index = {text: place for place, text in enumerate(categories)}
    places = np.array([index[text] if there else np.nan for text, there in zip(texts, recorded, strict=True)], np.float64)
    low, high = _ends(np.arange(len(categories), dtype=np.float64))
    apart = _stand_apart(places, low, high, {MISSING: ~recorded})
    every, names = math.ceil(len(categories) / _MOST_WRITTEN), NameSet(categories)
    ticks = [(float(place), names.short(text, _LONGEST)) for place, text in enumerate(categories) if place % every == 0]
    return Axis(name, LINEAR, places, low, high, apart, _ticks(ticks, apart), categories)


def _natural(text: str) -> tuple[tuple[int, float, str], ...]:
    """Sort key that compares numbers within texts by value."""
    parts = re.split(r"(\d+)", text[:200])
    return (*((0, float(part[:300]), "") if part.isdecimal() else (1, 0.0, part) for part in parts), (1, 0.0, text))


def _ends(places: Floats) -> tuple[float, float]:
    """Return the ends of an axis with these places, which differ even if all places are equal."""
    if not len(places):
        return 0.0, 1.0
    low, high = float(places.min()), float(places.max())
    if low < high:
        return low, high
    margin = max(abs(low) * 0.1, 0.5 if low == int(low) else abs(low) * 0.1, 1e-300)
    return low - margin, high + margin


def _stand_apart(places: Floats, low: float, high: float, groups: Mapping[str, NDArray[np.bool_]]) -> dict[str, float]:
    """Place groups of rows below or above an axis, and return the place of each group that has rows."""
    span = high - low
    apart: dict[str, float] = {}
    for name in _BELOW:
        if name in groups and groups[name].any():
            apart[name] = low - span * _APART * (len(apart) + 1)
    if PLUS in groups and groups[PLUS].any():
        apart[PLUS] = high + span * _APART
    for name, place in apart.items():
        places[groups[name]] = place
    return apart


def _ticks(inside: Sequence[tuple[float, str]], apart: Mapping[str, float]) -> list[tuple[float, str]]:
    return sorted([*inside, *((place, name) for name, place in apart.items())])


def _of_numbers(known: Floats, low: float, high: float, scale: str, constant: float, unit: str) -> list[tuple[float, str]]:
    """Return the ticks of a numeric axis: at its values if there are few, else at round numbers."""
    if not len(known):
        return []
    span = high - low
    apart = len(known) < 2 or float(np.diff(known).min()) >= span * 0.06
    written = known if len(known) <= _FEW and apart else _round_places(low, high, scale, constant)
    return sorted({float(place): _tick_text(_value(place, scale, constant), unit) for place in written}.items())


def _tick_text(value: float, unit: str) -> str:
    if unit == "B":
        return fmt.size(value)
    if unit == "s":
        return fmt.duration(value)
    return fmt.tick(value)


def _round_places(low: float, high: float, scale: str, constant: float = 1.0) -> list[float]:
    """Return the places of about five round numbers from low to high."""
    if scale == SYMLOG:
        return _round_powers(low, high, constant)
    if scale == LOG and high - low >= 1:
        decades = range(math.ceil(low), math.floor(high) + 1, math.ceil((high - low) / 6))
        powers = [float(power) for power in decades]
        return powers if len(powers) > 1 else [low, *powers, high]
    if scale == LOG:
        return [math.log10(value) for value in _round_places(10.0**low, 10.0**high, LINEAR) if value > 0]
    raw = (high - low) / 5
    if not math.isfinite(raw) or raw < 1e-300:
        return [low, high]
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * size for factor in (1, 2, 2.5, 5, 10) if factor * size >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [min(max(number * step, low), high) for number in range(first, last + 1)]


def _round_powers(low: float, high: float, constant: float) -> list[float]:
    """Return the places of 0 and of powers of ten of both signs on a symmetric axis."""
    first = round(math.log10(constant))
    last = math.floor(math.log10(max(_value(max(-low, high), SYMLOG, constant), constant)))
    powers = np.array([10.0**power for power in range(last, first, -max(1, math.ceil((last - first) / 4)))], np.float64)
    places = np.concatenate([-_placed(powers, SYMLOG, constant), [0.0], _placed(powers, SYMLOG, constant)[::-1]])
    return [float(place) for place in places if low <= place <= high]


# Figure ------------------------------------------------------------------------------------------------------------


def parallel(axes: Sequence[Axis], keys: Sequence[str], line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figure with these axes and one line per key; line has colours as `line_by_axis` makes them.

    layout.meta has the keys, and for each axis what is needed to interpret a brush.
    """
    trace = {"dimensions": [_dimension(one) for one in axes], "line": line}
    meta = {"keys": list(keys), "axes": [_meta(one) for one in axes]}
    left = max((len(text) for _, text in axes[0].ticks), default=0) if axes else 0
    margin = {"l": max(56, round(_LETTER * left) + 20), "r": 56, "t": 40, "b": 16}
    return {"data": [trace], "layout": {"meta": meta, "margin": margin}}


def _dimension(one: Axis) -> dict[str, Any]:
    return {
        "name": one.name, "label": brief(one.name, _LONGEST), "values": typed(one.places),
        "range": list(one.ends), "tickvals": [place for place, _ in one.ticks],
        "ticktext": [text for _, text in one.ticks],
    }  # fmt: skip


def _meta(one: Axis) -> dict[str, Any]:
    kind = "category" if one.categories else "number"
    return {
        "name": one.name, "kind": kind, "scale": one.scale, "constant": one.constant, "low": one.low, "high": one.high,
        "apart": dict(one.apart),
        "categories": [brief(text) for text in one.categories],
    }  # fmt: skip


def line_by_axis(one: Axis, *, dark: bool = False) -> dict[str, Any]:
    """Colour lines by their places on an axis: viridis for numbers, one colour per category, grey for values apart."""
    inside = (one.places >= one.low) & (one.places <= one.high)
    if one.categories:
        count = min(len(one.categories), len(_COLOURS))
        code = np.where(inside, one.places % count, -1.0)
        return {"color": typed(code), **steps([_GREY, *_COLOURS[:count]])}
    part = np.where(inside, (one.places - one.low) / (one.high - one.low), -0.25)
    stops = _stops(dark)
    # The lowest fifth of the scale is for values apart from the axis.
    scale = [[0.0, _GREY], [0.19, _GREY], *([0.2 + 0.8 * n / (len(stops) - 1), stop] for n, stop in enumerate(stops))]
    return {"color": typed(part), "colorscale": scale, "cmin": -0.25, "cmax": 1.0}


def _stops(dark: bool) -> Sequence[str]:
    """The colours of numbers, without the end of the scale that is hard to see on the card: contrast of less than 3 to 1."""
    return SCALES["viridis"][4:] if dark else SCALES["viridis"][:-1]


def colour_key(one: Axis, *, dark: bool = False) -> dict[str, Any]:
    """Return the colours of `line_by_axis` as a key to the figure.

    ticks are (part of the scale, text) and stops its colours from the lowest to the highest number; of categories, entries are
    (colour, text) and left is the number of further ones. apart tells that some lines are grey, as they have no place.
    """
    found: dict[str, Any] = {"name": one.name, "scale": one.scale, "apart": bool(one.apart), "grey": _GREY}
    if one.categories:
        count = min(len(one.categories), len(_COLOURS))
        shown = one.categories[:_MOST_KEYED]
        entries = [[_COLOURS[place % count], brief(text, _LONGEST)] for place, text in enumerate(shown)]
        return found | {"entries": entries, "left": len(one.categories) - len(shown)}
    inside = [(place, text) for place, text in one.ticks if one.low <= place <= one.high]
    ticks = [[round((place - one.low) / (one.high - one.low), 4), text] for place, text in inside]
    return found | {"ticks": ticks, "stops": list(_stops(dark))}


def line_by_colour(colours: Sequence[str]) -> dict[str, Any]:
    """Colour each line individually, one colour per row."""
    distinct = list(dict.fromkeys(colours)) or [_GREY]
    code = np.array([distinct.index(colour) for colour in colours], np.float64) - 1.0
    return {"color": typed(code), **steps(distinct)}


def steps(colours: Sequence[str]) -> dict[str, Any]:
    """Return a scale of discrete colours for -1, 0, 1 ..."""
    count = len(colours)
    scale = [[(n + end) / count, colour] for n, colour in enumerate(colours) for end in (0, 1)]
    return {"colorscale": scale, "cmin": -1.5, "cmax": count - 1.5}
