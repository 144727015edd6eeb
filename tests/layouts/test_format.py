"""Numbers as the pages print them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts import format as fmt


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (0.0, "0"), (0.012345, "0.01235"), (2.5, "2.500"), (-3.14159, "-3.142"), (100.0, "100"), (12345.678, "12,346"),
     (99995.0, "99,995"), (999999.0, "1.000e+06"), (1e-7, "1.000e-07"),
     (math.nan, "NaN"), (math.inf, "+Inf"), (-math.inf, "-Inf")],
)  # fmt: skip
def test_numbers_have_four_digits(value: float | None, text: str) -> None:
    assert fmt.number(value) == text


@given(st.floats(-1e300, 1e300))
def test_a_number_is_near_its_text_and_exact_is_exact(value: float) -> None:
    assert math.isclose(float(fmt.number(value).replace(",", "")), value, rel_tol=5.001e-4, abs_tol=0)
    assert float(fmt.exact(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (1023, "1,023 B"), (1024, "1.0 KiB"), (1048575, "1.0 MiB"), (3.1 * 2**30, "3.1 GiB"), (2e8, "191 MiB")],
)
def test_bytes_are_counted_in_powers_of_1024(value: float, text: str) -> None:
    assert fmt.size(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (5e-9, "5 ns"), (0.00124, "1.24 ms"), (12.345, "12.3 s"), (59.96, "1 m 00 s"), (65, "1 m 05 s"),
     (3599.9, "1 h 00 m"), (7380, "2 h 03 m"), (86_400 * 3 + 14_400, "3 d 04 h"), (-65, "-1 m 05 s"), (math.nan, "NaN")],
)  # fmt: skip
def test_durations_name_their_units(seconds: float, text: str) -> None:
    assert fmt.duration(seconds) == text


@given(st.floats())
def test_no_time_is_too_strange(seconds: float) -> None:
    assert isinstance(fmt.moment(seconds), str)
    assert isinstance(fmt.duration(seconds), str)
