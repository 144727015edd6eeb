"""Insights on seeded clean curves and seeded faults, on hand-made examples, and on whatever else a file may hold."""

from __future__ import annotations

import collections
import math
import os
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import INSIGHTS, insights, open_run
from parsers.analysis.curves.insights import LEVELS, RULES, insights_of, insights_of_run, stalled
from tests.amounts import long_after, some_or_every
from tests.parsers.analysis.curves.insights import curves, troubles
from tests.parsers.analysis.curves.insights.curves import CLEAN, FAULTS, clean, correlated, fault, series

DATA = os.environ.get("MINDSCOPE_TEST_DATA", "")
# Seeds that nothing was tuned on.
CLEAN_SEED, FAULT_SEED = 6_200_000, 9_400_000


def found(tag, one, now=None):
    return [insight for insight in insights_of_run({tag: one}, now) if insight.score >= LEVELS["normal"]]


def kinds(tag, value, step=None, wall=None):
    step = np.arange(len(value)) if step is None else step
    wall = 1.7e9 + np.arange(len(value)) if wall is None else wall
    return [one.kind for one in found(tag, series(step, wall, value))]


# Rates ----------------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("part", long_after(1, range(4)))
def test_of_50_clean_curves_of_100000_steps_at_most_one_has_two_marks(part):
    families = list(CLEAN)
    told = collections.defaultdict(list)
    for number in range(part * 50, part * 50 + 50):
        curve = clean(families[number % len(families)], CLEAN_SEED + number)
        told[curve.family].append(found(curve.tag, curve.series, curve.now))
    most = {family: max(map(len, marks)) for family, marks in told.items()}
    assert max(most.values()) <= 2, most
    assert sum(len(marks) > 1 for family in told.values() for marks in family) <= 1, most
    # Nothing is wrong with any of them.
    assert not any(mark.severity == 2 for marks in told.values() for every in marks for mark in every)


@pytest.mark.long
@some_or_every
def test_of_500_faults_at_least_95_percent_are_found_where_they_begin(every):
    rates = {}
    for kind in FAULTS:
        seen = [_is_found(fault(kind, FAULT_SEED + number)) for number in range(72 if every else 12)]
        rates[kind] = sum(seen) / len(seen)
    assert np.mean(list(rates.values())) >= 0.95, rates
    # A plateau begins where nothing happens, and a spike may fall on noise of the other sign.
    assert min(rates.values()) >= 0.85, rates


def _is_found(one):
    step = one.curve.series.step
    near = max(10, 0.01 * (step[-1] - step[0]))
    marks = found(one.curve.tag, one.curve.series, one.curve.now)
    return any(mark.kind == one.kind and abs(mark.step - one.step) <= near for mark in marks)


# Fresh ones, and none that these rules were written with.
TROUBLE_SEED, HARMLESS_SEED = 51_300_000, 73_100_000


@some_or_every
@pytest.mark.parametrize("kind", troubles.TROUBLES)
def test_blow_ups_frozen_values_and_shifts_are_found_where_they_begin(kind, every):
    named = {"blow-up": {"divergence"}, "frozen": {"frozen"}, "shift": {"shift", "divergence"}}[kind]
    seen = []
    for number in range(100 if every else 20):
        one = troubles.TROUBLES[kind](TROUBLE_SEED + number)
        marks = found(one.tag, one.series)
        seen.append(any(mark.kind in named and one.earliest <= mark.step <= one.latest for mark in marks))
    # A shift of three deviations is lost where the noise of a short curve is correlated.
    assert np.mean(seen) >= (0.9 if kind == "shift" else 0.95)


@pytest.mark.long
def test_troubles_are_found_in_95_of_100():
    seen = []
    for kind, make in troubles.TROUBLES.items():
        named = {"blow-up": {"divergence"}, "frozen": {"frozen"}, "shift": {"shift", "divergence"}}[kind]
        for number in range(100):
            one = make(TROUBLE_SEED + 1000 + number)
            marks = found(one.tag, one.series)
            seen.append(any(mark.kind in named and one.earliest <= mark.step <= one.latest for mark in marks))
    assert np.mean(seen) >= 0.95


