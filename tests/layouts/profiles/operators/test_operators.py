"""The operators page: figures and rows against pandas, the csv module and the formulas of MindInsight's own files."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.store.profiles.frames import row_of
from layouts.kit.state import BadInput
from layouts.profiles.frames import ProfileFrame, ProfileRow
from layouts.profiles.operators import drawing, scopes
from layouts.profiles.operators import page as callbacks
from layouts.profiles.operators.asks import OperatorRequest
from layouts.profiles.operators.compare import changes, compared
from layouts.profiles.operators.sheet import OperatorSheet
from layouts.profiles.operators.tables import MOST_CHILDREN, OperatorTables, columns_of, page_of
from layouts.profiles.operators.variants import present, with_shares
from layouts.profiles.profile_choice import ProfileChoice
from parsers import FLOPS_SCOPES, OPERATOR_TYPES, OPERATORS, open_run
from parsers.profiler.access import Profile
from parsers.profiler.frame_parts import frame_of
from tests.amounts import examples
from tests.sources import MemorySource
from tests.sources.profiles import MemoryProfiles

TIMES = st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(0, 1e9)), max_size=60)


class OpenedProfiles(MemoryProfiles):
    opened: dict[str, Profile]
    given: dict[str, pd.DataFrame]

    def rows(self, run: str) -> list[ProfileRow]:
        return [row_of(self.opened[run])] if run in self.opened else []

    def frame(self, run: str, session: str, rank: int, name: str, *, again: bool = False) -> ProfileFrame:
        if run in self.opened:
            return ProfileFrame("ready", self.opened[run].frame(name))
        return ProfileFrame("ready", self.given[name]) if name in self.given else ProfileFrame("missing")


def opened(profiles: dict[str, Profile] | None = None, **frames: pd.DataFrame) -> MemorySource:
    """Return a source whose profiles are those of a run that was opened, by run key; or frames as they are."""
    source = MemorySource(profiles=OpenedProfiles)
    source.profiles.opened, source.profiles.given = profiles or {}, frames  # type: ignore[attr-defined]
    return source


def ask(**more: Any) -> OperatorRequest:
    return OperatorRequest(more.pop("choice", ProfileChoice("a", ".", 0)), more.pop("against", None), **more)


def operators(rows: list[tuple[str, float]], core: str = "AI_CORE") -> pd.DataFrame:
    names = [f"Default/net/{kind}-op{place}" for place, (kind, _) in enumerate(rows)]
    total = np.array([time for _, time in rows], np.float64)
    columns = {
        "name": [name.rsplit("/", 1)[1] for name in names], "full_name": names, "type": [kind for kind, _ in rows],
        "core": [core] * len(rows), "count": np.ones(len(rows)), "total_ns": total, "mean_ns": total,
    }  # fmt: skip
    return frame_of(OPERATORS, len(rows), columns, "f.csv")


def types(rows: list[tuple[str, float]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["type", "total"]).groupby("type", sort=False)["total"].agg(["sum", "count"])
    columns = {
        "type": list(frame.index), "core": ["AI_CORE"] * len(frame), "count": frame["count"].to_numpy(np.float64),
        "total_ns": frame["sum"].to_numpy(), "mean_ns": (frame["sum"] / frame["count"]).to_numpy(),
    }  # fmt: skip
    return frame_of(OPERATOR_TYPES, len(frame), columns, "f.csv")


@pytest.fixture
def normal_run(real_data: Path) -> tuple[MemorySource, list[dict[str, str]]]:
    folder = real_data / "mindinsight_legacy/run_2/normal_run"
    with (folder / "profiler/aicore_intermediate_1_type.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return opened({"a": open_run(folder).profile["profiler", 1]}), rows


def test_pie_by_total_time(normal_run: tuple[MemorySource, list[dict[str, str]]]) -> None:
    """Total time and its share of all, as the type file has them; the 20 longest, and one for all others."""
    source, rows = normal_run
    expected = sorted((float(row["execution_time"]) for row in rows), reverse=True)
    parts = drawing.slices(OperatorTables(source).types(ProfileChoice("a", "profiler", 1), "ai_core"), "total")
    assert len(rows) == 21 and len(parts) == 21  # noqa: PT018
    np.testing.assert_allclose([part.value for part in parts], [value * 1e6 for value in expected])
    np.testing.assert_allclose([part.share for part in parts], np.array(expected) / sum(expected))
    assert (parts[0].name, parts[-1].name, parts[-1].types) == ("MatMul", "", 1)
    with_percent = {row["op_type"]: float(row["percent"]) for row in rows}
    for part in parts[:-1]:
        assert round(100 * part.share, 2) == pytest.approx(with_percent[part.name], abs=0.011)


def test_pie_by_mean_time_is_what_mindinsight_plots(normal_run: tuple[MemorySource, list[dict[str, str]]]) -> None:
    """avg_time = total_time / execution_frequency, and percent of the sum of what is plotted."""
    source, rows = normal_run
    expected = {row["op_type"]: float(row["execution_time"]) / float(row["execution_frequency"]) for row in rows}
    parts = drawing.slices(OperatorTables(source).types(ProfileChoice("a", "profiler", 1), "ai_core"), "mean")
    for part in parts[:-1]:
        assert part.value == pytest.approx(expected[part.name] * 1e6)
        assert part.share == pytest.approx(expected[part.name] / sum(expected.values()))
    assert [part.name for part in parts[:3]] == sorted(expected, key=lambda name: -expected[name])[:3]


def test_types_open_to_their_operators(normal_run: tuple[MemorySource, list[dict[str, str]]]) -> None:
    """As MindInsight's search by type: the operators of a type, the longest first."""
    source, _ = normal_run
    wanted = ask(choice=ProfileChoice("a", "profiler", 1), opened=("Cast",))
    table = OperatorTables(source).table(wanted)
    assert table is not None
    rows, count = page_of(table, wanted, 0, 200)
    place = next(place for place, row in enumerate(rows) if row.get("type") == "Cast" and not row.get("below"))
    below = [row for row in rows if row.get("below")]
    assert count == len(rows) == 21 + 28
    assert rows[place + 1 : place + 29] == below
    frame = source.profiles.opened["a"].operators
    expected = frame[(frame["type"] == "Cast") & (frame["core"] == "AI_CORE")]
    expected = expected.sort_values("mean_ns", ascending=False, kind="stable")
    assert [row["full_name"] for row in below] == expected["full_name"].tolist()
    assert [row["mean_ns"] for row in below] == expected["mean_ns"].tolist()
    middle, again = page_of(table, wanted, place, place + 3)
    assert (middle, again) == (rows[place : place + 3], count)


