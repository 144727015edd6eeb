"""Queues and the data pipeline in numbers, against files read here by hand and against the rules as they are documented."""

from __future__ import annotations

import csv
import json
import math
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import discover, open_run
from parsers.analysis.profiles.preparation import EMPTY_RATE, DataFlow, cpu_use, flow, queue_rates, slow_operations
from parsers.profile_frames import PIPELINE, QUEUES

DATA = Path(os.environ.get("MINDSCOPE_TEST_DATA", "/nowhere"))
real = pytest.mark.skipif(not DATA.is_dir(), reason="MINDSCOPE_TEST_DATA names no directory of real runs")


def queues(*rows: tuple[str, float, float, float]) -> pd.DataFrame:
    """Rows of (queue, size, capacity, ns)."""
    frame = pd.DataFrame({
        "queue": [row[0] for row in rows], "op_id": -1, "step": range(1, len(rows) + 1), "time_ns": -1,
        "size": [row[1] for row in rows], "capacity": [row[2] for row in rows], "total_ns": [row[3] for row in rows],
        "push_ns": np.nan, "get_ns": np.nan, "file": "x",
    })  # fmt: skip
    return frame.astype({column.name: column.dtype for column in QUEUES.columns})


def pipeline(*rows: tuple[int, str, int, float]) -> pd.DataFrame:
    """Rows of (op_id, type, parent, use)."""
    same = {"stage": "", "workers": 1, "queue_length": 10.0, "queue_empty": 0.0, "interval_ns": 1e7, "cpu": math.nan,
            "count": math.nan, "mean_ns": math.nan, "info": "", "file": "x"}  # fmt: skip
    frame = pd.DataFrame([
        {"op_id": op_id, "type": kind, "parent": parent, "queue_mean": use * 10, "queue_use": use, **same}
        for op_id, kind, parent, use in rows
    ])  # fmt: skip
    return frame.astype({column.name: column.dtype for column in PIPELINE.columns})


@given(st.lists(st.tuples(st.sampled_from(["host", "device", "operator"]), st.sampled_from([0.0, 1.0, 8.0, 16.0, math.nan]),
                          st.sampled_from([16.0, math.nan]), st.floats(0, 1e9)), max_size=40))  # fmt: skip
def test_rates_are_counts_of_the_rows(rows: list[tuple[str, float, float, float]]) -> None:
    found = {row["queue"]: row for _, row in queue_rates(queues(*rows)).iterrows()} if rows else {}
    for name in ("host", "device"):
        mine = [row for row in rows if row[0] == name]
        assert (name in found) == bool(mine)
        if not mine:
            continue
        sizes = [size for _, size, _, _ in mine if not math.isnan(size)]
        assert found[name]["batches"] == len(sizes)
        assert found[name]["empty"] == sizes.count(0.0)
        assert found[name]["full"] == sum(size >= capacity for _, size, capacity, _ in mine)
        assert found[name]["total_ns"] == pytest.approx(sum(row[3] for row in mine) / len(mine))
    assert "operator" not in found


@pytest.mark.parametrize(
    ("rows", "slow", "sunk"),
    [
        ([("host", 0.0)] * 4 + [("host", 1.0)] * 6, "pipeline", False),
        ([("host", 0.0)] * 3 + [("host", 1.0)] * 7, "forward_backward", False),  # 30 % is not more than 30 %
        ([("host", 1.0)] * 10 + [("device", 0.0)], "transmission", True),
        ([("host", 1.0)] * 10 + [("device", 2.0)], "forward_backward", True),
        ([("host", 0.0)] * 10 + [("device", 0.0)], "pipeline", True),
        ([("iterator", 0.0), ("iterator", 1.0)], "pipeline", False),
        ([("device", 0.0)], "transmission", True),
        ([("operator", 0.0)], "", False),
        ([("host", math.nan)], "", False),
    ],
)
def test_which_part_of_the_way_is_slow(rows: list[tuple[str, float]], slow: str, sunk: bool) -> None:
    found = flow(queue_rates(queues(*((name, size, 16.0, 1e6) for name, size in rows))))
    assert (found.slow, found.sunk) == (slow, sunk)
    assert ("get_next" in found.stages) == sunk
    assert found.stages[0] == "pipeline"
    assert found.stages[-1] == "forward_backward"


