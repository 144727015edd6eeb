"""Tiles of the overview over values of any kind: nothing that a file may hold keeps one from being drawn."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from layouts.runs.overview.page import TILES, drawn, shown_run
from parsers import HistogramValue, LandscapeValue, TensorValue, Value
from tests.amounts import examples
from tests.sources import MemorySource, recorded
from tests.sources import series as made

FLOATS = st.floats(width=64)
STEPS = st.integers(-(2**63), 2**63 - 1)
DTYPES = st.sampled_from(["bool", "int8", "uint64", "int64", "float16", "float32", "float64", "complex64", "complex128"])


def column(size: int) -> st.SearchStrategy[Any]:
    return arrays.arrays(np.float64, size, elements=FLOATS)


@st.composite
def histograms(draw: Any) -> HistogramValue:
    size = draw(st.integers(0, 5))
    left = np.sort(draw(arrays.arrays(np.float64, size, elements=st.floats(allow_nan=False, allow_infinity=False))))
    width = draw(arrays.arrays(np.float64, size, elements=st.floats(0, 1e308)))
    counts = draw(arrays.arrays(np.float64, size, elements=st.floats(0, 1e300)))
    total = draw(st.integers(0, 2**63))
    return HistogramValue(left, width, counts, draw(FLOATS), draw(FLOATS), draw(FLOATS), total, draw(st.integers(0, 2**63)))


@st.composite
def tensors(draw: Any) -> TensorValue:
    dtype = draw(DTYPES)
    shape = draw(arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=12))
    return TensorValue(draw(arrays.arrays(dtype, shape)), dtype)


@st.composite
def landscapes(draw: Any) -> LandscapeValue:
    height, width, path = (draw(st.integers(low, 4)) for low in (1, 1, 0))
    z = draw(arrays.arrays(np.float64, (height, width), elements=FLOATS))
    ways = [draw(column(path)) for _ in range(3)]
    end = draw(st.none() | st.tuples(FLOATS, FLOATS, FLOATS))
    return LandscapeValue(
        draw(column(width)), draw(column(height)), z, np.arange(path, dtype=np.int64), *ways, "PCA", "step", 1, end
    )


def one_value(kind: str, value: Value, step: int, wall: float) -> MemorySource:
    """One value of one kind, and a scalar."""
    return MemorySource({"run": {"scalar": {"loss": made(3)}, kind: {"<b>": (recorded([step], [wall]), [value])}}})


def check(source: MemorySource, kind: str) -> None:
    what = next(what for what in TILES if what.kind == kind)
    found = drawn(what, source, {"run": "run"}, "/api/")
    json.dumps([part.to_plotly_json() for part in found], default=lambda part: part.to_plotly_json(), allow_nan=False)
    json.dumps(shown_run(source, {}), allow_nan=False)


@settings(deadline=None, max_examples=examples(60), derandomize=True)
@given(histograms(), STEPS, FLOATS)
def test_any_histogram(value: HistogramValue, step: int, wall: float) -> None:
    check(one_value("histogram", value, step, wall), "histogram")


@settings(deadline=None, max_examples=examples(100), derandomize=True)
@given(tensors(), STEPS)
def test_any_tensor(value: TensorValue, step: int) -> None:
    check(one_value("tensor", value, step, 1.7e9), "tensor")


@settings(deadline=None, max_examples=examples(100), derandomize=True)
@given(landscapes())
def test_any_landscape(value: LandscapeValue) -> None:
    check(one_value("landscape", value, 0, 1.7e9), "landscape")


@settings(deadline=None, max_examples=examples(100), derandomize=True)
@given(st.data(), st.integers(1, 6))
def test_any_scalars(data: st.DataObject, size: int) -> None:
    step = data.draw(arrays.arrays(np.int64, size, elements=STEPS))
    curve = made(size)._replace(step=step, wall_time=data.draw(column(size)), value=data.draw(column(size)))
    check(MemorySource({"run": {"scalar": {"loss": curve}}}), "scalar")
