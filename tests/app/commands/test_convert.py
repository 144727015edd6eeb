"""`mindscope convert`: exit codes, files, and what it says."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest

from tests.app.commands.running import called

OPS = Path(__file__).parents[2] / "data" / "converter" / "ops"
MODEL = OPS / "MatMul_w.onnx"
FILES = {
    "MatMul_w.py",
    "MatMul_w.ckpt",
    "conversion_of_MatMul_w.json",
    "report_of_MatMul_w.txt",
    "weight_map_of_MatMul_w.json",
    "operator_scanning_report.csv",
}
needs_onnx = pytest.mark.skipif(
    importlib.util.find_spec("onnxruntime") is None and not os.environ.get("CI"),
    reason="the packages of mindscope[convert] are not installed",
)


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()} if directory.exists() else set()


def test_without_the_extra_one_line_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    done = called("convert", MODEL, "--output", tmp_path / "out")
    assert done.returncode == 1
    assert done.stderr == "mindscope: convert needs ONNX, which is not installed: pip install 'mindscope[convert]'\n"
    assert names(tmp_path / "out") == set()


def test_a_model_of_tensorflow_gets_the_command_that_converts_it() -> None:
    done = called("convert", "frozen.pb")
    assert done.returncode == 2
    assert "python -m tf2onnx.convert --graphdef frozen.pb" in done.stderr


@pytest.mark.parametrize("arguments", [[], ["none.onnx"], [MODEL, "--model_file", MODEL]])
def test_one_model_that_exists_is_needed(arguments: list[object]) -> None:
    assert called("convert", *arguments).returncode == 2


@needs_onnx
@pytest.mark.parametrize("text", ["x=0,1", "x=", "x=1,a", "x=1e3", "x=-1"])
def test_sizes_are_numbers_above_zero(text: str, tmp_path: Path) -> None:
    done = called("convert", MODEL, "--output", tmp_path / "out", "--shape", text)
    assert done.returncode == 2
    assert "--shape" in done.stderr


@needs_onnx
def test_all_files_are_written(tmp_path: Path) -> None:
    done = called("convert", MODEL, "--output", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("1 of 1 nodes converted")
    assert names(tmp_path / "out") == FILES
    facts = json.loads((tmp_path / "out" / "conversion_of_MatMul_w.json").read_text())
    assert facts["counts"] == {"converted": 1, "folded": 0, "marked": 0}


@needs_onnx
def test_the_options_of_mindconverter_are_accepted(tmp_path: Path) -> None:
    old = ["--model_file", MODEL, "--report", tmp_path / "reports", "--in_file", "net.py"]
    old += ["--shape", "2,3,4", "--input_nodes", "x", "--output_nodes", "o0"]
    done = called("convert", *old, "--output", tmp_path / "out")
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert "--in_file has no meaning any more" in done.stderr
    assert names(tmp_path / "out") == {"MatMul_w.py", "MatMul_w.ckpt"}
    assert names(tmp_path / "reports") == FILES - {"MatMul_w.py", "MatMul_w.ckpt"}


@needs_onnx
@pytest.mark.parametrize("name", sorted(FILES))
def test_no_file_is_overwritten(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine")
    done = called("convert", MODEL, "--output", tmp_path)
    assert done.returncode == 2
    assert name in done.stderr
    assert names(tmp_path) == {name}
    assert (tmp_path / name).read_text() == "mine"


@needs_onnx
def test_a_directory_with_other_files_is_used(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("mine")
    assert called("convert", MODEL, "--output", tmp_path).returncode == 0
    assert names(tmp_path) == FILES | {"other.txt"}


@needs_onnx
def test_without_mindspore_it_is_not_checked(tmp_path: Path) -> None:
    done = called("convert", MODEL, "--output", tmp_path, "--check", "--mindspore", sys.executable)
    assert done.returncode == 0
    assert "not checked: " in done.stdout
    assert "has no MindSpore" in done.stdout
    check = json.loads((tmp_path / "conversion_of_MatMul_w.json").read_text())["check"]
    assert check["state"] == "not checked"
    assert "has no MindSpore" in check["reason"]


@needs_onnx
def test_an_interpreter_may_be_named_from_the_working_directory(tmp_path: Path) -> None:
    done = called("convert", MODEL, "--output", tmp_path, "--check", "--mindspore", os.path.relpath(sys.executable))
    assert "could not be started" not in done.stdout
    assert "has no MindSpore" in done.stdout


@needs_onnx
def test_an_interpreter_that_does_not_exist_is_named(tmp_path: Path) -> None:
    done = called("convert", MODEL, "--output", tmp_path, "--check", "--mindspore", "/no/python")
    assert done.returncode == 0
    assert "not checked: /no/python could not be started" in done.stdout


@needs_onnx
@pytest.mark.parametrize("most", [0, 1, 2])
def test_interrupted_every_file_is_complete_or_absent(most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.conversion import report

    assert called("convert", MODEL, "--output", tmp_path / "whole").returncode == 0
    ends = (report.report_json, report.report_text, report.weight_map)[most]

    def interrupt(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(report, ends.__name__, interrupt)
    done = called("convert", MODEL, "--output", tmp_path / "out")
    assert done.returncode == 130
    written = names(tmp_path / "out")
    assert len(written) == 2 + most
    assert written < FILES
    assert all((tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes() for name in written)


@needs_onnx
def test_a_node_without_a_mapping_is_marked(tmp_path: Path) -> None:
    from onnx import TensorProto, helper, save

    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Strange", ["a"], ["b"], "first", domain="custom"),
        helper.make_node("Odd", ["b"], ["y"], "second", domain="custom"),
    ]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("custom", 1)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "odd.onnx")
    done = called("convert", tmp_path / "odd.onnx", "--output", tmp_path / "out")
    assert done.returncode == 3
    assert done.stdout.startswith("1 of 3 nodes converted")
    text = (tmp_path / "out" / "odd.py").read_text()
    nodes_found = json.loads((tmp_path / "out" / "conversion_of_odd.json").read_text())["nodes"]
    messages = [node["message"] for node in nodes_found if node["state"] == "marked"]
    assert len(messages) == 2
    for message in messages:
        assert f"# {message}" in text
        assert f"raise NotImplementedError({message!r})" in text
        assert f"not converted: {message}" in done.stdout
