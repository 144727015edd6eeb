"""Two tensors against each other, compared with plain numpy over whole arrays."""

from __future__ import annotations

import math
import resource
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from parsers.analysis.values.tensor_comparison import PIECE, Comparison, compare
from parsers.errors import FormatError

Array = NDArray[Any]
TOLERANCES = (0.0, 0.01, 0.1, 0.5, 0.9, 1.0)
REALS = st.floats(width=32) | st.sampled_from([0.0, -0.0, 1.0, np.nan, np.inf, -np.inf, 3e38, 1e-45])


def cut(values: Array, sizes: list[int]) -> Iterator[Array]:
    """Pieces of values of these sizes in turn, each in the same memory."""
    at, turn = 0, 0
    flat = values.reshape(-1)
    buffer = np.empty(max(sizes), values.dtype)
    while at < len(flat):
        size = min(sizes[turn % len(sizes)], len(flat) - at)
        buffer[:size] = flat[at : at + size]
        yield buffer[:size]
        at, turn = at + size, turn + 1


def of(
    this: Array, other: Array, first: Sequence[int] = (7, 3), second: Sequence[int] = (5,), **options: Any
) -> Comparison:
    return compare(lambda: cut(this, list(first)), lambda: cut(other, list(second)), **options)


def zeroed(difference: Array, tolerance: float) -> Array:
    """MindInsight's formula."""
    bound = tolerance * max(abs(difference.max()), abs(difference.min()))
    return np.asarray(np.where(np.abs(difference) <= bound, 0, difference))


