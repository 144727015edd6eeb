"""The colours that runs, groups and other kinds of lines are drawn in; `layouts.runs.run_colours` chooses those of runs.

Ten hues after Okabe and Ito, with the lightness adjusted until each has a contrast of at least 3:1 on the cards of both
themes and any two differ in normal, deuteranopic and protanopic vision; then two more lightnesses of each. All thirty lie in
the narrow band of luminance that is readable on a light and on a dark background, so one colour serves both themes.
"""

from __future__ import annotations

import math

PALETTE: tuple[tuple[str, str, str], ...] = (
    ("#236db4", "#4e95df", "#3880c9"),  # blue
    ("#d25908", "#e96e2b", "#b64a00"),  # vermillion
    ("#2b9c78", "#087a5b", "#138e6b"),  # bluish green
    ("#895dd6", "#a57af6", "#7f52ca"),  # violet
    ("#c6871a", "#926209", "#aa7103"),  # orange
    ("#2e9ac8", "#00749c", "#0986b3"),  # sky
    ("#c765aa", "#a7488d", "#d26fb5"),  # reddish purple
    ("#7c8542", "#8e9754", "#68702d"),  # olive
    ("#217f7b", "#479f9a", "#2f8a86"),  # teal
    ("#866850", "#ab8b72", "#96775f"),  # umber
)
HUES, SHADES = len(PALETTE), len(PALETTE[0])
FIRST = (5, 4, 2, 3, 9)
"""The five hues that differ most, also in deuteranopic and protanopic vision: no two of them have the same everyday name."""
READABLE = (0.13625, 0.3)
"""Relative luminances (WCAG) between which a colour has a contrast of 3:1 on the cards of both themes."""
LOWEST, HIGHEST = 0.139, 0.297
"""Those that colours are made to have: rounding to eight bits moves them by up to 0.003."""


def luminance(colour: str) -> float:
    """Return the relative luminance (WCAG 2) of #rrggbb, from 0 to 1."""
    return _luminance(_linear(colour))


def legible(colour: str) -> str:
    """Return the colour, or the nearest darker or lighter one of its hue that is readable in both themes."""
    found = luminance(colour)
    return colour if READABLE[0] <= found <= READABLE[1] else _of_luminance(colour, min(max(found, LOWEST), HIGHEST))


def shade(colour: str, place: int, count: int) -> str:
    """Return one of `count` shades of a colour, from the darkest (place 0) to the lightest that is readable in both themes.

    Counterpart of `shade` in assets/kit/colours.js.
    """
    return _of_luminance(colour, LOWEST + (HIGHEST - LOWEST) * place / max(count - 1, 1))


def nearest_hue(colour: str) -> int:
    """Return the place in PALETTE of the hue that is most like a colour."""
    wanted = _parts(colour)
    return min(range(HUES), key=lambda hue: min(_distance(wanted, _parts(shade)) for shade in PALETTE[hue]))


def _of_luminance(colour: str, wanted: float) -> str:
    """Return a colour of this luminance: darker ones are scaled, lighter ones mixed with white, both in linear light."""
    parts = _linear(colour)
    found = _luminance(parts)
    if wanted <= found:
        return _text([part * wanted / found for part in parts])
    mixed = (wanted - found) / (1.0 - found)
    return _text([part + (1.0 - part) * mixed for part in parts])


def _parts(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def _distance(one: list[int], other: list[int]) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def _linear(colour: str) -> list[float]:
    shares = [part / 255 for part in _parts(colour)]
    return [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]


def _luminance(linear: list[float]) -> float:
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _text(linear: list[float]) -> str:
    shares = [12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055 for part in linear]
    return "#" + "".join(f"{math.floor(255 * share + 0.5):02x}" for share in shares)
