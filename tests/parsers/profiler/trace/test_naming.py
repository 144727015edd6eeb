"""Operators and their slices by name, exact and not, and on real files against tables and graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parsers import open_run
from parsers.profiler.trace import naming
from parsers.profiler.trace.search import TraceNames
from tests.writers.traces import trace

FULL = "Default/network/conv1-Conv2d/Conv2D-op4"


@pytest.mark.parametrize(
    ("name", "others", "found"),
    [
        (FULL, ["Default/network/conv2-Conv2d/Conv2D-op4", FULL], FULL),
        (FULL, ["Default/network/conv1-Conv2d/Conv2D-op11"], "Default/network/conv1-Conv2d/Conv2D-op11"),
        (FULL, ["Default/network/conv2-Conv2d/Conv2D-op4"], None),  # another scope
        (FULL, ["Conv2D-op9", "Conv2D-op4"], "Conv2D-op4"),
        ("Conv2D-op4", [FULL], FULL),
        ("MatMul", ["MatMulV2", "BatchMatMul"], None),
        ("hcom_allReduce__271_0_1@4711", ["hcom_allReduce__271_0_1"], "hcom_allReduce__271_0_1"),
        ("", ["a"], None),
        ("a", [], None),
    ],
)
def test_the_same_operator(name: str, others: list[str], found: str | None) -> None:
    assert naming.same(name, others) == found


def test_slices_come_in_order_of_time() -> None:
    made = trace({"a": [(50, 5, FULL), (90, 5, "Conv2D")], "b": [(10, 5, FULL), (30, 5, "MatMul-op1")]})
    names = TraceNames(made.names)
    rows = naming.slices_of(made, names, FULL)
    assert made.slices.start[rows].tolist() == [10, 50]
    assert naming.nearest(made, rows, 45) == rows[1]
    assert naming.nearest(made, rows, 10**18) == rows[0]  # of another clock
    assert len(naming.slices_of(made, names, "nothing")) == 0
    assert len(naming.slices_of(made, names, "/")) == 0


@pytest.mark.parametrize(
    "name", ["profiler/new_graph", "profiler_new/torch_npu_text_level2", "profiler_new/torch_npu_db_level2",
             "mindinsight_legacy/run_2/normal_run", "profiler_new/mindspore_2.0.0_cpu_legacy"]
)  # fmt: skip
def test_every_operator_of_a_real_profile_has_a_slice(real_data: Path, name: str) -> None:
    for profile in open_run(real_data / name).profile.values():
        made = profile.trace.columns
        names = TraceNames(made.names)
        for operator in profile.operators["full_name"].astype(str).unique():
            rows = naming.slices_of(made, names, operator)
            assert len(rows), operator
            assert (np.diff(made.slices.start[rows]) >= 0).all()


def test_executions_lead_to_the_slice_of_the_same_time(real_data: Path) -> None:
    profile = next(iter(open_run(real_data / "profiler_new/torch_npu_db_level2").profile.values()))
    made = profile.trace.columns
    names = TraceNames(made.names)
    for name, start, duration in profile.kernels[["name", "start_ns", "duration_ns"]].itertuples(index=False):
        row = naming.nearest(made, naming.slices_of(made, names, str(name)), start - made.origin_ns)
        assert (made.slices.start[row] + made.origin_ns, made.slices.duration[row]) == (start, duration)


def test_operators_of_a_real_graph_and_of_a_real_trace_of_the_same_network(real_data: Path) -> None:
    graphs = open_run(real_data / "summary/lenet_momentum_lr0.01_b32").graphs
    nodes = graphs[next(iter(graphs.locations))].nodes["full_name"].tolist()
    made = next(iter(open_run(real_data / "profiler/new_graph").profile.values())).trace.columns
    full = [name for name in dict.fromkeys(made.names) if "/" in name]
    assert len(full) == 43
    assert [naming.same(name, nodes) for name in full] == full