@given(arrays.arrays(np.float32, st.integers(0, 40), elements=REALS), st.data())
def test_floats_as_numpy_compares_them(this: Array, data: st.DataObject) -> None:
    other = data.draw(arrays.arrays(np.float32, len(this), elements=REALS))
    keep = data.draw(arrays.arrays(np.bool_, len(this)))
    other = np.where(keep, this, other)
    found = of(this, other, tolerances=TOLERANCES)
    one, two = this.astype(np.float64), other.astype(np.float64)
    both = np.isfinite(one) & np.isfinite(two)
    same = ~both & np.array([str(a) == str(b) for a, b in zip(one, two, strict=True)], bool)
    assert (found.count, found.finite, found.alike) == (len(one), both.sum(), same.sum())
    assert found.unlike == (~both & ~same).sum() == found.count - found.finite - found.alike
    assert [pair.at for pair in found.strange] == np.flatnonzero(~both & ~same).tolist()[:20]
    one, two, places = one[both], two[both], np.flatnonzero(both)
    if not len(one):
        assert math.isnan(found.max_absolute)
        assert math.isnan(found.cosine)
        assert not any(found.beyond.values())
        return
    gap = np.abs(one - two)
    assert found.max_absolute == gap.max()
    assert found.equal == (gap == 0).sum()
    assert found.mean_absolute == pytest.approx(gap.mean(), rel=1e-12)
    assert found.root_mean_square == pytest.approx(np.sqrt((gap**2).mean()), rel=1e-12)
    assert [pair.difference for pair in found.largest] == sorted(gap[gap > 0], reverse=True)[:20]
    assert all(gap[np.flatnonzero(places == pair.at)[0]] == pair.difference for pair in found.largest)
    assert all((pair.this, pair.other) == (this[pair.at], other[pair.at]) for pair in found.largest)
    for tolerance, beyond in found.beyond.items():
        assert beyond == np.count_nonzero(zeroed(one - two, tolerance))
    known = two != 0
    relative = gap[known] / np.abs(two[known])
    if len(relative):
        assert found.max_relative == relative.max()
    assert found.zero_other == ((gap > 0) & ~known).sum()
    assert found.thousandth == (gap <= 0.001 * np.abs(two)).sum()
    assert found.five_thousandths == (gap <= 0.005 * np.abs(two)).sum()
    larger = max(np.linalg.norm(one), np.linalg.norm(two))
    wanted = float(np.linalg.norm(one - two) / larger) if larger else 0.0
    assert found.norm_difference == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    norms = np.linalg.norm(one) * np.linalg.norm(two)
    none = norms == 0 or len(one) == 1
    assert math.isnan(found.cosine) if none else found.cosine == pytest.approx((one @ two) / norms, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("size", [1e-200, 1e-30, 1.0, 1e30, 1e200])
def test_the_relative_norm_does_not_depend_on_the_size(size: float) -> None:
    found = of(np.array([3.0, 4.0, 0.0]) * size, np.array([3.0, 0.0, 0.0]) * size, tolerances=())
    assert found.norm_difference == pytest.approx(0.8, rel=1e-12)
    assert of(np.zeros(3), np.zeros(3)).norm_difference == 0
    assert math.isnan(of(np.array([math.nan]), np.zeros(1)).norm_difference)
    assert found.beyond == {}


@given(arrays.arrays(np.int64, 12), arrays.arrays(np.int64, 12))
def test_large_integers_are_subtracted_exactly(this: Array, other: Array) -> None:
    found = of(this, other)
    gaps = [abs(int(a) - int(b)) for a, b in zip(this, other, strict=True)]
    assert found.max_absolute == float(max(gaps))
    assert found.equal == gaps.count(0)
    if found.largest:
        pairs = set(zip(this.tolist(), other.tolist(), strict=True))
        assert {(int(pair.this), int(pair.other)) for pair in found.largest} <= pairs


@given(arrays.arrays(np.complex64, 9, elements=st.complex_numbers(max_magnitude=1e6, width=64)))
def test_of_complex_values_the_magnitude_counts(this: Array) -> None:
    other = np.roll(this, 1)
    found = of(this, other)
    gap = np.abs(this.astype(complex) - other.astype(complex))
    assert found.max_absolute == pytest.approx(gap.max(), rel=1e-12)
    inner = np.vdot(this.astype(complex), other.astype(complex)).real
    norm = (np.abs(this.astype(complex)) ** 2).sum()
    if norm > 1e-12:
        assert found.cosine == pytest.approx(inner / norm, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("scale", [1e-290, 1.0, 1e300])
def test_squares_of_any_size_do_not_overflow(scale: float) -> None:
    this, other = np.array([3.0, 4.0, 0.0]) * scale, np.array([4.0, 3.0, 0.0]) * scale
    found = of(this, other, (1,), (2,))
    assert found.cosine == pytest.approx(24 / 25)
    assert found.root_mean_square == pytest.approx(np.sqrt(2 / 3) * scale)


def test_sizes_that_grow_within_a_tensor() -> None:
    this = np.array([1e-200, 1.0, 1e250, 0.0, 5.0])
    assert of(this, this, (1,), (1,)).cosine == pytest.approx(1.0)
    assert of(this, -this, (1,), (1,)).cosine == pytest.approx(-1.0)


def test_a_difference_beyond_float64_is_infinite_and_within_no_tolerance_but_the_largest() -> None:
    found = of(np.array([1.7e308, 1.0]), np.array([-1.7e308, 2.0]), tolerances=(0.0, 0.5))
    assert found.max_absolute == math.inf
    assert found.beyond == {0.0: 2, 0.5: 0}


def test_bools_and_mixed_types() -> None:
    found = of(np.array([True, False, True]), np.array([1.0, 0.0, 0.5], np.float16))
    assert (found.equal, found.max_absolute, found.largest[0].at) == (2, 0.5, 2)
    assert found.largest[0].this is True


def test_complex_values_are_not_compared_with_real_ones() -> None:
    with pytest.raises(FormatError, match="complex128 and float64"):
        of(np.ones(3, np.complex128), np.ones(3))


def test_equal_tensors_are_identical_with_nan_at_the_same_places() -> None:
    values = np.array([1.0, np.nan, np.inf, -np.inf])
    found = of(values, values.copy())
    assert found.identical
    assert (found.finite, found.alike, found.max_absolute) == (1, 3, 0.0)
    assert math.isnan(found.cosine)
    assert not of(values, -values).identical


def test_of_equal_differences_the_first_are_listed() -> None:
    this = np.arange(3 * PIECE, dtype=np.float32)
    found = of(this, this + 4096, (PIECE,), (1000,), places=3)
    assert [pair.at for pair in found.largest] == [0, 1, 2]


def test_many_tolerances_count_as_few_do() -> None:
    rng = np.random.default_rng(1)
    this, other = rng.normal(size=(2, 1000))
    every = tuple(percent / 100 for percent in range(101))
    found = of(this, other, tolerances=every[::-1]).beyond
    assert set(found) == set(every)
    for one in every[::20]:
        assert of(this, other, tolerances=(one,)).beyond == {one: found[one]}


def test_empty_tensors() -> None:
    found = of(np.empty((0, 3)), np.empty((0, 3)))
    assert found.identical
    assert found.count == 0
    assert math.isnan(found.max_absolute)


@pytest.mark.parametrize(("this", "other"), [(np.ones(3), np.ones(4)), (np.ones(4), np.ones(0)), (np.array(["a"]), np.ones(1))])
def test_what_cannot_be_compared_is_refused(this: Array, other: Array) -> None:
    with pytest.raises(FormatError):
        of(this, other)


def test_progress_counts_both_readings() -> None:
    told: list[int] = []
    of(np.arange(10.0), np.arange(10.0) * 2, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 20


@pytest.mark.long
def test_memory_does_not_depend_on_the_size() -> None:
    piece = np.ones(1 << 18, np.float32)

    def pieces() -> Iterator[Array]:
        for _ in range(400):
            yield piece

    compare(lambda: iter([piece]), lambda: iter([piece * 2]))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert compare(pieces, pieces).count == 400 << 18
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000, "kB; the values are 400 MiB"
