"""Requests of the page to the server, parsed and validated: values from a browser are untrusted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from layouts.kit import parameters as asked
from layouts.kit.parameters import Request
from layouts.kit.state import BadInput, texts
from layouts.values.landscapes import CONTOURS, SCALES, VIEWS

MOST_SHEETS = 3
"""Maximum number of landscapes in one figure: each surface needs a WebGL context, and browsers drop the oldest after a few."""


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


@dataclass(frozen=True, slots=True)
class LandscapeRequest(Request):
    """A request for a figure: landscapes as (run, tag), the runs that the state of the page names, and how to draw them."""

    sheets: tuple[tuple[str, str], ...] = asked.part(read_sheets, "sheet")
    runs: tuple[str, ...] = asked.words("run")
    view: str = asked.one_of("view", VIEWS)
    scale: str = asked.one_of("map", tuple(SCALES), "viridis")
    contours: int = asked.count("lines", 20, *CONTOURS)
    opacity: float = asked.real("opacity", 1.0, 0.1, 1.0)
    overlaid: bool = asked.switch("over")
    one_scale: bool = asked.switch("same")
    language: str = asked.language()
    dark: bool = asked.dark()


