"""run.graphs: every graph of a run by name, read when asked for, read again when its file changed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from parsers import Graph, PayloadError, discover, open_run
from parsers.graphs.reader import GRAPHS
from parsers.recording import EventWriter
from tests.parsers.graphs.reference import message

DATA = Path(__file__).parents[2] / "data/mindspore/2.10"


def made(*names: str) -> bytes:
    graph = message("mindspore.GraphProto")()
    graph.name = "net"
    for name in names:
        graph.node.add(name=name, op_type="ReLU", full_name=f"Default/ReLU-op{name}")
    data: bytes = graph.SerializeToString()
    return data


def test_all_graphs_of_a_run_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "events.out.events.summary.1700000000.0.host_MS"
    with EventWriter(str(path), "mindspore") as writer:
        writer.add_graph(made("1"), wall_time=5.0)
        writer.add_graph(made("1", "2"), wall_time=6.0)
    (tmp_path / "ms_output_optimize.pb").write_bytes(made("1", "2", "3"))
    shutil.copy(DATA / "00_bootstrap_0000.ir", tmp_path)
    run = open_run(tmp_path)
    names = ["00_bootstrap_0000.ir", "ms_output_optimize.pb", path.name, f"{path.name} #2"]
    assert (list(run.graphs), run.kinds()["graph"]) == (names, 4)
    assert [len(graph.nodes) for graph in run.graphs.values()] == [5, 3, 1, 2]
    graphs = list(run.graphs.values())
    assert [graph.name for graph in graphs] == names
    assert [graph.stage for graph in graphs] == ["00_bootstrap", "optimize", "", ""]
    assert [graph.format for graph in graphs] == ["ir", "mindspore", "mindspore", "mindspore"]
    assert [graph.wall_time for graph in graphs[2:]] == [5.0, 6.0]
    assert graphs[1].wall_time == os.stat(tmp_path / "ms_output_optimize.pb").st_mtime
    for graph in graphs[2:]:
        with open(path, "rb") as file:
            assert file.read()[graph.nodes["order"][0] :].startswith(b"\x12\x011\x1a\x04ReLU")
    assert run.graphs[names[3]] is graphs[3]
    assert "nothing" not in run.graphs
    with pytest.raises(KeyError):
        run.graphs["nothing"]


def test_a_graph_that_changed_is_read_again_and_one_that_went_is_told(tmp_path: Path) -> None:
    path = tmp_path / "ms_output_optimize.pb"
    path.write_bytes(made("1", "2"))
    run = open_run(tmp_path)
    (graph,) = run.graphs.values()
    path.write_bytes(made("1", "3"))
    os.utime(path, (1e9, 1e9))
    assert run.refresh()
    (again,) = run.graphs.values()
    assert (graph.nodes["name"].tolist(), again.nodes["name"].tolist()) == (["1", "2"], ["1", "3"])
    assert not run.refresh()
    path.write_bytes(made("1", "2", "4"))
    (path.parent / "other.pb").write_bytes(made("9"))
    fresh = open_run(tmp_path)
    path.unlink()
    with pytest.raises(PayloadError, match="No such file"):
        fresh.graphs[path.name]


def test_files_that_are_no_graph_say_so(real_data: Path, tmp_path: Path) -> None:
    for source in discover(real_data / "ir"):
        run = open_run(source.path)
        actors = {os.path.join(source.path, path) for path in source_files(source.path) if "actor_set" in path}
        assert {problem.path for problem in run.problems} == actors
        assert all(problem.is_note and "actors" in problem.text for problem in run.problems)
        assert len(run.graphs) == run.kinds()["graph"] == len(source.files) - len(actors)
    (tmp_path / "noise.pb").write_bytes(bytes(range(256)))
    (tmp_path / "words.dot").write_text("not a graph at all")
    run = open_run(tmp_path)
    found = [(problem.kind, "another program" in problem.text) for problem in run.problems]
    assert found == [("note", True), ("no_graph", False)]
    assert not run.graphs


def test_profiles_of_xla_are_named_and_no_graphs(real_data: Path) -> None:
    files = sorted((real_data / "accelerators" / "xplane").rglob("*.xplane.pb"))
    assert len(files) == 3
    for path in files:
        run = open_run(path.parent)
        own = [problem for problem in run.problems if problem.path == str(path)]
        assert [(one.kind, "profile of XLA" in one.text) for one in own] == [("note", True)]
        assert path.name not in run.graphs
        assert not GRAPHS.sniff(path.read_bytes()[:4096])


def source_files(directory: str) -> list[str]:
    return [os.path.relpath(os.path.join(place, name), directory) for place, _, names in os.walk(directory) for name in names]


@pytest.mark.long
def test_every_graph_of_every_real_run_opens(real_data: Path) -> None:
    opened: list[Graph] = []
    for folder in ("summary", "tensorboard", "ir", "mindinsight_legacy/graph_pb"):
        for source in discover(real_data / folder):
            for leaf in source.leaves:
                opened += open_run(leaf.path).graphs.values()
    assert len(opened) == 25 + 1 + 37 + 1
    assert not [graph.name for graph in opened if graph.format in ("ir", "dot") and graph.problems]


def test_a_damaged_record_is_told(tmp_path: Path) -> None:
    path = tmp_path / "events.out.events.summary.1700000000.0.host_MS"
    with EventWriter(str(path), "mindspore") as writer:
        writer.add_graph(made(*map(str, range(2000))), wall_time=5.0)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    run = open_run(tmp_path)
    if run.graphs:
        with pytest.raises(PayloadError, match="damaged"):
            list(run.graphs.values())
    else:
        assert run.problems


def test_what_decoding_finds_wrong_is_a_problem_of_the_run_until_the_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "ms_output_optimize.pb"
    path.write_bytes(made("1", "1"))
    run = open_run(tmp_path)
    assert run.problems == ()
    for _ in range(2):
        (graph,) = run.graphs.values()
        assert run.problems == graph.problems
    assert [problem.kind for problem in run.problems] == ["bad_graph"]
    path.write_bytes(made("1", "2", "3"))
    assert run.refresh()
    assert [graph.problems for graph in run.graphs.values()] == [()]
    assert [problem.kind for problem in run.problems if problem.kind == "bad_graph"] == []


OURS = {"inputs", "types", "calls", "primitive", "text", "value", "declaration", "default"}
"""Names of what the readers tell of a node that the file writes without one."""


@pytest.mark.long
def test_nodes_that_have_an_attribute_are_found_without_decoding_the_others(real_data: Path) -> None:
    runs = [*discover(real_data / "ir"), *discover(real_data / "summary" / "graph_resnet50_train")]
    kinds: set[str] = set()
    total = 0
    for graph in (graph for run in runs for graph in open_run(run.path).graphs.values()):
        if graph.format in kinds:
            continue
        kinds.add(graph.format)
        every = [graph.attributes(row) for row in range(len(graph.nodes))]
        data = Path(graph.path).read_bytes()
        written = sorted({key for known in every for key in known if key.encode() in data and "." not in key} - OURS)
        total += len(written)
        for key in written[:40]:
            wanted = {row: text for row, known in reversed(list(enumerate(every)))
                      for one, text in reversed(known.items()) if one == key or one.endswith(f".{key}")}  # fmt: skip
            assert graph.having(key) == wanted
        assert graph.having("no such attribute") == {}
        alike: dict[bytes, dict[str, str]] = {}
        for row, known in enumerate(every):
            assert not graph.raw(row) or alike.setdefault(graph.raw(row), known) == known
    assert {"mindspore", "ir", "dot"} <= kinds
    assert total >= 20