def test_operators_by_time_and_by_name(normal_run: tuple[MemorySource, list[dict[str, str]]]) -> None:
    source, _ = normal_run
    tables = OperatorTables(source)
    wanted = ask(choice=ProfileChoice("a", "profiler", 1), view="operators")
    found = callbacks.rows(tables, wanted, {"startRow": 0, "endRow": 5, "sortModel": [], "filterModel": {}})
    times = [row["mean_ns"] for row in found["rowData"]]
    assert found["rowCount"] == 105
    assert times == sorted(times, reverse=True)
    # MindInsight's filter "partial_match_str_in" of names: case does not count
    wanted = ask(choice=ProfileChoice("a", "profiler", 1), view="operators", query="CONV1", searched="full_name")
    found = callbacks.rows(tables, wanted, {"startRow": 0, "endRow": 200})
    assert found["rowCount"] > 1
    assert all("conv1" in row["full_name"].lower() for row in found["rowData"])
    told = callbacks.sheet(tables, wanted)
    assert told["variants"] == ["ai_core", "ai_cpu"]
    assert told["views"] == ["types", "operators", "shapes", "executions", "counters"]


def test_ai_cpu_adds_dispatch_times(normal_run: tuple[MemorySource, list[dict[str, str]]]) -> None:
    source, _ = normal_run
    wanted = ask(choice=ProfileChoice("a", "profiler", 1), view="operators", variant="ai_cpu")
    told = callbacks.sheet(OperatorTables(source), wanted)
    assert "dispatch_ns" in [column["name"] for column in told["columns"]]


NUMBERS = st.one_of(st.floats(-1e6, 1e6), st.just(math.nan))
ROWS = st.lists(st.tuples(st.sampled_from(["Add", "add2", "Mul", "", "损失"]), NUMBERS), max_size=40)


