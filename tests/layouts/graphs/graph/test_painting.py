"""The graph painted by a metric: sources, values of boxes, totals, files; on real files joined into runs."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.store.store import Store
from layouts.dumps.dumped_graphs import RunGraphs, place_of
from layouts.graphs.asks import DrawingRequest
from layouts.graphs.drawing import drawn
from layouts.graphs.figure.scale import Scale, ink, scale_of
from layouts.graphs.graph.catalogue import catalogue
from layouts.graphs.graph.files import file
from layouts.graphs.graph.painting import Painter
from layouts.graphs.graph.painting_asks import read_paint
from layouts.graphs.graph.painting_parts import value_of, written
from layouts.graphs.graph.painting_sources import PaintSource, offers, read_source
from layouts.graphs.graph_views import Views
from layouts.graphs.names import name_of
from layouts.kit.state import BadInput
from layouts.kit.theme import luminance
from parsers.analysis.graphs.painting import METRICS
from parsers.graphs.graph import Graph, Origin
from parsers.profile_frames import OPERATORS
from tests.layouts.graphs.graph.recorded_graph import texts
from tests.parsers.analysis.graphs.made import transformer
from tests.sources import MemorySource
from tests.waiting import when

SESSION = "vm_4422_20261120234019066_ascend_ms"
PROFILE = json.dumps(["profile", "lenet", SESSION, 0], separators=(",", ":"))


@pytest.fixture(scope="module")
def runs(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with graph and profile, two with graph and dump, one with a graph alone."""
    base = tmp_path_factory.mktemp("painted")
    shutil.copytree(real_data / "summary/lenet_sink_mode", base / "lenet")
    shutil.copytree(real_data / "profiler/new_graph" / SESSION, base / "lenet" / SESSION)
    for name in ("tensor", "nan"):
        shutil.copytree(real_data / f"dump/out_{name}/rank_0", base / name / "rank_0")
        (graph,) = (base / name / "rank_0/graphs").glob("*.pb")
        shutil.copy(graph, base / name)
    shutil.copytree(real_data / "summary/lenet_diverges_nan", base / "diverges")
    return base


@pytest.fixture(scope="module")
def store(runs: Path) -> Iterator[Store]:
    found = Store([str(runs)], interval=0).start()
    assert found.wait(30)
    yield found
    found.stop()


def asking(store: Store, run: str, metric: str, **more: list[str]) -> dict[str, list[str]]:
    return {"run": [run], "graph": [store.graphs.locations(run)[0].name], "simple": ["0"], "paint": [metric], **more}


def answer(store: Store, run: str, metric: str, **more: list[str]) -> dict[str, Any]:
    painter = Painter(store, Views(RunGraphs(store)))
    asked = asking(store, run, metric, **more)
    found = when(partial(painter.answer, asked), lambda found: found["state"] not in ("reading", "waiting"))
    assert json.loads(json.dumps(found)) == found
    return found


def test_time_of_a_profile_adds_up_to_its_table(store: Store, runs: Path) -> None:
    found = answer(store, "lenet", "time")
    assert (found["state"], found["source"], found["steps"], found["step"]) == ("ready", PROFILE, [-1], -1)
    assert found["matched"][0] == "43 of 43 names matched"
    (raw,) = (runs / "lenet").rglob("cpu_op_detail_info_0.csv")
    table = pd.read_csv(raw)
    total = float((table["op_total_time(ms)"] * 1e6).round().sum())
    assert found["sums"][0].endswith(f"= {written(METRICS['time'], total)} in the table")
    painter = Painter(store, Views(RunGraphs(store)))
    asked = read_paint(asking(store, "lenet", "time"))
    assert asked is not None
    painted = painter.painted(asked)
    assert float(np.nansum(painted.step.node)) == total
    # Every closed box of the drawing has what is in it, and the boxes together have everything.
    drawing = drawn(Views(RunGraphs(store)), DrawingRequest.read(asking(store, "lenet", "time")))
    closed = {one["data"]["id"] for one in drawing["elements"] if "frame" not in one.get("classes", "").split()}
    values = [painter_value(painted, key) for key in found["boxes"] if key in closed and "." not in key]
    assert sum(values) == total
    assert "4.30 s" in texts_of(found["list"])


