"""Requests of the page to the server, parsed and validated: values from a browser are untrusted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from layouts.kit.state import BadInput, flag, number, text, texts
from layouts.values.landscapes import CONTOURS, SCALES, VIEWS

MOST_SHEETS = 3
"""Maximum number of landscapes in one figure: each surface needs a WebGL context, and browsers drop the oldest after a few."""
LANGUAGES = ("en", "zh")
THEMES = ("light", "dark")


@dataclass(frozen=True, slots=True)
class LandscapeRequest:
    """A request for a figure: landscapes as (run, tag), the runs that the state of the page names, and how to draw them."""

    sheets: tuple[tuple[str, str], ...]
    runs: tuple[str, ...]
    view: str
    scale: str
    contours: int
    opacity: float
    overlaid: bool
    language: str
    theme: str


def read_ask(data: Any) -> LandscapeRequest:
    """Parse a request from the browser. BadInput if it is malformed."""
    return LandscapeRequest(
        sheets=read_sheets(data),
        runs=tuple(texts(data, "run")),
        view=text(data, "view", VIEWS[0], choices=VIEWS),
        scale=text(data, "map", "viridis", choices=tuple(SCALES)),
        contours=int(number(data, "lines", 20, *CONTOURS)),
        opacity=number(data, "opacity", 1.0, 0.1, 1.0),
        overlaid=flag(data, "over"),
        language=text(data, "lang", "en", choices=LANGUAGES),
        theme=text(data, "theme", "light", choices=THEMES),
    )


def read_sheets(data: Any) -> tuple[tuple[str, str], ...]:
    """Parse the (run, tag) pairs of a request, each a JSON list of two texts. BadInput if one is malformed."""
    sheets = texts(data, "sheet")
    if not 0 < len(sheets) <= MOST_SHEETS:
        raise BadInput(f"sheet: expected 1 to {MOST_SHEETS} landscapes, found {len(sheets)}")
    return tuple(_pair(sheet) for sheet in sheets)


def _pair(sheet: str) -> tuple[str, str]:
    try:
        pair = json.loads(sheet)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"sheet: expected a JSON list of run and tag, found {sheet[:80]!r}") from error
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(part, str) for part in pair):
        raise BadInput(f"sheet: expected a JSON list of run and tag, found {sheet[:80]!r}")
    return pair[0], pair[1]
