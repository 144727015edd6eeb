"""Derived curves, compared with pandas and with exact fractions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import Series, discover, open_run
from parsers.analysis.curves.derived import Derived, evaluate
from parsers.analysis.curves.expressions import parse_expression, quoted
from parsers.recorded import mark_of

LEAST, MOST = -(2**63), 2**63 - 1


def series(step: Sequence[int], value: Sequence[float], wall: Sequence[float] | None = None) -> Series:
    steps, values = np.array(step, np.int64), np.array(value, np.float64)
    walls = np.arange(steps.size) * 2.0 if wall is None else np.array(wall)
    return Series(steps, walls, values, np.zeros(steps.size, np.int32), np.arange(steps.size))


def derived(text: str, tags: Mapping[str, Series]) -> Derived:
    return evaluate(parse_expression(text), tags.get)


def table(found: Derived) -> dict[int, float]:
    return dict(zip(found.series.step.tolist(), found.series.value.tolist(), strict=True))


def pandas_of(one: Series) -> pd.Series:
    """The values of a tag by step: whoever writes a step again drops what was there from it on."""
    found: dict[int, float] = {}
    for step, value in zip(one.step.tolist(), one.value.tolist(), strict=True):
        found = {at: was for at, was in found.items() if at < step} | {step: value}
    return pd.Series(list(found.values()), pd.Index(list(found), dtype="int64"), dtype="float64")


def equal(found: Derived, wanted: pd.Series, rtol: float = 0.0) -> None:
    assert found.series.step.tolist() == wanted.index.tolist()
    np.testing.assert_allclose(found.series.value, wanted.to_numpy(), rtol=rtol, atol=0)


UNUSUAL = (0.0, -0.0, 1.0, math.nan, math.inf, -math.inf, 1.7e308, -1.7e308, 5e-324)
ROWS = st.lists(st.tuples(st.integers(0, 12), st.floats(width=32) | st.sampled_from(UNUSUAL)), min_size=1, max_size=20)
RUNS = ROWS.map(lambda rows: series(*zip(*rows, strict=True)))


@given(RUNS, RUNS)
def test_operations_are_those_of_pandas_at_common_steps(one: Series, other: Series) -> None:
    tags = {"a": one, "b/c": other}
    a, b = pandas_of(one), pandas_of(other)
    common = a.index.intersection(b.index).sort_values()
    with np.errstate(all="ignore"):
        for text, wanted in (
            ("a - b/c", a[common] - b[common]),
            ("a + b/c", a[common] + b[common]),
            ("a * b/c", a[common] * b[common]),
            ("a / b/c", a[common] / b[common]),
            ("-a", -a),
            ("abs(a)", a.abs()),
            ("2 * a - 1", 2 * a - 1),
            ("min(a, b/c)", pd.Series(np.minimum(a[common], b[common]))),
            ("max(a, 0.5)", pd.Series(np.maximum(a, 0.5))),
            ("exp(a)", np.exp(a)),
            ("log10(a)", np.log10(a.where(a > 0))),
            ("log(a)", np.log(a.where(a > 0))),
            ("sqrt(a)", np.sqrt(a)),
            ("diff(a)", a.diff().iloc[1:]),
            ("rate(a)", a.diff().iloc[1:] / np.diff(a.index)),
        ):
            equal(derived(text, tags), wanted)
    found = derived("a - b/c", tags)
    lost = {"a": len(a) - len(common), "b/c": len(b) - len(common)}
    assert found.unpaired == {tag: number for tag, number in lost.items() if number}
    replaced = {"a": one.step.size - len(a), "b/c": other.step.size - len(b)}
    assert found.superseded == {tag: number for tag, number in replaced.items() if number}
    assert not found.missing


@given(RUNS, st.integers(1, 15))
def test_means_of_windows_are_exact_sums(one: Series, window: int) -> None:
    a = pandas_of(one)
    for text, starts in (
        (f"mean(a, {window})", [max(0, i - window + 1) for i in range(len(a))]),
        (f"mean(a, {window} steps)", [int((a.index <= step - window).sum()) for step in a.index]),
    ):
        found = table(derived(text, {"a": one}))
        for i, (start, step) in enumerate(zip(starts, a.index, strict=True)):
            inside = a.iloc[start : i + 1].tolist()
            with np.errstate(all="ignore"):
                plain = float(np.sum(inside))
            if not math.isfinite(plain):
                # An infinity, a NaN, or an overflow: what IEEE makes of the sum, whatever its order makes of an overflow.
                assert not math.isfinite(found[step]) or all(map(math.isfinite, inside))
                continue
            wanted = sum(map(Fraction, inside)) / len(inside)
            slack = sum(abs(Fraction(value)) for value in inside) / len(inside) * Fraction(1, 2**49) + Fraction(1, 2**1070)
            assert abs(Fraction(found[step]) - wanted) <= slack if math.isfinite(found[step]) else max(map(abs, inside)) > 1e307


def test_a_window_knows_nothing_of_values_outside_of_it() -> None:
    rng = np.random.default_rng(3)
    value = rng.normal(size=3000)
    value[100], value[700], value[1500] = 1e300, np.inf, np.nan
    step = np.cumsum(rng.integers(1, 4, 3000))
    tags = {"a": series(step.tolist(), value.tolist())}
    rolling = [np.mean(value[max(0, i - 36) : i + 1]) for i in range(3000)]
    equal(derived("mean(a, 37)", tags), pd.Series(rolling, index=step), 1e-12)
    by_step = [np.mean(value[(step > s - 90) & (step <= s)]) for s in step]
    equal(derived("mean(a, 90 steps)", tags), pd.Series(by_step, index=step), 1e-12)


def test_a_mean_looks_at_the_points_of_its_own_curve() -> None:
    """Smoothed training loss minus validation loss: the window is of training points, not of those validation shares."""
    train, val = series(range(100), np.arange(100.0)), series(range(0, 100, 10), np.zeros(10))
    found = derived("mean(train, 5) - val", {"train": train, "val": val})
    wanted = pd.Series(np.arange(100.0)).rolling(5, min_periods=1).mean().iloc[::10]
    equal(found, wanted)
    assert found.unpaired == {"train": 90}
    equal(derived("mean(train - val, 5)", {"train": train, "val": val}), train_at(wanted))


def train_at(like: pd.Series) -> pd.Series:
    """The mean over the last five common points, 0, 10, 20 ..."""
    return pd.Series(np.arange(0.0, 100.0, 10), index=like.index).rolling(5, min_periods=1).mean()


def test_what_cannot_be_computed_is_counted() -> None:
    a = series(range(6), [1.0, 0.0, -1.0, math.nan, math.inf, 1e308])
    tags = {"a": a, "b": series(range(6), [0.0, 0.0, 2.0, 1.0, 1.0, 1e-10])}
    found = derived("log10(a)", tags)
    assert found.undefined == {"log10": 2}
    assert np.isnan(found.series.value[[1, 2, 3]]).all()
    found = derived("a / b", tags)
    assert found.undefined == {"/": 3}
    np.testing.assert_array_equal(found.series.value, [math.inf, math.nan, -0.5, math.nan, math.inf, math.inf])
    assert derived("sqrt(a) + exp(10 * a)", tags).undefined == {"sqrt": 1, "*": 1}
    assert derived("a - b", tags).undefined == {}


def test_steps_at_the_ends_of_int64() -> None:
    tags = {"a": series([LEAST, 0, MOST], [1.0, 3.0, 7.0])}
    assert table(derived("rate(a)", tags)) == {0: 2.0 / 2.0**63, MOST: 4.0 / 2.0**63}
    assert table(derived("mean(a, 1000000000 steps)", tags)) == {LEAST: 1.0, 0: 3.0, MOST: 7.0}
    near = {"a": series([LEAST, LEAST + 1, LEAST + 2], [1.0, 3.0, 8.0])}
    assert table(derived("mean(a, 2 steps)", near)) == {LEAST: 1.0, LEAST + 1: 2.0, LEAST + 2: 5.5}
    assert table(derived("mean(a, 3 steps)", near)) == {LEAST: 1.0, LEAST + 1: 2.0, LEAST + 2: 4.0}


def test_a_value_has_the_latest_time_of_its_step_and_no_place_in_a_file() -> None:
    tags = {"a": series([1, 2, 3], [1, 1, 1], [10.0, math.nan, 30.0]), "b": series([1, 2, 3], [1, 1, 1], [11.0, 21.0, 29.0])}
    found = derived("a - b", tags).series
    assert found.wall_time.tolist() == [11.0, 21.0, 30.0]
    assert found.file.tolist() == found.order.tolist() == [-1, -1, -1]


def test_missing_tags_are_named_and_steps_without_a_partner_counted() -> None:
    tags = {"a": series([1, 2], [1.0, 2.0]), "b": series([5, 6, 7], [1.0, 2.0, 3.0]), "empty": series([], [])}
    found = derived("a - 'x y' + empty", tags)
    assert (found.missing, found.series.step.size, found.unpaired) == (("x y", "empty"), 0, {})
    found = derived("a - b", tags)
    assert (found.missing, found.series.step.size, found.unpaired) == ((), 0, {"a": 2, "b": 3})
    assert derived("diff(a - b) + mean(a - b, 3) + rate(b - a)", tags).series.step.size == 0
    assert derived("diff(diff(diff(a)))", tags).series.step.size == 0


def test_a_mark_changes_with_every_tag() -> None:
    tags = {"a": series([1, 2], [1.0, 2.0]), "b": series([1, 2], [1.0, 2.0])}
    before = mark_of(derived("a - b", tags).series)
    assert before == mark_of(derived("a - b", dict(tags)).series)
    tags["b"] = series([1, 2, 2], [1.0, 2.0, 3.0])
    assert mark_of(derived("a - b", tags).series) != before


@pytest.mark.parametrize("text", ["2 * 3 + a", "a * (1 / 0)", "a + log10(0 - 5)", "a * min(2, 3)", "-(-(2)) * a"])
def test_numbers_alone_are_computed_too(text: str) -> None:
    wanted = {"2 * 3 + a": 7.0, "a * (1 / 0)": math.inf, "a + log10(0 - 5)": math.nan, "a * min(2, 3)": 2.0, "-(-(2)) * a": 2.0}
    np.testing.assert_equal(table(derived(text, {"a": series([4], [1.0])}))[4], wanted[text])


@pytest.mark.long
def test_curves_of_real_runs_are_those_of_pandas(real_data: Path) -> None:
    compared = 0
    for source in discover(str(real_data / "summary")):
        run = open_run(source.path)
        for leaf in (run, *run.ranks):
            frame = leaf.scalars.astype({"tag": str}).drop_duplicates(["tag", "step"], keep="last")
            table_of = {tag: rows.set_index("step")["value"].sort_index() for tag, rows in frame.groupby("tag")}
            for one, other in itertools.pairwise(list(table_of)[:6]):
                a, b = table_of[one], table_of[other]
                both = a.index.intersection(b.index).sort_values()
                found = leaf.derived(f"{quoted(one)} - {quoted(other)} / 2")
                if not len(both):
                    assert not found.series.step.size
                    continue
                with np.errstate(all="ignore"):
                    equal(found, a[both] - b[both] / 2)
                    smooth = leaf.derived(f"mean({quoted(one)}, 7)").series
                    rolling = a.rolling(7, min_periods=1).mean()
                if np.isfinite(a).all():
                    assert smooth.step.tolist() == rolling.index.tolist()
                    np.testing.assert_allclose(smooth.value, rolling, rtol=1e-9, atol=1e-9 * np.abs(a).max())
                compared += 1
    assert compared > 20