@some_or_every
@pytest.mark.parametrize("family", troubles.HARMLESS)
def test_no_clean_curve_of_100000_steps_has_more_than_one_mark(family, every):
    for number in range(12 if every else 2):
        tag, one = troubles.harmless(family, HARMLESS_SEED + number)
        assert len(found(tag, one)) <= 1, (number, found(tag, one))


@pytest.mark.long
def test_random_walks_named_reward_do_not_diverge():
    for number in range(30):
        tag, one = troubles.harmless("walk", HARMLESS_SEED + 500 + number)
        marks = [mark.kind for mark in found(tag, one)]
        assert tag == "reward"
        assert len(marks) <= 1
        assert not {"divergence", "shift"} & set(marks), number


def test_heavy_tailed_noise_hides_a_spike_that_such_noise_makes_itself():
    # 100,000 values of Student's t reach 15 deviations: a mark at each of 8 would be nonsense.
    random = np.random.default_rng(5)
    value = 2 + 0.05 * curves.heavy(random, 100_000)
    assert kinds("loss", value).count("spike") <= 1
    value[40_000:40_003] += 0.05 * 60
    told = [one for one in found("loss", series(np.arange(100_000), 1.7e9 + np.arange(100_000), value)) if one.kind == "spike"]
    assert any(40_000 <= one.step <= 40_002 for one in told)


def test_all_rules_take_little_time_for_a_long_curve():
    curve = clean("exponential", 4)
    took = []
    for _ in range(5):
        began = time.thread_time()
        insights_of_run({curve.tag: curve.series}, curve.now)
        took.append(time.thread_time() - began)
    # Measured as 25 ms; a busy machine takes twice as long for the same work.
    assert min(took) < 0.15


# What is one and what is none -----------------------------------------------------------------------------------------


def falling(n, seed=0, level=0.02):
    return 1 + 3 * np.exp(-np.arange(n) / (0.5 * n)) + level * np.random.default_rng(seed).normal(size=n)


def test_an_empty_run_has_none():
    assert INSIGHTS.check(insights(open_run_of({}))).empty
    assert insights_of("loss", series([], [], [])) == []


@pytest.mark.parametrize("n", [1, 2, 19])
def test_few_points_tell_of_what_is_not_finite_and_no_more(n):
    value = 1.0 / np.arange(1, n + 1)
    value[-1] = 1e9
    assert kinds("some_value", value) == []
    value[-1] = np.inf
    assert kinds("some_value", value) == ["non_finite"]


def test_what_is_not_finite_is_one_mark_that_begins_at_the_first():
    value = falling(200)
    value[[50, 51, 120]] = np.nan, np.inf, -np.inf
    (mark,) = found("loss", series(np.arange(200) * 10, 1.7e9 + np.arange(200), value))
    assert (mark.kind, mark.step, mark.last_step, mark.points, mark.severity) == ("non_finite", 500, 1200, 3, 2)
    assert math.isnan(mark.value)
    assert mark.usual == value[49]


@pytest.mark.parametrize("width", [1, 3, 10, 40])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_spike_is_told_with_its_place_and_height(width, sign):
    value = falling(5000)
    value[3000 : 3000 + width] += sign * 1.0
    (mark,) = [one for one in found("loss", series(np.arange(5000), 1.7e9 + np.arange(5000), value)) if one.kind == "spike"]
    assert 2990 <= mark.step <= 3000 <= mark.last_step <= 3000 + width + 8
    assert mark.value - mark.usual == pytest.approx(sign * 1.0, abs=0.2)


def test_a_step_down_or_a_restarted_rate_is_no_spike_and_no_divergence():
    value = falling(5000)
    assert kinds("loss", np.where(np.arange(5000) < 2500, value, value - 0.8)) == []
    for name in ("step decay", "warm restarts", "restarted rate", "stepped rate", "constant rate", "epoch", "tokens"):
        curve = clean(name, 77, 8000)
        assert not {"spike", "divergence"} & {one.kind for one in found(curve.tag, curve.series)}, name


