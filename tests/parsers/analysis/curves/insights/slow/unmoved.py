"""Metrics that never move: the median of all values. The slow reference of `parsers.analysis.curves.insights.unmoved`."""

from __future__ import annotations

import re

import numpy as np

from parsers.analysis.curves.insights.rules import RULES
from parsers.lineage.table import better
from parsers.model import Floats

_STILL = 0.003
"""A value that stays within this fraction of its size does not move, if it does not become better either."""
_TREND = 4.0
"""It becomes better if its halves differ by this many standard errors."""
GRADIENT = re.compile(r"grad(ient)?s?[ _/.-]?(global[ _/.-]?)?norm|norm[ _/.-]?of[ _/.-]?grad", re.IGNORECASE)
"""A norm of gradients, by its name."""
_LOSS = re.compile(r"loss", re.IGNORECASE)
_PERFECT = (1.0, 100.0)


def unmoved(tag: str, value: Floats) -> bool:
    """Return whether an array without NaN should have become better, or is a norm of gradients, and never moved."""
    if value.size < RULES["unmoved"].fewest or "scale" in tag.lower():
        return False
    first, wanted = float(value[0]), better(tag)
    if bool((value == first).all()):
        if wanted == "max":
            return first not in _PERFECT
        # No error is as good as it can be, but no loss stays at 0.
        return (wanted == "min" and (first != 0.0 or bool(_LOSS.search(tag)))) or (first == 0.0 and bool(GRADIENT.search(tag)))
    if not wanted:
        return False
    middle = float(np.median(value))
    away = np.abs(value - middle)
    if middle == 0.0 or float(np.quantile(away, 0.98)) > _STILL * abs(middle) or abs(first - middle) > 2.0 * float(away.max()):
        return False
    half = value.size // 2
    change = float(value[half:].mean() - value[:half].mean()) * (-1.0 if wanted == "min" else 1.0)
    return bool(change <= _TREND * 2.0 * float(value.std()) / value.size**0.5)
