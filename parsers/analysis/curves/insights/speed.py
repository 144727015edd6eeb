"""Finds recorded speeds, such as samples per second, that fall and stay low, at once or little by little."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from parsers.analysis.curves.insights.levels import SIGMA, levels, running
from parsers.analysis.curves.insights.rules import LEAST, RULES
from parsers.model import Floats

_BLOCKS = 128
_SURE = 6.0
"""The fall must exceed this many standard deviations of the medians that are compared."""
_BEGUN = 0.25
"""The fall begins where this fraction of it is lost for good."""
_NAMED = re.compile(
    r"per[ _-]?s(ec(ond)?)?([^a-z]|$)|/s(ec(ond)?)?$|throughput|(^|[^a-z])(fps|ips|qps|tps|sps)([^a-z]|$)|(^|[^a-z])speed",
    re.IGNORECASE,
)


class Fall(NamedTuple):
    """first: index of the point from which on. before, after: the speeds."""

    first: int
    before: float
    after: float


def is_speed(tag: str) -> bool:
    """Return whether the name of a curve says that it is a speed."""
    return bool(_NAMED.search(tag))


def fall(value: Floats) -> Fall | None:
    """Return where an array of speeds without NaN fell for good."""
    known = levels(value, _BLOCKS)
    level = known.level
    wide = max(3, level.size // 8)
    smooth = running(level, wide + 1 - wide % 2)
    before, after = float(smooth.max()), float(np.median(level[-wide:]))
    if before <= 0.0 or before < LEAST * RULES["speed"].limit * max(after, 0.0):
        return None
    noise = max(known.noise, SIGMA * float(np.median(np.abs(level - smooth))))
    if before - after < _SURE * noise / (wide / 2.0) ** 0.5:
        return None
    fast = np.flatnonzero(running(level, 3) >= before - _BEGUN * (before - after))
    first = min(int(fast[-1]) + 1, level.size - 1)
    return Fall(int(known.first[first]), before, max(after, np.finfo(float).tiny * 1e10))
