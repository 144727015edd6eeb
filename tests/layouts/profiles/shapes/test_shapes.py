"""The dynamic shapes page: requests, sentences, tables and figures over real profiles and made ones."""

from __future__ import annotations

import base64
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from layouts.kit.state import BadInput
from layouts.profiles.shape_request import ProfileShapeTables, ShapeRequest
from layouts.profiles.shapes import figures, page, tables
from parsers import open_run
from parsers.analysis.profiles.shape_tables import TABLES
from parsers.profile_frames import KERNELS, SHAPE_TIMES
from parsers.profiler.frame_parts import categorical, frame_of, joined
from tests.sources import MemorySource

ASK = {"run": ["a"], "session": ["."], "rank": ["0"]}


def times_of(frames: dict[str, pd.DataFrame], **state: str | list[str]) -> ProfileShapeTables:
    source = MemorySource({"a": {"profiles": {(".", 0): frames}}})
    ask = ShapeRequest.read_any(ASK | {name: [value] if isinstance(value, str) else value for name, value in state.items()})
    assert ask is not None
    return ProfileShapeTables(source, ask)


def made(rows: list[tuple[int, str, str, int, str]], schema: Any = SHAPE_TIMES, core: str = "GPU") -> pd.DataFrame:
    step, name, kind, spent, shape = (list(one) for one in zip(*rows, strict=True))
    texts: dict[str, Any] = {"name": categorical(name), "type": categorical(kind), "input_shapes": categorical(shape)}
    texts |= {"step": np.array(step), "duration_ns": np.array(spent), "core": categorical([core] * len(rows))}
    return frame_of(schema, len(rows), texts, "file")


def words(component: Any) -> str:
    """All English texts, with those of plain elements."""
    if isinstance(component, str | int | float):
        return str(component)
    if isinstance(component, list | tuple):
        return " ".join(map(words, component))
    if getattr(component, "className", None) == "zh":
        return ""
    return words(getattr(component, "children", None) or "")


def values(spec: Any) -> list[float]:
    found: list[float] = np.frombuffer(base64.b64decode(spec["bdata"]), spec["dtype"]).astype(float).tolist()
    return found


ROWS = [(1, "Add-op1", "Add", 1_000_000, "2,3"), (2, "Add-op1", "Add", 3_000_000, "4,3"), (2, "Mul-op1", "Mul", 6_000_000, "")]


@pytest.mark.parametrize("bad", [{"unit": ["both"]}, {"by": ["max"]}, {"type": [str(n) for n in range(11)]},
                                 {"type": ["x" * 5000]}, {"scale": ["sqrt"]}])  # fmt: skip
def test_malformed_asks_are_refused(bad: dict[str, list[str]]) -> None:
    with pytest.raises(BadInput):
        ShapeRequest.read_any(ASK | bad)


def test_without_executions_the_page_says_so() -> None:
    assert ShapeRequest.read_any({"op": ["x"]}) is None
    times = times_of({})
    assert "No executions were recorded." in words(tables.head(times))
    *_, first, second, facts = page.drawn(times)
    assert (first, second, facts["found"]) == (None, None, False)
    for name in TABLES:
        assert times.table(name).empty


def test_sentences_of_several_shapes_of_one_and_of_none() -> None:
    said = words(tables.head(times_of({"shape_times": made(ROWS)})))
    assert "The input shapes of 1 of 2 operators change from step to step. They took 4.00 ms of 10.0 ms (40.0 %)." in said
    assert "The shapes of 1 of 3 executions are unknown." in said
    said = words(tables.head(times_of({"kernels": made(ROWS[:1], KERNELS)})))
    assert "Not judged whether input shapes change: that takes 3 steps with known shapes, found: 1." in said
    steady = [(step, "Add-op1", "Add", 1, shape) for step in (1, 2, 3) for shape in ("2,3", "4,3")]
    said = words(tables.head(times_of({"shape_times": made(steady)})))
    assert "The input shapes of no operator change from step to step. They are known of 1 of 1." in said
    said = words(tables.head(times_of({"kernels": made([(-1, "a", "b", 5, "")], KERNELS)})))
    assert "No input shapes were recorded." in said
    assert "The files name no steps" in said
    said = words(tables.head(times_of({"kernels": made([(-1, "a", "b", 5, "1"), (3, "a", "b", 5, "1")], KERNELS)})))
    assert "1 of 2 executions belong to no step" in said


