"""parallel_strategy_<r>.json: the files of MindInsight's tests, made ones, and damaged ones."""

from __future__ import annotations

import json
import resource
import time
from pathlib import Path

import pytest

from app.demo.simulated import strategy_files as made
from parsers import open_run
from parsers.graphs.anf_ir import read_graph
from parsers.graphs.graph import Origin
from parsers.profiler import strategy
from parsers.profiler.frame_parts import FramePart, ProfileInput
from parsers.profiler.lines import Complaints
from parsers.profiler.strategy import phase_of, read_config, strategies
from parsers.profiler.strategy_values import output_of, shards_of, value_text
from tests.parsers.profiler.strategy_files import strategy_file


def read(path: Path) -> FramePart:
    return strategies(ProfileInput(str(path), path.name, {}))


def texts(part: FramePart) -> list[str]:
    return [problem.text for problem in part.problems]


def test_the_files_of_mindinsight_have_its_stage_map(real_data: Path) -> None:
    run = open_run(real_data / "mindinsight_legacy/parallel_strategy")
    (job,) = run.profile.jobs
    assert job.stages["rank"].tolist() == [0, 1]
    assert job.stages[["told_rank", "stage"]].to_numpy().tolist() == [[0, 0], [1, 0]]
    assert set(job.stages["mode"]) == {"auto_parallel"}
    assert set(job.stages["stages"]) == {"0-1"}  # MindInsight: {"0": [0, 1]}
    assert not job.problems


def test_the_nodes_of_mindinsight(real_data: Path) -> None:
    folder = real_data / "mindinsight_legacy/parallel_strategy"
    frame = open_run(folder).profile[".", 0].strategies
    raw = json.loads((folder / "parallel_strategy_0.json").read_text())["graph"]
    assert frame["name"].tolist() == [*(one["name"] for one in raw["node"]), "conv1.weight", "cst1"]
    assert frame["kind"].tolist() == ["operator", "operator", "parameter", "constant"]
    assert frame["strategy"].tolist() == ["", "2,1,1,1;1,1,1,1", "", ""]
    assert frame["shape"].tolist()[2] == "64x3x7x7"
    assert frame["output_type"].tolist()[0] == "Tuple[Tensor[Float32], Tensor[Int32]]"
    shown = json.loads(frame["attributes"].tolist()[1])
    assert shown["pad_list"] == "(2, 3, 2, 3)"
    assert shown["group"] == "0"
    assert json.loads(frame["attributes"].tolist()[0])["shapes"] == "((32, 3, 224, 224), (32,))"


def test_a_made_file(tmp_path: Path) -> None:
    part = read(made.write(tmp_path, 0, strategy_file()))
    frame = part.frame
    assert not part.problems
    assert frame["number"].tolist() == list(range(13))
    assert frame["inputs"].tolist()[:8] == ["", "0;10", "1", "2;12", "3;11", "0;10", "4;^5", "6"]
    operators = frame[frame["kind"] == "operator"]
    assert operators["inserted"].tolist() == [
        "", "", "redistribution", "redistribution", "", "", "", "gradient", "gradient", "redistribution",
    ]  # fmt: skip
    assert operators["phase"].tolist() == [*["forward"] * 5, "recompute", *["backward"] * 3, "optimizer"]
    assert operators["strategy_from"].tolist()[1:7] == ["gen_strategy", "", "", "in_strategy", "gen_strategy", "gen_strategy"]
    assert operators["strategy"].tolist()[4] == "1,2;2,3"
    assert frame["type"].tolist()[-1] == "Const"
    assert json.loads(frame["attributes"].tolist()[-1]) == {"value": "1"}


def test_the_generated_strategy_comes_before_the_one_that_was_set(tmp_path: Path) -> None:
    nodes = [made.node("1", "Add", "Default", strategy=[[4]], user=[[2]]), made.node("2", "Add", "Default", user=[[2]])]
    nodes.append(made.node("3", "Add", "Default"))
    nodes[2]["attribute"] = [
        {"name": name, "value": made.tuple_of([[many]])} for name, many in (("in_strategy", 2), ("gen_strategy", 4))
    ]
    frame = read(made.write(tmp_path, 0, made.content(nodes))).frame
    assert frame["strategy"].tolist() == ["4", "2", "4"]


