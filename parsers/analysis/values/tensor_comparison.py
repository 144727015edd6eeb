"""Compares two tensors value by value, in pieces: memory does not depend on their size.

Differences are this - other in float64, exact for integers; relative errors are |this - other| / |other|. Pairs with NaN or Inf
have no difference: they are alike if both values are NaN or the same infinity, and unlike otherwise. Tolerances are those of
MindInsight's debugger: a difference is within one if it is at most that part of the greatest difference of the tensor. Of
complex values the magnitude of the difference counts, and the cosine is that of their parts as one vector. Complex values are
not compared with real ones.

The cosine is that of the angle between vectors. In one dimension there are only two directions: it would be 1 or -1 however far
apart the values are, so a single pair of real values has none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.errors import FormatError

PIECE = 1 << 16
"""Values that are compared together: their temporary arrays stay in the processor's cache."""
PLACES = 20
"""Largest differences, and unlike pairs, that are listed."""
THOUSANDTH, FIVE_THOUSANDTHS = 1e-3, 5e-3
_FEW = 4
_EXACT = 2.0**53
_USUAL = 400
"""Sums of squares are scaled beyond 2 to the power of this: they would leave the range of float64."""

Pieces = Callable[[], Iterator[NDArray[Any]]]
"""Begins to read a tensor: yields its values in row order, as one-dimensional arrays that the next one may overwrite."""
Progress = Callable[[int], None]
"""Called with the number of values done, of twice as many as the tensor has."""


@dataclass(frozen=True, slots=True)
class ValuePair:
    """A pair of values: position in row order, both values, |this - other|, and that relative to |other| (inf if it is 0).

    difference and relative are NaN if a value is NaN or Inf.
    """

    at: int
    this: Any
    other: Any
    difference: float
    relative: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two tensors differ. NaN stands for what no pair of finite values gives.

    count: pairs; finite: those of two finite values, over which all differences are; equal: finite pairs without difference;
    alike and unlike: the others. zero_other: finite pairs that differ and whose other value is 0: they have no relative error,
    and are not in max_relative. thousandth and five_thousandths: finite pairs whose relative error is at most 0.001 and 0.005.
    cosine is NaN if one tensor has only zeros, or for a single pair of real values. norm_difference: L2 norm of the
    differences, relative to the larger norm of the two, from 0 to 2. beyond: tolerance -> finite pairs whose difference exceeds
    that part of max_absolute. largest: pairs that differ most, the largest difference first; strange: the first unlike pairs.
    """

    count: int
    finite: int
    equal: int
    alike: int
    unlike: int
    zero_other: int
    thousandth: int
    five_thousandths: int
    cosine: float
    norm_difference: float
    max_absolute: float
    max_relative: float
    max_relative_at: int
    mean_absolute: float
    root_mean_square: float
    beyond: dict[float, int]
    largest: tuple[ValuePair, ...]
    strange: tuple[ValuePair, ...]

    @property
    def identical(self) -> bool:
        """Whether all pairs are equal, or alike."""
        return self.equal + self.alike == self.count


def compare(
    this: Pieces, other: Pieces, *, tolerances: Sequence[float] = (0.0,), places: int = PLACES, progress: Progress | None = None
) -> Comparison:
    """Compare two tensors of the same number of values, reading each of them twice, or once without tolerances.

    tolerances are from 0 to 1; places is the number of differences that are listed, from 1. FormatError if their numbers of
    values differ, if they hold no numbers, or complex ones and real ones; errors of the pieces.
    """
    sums = _Sums(places)
    for at, one, two in _pairs(this(), other()):
        sums.add(at, one, two)
        if progress is not None:
            progress(sums.count)
    limits = np.array([_limit(tolerance, sums.greatest) for tolerance in tolerances])
    within = np.zeros(len(limits), np.int64)
    if sums.greatest > 0 and len(limits):
        done = sums.count
        for _, one, two in _pairs(this(), other()):
            within += _within(_differences(one, two), limits)
            done += len(one)
            if progress is not None:
                progress(done)
    else:
        within += sums.finite
    return sums.found({tolerance: sums.finite - int(n) for tolerance, n in zip(tolerances, within, strict=True)})


def _limit(tolerance: float, greatest: float) -> float:
    return tolerance * greatest if tolerance > 0 else 0.0  # 0 * inf is NaN


def _within(differences: NDArray[np.float64], limits: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return for each limit how many differences are at most that."""
    if len(limits) <= _FEW:
        return np.array([np.count_nonzero(differences <= limit) for limit in limits], np.int64)
    order = np.argsort(limits)
    first = np.searchsorted(limits[order], differences, side="left")
    counts = np.cumsum(np.bincount(first, minlength=len(limits) + 1)[: len(limits)])
    found = np.empty(len(limits), np.int64)
    found[order] = counts
    return found


