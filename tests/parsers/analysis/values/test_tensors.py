"""Statistics, parts and distributions of tensors, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from parsers import FormatError
from parsers.analysis import default_boxes, distribution, selection, statistics
from parsers.analysis.values.tensor_chunks import CHUNK

DTYPES = ("bool", "int8", "int64", "uint64", "float16", "float32", "float64")
ordinary = st.floats(-60_000, 60_000, width=16) | st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0])


def check(array: NDArray[np.generic]) -> None:
    found = statistics(array)
    wide = array.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    assert (found.count, found.nan) == (array.size, np.isnan(wide).sum())
    assert (found.pos_inf, found.neg_inf) == ((wide == np.inf).sum(), (wide == -np.inf).sum())
    assert found.zeros == (wide == 0).sum()
    if not len(finite):
        assert np.isnan([found.min, found.max, found.mean, found.std]).all()
        return
    scale = np.abs(finite).max()
    assert (found.min, found.max) == (finite.min(), finite.max())
    assert found.mean == pytest.approx(finite.mean(), rel=1e-9, abs=1e-12 * scale)
    assert found.std == pytest.approx(finite.std(), rel=1e-9, abs=1e-9 * scale)


@settings(deadline=None)
@given(hnp.arrays("f4", hnp.array_shapes(max_dims=4, min_side=0), elements=ordinary))
def test_statistics_of_any_values(array: NDArray[np.float32]) -> None:
    check(array)


@pytest.mark.parametrize("dtype", DTYPES)
def test_statistics_of_every_dtype(dtype: str) -> None:
    check(np.random.default_rng(0).integers(0, 100, (7, 9)).astype(dtype))


@pytest.mark.parametrize("kind", ["whole", "by column", "part", "repeated", "not finite", "one chunk of NaN"])
def test_statistics_over_several_chunks(kind: str) -> None:
    array = np.random.default_rng(1).normal(1e4, 3, (3, CHUNK)).astype("f4")
    if kind == "by column":
        array = np.asfortranarray(array)
    elif kind == "part":
        array = array[:, ::3]
    elif kind == "repeated":
        array = np.broadcast_to(np.float32(2.5), (5, CHUNK))
    elif kind == "not finite":
        array[::2, ::7] = np.nan
        array[1, 5], array[2, 5], array[0, 1] = np.inf, -np.inf, 0
    elif kind == "one chunk of NaN":
        array[1] = np.nan
    check(array)


def test_complex_numbers_by_magnitude() -> None:
    found = statistics(np.array([3 + 4j, 0, complex("nan")], "c8"))
    assert (found.min, found.max, found.mean, found.nan, found.zeros) == (0, 5, 2.5, 1, 1)


def test_rank_0_and_empty() -> None:
    assert statistics(np.array(7, "i8")).mean == 7
    assert statistics(np.empty((3, 0))).count == 0


@given(hnp.arrays("f8", st.integers(0, 300), elements=ordinary))
def test_distribution_holds_every_finite_value(array: NDArray[np.float64]) -> None:
    found = distribution(array)
    finite = array[np.isfinite(array)]
    assert found.count.sum() == found.finite == len(finite)
    assert (found.total, found.nan) == (len(array), np.isnan(array).sum())
    if len(finite) and finite.min() < finite.max():
        assert same_as_numpy(found.count, finite)


def same_as_numpy(count: NDArray[np.float64], finite: NDArray[np.float64]) -> bool:
    expected = np.histogram(finite, len(count))[0]
    return bool(np.abs(np.cumsum(count) - np.cumsum(expected)).max() <= 0.02 * len(finite) + 1)  # edges are rounded apart


box = st.one_of(
    st.integers(-5, 5).map(str), st.sampled_from([":", "1:", ":2", "-2:", ":-1", "0:99", "2:1", "", "a", "1:2:3", "1_0", "٣"]),
    st.tuples(st.integers(-5, 5), st.integers(-5, 5)).map(lambda pair: f"{pair[0]}:{pair[1]}"),
)  # fmt: skip


@given(st.lists(st.tuples(box, st.integers(0, 4)), max_size=5))
def test_boxes_mean_what_numpy_does(given_boxes: list[tuple[str, int]]) -> None:
    boxes, shape = [text for text, _ in given_boxes], tuple(size for _, size in given_boxes)
    array = np.arange(int(np.prod(shape))).reshape(shape)
    try:
        found = selection(boxes, shape)
    except FormatError:
        return
    part = array[found.index]
    plain = tuple(slice(*(int(b) if b else None for b in text.split(":"))) if ":" in text else int(text) for text in boxes)
    assert np.array_equal(part, array[plain])
    assert part.shape == tuple(len(indices) for indices in found.ranges)
    assert len(found.free) == part.ndim <= 2
    for dimension, indices in zip(found.free, found.ranges, strict=True):
        assert [range(shape[dimension])[index] for index in indices] == list(indices)


@pytest.mark.parametrize(
    ("boxes", "shape", "text"),
    [
        (["3"], [3], "dimension 0: expected -3 to 2, found 3"),
        (["0", "-4"], [3, 3], "dimension 1: expected -3 to 2, found -4"),
        ([":", ":", "0:1"], [3, 3, 3], "at most 2 dimensions with a colon, found 3"),
        (["1"], [3, 3], "expected 2 dimensions, found 1"),
        (["0:9"], [3], "dimension 0: expected a range within -3:3, found 0:9"), (["2:2"], [3], "holds an index, found 2:2"),
        (["x" * 99], [3], "dimension 0: expected an index or a range"), (["9" * 30], [3], "expected an index or a range"),
        (["0"], [0], "dimension 0: expected a colon, as it has no values, found 0"),
        (["1:2:3"], [9], "expected an index or a range"),
    ],
)  # fmt: skip
def test_boxes_out_of_range_say_why(boxes: list[str], shape: list[int], text: str) -> None:
    with pytest.raises(FormatError, match=text):
        selection(boxes, shape)


def test_boxes_at_first() -> None:
    assert default_boxes((5, 4, 3, 2)) == ("0", "0", ":", ":")
    assert default_boxes((5,)) == (":",)
    assert default_boxes(()) == ()
    assert selection((), ()).index == ()
