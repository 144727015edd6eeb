"""Gates: intervals against scipy, decisions on simulated runs, and runs that nothing can be told of."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from parsers.analysis.curves.gates import (
    CANNOT_TELL,
    HIGHER,
    LOWER,
    NOT_WORSE,
    WORSE,
    Gate,
    GateVerdict,
    Margin,
    RunValue,
    TooFewRuns,
    check_value,
    compare,
    difference_interval,
    parse_margin,
    run_value,
)
from parsers.analysis.curves.student import upper_quantile, upper_tail
from parsers.model import Series
from tests.amounts import examples, some_or_every

VALUES = st.lists(st.floats(-1e6, 1e6).map(lambda value: round(value, 3)), min_size=3, max_size=12)


def runs(*values: float, **facts) -> list[RunValue]:
    return [RunValue(f"run{place}", float(value), last_step=100, **facts) for place, value in enumerate(values)]


def series(values, steps=None) -> Series:
    value = np.array(values, np.float64)
    step = np.arange(value.size) if steps is None else np.array(steps, np.int64)
    return Series(step, np.zeros(value.size), value, np.zeros(value.size, np.int32), np.arange(value.size))


def judge(mine, theirs, **gate) -> GateVerdict:
    return compare(Gate(**{"better": LOWER, **gate}), runs(*mine), runs(*theirs))


# Student's t ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("freedom", [0.3, 1.0, 1.7, 2.0, 5.83, 18.0, 29.5, 1000.0, 1e5, 1e8])
@pytest.mark.parametrize("alpha", [0.4999, 0.3, 0.05, 0.025, 0.001, 1e-9])
def test_quantiles_are_those_of_scipy(freedom: float, alpha: float) -> None:
    assert upper_quantile(alpha, freedom) == pytest.approx(float(stats.t.isf(alpha, freedom)), rel=1e-7)


@given(st.floats(0.0, 1e3), st.floats(0.1, 1e3))
@settings(max_examples=examples(200))
def test_tails_are_those_of_scipy(t: float, freedom: float) -> None:
    assert upper_tail(t, freedom) == pytest.approx(float(stats.t.sf(t, freedom)), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(("alpha", "freedom"), [(0.0, 3.0), (0.5, 3.0), (math.nan, 3.0), (0.05, 0.0), (0.05, math.nan)])
def test_levels_without_a_quantile_are_refused(alpha: float, freedom: float) -> None:
    with pytest.raises(ValueError, match="expected"):
        upper_quantile(alpha, freedom)


# Intervals -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robust", [False, True])
@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.2])
@given(mine=VALUES, theirs=VALUES)
@settings(max_examples=examples(100))
def test_intervals_are_those_of_scipy(robust: bool, alpha: float, mine: list[float], theirs: list[float]) -> None:
    first, second = np.array(mine), np.array(theirs)
    found = difference_interval(first, second, alpha, robust=robust)
    cuts = [side.size // 4 if robust else 0 for side in (first, second)]
    if not any(np.ptp(np.sort(side)[cut : side.size - cut]) for side, cut in zip((first, second), cuts, strict=True)):
        assert found.low == found.difference == found.high
        return
    wanted = stats.ttest_ind(first, second, equal_var=False, trim=0.25 if robust else 0.0).confidence_interval(1 - 2 * alpha)
    size = max(np.abs(first).max(), np.abs(second).max())
    assert (found.low, found.high) == pytest.approx((float(wanted.low), float(wanted.high)), rel=1e-6, abs=1e-9 * size)


def test_an_interval_by_hand() -> None:
    """Means 3 and 10, variances 1 and 4 of 3 each: error sqrt(5/3), 25 / 8.5 degrees of freedom."""
    found = difference_interval(np.array([2.0, 3.0, 4.0]), np.array([8.0, 10.0, 12.0]), 0.05)
    half = float(stats.t.isf(0.05, 25 / 8.5)) * math.sqrt(5 / 3)
    assert found == pytest.approx((-7.0, -7.0 - half, -7.0 + half, 25 / 8.5))


def test_intervals_of_huge_and_tiny_values_are_finite() -> None:
    for size in (1e-300, 1e300):
        values = size * np.array([1.0, 1.1, 0.9]), size * np.array([1.2, 1.3, 1.1])
        plain = difference_interval(values[0] / size, values[1] / size, 0.05)
        assert difference_interval(*values, 0.05)[:3] == pytest.approx([size * one for one in plain[:3]], rel=1e-9)


# Decisions -----------------------------------------------------------------------------------------------------------


def share_of_worse(number: int, shift: float, *, better: str, robust: bool = False, comparisons: int, seed: int) -> float:
    """How often runs that are worse by shift standard deviations are found to be."""
    random = np.random.default_rng(seed)
    sign = 1.0 if better == LOWER else -1.0
    gate = Gate(better, robust=robust)
    found = 0
    for mine, theirs in random.normal(size=(comparisons, 2, number)):
        found += compare(gate, runs(*(mine + sign * shift)), runs(*theirs)).state == WORSE
    return found / comparisons


@some_or_every
@pytest.mark.parametrize("better", [LOWER, HIGHER])
@pytest.mark.parametrize("number", [3, 5])
def test_runs_alike_are_seldom_worse(number: int, better: str, every: bool) -> None:
    found = share_of_worse(number, 0.0, better=better, comparisons=2500 if every else 1000, seed=1037 + number)
    assert 0.02 < found <= 0.055


@some_or_every
@pytest.mark.parametrize("better", [LOWER, HIGHER])
@pytest.mark.parametrize(("number", "robust", "least"), [(5, False, 0.8), (3, False, 0.5), (5, True, 0.65)])
def test_a_shift_of_two_deviations_is_found(number: int, robust: bool, least: float, better: str, every: bool) -> None:
    comparisons = 1500 if every else 300
    assert share_of_worse(number, 2.0, better=better, robust=robust, comparisons=comparisons, seed=2037) >= least
    assert share_of_worse(number, -2.0, better=better, robust=robust, comparisons=comparisons // 3, seed=2038) == 0.0


def test_the_robust_mean_ignores_an_outlier() -> None:
    theirs, mine = (1.0, 1.1, 0.9, 1.0, 1.05), (2.0, 2.1, 1.9, 2.0, 900.0)
    assert judge(mine, theirs).state == NOT_WORSE
    assert judge(mine, theirs, robust=True).state == WORSE


def test_the_margin_moves_the_limit() -> None:
    """The near end of the interval is at 0.9: 1 less what 0.1 is not."""
    theirs = (1.0, 2.0, 3.0)
    mine = (21.0, 22.0, 23.0)
    near = judge(mine, theirs).low
    assert judge(mine, theirs, margin=Margin(near * 0.999)).state == WORSE
    assert judge(mine, theirs, margin=Margin(near * 1.001)).state == NOT_WORSE
    assert judge(mine, theirs, margin=Margin(near * 0.999 / 2.0, True)).state == WORSE
    assert judge(mine, theirs, margin=Margin(near * 1.001 / 2.0, True)).state == NOT_WORSE
    assert judge(mine, theirs, better=HIGHER).state == NOT_WORSE


def test_alpha_moves_the_limit() -> None:
    mine, theirs = (2.2, 3.2, 4.2), (1.0, 2.0, 3.0)
    p = float(stats.ttest_ind(mine, theirs, equal_var=False, alternative="greater").pvalue)
    assert judge(mine, theirs, alpha=p * 1.01).state == WORSE
    assert judge(mine, theirs, alpha=p * 0.99).state == NOT_WORSE


def test_an_interval_that_exceeds_the_margin_on_both_sides_does_not_tell() -> None:
    wide = (0.0, 10.0, -10.0)
    assert judge(wide, (0.1, -9.0, 9.0), margin=Margin(0.5)).reason == "too_wide"
    assert judge(wide, (0.1, -9.0, 9.0)).state == NOT_WORSE
    assert judge(wide, (0.1, -9.0, 9.0), margin=Margin(100.0)).reason == "within"


@given(VALUES, VALUES, st.sampled_from([0.0, 0.5, 100.0]), st.booleans())
@settings(max_examples=examples(100))
def test_reversing_what_is_better_mirrors_the_decision(
    mine: list[float], theirs: list[float], margin: float, robust: bool
) -> None:  # fmt: skip
    gate = {"margin": Margin(margin), "robust": robust}
    found = judge(mine, theirs, better=LOWER, **gate)
    mirrored = judge([-one for one in mine], [-one for one in theirs], better=HIGHER, **gate)
    assert found.state == mirrored.state
    worse_on_both = found.state == WORSE and judge(mine, theirs, better=HIGHER, **gate).state == WORSE
    assert not worse_on_both


@given(VALUES, st.booleans())
@settings(max_examples=examples(50))
def test_runs_are_never_worse_than_their_equals(values: list[float], robust: bool) -> None:
    assert judge(values, values, robust=robust).state == NOT_WORSE


def test_with_few_runs_the_margin_alone_decides_and_says_so() -> None:
    with pytest.raises(TooFewRuns):
        judge((1.0, 1.0), (1.0, 1.0, 1.0))
    with pytest.raises(TooFewRuns):
        judge((1.0, 1.0, 1.0), (1.0,))
    inside = judge((1.25,), (1.0,), margin=Margin(0.25))
    assert (inside.state, inside.reason, math.isnan(inside.low)) == (NOT_WORSE, "margin_within", True)
    assert judge((1.26,), (1.0,), margin=Margin(0.25)).reason == "margin_beyond"
    assert judge((1.26,), (1.0,), margin=Margin(0.25), better=HIGHER).state == NOT_WORSE
    assert judge((0.74,), (1.0,), margin=Margin(0.25), better=HIGHER).state == WORSE
    assert judge((1.03,), (1.0,), margin=Margin(0.02, True)).state == WORSE
    assert judge((1.01,), (1.0,), margin=Margin(0.02, True)).state == NOT_WORSE


# Runs that cannot be compared ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_values_that_are_not_finite(bad: float) -> None:
    assert judge((1.0, bad, 1.0), (1.0, 1.0, 1.0)).reason == "not_finite"
    assert judge((1.0, bad, 1.0), (1.0, 1.0, 1.0)).state == WORSE
    assert judge((1.0, 1.0, 1.0), (1.0, bad, 1.0)).reason == "baseline_not_finite"
    assert judge((bad,), (bad,), margin=Margin(0.0)).state == CANNOT_TELL


def test_bad_values_within_the_curve_are_worse_unless_the_baseline_has_them_too() -> None:
    mine, theirs = runs(1.0, 1.0, 1.0), runs(1.0, 1.0, 1.0)
    mine[1] = RunValue("bad", 1.0, 100, bad=2, first_bad=40)
    found = compare(Gate(LOWER), mine, theirs)
    assert (found.state, found.reason, found.run) == (WORSE, "not_finite", mine[1])
    assert compare(Gate(LOWER), mine, [*theirs[1:], mine[1]]).state == NOT_WORSE


def test_missing_unfinished_and_incomparable_runs_are_not_judged() -> None:
    fine = runs(1.0, 1.0, 1.0)
    gate = Gate(LOWER)

    def reason(mine: RunValue, theirs: RunValue, **options) -> str:
        return compare(gate, [*fine, mine], [*fine, theirs], **options).reason

    same = fine[0]
    gone = RunValue("gone", math.nan, missing="no values")
    short, open_ = RunValue("short", 9.0, last_step=94), RunValue("open", 9.0, 100, incomplete=True)
    assert reason(gone, same) == "missing"
    assert reason(same, gone) == "baseline_missing"
    assert reason(short, same) == "unfinished"
    assert reason(same, short) == "baseline_unfinished"
    assert reason(RunValue("enough", 1.0, last_step=95), same) == "within"
    assert reason(short, same, shorter=True) == "within"
    assert reason(open_, same) == "unfinished"
    assert reason(RunValue("other", 1.0, 100, source="device"), same) == "sources"


def test_a_run_that_ended_early_because_of_nan_is_worse() -> None:
    mine = RunValue("dead", math.nan, last_step=3, bad=1, first_bad=3)
    assert compare(Gate(LOWER), [mine] * 3, runs(1.0, 1.0, 1.0)).state == WORSE


# Values of curves ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "better", "wanted"),
    [
        ("last", LOWER, 2.0), ("best", LOWER, 1.0), ("best", HIGHER, 5.0), ("mean:2", LOWER, 3.5), ("mean:99", LOWER, 3.25),
        ("step:1", LOWER, 1.0), ("step:3", LOWER, 2.0),
    ],
)  # fmt: skip
def test_the_value_that_counts(value: str, better: str, wanted: float) -> None:
    assert run_value("run", series([5.0, 1.0, 5.0, 2.0]), value, better).value == wanted


def test_restarts_are_resolved_before_a_value_is_taken() -> None:
    """Steps 2 and 3 were written again: the NaN of step 3 is superseded, the curve is 9, 8, 5, 4."""
    found = run_value("run", series([9, 8, 7, math.nan, 5, 4], [0, 1, 2, 3, 2, 3]), "mean:3", LOWER)
    assert (found.value, found.bad, found.last_step) == (pytest.approx(17 / 3), 0, 3)


def test_values_of_curves_with_nan_of_short_and_of_empty_ones() -> None:
    bad = series([3.0, math.nan, 2.0, math.inf])
    assert run_value("run", bad, "last", LOWER).value == math.inf
    assert run_value("run", bad, "best", HIGHER).value == 3.0
    assert math.isnan(run_value("run", bad, "mean:3", LOWER).value)
    assert (run_value("run", bad, "last", LOWER).bad, run_value("run", bad, "last", LOWER).first_bad) == (2, 1)
    assert run_value("run", bad, "step:7", LOWER).missing == "no value at step 7"
    assert run_value("run", series([]), "last", LOWER).missing == "no values"
    assert math.isnan(run_value("run", series([math.nan]), "best", LOWER).value)
    assert run_value("run", bad, "step:0", LOWER).last_step == -1


def test_a_mean_does_not_overflow() -> None:
    assert run_value("run", series([1.5e308, 1.5e308]), "mean:2", LOWER).value == pytest.approx(1.5e308)


@pytest.mark.parametrize(
    "text", ["", "first", "mean", "mean:0", "mean:-1", "mean:1.5", "step:", "step:x", "mean:9999999999", "LAST", "last\n"]
)
def test_other_values_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="last, best"):
        check_value(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("0", (0.0, False)), ("0.02", (0.02, False)), (".5", (0.5, False)), ("1e-3", (1e-3, False)), ("2%", (0.02, True)),
        (" 2 % ", (0.02, True)),
    ],
)  # fmt: skip
def test_margins(text: str, wanted: tuple[float, bool]) -> None:
    assert parse_margin(text) == pytest.approx(wanted)


@pytest.mark.parametrize("text", ["", "-1", "nan", "inf", "1e999", "2%%", "two", "1,5", "%"])
def test_other_margins_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="percent"):
        parse_margin(text)


def test_the_order_of_runs_does_not_matter() -> None:
    random = Random(5)
    mine, theirs = [random.gauss(0, 1) for _ in range(7)], [random.gauss(0, 1) for _ in range(6)]
    first = judge(mine, theirs, robust=True)
    second = judge(random.sample(mine, 7), random.sample(theirs, 6), robust=True)
    assert second.low == pytest.approx(first.low, rel=1e-12)