def painter_value(painted: Any, key: str) -> float:
    return value_of(painted, name_of(painted.view, key))


def texts_of(markup: Any) -> str:
    return json.dumps(markup, ensure_ascii=False)


def test_nan_of_a_dump_by_iteration(store: Store, runs: Path) -> None:
    counts = []
    for step in range(4):
        found = answer(store, "nan", "nan", at=[str(step)])
        assert (found["state"], found["steps"], found["step"]) == ("ready", [0, 1, 2, 3], step)
        assert found["parts"] == [["0", ["Rank 0", "rank 0"]]]
        tensors = store.dumps.open(found_key(store)).dump
        assert tensors is not None
        table = tensors.statistics_of()
        rows = table[table["io"].isin(["output", "parameter"]) & (table["iteration"] == step)]
        total = int(rows["nan"].clip(lower=0).sum())
        assert found["sums"][0].endswith(f"= {total:,} in the table")
        counts.append(total)
    assert counts == sorted(counts)
    assert counts[-1] == 2_323
    # The scale is that of all iterations.
    tops = {answer(store, "nan", "nan", at=[str(step)])["bar"]["ticks"][-1][1] for step in (1, 3)}
    assert len(tops) == 1


def test_graphs_of_a_dump_are_listed_and_painted_by_their_own_tensors(real_data: Path) -> None:
    store = Store([str(real_data / "dump")], interval=0).start()
    try:
        assert store.wait(30)
        asked = partial(catalogue, store, {"run": ["out_cf", "out_tensor"]})
        listed = when(asked, lambda found: found is not None and not found["listing"])
        assert listed is not None
        graphs = {run["key"]: run["graphs"] for run in listed["runs"]}
        assert [one["name"] for one in graphs["out_cf/rank_0"]] == [f"dump:0.{number}" for number in range(9)]
        assert graphs["out_tensor/rank_0"][0]["label"][0] == "Dump, rank 0, graph 0"
        source = RunGraphs(store)
        painter = Painter(store, Views(source))
        dump = store.dumps.open("out_cf").dump
        assert dump is not None
        tensors = dump.statistics_of().assign(graph=dump.tensors["graph"].to_numpy())
        outputs = tensors[tensors["io"].isin(["output", "parameter"]) & (tensors["iteration"] >= 0)]
        painted = 0
        for number in range(9):
            asked = {"run": ["out_cf/rank_0"], "graph": [f"dump:0.{number}"], "paint": ["nan"], "simple": ["0"]}
            found = when(partial(painter.answer, asked), lambda found: found["state"] not in ("reading", "waiting"))
            own = outputs[outputs["graph"] == number]
            assert found["steps"] == sorted(own["iteration"].unique())
            if not found["steps"]:
                continue
            names = own[(own["iteration"] == found["step"]) & (own["nan"] >= 0)]
            assert found["matched"][0].endswith(f"of {names['name'].nunique()} names matched")
            painted += len(found["boxes"]) > 0
        assert painted >= 3
        assert source.graph("out_cf", "dump:0.99") is None
        assert source.graph("nobody", "dump:0.0") is None
        assert place_of("dump:1.2") == (1, 2)
        assert {place_of(name) for name in ("dump:", "dump:1", "dump:1.x", "1.2", "dump:².1")} == {None}
    finally:
        store.stop()


def found_key(store: Store) -> str:
    return next(row.key for row in store.runs.rows() if "nan" in row.members)


def test_recorded_histograms_of_parameters(store: Store) -> None:
    found = answer(store, "diverges", "nan")
    assert found["source"] == '["histogram","diverges"]'
    assert found["matched"][0] == "3 of 4 names matched"
    assert found["steps"][-1] == found["step"]
    assert "conv1/activation" in texts_of(found["list"])
    assert answer(store, "diverges", "norm")["source"] == '["tensor","diverges"]'


