"""Times by input shape against pandas on the raw file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import KERNELS, OPERATORS, open_run
from parsers.analysis.profiles.operator_shapes import by_shapes
from parsers.profiler.derived import operators_of
from parsers.profiler.frame_parts import frame_of

EXECUTIONS = st.lists(
    st.tuples(st.sampled_from(["x/a", "x/b", "y/a"]), st.sampled_from("ab"), st.sampled_from(["1,2", "3", ""]),
              st.integers(0, 10**9)),
    max_size=40,
)  # fmt: skip


def executions(rows: list[tuple[str, str, str, int]], core: str = "AI_CORE") -> pd.DataFrame:
    name, kind, shapes, duration = zip(*rows, strict=True) if rows else [()] * 4
    columns = {"name": list(name), "type": list(kind), "input_shapes": list(shapes), "core": [core] * len(rows),
               "duration_ns": np.array(duration, np.int64)}  # fmt: skip
    return frame_of(KERNELS, len(rows), columns, "kernel_details.csv")


def operators(rows: list[tuple[str, str, float]], core: str = "AI_CORE") -> pd.DataFrame:
    columns = {
        "name": [f"{row[0]}-op{place}" for place, row in enumerate(rows)],
        "full_name": [f"{row[0]}-op{place}" for place, row in enumerate(rows)], "type": [row[0] for row in rows],
        "input_shapes": [row[1] for row in rows], "core": [core] * len(rows), "count": np.ones(len(rows)),
        "total_ns": [row[2] for row in rows],
    }  # fmt: skip
    return frame_of(OPERATORS, len(rows), columns, "f.csv")


@pytest.mark.parametrize("rank", [0, 2])
def test_each_shape_of_a_real_profile_has_its_own_row(real_data: Path, rank: int) -> None:
    folder = real_data / f"profiler_new/torch_npu_st_4ranks_pp2/rank_{rank}_ascend_pt"
    raw = pd.read_csv(folder / "ASCEND_PROFILER_OUTPUT/kernel_details.csv", keep_default_na=False)
    (profile,) = open_run(folder).profile.values()
    found = by_shapes(profile.operators, profile.kernels)
    shapes = raw["Input Shapes"].str.strip('"').replace("N/A", "")
    keys = [raw["Type"], raw["Accelerator Core"], shapes, raw["Input Data Types"].replace("N/A", "")]
    expected = raw["Duration(us)"].astype(float).groupby(keys).agg(["size", "sum"])
    device = expected[expected.index.get_level_values(1) != "COMMUNICATION"]
    mine = found[found["core"] != "COMMUNICATION"]
    assert len(mine) == len(device)
    for row in mine.itertuples():
        size, total = device.loc[(row.type, row.core, row.input_shapes, row.input_types)]
        assert (row.count, pytest.approx(row.total_ns / 1e3)) == (size, total)
    names = raw.groupby(keys)["Name"].nunique()
    assert sorted(mine["operators"]) == sorted(names[device.index])
    if rank == 2:
        assert len(mine) >= 140
        cast = mine[mine["type"] == "Cast"].set_index("input_shapes")
        assert cast.loc["4096,1,1,128", "count"].sum() == 112
        assert cast.loc["4096,1,1,128", "total_ns"].sum() == pytest.approx(0.57e6, rel=0.01)
        assert cast.loc["4096,1,151936", "total_ns"].sum() == pytest.approx(24.01e6, rel=0.01)


@given(EXECUTIONS)
def test_shapes_keep_the_time_and_the_number_of_executions(rows: list[tuple[str, str, str, int]]) -> None:
    kernels = executions(rows)
    derived = operators_of(kernels, OPERATORS.empty())
    found = by_shapes(derived, kernels)
    assert found["count"].sum() == len(rows)
    assert found["total_ns"].sum() == sum(row[3] for row in rows)
    expected = {(row[1], row[2]) for row in rows} if any(row[2] for row in rows) else {(row[1], "") for row in rows}
    assert set(zip(found["type"].astype(str), found["input_shapes"].astype(str), strict=True)) == expected
    for row in derived.itertuples():
        mine = {one[2] for one in rows if (one[0], one[1]) == (row.full_name, row.type)}
        assert row.shapes == (-1 if mine == {""} else len(mine))
        assert row.input_shapes == (next(iter(mine)) if len(mine) == 1 else "")


def test_operators_count_where_executions_have_no_shapes() -> None:
    """Legacy files: the timeline has executions without shapes, the table of operators has the shapes."""
    table = operators([("a", "2,3", 4.0), ("a", "2,3", 2.0), ("a", "4", 1.0), ("b", "", 3.0)])
    for more in (None, KERNELS.empty(), executions([("a", "a", "", 7), ("b", "b", "", 9)])):
        found = by_shapes(table, more)
        assert found[["type", "input_shapes", "operators", "count", "total_ns", "mean_ns"]].to_numpy().tolist() == [
            ["a", "2,3", 2.0, 2.0, 6.0, 3.0], ["b", "", 1.0, 1.0, 3.0, 3.0], ["a", "4", 1.0, 1.0, 1.0, 1.0],
        ]  # fmt: skip
    assert by_shapes(OPERATORS.empty(), KERNELS.empty()).empty


def test_each_core_counts_from_one_of_the_two() -> None:
    table = pd.concat([operators([("a", "", 40.0)]), operators([("c", "8", 5.0)], "AI_CPU")], ignore_index=True)
    for name in ("name", "full_name", "type", "core", "input_shapes", "input_types"):
        table[name] = pd.Categorical(table[name])
    found = by_shapes(table, executions([("x", "a", "1", 30), ("x", "a", "2", 10)]))
    assert found[["type", "core", "input_shapes", "total_ns"]].to_numpy().tolist() == [
        ["a", "AI_CORE", "1", 30.0], ["a", "AI_CORE", "2", 10.0], ["c", "AI_CPU", "8", 5.0],
    ]  # fmt: skip