def test_a_loss_that_goes_back_up_for_good_diverges_and_an_accuracy_that_falls():
    n = 4000
    up = falling(n) + np.where(np.arange(n) > 3000, 0.01 * (np.arange(n) - 3000), 0)
    (mark,) = found("loss", series(np.arange(n), 1.7e9 + np.arange(n), up))
    assert mark.kind == "divergence"
    assert mark.severity == 2
    assert abs(mark.step - 3000) <= 40
    assert kinds("accuracy", 1 - up / 20) == ["divergence"]
    # A rate that is warmed up and taken down again may do so, and what only ever grows is a counter.
    assert kinds("lr", up[::-1].copy()) == []
    assert kinds("gradient_count", np.arange(n) ** 2.0) == []


def test_a_plateau_is_told_of_what_should_become_better_only():
    n = 4000
    t = np.minimum(np.arange(n), 1800)
    value = 4 - t / 1000 + 0.02 * np.random.default_rng(1).normal(size=n)
    (mark,) = found("loss", series(np.arange(n), 1.7e9 + np.arange(n), value))
    assert mark.kind == "plateau"
    assert abs(mark.step - 1800) <= 40
    assert mark.measured == pytest.approx(0.55, abs=0.02)
    assert kinds("some_weight", value) == []
    assert kinds("some_weight", np.full(n, 0.5)) == []
    # Where there is nothing better the run has arrived.
    assert kinds("loss", value - value.min()) == []


def test_missing_steps_are_told_once_and_uneven_steps_are_not():
    step = np.arange(1000) * 5
    step[400:] += 300
    (mark,) = found("loss", series(step, 1.7e9 + step, falling(1000)))
    assert (mark.kind, mark.step, mark.last_step, mark.value, mark.usual) == ("gap", 1995, 2300, 305, 5)
    uneven = np.cumsum(np.random.default_rng(3).geometric(0.1, 1000))
    assert kinds("loss", falling(1000), uneven, 1.7e9 + uneven) == []
    doubling = 2 ** np.arange(40)
    assert kinds("loss", falling(40), doubling, 1.7e9 + doubling) == []
    changed = np.concatenate((np.arange(500), 500 + np.arange(500) * 100))
    assert kinds("loss", falling(1000), changed, 1.7e9 + changed) == []


def test_a_restart_is_no_fault_and_of_what_was_written_twice_the_last_counts():
    step = np.concatenate((np.arange(600), np.arange(400, 1000)))
    value = np.concatenate((falling(1000)[:600], falling(1000, 1)[400:]))
    assert kinds("loss", value, step, 1.7e9 + np.arange(1200) * 2.0) == []
    # The first session jumped, diverged and ended in NaN; the second did not.
    value[430:440] += 40.0
    value[500:590] += np.arange(90) * 1.0
    value[590:600] = np.nan
    wall = 1.7e9 + np.arange(1200) * 2.0
    wall[450:600] += 3.0 * np.arange(150)
    wall[600:] += 3600.0
    assert kinds("loss", value, step, wall) == []
    # Faults before the restart point, and of the second session, are at their places among all values.
    value[300] += 40.0
    value[900] += 40.0
    marks = found("loss", series(step, wall, value))
    assert [(one.kind, one.place, one.step) for one in marks] == [("spike", 300, 300), ("spike", 900, 700)]


def test_steps_that_take_longer_are_told_and_pauses_are_not():
    n = 3000
    random = np.random.default_rng(2)
    each = np.where(np.arange(n) < 2000, 1.0, 1.8) * np.exp(0.1 * random.normal(size=n))
    each[::250] += 300
    (mark,) = found("loss", series(np.arange(n), 1.7e9 + np.cumsum(each), falling(n)))
    assert mark.kind == "slower"
    assert abs(mark.step - 2000) <= 10
    assert mark.value / mark.usual == pytest.approx(1.8, rel=0.05)
    each[2000:] /= 1.8
    assert kinds("loss", falling(n), wall=1.7e9 + np.cumsum(each)) == []
    # Faster is no fault, and neither is a clock of whole seconds.
    each[2000:] /= 3
    assert kinds("loss", falling(n), wall=1.7e9 + np.cumsum(each)) == []
    assert kinds("loss", falling(n), wall=1.7e9 + np.floor(np.arange(n) * 0.7)) == []