def test_the_file_about_shapes_counts_where_kernels_are_there_too() -> None:
    times = times_of({"kernels": made([(7, "x", "y", 1, "")], KERNELS), "shape_times": made(ROWS)})
    assert times.types["type"].tolist() == ["Mul", "Add"]
    assert times_of({"kernels": made([(7, "x", "y", 1, "")], KERNELS), "shape_times": SHAPE_TIMES.empty()}).operator == "x"


def test_types_with_several_shapes_are_drawn_first() -> None:
    assert times_of({"shape_times": made(ROWS)}).drawn == ("Add", "Mul")
    assert times_of({"shape_times": made(ROWS)}, type=["Mul", "none"]).drawn == ("Mul",)


def test_types_by_step_as_sums_and_as_means() -> None:
    rows = [*ROWS, (2, "Add-op2", "Add", 1_000_000, "1")]
    figure = figures.by_step(times_of({"shape_times": made(rows)}))
    assert figure is not None
    assert [(one["name"], values(one["x"]), values(one["y"])) for one in figure["data"]] == [
        ("Add", [1, 2], [1, 4]), ("Mul", [1, 2], [0, 6]),
    ]  # fmt: skip
    figure = figures.by_step(times_of({"shape_times": made(rows)}, by="mean", scale="log", lang="zh"))
    assert figure is not None
    assert values(figure["data"][0]["y"]) == [1, 2]
    assert np.isnan(values(figure["data"][1]["y"])[0])
    assert (figure["layout"]["yaxis"]["type"], figure["layout"]["yaxis"]["title"]["text"]) == ("log", "平均耗时 (ms)")
    assert figures.by_step(times_of({"shape_times": made([(-1, "a", "b", 1, "")])})) is None


def test_shapes_have_colours_and_symbols_and_one_is_highlighted() -> None:
    figure = figures.of_operator(times_of({"shape_times": made(ROWS)}, shape="4,3"))
    assert figure is not None
    looks = [(one["name"], one["marker"]["color"], one["marker"]["symbol"], one["marker"]["opacity"]) for one in figure["data"]]
    assert [name for name, *_ in looks] == ["4,3", "2,3"]
    assert len({colour for _, colour, _, _ in looks}) == len({symbol for _, _, symbol, _ in looks}) == 2
    assert [faded for *_, faded in looks] == [0.85, figures.FADED]
    assert figure["data"][0]["customdata"] == [["step 2, execution 1", "4,3", "4,3"]]
    (english, chinese) = figure["layout"]["meta"]["alternative"]
    assert english == (
        "Executions of Add-op1 by step, marked by input shape. 4,3: 1 execution, mean 3.00 ms, longest 3.00 ms; "
        "2,3: 1 execution, mean 1.00 ms, longest 1.00 ms."
    )
    assert "Add-op1" in chinese


def test_names_from_files_are_not_markup() -> None:
    rows = made([(1, "<b>x</b>", "<i>", 1, "<a href='x'>")])
    *_, first, second, _ = page.drawn(times_of({"shape_times": rows}))
    assert "<b>" not in json.dumps([first["data"], second["data"][0]["name"], second["data"][0]["customdata"][0][:2]])


def test_many_shapes_share_the_last_look_and_many_executions_are_thinned() -> None:
    rows = [(step, "a", "A", 1_000_000 - step, str(step % 14)) for step in range(20_000)]
    times = times_of({"shape_times": made(rows)})
    figure = figures.of_operator(times)
    assert figure is not None
    assert [one["name"] for one in figure["data"]][-1] == "5 other shapes"
    meta = figure["layout"]["meta"]
    assert meta["total"] == 20_000
    assert meta["drawn"] == sum(len(values(one["x"])) for one in figure["data"]) <= figures.MOST_POINTS
    assert max(max(values(one["y"])) for one in figure["data"]) == 1.0
    line = figures.by_step(times)
    assert line is not None
    assert len(values(line["data"][0]["x"])) <= figures.MOST_STEPS
    assert len(times.table("executions")) == 20_000


