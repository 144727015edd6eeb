"""How far a value lies from those of its peers, not moved by a few that are far off."""

from __future__ import annotations

import numpy as np

from parsers.model import Floats

NORMAL = 1.4826
"""Standard deviation of normal values / median distance from their median."""


def z_scores(values: Floats, least: float) -> Floats:
    """Return (value - median) / max(1.4826 * median distance, least * median) for each value; NaN stays NaN.

    least is the smallest relative spread that is believed: equal peers would else make every noise an outlier.
    """
    known = values[np.isfinite(values)]
    if not len(known):
        return np.full(len(values), np.nan)
    middle = float(np.median(known))
    spread = max(NORMAL * float(np.median(np.abs(known - middle))), least * abs(middle))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(values == middle, 0.0, (values - middle) / spread)