@settings(deadline=None)
@given(ROWS, st.sampled_from(["asc", "desc"]))
def test_sorting_searching_filtering_as_pandas(rows: list[tuple[str, float]], way: str) -> None:
    frame = pd.DataFrame({"name": pd.Categorical([name for name, _ in rows]), "time": [time for _, time in rows]})
    frame["time"] = frame["time"].astype("float64")
    sheet = OperatorSheet(frame)
    expected = frame.sort_values("time", ascending=way == "asc", kind="stable", na_position="last")
    np.testing.assert_array_equal(sheet.rows(("time", way)), expected.index)
    texts = frame["name"].astype("str")
    found = sheet.rows(None, ("ADD", "name"))
    np.testing.assert_array_equal(found, frame.index[texts.str.lower().str.contains("add")])
    filters = {"time": {"type": "greaterThan", "filter": 3}, "name": {"type": "notBlank"}}
    expected = expected[(expected["time"] > 3) & (expected["name"].astype("str") != "")]
    np.testing.assert_array_equal(sheet.rows(("time", way), filters=filters), expected.index)
    either = {"time": {"operator": "OR", "conditions": [{"type": "lessThan", "filter": 0}, {"type": "blank"}]}}
    np.testing.assert_array_equal(sheet.rows(None, filters=either), frame.index[(frame["time"] < 0) | frame["time"].isna()])


@pytest.mark.parametrize(
    "one", [3, {"type": "no", "filter": 1}, {"type": "equals", "filter": "x"}, {"type": "equals", "filter": True}]
)
def test_what_is_no_filter_is_refused(one: Any) -> None:
    with pytest.raises(BadInput):
        OperatorSheet(pd.DataFrame({"time": [1.0]})).rows(None, filters={"time": one})


def test_filters_are_in_the_unit_that_is_shown() -> None:
    source = opened(operators=operators([("a", 2e9), ("b", 30e9)]), operator_types=types([("a", 2e9), ("b", 30e9)]))
    tables = OperatorTables(source)
    wanted = ask(view="operators")
    table = tables.table(wanted)
    assert table is not None
    assert {column.name: column.unit for column in table.columns}["total_ns"] == "s"
    rows, count = page_of(table, wanted, 0, 10, {"total_ns": {"type": "lessThan", "filter": 3}})
    assert (count, rows[0]["type"]) == (1, "a")


@pytest.mark.parametrize(
    "request_", [[], {"startRow": -1, "endRow": 1}, {"startRow": "0", "endRow": 1}, {"startRow": True, "endRow": 1}]
)
def test_what_is_no_request_is_refused(request_: Any) -> None:
    with pytest.raises(BadInput):
        callbacks.rows(OperatorTables(opened()), ask(), request_)


@pytest.mark.parametrize(
    "more",
    [{"core": ["x"]}, {"view": ["x"]}, {"sort": ["total_ns"]}, {"by": ["median"]}, {"open": [str(n) for n in range(101)]}],
)
def test_what_is_no_ask_is_refused(more: dict[str, list[str]]) -> None:
    with pytest.raises(BadInput):
        OperatorRequest.read_any({"run": ["a"], **more})


def test_many_operators_of_one_type_are_counted() -> None:
    many = [("a", float(n)) for n in range(MOST_CHILDREN + 7)]
    tables = OperatorTables(opened(operators=operators(many), operator_types=types(many)))
    wanted = ask(opened=("a",))
    table = tables.table(wanted)
    assert table is not None
    rows, count = page_of(table, wanted, 0, 1000)
    assert (count, rows[-1]["more"], rows[-1]["of"]) == (MOST_CHILDREN + 2, 7, "a")


@settings(deadline=None)
@given(TIMES, TIMES)
def test_a_waterfall_sums_to_the_difference(one: list[tuple[str, float]], other: list[tuple[str, float]]) -> None:
    joined = compared(types(one), types(other), ("type", "core"))
    told, before, after = changes(joined)
    total = [math.fsum(time for _, time in rows) for rows in (one, other)]
    assert (after, before) == (pytest.approx(total[0]), pytest.approx(total[1]))
    assert math.fsum([before, *(change for _, change in told)]) == pytest.approx(after, abs=1e-3)
    for kind, change in told:
        expected = [math.fsum(time for name, time in rows if name == kind) for rows in (one, other)]
        assert change == pytest.approx(expected[0] - expected[1], abs=1e-3)


def test_many_changes_and_the_others_sum_exactly() -> None:
    one, other = [(f"t{n}", 0.1 * n) for n in range(50)], [(f"t{n}", 0.3 * (50 - n)) for n in range(50)]
    told, before, after = changes(compared(types(one), types(other), ("type", "core")))
    assert len(told) == drawing.MOST + 1
    assert told[-1][0] == ""
    assert math.fsum([before, *(change for _, change in told)]) == after
    figure = drawing.waterfall(told, before, after, ("x", "<b>"))
    assert figure["layout"]["yaxis"]["ticktext"][-1] == "&lt;b&gt;"


