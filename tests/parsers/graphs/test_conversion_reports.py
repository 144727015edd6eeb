"""Reports of model conversions: the sample against its model, and damage."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from parsers import PayloadError, open_run
from parsers.analysis.graphs.conversion import (
    MOST_LINES,
    by_operator,
    conversion_graph,
    excerpt,
    node_differences,
    state_counts,
    value_table,
)  # fmt: skip
from parsers.conversion_frames import CONVERSION_FRAMES
from parsers.graphs.conversion import CONVERSIONS, read_conversion
from tests.amounts import long_after
from tests.converted import CONVERSION, REPORT, changed
from tests.writers.conversions import OPERATORS, WEIGHTS


def test_the_sample_has_the_nodes_and_weights_that_onnx_counts() -> None:
    run = open_run(CONVERSION)
    assert run.kinds() == {"conversion": 1}
    report = run.conversions[REPORT]
    assert Counter(report.nodes["operator"].astype("str")) == OPERATORS
    assert set(report.weights["source"]) == {
        *(f"features.{place}.conv.{what}" for place in range(3) for what in ("weight", "bias")), "head.weight", "head.bias",
    }  # fmt: skip
    assert len(report.weights) == WEIGHTS
    # QuickGelu is no operator of ONNX; the three nodes of shape arithmetic have constant inputs, as the batch is fixed.
    counts = state_counts(report)
    assert (counts.states, counts.total) == ({"converted": 10, "folded": 3, "marked": 1, "other": 0}, sum(OPERATORS.values()))
    assert counts.share == pytest.approx(13 / 14)
    assert by_operator(report).iloc[0][["operator", "domain", "marked"]].tolist() == ["QuickGelu", "com.microsoft", 1]
    for name, schema in CONVERSION_FRAMES.items():
        schema.check(getattr(report, name))
    assert (report.problems, run.problems) == ((), ())


def test_lines_are_those_of_the_script() -> None:
    report = read_conversion(str(CONVERSION / REPORT))
    lines = (CONVERSION / "digits.py").read_text(encoding="utf-8").splitlines()
    assert list(report.lines) == lines
    marked = report.nodes["operator"].astype("str").tolist().index("QuickGelu")
    shown = excerpt(report, marked)
    assert shown.lines[shown.begin - shown.first] == "        x = self.head2(x)"
    assert shown.begin == shown.end == lines.index("        x = self.head2(x)") + 1
    folded = report.nodes["operator"].astype("str").tolist().index("Shape")
    assert excerpt(report, folded).begin == 0


def test_the_graph_has_the_edges_of_the_model() -> None:
    report = read_conversion(str(CONVERSION / REPORT))
    graph = conversion_graph(report)
    # 14 nodes; the image, 8 weights; two constants. Inputs: 3 Conv of 3, Gemm of 3, Gather, Concat, Reshape of 2, 7 of 1.
    assert graph.nodes["kind"].value_counts().to_dict() == {"operator": 14, "parameter": 9, "constant": 2}
    assert len(graph.edges) == 3 * 3 + 3 + 3 * 2 + 7
    assert graph.nodes["scope"].astype("str").tolist()[:2] == ["features/0/conv", "features/0/act"]


def test_differences_belong_to_their_nodes(tmp_path: Path) -> None:
    def change(told: dict[str, Any]) -> None:
        told["check"]["values"] = [
            {"node": 3, "value": "a", "largest": 0.5, "relative": None, "beyond": True, "text": ""},
            {"node": 3, "value": "b", "largest": 0.25, "relative": 1.0, "beyond": False, "text": "another shape"},
            {"node": 99, "value": "c", "largest": 2, "relative": 0.0, "beyond": False, "text": ""},
        ]

    report = read_conversion(str(changed(tmp_path, change)))
    found = node_differences(report)
    assert found.largest[3] == 0.5
    assert found.beyond.tolist().index(True) == 3
    assert found.compared.sum() == 1
    table = value_table(report)
    assert table["row"].tolist() == [3, 3, -1]
    assert table["operator"].tolist() == ["Relu", "Relu", ""]
    assert math.isnan(table["relative"][0])


def test_a_cut_report_is_a_problem_and_no_conversion(tmp_path: Path) -> None:
    whole = (CONVERSION / REPORT).read_bytes()
    (tmp_path / REPORT).write_bytes(whole[: len(whole) // 2])
    run = open_run(tmp_path)
    assert (len(run.conversions), [problem.kind for problem in run.problems]) == (0, ["bad_conversion"])
    # Damage in the middle is found when the report is decoded.
    (tmp_path / REPORT).write_bytes(whole.replace(b'"state":', b'"state";', 1))
    run.refresh()
    with pytest.raises(PayloadError, match="expected JSON"):
        run.conversions[REPORT]
    assert CONVERSIONS.verify(str(tmp_path / REPORT))[0].kind == "unreadable"


@pytest.mark.parametrize("name", ["../digits.py", "/etc/passwd", "a\\b.py", "", ".."])
def test_a_script_elsewhere_is_not_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "digits.py").write_text("secret\n", encoding="utf-8")
    report = read_conversion(str(changed(tmp_path / "run", lambda told: told.update(script=name), script=False)))
    assert (report.lines, bool(report.no_script)) == ((), True)


def test_a_missing_script_and_one_that_is_a_link_are_said(tmp_path: Path) -> None:
    path = changed(tmp_path, lambda told: None, script=False)
    assert "cannot be read" in read_conversion(str(path)).no_script
    (tmp_path / "secret").write_text("secret\n", encoding="utf-8")
    (tmp_path / "digits.py").symlink_to(tmp_path / "secret")
    assert read_conversion(str(path)).no_script == "the script is a link to another file"


def test_values_of_another_kind_are_left_empty_and_counted(tmp_path: Path) -> None:
    def change(told: dict[str, Any]) -> None:
        told["nodes"][0] |= {"first_line": "x", "name": 7, "inputs": None, "state": "melted", "shape": [None, 2]}
        told["nodes"][1] = "no row"
        told["weights"] = {}
        told["check"] = []

    report = read_conversion(str(changed(tmp_path, change)))
    first = report.nodes.iloc[0]
    assert first[["first_line", "name", "state", "shape", "inputs"]].tolist() == [0, "7", "other", "?x2", "[]"]
    assert (len(report.nodes), len(report.weights), report.check.state) == (13, 0, "not checked")
    assert report.problems[0].text.startswith("4 values of the report")


@pytest.mark.parametrize("count", long_after(1, [5_000, 100_000]))
def test_very_many_nodes_and_lines_are_bounded(tmp_path: Path, count: int) -> None:
    def change(told: dict[str, Any]) -> None:
        row = told["nodes"][0]
        told["nodes"] = [
            row | {"node": place, "name": f"/b{place // 100}/n{place}", "inputs": [f"v{place}"], "outputs": [f"v{place + 1}"],
                   "first_line": 1, "last_line": count}
            for place in range(count)
        ]  # fmt: skip

    path = changed(tmp_path, change)
    (tmp_path / "digits.py").write_text("x = 1\n" * count, encoding="utf-8")
    report = read_conversion(str(path))
    assert state_counts(report).total == count
    assert len(excerpt(report, 5).lines) == MOST_LINES
    assert len(conversion_graph(report).edges) == count


def test_other_json_under_the_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / REPORT).write_text(json.dumps({"nodes": []}), encoding="utf-8")
    run = open_run(tmp_path)
    assert [problem.kind for problem in run.problems] == ["no_conversion"]