def test_values_of_other_runs_are_offered_and_not_taken(store: Store) -> None:
    found = answer(store, "tensor", "time")
    assert (found["state"], found["source"], found["boxes"]) == ("missing", "", {})
    assert "is missing" in found["problem"][0]
    assert "offered above" in found["problem"][0]
    assert [key for key, _ in found["sources"]] == [PROFILE]
    taken = answer(store, "tensor", "time", by=[PROFILE])
    assert (taken["state"], taken["matched"][0]) == ("ready", "7 of 43 names matched")
    assert "no node of this name" in texts_of(taken["list"])


def test_what_a_source_lacks_is_named(store: Store) -> None:
    assert "flops_*.txt" in answer(store, "lenet", "flops")["problem"][0]
    assert "operator_memory.csv" in answer(store, "lenet", "memory")["problem"][0]
    assert "no value of this kind" in answer(store, "tensor", "overflow")["problem"][0]
    against = answer(store, "lenet", "time", **{"with": ["lenet"], "other": [store.graphs.locations("lenet")[0].name]})
    assert against["problem"][0] == "Compared graphs are not painted."


def test_files_carry_the_values(store: Store) -> None:
    views = Views(RunGraphs(store))
    painter = Painter(store, views)
    answer(store, "tensor", "norm")
    asked = asking(store, "tensor", "norm", at=["2"])
    rows = list(csv.DictReader(io.StringIO(file(views, asked | {"form": ["painted.csv"]}, painter)["content"], newline="")))
    assert {row["step"] for row in rows} == {"2"}
    assert {row["matched"] for row in rows if row["kind"] == "node"} == {"name"}
    top = next(row for row in rows if row["kind"] == "scope" and not row["name"])
    assert float(top["value"]) == max(float(row["value"]) for row in rows if row["kind"] == "node")
    picture = file(views, asked | {"form": ["svg"]}, painter)["content"]
    assert "L2 norm, step 2" in picture
    assert "linearGradient" in picture
    assert "linearGradient" not in file(views, asked | {"form": ["svg"], "paint": []}, painter)["content"]
    fact = texts(painter.fact(asked, ""))
    assert "L2 norm" in fact
    assert painter.fact(asked | {"paint": []}, "") == []
    with pytest.raises(BadInput):
        file(views, asked | {"form": ["painted.csv"], "paint": []}, painter)


def test_an_execution_unit_is_chosen_and_an_absent_profile_is_missing() -> None:
    nodes, edges = transformer(2)
    names = [name for name, kind in zip(nodes["full_name"], nodes["kind"], strict=True) if kind == "operator"]
    rows = len(names)
    table = {column.name: OPERATORS.empty()[column.name].reindex(range(rows)) for column in OPERATORS.columns}
    table |= {"full_name": pd.Categorical(names), "total_ns": np.arange(rows) + 1.0, "self_ns": np.full(rows, np.nan)}
    table["core"] = pd.Categorical(["AI_CORE" if place % 2 else "HOST_CPU" for place in range(rows)])
    profiles = {("s", 0): {"operators": pd.DataFrame(table)}}
    made = Graph.of(Origin("g"), "g", "pb", nodes, edges, (), (), NoDetails())
    source = MemorySource({"r": {"graphs": {"g": made}, "profiles": profiles}})
    painter = Painter(source, Views(RunGraphs(source)))
    asked = {"run": ["r"], "graph": ["g"], "paint": ["time"]}
    found = painter.answer(asked)
    assert [part for part, _ in found["parts"]] == ["ai_core", "host_cpu"]
    assert found["part"] == "ai_core"
    both = [sum(values_of(painter, asked | {"part": [part]})) for part in ("ai_core", "host_cpu")]
    assert both == [sum(range(2, rows + 1, 2)), sum(range(1, rows + 1, 2))]
    gone = painter.answer(asked | {"by": ['["profile","r","gone",0]']})
    assert gone["state"] == "missing"
    assert painter.answer({"run": ["nobody"], "graph": ["g"], "paint": ["time"]}) == {"state": "none"}


