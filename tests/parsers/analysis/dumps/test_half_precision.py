"""Overflow of float16 by statistics: Inf, values near the largest one, and Inf that was there before."""

from __future__ import annotations

import math

import pytest

from parsers.analysis.dumps.half_precision import half_tensors
from parsers.deferred import pandas as pd
from parsers.dump_frames import DUMP_STATISTICS
from tests.writers.symptomatic_runs import rows_of


def statistics(*rows: dict[str, object]) -> pd.DataFrame:
    usual = {"rank": 0, "iteration": 0, "io": "output", "dtype": "float16"}
    return rows_of(DUMP_STATISTICS, [{"row": n, **usual, **row} for n, row in enumerate(rows)])


@pytest.mark.parametrize(("low", "high", "near"), [
    (-1.0, 65_504.0, True), (-40_000.0, 1.0, True), (-32_767.0, 32_767.0, False),
])  # fmt: skip
def test_values_near_the_largest_one(low: float, high: float, near: bool) -> None:
    row = half_tensors(statistics({"name": "a", "min": low, "max": high})).iloc[0]
    assert (bool(row["is_near"]), bool(row["overflowed"])) == (near, False)


def test_other_types_and_unknown_ranges_are_left_out() -> None:
    found = half_tensors(statistics({"name": "a", "dtype": "float32", "max": 1e9, "min": 0.0}, {"name": "b"}))
    assert len(found) == 0


def test_inf_counts_where_it_first_appears() -> None:
    found = half_tensors(statistics(
        {"name": "b", "io": "input", "positive_inf": 1, "non_finite": 1, "max": 1.0, "min": 0.0},
        {"name": "b", "positive_inf": 1, "non_finite": 1, "max": 1.0, "min": 0.0},
        {"name": "a", "io": "input", "non_finite": 0, "max": 300.0, "min": 0.0},
        {"name": "a", "positive_inf": 3, "non_finite": 1, "max": 2.0, "min": 0.0},
        {"name": "c", "max": math.inf, "min": 0.0},
    ))  # fmt: skip
    outputs = found[(found["io"] == "output").to_numpy(bool)]
    assert dict(zip(outputs["name"], outputs["overflowed"], strict=True)) == {"b": False, "a": True, "c": True}
    assert not found["is_near"].any()
