"""Shares of settings, against functions whose answers are known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers import SHARES
from parsers.analysis import Range, stoppable, variance_shares
from parsers.analysis.lineage.shares import Shares
from tests.amounts import examples

TARGET = "metric/acc"


def last(table: pd.DataFrame, refits: int = 12, **options: Any) -> Shares:
    *_, found = variance_shares(table, TARGET, refits=refits, **options)
    SHARES.check(found.importance)
    return found


def by_name(found: Shares, column: str = "importance") -> dict[str, float]:
    return dict(zip(found.importance["setting"], found.importance[column], strict=True))


def test_shares_of_an_additive_function() -> None:
    # y = 3 a + 2 b + c of independent settings of one variance: 9, 4 and 1 parts of 14; with steps to find.
    rng = np.random.default_rng(1)
    levels = rng.integers(0, 4, (600, 4)).astype(float)
    table = pd.DataFrame(levels, columns=list("abcd"))
    table[TARGET] = 3 * table["a"] + 2 * table["b"] + table["c"]
    found = last(table)
    shares = by_name(found)
    assert [shares[name] for name in "abcd"] == pytest.approx([9 / 14, 4 / 14, 1 / 14, 0], abs=0.03)
    assert found.fit > 0.97
    assert found.importance["setting"].tolist() == list("abcd")


@pytest.mark.long
def test_only_together_do_they_matter() -> None:
    # Neither alone says anything of an exclusive or; Sobol's total index of both is 1.
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"a": rng.choice(["x", "y"], 400), "b": rng.integers(0, 2, 400), "noise": rng.normal(size=400)})
    table[TARGET] = ((table["a"] == "x") ^ (table["b"] == 1)).astype(float)
    shares = by_name(last(table))
    assert shares["a"] > 0.6
    assert shares["b"] > 0.6
    assert abs(shares["noise"]) < 0.1


def friedman(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Friedman's function without its last term."""
    found = 10 * np.sin(np.pi * x[..., 0] * x[..., 1]) + 20 * (x[..., 2] - 0.5) ** 2 + 10 * x[..., 3]
    return np.asarray(found)


@pytest.mark.long
def test_it_is_the_total_index_of_sobol() -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(size=(300, 5))
    table = pd.DataFrame(x, columns=list("abcde")).assign(**{TARGET: friedman(x)})
    shares = by_name(last(table))
    # Jansen's estimator, of which the error is below 0.005 here.
    one, other = rng.uniform(size=(2, 100_000, 5))
    wanted = []
    for at in range(5):
        mixed = one.copy()
        mixed[:, at] = other[:, at]
        wanted.append(float(((friedman(one) - friedman(mixed)) ** 2).mean()) / 2 / friedman(one).var())
    assert np.array([shares[name] for name in "abcde"]) == pytest.approx(np.array(wanted), abs=0.06)


def test_the_interval_is_that_of_refits() -> None:
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    table[TARGET] = table["a"] + rng.normal(size=60)
    stages = list(variance_shares(table, TARGET, refits=6))
    assert [stage.refits for stage in stages] == list(range(7))
    assert stages[0].importance["importance"].isna().all()
    assert stages[1].importance["low"].isna().all()
    means = np.array([by_name(stage)["a"] for stage in stages[1:]])
    each = np.diff(means * np.arange(1, 7), prepend=0.0)
    # Of 6 refits 2.571 is Student's quantile; a quarter is what Nadeau and Bengio add for runs that are shared.
    half = 2.571 * each.std(ddof=1) * math.sqrt(1 / 6 + 1 / 4)
    assert by_name(stages[-1], "low")["a"] == pytest.approx(means[-1] - half, rel=1e-3)
    assert by_name(stages[-1], "high")["a"] == pytest.approx(means[-1] + half, rel=1e-3)
    assert stages[-1].importance.equals(last(table, 6).importance)
    assert not stages[-1].importance.equals(last(table, 6, seed=1).importance)
    assert by_name(stages[-1], "low")["a"] > by_name(stages[-1], "high")["b"]


def tried(x: np.ndarray[Any, Any], **ends: Any) -> Shares:
    rng = np.random.default_rng(8)
    table = pd.DataFrame({"x": x, "y": rng.uniform(size=len(x))})
    return last(table.assign(**{TARGET: table["x"] + 0.2 * table["y"]}), 5, ranges={"x": Range(**ends), "y": Range(0.0, 1.0)})


