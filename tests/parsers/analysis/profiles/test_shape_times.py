"""Times by step and shape, compared with sums over the raw files."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from parsers import open_run
from parsers.analysis.profiles import shape_times as times
from parsers.profile_frames import SHAPE_TIMES


def frame(rows: list[tuple[int, str, str, int, str]]) -> pd.DataFrame:
    columns = list(zip(*rows, strict=True)) if rows else [(), (), (), (), ()]
    made = {name: pd.Categorical(columns[at]) for at, name in ((1, "name"), (2, "type"), (4, "input_shapes"))}
    made |= {"step": np.array(columns[0], np.int64), "duration_ns": np.array(columns[3], np.int64)}
    return pd.DataFrame(made | {"core": pd.Categorical(["GPU"] * len(rows))})


ROWS = frame([
    (1, "Add-op1", "Add", 10, "2;2"), (1, "Add-op1", "Add", 30, "4;4"), (2, "Add-op1", "Add", 20, "2;2"),
    (2, "Add-op2", "Add", 5, "2;2"), (2, "Mul-op1", "Mul", 100, ""), (-1, "Mul-op1", "Mul", 7, "8"),
])  # fmt: skip


def test_nothing_gives_nothing() -> None:
    empty = times.executions_of(SHAPE_TIMES.empty())
    assert list(times.types(times.cells(empty), times.changing(empty)).columns) == list(times.TYPE_COLUMNS)
    assert times.operators(times.cells(empty), times.changing(empty)).empty
    assert times.shapes_of(empty).empty
    assert times.by_step(empty, ["Add"]).total_ns.shape == (1, 0)
    assert times.of_operator(empty, "Add").empty


def test_sums_of_types_operators_and_shapes() -> None:
    kinds = times.types(times.cells(ROWS), times.changing(ROWS))
    assert kinds.values.tolist() == [["Mul", 1, 0, 1, 2, 107.0, 53.5, 100.0], ["Add", 2, 0, 2, 4, 65.0, 16.25, 30.0]]
    own = times.operators(times.cells(ROWS), times.changing(ROWS))
    assert own[["name", "type", "shapes", "count", "total_ns"]].values.tolist() == [
        ["Add-op1", "Add", 2, 3, 60.0], ["Mul-op1", "Mul", 1, 2, 107.0], ["Add-op2", "Add", 1, 1, 5.0],
    ]  # fmt: skip
    shapes = times.shapes_of(times.of_operator(ROWS, "Add-op1"))
    assert shapes[["input_shapes", "count", "total_ns", "mean_ns", "min_ns", "max_ns", "steps"]].values.tolist() == [
        ["2;2", 2, 30.0, 15.0, 10.0, 20.0, 2], ["4;4", 1, 30.0, 30.0, 30.0, 30.0, 1],
    ]  # fmt: skip


def test_an_operator_with_a_shape_for_each_of_its_places_does_not_change() -> None:
    """As a layer that is shared by a prompt and its answer; recordings begin and end within a step."""
    for first, last in ((0, 3), (1, 3), (0, 2), (2, 1)):
        rows = []
        for step in range(1, 7):
            own = ["8;16", "4;16", "1;16"]
            own = own[first:] if step == 1 else own[:last] if step == 6 else own
            rows += [(step, "Dense-op1", "Dense", 5, shape) for shape in own]
        made = frame(rows)
        assert not times.changing(made).any(), (first, last)
        assert times.types(times.cells(made), times.changing(made))["changing"].tolist() == [0]


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 1.0])
def test_an_operator_whose_shape_changes_in_some_steps_is_found(share: float) -> None:
    """Whatever the share of steps with another shape, and however many fixed places it has beside the changing one."""
    random = np.random.default_rng(int(100 * share))
    for places in (0, 1, 4):
        rows = [(step, "Same-op1", "Same", 5, "2;2") for step in range(100)]
        other = random.random(100) < share
        other[random.integers(100)] = True
        for step in range(100):
            length = int(random.integers(10, 500)) if other[step] else 7
            own = [f"{length};16", *(f"{place};1" for place in range(places))]
            rows += [(step, "Seq-op1", "Seq", 5, shape) for shape in own]
        made = frame(rows)
        found = times.operators(times.cells(made), times.changing(made))
        assert found.set_index("name")["changes"].to_dict() == {"Seq-op1": True, "Same-op1": False}


def test_without_steps_nothing_changes() -> None:
    assert not times.changing(frame([(-1, "a", "A", 1, "1"), (-1, "a", "A", 1, "2")])).any()


def test_types_by_step_leave_out_what_has_no_step() -> None:
    found = times.by_step(ROWS, ["Mul", "Nothing", "Add"])
    assert found.steps.tolist() == [1, 2]
    assert found.total_ns.tolist() == [[0, 100], [0, 0], [40, 25]]
    assert found.count.tolist() == [[0, 1], [0, 0], [2, 2]]
    np.testing.assert_array_equal(found.mean_ns, [[np.nan, 100], [np.nan, np.nan], [20, 12.5]])


def test_executions_are_placed_within_their_step() -> None:
    x, turn, stepped = times.places_of(times.of_operator(ROWS, "Add-op1"))
    assert (x.tolist(), turn.tolist(), stepped) == ([1.0, 1.5, 2.0], [0, 1, 0], True)
    own = times.of_operator(ROWS, "Mul-op1")
    x, _, _ = times.places_of(own)
    assert np.isnan(x[0])
    assert x[1] == 2.0
    x, turn, stepped = times.places_of(own.assign(step=-1))
    assert (x.tolist(), stepped) == ([0.0, 1.0], False)


def test_of_many_points_the_extremes_of_each_group_remain() -> None:
    random = np.random.default_rng(7)
    x, values, group = np.arange(20_000.0), random.normal(size=20_000), random.integers(0, 3, 20_000)
    kept = times.extremes(x, values, group, 50)
    assert len(kept) <= 2 * 3 * 50
    for one in range(3):
        mine = group[kept] == one
        assert values[kept][mine].max() == values[group == one].max()
        assert values[kept][mine].min() == values[group == one].min()


def test_the_real_file_of_gpu(real_data: Path) -> None:
    folder = real_data / "mindinsight_legacy/profiler"
    raw = json.loads((folder / "dynamic_shape_info_0.json").read_text(), parse_float=Decimal)
    whole = open_run(folder).profile[".", 0].shape_times
    for kind, kernels in (("operator", False), ("kernel", True)):
        total: dict[tuple[str, int], Decimal] = defaultdict(Decimal)
        shaped: dict[tuple[str, str], list[Decimal]] = defaultdict(list)
        for step, entries in raw[kind].items():
            for one in entries:
                name = one["op_name"] if kernels else one["op_type"]
                total[name, int(step)] += Decimal(one["dur"])
                inputs = ";".join(text.strip("[]").replace(" ", "") for text in one.get("shape_info", []))
                shaped[one["op_name"], inputs].append(Decimal(one["dur"]))
        rows = times.executions_of(whole, kernels=kernels)
        names = sorted({name for name, _ in total})
        found = times.by_step(rows, names)
        assert found.steps.tolist() == sorted({step for _, step in total})
        for name, sums in zip(names, found.total_ns, strict=True):
            assert sums.tolist() == [float(total.get((name, step), Decimal()) * 1000) for step in found.steps.tolist()]
        if not kernels:
            for own in {name for name, _ in shaped}:
                table = times.shapes_of(times.of_operator(rows, own)).set_index("input_shapes")
                wanted = {inputs: spent for (name, inputs), spent in shaped.items() if name == own}
                assert set(table.index) == set(wanted)
                for inputs, spent in wanted.items():
                    assert table.at[inputs, "count"] == len(spent)
                    assert table.at[inputs, "total_ns"] == float(sum(spent) * 1000)
                    assert table.at[inputs, "max_ns"] == float(max(spent) * 1000)


@pytest.mark.parametrize("place", ["torch_npu_st_4ranks_pp2", "torch_npu_text_level2", "torch_npu_db_level2"])
def test_real_kernels_of_ascend(real_data: Path, place: str) -> None:
    """Text and database forms; of the text the sums are those of the cells."""
    profile = open_run(real_data / "profiler_new" / place).profile
    rank = next(one for one in profile.values() if len(one.kernels))
    rows = times.executions_of(rank.kernels)
    own = times.operators(times.cells(rows), times.changing(rows))
    assert own["shapes"].max() > 1
    plain = rows.assign(**{name: rows[name].astype(str) for name in ("name", "type", "input_shapes")})
    wanted = plain[plain["input_shapes"] != ""].groupby("name")["input_shapes"].nunique()
    assert own[own["shapes"] > 0].set_index("name")["shapes"].to_dict() == wanted.to_dict()
    sums = plain.groupby("type")["duration_ns"].sum()
    kinds = times.types(times.cells(rows), times.changing(rows))
    assert kinds.set_index("type")["total_ns"].to_dict() == sums.astype(float).to_dict()
    file = next(Path(one.path) for one in rank.files if one.name.endswith(("kernel_details.csv", ".db")))
    if file.suffix == ".csv":
        with file.open(encoding="utf-8") as opened:
            cells = [(row["Type"], Decimal(row["Duration(us)"].strip())) for row in csv.DictReader(opened)]
        spent: dict[str, Decimal] = defaultdict(Decimal)
        for kind, time in cells:
            spent[kind] += time * 1000
        found = times.types(times.cells(rows), times.changing(rows)).set_index("type")["total_ns"].to_dict()
        assert found == {kind: float(ns) for kind, ns in spent.items()}
