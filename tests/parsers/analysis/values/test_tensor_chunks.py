"""Tensors in chunks and their differences, against numpy on whole arrays."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from parsers import FormatError
from parsers.analysis import TensorDifference, chunks, cut, distribution, next_bad, row_number, statistics
from parsers.analysis.values.tensor_chunks import CHUNK

RNG = np.random.default_rng(11)
INTEGERS = ("bool", "int8", "uint8", "int32", "uint32", "int64", "uint64")
LARGE = RNG.normal(size=(3, CHUNK // 2 + 7)).astype(np.float32)


@pytest.mark.parametrize("array", [LARGE, np.asfortranarray(LARGE), LARGE[:, ::2], np.zeros((0, 3)), np.array(5.0)])
@pytest.mark.parametrize("begin", [0, 1])
def test_pieces_are_all_values_in_row_order(array, begin) -> None:
    whole = np.concatenate([np.empty(0), *chunks(array, begin)])
    np.testing.assert_array_equal(whole, array.flatten()[begin:])


@pytest.mark.parametrize("relative", [False, True])
def test_a_difference_is_that_of_float64(relative) -> None:
    other = LARGE[::-1]
    wanted = LARGE.astype(np.float64) - other.astype(np.float64)
    if relative:
        wanted = np.where(wanted == 0, 0, wanted / np.abs(other.astype(np.float64)))
    difference = TensorDifference(LARGE, other, relative)
    np.testing.assert_array_equal(np.concatenate(list(chunks(difference))), wanted.ravel())
    np.testing.assert_array_equal(difference[1, slice(5, 9)], wanted[1, 5:9])
    np.testing.assert_array_equal(np.concatenate(list(chunks(cut(difference, (1, slice(5, 9)))))), wanted[1, 5:9])
    found = statistics(difference)
    assert (found.min, found.max, found.zeros) == (wanted.min(), wanted.max(), np.count_nonzero(wanted == 0))
    assert found.mean == pytest.approx(wanted.mean(), abs=1e-12)
    assert found.std == pytest.approx(wanted.std())
    assert distribution(difference).count.sum() == wanted.size


@pytest.mark.parametrize("dtypes", list(itertools.product(INTEGERS, repeat=2)))
def test_integers_differ_by_what_python_says(dtypes) -> None:
    left, right = (_extremes(dtype) for dtype in dtypes)
    wanted = [float(int(a) - int(b)) for a, b in zip(left, right, strict=True)]
    np.testing.assert_array_equal(TensorDifference(left, right)[(slice(None),)].astype(np.float64), wanted)


def _extremes(dtype: str) -> np.ndarray:
    if dtype == "bool":
        return np.array([True, False, True])
    info = np.iinfo(dtype)
    return np.array([info.max, info.min, info.max - 1], dtype)


def test_what_is_equal_does_not_differ() -> None:
    odd = np.array([np.inf, -np.inf, np.nan, 0.0, 1.0])
    for relative in (False, True):
        np.testing.assert_array_equal(TensorDifference(odd, odd.copy(), relative)[(slice(None),)], [0, 0, np.nan, 0, 0])
    against = TensorDifference(np.array([1.0, -1.0]), np.zeros(2), relative=True)[(slice(None),)]
    np.testing.assert_array_equal(against, [np.inf, -np.inf])
    np.testing.assert_array_equal(TensorDifference(np.array([1 + 2j]), np.array([1j]))[(slice(None),)], [1 + 1j])


def test_two_shapes_are_refused() -> None:
    with pytest.raises(FormatError, match=r"expected two tensors of one shape, found \(2,\) and \(3,\)"):
        TensorDifference(np.zeros(2), np.zeros(3))


def test_the_next_value_that_is_not_finite() -> None:
    array = LARGE.copy()
    bad = [(0, 3), (1, CHUNK // 2), (2, 0), (2, array.shape[1] - 1)]
    for index, value in zip(bad, (np.nan, np.inf, -np.inf, np.nan), strict=True):
        array[index] = value
    for tensor in (array, np.asfortranarray(array), TensorDifference(array, np.zeros_like(array))):
        found, begin = [], 0
        while (index := next_bad(tensor, begin)) is not None:
            found.append(index)
            begin = row_number(index, tensor.shape) + 1
        assert found == bad
    assert next_bad(np.array(np.nan)) == ()
    assert next_bad(np.array([1, 2])) is None
    assert next_bad(np.zeros((3, 0))) is None