def test_a_run_stands_still_between_many_intervals_and_hours():
    one = series(np.arange(100), 1.7e9 + np.arange(100) * 2.0, falling(100))
    end = float(one.wall_time[-1])
    assert stalled({"loss": one}, end + 30) is None
    mark = stalled({"loss": one}, end + 3600)
    assert (mark.kind, mark.step, mark.value) == ("stall", 99, 3600)
    assert stalled({"loss": one}, end + 2 * 86_400) is None
    # Another scalar goes on: the run does not stand still.
    other = series(np.arange(10), end + 3500 + np.arange(10), falling(10))
    assert stalled({"loss": one, "eval": other}, end + 3600) is None
    assert stalled({}, end) is None


def test_sensitivity_is_a_matter_of_the_score():
    value = falling(5000)
    value[2500] += 0.02 * 7.0
    run = open_run_of({"loss": series(np.arange(5000), 1.7e9 + np.arange(5000), value)})
    by_level = {level: len(insights(run, sensitivity=level)) for level in LEVELS}
    assert by_level["low"] <= by_level["normal"] <= by_level["high"]
    assert by_level["high"] == 1
    assert by_level["low"] == 0
    with pytest.raises(ValueError, match="off, low, normal, high"):
        insights(run, sensitivity="hihg")


def test_each_rule_has_a_sensitivity_of_its_own():
    value = falling(5000)
    value[2500] += 0.02 * 7.0
    value[4000:] = np.nan
    run = open_run_of({"loss": series(np.arange(5000), 1.7e9 + np.arange(5000), value)})
    assert insights(run, sensitivity={"spike": "high"})["kind"].tolist() == ["non_finite", "spike"]
    assert insights(run, sensitivity={"spike": "high", "non_finite": "off"})["kind"].tolist() == ["spike"]
    assert insights(run, sensitivity={"spike": "low"})["kind"].tolist() == ["non_finite"]
    assert insights(run, sensitivity="off").empty
    with pytest.raises(ValueError, match=r"expected kinds among non_finite, .*'spikes'"):
        insights(run, sensitivity={"spikes": "low"})


def test_an_exponential_is_marked_at_its_onset_however_far_it_goes():
    n = 20_000
    for last in (3.0, 1e9, 1e30):
        grown = 0.02 * np.expm1(np.maximum(np.arange(n) - 12_000, 0) * np.log(last / 0.02) / 8000)
        value = falling(n) + grown
        (mark,) = [one for one in found("loss", series(np.arange(n), 1.7e9 + np.arange(n), value)) if one.kind == "divergence"]
        trend = falling(n, level=0.0)
        half = int((trend + grown >= (trend[12_000] + trend[0]) / 2)[12_000:].argmax()) + 12_000
        assert 12_000 - 0.01 * n <= mark.step <= half, last


def test_a_frozen_value_is_told_with_its_length_and_schedules_and_bounds_are_not():
    n = 3000
    value = falling(n)
    value[1000:1400] = value[1000]
    (mark,) = found("loss", series(np.arange(n), 1.7e9 + np.arange(n), value))
    assert (mark.kind, mark.step, mark.last_step, mark.points, mark.value) == ("frozen", 1000, 1399, 400, value[1000])
    assert mark.limit == 30
    # Warmed up and then constant; at the best there is; written five times each.
    assert kinds("lr", np.minimum(np.arange(n) / 500, 1.0) * 3e-4) == []
    assert "frozen" not in kinds("accuracy", np.minimum(np.random.default_rng(0).normal(np.linspace(0.5, 1.5, n), 0.1), 1.0))
    assert kinds("loss", np.repeat(falling(600), 5)) == []


