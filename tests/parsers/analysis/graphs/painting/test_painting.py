"""Values of nodes, scopes and boxes against plain sums over rows, on made graphs and real files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import Run, open_run
from parsers.analysis.graphs import GraphView, Network, OpenScopes, network, simplified
from parsers.analysis.graphs.painting import METRICS, WHOLE, Amounts, Paint
from parsers.analysis.graphs.painting import dumps as of_dumps
from parsers.analysis.graphs.painting import profiles as of_profiles
from parsers.analysis.graphs.painting.painting import box_of_rows, of_boxes, of_scopes
from parsers.analysis.graphs.painting.recorded import amounts_of as recorded
from tests.parsers.analysis.graphs.made import frames, graphs, transformer


def amounts(entries: Sequence[tuple[str, int, float]]) -> Amounts:
    names = list(dict.fromkeys(name for name, _, _ in entries))
    columns = ([names.index(name) for name, _, _ in entries], [step for _, step, _ in entries], [v for _, _, v in entries])
    return Amounts.of(names, np.array(columns[0], np.int64), np.array(columns[1], np.int64), np.array(columns[2], float))


def graph_of(run: Run) -> Network:
    graph = run.graphs[next(iter(run.graphs))]
    return network(graph.nodes, graph.edges)


def test_nothing() -> None:
    paint = Paint(network(*frames([], [])), Amounts.empty(), METRICS["time"])
    assert paint.steps == ()
    step = paint.at(3)
    assert (step.total, step.names, step.found, len(step.node)) == (0.0, 0, 0, 0)
    assert paint.unmatched(3) == []
    assert math.isnan(paint.highest(np.empty(0, np.int64), 0))
    assert math.isnan(Paint(network(*frames([("a", "A")], [])), Amounts.empty(), METRICS["norm"]).at(0).total)


def test_sums_maxima_and_names_without_a_node() -> None:
    made = network(*frames([("s/a", "A"), ("s/t/b", "B"), ("c", "C")], []))
    entries = [("s/a", 1, 2.0), ("s/a", 1, 3.0), ("s/t/b", 1, 7.0), ("gone", 1, 11.0), ("s/a", 2, 1.0), ("c", 2, math.nan)]
    view = GraphView(made)
    for metric, at, scope, total in (("time", 5.0, 12.0, 23.0), ("norm", 3.0, 7.0, 11.0)):
        paint = Paint(made, amounts(entries), METRICS[metric])
        assert paint.steps == (1, 2)
        step = paint.at(1)
        np.testing.assert_array_equal(step.node, [at, 7.0, math.nan])
        assert (step.total, step.names, step.found) == (total, 3, 2)
        assert paint.unmatched(1) == [("gone", 11.0, 0)]
        whole = of_scopes(view.scopes, step.node, METRICS[metric].combine)
        numbers = view.scopes.numbers
        assert [whole[numbers[path]] for path in ("", "s", "s/t")] == [scope, scope, 7.0]
    assert (Paint(made, amounts(entries), METRICS["time"]).at(1).unmatched) == 11.0
    assert Paint(made, amounts(entries), METRICS["time"]).at(2).total == 1.0


def test_values_of_hidden_nodes_are_in_the_total_and_in_no_scope() -> None:
    whole = network(*frames([("s/a", "A"), ("s/b", "B")], []))
    made = whole.only(np.array([True, False]))
    step = Paint(made, amounts([("s/a", 0, 1.0), ("s/b", 0, 2.0)]), METRICS["time"]).at(0)
    assert (step.total, step.matched, step.hidden) == (3.0, 3.0, 2.0)
    assert of_scopes(GraphView(made).scopes, step.node, "sum")[0] == 1.0


@given(graphs(), st.lists(st.floats(0, 1e18) | st.just(math.nan), min_size=40, max_size=40), st.sampled_from(("sum", "max")))
def test_scopes_have_the_values_of_all_nodes_in_them(made: Any, values: list[float], combine: str) -> None:
    view = GraphView(network(*made))
    node = np.array(values[: view.network.size])
    found = of_scopes(view.scopes, node, combine)
    for scope in range(len(view.scopes)):
        inside = node[view.scopes.within(scope)]
        inside = inside[~np.isnan(inside)]
        if not len(inside):
            assert math.isnan(found[scope])
        else:
            assert found[scope] == pytest.approx(inside.sum() if combine == "sum" else inside.max(), rel=1e-12)


def test_boxes_hold_what_their_members_do_and_the_largest_is_found_over_all_steps() -> None:
    made = network(*transformer(6))
    rng = np.random.default_rng(3)
    names = [name for name, kind in zip(made.full_names, made.kind.tolist(), strict=True) if kind == 0]
    entries = [(name, step, float(rng.integers(1, 1000))) for step in range(5) for name in names]
    paint = Paint(made, amounts(entries), METRICS["time"])
    view = GraphView(made)
    for opened in ((), ("s:net",), ("s:net", "s:net/encoder")):
        keys = tuple(f"s{view.scopes.numbers[one[2:]]}" for one in opened)
        visible = view.visible(OpenScopes(keys))
        box, count = box_of_rows(visible.items, view.scopes)
        highest = 0.0
        for step in paint.steps:
            node = paint.at(step).node
            found = of_boxes(visible.items, view.scopes, node, "sum")
            closed = [found[item.key] for item in visible.items if not item.opened and item.key in found]
            assert sum(closed) == sum(value for _, one, value in entries if one == step)
            highest = max(highest, *closed)
        assert paint.highest(box, count) == highest


# Real files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("simple", [False, True])
def test_time_of_a_real_profile_is_that_of_its_table(real_data: Path, simple: bool) -> None:
    made = graph_of(open_run(real_data / "summary/lenet_sink_mode"))
    made = simplified(made).network if simple else made
    folder = real_data / "profiler/new_graph"
    (profile,) = open_run(folder).profile.values()
    found = of_profiles.amounts_of("time", {"operators": profile.operators, "kernels": profile.kernels})
    assert found.steps == (WHOLE,)
    (file,) = folder.rglob("cpu_op_detail_info_0.csv")
    raw = pd.read_csv(file)
    step = Paint(made, found, METRICS["time"]).at(WHOLE)
    table = (raw["op_total_time(ms)"] * 1e6).round().sum()
    assert step.total == step.matched == table == profile.operators["total_ns"].sum()
    assert (step.names, step.found) == (43, 43)
    view = GraphView(made)
    whole = of_scopes(view.scopes, step.node, "sum")
    assert whole[0] + step.hidden == table
    assert (step.hidden > 0) == simple
    inside = raw[raw["full_op_name"].str.startswith("Default/network-WithLossCell/_backbone-LeNet5/")]
    number = view.scopes.numbers["Default/network-WithLossCell/_backbone-LeNet5"]
    assert whole[number] == (inside["op_total_time(ms)"] * 1e6).round().sum()


def test_steps_of_a_real_gpu_profile(real_data: Path) -> None:
    profile = open_run(real_data / "mindinsight_legacy").profile["profiler", 0]
    found = of_profiles.amounts_of("time", {"operators": profile.operators, "kernels": profile.kernels})
    kernels = profile.kernels
    assert found.steps == (WHOLE, *sorted(kernels["step"].unique()))
    made = network(*frames([("Add-op6", "Add"), ("Default/network-Net/Add-op6", "Add"), ("GetNext-op1", "GetNext")], []))
    paint = Paint(made, found, METRICS["time"])
    for step in found.steps[1:]:
        rows = kernels[kernels["step"] == step]
        assert paint.at(step).total == rows["duration_ns"].sum()
        mine = rows[rows["name"].astype(str).str.startswith("Default/network-Net/Add-op6/")]
        assert np.nan_to_num(paint.at(step).node[1]) == mine["duration_ns"].sum()
    assert paint.at(WHOLE).total == profile.operators["total_ns"].sum()


def test_operations_and_use_of_a_real_ascend_profile(real_data: Path) -> None:
    profile = open_run(real_data / "mindinsight_legacy").profile["profiler", 1]
    raw = pd.read_csv(real_data / "mindinsight_legacy/profiler/flops_1.txt", skipinitialspace=True)
    tables = {"operators": profile.operators}
    made = network(*frames([(name, "X") for name in raw["full_kernel_name"]], []))
    step = Paint(made, of_profiles.amounts_of("flops", tables), METRICS["flops"]).at(WHOLE)
    assert step.total == step.matched == (raw.iloc[:, 1] + raw.iloc[:, 4]).sum() * 1e6
    use = Paint(made, of_profiles.amounts_of("use", tables), METRICS["use"]).at(WHOLE)
    np.testing.assert_allclose(use.node, raw.iloc[:, [3, 6]].max(axis=1) / 100)


def test_counters_of_a_real_ascend_profile(real_data: Path) -> None:
    profile = open_run(real_data / "profiler_new/torch_npu_text_level2").profile["rank0_ascend_pt", 0]
    tables = {"operators": profile.operators, "kernels": profile.kernels}
    found = of_profiles.amounts_of("use", tables)
    raw = pd.read_csv(
        real_data / "profiler_new/torch_npu_text_level2/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv",
        skipinitialspace=True, na_values=["N/A"],
    )  # fmt: skip
    raw.columns = raw.columns.str.strip()
    rows = raw[raw["Name"].astype(str).str.strip() == "Conv2D1"]
    weight = rows["Duration(us)"]
    shares = [
        (rows[name] * weight).sum() / weight.sum() for name in ("aic_mac_ratio", "aiv_vec_ratio") if name in rows
    ]
    value = found.value[(found.step == WHOLE) & (found.name == found.names.index("Conv2D1"))]
    assert value.tolist() == pytest.approx([max(one for one in shares if one == one)], rel=1e-3)
    assert set(found.steps) == {WHOLE, 50}


def test_memory_of_a_real_profile_by_step(real_data: Path) -> None:
    profile = open_run(real_data / "profiler_new/torch_npu_text_level2").profile["rank0_ascend_pt", 0]
    blocks, steps = profile.operator_memory, profile.step_times
    found = of_profiles.amounts_of("memory", {"operator_memory": blocks, "step_times": steps})
    paint = Paint(network(*frames([], [])), found, METRICS["memory"])
    assert paint.at(WHOLE).total == blocks["size_bytes"].sum()
    for step, start, end in steps[["step", "start_ns", "end_ns"]].itertuples(index=False):
        inside = blocks[(blocks["allocated_ns"] >= start) & (blocks["allocated_ns"] < end)]
        assert len(inside)
        assert paint.at(step).total == inside["size_bytes"].sum()


@pytest.mark.parametrize("folder", ["out_tensor", "out_nan"])
def test_statistics_of_a_real_dump(real_data: Path, folder: str) -> None:
    dump = open_run(real_data / "dump" / folder).dump
    graph = dump.graphs[0, 0]
    made = network(graph.nodes, graph.edges)
    rows = of_dumps.rows_of(dump.tensors, 0)
    measured = dump.measured(rows)
    files = dump.tensors.iloc[rows].assign(values=[np.load(Path(real_data / "dump" / folder) / name)
                                                   for name in dump.tensors["file"].iloc[rows]])  # fmt: skip
    outputs = files[files["iteration"] >= 0]
    for metric, count in (("nan", np.isnan), ("inf", np.isinf)):
        paint = Paint(made, of_dumps.amounts_of(metric, dump.tensors, measured, rows), METRICS[metric])
        assert paint.steps == tuple(sorted(outputs["iteration"].unique())) == tuple(of_dumps.steps_of(dump.tensors, rows))
        for step in paint.steps:
            mine = outputs[outputs["iteration"] == step]
            expected = sum(int(count(values).sum()) for values in mine["values"])
            painted = paint.at(step)
            assert painted.total == painted.matched == expected
            assert painted.found == painted.names
    paint = Paint(made, of_dumps.amounts_of("norm", dump.tensors, measured, rows), METRICS["norm"])
    for step in paint.steps:
        node = paint.at(step).node
        mine = outputs[outputs["iteration"] == step]
        norms = [
            float(np.linalg.norm(v[np.isfinite(v)].astype(np.float64))) if np.isfinite(v).any() else math.nan
            for v in mine["values"]
        ]
        expected = pd.Series(norms).groupby(mine["name"].astype(str).to_numpy()).max().dropna()
        assert len(expected)
        for name, value in expected.items():
            if name in made.full_names:
                assert node[made.full_names.index(str(name))] == pytest.approx(value, rel=1e-6)


def test_overflows_that_a_device_reported(real_data: Path) -> None:
    dump = open_run(real_data / "dump/ascend_made/async_bin/20261122040000").dump
    frame = dump.overflows
    counted = frame[(frame["status"] != 0) & (frame["iteration"] >= 0)]
    assert len(counted)
    (rank,) = dump.ranks
    made = network(*frames([(name, "X") for name in counted["name"].astype(str).unique()], []))
    paint = Paint(made, of_dumps.overflows_of(frame, rank), METRICS["overflow"])
    for step in paint.steps:
        mine = counted[counted["iteration"] == step]
        assert paint.at(step).total == len(mine)
        for name, many in mine["name"].astype(str).value_counts().items():
            assert paint.at(step).node[made.full_names.index(str(name))] == many
    assert not len(of_dumps.overflows_of(frame, rank + 1))


def test_recorded_parameters(real_data: Path) -> None:
    run = open_run(real_data / "summary/lenet_diverges_nan")
    made = graph_of(run)
    values = [
        (tag, int(step), run.value("histogram", tag, place))
        for tag in run.tags("histogram")
        for place, step in enumerate(run.payload_series("histogram", tag).step.tolist())
    ]
    paint = Paint(made, recorded("nan", values), METRICS["nan"])
    assert paint.matches.count >= 1
    for step in paint.steps:
        assert paint.at(step).total == sum({tag: value.nan for tag, one, value in values if one == step}.values())
    assert max(paint.at(step).total for step in paint.steps) > 0
    row = made.full_names.index("conv1.weight")
    last = paint.steps[-1]
    # The run was started twice in one directory: the value written last counts.
    written = [value.nan for tag, step, value in values if tag == "conv1.weight/auto" and step == last]
    assert len(written) == 2
    assert paint.at(last).node[row] == written[-1]
    assert not len(recorded("norm", values))