def values_of(painter: Painter, asked: dict[str, list[str]]) -> list[float]:
    found = read_paint(asked)
    assert found is not None
    node = painter.painted(found).step.node
    return [float(one) for one in node[~np.isnan(node)]]


class NoDetails:
    """A graph without attributes."""

    nbytes = 0

    def attributes(self, row: int) -> dict[str, str]:
        return {}

    def raw(self, row: int) -> bytes:
        return b""

    def mentions(self, word: str) -> list[int]:
        return []

    def source_lines(self, row: int) -> tuple[()]:
        return ()


@pytest.mark.parametrize("written_as", [
    "{", "[]", "[1]", '["profile","r"]', '["profile","r","s","0"]', '["profile","r","s",true]', '["dump"]', '["dump",1]',
    '["other","r"]', "[" * 5_000, "null", '"profile"',
])  # fmt: skip
def test_names_of_sources_are_refused_unless_they_are_whole(written_as: str) -> None:
    with pytest.raises(BadInput):
        read_source(written_as)


def test_names_of_sources_come_back() -> None:
    for one in (PaintSource("profile", "r/中", "a b", -1), PaintSource("dump", "r"), PaintSource("tensor", "x|y")):
        assert read_source(one.key) == one
    assert read_source("") is None
    with pytest.raises(BadInput):
        read_paint({"paint": ["colour"]})
    assert read_paint({"run": ["r"]}) is None
    # A source that cannot have a metric is not taken for it.
    asked = read_paint({"run": ["r"], "paint": ["time"], "by": ['["dump","r"]']})
    assert asked is not None
    assert asked.by is None


def test_offers_of_an_unknown_run() -> None:
    assert offers(MemorySource(), "r", None, "time") == []


@pytest.mark.parametrize("dark", [False, True])
def test_texts_are_legible_on_every_colour_and_lightness_is_monotonous(dark: bool) -> None:
    scale = Scale(0.0, 1.0, dark=dark)
    colours = [scale.colour(place / 50) for place in range(51)]
    for colour in colours:
        one, other = sorted((luminance(colour), luminance(ink(colour))))
        assert (other + 0.05) / (one + 0.05) >= 4.5
    light = [luminance(colour) for colour in colours]
    assert light == sorted(light, reverse=not dark)
    assert len(set(colours)) == 51


def test_scales() -> None:
    assert scale_of([]) == Scale(0.0, 0.0)
    assert scale_of([0.0, 0.0]).share(0.0) == 0.0
    assert scale_of([3.0]).share(3.0) == 1.0
    assert scale_of([1.0, 2.0], 8.0) == Scale(0.0, 8.0)
    log = scale_of([0.0, 1.0, 100.0], log=True)
    assert log == Scale(1.0, 100.0, True)
    assert [log.share(value) for value in (0.0, 1.0, 10.0, 100.0, 1e9)] == pytest.approx([0, 0, 0.5, 1, 1])
    assert log.value(0.5) == pytest.approx(10.0)
    assert scale_of([5.0, 5.0], log=True) == Scale(0.0, 5.0)
    assert scale_of([float("inf"), 2.0]).high == 2.0
    assert Scale(0.0, 2.0).share(float("nan")) == 0.0
    assert Scale(0.0, 2.0).colour(float("inf")) == Scale(0.0, 2.0).colour(2.0)


def test_values_are_written_with_their_units() -> None:
    said = {"time": "1.50 ms", "flops": "1.50 MFLOPs", "memory": "1.43 MiB", "nan": "1,500,000", "norm": "1.500e+06"}
    assert {name: written(METRICS[name], 1.5e6) for name in said} == said
    assert written(METRICS["use"], 0.125) == "12.5 %"
    assert written(METRICS["norm"], float("nan")) == "NaN"
