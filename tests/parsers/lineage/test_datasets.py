from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import DATASET_NODES, DatasetGraph, DatasetNode, discover, open_run
from parsers.events.messages import message_class
from parsers.lineage.datasets import dataset_graph
from parsers.recording.wire import delimited, float64
from parsers.runs import Run
from tests.parsers.events.event_reference import framed, records
from tests.parsers.lineage.lineage_reference import lineage_files, write_run


def graph(**fields: Any) -> DatasetGraph:
    return dataset_graph(memoryview(message_class("mindspore.DatasetGraph")(**fields).SerializeToString()))


def named(name: str, *children: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"parameter": {"mapStr": {"op_type": name}}, "children": list(children), **fields}


def check_node(node: DatasetNode, message: Any) -> int:
    """Compare a node and what is below it with protobuf's message; how many nodes there are."""
    parameter = message.parameter
    wanted: dict[str, Any] = dict(parameter.mapBool) | dict(parameter.mapInt) | dict(parameter.mapDouble)
    wanted |= {name: None if value == "None" else value for name, value in parameter.mapStr.items()}
    wanted |= {name: [one or None for one in value.strValue] for name, value in parameter.mapStrList.items()}
    assert node.recorded == wanted.pop("op_type", "")
    assert node.parameters == wanted
    assert [one.name for one in node.operations] == [one.operationParam.mapStr["tensor_op_name"] for one in message.operations]
    assert (node.sampler is None) == (not message.HasField("sampler"))
    assert len(node.children) == len(message.children)
    return 1 + sum(check_node(*pair) for pair in zip(node.children, message.children, strict=True))


def test_real_pipelines_are_what_protobuf_reads(real_data: Path) -> None:
    count = 0
    for leaf in (leaf for source in discover(real_data / "summary") for leaf in source.leaves):
        run = Run(leaf)
        run.refresh()
        events = [
            message_class("mindspore.LineageEvent").FromString(data)
            for path in lineage_files(leaf.path) for _, data in records(Path(path).read_bytes())
        ]  # fmt: skip
        wanted = [event.dataset_graph for event in events if event.HasField("dataset_graph")]
        found = run.dataset_graph
        assert (found is None) == (not wanted)
        if found is None:
            continue
        count += 1
        assert check_node(found.root, wanted[-1]) == len(DATASET_NODES.check(found.nodes))
        assert [node.type for _, _, node in found.walk()] == ["Batch", "Shuffle", "Map", "Map", "MnistDataset"]
        assert found.nodes["kind"].tolist() == ["batch", "shuffle", "map", "map", "create"]
        assert json.loads(found.nodes["sampler"].iloc[-1])["name"] == "RandomSampler"
        resize = found.root.children[0].children[0].operations[0]
        assert (resize.name, resize.parameters["size"]) == ("Resize", [32, 32])
        assert run.kinds()["dataset_graph"] == 1
    assert count == 21


def test_every_branch_is_there() -> None:
    mnist, image = named("MnistDataset"), named("ImageFolderDataset")
    found = graph(**named("BatchDataset", named("ZipDataset", named("RepeatDataset", mnist), image)))
    assert found.nodes["parent"].tolist() == [-1, 0, 1, 2, 1]
    assert found.nodes["level"].tolist() == [0, 1, 2, 3, 2]
    assert found.nodes["type"].tolist() == ["Batch", "Zip", "Repeat", "MnistDataset", "ImageFolderDataset"]
    assert found.nodes["recorded"].tolist()[:4] == ["BatchDataset", "ZipDataset", "RepeatDataset", "MnistDataset"]
    assert found.nodes["kind"].tolist() == ["batch", "operator", "repeat", "create", "create"]


def test_size_and_weights_are_not_mixed() -> None:
    operation = {"operationParam": {"mapStr": {"tensor_op_name": "RandomChoice"}}, "size": [3, 4], "weights": [0.5]}
    [found] = graph(**named("Map", named("MnistDataset"), operations=[operation])).root.operations
    assert (found.size, found.weights) == ((3, 4), (0.5,))