def test_operators_are_searched() -> None:
    times = times_of({"shape_times": made(ROWS)}, q="MUL")
    assert times.table("operators")["name"].tolist() == ["Mul-op1"]
    assert "No operator contains this text." in words(tables.operators(times_of({"shape_times": made(ROWS)}, q="[")))


def test_copies_beside_kernels_of_torch_are_no_operators() -> None:
    kernels = made([(5, "gemm", "gemm", 20_000, "")], KERNELS, core="GPU_KERNEL")
    copies = made([(5, "Memcpy HtoD", "Memcpy HtoD", 90_000, "")], KERNELS, core="COPY")
    both_kinds = joined(KERNELS, [kernels, copies])
    found = times_of({"kernels": both_kinds})
    assert (found.units, found.unit, found.types["type"].tolist()) == (("kernel",), "kernel", ["gemm"])
    assert times_of({"kernels": copies}).units == ("operator",)
    with_operators = joined(KERNELS, [both_kinds, made([(5, "Add", "Add", 7, "2")], KERNELS, core="GPU")])
    assert times_of({"kernels": with_operators}).units == ("operator", "kernel")


def test_kernels_are_listed_by_their_labels() -> None:
    names = [f"void at::native::elementwise_kernel<4, at::native::{one}Functor<float> >(int)" for one in "AB"]
    found = times_of({"kernels": made([(5, name, "elementwise_kernel", 9, "") for name in names], KERNELS, core="GPU_KERNEL")})
    shown = words(tables.operators(found))
    assert all(f"elementwise_kernel<4, {one}Functor<float>>" in shown for one in "AB")


def test_block_and_grid_of_kernels_of_torch_are_their_launch() -> None:
    rows = made([(5, "gemm", "gemm", 9, ""), (5, "gemm", "gemm", 9, "")], KERNELS, core="GPU_KERNEL")
    rows["pmu/block"], rows["pmu/grid"] = categorical(["256,1,1"] * 2), categorical(["4,1,1", "8,1,1"])
    found = times_of({"kernels": rows})
    assert found.shapes["input_shapes"].tolist() == ["256,1,1 x 4,1,1", "256,1,1 x 8,1,1"]
    assert "block or grid change: that takes 3 steps, found: 1. 1 of 1 kernel ran with several" in words(tables.head(found))


def scale_of(figure: dict[str, Any]) -> float:
    """Microseconds in the unit of the y axis."""
    return {"(ms)": 1e3, "(µs)": 1.0}[figure["layout"]["yaxis"]["title"]["text"][-4:]]


def test_the_real_profile_of_gpu(real_data: Path) -> None:
    folder = real_data / "mindinsight_legacy/profiler"
    raw = json.loads((folder / "dynamic_shape_info_0.json").read_text(), parse_float=Decimal)
    frame = open_run(folder).profile[".", 0].shape_times
    times = times_of({"shape_times": frame}, op="Add-op6", type="GetNext")
    assert times.units == ("operator", "kernel")
    figure = figures.by_step(times)
    assert figure is not None
    wanted = [sum(one["dur"] for one in own if one["op_type"] == "GetNext") for own in raw["operator"].values()]
    np.testing.assert_allclose(values(figure["data"][0]["y"]), np.array(wanted, float) / scale_of(figure), rtol=1e-12)
    drawn = figures.of_operator(times)
    assert drawn is not None
    spent = [float(one["dur"]) for own in raw["operator"].values() for one in own if one["op_name"] == "Add-op6"]
    (only,) = drawn["data"]
    assert (only["name"], values(only["x"])) == ("32,1;32,1", list(map(float, range(1, 10))))
    np.testing.assert_allclose(values(only["y"]), np.array(spent) / scale_of(drawn), rtol=1e-12)
    kernels = times_of({"shape_times": frame}, unit="kernel")
    assert kernels.shapes["input_shapes"].tolist() == sorted(
        {f"{one['block_dim']} x {one['grid_dim']}".replace(" x ", "|").replace(" ", "").replace("|", " x ")
         for own in raw["kernel"].values() for one in own}
    )  # fmt: skip
    assert "Block x grid" in words(tables.shapes(kernels))
