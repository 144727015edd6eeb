"""Places of a landscape without a loss: hatched cells of the plane or of a curve, crosses on the ground below a surface."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
from parsers.analysis.values.drawn_landscapes import MissingLosses

from layouts.curves.smoothed_lines import Trace
from layouts.kit.figures.typed_arrays import numbers

MOST_HATCHED = 20_000
"""Cells, beyond which the others stay blank: the browser draws each as a path."""
_LONGEST_REASON = 120


def missing_traces(missing: MissingLosses, *, word: str, colour: str, ground: float | None) -> list[Trace]:
    """Return the traces of places without a loss. ground is the height of crosses below a surface, None for hatched cells."""
    if not len(missing.x):
        return []
    places: Trace = {
        "x": numbers(missing.x), "y": numbers(missing.y), "mode": "markers", "showlegend": False,
        "text": [_said(word, reason) for reason in missing.reasons],
        "hovertemplate": "%{text}<br>x %{x:.4~g}<br>y %{y:.4~g}<extra></extra>", "meta": {"role": "missing"},
    }  # fmt: skip
    if ground is not None:
        marker = {"symbol": "x", "size": 3, "color": colour}
        return [places | {"type": "scatter3d", "z": numbers(np.full(len(missing.x), ground)), "marker": marker}]
    return [hatched(missing, colour), places | {"type": "scatter", "marker": {"size": 1, "opacity": 0}}]


def hatched(missing: MissingLosses, colour: str) -> Trace:
    """Return one trace that hatches all cells."""
    cells = slice(0, MOST_HATCHED)
    left, right, bottom, top = (side[cells] for side in (missing.left, missing.right, missing.bottom, missing.top))
    gap = np.full(len(left), np.nan)
    pattern: dict[str, Any] = {"shape": "/", "size": 6, "solidity": 0.18, "fgcolor": colour, "bgcolor": "rgba(0,0,0,0)"}
    return {
        "type": "scatter", "mode": "lines", "fill": "toself", "hoverinfo": "skip", "showlegend": False,
        "x": numbers(np.column_stack([left, right, right, left, left, gap]).ravel()),
        "y": numbers(np.column_stack([bottom, bottom, top, top, bottom, gap]).ravel()),
        "line": {"width": 0}, "fillpattern": pattern, "meta": {"role": "hatch"},
    }  # fmt: skip


def _said(word: str, reason: str) -> str:
    """What a place says; the reason comes from the user's function, so it is text."""
    short = reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}…"
    return f"{word}<br>{html.escape(short, quote=False)}" if short else word
