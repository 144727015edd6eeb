"""The plane in the space of weights on which a loss landscape is drawn: its directions, the path of a training on it, its grid.

MindSpore's SummaryLandscape defines it so (mindspore/train/callback/_landscape.py): the differences of all checkpoints of an
interval to its last one are columns, less the mean of each; the directions are their first two left singular vectors times
their singular values, scaled tensor by tensor to the norm of the last checkpoint. Here the directions come from the Gram matrix
of the columns, so that neither all weights nor their differences are in memory at once, and nothing depends on a seed.

Weights come as parts: runs of consecutive values of one tensor, of all checkpoints at once. A part is never longer than its
reader makes it, and all parts of a tensor follow each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsers.model import Floats

Weights = NDArray[np.floating[Any]]
"""One value per weight: an array in memory, or one that is mapped from a file."""

TENSOR, FILTER = SCALES = ("tensor", "filter")
"""What of a direction is scaled to the norm of the weights: every tensor (MindSpore), or every first index of one (Li et al.
2018, https://arxiv.org/abs/1712.09913, section 4)."""
MARGIN = 0.2
"""What a grid adds to a path on each side, as a share of its span."""
CERTAIN = 3.0
"""Standard errors below which a curvature is not told from none."""
WINDOW = 5
"""Points of a grid along each axis to which a paraboloid is fitted."""


class WeightPart(NamedTuple):
    """Consecutive weights of one tensor, from its value number `first` on.

    tensor is the number of the tensor, length its number of values, filters its first dimension, 1 for a vector. columns of
    shape (checkpoints, n) are the differences of all checkpoints to the last one, last of shape (n,) its weights, both in
    float64. The next part may use their memory again.
    """

    tensor: int
    first: int
    length: int
    filters: int
    columns: Floats
    last: Floats


Parts = Callable[[], Iterable[WeightPart]]
"""Returns all parts of all checkpoints anew, in one order."""


@dataclass(frozen=True, slots=True)
class PathPlane:
    """The first two principal components of a path.

    means: mean of each column, of shape (k,). components: of shape (k, 2); a direction is the columns, less their means, times
    one of these. explained: share of the path's variance in the plane, NaN if the checkpoints are equal. squares: the squared
    distance of each checkpoint from the last one, of shape (k,).
    """

    means: Floats
    components: Floats
    explained: float
    squares: Floats


class NotFiniteError(ValueError):
    """Checkpoints that have NaN or infinity; `at` are their indices."""

    def __init__(self, at: Sequence[int]) -> None:
        super().__init__("expected finite weights, found NaN or infinity in a checkpoint")
        self.at = tuple(at)


def path_plane(parts: Parts) -> PathPlane:
    """Find the plane of a path of k checkpoints. ValueError for fewer than two or if all are equal, else NotFiniteError."""
    gram, sums, count = _moments(parts)
    if not np.isfinite(gram).all():
        raise NotFiniteError(_not_finite(parts))
    means = sums / count
    centred = gram - count * np.outer(means, means)
    values, vectors = np.linalg.eigh(centred)
    values = np.maximum(values[::-1], 0.0)
    total = float(values.sum())
    if not total > 0.0:
        raise ValueError("expected checkpoints that differ, found equal ones: a path of no length has no direction")
    components = vectors[:, ::-1][:, :2]
    if components.shape[1] < 2:
        raise ValueError("expected at least two checkpoints, found one")
    return PathPlane(means, np.ascontiguousarray(components), float(values[:2].sum()) / total, np.diagonal(gram).copy())


def _moments(parts: Parts) -> tuple[Floats, Floats, int]:
    """Return the sums of products and of values of the columns, and the number of values."""
    gram: Floats | None = None
    sums: Floats | None = None
    count = 0
    for part in parts():
        columns = part.columns
        if gram is None or sums is None:
            gram, sums = np.zeros((len(columns), len(columns))), np.zeros(len(columns))
        with np.errstate(invalid="ignore", over="ignore"):  # NaN and infinity are refused as a whole
            gram += columns @ columns.T
            sums += columns @ np.ones(columns.shape[1])
        count += columns.shape[1]
    if gram is None or sums is None or not count:
        raise ValueError("expected weights, found none")
    return gram, sums, count


@dataclass(frozen=True, slots=True)
class PathOnPlane:
    """Where the checkpoints of a path are on a plane: the nearest points, of shape (k,) each, the last one at 0, 0.

    residual: distance of each checkpoint from its point, as a share of its distance from the last one; 0 for that one. shown:
    share of the squared distances of all from the last one that lies in the plane. Principal components show most of any plane,
    but scaled to the weights they are other directions and show less.
    """

    x: Floats
    y: Floats
    residual: Floats
    shown: float


def _not_finite(parts: Parts) -> list[int]:
    """Return the indices of checkpoints with NaN or infinity: the last one alone if it has any, since all differ from it."""
    found: set[int] = set()
    for part in parts():
        if not np.isfinite(part.last).all():
            return [len(part.columns) - 1]
        found |= set(np.flatnonzero(~np.isfinite(part.columns).all(axis=1)).tolist())
    return sorted(found)


def write_directions(parts: Parts, plane: PathPlane, into: Sequence[Weights], scale: str = TENSOR) -> PathOnPlane:
    """Write the two directions of a plane, one value per weight, each scaled to the weights of the last checkpoint.

    Return the nearest point of the plane to each checkpoint, by least squares.
    """
    offset = plane.means @ plane.components
    inner, products = _write(parts, into, scale, lambda part: plane.components.T @ part.columns - offset[:, None])
    places = np.linalg.lstsq(inner, products, rcond=None)[0]
    left = np.maximum(plane.squares - np.einsum("ij,ij->j", places, 2 * products - inner @ places), 0.0)
    residual = np.sqrt(np.divide(left, plane.squares, out=np.zeros_like(left), where=plane.squares > 0))
    return PathOnPlane(places[0], places[1], residual, 1.0 - float(left.sum()) / float(plane.squares.sum()))


def write_random_directions(parts: Parts, seed: int, into: Sequence[Weights], scale: str = TENSOR) -> None:
    """Write two directions of independent normal values (numpy's default_rng), scaled alike."""
    random = np.random.default_rng(seed)
    _write(parts, into, scale, lambda part: random.standard_normal((len(part.last), 2)).T)


def _write(
    parts: Parts, into: Sequence[Weights], scale: str, made: Callable[[WeightPart], Floats]
) -> tuple[Floats, Floats]:
    """Write two directions; return their products with each other, (2, 2), and with the columns of all checkpoints, (2, k)."""
    if scale not in SCALES:
        raise ValueError(f"scale: expected {' or '.join(SCALES)}, found {scale!r}")
    inner, products = np.zeros((2, 2)), np.zeros((2, 1))
    at, group = 0, _ScaledGroup()
    for part in parts():
        found, count = made(part), len(part.last)
        for one, values in zip(into, found, strict=True):
            one[at : at + count] = values
        length = part.length // part.filters if scale == FILTER else part.length
        begin = 0
        while begin < count:
            end = min(begin + length - (part.first + begin) % length, count)
            group.add(found[:, begin:end], part.columns[:, begin:end], part.last[begin:end])
            if (part.first + end) % length == 0:
                factors = group.factors()
                for one, factor in zip(into, factors, strict=True):
                    one[at + end - length : at + end] *= factor
                inner = inner + np.outer(factors, factors) * group.inner
                products = products + factors[:, None] * group.products
                group = _ScaledGroup()
            begin = end
        at += count
    return inner, products


class _ScaledGroup:
    """Sums over the values that are scaled as one: of products of directions with each other and with columns, of weights."""

    def __init__(self) -> None:
        self.inner, self.products, self._squares = np.zeros((2, 2)), np.zeros((2, 1)), 0.0

    def add(self, directions: Floats, columns: Floats, weights: Floats) -> None:
        self.inner = self.inner + directions @ directions.T
        self.products = self.products + directions @ columns.T
        self._squares += float(weights @ weights)

    def factors(self) -> Floats:
        """Return what makes both directions as long as the weights; 0 for one of no length."""
        lengths = np.diagonal(self.inner)
        return np.sqrt(np.divide(self._squares, lengths, out=np.zeros(2), where=lengths > 0))


def turned(path: PathOnPlane, directions: Sequence[Weights]) -> PathOnPlane:
    """Return the path with the signs of its axes such that it ends to the right of and above its mean; directions follow."""
    axes = [path.x, path.y]
    for number, axis in enumerate(axes):
        if axis.mean() > axis[-1]:
            axes[number] = -axis
            directions[number][:] *= -1.0
    return replace(path, x=axes[0] + 0.0, y=axes[1] + 0.0)


def axis_around(path: Floats, size: int) -> Floats:
    """Return `size` even places from a fifth of a path's span before it to as much behind it; around 0 for no span."""
    low, high = float(path.min()), float(path.max())
    margin = (high - low) * MARGIN or 1.0
    return np.linspace(low - margin, high + margin, size)


def sharpness(x: Floats, y: Floats, z: Floats, end: tuple[float, float, float], precision: float = 0.0) -> float:
    """Return the largest curvature of a surface around a point, in loss per squared unit of the directions.

    It is the largest eigenvalue of the Hessian of the paraboloid fitted to the point and to the WINDOW nearest places of each
    axis. z has shape (len(y), len(x)); precision is the relative one of its values. NaN if fewer than six finite values
    tell the six coefficients, or if the curvature is below CERTAIN times what rounding and the misfit leave open.
    """
    columns, rows = _nearest(x, end[0]), _nearest(y, end[1])
    across, up = np.meshgrid(x[columns], y[rows])
    found = np.column_stack([
        np.append(across.ravel(), end[0]) - end[0], np.append(up.ravel(), end[1]) - end[1],
        np.append(z[np.ix_(rows, columns)].ravel(), end[2]),
    ])  # fmt: skip
    found = found[np.isfinite(found).all(axis=1)]
    units = np.abs(found[:, :2]).max(axis=0, initial=0.0)
    if len(found) < 6 or not (units > 0).all():
        return math.nan
    a, b = (found[:, :2] / units).T
    terms = np.column_stack([np.ones_like(a), a, b, a * a / 2, a * b, b * b / 2])
    coefficients, _, rank, _ = np.linalg.lstsq(terms, found[:, 2], rcond=None)
    if rank < 6:
        return math.nan
    misfit = float(np.sqrt(np.mean((terms @ coefficients - found[:, 2]) ** 2)))
    noise = max(misfit, precision * float(np.abs(found[:, 2]).max()))
    aa, ab, bb = coefficients[3:]
    hessian = np.array([[aa, ab], [ab, bb]]) / np.outer(units, units)
    values, vectors = np.linalg.eigh(hessian)
    # The curvature along the largest eigenvector is a sum of the coefficients, whose covariance is that of the fit.
    direction = vectors[:, -1] / units
    weights = np.array([direction[0] ** 2, 2 * direction[0] * direction[1], direction[1] ** 2])
    covariance = np.linalg.inv(terms.T @ terms)[3:, 3:] * noise**2
    error = math.sqrt(max(float(weights @ covariance @ weights), 0.0))
    return float(values[-1]) if abs(values[-1]) > CERTAIN * error else math.nan


def _nearest(axis: Floats, place: float) -> NDArray[np.intp]:
    return np.sort(np.argsort(np.abs(axis - place), kind="stable")[:WINDOW])
