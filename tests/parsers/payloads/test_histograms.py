"""Histograms in all their forms, and such as cannot be."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import FormatError, HistogramValue
from parsers.events.messages import message_class
from parsers.payloads.decoding import decode
from parsers.recording.wire import delimited, float64, number
from tests.parsers.payloads.reference import same

LARGEST = sys.float_info.max
finite = st.floats(-1e12, 1e12)
buckets = st.lists(st.tuples(finite, st.floats(0, 1e6), st.integers(0, 2**40)), max_size=30)


def value_of(data: bytes, reader: str = "events") -> HistogramValue:
    value = decode(reader, "histogram", memoryview(data))
    assert isinstance(value, HistogramValue)
    return value


def bucket(left: float, width: float, count: int) -> bytes:
    return delimited(1, float64(1, left) + float64(2, width) + number(3, count))


def histogram(*given: tuple[float, float, int], nan: int = 0, total: int | None = None) -> bytes:
    held = sum(count for _, _, count in given)
    return b"".join(bucket(*one) for one in given) + number(2, nan) + number(8, held + nan if total is None else total)


def tensorboard(**fields: Any) -> HistogramValue:
    return value_of(message_class("tensorflow.HistogramProto")(**fields).SerializeToString(), "tensorboard")


@given(buckets, st.permutations(range(3)), st.booleans())
def test_buckets_in_any_order_of_fields(given: list[tuple[float, float, int]], order: list[int], last: bool) -> None:
    parts = b""
    for left, width, count in given:
        pieces = [float64(1, left), float64(2, width), number(3, count)]
        parts += delimited(1, b"".join(pieces[i] for i in order))
    apart = number(2, 3) + number(8, sum(count for _, _, count in given) + 3)
    data = apart + parts if last else parts + apart
    message = message_class("mindspore.Histogram").FromString(data)
    value = value_of(data)
    assert same(value.left, [b.left for b in message.buckets])
    assert same(value.width, [b.width for b in message.buckets])
    assert same(value.count, [float(b.count) for b in message.buckets])
    assert (value.nan, value.total, value.finite) == (3, message.count, message.count - 3)


def test_all_values_are_nan() -> None:
    value = value_of(histogram(nan=7, total=7))
    assert (len(value.left), value.nan, value.total, value.finite, value.problem) == (0, 7, 7, 0, "")
    assert np.isnan([value.min, value.max, value.mean]).all()


@pytest.mark.parametrize(
    "bad", [(float("nan"), 1.0, 4), (0.0, float("inf"), 4), (0.0, -1.0, 4), (0.0, 1.0, -4), (LARGEST, LARGEST, 4)]
)
def test_buckets_that_mean_nothing_are_left_out(bad: tuple[float, float, int]) -> None:
    value = value_of(histogram((0, 1, 5), bad, (1, 1, 6)))
    assert value.count.tolist() == [5, 6]
    assert value.problem.startswith("1 of 3 buckets are left out: expected finite edges and counts from 0 on")


def test_counts_that_contradict_each_other_are_told() -> None:
    assert "hold 5 values, but it says that 9 are finite" in value_of(histogram((0, 1, 5), total=9)).problem
    assert "contradict" in value_of(histogram((0, 1, 5), nan=8, total=5)).problem
    assert "contradict" in value_of(histogram((0, 1, 5), nan=-1, total=5)).problem


def test_ten_million_buckets_are_refused() -> None:
    with pytest.raises(FormatError, match="expected at most 1,000,000 buckets"):
        value_of(bucket(0, 1, 1) * 1_000_001)
    with pytest.raises(FormatError, match="expected at most 1,000,000 buckets"):
        value_of(bytes([0x0A, 0]) * 10_000_000)


def test_outer_limits_of_tensorflow_are_those_of_the_values() -> None:
    value = tensorboard(
        min=-3, max=7, num=6, sum=10, bucket_limit=[-LARGEST, -1, 0, 5, LARGEST], bucket=[0, 2, 0, 3, 1]
    )
    assert value.left.tolist() == [-3, -1, 0, 5]
    assert value.width.tolist() == [2, 1, 5, 2]
    assert value.count.tolist() == [2, 0, 3, 1]
    assert (value.min, value.max, value.total, value.mean, value.problem) == (-3, 7, 6, 10 / 6, "")


def test_one_value_of_tensorflow_is_a_bucket_of_no_width() -> None:
    value = tensorboard(min=2, max=2, num=4, sum=8, bucket_limit=[1, 2, 3, LARGEST], bucket=[0, 0, 4, 0])
    assert (value.left.tolist(), value.width.tolist(), value.count.tolist()) == ([2], [0], [4])


@pytest.mark.parametrize("count", [[1, np.nan, 2], [1, np.inf, 2], [1e308, 1e308, 1e308]])
@pytest.mark.parametrize("total", [np.nan, -np.inf, -1])
def test_counts_and_totals_that_are_no_numbers(count: list[float], total: float) -> None:
    value = tensorboard(min=0, max=3, num=total, sum=1, bucket_limit=[1, 2, 3], bucket=count)
    finite = [number for number in count if np.isfinite(number)]
    assert value.count.tolist() == finite
    assert value.problem
    assert value.total == (3 if len(finite) == 2 else 0)


def test_limits_without_counts_are_refused() -> None:
    with pytest.raises(FormatError, match="as many bucket limits as counts, found 2 and 1"):
        tensorboard(bucket_limit=[1, 2], bucket=[1])


@pytest.mark.parametrize("dtype", [1, 2])
def test_the_form_of_a_tensor(dtype: int) -> None:
    rows = np.array([[-1, 0, 3], [0, 0, 2], [0, 4, 5]], "<f8" if dtype == 2 else "<f4")
    tensor = message_class("tensorflow.TensorProto")(dtype=dtype, tensor_content=rows.tobytes())
    for size in rows.shape:
        tensor.tensor_shape.dim.add(size=size)
    value = value_of(tensor.SerializeToString(), "tensorboard")
    assert (value.left.tolist(), value.width.tolist(), value.count.tolist()) == ([-1, 0, 0], [1, 0, 4], [3, 2, 5])
    assert (value.min, value.max, value.total, value.problem) == (-1, 4, 10, "")
    assert np.isnan(value.sum)


def test_a_tensor_of_another_shape_is_refused() -> None:
    tensor = message_class("tensorflow.TensorProto")(dtype=1, float_val=[1, 2])
    tensor.tensor_shape.dim.add(size=2)
    with pytest.raises(FormatError, match=r"expected a tensor of shape \(k, 3\)"):
        value_of(tensor.SerializeToString(), "tensorboard")
