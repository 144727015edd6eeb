"""Numbers and units as the pages print them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts.kit import units as fmt


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (0.0, "0"), (0.012345, "0.01235"), (2.5, "2.500"), (-3.14159, "-3.142"), (100.0, "100"), (12345.678, "12,346"),
     (99995.0, "99,995"), (999999.0, "1.000e+06"), (1e-7, "1.000e-07"),
     (math.nan, "NaN"), (math.inf, "+Inf"), (-math.inf, "-Inf")],
)  # fmt: skip
def test_numbers_have_four_digits(value: float | None, text: str) -> None:
    assert fmt.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (0.0, "0"), (0.012345, "+0.01235"), (-3.14159, "−3.142"), (-1e-7, "−1.000e-07"), (-12345.678, "−12,346"),
     (math.nan, "NaN"), (math.inf, "+Inf"), (-math.inf, "−Inf")],
)  # fmt: skip
def test_differences_have_a_sign_like_percentages(value: float | None, text: str) -> None:
    assert fmt.number(value, signed=True) == text


def test_differences_of_counts_have_a_sign() -> None:
    assert [fmt.count(value, signed=True) for value in (-1234, 0, 1234)] == ["−1,234", "0", "+1,234"]


@given(st.floats(-1e300, 1e300))
def test_a_number_is_near_its_text_and_exact_is_exact(value: float) -> None:
    assert math.isclose(float(fmt.number(value).replace(",", "")), value, rel_tol=5.001e-4, abs_tol=0)
    assert float(fmt.exact(value)) == value


CASES: Mapping[str, list[tuple[float | str | None, str]]] = json.loads(
    Path(__file__).with_name("units.json").read_text(encoding="utf-8"), parse_float=float
)
FUNCTIONS: Mapping[str, Callable[[float | None], str]] = {
    "number": fmt.number,
    "count": fmt.count, "percent": fmt.percent, "signed percent": lambda value: fmt.percent(value, signed=True),
    "size": fmt.size, "signed size": lambda value: fmt.size(value, signed=True),
    "duration": fmt.duration, "signed duration": lambda value: fmt.duration(value, signed=True),
    "rate of B": lambda value: fmt.rate(value, "B"), "prefixed FLOP": lambda value: fmt.prefixed(value, "FLOP"),
}  # fmt: skip
"""What the cases call; tests/js/units.test.js has the same for scripts."""


@pytest.mark.parametrize("kind", CASES)
def test_cases_that_scripts_share(kind: str) -> None:
    for given_value, text in CASES[kind]:
        value = float(given_value) if isinstance(given_value, str) else given_value
        assert FUNCTIONS[kind](value) == text, (kind, value)


def test_numbers_of_numpy_are_numbers() -> None:
    assert fmt.percent(np.float32(0.5)) == "50.0 %"
    assert fmt.size(np.int64(1536)) == "1.50 KiB"
    assert fmt.duration(np.float32(0.5)) == "500 ms"
    assert fmt.count(np.int64(2**62)) == "4,611,686,018,427,387,904"
    assert fmt.rate(np.float32(0.5), "B") == "0.500 B/s"


@given(st.sampled_from([fmt.percent, fmt.size, fmt.duration, fmt.count]), st.floats(-1e300, 1e300))
def test_only_zero_is_written_as_zero(written: Callable[[float], str], value: float) -> None:
    text = written(value)
    assert bool(re.search("[1-9]", text)) == (value != 0)
    assert (fmt.MINUS in text) == (value < 0)


@given(st.floats(0.5, 1.5))
def test_only_the_whole_is_a_hundred_percent(share: float) -> None:
    assert (fmt.percent(share) == "100 %") == (share == 1)


@given(st.floats(0, 1e9))
def test_a_larger_size_is_never_written_as_a_smaller_one(value: float) -> None:
    def read(text: str) -> float:
        digits, unit = text.replace(",", "").split(" ")
        return float(digits) * 1024.0 ** ("B", "KiB", "MiB").index(unit)

    assert math.isclose(read(fmt.size(min(value, 1e9))), value, rel_tol=6e-3)


@given(st.floats())
def test_no_time_is_too_strange(seconds: float) -> None:
    assert isinstance(fmt.moment(seconds), str)
    assert isinstance(fmt.duration(seconds), str)