def test_a_lasting_shift_is_told_with_both_levels_and_a_bump_or_warm_restarts_are_not():
    n = 5000
    t = np.arange(n)
    noise = 0.02 * np.random.default_rng(4).normal(size=n)
    (mark,) = found("loss", series(t, 1.7e9 + t, 1 + noise + 0.1 * (t >= 3000)))
    assert mark.kind in ("shift", "divergence")
    (mark,) = found("grad_norm", series(t, 1.7e9 + t, 1 + noise - 0.1 * (t >= 3000)))
    assert mark.kind == "shift"
    assert abs(mark.step - 3000) <= 3
    assert (mark.usual, mark.value) == (pytest.approx(1.0, abs=0.02), pytest.approx(0.9, abs=0.02))
    assert mark.measured == pytest.approx(5, abs=1)
    # Better is no fault, and what comes back soon does not last.
    assert "shift" not in kinds("loss", 2 + noise - 0.1 * (t >= 3000))
    assert "shift" not in kinds("grad_norm", 1 + noise + 0.1 * ((t >= 3000) & (t < 3100)))
    phase = t * 5 / n % 1
    assert "shift" not in kinds("loss", 1 + noise + 0.2 * (1 + np.cos(np.pi * phase)))


@pytest.mark.parametrize("n", [60, 80, 100, 150, 300])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
def test_a_shift_of_a_short_curve_is_told_once(n, share):
    t = np.arange(n)
    value = 1 + 0.02 * np.random.default_rng(n).normal(size=n) + 0.3 * (t >= int(share * n))
    told = [one for one in found("grad_norm", series(t, 1.7e9 + t, value)) if one.kind == "shift"]
    assert len(told) <= 1
    assert n < 300 or abs(told[0].step - int(share * n)) <= 3


def test_a_divergence_too_small_for_a_mark_does_not_hide_a_shift():
    t = np.arange(4000)
    value = 1 + np.exp(-t / 400) + 0.02 * np.random.default_rng(8).normal(size=4000) + 0.46 * (t >= 2500)
    marks = found("loss", series(t, 1.7e9 + t, value))
    (shift,) = [one for one in marks if one.kind == "shift"]
    assert abs(shift.step - 2500) <= 3
    assert "divergence" in [one.kind for one in insights_of("loss", series(t, 1.7e9 + t, value))]


def test_values_frozen_but_for_a_trace_of_noise_are_told_and_a_noise_that_shrinks_is_not():
    n = 3000
    t = np.arange(n)
    random = np.random.default_rng(6)
    value = 1 + 0.02 * random.normal(size=n)
    value[1000:1500] = value[1000] + 1e-5 * random.normal(size=500)
    (mark,) = found("grad_norm", series(t, 1.7e9 + t, value))
    assert (mark.kind, mark.step) == ("frozen", 1000)
    assert abs(mark.last_step - 1499) <= 1
    shrinks = np.exp(-10 * t / n) * np.exp(0.2 * random.normal(size=n))
    assert "frozen" not in kinds("loss", shrinks)
    # All gradients vanish; of a loss 0 is the best there is.
    dead = np.where(t < 2000, np.abs(value), 0.0)
    assert "frozen" in kinds("grad_norm", dead)
    assert "frozen" not in kinds("loss", dead)


@pytest.mark.parametrize("end", ["nan", "stopped", "made up for"])
def test_a_blow_up_is_marked_at_its_onset_however_it_ends(end):
    n, at = 20_000, 12_000
    t = np.arange(n)
    grown = np.minimum(0.01 * np.expm1(np.clip((t - at) / 20, 0, 40)), 50.0)
    if end == "made up for":
        grown[at + 400 :] *= np.exp(-(t[at + 400 :] - at - 400) / 400)
    value = falling(n) + grown
    if end == "nan":
        value[at + 171 :] = np.nan
    value = value[: at + 180] if end == "stopped" else value
    marks = found("loss", series(t[: len(value)], 1.7e9 + t[: len(value)], value))
    half = at + int((grown >= 0.5 * 2.1).argmax())
    (mark,) = [one for one in marks if one.kind in ("divergence", "spike")]
    assert mark.kind == ("spike" if end == "made up for" else "divergence")
    assert at - 0.01 * n <= mark.step <= half


