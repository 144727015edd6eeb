"""The code that records data: it is code, and what pages say of it."""

from __future__ import annotations

import ast
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from dash import html

import parsers.recording
from layouts import PAGES
from layouts.kit.page import Ids
from layouts.kit.recording import RECORDINGS, TOOLS, missing_data
from parsers import discover, open_run

CODES = [(kind, tool, code) for kind, tools in RECORDINGS.items() for tool, code in tools.items()]
ONNX = Path(__file__).resolve().parents[2] / "data" / "converter" / "ops" / "Conv.onnx"
SHELL = {("dump", "mindspore"), ("study", "any"), ("conversion", "any")}


@pytest.mark.parametrize(("kind", "tool", "code"), CODES, ids=lambda one: one if "\n" not in one else "code")
def test_every_code_is_python_or_commands(kind: str, tool: str, code: str) -> None:
    if (kind, tool) in SHELL:
        with pytest.raises(SyntaxError):
            ast.parse(code)
    else:
        assert any(isinstance(one, (ast.Import, ast.ImportFrom)) for one in ast.walk(ast.parse(code))), "it can be pasted"


def test_frameworks_are_in_the_order_of_the_tabs() -> None:
    for tools in RECORDINGS.values():
        assert list(tools) == sorted(tools, key=TOOLS.index)


@pytest.mark.parametrize("kind", ["profile", "memory", "communication"])
def test_profiles_are_recorded_for_tensorboard_by_its_handler(kind: str) -> None:
    code = RECORDINGS[kind]["tensorboard"]
    assert "tensorboard_trace_handler(" in code
    assert ("profile_memory=True" in code) == (kind == "memory")


@pytest.mark.parametrize("kind", ["explain", "scores", "uncertainty", "counterfactual"])
def test_code_for_any_framework_records_explanations(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    grey = np.linspace(0, 1, 64 * 64).reshape(64, 64)
    exec(RECORDINGS[kind]["any"], {"picture": grey, "saliency": grey})
    run = open_run(tmp_path / "summary" / "run_1")
    assert run.kinds()["explain"] > 0
    assert list(run.problems) == []


RECORDED = [kind for kind, tools in RECORDINGS.items() if "record" in tools and kind not in ("profile", "ranks")]


@pytest.mark.parametrize("kind", RECORDED)
def test_code_for_mindscope_record_records_its_kind(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "mindscope_record", parsers.recording)
    shutil.copy(ONNX, tmp_path / "model.onnx")
    grey = np.linspace(0, 1, 64 * 64).reshape(64, 64)
    names = {"loader": range(3), "train": lambda *_: 0.5, "weights": grey, "pictures": grey, "logits": grey}
    exec(RECORDINGS[kind]["record"], names)
    run = open_run(tmp_path / "summary" / "run_1")
    assert run.kinds()[kind] > 0
    assert list(run.problems) == []


def test_code_for_ranks_records_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "mindscope_record", parsers.recording)
    for rank in "01":
        monkeypatch.setenv("RANK", rank)
        exec(RECORDINGS["ranks"]["record"], {"loader": range(3), "train": lambda *_: 0.5})
    (source,) = discover(tmp_path / "summary")
    assert [Path(leaf.path).name for leaf in source.leaves] == ["rank_0", "rank_1"]


@pytest.mark.parametrize("page", [page for page in PAGES if page.needs], ids=lambda page: page.name)
def test_a_page_that_needs_data_has_the_code_that_records_it(page: object) -> None:
    made = str(page.layout(Ids(page.name), "/api/"))  # type: ignore[attr-defined]
    assert ("ms-recording" in made) == (page.name not in ("overview", "two_runs"))  # type: ignore[attr-defined]


def test_a_page_without_data_has_a_sentence_the_code_and_the_way_to_the_demo() -> None:
    said, code, demo = missing_data("shell.empty", "scalar", page="timeline").children
    tools = ["mindspore", "torch", "tensorboard", "record"]
    assert isinstance(said, html.P)
    assert [part.to_plotly_json()["props"]["data-tool"] for part in code.children[1:]] == tools
    assert [getattr(part, "hidden", False) for part in code.children[1:]] == [False, True, True, True]
    assert "mindscope start --demo" in str(demo)
    assert "'data-demo-page': 'timeline'" in str(demo.to_plotly_json()["props"]["children"][1].to_plotly_json())
