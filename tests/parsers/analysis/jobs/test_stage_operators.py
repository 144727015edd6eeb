"""The operators that one stage of a pipeline has and another lacks."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from parsers import open_run
from parsers.analysis.jobs.stage_operators import stage_means, stage_operators, two_stages
from parsers.cluster_frames import CLUSTER_STEPS
from parsers.profile_frames import KERNELS

Row = tuple[int, str, str, str, int]
"""Step, type, shapes, core, duration in ns."""


def kernels(*rows: Row) -> pd.DataFrame:
    made = KERNELS.empty().reindex(range(len(rows)))
    for place, name in enumerate(("step", "type", "input_shapes", "core", "duration_ns")):
        values = [row[place] for row in rows]
        made[name] = values if name in ("step", "duration_ns") else pd.Categorical(values)
    return made


def test_nothing_to_compare() -> None:
    assert two_stages(CLUSTER_STEPS.empty()) is None
    assert len(stage_means(CLUSTER_STEPS.empty())) == 0
    assert stage_operators((1, 0), (KERNELS.empty(), KERNELS.empty()), None) is None


def test_differences_are_per_step_without_communication_host_and_warm_up() -> None:
    own = kernels(
        (0, "Cast", "8,512", "AI_VECTOR_CORE", 9_000), (1, "Cast", "8,512", "AI_VECTOR_CORE", 100),
        (2, "Cast", "8,512", "AI_VECTOR_CORE", 300), (1, "MatMul", "8,8", "AI_CORE", 50), (2, "MatMul", "8,8", "AI_CORE", 70),
        (1, "hcom", "", "COMMUNICATION", 7_000), (2, "aten::add", "", "HOST_CPU", 7_000),
    )  # fmt: skip
    other = kernels((1, "MatMul", "8,8", "AI_CORE", 40), (2, "MatMul", "8,8", "AI_CORE", 40))
    found = stage_operators((3, 0), (own, other), 0)
    assert found is not None
    assert found.rows[["type", "own_ns", "other_ns", "more_ns"]].to_numpy().tolist() == [
        ["Cast", 200.0, 0.0, 200.0], ["MatMul", 60.0, 40.0, 20.0],
    ]  # fmt: skip
    assert (found.more_ns, found.dimension, found.dimension_ns) == (220.0, "512", 200.0)


def test_a_dimension_that_both_stages_have_is_not_named() -> None:
    own = kernels((1, "Cast", "8,512", "AI_VECTOR_CORE", 200))
    other = kernels((1, "Mul", "8,512", "AI_VECTOR_CORE", 100))
    found = stage_operators((1, 0), (own, other), None)
    assert found is not None
    assert found.dimension == ""
    assert np.isnan(found.dimension_ns)


def test_the_logits_of_the_last_stage_of_a_real_job(real_data: Path) -> None:
    folder = real_data / "profiler_new" / "torch_npu_st_4ranks_pp2"
    run = open_run(folder).profile
    two = two_stages(run.jobs[0].frame("cluster_steps"))
    assert two is not None
    assert (two.longest, two.shortest, set(two.of_longest), set(two.of_shortest)) == (1, 0, {2, 3}, {0, 1})
    read = {rank: profile.frame("kernels") for (_, rank), profile in run.items()}
    found = stage_operators((2, 0), (read[2], read[0]), None)
    assert found is not None
    sums = dict.fromkeys((0, 2), 0.0)
    logits = dict(sums)
    for rank in sums:
        path = folder / f"rank_{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
        with path.open(newline="") as lines:
            for row in csv.DictReader(lines):
                if row["Accelerator Core"] not in ("COMMUNICATION", "HCCL"):
                    sums[rank] += float(row["Duration(us)"]) * 1e3
                    logits[rank] += float(row["Duration(us)"]) * 1e3 * ("151936" in row["Input Shapes"])
    assert found.more_ns == pytest.approx(sums[2] - sums[0])
    assert found.dimension == "151936"
    assert found.dimension_ns == pytest.approx(logits[2] - logits[0])
    assert found.dimension_ns > 0.9 * found.more_ns
