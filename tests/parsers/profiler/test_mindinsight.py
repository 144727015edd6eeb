"""What MindInsight's own tests expect of its test data: queues, step trace, pipeline, helper, types of operators and FLOPs.

The numbers are those of tests/ut/profiler and tests/st/func/profiler of MindInsight 2.3; its data of run_1 is not at hand.
"""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import numpy as np
import pytest

from parsers import open_run
from parsers.analysis import average, breakdowns
from parsers.analysis.jobs.advice import advise
from parsers.analysis.profiles.preparation import queue_rates, slow_operations
from parsers.profiler.access import Profile

FRAMES = ("steps", "queues", "pipeline", "cpu", "operators")


@pytest.fixture
def normal_run(real_data: Path) -> Profile:
    return open_run(real_data / "mindinsight_legacy/run_2/normal_run").profile["profiler", 1]


@pytest.fixture
def profiler(real_data: Path) -> Profile:
    return open_run(real_data / "mindinsight_legacy/profiler").profile[".", 0]


def test_queues_and_the_times_to_feed_steps(normal_run: Profile) -> None:
    queues = normal_run.queues
    device, host = (queues[queues["queue"] == name] for name in ("device", "host"))
    assert device["size"].tolist() == [3, 2, 1]
    assert (device["get_ns"] / 1e6).tolist() == pytest.approx([0.001, 0, 0.001])
    assert host["size"].tolist() == [0]
    assert [(host[f"{part}_ns"] / 1e6).tolist() for part in ("total", "push", "get")] == [[4], [4], [0]]
    rates = queue_rates(queues).set_index("queue")
    assert rates.loc["device", ["empty", "batches"]].tolist() == [0, 3]
    assert rates.loc["host", ["empty", "batches", "full"]].tolist() == [1, 1, 0]
    assert rates.loc["device", "get_ns"] / 1e6 == pytest.approx(0.0006666666666666666)
    assert rates.loc["host", ["total_ns", "get_ns", "push_ns"]].tolist() == [4e6, 0, 4e6]


def test_what_the_helper_says(normal_run: Profile, profiler: Profile) -> None:
    found = {one.rule: one for one in advise({name: normal_run.frame(name) for name in FRAMES})}
    assert [f"{one.type}_{one.op_id}" for one in slow_operations(normal_run.pipeline)] == ["ImageFolderOp_3"]
    assert found["queue_use"].subject == ("ImageFolderOp",)
    # The only batch in the host queue found it empty, which is no evidence; the trace records an interval as an average alone.
    assert "empty" not in found
    assert (found["interval"].value / 1e6, found["interval"].evidence["step"].tolist()) == (pytest.approx(12.43211), [-1])
    said = [one for one in advise({"steps": profiler.steps}) if one.rule == "interval"]
    assert [one.threshold / 1e6 for one in said] == [0.5]


def test_a_step_trace(normal_run: Profile) -> None:
    (found,) = breakdowns(normal_run.steps)
    assert [round(time / 1e6, 4) for time in found.column("forward_backward").tolist()] == [23.6681]
    # The average in the file does not add up and is nearly all 0, which is what MindInsight shows; ours is that of the step.
    written = normal_run.steps[normal_run.steps["kind"] == "average"]
    assert written[["total_ns", "forward_backward_ns", "tail_ns"]].to_numpy().tolist() == [[0, 0, 0]]
    usual = average(found)
    assert usual is not None
    assert usual.whole_ns == found.whole_ns[0] == 23_709_050


def test_operators_of_the_ai_cpu(normal_run: Profile) -> None:
    types = normal_run.operator_types
    own = types[types["core"] == "AI_CPU"].set_index("type")
    wanted = {"InitData": (7.906, 1), "GetNext": (0.5905, 2), "EndOfSequence": (0.3035, 2)}
    assert {name: (row["mean_ns"] / 1e6, row["count"]) for name, row in own.iterrows()} == {
        name: (pytest.approx(mean), count) for name, (mean, count) in wanted.items()
    }
    operators = normal_run.operators
    assert (operators["core"] == "AI_CPU").sum() == 5


def test_a_pipeline(tmp_path: Path, real_data: Path) -> None:
    # Alone: the json file beside it tells of another pipeline.
    (tmp_path / "profiler").mkdir()
    shutil.copy(real_data / "mindinsight_legacy/profiler/minddata_pipeline_raw_0.csv", tmp_path / "profiler")
    profile = open_run(tmp_path).profile["profiler", 0]
    rows = profile.pipeline.set_index("op_id")
    told = rows.loc[[0, 1, 2, 3], ["type", "workers", "queue_mean", "queue_length", "queue_use", "interval_ns", "parent"]]
    reader = ["TFReader", 4, 20.0, 64.0, 0.3125, 10e6, 1]
    assert told.loc[[1, 2, 3]].to_numpy().tolist() == [["Shuffle", 1, 20.0, 64.0, 0.3125, 10e6, 0], reader, reader]
    assert told.loc[0, ["type", "workers", "parent"]].tolist() == ["Batch", 4, -1]
    assert told.loc[0, ["queue_mean", "queue_length", "queue_use"]].isna().all()
    samples = profile.queues[profile.queues["op_id"] == 1]
    assert samples["size"].tolist() == [10, 20, 30]


@pytest.mark.parametrize(
    ("rank", "thresholds", "wanted"),
    [(0, (0.8, 0.2), {4}), (1, (0.8, 0.6), {1}), (2, (0.8, 0.6), set()), (3, (0.8, 0.2), {2, 3})],
)
def test_which_operations_are_outside_thresholds(
    real_data: Path, rank: int, thresholds: tuple[float, float], wanted: set[int]
) -> None:
    """Of rank 2 it names the root, and its helper then says nothing: no operation is slow."""
    profile = open_run(real_data / "mindinsight_legacy/minddata_pipeline").profile[".", rank]
    assert {one.op_id for one in slow_operations(profile.pipeline, thresholds)} == wanted


def test_types_of_operators_are_those_of_the_file(real_data: Path) -> None:
    types = open_run(real_data / "mindinsight_legacy/profiler").profile[".", 1].operator_types
    own = types[types["core"] == "AI_CORE"].set_index("type")
    with (real_data / "mindinsight_legacy/profiler/aicore_intermediate_1_type.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(own) == 5
    for row in rows:
        found = own.loc[row["kernel_type"]]
        assert found["total_ns"] == pytest.approx(float(row["total_time"]) * 1e6)
        assert found["count"] == int(row["execution_frequency"])
    # Searched as its tables are: a part of the name, in any case.
    assert {name for name in own.index if "c" in name.lower()} >= {"AtomicAddrClean", "Cast", "Conv2D"}
    assert np.isclose(own["share"].sum(), 1.0, atol=0.01) or own["share"].sum() <= 1.0