def test_two_profiles_side_by_side() -> None:
    both = opened()
    frames = {"a": [("x", 5.0), ("y", 1.0)], "b": [("x", 2.0), ("z", 4.0)]}

    class Two(MemoryProfiles):
        def frame(self, run: str, session: str, rank: int, name: str, *, again: bool = False) -> ProfileFrame:
            made = {"operators": operators, "operator_types": types}.get(name)
            return ProfileFrame("ready", made(frames[run])) if made else both.profiles.frame(run, session, rank, name)

    tables = OperatorTables(MemorySource(profiles=Two))
    wanted = ask(against=ProfileChoice("b", ".", 0))
    table = tables.table(wanted)
    assert table is not None
    rows, _ = page_of(table, wanted, 0, 10)
    assert [(row["type"], row["difference_ns"], row["total_ns"], row["with_total_ns"], row["change"]) for row in rows] == [
        ("z", -4.0, 0.0, 4.0, -1.0), ("x", 3.0, 5.0, 2.0, 1.5), ("y", 1.0, 1.0, 0.0, None),
    ]  # fmt: skip
    saved = callbacks.csv(tables, wanted)
    assert saved is not None
    assert [line.split(",")[0] for line in saved["content"].splitlines()] == ["type", "z", "x", "y"]
    # what is searched and filtered is what is saved; numbers of filters are in the unit shown
    shown = next(column.scale for column in table.columns if column.name == "total_ns")
    few = callbacks.csv(tables, wanted, {"total_ns": {"type": "greaterThan", "filter": 2.0 / shown}})
    assert few is not None
    assert [line.split(",")[0] for line in few["content"].splitlines()] == ["type", "x"]
    none = callbacks.csv(tables, ask(against=ProfileChoice("b", ".", 0), query="q"))
    assert none is not None
    assert none["content"].splitlines() == saved["content"].splitlines()[:1]
    assert callbacks.figure(tables, wanted)["data"][0]["orientation"] == "h"


def test_an_operator_with_several_shapes_says_how_many(real_data: Path) -> None:
    folder = real_data / "profiler_new/torch_npu_st_4ranks_pp2/rank_2_ascend_pt"
    source = opened({"a": open_run(folder).profile[".", 2]})
    raw = pd.read_csv(folder / "ASCEND_PROFILER_OUTPUT/kernel_details.csv", keep_default_na=False)
    raw = raw[raw["Accelerator Core"] != "COMMUNICATION"]
    scalar = ("", '""', "N/A")
    shaped = raw.groupby(["Name", "Type", "Accelerator Core"])["Input Shapes"]
    several = shaped.nunique()[~shaped.agg(lambda shapes: shapes.isin(scalar).all())]
    choice = ProfileChoice("a", ".", 2)
    wanted = ask(choice=choice, view="operators")
    told = callbacks.sheet(OperatorTables(source), wanted)
    assert "input_shapes" in [column["name"] for column in told["columns"]]
    found = callbacks.rows(OperatorTables(source), wanted, {"startRow": 0, "endRow": 500})["rowData"]
    counts = {(row["full_name"], row["type"], row["core"]): row["shapes"] for row in found if row["shapes"]}
    assert counts == several.to_dict()
    assert max(counts.values()) == 12
    assert all((row["input_shapes"] == "") == (row["shapes"] != 1) for row in found)
    saved = callbacks.csv(OperatorTables(source), wanted)
    assert saved is not None
    assert saved["content"].splitlines()[0].endswith(",shapes")
    shapes = callbacks.sheet(OperatorTables(source), ask(choice=choice, view="shapes"))
    assert shapes["rows"] == raw.groupby(["Type", "Accelerator Core", "Input Shapes", "Input Data Types"]).ngroups


@pytest.fixture
def host(real_data: Path) -> tuple[MemorySource, pd.DataFrame]:
    folder = real_data / "profiler_new/torch_npu_text_level2/rank0_ascend_pt"
    raw = pd.read_csv(folder / "ASCEND_PROFILER_OUTPUT/operator_details.csv", keep_default_na=False)
    times = raw.groupby("Name")[["Host Self Duration(us)", "Host Total Duration(us)"]].sum() * 1e3
    return opened({"a": open_run(folder).profile[".", 0]}), times.set_axis(["own", "total"], axis=1)