def test_a_setting_of_which_a_third_of_the_range_was_never_tried_has_no_rank() -> None:
    x = np.linspace(0.0, 0.6, 40)
    found = tried(x, low=0.0, high=1.0)
    assert found.importance["setting"].tolist() == ["y", "x"]
    assert found.importance["reason"].tolist() == ["", "untried"]
    assert by_name(found, "untried")["x"] == pytest.approx(0.4)
    assert stoppable(found.importance, found.fit) == (["y"], ["x"])
    found = tried(x, low=0.0, high=0.61)
    assert (found.importance["setting"].iloc[0], found.importance["reason"].tolist()) == ("x", ["", ""])
    # Whole numbers stand for themselves: of 1 to 4 all were tried, in the logarithm, too.
    for log in (False, True):
        whole = tried(np.arange(40) % 4 + 1.0, low=1.0, high=4.0, log=log, step=1.0)
        assert by_name(whole, "untried")["x"] == pytest.approx(0.0)
    assert by_name(tried(np.arange(40) % 3 + 1.0, low=1.0, high=6.0, step=1.0), "untried")["x"] == pytest.approx(0.5)
    assert by_name(tried(10.0 ** np.linspace(-4, -2, 40), low=1e-4, high=1.0, log=True), "untried")["x"] == pytest.approx(0.5)


def test_settings_of_which_either_may_matter_more_are_tied() -> None:
    rng = np.random.default_rng(9)
    table = pd.DataFrame(rng.uniform(size=(60, 3)), columns=list("abc"))
    noise = 0.2 * rng.normal(size=60)
    alike = last(table.assign(**{TARGET: table["a"] + table["b"] + 0.4 * table["c"] + noise}), 12)
    assert set(alike.importance["setting"][:2]) == {"a", "b"}
    assert alike.importance["tied"].tolist()[0]
    apart = last(table.assign(**{TARGET: 3.0 * table["a"] + table["b"] + noise}), 12)
    assert apart.importance["setting"].iloc[0] == "a"
    assert not apart.importance["tied"].iloc[0]


def test_noise_explains_nothing() -> None:
    rng = np.random.default_rng(5)
    table = pd.DataFrame({f"n{n}": rng.normal(size=80) for n in range(4)}).assign(many=rng.choice(list("abcdefghij"), 80))
    found = last(table.assign(**{TARGET: rng.normal(size=80)}))
    assert found.fit < 0.2
    assert (found.importance["low"] < 0.05).all()


def test_what_has_no_number_is_left_out() -> None:
    rng = np.random.default_rng(6)
    a = rng.integers(0, 3, 40)
    table = pd.DataFrame(
        {"a": a, "twin": 2.0**a, "never": 1, "name": [f"run {n}" for n in range(40)], "b": rng.normal(size=40), TARGET: a + 0.0}
    )
    found = last(table, 3)
    assert sorted(found.importance["setting"]) == ["a", "b"]
    assert found.importance["setting"].iloc[0] == "a"  # the first of the twins stands for both
    assert found.fit > 0.8
    assert last(table.assign(a=1, twin=1, b=1), 3).reason == "settings"
    assert last(table.assign(**{TARGET: 1.0})).reason == "constant"
    assert last(table.iloc[:9]).reason == "few"
    assert last(table.iloc[:0]).reason == "few"
    with pytest.raises(ValueError, match="expected a column of numbers"):
        last(table.assign(**{TARGET: "x"}))


@pytest.mark.long
def test_missing_values_are_a_value() -> None:
    rng = np.random.default_rng(7)
    there = rng.integers(0, 2, 200) == 1
    table = pd.DataFrame({"a": np.where(there, rng.normal(size=200), np.nan), "b": rng.normal(size=200)})
    shares = by_name(last(table.assign(**{TARGET: there * 1.0}), 5))
    assert shares["a"] > 0.4
    assert abs(shares["b"]) < 0.1


long = st.just("名" * 10_000)
value = st.one_of(st.none(), st.floats(), st.integers(-(2**62), 2**62), st.text(max_size=8), long, st.booleans())


@given(data=st.data(), n=st.integers(0, 24))
@settings(max_examples=examples(30), deadline=None)
def test_any_values_give_numbers(data: st.DataObject, n: int) -> None:
    table = pd.DataFrame(
        {
            "mixed": pd.Series(data.draw(st.lists(value, min_size=n, max_size=n)), dtype=object),
            "学习率" * 3000: np.array(data.draw(st.lists(st.floats(), min_size=n, max_size=n)), np.float64),
            TARGET: np.array(data.draw(st.lists(st.floats(), min_size=n, max_size=n)), np.float64),
        }
    )
    found = last(table, 2)
    assert found.runs == int(np.isfinite(table[TARGET]).sum())
    if not found.reason:
        assert np.isfinite(found.importance["importance"]).all()
        assert math.isfinite(found.fit)