def test_slow_operations_by_the_use_of_queues() -> None:
    def ids(*rows: tuple[int, str, int, float]) -> list[int]:
        return [one.op_id for one in slow_operations(pipeline(*rows))]

    fast = (0, "Batch", -1, 0.9), (1, "Map", 0, 0.85), (2, "TFReader", 1, 0.8)
    assert ids(*fast) == []
    # A map whose queue is nearly empty behind a reader that keeps its own full.
    assert ids((0, "Batch", -1, 0.3), (1, "Map", 0, 0.3), (2, "TFReader", 1, 0.95)) == [1]
    # A reader that cannot keep up; all behind it wait.
    assert ids((0, "Batch", -1, 0.1), (1, "Map", 0, 0.1), (2, "TFReader", 1, 0.1)) == [2]
    # 0.1 less is not more than 0.1 less; two branches: the fuller one counts.
    assert ids((0, "Batch", -1, 0.75), (1, "TFReader", 0, 0.8)) == []
    assert ids((0, "Zip", -1, 0.5), (1, "TFReader", 0, 0.9), (2, "TFReader", 0, 0.7)) == [0]
    # An operation without a queue says nothing and hides nothing.
    assert ids((4, "EpochCtrl", -1, math.nan), (0, "Batch", 4, 0.2), (1, "TFReader", 0, 0.9)) == [0]
    assert slow_operations(pipeline((0, "Batch", -1, math.nan))) == []
    found = slow_operations(pipeline((0, "Batch", -1, 0.3), (1, "TFReader", 0, 0.95)))
    assert [(one.type, one.use, one.before) for one in found] == [("Batch", 0.3, 0.95)]


@real
def test_the_files_of_mindinsight() -> None:
    run = open_run(DATA / "mindinsight_legacy" / "run_2" / "normal_run")
    profile = run.profile["profiler", 1]
    path = DATA / "mindinsight_legacy" / "run_2" / "normal_run" / "profiler"
    # device_queue_profiling: type 0 is time, 1 a connector's size, with a capacity (profiler.md 2.5).
    sizes = [line.split() for line in (path / "device_queue_profiling_1.txt").read_text().splitlines()]
    connector = [int(line[-2] if len(line) == 6 else line[3]) for line in sizes if line[0] == "1"]
    rates = queue_rates(profile.queues).set_index("queue")
    assert rates.loc["host", "batches"] == len(connector)
    assert rates.loc["host", "empty"] == connector.count(0)
    found = flow(queue_rates(profile.queues))
    assert found == DataFlow(True, "pipeline", connector.count(0) / len(connector))
    assert found.empty > EMPTY_RATE
    written = json.loads((path / "minddata_cpu_utilization_1.json").read_text())
    user = written["device_info"]["user_utilization"][1:]  # the first sample is dropped
    machine = cpu_use(profile.cpu).set_index("scope").loc["machine"]
    assert machine["user"] == pytest.approx(np.mean(user) / 100)
    assert machine["samples"] == len(user)


@real
def test_pipelines_of_the_proposer_tests() -> None:
    """Which operations the rule names in the four files that MindInsight tests its helper with, worked out here by csv."""
    folder = DATA / "mindinsight_legacy" / "minddata_pipeline"
    source = next(source for source in discover(DATA / "mindinsight_legacy") if source.path.endswith("minddata_pipeline"))
    run = open_run(source.path)
    for rank in range(4):
        with (folder / f"minddata_pipeline_raw_{rank}.csv").open() as file:
            rows = list(csv.DictReader(file))
        use, before = {}, {}
        for row in rows:
            sizes = [float(size) for size in json.loads(row["output_queue_size"] or "[]")]
            if sizes and float(row["output_queue_length"] or 0):
                use[row["op_id"]] = sum(sizes) / len(sizes) / float(row["output_queue_length"])
            before.setdefault(row["parent_id"], []).append(row["op_id"])
        wanted = set()
        if use and min(use.values()) < 0.8:
            for op_id, own in use.items():
                feeding = [use[child] for child in before.get(op_id, []) if child in use]
                if (feeding and max(feeding) - own > 0.1) or (op_id not in before and own < 0.6):
                    wanted.add(int(op_id))
        assert {one.op_id for one in slow_operations(run.profile[".", rank].pipeline)} == wanted
