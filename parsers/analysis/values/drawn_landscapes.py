"""The part of loss landscapes that a plot can show, and the scale of loss that several of them share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.values.histograms import thinned
from parsers.model import Floats, Ints
from parsers.payloads.values import LandscapeValue

MOST_POINTS = 256
"""Maximum number of points drawn along each axis; MindSpore computes no more."""
MOST_PASSED = 2000
"""Maximum number of points drawn of a path."""
LITTLE_SHOWN = 0.8
"""A plane that has less of its path than this shows only a part of it."""


def drawable(value: LandscapeValue) -> LandscapeValue:
    """Return the landscape on ascending axes, without non-finite or repeated coordinates.

    It is thinned evenly to MOST_POINTS along each axis and MOST_PASSED on the path. If an axis has a single point, z is empty,
    except that of a line.
    """
    across, up = _ascending(value.x), _ascending(value.y)
    if min(len(across), len(up)) < 2 and not is_line(value):
        across = up = across[:0]
    passed = np.flatnonzero(np.isfinite(value.path_x) & np.isfinite(value.path_y) & np.isfinite(value.path_z))
    passed = passed[thinned(len(passed), MOST_PASSED)]
    path = {name: getattr(value, name)[passed] for name in ("intervals", "path_x", "path_y", "path_z")}
    pending = None if value.pending is None else value.pending[np.ix_(up, across)]
    return replace(value, x=value.x[across], y=value.y[up], z=value.z[np.ix_(up, across)], pending=pending, **path)


def is_line(value: LandscapeValue) -> bool:
    """Return whether the losses are those between two networks: of one y, and several x."""
    return len(value.y) == 1 and bool(np.isfinite(value.y[0])) and len(np.unique(value.x[np.isfinite(value.x)])) > 1


def pending(value: LandscapeValue) -> NDArray[np.bool_]:
    """Return which losses are still to be computed, of the shape of z."""
    return np.zeros(value.z.shape, bool) if value.pending is None else value.pending


@dataclass(frozen=True, slots=True)
class MissingLosses:
    """Places of a landscape without a finite loss: of shape (n,) each. reasons are texts, "" where not known.

    A place is in the middle of a cell from left to right and from bottom to top, up to half way to its neighbours.
    """

    x: Floats
    y: Floats
    left: Floats
    right: Floats
    bottom: Floats
    top: Floats
    reasons: tuple[str, ...]


def missing_losses(value: LandscapeValue, reasons: Mapping[tuple[float, float], str]) -> MissingLosses:
    """Find the places of ascending axes whose loss is not finite and not still to be computed. reasons are by (x, y)."""
    rows, columns = np.nonzero(~np.isfinite(value.z) & ~pending(value))
    (left, right), (bottom, top) = _halves(value.x), _halves(value.y)
    x, y = value.x[columns], value.y[rows]
    texts = tuple(reasons.get(place, "") for place in zip(x.tolist(), y.tolist(), strict=True))
    return MissingLosses(x, y, left[columns], right[columns], bottom[rows], top[rows], texts)


def _halves(axis: Floats) -> tuple[Floats, Floats]:
    """Return where the cells of ascending places begin and end; the outer ones end at the outer places."""
    middles = (axis[1:] + axis[:-1]) / 2
    return np.concatenate([axis[:1], middles]), np.concatenate([middles, axis[-1:]])


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
