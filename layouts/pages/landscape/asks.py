"""What the page asks the server for, read from the browser's own words. Every value in it is untrusted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from layouts.figures.landscapes import CONTOURS, SCALES, VIEWS
from layouts.state import BadInput, flag, number, text, texts

MOST_SHEETS = 3
"""Landscapes in one figure: each surface is a WebGL context of its own, and browsers give up the oldest of a few."""
LANGUAGES = ("en", "zh")
THEMES = ("light", "dark")


@dataclass(frozen=True, slots=True)
class Ask:
    """Landscapes as (run, tag), and how to draw them."""

    sheets: tuple[tuple[str, str], ...]
    view: str
    scale: str
    contours: int
    opacity: float
    overlaid: bool
    language: str
    theme: str


def read_ask(data: Any) -> Ask:
    """The ask a browser sent, or BadInput."""
    return Ask(
        sheets=read_sheets(data),
        view=text(data, "view", VIEWS[0], choices=VIEWS),
        scale=text(data, "map", "viridis", choices=tuple(SCALES)),
        contours=int(number(data, "lines", 20, *CONTOURS)),
        opacity=number(data, "opacity", 1.0, 0.1, 1.0),
        overlaid=flag(data, "over"),
        language=text(data, "lang", "en", choices=LANGUAGES),
        theme=text(data, "theme", "light", choices=THEMES),
    )


def read_sheets(data: Any) -> tuple[tuple[str, str], ...]:
    """The (run, tag) pairs of an ask, each written as a JSON list of two texts; or BadInput."""
    given = texts(data, "sheet")
    if not 0 < len(given) <= MOST_SHEETS:
        raise BadInput(f"sheet: wanted 1 to {MOST_SHEETS}; got {len(given)}")
    return tuple(_pair(sheet) for sheet in given)


def _pair(sheet: str) -> tuple[str, str]:
    try:
        pair = json.loads(sheet)
    except (ValueError, RecursionError) as error:
        raise BadInput("sheet: wanted a JSON list of run and tag") from error
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(part, str) for part in pair):
        raise BadInput("sheet: wanted a JSON list of run and tag")
    return pair[0], pair[1]
