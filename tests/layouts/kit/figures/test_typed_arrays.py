"""Typed arrays read back as the browser reads them."""

from __future__ import annotations

import base64
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts.kit.figures.typed_arrays import drawn, durations, exact_integers, numbers, spaced, typed, whole_numbers


def read(spec: dict[str, str]) -> np.ndarray:
    array = np.frombuffer(base64.b64decode(spec["bdata"]), np.dtype("<" + spec["dtype"]))
    return array.reshape([int(n) for n in spec["shape"].split(",")]) if "shape" in spec else array


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"])
def test_every_legal_dtype_reads_back(dtype: str) -> None:
    array = np.arange(6, dtype=dtype).reshape(2, 3)[:, ::-1]
    np.testing.assert_array_equal(read(typed(array)), array)
    assert typed(array)["dtype"] == dtype


@pytest.mark.parametrize("array", [np.arange(3), np.array(["a"]), np.arange(3).astype(">f8"), np.arange(2).astype("M8[s]")])
def test_others_are_refused(array: np.ndarray) -> None:
    with pytest.raises(TypeError, match="expected"):
        typed(array)


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True)))
def test_numbers_never_change(values: list[float]) -> None:
    array = np.array(values, np.float64)
    np.testing.assert_array_equal(read(numbers(array)).astype(np.float64), array)


def test_numbers_are_as_small_as_is_exact() -> None:
    assert numbers(np.array([0.5, math.nan, math.inf]))["dtype"] == "f4"
    assert numbers(np.array([0.1]))["dtype"] == "f8"
    assert numbers(np.array([16_777_217.0]))["dtype"] == "i4"
    assert numbers(np.array([2.0**31]))["dtype"] == "f4"
    assert numbers(np.array([1e300]))["dtype"] == "f8"
    assert whole_numbers(np.array([2**31], np.int64))["dtype"] == "f8"
    assert whole_numbers(np.array([-5, 7], np.int64))["dtype"] == "i4"


def test_drawn_keeps_detail_on_a_high_plateau() -> None:
    flat = 1e9 + np.arange(5) * 1e-3
    np.testing.assert_array_equal(read(drawn(flat)), flat)
    assert drawn(np.array([0.1, 0.2]))["dtype"] == "f4"
    assert drawn(np.array([1e300, 0.0]))["dtype"] == "f8"
    assert drawn(np.array([math.nan]))["dtype"] == "f4"


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_durations_read_back_to_the_millisecond(seconds: list[float]) -> None:
    sent = durations(np.array(seconds))
    got = (sent["first"] + np.cumsum(read(sent["steps"]).astype(np.int64))) / 1000
    np.testing.assert_allclose(got, seconds, atol=0.0005 + 1e-9)


def test_durations_are_small_at_a_steady_pace_and_bear_nonsense() -> None:
    assert durations(np.arange(100) * 0.1)["steps"]["dtype"] == "i1"
    assert durations(np.arange(100) * 20.0)["steps"]["dtype"] == "i2"
    assert read(durations(np.array([math.nan, 1.0]))["seconds"]).tolist()[1] == 1.0
    assert "seconds" in durations(np.array([1e300]))
    assert "seconds" in durations(np.empty(0))


def test_spaced() -> None:
    assert spaced(np.array([5.0, 7.0, 9.0])) == (5.0, 2.0)
    assert spaced(np.array([5.0, 7.0, 10.0])) is None
    assert spaced(np.array([0.5, 1.5])) is None
    assert spaced(np.array([1.0])) is None
    assert spaced(np.array([math.nan, 1.0])) is None


@pytest.mark.parametrize(("values", "dtype"), [
    ([], "i4"), ([0, -5], "i4"), ([2**31], "f8"), ([-(2**53), 2**53], "f8"),
    ([2**53 + 1, 0], "i8"), ([-(2**63), 2**63 - 1], "i8"),
])  # fmt: skip
def test_integers_are_exact_whatever_their_size(values: list[int], dtype: str) -> None:
    spec = exact_integers(np.array(values, np.int64))
    assert spec["dtype"] == dtype
    assert [int(value) for value in read(spec)] == values