def test_none_and_empty_texts() -> None:
    lists = {"c": {"strValue": ["", "x", "None"]}, "d": {}}
    parameter = {"mapStr": {"op_type": "Map", "a": "None", "b": ""}, "mapStrList": lists}
    assert graph(parameter=parameter).root.parameters == {"a": None, "b": "", "c": [None, "x", "None"], "d": []}


@pytest.mark.parametrize(
    ("written", "wanted"),
    [("None", {}), ('{"a": [1, null]}', {"a": [1, None]}), ("[1]", {"tensor_op_params": "[1]"}), ("{}", {}),
     ("{", {"tensor_op_params": "{"}), ("[" * 9999, {"tensor_op_params": "[" * 9999}),
     ('{"a": "\\ud800"}', {"tensor_op_params": '{"a": "\\ud800"}'})],
)  # fmt: skip
def test_parameters_of_operations_as_text(written: str, wanted: dict[str, Any]) -> None:
    operation = {"operationParam": {"mapStr": {"tensor_op_name": "Op", "tensor_op_params": written}}}
    found = graph(**named("Map", operations=[operation]))
    assert found.root.operations[0].parameters == wanted
    assert DATASET_NODES.check(found.nodes).to_csv().encode()


def test_equal_pipelines_have_equal_marks() -> None:
    def made(size: int, name: str = "Batch") -> DatasetGraph:
        return graph(parameter={"mapStr": {"op_type": name}, "mapInt": {"batch_size": size}}, children=[named("MnistDataset")])

    assert made(32).mark == made(32).mark == made(32, "BatchDataset").mark
    assert made(32).mark != made(64).mark
    assert graph(**named("Zip", named("A"), named("B"))).mark != graph(**named("Zip", named("B"), named("A"))).mark
    assert graph(**named("Zip", named("A"), named("B"))).mark != graph(**named("Zip", named("A", named("B")))).mark


def test_what_is_too_deep_or_too_much_is_told() -> None:
    deep = b""
    for _ in range(3000):
        deep = delimited(1, deep)
    found = dataset_graph(memoryview(deep))
    assert len(found.nodes) == 100
    assert "100 levels" in found.problem
    wide = dataset_graph(memoryview(delimited(1, b"") * 30_000))
    assert len(wide.nodes) == 20_000
    assert "20,000 operations" in wide.problem


def test_a_pipeline_that_is_cut_short_is_a_problem_of_its_file(tmp_path: Path) -> None:
    run = open_run(write_run(tmp_path, framed(float64(1, 1.0) + delimited(9, delimited(1, b"") * 30_000))))
    assert run.dataset_graph is not None
    assert [problem.kind for problem in run.problems] == ["bad_value"]


NAMES = st.text(max_size=5)
PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "mapStr": st.dictionaries(NAMES, NAMES, max_size=3), "mapInt": st.dictionaries(NAMES, st.integers(-5, 5), max_size=2),
        "mapBool": st.dictionaries(NAMES, st.booleans(), max_size=2),
        "mapDouble": st.dictionaries(NAMES, st.floats(allow_nan=False), max_size=2),
    },
)  # fmt: skip
TREES = st.recursive(
    st.fixed_dictionaries({"parameter": PARAMETERS}),
    lambda below: st.fixed_dictionaries({"parameter": PARAMETERS, "children": st.lists(below, max_size=3)}),
    max_leaves=12,
)


def test_one_name_in_two_maps_is_the_later_field() -> None:
    assert graph(parameter={"mapStr": {"a": "x"}, "mapInt": {"a": 1}}).root.parameters == {"a": 1}


@given(tree=TREES)
def test_any_tree_is_read_whole(tree: dict[str, Any]) -> None:
    message = message_class("mindspore.DatasetGraph")(**tree)
    found = dataset_graph(memoryview(message.SerializeToString()))

    def count(node: Any) -> int:
        return 1 + sum(map(count, node.children))

    assert len(DATASET_NODES.check(found.nodes)) == count(message)
    parents = found.nodes["parent"].to_numpy()
    assert (parents[1:] < range(1, len(parents))).all()