class open_run_of:
    """A run of series at hand."""

    def __init__(self, every):
        self.every = every

    def tags(self, kind="scalar"):
        return tuple(self.every)

    def series(self, tag):
        return self.every[tag]


# Whatever a file may hold ---------------------------------------------------------------------------------------------

_NUMBERS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True, width=32), st.sampled_from([0.0, 1.0, -1e38, 3e38, 1e-45, math.nan])
)
_TIMES = st.one_of(st.floats(1.6e9, 1.8e9), st.sampled_from([0.0, -1.0, math.nan, math.inf, 1e300]))


@given(
    values=st.lists(_NUMBERS, max_size=40), repeat=st.integers(1, 30), seed=st.integers(0, 2**16),
    times=st.lists(_TIMES, min_size=1, max_size=5), tag=st.sampled_from(["loss", "accuracy", "lr", ""]),
)  # fmt: skip
def test_any_series_gives_insights_that_lie_in_it(values, repeat, seed, times, tag):
    random = np.random.default_rng(seed)
    value = np.array(values * repeat, float)
    n = len(value)
    step = np.cumsum(random.choice([-5, 0, 1, 1, 1, 2, 1 << 40], n)) if n else np.empty(0)
    wall = np.resize(np.array(times), n) + np.arange(n)
    one = series(step, wall, value)
    marks = insights_of_run({tag: one}, 1.75e9)
    assert repr(marks) == repr(insights_of_run({tag: one}, 1.75e9))
    for mark in marks:
        assert 0 <= mark.place <= mark.last_place < n
        assert (mark.step, mark.last_step) == (one.step[mark.place], one.step[mark.last_place])
        assert mark.kind in RULES
        assert mark.score >= LEVELS["high"]
    # Of what was written again, the last value of a step or of a later, smaller one counts.
    ends = n > 0 and not (step == step[0]).all()
    bad = np.array([at for at in np.flatnonzero(~np.isfinite(value)) if not ends or (step[at + 1 :] > step[at]).all()], int)
    assert [mark.place for mark in marks if mark.kind == "non_finite"] == bad[:1].tolist()
    INSIGHTS.check(insights(open_run_of({tag: one}), now=1.75e9))


@given(seed=st.integers(0, 2**16), shift=st.floats(-100, 100), scale=st.floats(0.01, 1000))
def test_spikes_do_not_depend_on_the_unit_of_the_curve(seed, shift, scale):
    random = np.random.default_rng(seed)
    value = correlated(random, 2000, 0.5)
    value[700:702] += 15
    step = np.arange(2000)
    plain, moved = (insights_of("x", series(step, 1.7e9 + step, v)) for v in (value, shift + scale * value))
    assert [(one.kind, one.place) for one in plain] == [(one.kind, one.place) for one in moved]


@pytest.mark.long
def test_a_spike_in_millions_of_points_is_found_in_bounded_memory():
    import tracemalloc

    n = 3_000_000
    value = np.random.default_rng(0).normal(size=n)
    value[1_234_567] += 12
    one = series(np.arange(n), 1.7e9 + np.arange(n), value)
    tracemalloc.start()
    marks = insights_of("x", one)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert any(mark.place == 1_234_567 for mark in marks)
    # At most what a handful of its columns take, and one part.
    assert peak < 6 * 8 * n + 120e6


@pytest.mark.skipif(not DATA, reason="needs the real runs")
def test_real_runs_tell_what_happened_to_them():
    told = {name: set(map(tuple, insights(open_run(f"{DATA}/summary/{name}"))[["tag", "kind"]].to_numpy()))
            for name in ("lenet_diverges_nan", "nan_inf", "lenet_adam_lr0.001_b16", "lenet_defaults")}  # fmt: skip
    assert ("loss", "non_finite") in told["lenet_diverges_nan"]
    assert {("all_nan", "non_finite"), ("loss", "non_finite")} <= told["nan_inf"]
    assert told["lenet_adam_lr0.001_b16"] == told["lenet_defaults"] == set()
