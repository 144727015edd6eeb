"""Simulated jobs: their truth is consistent, and their frames are what the readers make of their files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from app.demo.simulated.job_files import write
from app.demo.simulated.job_records import recorded
from app.demo.simulated.jobs import simulate
from app.demo.simulated.programs import Fault, JobPlan, order_of
from parsers import open_run
from parsers.cluster_frames import JOB_FRAMES
from tests.amounts import long_after
from tests.simulations.job_frames import frames
from tests.simulations.jobs import draw, truth

SHAPES = {
    "meetings": JobPlan(dp=8, mode="meetings", collectives=5),
    "buckets": JobPlan(dp=4, tp=2, collectives=7, communication=0.3, unequal=0.15),
    "sharded": JobPlan(dp=8, mode="sharded", collectives=12, communication=0.3),
    "pipeline": JobPlan(dp=2, pp=4, micro=8, stages=(1.0, 1.0, 1.1, 1.2)),
    "interleaved": JobPlan(dp=2, tp=2, pp=2, micro=4, chunks=2, early=False),
}
FAULTS = [
    Fault("slow_rank", 1, 0.5), Fault("slow_replica", 1, 0.15), Fault("slow_link", 0, 0.5), Fault("late_host", 2, 0.3, since=3),
]  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_a_job_without_a_fault_is_its_clean_rerun(name: str) -> None:
    found = truth(SHAPES[name])
    np.testing.assert_array_equal(found.step_ns, found.clean_step_ns)
    assert found.lost_ns == 0.0
    assert (found.free_step_ns < found.step_ns).all()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault.kind))
@pytest.mark.parametrize("name", long_after(1, SHAPES))
def test_a_fault_never_makes_a_job_faster_and_changes_nothing_before_it(name: str, fault: Fault) -> None:
    plan = replace(SHAPES[name], fault=fault)
    found, job, clean = truth(plan), simulate(plan), simulate(SHAPES[name])
    np.testing.assert_array_equal(job.end[: fault.since], clean.end[: fault.since])
    assert (job.end >= clean.end).all()
    assert found.lost_ns >= 0.0
    if fault.kind != "slow_link":
        assert found.lost_ns > 0.0
    if fault.kind == "slow_link" and name in ("meetings", "sharded"):
        assert found.lost_ns > 0.0


def test_without_noise_a_job_of_meetings_lasts_as_long_as_its_slowest_rank_and_its_transfers() -> None:
    quiet = JobPlan(dp=8, mode="meetings", collectives=5, noise=0.0, transfer_noise=0.0, hiccups=0.0, gaps=0.0, data=0.0)
    found = truth(replace(quiet, fault=Fault("slow_rank", 3, 0.1)))
    launches = 2 * 8_000.0
    np.testing.assert_allclose(found.clean_step_ns, 100e6 * (1.02 + 0.1), atol=launches)
    np.testing.assert_allclose(found.step_ns, 100e6 * (1.02 * 1.1 + 0.1), atol=launches)
    np.testing.assert_allclose(found.free_step_ns, 100e6 * 1.02 * 1.1, atol=launches)


def test_without_noise_a_pipeline_has_the_bubble_of_1f1b() -> None:
    """(p - 1) / (m + p - 1) of a step, see Narayanan et al. (2021)."""
    quiet = JobPlan(
        dp=1, pp=4, micro=8, noise=0.0, transfer_noise=0.0, hiccups=0.0, gaps=0.0, data=0.0, computing_ns=1e9, collectives=1
    )
    free = simulate(quiet, transfers=0.0)
    assert free.step_ns.mean() == pytest.approx(1e9 * (11 / 8 + 0.02), rel=2e-3)
    interleaved = simulate(replace(quiet, chunks=2), transfers=0.0)
    assert interleaved.step_ns.mean() == pytest.approx(1e9 * (1 + 3 / 8 / 2 + 0.02), rel=5e-3)


def test_every_micro_batch_goes_once_forward_and_once_backward_through_each_chunk() -> None:
    for chunks in (1, 2, 3):
        plan = JobPlan(dp=1, pp=4, micro=8, chunks=chunks)
        for stage in range(4):
            found = order_of(plan, stage)
            wanted = {(kind, micro, chunk) for kind in ("forward", "backward") for micro in range(8) for chunk in range(chunks)}
            assert len(found) == len(wanted)
            assert set(found) == wanted


@pytest.mark.parametrize("name", long_after(2, SHAPES))
def test_all_ranks_of_an_operation_end_together_and_the_last_one_waits_for_nobody(name: str) -> None:
    job = simulate(SHAPES[name])
    rows = pd.DataFrame([(one.step, str(one.what.key), one.start, one.end, one.transfer) for one in job.operations])
    for _, own in rows.groupby([0, 1]):
        assert own[3].nunique() == 1
        assert (own[3] - own[2]).min() == pytest.approx(own[4].iloc[0])


@pytest.mark.parametrize("waits_recorded", [True, False])
@pytest.mark.parametrize("name", long_after(2, SHAPES))
def test_frames_are_those_that_are_read_from_the_files(tmp_path: Path, name: str, waits_recorded: bool) -> None:
    plan = replace(SHAPES[name], steps=3, waits_recorded=waits_recorded, batched=name == "interleaved")
    rows = recorded(simulate(replace(plan, fault=FAULTS[0])))
    write(tmp_path, rows, trace=True)
    (job,) = open_run(tmp_path).profile.jobs
    assert job.problems == ()
    made = frames(rows)
    assert made.keys() == JOB_FRAMES.keys()
    for one in ("groups", "collectives", "cluster_steps", "links", "device_times"):
        frame = JOB_FRAMES[one].check(made[one])
        assert_same(frame, job.frame(one), one)


ROUNDED = {"start_ns": 600.0, "end_ns": 600.0, "own_bubble_ns": 5000.0}
"""Begins in communication.json are float64 in us, hence off by up to 125 ns; computing and operations touch there."""


def assert_same(made: pd.DataFrame, read: pd.DataFrame, name: str) -> None:
    keys = [key for key in ("group", "rank", "step", "kind", "name", "target", "start_ns") if key in made and key in read]
    left, right = (_sorted(frame, keys) for frame in (made, read))
    assert len(left) == len(right), name
    for column in left.columns.drop("file"):
        if made[column].dtype == "category":
            assert left[column].tolist() == right[column].tolist(), f"{name}.{column}"
        else:
            bound = ROUNDED.get(column, 2.0)
            np.testing.assert_allclose(
                left[column].to_numpy(), right[column].to_numpy(), rtol=1e-6, atol=bound, err_msg=f"{name}.{column}"
            )


def _sorted(frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    texts = {column: frame[column].astype("str") for column in frame.columns if frame[column].dtype == "category"}
    return frame.assign(**texts).sort_values(keys, ignore_index=True)


def test_parts_of_a_step_add_up() -> None:
    steps = frames(recorded(simulate(SHAPES["pipeline"])))["cluster_steps"]
    np.testing.assert_allclose(steps["computing_ns"] + steps["exposed_ns"] + steps["free_ns"], steps["total_ns"])
    assert (steps[["computing_ns", "exposed_ns", "free_ns", "overlapped_ns", "preparing_ns"]] > -1e-3).all().all()


@pytest.mark.parametrize("kind", long_after(2, ["", "slow_rank", "slow_replica", "slow_link", "late_host"]))
def test_drawn_jobs_run(kind: str) -> None:
    for seed in range(6):
        plan = draw(np.random.default_rng(seed), fault=kind, steps=2)
        assert simulate(plan).end.shape == (2, plan.ranks)
        assert (plan.fault.kind if plan.fault else "") == kind


def test_a_longer_stage_costs_what_it_takes_longer_in_each_micro_batch() -> None:
    quiet = JobPlan(dp=1, pp=4, micro=8, noise=0.0, transfer_noise=0.0, hiccups=0.0, gaps=0.0, data=0.0, communication=0.0)
    found = truth(replace(quiet, fault=Fault("stage", 3, 0.6)))
    assert found.lost_ns == pytest.approx(0.6 * 100e6, rel=0.05)