def test_the_host_is_shown_by_self_time(host: tuple[MemorySource, pd.DataFrame]) -> None:
    """Calls contain each other: total times add up to 324 ms in a step of 147 ms."""
    source, raw = host
    tables, wanted = OperatorTables(source), ask(choice=ProfileChoice("a", ".", 0), variant="host_cpu")
    told = callbacks.sheet(tables, wanted)
    assert told["sort"] == ["self_ns", "desc"]
    assert (told["sums"]["self_ns"], told["sums"]["total_ns"]) == pytest.approx((141.486e6, 323.929e6), rel=1e-5)
    assert [column["name"] for column in told["columns"]][2:5] == ["self_ns", "total_ns", "share"]
    rows = callbacks.rows(tables, wanted, {"startRow": 0, "endRow": 1000})["rowData"]
    assert {row["type"]: (row["self_ns"], row["total_ns"]) for row in rows} == {
        name.rsplit("/", 1)[-1]: pytest.approx((row.own, row.total)) for name, row in raw.iterrows()
    }
    assert rows[0]["type"] == "aten::_local_scalar_dense"
    assert rows[0]["share"] == pytest.approx(86765.71 / 141485.98)
    assert sum(row["share"] for row in rows) == pytest.approx(1.0)
    (largest, *_) = drawing.slices(tables.types(wanted.choice, "host_cpu"), "total")
    assert (largest.name, largest.value) == ("aten::_local_scalar_dense", pytest.approx(86765.71e3))
    _, sums = tables.scopes(wanted)
    assert sum(sums.values()) == pytest.approx(141.48598e6)


def test_call_stacks_come_before_the_details(host: tuple[MemorySource, pd.DataFrame]) -> None:
    wanted = ask(choice=ProfileChoice("a", ".", 0), variant="host_cpu", view="operators")
    told = callbacks.sheet(OperatorTables(host[0]), wanted)
    names = [column["name"] for column in told["columns"]]
    assert names.index("stack") < names.index("mean_ns")
    device = callbacks.sheet(OperatorTables(host[0]), ask(choice=ProfileChoice("a", ".", 0), variant="ai_core"))
    assert device["sums"]["self_ns"] is None
    assert device["sort"] == ["total_ns", "desc"]


def test_self_times_are_compared_where_both_have_them() -> None:
    one, other = (operators([("a", 10.0), ("b", 4.0)], "HOST_CPU") for _ in range(2))
    one["self_ns"], other["self_ns"] = [6.0, 4.0], [1.0, 4.0]
    found = compared(one, other, ("type", "core")).set_index("type")["difference_ns"]
    assert found.to_dict() == {"a": 5.0, "b": 0.0}
    del other["self_ns"]
    assert compared(one, other.assign(total_ns=[9.0, 4.0]), ("type", "core"))["difference_ns"].tolist() == [1.0, 0.0]


def test_variants_and_shares_of_nothing() -> None:
    assert present(OPERATORS.empty()) == []
    assert with_shares(OPERATOR_TYPES.empty())["share"].tolist() == []
    assert columns_of(OPERATORS.empty(), OPERATORS.names) == ()
    assert callbacks.sheet(OperatorTables(opened()), ask())["rows"] == 0
    assert callbacks.parts(OperatorTables(opened()), ask())["tiles"] == []
    assert callbacks.figure(OperatorTables(opened()), ask())["data"][0]["type"] == "bar"


PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=5).map("/".join)


@settings(deadline=None, max_examples=examples(50))
@given(st.dictionaries(PATHS, st.floats(1e-3, 1e6), max_size=40))
def test_scopes_keep_their_amounts(sums: dict[str, float]) -> None:
    root = scopes.tree(sums, "")
    assert root.amount == pytest.approx(math.fsum(sums.values()))
    for tiles in (scopes.treemap(root), scopes.icicle(root)):
        outer = [tile for tile in tiles if tile[4] == 0]
        assert math.fsum(tile[7] for tile in outer) == pytest.approx(root.amount)
        for x, y, width, height, *_ in tiles:
            assert -1e-4 <= x <= x + width <= 1 + 1e-4 and -1e-4 <= y <= y + height <= 1 + 1e-4  # noqa: PT018
    # areas are as amounts
    first = [tile for tile in scopes.treemap(root) if tile[4] == 0]
    for tile in first:
        assert tile[2] * tile[3] == pytest.approx(tile[7] / root.amount, abs=2e-4)


