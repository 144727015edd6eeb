"""Medians by networks, and of long rows, are those of numpy's order; turns are counted across parts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.analysis.curves.insights.levels import medians, noisy
from parsers.analysis.curves.insights.networks import medians_of_columns
from parsers.model import Floats
from tests.amounts import examples

KINDS = ("normal", "ties", "sorted", "special")


def rows(random: np.random.Generator, kind: str, shape: tuple[int, int]) -> Floats:
    found = random.normal(size=shape)
    if kind == "ties":
        return np.round(found)
    if kind == "sorted":
        return np.sort(found, axis=1)
    if kind == "special":
        found[random.random(shape) < 0.1] = np.inf
        found[random.random(shape) < 0.1] = -np.inf
        found[random.random(shape) < 0.02] = np.nan
    return found


def by_sorting(of: Floats) -> Floats:
    """NaN is sorted to the end."""
    return np.sort(of, axis=1)[:, (of.shape[1] - 1) // 2]


@pytest.mark.parametrize("size", range(1, 30))
def test_a_network_finds_the_lower_median(size: int) -> None:
    for number, kind in enumerate(KINDS):
        of = rows(np.random.default_rng(size * 10 + number), kind, (500, size))
        columns = np.ascontiguousarray(of.T)
        given_columns = columns.copy()
        np.testing.assert_array_equal(medians_of_columns(columns), by_sorting(of))
        np.testing.assert_array_equal(columns, given_columns)


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS), st.sampled_from([511, 512, 513, 1_000, 1_955, 70_001]))
def test_long_rows(seed: int, kind: str, size: int) -> None:
    random = np.random.default_rng(seed)
    of = rows(random, kind, (int(random.integers(1, max(2, 100_000 // size))), size))
    # Every eighth value says the opposite of all.
    of[:, ::8] += random.choice([0.0, 0.0, 50.0, -50.0])
    given_rows = of.copy()
    np.testing.assert_array_equal(medians(of), by_sorting(of))
    np.testing.assert_array_equal(of, given_rows)


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 2, 3, 100, 16_384, 16_385, 16_386, 40_000]), st.booleans())
def test_turns_are_counted_across_parts(seed: int, size: int, rounded: bool) -> None:
    """The share of turns is about the limit, 0.2."""
    random = np.random.default_rng(seed)
    value = np.cumsum(np.where(random.random(size) < random.uniform(0.08, 0.14), -1.0, 1.0) * random.random(size))
    if rounded:
        value = np.round(value, 1)
    signs = np.sign(np.diff(value))
    signs = signs[signs != 0]
    assert noisy(value) == (np.count_nonzero(signs[1:] != signs[:-1]) >= 0.2 * max(1, signs.size - 1))
