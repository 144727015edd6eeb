"""The part of loss landscapes that a plot can show, and the scale of loss that several of them share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from parsers.analysis.values.histograms import thinned
from parsers.model import Floats, Ints
from parsers.payloads.values import LandscapeValue

MOST_POINTS = 256
"""Maximum number of points drawn along each axis; MindSpore computes no more."""
MOST_PASSED = 2000
"""Maximum number of points drawn of a path."""


def drawable(value: LandscapeValue) -> LandscapeValue:
    """Return the landscape on ascending axes, without non-finite or repeated coordinates.

    It is thinned evenly to MOST_POINTS along each axis and MOST_PASSED on the path. If an axis has a single point, z is empty.
    """
    across, up = _ascending(value.x), _ascending(value.y)
    if min(len(across), len(up)) < 2:
        across = up = across[:0]
    passed = np.flatnonzero(np.isfinite(value.path_x) & np.isfinite(value.path_y) & np.isfinite(value.path_z))
    passed = passed[thinned(len(passed), MOST_PASSED)]
    path = {name: getattr(value, name)[passed] for name in ("intervals", "path_x", "path_y", "path_z")}
    return replace(value, x=value.x[across], y=value.y[up], z=value.z[np.ix_(up, across)], **path)


def _ascending(axis: Floats) -> Ints:
    """Return the indices of the distinct finite values of an axis in ascending order, evenly thinned."""
    places = np.flatnonzero(np.isfinite(axis))
    places = places[np.unique(axis[places], return_index=True)[1]]
    return places[thinned(len(places), MOST_POINTS)]


def loss_scale(values: Sequence[LandscapeValue]) -> tuple[float, float, float]:
    """Return (least loss, greatest loss, loss in the middle: the one at which training ended, where that is between them)."""
    finite = [z for value in values if (z := value.z[np.isfinite(value.z)]).size]
    low = min((float(z.min()) for z in finite), default=0.0)
    high = max((float(z.max()) for z in finite), default=1.0)
    if not high > low:
        high = low + (abs(low) * 1e-6 or 1.0)
    ends = [value.convergence[2] for value in values if value.convergence is not None]
    return low, high, next((end for end in ends if low <= end <= high), (low + high) / 2)