def _pairs(this: Iterator[NDArray[Any]], other: Iterator[NDArray[Any]]) -> Iterator[tuple[int, NDArray[Any], NDArray[Any]]]:
    """Yield position and values of both in pieces of up to PIECE values, however they are cut."""
    at = 0
    one: NDArray[Any] = np.empty(0)
    two: NDArray[Any] = np.empty(0)
    while True:
        while not len(one) and (more := next(this, None)) is not None:
            one = _numbers(more)
        while not len(two) and (more := next(other, None)) is not None:
            two = _numbers(more)
        count = min(len(one), len(two), PIECE)
        if not count:
            break
        if (one.dtype.kind == "c") != (two.dtype.kind == "c"):
            raise FormatError(f"expected two tensors of complex or of real numbers, found {one.dtype} and {two.dtype}")
        yield at, one[:count], two[:count]
        at, one, two = at + count, one[count:], two[count:]
    if len(one) or len(two):
        raise FormatError("expected two tensors with the same number of values, found one that is longer")


def _numbers(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind not in "biufc":
        raise FormatError(f"expected numbers, found {values.dtype}")
    return values.reshape(-1)


def _wide(values: NDArray[Any]) -> NDArray[Any]:
    """Return values as float64, complex128, or long double where integers need it."""
    if values.dtype.kind == "c":
        return values.astype(np.complex128)
    if values.dtype.kind in "iu" and values.itemsize == 8 and len(values):
        wide = values.astype(np.float64)
        return values.astype(np.longdouble) if np.abs(wide).max() >= _EXACT else wide
    return values.astype(np.longdouble if values.dtype == np.longdouble else np.float64)


@np.errstate(over="ignore", invalid="ignore")
def _differences(one: NDArray[Any], two: NDArray[Any]) -> NDArray[np.float64]:
    """Return the magnitudes of the differences of the pairs that are finite."""
    this, other = _wide(one), _wide(two)
    if not _all_finite(this, other):
        both = np.isfinite(this) & np.isfinite(other)
        this, other = this[both], other[both]
    found: NDArray[np.float64] = np.abs(this - other).astype(np.float64)
    return found


@np.errstate(over="ignore", invalid="ignore")
def _all_finite(this: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return whether all values are known to be finite; the sum takes a third of the time of testing every value."""
    return bool(np.isfinite(this.sum()) and np.isfinite(other.sum()))


class _Sums:
    """What has been seen of two tensors so far."""

    def __init__(self, places: int) -> None:
        self.places = places
        self.count = self.finite = self.equal = self.alike = self.unlike = 0
        self.zero_other = self.thousandth = self.five_thousandths = 0
        self.greatest = self.absolute = 0.0
        self.relative, self.relative_at = -1.0, -1
        self.one, self.two, self.gap = _Squares(), _Squares(), _Squares()
        self.product = 0.0
        self.dimensions = 0
        self.largest: list[ValuePair] = []
        self.strange: list[ValuePair] = []

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def add(self, at: int, one: NDArray[Any], two: NDArray[Any]) -> None:
        """Add up to PIECE pairs, the first of which is at a position."""
        self.count += len(one)
        this, other = _wide(one), _wide(two)
        kept = None
        if not _all_finite(this, other):
            kept = self._finite_pairs(at, one, two, this, other)
            this, other = this[kept], other[kept]
        if not len(this):
            return
        gap = this - other
        self._add_products(_real(this), _real(other), _real(gap))
        size = np.abs(gap).astype(np.float64)
        against = np.abs(other).astype(np.float64)
        self.finite += len(size)
        self.equal += len(size) - int(np.count_nonzero(size))
        self.absolute += float(size.sum())
        self.thousandth += int(np.count_nonzero(size <= THOUSANDTH * against))
        self.five_thousandths += int(np.count_nonzero(size <= FIVE_THOUSANDTHS * against))
        greatest = float(size.max())
        if not greatest:
            self.relative = max(self.relative, 0.0)
            return
        relative = size / against
        relative[size == 0] = 0.0
        self.zero_other += int(np.count_nonzero((against == 0) & (size > 0)))
        self._most_relative(at, kept, np.where(against == 0, -1.0, relative))
        if len(self.largest) < self.places or greatest > self.largest[-1].difference:
            self._add_largest(at, kept, one, two, size, relative)
        self.greatest = max(self.greatest, greatest)

    def _finite_pairs(
        self, at: int, one: NDArray[Any], two: NDArray[Any], this: NDArray[Any], other: NDArray[Any]
    ) -> NDArray[np.intp]:
        """Count pairs that are not finite; return the places of the others."""
        both = np.isfinite(this) & np.isfinite(other)
        same = ~both & ((this == other) | (np.isnan(this) & np.isnan(other)))
        self.alike += int(np.count_nonzero(same))
        unlike = np.flatnonzero(~both & ~same)
        self.unlike += len(unlike)
        for place in unlike[: self.places - len(self.strange)].tolist():
            self.strange.append(ValuePair(at + place, one[place].item(), two[place].item(), math.nan, math.nan))
        return np.flatnonzero(both)

    def _add_products(self, this: NDArray[Any], other: NDArray[Any], gap: NDArray[Any]) -> None:
        self.dimensions += len(this)
        before = self.one.exponent + self.two.exponent
        this, other = self.one.add(this), self.two.add(other)
        after = self.one.exponent + self.two.exponent
        self.product = math.ldexp(self.product, before - after) + float(np.einsum("i,i->", this, other))
        self.gap.add(gap)

    def _most_relative(self, at: int, kept: NDArray[np.intp] | None, relative: NDArray[np.float64]) -> None:
        place = int(relative.argmax())
        if relative[place] > self.relative:
            self.relative = float(relative[place])
            self.relative_at = at + int(place if kept is None else kept[place])

    def _add_largest(
        self, at: int, kept: NDArray[np.intp] | None, one: NDArray[Any], two: NDArray[Any], size: NDArray[np.float64],
        relative: NDArray[np.float64],
    ) -> None:
        least = np.partition(size, -self.places)[-self.places] if len(size) > self.places else 0.0
        found = np.flatnonzero((size >= least) & (size > 0))
        found = found[np.argsort(-size[found], kind="stable")][: self.places]
        for place in found.tolist():
            own = place if kept is None else int(kept[place])
            values = one[own].item(), two[own].item()
            self.largest.append(ValuePair(at + own, *values, float(size[place]), float(relative[place])))
        self.largest.sort(key=lambda pair: -pair.difference)  # stable: of equal differences the first ones stay
        del self.largest[self.places :]

    def found(self, beyond: dict[float, int]) -> Comparison:
        some = self.finite > 0
        return Comparison(
            count=self.count, finite=self.finite, equal=self.equal, alike=self.alike, unlike=self.unlike,
            zero_other=self.zero_other, thousandth=self.thousandth, five_thousandths=self.five_thousandths,
            cosine=self._cosine(), norm_difference=self._norm_difference(), max_absolute=self.greatest if some else math.nan,
            max_relative=self.relative if some and self.relative >= 0 else math.nan, max_relative_at=self.relative_at,
            mean_absolute=self.absolute / self.finite if some else math.nan,
            root_mean_square=self.gap.root(self.finite) if some else math.nan,
            beyond=beyond, largest=tuple(self.largest), strange=tuple(self.strange),
        )  # fmt: skip

    def _cosine(self) -> float:
        if self.dimensions < 2 or not self.one.sum or not self.two.sum:
            return math.nan
        return max(-1.0, min(1.0, self.product / math.sqrt(self.one.sum) / math.sqrt(self.two.sum)))


    def _norm_difference(self) -> float:
        if not self.finite:
            return math.nan
        return min(self.gap.over(self.one), self.gap.over(self.two)) if self.gap.sum else 0.0


class _Squares:
    """A sum of squares times 2 to the power of 2 exponent, which does not leave the range of float64."""

    def __init__(self) -> None:
        self.sum = 0.0
        self.exponent = 0
        self._begun = False

    def add(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Add the squares of values; return the values without their scale."""
        top = float(np.abs(values).max()) if len(values) else 0.0
        if top and math.isfinite(top):
            wanted = math.frexp(top)[1]
            wanted = 0 if -_USUAL < wanted < _USUAL else wanted
            if not self._begun or wanted > self.exponent:
                self.sum = math.ldexp(self.sum, 2 * (self.exponent - wanted))
                self.exponent, self._begun = wanted, True
        scaled: NDArray[np.float64] = (np.ldexp(values, -self.exponent) if self.exponent else values).astype(np.float64)
        self.sum += float(np.einsum("i,i->", scaled, scaled))  # np.dot starts threads
        return scaled

    def over(self, other: _Squares) -> float:
        """Return the root of this sum divided by that of the other one; inf if that is 0."""
        if not other.sum:
            return math.inf
        try:
            return math.ldexp(math.sqrt(self.sum / other.sum), self.exponent - other.exponent)
        except OverflowError:
            return math.inf

    def root(self, count: int) -> float:
        """Return the root of the mean square; count is the number of values."""
        try:
            return math.ldexp(math.sqrt(self.sum / count), self.exponent)
        except OverflowError:
            return math.inf


def _real(values: NDArray[Any]) -> NDArray[Any]:
    """Return complex numbers as twice as many real ones."""
    return values.view(np.float64) if values.dtype.kind == "c" else values
