"""Bubbles of pipelines: how long they are, and that they are named only where there is one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from parsers import open_run
from parsers.analysis.jobs.bubble import at_most, bubbles, exact, in_theory
from parsers.cluster_frames import CLUSTER_STEPS
from parsers.profiler.frame_parts import frame_of
from tests.amounts import some_or_every


def intervals(*pairs: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([pair[0] for pair in pairs], np.int64), np.array([pair[1] for pair in pairs], np.int64)


def test_nothing_is_no_bubble() -> None:
    assert exact(intervals(), intervals()) == 0
    assert exact(intervals(), intervals((0, 5))) == 0
    assert bubbles(CLUSTER_STEPS.empty()) == []


def test_the_time_of_p2p_without_computing() -> None:
    p2p = intervals((0, 10), (5, 20), (40, 30), (50, 60))
    assert exact(p2p, intervals()) == 30
    assert exact(p2p, intervals((-5, 3), (18, 55))) == 15 + 5
    assert exact(p2p, intervals((-5, 100))) == 0


def test_it_is_at_most_what_is_exposed() -> None:
    assert at_most(np.array([5.0, 5.0, np.nan]), np.array([3.0, 8.0, 1.0]))[:2].tolist() == [3.0, 5.0]


def test_one_f_one_b_in_theory() -> None:
    assert in_theory(4, 8) == pytest.approx(3 / 11)
    assert in_theory(4, 8, 2) == pytest.approx(0.158, abs=5e-4)
    assert (in_theory(1, 8), in_theory(4, 0)) == (0.0, 0.0)


def pipeline(seed: int, stages: int, micro_batches: int, *, ranks: int = 64, steps: int = 10) -> pd.DataFrame:
    """Steps of a made pipeline whose stages wait what 1F1B makes them wait, with 1 % noise."""
    random = np.random.default_rng(seed)
    step, rank = (place.ravel() for place in np.indices((steps, ranks)))
    computing = 1e8 * (1 + 0.01 * random.standard_normal(len(rank)))
    share = in_theory(stages, micro_batches)
    waited = computing / (1 - share) * share * (1 + 0.01 * random.standard_normal(len(rank)))
    other = 0.02 * computing
    columns = {
        "step": step, "rank": rank, "kind": ["rank"] * len(rank), "computing_ns": computing, "exposed_ns": waited + other,
        "total_ns": computing + waited + other, "own_bubble_ns": at_most(waited + other, waited), "pp": rank * stages // ranks,
        "bubble_source": ["at most"] * len(rank),
    }  # fmt: skip
    return frame_of(CLUSTER_STEPS, len(rank), columns, "made")


@some_or_every
@pytest.mark.parametrize("stages", [2, 4, 8])
def test_every_stage_of_a_pipeline_with_few_micro_batches_is_named(stages: int, every: bool) -> None:
    right, seeds = 0, 100 if every else 16
    for seed in range(seeds):
        found = bubbles(pipeline(seed, stages, 4))
        near = all(abs(one.share - in_theory(stages, 4)) < 0.02 for one in found)
        right += sorted(one.stage for one in found) == list(range(stages)) and near and not any(one.exact for one in found)
    assert right >= 0.95 * seeds


@some_or_every
def test_nothing_is_named_without_a_pipeline_or_with_many_micro_batches(every: bool) -> None:
    assert not [seed for seed in range(100 if every else 15) if bubbles(pipeline(seed, 1, 4)) or bubbles(pipeline(seed, 2, 64))]


def test_the_four_ranks(real_data: Path) -> None:
    (job,) = open_run(real_data / "profiler_new/torch_npu_st_4ranks_pp2").profile.jobs
    (found,) = bubbles(job.cluster_steps)
    assert (found.stage, found.rank, found.exact, found.steps) == (0, 1, False, 1)
    assert found.share == pytest.approx((313.8778 + 322.98056) / (810.0224 + 809.43166), abs=1e-6)


def test_the_bubble_of_kernels_is_within_what_sums_allow(real_data: Path) -> None:
    """Rank 0 has kernel_details with both computing and communication: the exact bubble from single executions."""
    run = open_run(real_data / "profiler_new/torch_npu_st_4ranks_pp2")
    kernels = run.profile["rank_0_ascend_pt", 0].kernels
    ends = kernels["start_ns"] + kernels["duration_ns"]
    p2p = kernels["name"].astype("str").str.contains("batchSendRecv")
    computing = ~kernels["core"].astype("str").isin(["HCCL", "COMMUNICATION"])
    assert p2p.any()
    parts = [(kernels.loc[rows, "start_ns"].to_numpy(), ends[rows].to_numpy()) for rows in (p2p, computing)]
    (job,) = run.profile.jobs
    most = job.cluster_steps.set_index("rank").loc[0, "own_bubble_ns"]
    assert 0.98 * most <= exact(*parts) <= most + 1e5
