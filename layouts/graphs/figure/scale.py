"""The colours of boxes that are painted by a value: from yellow over green to blue, even in lightness.

They are ColorBrewer's sequential colours YlGnBu, which people who cannot tell red from green can read. Low values are near to
the card: light on a light one, dark on a dark one. Text on a box is black or white, whichever has more contrast: at least
4.5:1 on every colour of the scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from layouts.kit.theme import luminance

LIGHT = ("#ffffd9", "#edf8b1", "#c7e9b4", "#7fcdbb", "#41b6c4", "#1d91c0", "#225ea8", "#253494", "#081d58")
DARK = (*LIGHT[:0:-1][1:], LIGHT[0])
BLACK, WHITE = "#000000", "#ffffff"
_EVEN = 0.179
"""Relative luminance at which black and white have the same contrast."""


@dataclass(frozen=True, slots=True)
class Paints:
    """The colours of a painted picture. boxes: text, colour and colour of the text by key; stops and ticks: those of the bar,
    ticks as (share of its length, text)."""

    boxes: Mapping[str, tuple[str, str, str]]
    stops: tuple[str, ...]
    ticks: tuple[tuple[float, str], ...]
    title: str


@dataclass(frozen=True, slots=True)
class Scale:
    """Colours from low to high; values beyond have the colour of the end. log: equal factors have equal distances."""

    low: float
    high: float
    log: bool = False
    dark: bool = False

    def share(self, value: float) -> float:
        """Return the place of a value: 0 for low, 1 for high."""
        if math.isnan(value) or not self.high > self.low:
            return 1.0 if value >= self.high > 0 else 0.0
        if self.log:
            if value <= self.low:
                return 0.0
            return min(1.0, (math.log(min(value, self.high)) - math.log(self.low)) / (math.log(self.high) - math.log(self.low)))
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def value(self, share: float) -> float:
        """Return the value at a place."""
        if self.log and self.low > 0:
            return self.low * math.exp(share * math.log(self.high / self.low))
        return self.low + share * (self.high - self.low)

    def colour(self, value: float) -> str:
        """Return the colour of a value, #rrggbb."""
        stops = DARK if self.dark else LIGHT
        at = self.share(value) * (len(stops) - 1)
        place = min(int(at), len(stops) - 2)
        return _mixed(stops[place], stops[place + 1], at - place)

    @property
    def stops(self) -> tuple[str, ...]:
        """The colours of a bar, from low to high."""
        return DARK if self.dark else LIGHT


def scale_of(values: Iterable[float], highest: float = math.nan, *, log: bool = False, dark: bool = False) -> Scale:
    """Return the scale of values that are not negative, of which highest is the greatest if it is known.

    A linear scale begins at 0, a logarithmic one at the least value above 0; without such a value it is linear.
    """
    known = [value for value in values if math.isfinite(value)]
    high = max([*known, *([highest] if math.isfinite(highest) else [])], default=0.0)
    above = [value for value in known if value > 0]
    if log and above and min(above) < high:
        return Scale(min(above), high, True, dark)
    return Scale(0.0, high, False, dark)


def ink(colour: str) -> str:
    """Return the colour of text on a box of this colour."""
    return BLACK if luminance(colour) > _EVEN else WHITE


def _mixed(one: str, other: str, share: float) -> str:
    parts = [round(int(one[at : at + 2], 16) * (1 - share) + int(other[at : at + 2], 16) * share) for at in (1, 3, 5)]
    return f"#{parts[0]:02x}{parts[1]:02x}{parts[2]:02x}"
