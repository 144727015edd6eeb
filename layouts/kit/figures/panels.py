"""Several plots in one figure, one per run: their domains, axes and titles."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

from layouts.kit.names import shortened

_WIDE = 6.6
"""Pixels that a letter of a title takes."""
_LEAST = 4
_SIDES = 68
"""Pixels of a card at the left and the right of its panels."""
_GAP_X, _GAP_Y, _GAP_LABELS = 0.1, 0.16, 0.26
_HEAD = 0.05


def grid(count: int, *, labelled: bool = False) -> list[tuple[list[float], list[float]]]:
    """Return the domains (x, y) of count panels, row by row: two side by side, four in a square, nine in three rows.

    labelled: every panel has labels at its left, for which there is more room.
    """
    across = math.ceil(math.sqrt(count)) if count else 1
    down = max(1, math.ceil(count / across))
    gap_x, gap_y = (_GAP_LABELS if labelled else _GAP_X) / across, _GAP_Y / down
    width = (1.0 - gap_x * (across - 1)) / across
    height = (1.0 - gap_y * (down - 1)) / down
    domains = []
    for number in range(count):
        column, row = number % across, number // across
        left, top = column * (width + gap_x), 1.0 - row * (height + gap_y)
        head = _HEAD if count > 1 else 0.0
        domains.append(([left, min(1.0, left + width)], [max(0.0, top - height), top - head]))
    return domains


def axis(letter: str, number: int) -> str:
    """Return the name of an axis in a trace: "x", "x2", ..."""
    return letter if number == 0 else f"{letter}{number + 1}"


def layout_key(letter: str, number: int) -> str:
    """Return the name of the same axis in a layout: "xaxis", "xaxis2", ..."""
    return f"{letter}axis{'' if number == 0 else number + 1}"


def titles(
    names: Sequence[tuple[str, str]], domains: Sequence[tuple[list[float], list[float]]], width: int
) -> list[dict[str, Any]]:
    """Return annotations of (name, colour) over each panel, as long as a panel of a card of this width in pixels has room for.

    Names are escaped, because plotly interprets some HTML.
    """
    letters, every = (width - _SIDES) / _WIDE, [name for name, _ in names]
    return [
        {
            "text": f'<span style="color:{colour}">●</span> '
            + html.escape(shortened(name, every, max(_LEAST, int((x[1] - x[0]) * letters) - 2)), quote=False),
            "xref": "paper", "yref": "paper", "x": x[0], "y": y[1], "xanchor": "left", "yanchor": "bottom",
            "showarrow": False, "font": {"size": 11},
        }
        for (name, colour), (x, y) in zip(names, domains, strict=True)
    ]  # fmt: skip