def test_linked_scopes_are_those_of_the_file(real_data: Path) -> None:
    frame = open_run(real_data / "mindinsight_legacy/profiler").profile[".", 0].flops_scopes
    FLOPS_SCOPES.check(frame)
    sums = scopes.linked(frame)
    outer = frame[frame["parent"] == "Total"]
    assert math.fsum(sums.values()) == pytest.approx(outer["flops"].sum(), rel=1e-3)
    root = scopes.tree(sums, "")
    for scope, flops in zip(outer["scope"], outer["flops"], strict=True):
        inside = math.fsum(value for path, value in sums.items() if path.split("/")[0] == scope)
        assert inside == pytest.approx(flops, rel=1e-3)
    assert root.parts


def test_links_in_a_circle_end() -> None:
    columns = {"parent": ["Total", "a", "b"], "scope": ["a", "b", "a"], "flops": np.array([4.0, 4.0, 4.0])}
    assert math.fsum(scopes.linked(frame_of(FLOPS_SCOPES, 3, columns, "f")).values()) <= 8.0


def test_names_in_figures_are_text() -> None:
    parts = drawing.slices(types([("<a href=x>", 2.0)]), "total")
    for figure in (drawing.pie(parts), drawing.bar(parts)):
        assert "<a href" not in str(figure["data"][0].get("labels", figure["data"][0].get("y")))


SIGNATURES = {f"void at::native::f<4, at::native::{name}>(int)": f"f<4, {name}>" for name in ("Add<int>", "Mul<int>")}


def test_kernels_have_labels_beside_their_signatures() -> None:
    columns = {
        "name": list(SIGNATURES), "full_name": list(SIGNATURES), "type": ["f"] * 2, "core": ["GPU_KERNEL"] * 2,
        "count": np.ones(2), "total_ns": np.array([2e3, 1e3]), "mean_ns": np.array([2e3, 1e3]),
    }  # fmt: skip
    of_type = types([("f", 3e3)]).assign(core=pd.Categorical(["GPU_KERNEL"]))
    source = opened(operators=frame_of(OPERATORS, 2, columns, "f.csv"), operator_types=of_type)
    tables = OperatorTables(source)
    for more in ({"view": "operators"}, {"view": "types", "opened": ("f",)}):
        wanted = ask(**more)
        table = tables.table(wanted)
        assert table is not None
        rows, _ = page_of(table, wanted, 0, 10)
        assert {row["name"]: row["label"] for row in rows if row.get("name")} == SIGNATURES
    tiles = callbacks.parts(tables, ask())["tiles"]
    assert {tile[6]: tile[5] for tile in tiles} == SIGNATURES


def test_names_of_kernels_are_no_scopes() -> None:
    names = ["a", "b"]
    columns = {"name": names, "full_name": names, "type": names, "core": ["GPU_KERNEL"] * 2, "total_ns": [2e3, 1e3]}
    kernels = frame_of(OPERATORS, 2, columns, "f.csv")
    assert "full_name" not in [column.name for column in columns_of(kernels, ("name", "full_name", "total_ns"))]
    scoped = kernels.assign(full_name=pd.Categorical(["Default/a", "b"]))
    assert "full_name" in [column.name for column in columns_of(scoped, ("name", "full_name", "total_ns"))]


@pytest.mark.parametrize("draw", [drawing.pie, drawing.bar])
def test_long_types_leave_room_for_the_figure_and_are_told_apart(draw: Any) -> None:
    names = [f"bmm_{'MxE4m3_' * 30}t128x{size}_{'cga1_' * 30}" for size in (16, 32)]
    figure = draw([drawing.Slice(names[0], 2e3, 0.6), drawing.Slice(names[1], 1e3, 0.3), drawing.Slice("", 1e2, 0.1, 3)])
    trace = figure["data"][0]
    shown = trace["labels"] if "labels" in trace else trace["y"]
    assert len(set(shown)) == 3
    assert max(map(len, shown)) < 80
    assert set(trace["customdata"]) == {*names, ""}


def test_operators_of_other_devices_have_no_labels() -> None:
    source = opened(operators=operators([("a", 2e9)]), operator_types=types([("a", 2e9)]))
    wanted = ask(view="operators")
    table = OperatorTables(source).table(wanted)
    assert table is not None
    assert "label" not in page_of(table, wanted, 0, 10)[0][0]