def test_the_binary_form_of_the_same_values_has_the_same_texts(tmp_path: Path) -> None:
    from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="one.proto", syntax="proto2")
    optional, repeated = 1, 3
    of = {"int64": 3, "string": 9, "enum": 14, "message": 11}

    def message(name: str, *fields: tuple[str, int, int, str, str]) -> None:
        one = file.message_type.add(name=name)
        for field, number, label, kind, known in fields:
            one.field.add(name=field, number=number, label=label, type=of[kind], **({"type_name": known} if known else {}))

    kinds = file.enum_type.add(name="DataType")
    for name, number in (
        ("DT_UNDEFINED", 0),
        ("DT_INT64", 5),
        ("DT_FLOAT32", 11),
        ("DT_STRING", 13),
        ("DT_TENSOR", 14),
        ("DT_TUPLE", 31),
    ):
        kinds.value.add(name=name, number=number)
    message("Dim", ("size", 1, optional, "int64", ""))
    message("Shape", ("dim", 1, repeated, "message", "Dim"))
    message("Tensor", ("elem_type", 1, optional, "enum", "DataType"), ("shape", 2, optional, "message", "Shape"))
    message("Sequence", ("elem_types", 1, repeated, "message", "Type"))
    message(
        "Type", ("data_type", 1, optional, "enum", "DataType"), ("tensor_type", 2, optional, "message", "Tensor"),
        ("sequence_type", 3, optional, "message", "Sequence"),
    )  # fmt: skip
    message(
        "Value", ("dtype", 1, optional, "enum", "DataType"), ("int_val", 3, optional, "int64", ""),
        ("str_val", 7, optional, "string", ""), ("values", 18, repeated, "message", "Value"),
    )  # fmt: skip
    message("Attribute", ("name", 1, optional, "string", ""), ("value", 2, optional, "message", "Value"))
    message("Input", ("name", 1, optional, "string", ""))
    message(
        "Node", ("input", 1, repeated, "message", "Input"), ("name", 2, optional, "string", ""),
        ("op_type", 3, optional, "string", ""), ("scope", 4, optional, "string", ""),
        ("attribute", 5, repeated, "message", "Attribute"), ("output_type", 6, optional, "message", "Type"),
        ("full_name", 8, optional, "string", ""), ("instance_name", 10, optional, "string", ""),
    )  # fmt: skip
    message("Graph", ("node", 1, repeated, "message", "Node"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    graph_class = message_factory.GetMessageClass(pool.FindMessageTypeByName("Graph"))
    told = made.content([
        made.node("1", "Add", "Default/a", strategy=[[2, 1], [1]], more={"name": {"dtype": "DT_STRING", "strVal": "x y"}}),
        made.node("2", "Sub", "Default/b", ["1"], shape=(), more={"many": made.tuple_of([1, [2, 3], []])}),
    ])  # fmt: skip
    for one in told["graph"]["node"]:
        for taken in one["input"]:
            del taken["type"]
    message_of = json_format.ParseDict({"node": told["graph"]["node"]}, graph_class())
    graph = read_graph(message_of.SerializeToString(), Origin("g"))
    frame = read(made.write(tmp_path, 0, told)).frame
    for column in ("name", "full_name", "scope", "type", "output_type", "shape", "instance"):
        assert frame[column].astype("str").tolist() == graph.nodes[column].astype("str").tolist(), column
    assert [json.loads(text) for text in frame["attributes"].tolist()] == [graph.attributes(row) for row in range(2)]


@pytest.mark.parametrize(("scope", "phase"), [
    ("Default/net", "forward"), ("", "forward"), ("Gradients/Default/net", "backward"), ("recompute_Default/net", "recompute"),
    ("recompute_Gradients/x", "recompute"), ("Default/optimizer-Adam", "optimizer"), ("Default/recompute_block", "forward"),
    ("Gradients/recompute_Default/net", "backward"),
])  # fmt: skip
def test_phases(scope: str, phase: str) -> None:
    assert phase_of(scope) == phase


def test_texts_of_values_and_types() -> None:
    assert value_text({"dtype": "DT_BOOL", "boolVal": True}) == "True"
    assert value_text({"dtype": "DT_TUPLE", "values": [made.whole(1)]}) == "(1,)"
    assert value_text({"dtype": "DT_LIST", "values": [{"dtype": "DT_STRING", "strVal": 'a"b'}]}) == '["a\\"b"]'
    assert value_text({"dtype": "DT_NONE"}) == "None"
    assert value_text({"dtype": "DT_STRING", "strVal": "x" * 10_000}).endswith("…")
    assert value_text({"tensorVal": {"dims": ["2", "3"], "dataType": "DT_FLOAT32"}}) == "Tensor[Float32] 2x3"
    assert value_text({"dtype": "DT_LIST", "intVals": ["1", "2"]}) == "[1, 2]"
    assert value_text(7) == "7"
    assert output_of(made.tensor(())) == ("Tensor[Float32]", "[]")
    assert output_of({"dataType": "DT_NEW"}) == ("NEW", "")
    assert output_of(None) == ("", "")
    assert shards_of(made.tuple_of([[2, 1], [], [4]])) == "2,1;;4"
    assert shards_of(made.tuple_of([2])) is None
    assert shards_of({"dtype": "DT_STRING", "strVal": "x"}) is None


def test_config_is_found_wherever_it_is(tmp_path: Path) -> None:
    told = strategy_file()
    turned = {"graph": {**told["graph"], "more": '"config" : {'}, "config": told["config"]}
    for number, one in enumerate((told, turned)):
        complaints = Complaints("x")
        config = read_config(str(made.write(tmp_path, number, one)), complaints)
        assert config is not None
        assert not complaints.problems
        assert (config.rank, config.stage, config.mode, config.stages) == (0, 0, "semi_auto_parallel", ((0, 1), (2, 3)))


def test_a_config_that_lacks_something_says_so(tmp_path: Path) -> None:
    def told(config: object) -> tuple[object, list[str]]:
        path = tmp_path / "parallel_strategy_0.json"
        path.write_text(json.dumps({"config": config, "graph": {}}))
        complaints = Complaints("x")
        return read_config(str(path), complaints), [problem.text for problem in complaints.problems]

    found, said = told({"rankId": 3, "parallelType": "semi_auto_parallel", "stageDevices": [{"dim": [{"size": "3"}]}]})
    assert found is not None
    assert found.stage == -1
    assert said == ["config.stageId: expected the number of the stage, found none."]
    _, said = told({"rankId": 3, "stageId": 4, "parallelType": "x", "stageDevices": [{"dim": [{"size": "a"}]}, {}]})
    assert len(said) == 4
    assert "expected a stage below 2" in said[-1]
    assert "found x" in said[0]
    assert told([])[0] is None
    assert told({"stageId": True, "rankId": -1, "stageDevices": {}})[1]


def test_the_job_reads_only_the_beginning_of_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategy, "HEAD", 1 << 10)
    (tmp_path / "profiler").mkdir()
    for rank in range(4):
        made.write(tmp_path / "profiler", rank, {**strategy_file(), "pad": "x" * 10_000})
    (job,) = open_run(tmp_path).profile.jobs
    assert job.stages["stages"].tolist() == ["0-1;2-3"] * 4
    assert job.extent("stages") == 4 << 10
    assert [text for problem in job.problems for text in [problem.text]] == []


def test_damaged_nodes_are_skipped_and_the_rest_is_shown(tmp_path: Path) -> None:
    told = strategy_file()
    told["graph"]["node"][2]["attribute"] = "none"
    told["graph"]["node"].append("text")
    part = read(made.write(tmp_path, 0, told))
    assert len(part.frame) == 12
    assert "AllGather" not in part.frame["type"].tolist()
    assert any("it was skipped" in text for text in texts(part))
    assert any(text.startswith("1 input names no node of the graph (3)") for text in texts(part))
    path = tmp_path / "parallel_strategy_1.json"
    whole = json.dumps(strategy_file())
    path.write_text(whole[: whole.index('"name": "7"')])
    part = read(path)
    assert part.frame["name"].tolist() == ["1", "2", "3", "4", "5", "6"]
    assert any("ends within its JSON" in text for text in texts(part))


@pytest.mark.long
def test_every_block_boundary_gives_the_same_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = strategy_file()
    told["graph"]["node"][1]["scope"] = 'Default/a "quoted} \\ name{'
    path = made.write(tmp_path, 0, told)
    whole = read(path).frame
    for size in (1, 2, 3, 7, 64, 1_000):
        monkeypatch.setattr(strategy, "BLOCK", size)
        part = read(path)
        assert not part.problems
        assert part.frame.astype("str").equals(whole.astype("str")), size


def test_two_nodes_of_one_name(tmp_path: Path) -> None:
    nodes = [made.node("1", "A", "Default"), made.node("1", "B", "Default"), made.node("2", "C", "Default", ["1"])]
    part = read(made.write(tmp_path, 0, made.content(nodes)))
    assert part.frame["inputs"].tolist() == ["", "", "0"]
    assert texts(part) == ["1 name is given to several nodes (1); inputs of such a name take the first one."]


@pytest.mark.parametrize("text", [
    "", "[]", "null", "{", "}" * 50, '{"graph": {"node": [[[[', "{\"graph\":" * 2_000, '{"graph": {"node": ' + "[" * 100_000,
    '{"graph": {"node": [{"attribute": [{"name": "x", "value": ' + '{"values": [' * 5_000 + "]}" * 5_000 + "}]}]}}",
    '{"graph": {"node": [{"name": "\\ud800"}, {"name": 1}, {"name": "1"}]}}',
])  # fmt: skip
def test_strange_content_raises_nothing(text: str, tmp_path: Path) -> None:
    path = tmp_path / "parallel_strategy_0.json"
    path.write_text(text)
    part = read(path)
    assert part.problems
    read_config(str(path), Complaints("x"))


def test_bombs_take_bounded_time_and_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategy, "MOST_NODES", 20_000)
    path = tmp_path / "parallel_strategy_0.json"
    path.write_bytes(b'{"graph":{"node":[' + b"{}," * 5_000_000 + b"{}]}}")
    before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    part = read(path)
    assert len(part.frame) == 20_000
    assert any("at most 20,000 nodes" in text for text in texts(part))
    path.write_bytes(b'{"graph":{"node":[{"name":"' + b"x" * (20 << 20) + b'"}]}}')
    assert any("expected nodes of at most" in text.lower() for text in texts(read(path)))
    assert time.process_time() - begun < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10
