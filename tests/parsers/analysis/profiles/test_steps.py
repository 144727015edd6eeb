"""Breakdowns of steps against the csv module on real files, and by their properties on written ones."""

from __future__ import annotations

import csv
import math
import statistics
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from parsers import STEPS, open_run
from parsers.analysis import average, breakdowns, copies_and_fetching, drift, one_step, outliers, shares
from tests.amounts import examples
from tests.writers.step_traces import LEGACY, NEW, frame, legacy


def csv_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# Real files ----------------------------------------------------------------------------------------------------------


def test_a_legacy_trace_is_the_csv_file_and_its_average_the_last_row(real_data: Path) -> None:
    folder = real_data / "mindinsight_legacy/profiler"
    (found,) = breakdowns(open_run(folder).profile[".", 0].steps)
    expected = csv_rows(folder / "step_trace_raw_0_detail_time.csv")
    assert (found.form, found.parts) == ("legacy", ("interval", "forward_backward", "tail"))
    assert found.step.tolist() == list(range(1, 21))
    ticks = [[int(row[name]) for name in ("iteration_interval", "fp_and_bp", "tail")] for row in expected]
    assert (found.time_ns // 10).tolist() == ticks[:-1]
    assert (found.whole_ns // 10).tolist() == [int(row["total"]) for row in expected[:-1]]
    usual = average(found)
    assert usual is not None
    assert usual.written
    # 130.4561 ms in the last row: 9035360, 1709449 and 2300802 counts of 10 ns; percent = part / total
    assert [time / 10 for time in usual.time_ns] == [9035360, 1709449, 2300802]
    assert usual.whole_ns == 130_456_110
    assert [round(share * 100, 2) for share in usual.shares] == [69.26, 13.1, 17.64]
    assert round(usual.idle * 100, 2) == 69.26
    # the first step begins with its forward pass: the writer leaves it out of its average as we do
    assert found.judged.tolist() == [False] + [True] * 19
    own = found.time_ns[found.judged].mean(axis=0) / 10
    assert [round(time) for time in own] == ticks[-1]
    step = one_step(found, 1)
    assert round(step.shares[0], 6) == round(9037809 / 13052530, 6)


def test_an_average_that_does_not_add_up_is_computed_from_the_steps(real_data: Path) -> None:
    run = open_run(real_data / "mindinsight_legacy/run_2/normal_run")
    (found,) = breakdowns(run.profile["profiler", 1].steps)
    # its last row is 0,0,0,0,0,0,1243211,0,0
    assert found.written_ns is None
    usual = average(found)
    assert usual is not None
    assert (usual.written, usual.steps) == (False, 1)
    assert usual.time_ns == (0.0, 23_668_080.0, 40_970.0)
    assert usual.whole_ns == 23_709_050.0


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_averages_of_a_cluster(real_data: Path, rank: int) -> None:
    folder = real_data / "mindinsight_legacy/cluster_propose"
    last = csv_rows(folder / f"step_trace_raw_{rank}_detail_time.csv")[-1]
    (found,) = breakdowns(open_run(folder).profile[".", rank].steps)
    usual = average(found)
    # each number of the row is rounded to 10 ns by itself; the parts are the file's, the whole is their sum
    assert usual is not None
    assert abs(usual.whole_ns - int(last["total"]) * 10) <= 20
    assert usual.time_of("interval") == int(last["iteration_interval"]) * 10
    assert usual.time_of("tail") == int(last["tail"]) * 10


def test_new_files_add_up_with_preparing_before_them(real_data: Path) -> None:
    folder = real_data / "profiler_new/torch_npu_text_level2/rank0_ascend_pt"
    profile = next(iter(open_run(folder).profile.values()))
    (found,) = breakdowns(profile.steps)
    (row,) = csv_rows(folder / "ASCEND_PROFILER_OUTPUT/step_trace_time.csv")
    ns = {name: round(Fraction(row[name]) * 1000) for name in
          ("Preparing", "Computing", "Overlapped", "Communication(Not Overlapped)", "Free")}  # fmt: skip
    assert found.parts == ("preparing", "computing", "overlapped", "exposed", "free")
    assert found.time_ns[0].tolist() == [
        ns["Preparing"], ns["Computing"] - ns["Overlapped"], ns["Overlapped"], ns["Communication(Not Overlapped)"], ns["Free"],
    ]  # fmt: skip
    # 17,483.75 + 8,868.24 + 95,962.016 + 25,032.619 us
    assert found.whole_ns.tolist() == [147_346_625]
    usual = average(found)
    assert usual is not None
    assert round(usual.idle, 4) == round((25_032.619 + 17_483.75) / 147_346.625, 4)


def test_a_file_without_preparing_has_no_such_part(real_data: Path) -> None:
    folder = real_data / "profiler_new/msinsight_server/test_rank_1"
    profile = next(iter(open_run(folder).profile.values()))
    (found,) = breakdowns(profile.steps)
    assert found.parts == ("computing", "overlapped", "exposed", "free")
    assert found.whole_ns.tolist() == [75_422_220 + 151_303_540 + 67_860_800]


def test_every_profile_with_steps_can_be_taken_apart(real_data: Path) -> None:
    seen = 0
    for folder in [*(real_data / "profiler_new").rglob("*_ascend_*"), *(real_data / "mindinsight_legacy").iterdir()]:
        for profile in open_run(folder).profile.values() if folder.is_dir() else ():
            for found in breakdowns(profile.steps):
                usual = average(found)
                assert usual is not None
                assert math.isclose(sum(usual.shares), 1.0)
                seen += 1
    assert seen >= 10


# Properties ------------------------------------------------------------------------------------------------------------

times = st.floats(0, 1e15, allow_nan=False) | st.integers(0, 10**15).map(float)
wild = times | st.sampled_from([math.nan, math.inf, -math.inf, -1.0, -0.0, 1e300, 2.0**62])


@given(st.lists(st.tuples(wild, wild, wild, wild), min_size=1, max_size=20))
@example([(0.0, 0.0, 0.0, 0.0), (math.nan, math.nan, math.nan, 0.0), (0.0, 0.0, 0.0, 0.0)])
@settings(max_examples=examples(150), deadline=None)
def test_parts_of_a_legacy_step_add_up_to_the_last_nanosecond(rows: list[tuple[float, float, float, float]]) -> None:
    made = frame([
        {"step": at + 1, **dict(zip(LEGACY, row[:3], strict=True)), "total_ns": row[3]} for at, row in enumerate(rows)
    ])  # fmt: skip
    for found in breakdowns(made):
        assert (found.time_ns >= 0).all()
        for at, row in enumerate(found.time_ns.tolist()):
            assert sum(row) == int(found.whole_ns[at])
        for number, (interval, forward, tail, total) in enumerate(rows, 1):
            usable = all(0 <= time < 2.0**62 / 4 for time in (interval, forward, tail))
            at = found.place(number)  # a row without any part is no step
            assert (at is None) == all(map(math.isnan, (interval, forward, tail)))
            if at is not None and usable and 0 <= total < 2.0**62 and found.sound[at]:
                assert int(found.whole_ns[at]) == round(total)


@given(st.lists(st.tuples(times, times, times, times, times), min_size=1, max_size=20))
@settings(max_examples=examples(150), deadline=None)
def test_parts_of_a_new_step_add_up_to_the_last_nanosecond(rows: list[tuple[float, ...]]) -> None:
    made = frame([{"step": at, **dict(zip(NEW, row, strict=True))} for at, row in enumerate(rows)])
    (found,) = breakdowns(made)
    for at, (preparing, computing, overlapped, exposed, free) in enumerate(rows):
        parts = dict(zip(found.parts, found.time_ns[at].tolist(), strict=True))
        assert sum(parts.values()) == int(found.whole_ns[at])
        assert bool(found.sound[at]) == (round(computing) >= round(overlapped))
        if found.sound[at]:
            assert parts["computing"] + parts["overlapped"] == round(computing)
            assert int(found.whole_ns[at]) == round(preparing) + round(computing) + round(exposed) + round(free)


@given(st.lists(st.tuples(times, times, times), min_size=2, max_size=30), st.randoms(use_true_random=False))
@settings(max_examples=examples(100), deadline=None)
def test_the_order_of_rows_changes_no_average_and_no_outlier(rows: list[tuple[float, float, float]], random: object) -> None:
    made = [legacy(at + 1, round(a) + 1.0, round(b), round(c)) for at, (a, b, c) in enumerate(rows)]
    mixed = list(made)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    (one,), (other,) = breakdowns(frame(made)), breakdowns(frame(mixed))
    first, second = average(one), average(other)
    assert first is not None
    assert second is not None
    np.testing.assert_allclose(first.time_ns, second.time_ns, rtol=1e-12)
    found, again = outliers(one), outliers(other)
    assert dict(zip(one.step[found.row].tolist(), found.part, strict=True)) == dict(
        zip(other.step[again.row].tolist(), again.part, strict=True)
    )


# Rules ---------------------------------------------------------------------------------------------------------------


def test_a_row_that_cannot_be_told_is_kept_and_left_out_of_the_average() -> None:
    made = frame([
        legacy(1, 5.0, 10.0, 5.0), legacy(2, math.nan, 10.0, 5.0), legacy(3, 5.0, -10.0, 5.0), legacy(4, 5.0, 30.0, 5.0),
        legacy(5, 50.0, 30.0, 5.0, total_ns=60.0),
    ])  # fmt: skip
    (found,) = breakdowns(made)
    assert found.sound.tolist() == [True, False, False, True, False]
    usual = average(found)
    assert usual is not None
    assert (usual.steps, usual.time_ns) == (2, (5.0, 20.0, 5.0))
    assert found.step.tolist() == [1, 2, 3, 4, 5]


def test_time_in_no_part_is_told() -> None:
    (found,) = breakdowns(frame([legacy(1, 5.0, 10.0, 5.0, total_ns=23.0), legacy(2, 5.0, 10.0, 5.0)]))
    assert found.parts == ("interval", "forward_backward", "tail", "other")
    assert found.time_ns.tolist() == [[5, 10, 5, 3], [5, 10, 5, 0]]


def test_inference_has_a_forward_pass_only() -> None:
    (found,) = breakdowns(frame([legacy(1, 0.0, 10.0, math.nan, total_ns=10.0), legacy(2, 2.0, 10.0, math.nan, total_ns=12.0)]))
    assert (found.parts, found.time_ns.tolist()) == (("interval", "forward"), [[0, 10], [2, 10]])


def test_nothing_and_zeros() -> None:
    assert breakdowns(STEPS.empty()) == ()
    (found,) = breakdowns(frame([legacy(1, 0.0, 0.0, 0.0)]))
    usual = average(found)
    assert usual is not None
    assert usual.shares == (0.0, 0.0, 0.0)
    assert np.isnan(shares(found)).all()
    assert not outliers(found).row.size
    only = frame([legacy(-1, 1.0, 2.0, 3.0, kind="average")])
    (found,) = breakdowns(only)
    usual = average(found)
    assert usual is not None
    assert (len(found), usual.time_ns) == (0, (1.0, 2.0, 3.0))
    (found,) = breakdowns(frame([legacy(1, math.nan, -2.0, 3.0)]))
    assert average(found) is None


def test_both_forms_and_several_devices_stand_apart() -> None:
    new = dict.fromkeys(NEW, 2.0)
    made = frame([legacy(1, 1.0, 1.0, 1.0), {"step": 1, "device": 0, **new}, {"step": 2, "device": 0, **new},
                  {"step": 1, "device": 7, **new}])  # fmt: skip
    found = breakdowns(made)
    assert {(one.form, one.device, len(one)) for one in found} == {("legacy", -1, 1), ("new", 0, 2), ("new", 7, 1)}
    assert len(found[0]) == 2


def test_outliers_by_the_rule_of_iglewicz_and_hoaglin() -> None:
    whole = [100.0, 101.0, 99.0, 102.0, 98.0, 100.0, 103.0, 180.0, 40.0, 100.0]
    (found,) = breakdowns(frame([legacy(at + 1, 10.0, time - 20.0, 10.0) for at, time in enumerate(whole)]))
    median = statistics.median(whole)
    mad = statistics.median(abs(time - median) for time in whole)
    score = [0.6745 * (time - median) / mad for time in whole]
    out = outliers(found)
    assert out.row.tolist() == [at for at, value in enumerate(score) if abs(value) > 3.5] == [7, 8]
    np.testing.assert_allclose(out.score, [score[7], score[8]])
    assert (out.part, out.change_ns.tolist(), out.median_ns) == (("forward_backward",) * 2, [80.0, -60.0], 100.0)


def test_outliers_where_most_steps_are_equal_and_where_differences_do_not_matter() -> None:
    (found,) = breakdowns(frame([legacy(at + 1, 10.0, 80.0 if at != 12 else 200.0, 10.0) for at in range(20)]))
    assert outliers(found).row.tolist() == [12]
    close = [1000.0 + (at % 3) * 0.001 for at in range(30)] + [1010.0]
    (found,) = breakdowns(frame([legacy(at + 1, 10.0, time, 0.0) for at, time in enumerate(close)]))
    assert not outliers(found).row.size
    (found,) = breakdowns(frame([legacy(at + 1, 10.0, time, 0.0) for at, time in enumerate((1.0, 1.0, 1.0, 9.0))]))
    assert not outliers(found).row.size


def test_drift_is_of_medians() -> None:
    assert drift([10.0, 10.0, 11.0, 10.0, 12.0, 12.0]) == pytest.approx(0.2)
    assert drift([10.0] * 9 + [1e9]) == 0.0
    assert math.isnan(drift([1.0] * 5))


def test_ten_thousand_steps_are_taken_apart() -> None:
    random = np.random.default_rng(7)
    made = frame([legacy(at + 1, *random.integers(1, 10**7, 3).astype(float).tolist()) for at in range(10_000)])
    (found,) = breakdowns(made)
    assert len(found) == 10_000
    assert outliers(found).row.size < 1_000


def test_copies_and_fetching_are_means_of_the_whole_steps() -> None:
    parts = {"computing_ns": 3e6, "overlapped_ns": 0.0, "exposed_ns": 1e6, "free_ns": 6e6}
    rows = [
        {"step": 4, **parts, "copies_ns": 1e6, "fetching_ns": 2e6},
        {"step": 5, **parts, "copies_ns": 2e6, "fetching_ns": 6e6},
        {"step": 6, "kind": "cut", **parts, "copies_ns": 9e6, "fetching_ns": 9e6},
    ]
    (found,) = breakdowns(frame(rows))
    assert found.step.tolist() == [4, 5]
    assert found.cut == (6,)
    assert copies_and_fetching(found) == (1.5e6, 4e6)
    assert copies_and_fetching(found, 1) == (2e6, 6e6)


def test_a_step_that_was_cut_before_it_launched_anything_is_of_the_device_that_ran() -> None:
    parts = {"computing_ns": 3e6, "overlapped_ns": 0.0, "exposed_ns": 1e6, "free_ns": 6e6}
    rows = [{"step": 1, "device": 2, **parts}, {"step": 2, "device": -1, "kind": "cut", **dict.fromkeys(parts, 0.0)}]
    (found,) = breakdowns(frame(rows))
    assert (found.device, found.step.tolist(), found.cut) == (2, [1], (2,))
    assert breakdowns(frame(rows[1:])) == ()


def test_copies_and_fetching_that_no_file_has_are_unknown() -> None:
    (found,) = breakdowns(frame([legacy(1, 2e6, 6e6, 2e6), legacy(2, 2e6, 6e6, 2e6)]))
    assert found.cut == ()
    assert all(math.isnan(time) for time in copies_and_fetching(found))
