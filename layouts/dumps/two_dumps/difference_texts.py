"""Numbers of the page as text."""

from __future__ import annotations

import math

from layouts.kit import units as fmt


def quantity(value: float) -> str:
    """Return a difference: 0, 0.120 %, 3.40e-5 %; – for unknown."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞"
    if value == 0:
        return "0"
    return fmt.percent(value)


def limit(value: float) -> str:
    """Return a tolerance as people write it: 0.001, 1e-06."""
    return f"{value:g}"
