"""What the server answers to the debugger page."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layouts.dumps.debugger import hits, lines, tree, watching
from layouts.dumps.debugger.graph import neighbours, short_count
from layouts.dumps.debugger.page import DebuggerAnswers
from layouts.dumps.open_dump import DumpWork
from layouts.dumps.watchpoints import WatchList
from layouts.kit.state import BadInput
from layouts.kit.user_input import InvalidInput
from layouts.kit.work import WorkResult
from parsers import open_run
from parsers.analysis.dumps.watchpoints import CONDITIONS, Watchpoint
from parsers.analysis.graphs import network
from parsers.dumps.access import RunDump
from tests.pages import page_named
from tests.sources import MemorySource
from tests.sources.dumps import MemoryDumps
from tests.sources.patterns import MemoryPatterns
from tests.writers.dumps import write_dump

PAGE = page_named("debugger")

ASK: dict[str, Any] = {"of": ["a"], "rank": ["0"], "step": ["2"], "mark": ["m"]}


def watch(*watchpoints: dict[str, Any]) -> dict[str, Any]:
    return {"watch": [json.dumps(list(watchpoints))]}


OVERFLOW = {"condition": "tensor_overflow", "limits": {}, "names": None, "pattern": ""}


def test_the_page_is_for_runs_with_a_dump() -> None:
    assert (PAGE.name, PAGE.needs, PAGE.group) == ("debugger", ("dump",), "debugging")


# Watchpoints -----------------------------------------------------------------------------------------------------------


def test_without_saved_watchpoints_the_recommended_ones_are_listed(answers: DebuggerAnswers, source: MemorySource) -> None:
    found = answers.watch(ASK)
    assert not found["saved"]
    assert [one["condition"] for one in found["watchpoints"]][:3] == [
        "weight_initialization", "weight_change_too_large", "gradient_vanishing",
    ]  # fmt: skip
    assert found["watchpoints"] == found["recommended"]
    assert {one["name"] for one in found["conditions"]} == set(CONDITIONS)
    assert len(found["conditions"]) == 18
    source.notes.save_watchpoints("a", WatchList(watching.proposed().watchpoints[:1]), WatchList().version)
    again = answers.watch(ASK)
    assert again["saved"]
    assert len(again["watchpoints"]) == 1


@pytest.mark.parametrize("told", [
    "{", "{}", '[1]', '[{"condition": "nonsense"}]', '[{"condition": "tensor_too_large", "limits": {"max_gt": "1"}}]',
    '[{"condition": "tensor_too_large", "limits": {"max_gt": NaN}}]', '[{"condition": "tensor_overflow", "names": "a"}]',
    '[{"condition": "tensor_all_zero", "limits": {"zero_percentage_ge": 101}}]', '[{"condition": 1}]', "[" * 5000,
])  # fmt: skip
def test_malformed_watchpoints_are_refused(told: str) -> None:
    with pytest.raises(BadInput):
        watching.read_watchpoints({"watch": [told]})


def test_small_numbers_are_limits() -> None:
    (one,) = watching.read_watchpoints(watch({"condition": "gradient_vanishing", "limits": {"abs_mean_lt": 1e-9}}))
    assert one.limits == {"abs_mean_lt": 1e-9}
    with pytest.raises(InvalidInput):
        watching.SavedWatchpoint("gradient_vanishing", {"abs_mean_lt": -1.0}).checked()


# Hits ------------------------------------------------------------------------------------------------------------------


def test_hits_are_those_of_check(answers: DebuggerAnswers, dump: RunDump) -> None:
    """The list has every hit that checking the whole dump at once finds."""
    told = [as_told(one) for one in watching.proposed().watchpoints]
    found = answers.hits(ASK | watch(*told) | {"count": ["500"]})
    checked = [watching_point(one) for one in watching.proposed().watchpoints]
    wanted = dump.check(checked)
    both = wanted["hit"].to_numpy()
    assert (found["hits"], found["unchecked"]) == (int(both.sum()), int((~both).sum()))
    listed = {(one["row"], one["watch"], one["parameter"]) for one in found["rows"]}
    frame = wanted[both]
    columns = (frame[name].tolist() for name in ("row", "watchpoint", "parameter"))
    assert listed == set(zip(*columns, strict=True))
    assert found["total"] == found["hits"]


def as_told(one: Any) -> dict[str, Any]:
    return watching.as_json(one)


def watching_point(one: Any) -> Watchpoint:
    return Watchpoint(one.condition, one.limits, one.names, one.pattern)


def test_hits_of_a_real_dump_are_counted_by_iteration(nan: DebuggerAnswers, real_data: Path) -> None:
    outputs = len(list((real_data / "dump" / "out_nan").rglob("*.output.*.npy")))
    found = nan.hits(ASK | watch(OVERFLOW) | {"count": ["10"]})
    assert found["steps"] == [[0, 1, 26], [0, 2, 38], [0, 3, 41]]
    assert (found["total"], len(found["rows"]), found["checked"]) == (105, 10, [outputs])
    assert [one["step"] for one in found["rows"]] == [1] * 10
    first = found["rows"][0]
    assert (first["name"].rpartition("/")[2], first["io"], first["actual"]) == ("Square-op0", "output.0", 12.0)


def test_filters_orders_and_parts_of_the_list(nan: DebuggerAnswers) -> None:
    both = watch(OVERFLOW, {"condition": "tensor_all_zero", "limits": {"zero_percentage_ge": 100}})
    here = nan.hits(ASK | both | {"only_step": ["2"], "only_watch": ["0"], "count": ["500"]})
    assert here["total"] == 38
    assert {one["step"] for one in here["rows"]} == {2}
    zeros_first = watch({"condition": "tensor_all_zero", "limits": {"zero_percentage_ge": 100}}, OVERFLOW)
    worst = nan.hits(ASK | zeros_first | {"count": ["500"]})["rows"]
    assert worst[0]["name"].endswith("Square-op0")
    assert [(one["watch"], one["step"]) for one in worst] == sorted(
        ((one["watch"], one["step"]) for one in worst), key=lambda pair: (-pair[0], pair[1])
    )
    assert nan.hits(ASK | zeros_first | {"sort": ["iteration"], "count": ["1"]})["rows"][0]["step"] == 0
    by_order = nan.hits(ASK | both | {"sort": ["order"], "only_watch": ["0"], "count": ["500"]})["rows"]
    assert [one["step"] for one in by_order[:2]] == [2, 3]  # MatMul of the first layer is the first operator
    by_condition = nan.hits(ASK | both | {"sort": ["condition"], "count": ["500"]})["rows"]
    assert [one["watch"] for one in by_condition] == sorted(one["watch"] for one in by_condition)
    part = nan.hits(ASK | both | {"sort": ["condition"], "first": ["100"], "count": ["3"]})
    assert part["rows"] == by_condition[100:103]
    assert nan.hits(ASK | both | {"only_rank": ["4"], "count": ["5"]})["total"] == 0
    assert nan.hits(ASK | both | {"only_graph": ["7"], "count": ["5"]})["total"] == 0


def test_what_is_not_checkable_has_its_reason(answers: DebuggerAnswers) -> None:
    change = {"condition": "weight_change_too_large", "limits": {"abs_mean_update_ratio_gt": 10.0}}
    found = answers.hits(ASK | watch(change) | {"show": ["unchecked"], "count": ["500"]})
    assert found["total"] == found["unchecked"] > 0
    assert {one["why"] for one in found["rows"] if one["step"] == 0} == {"no previous iteration"}
    nothing = answers.hits(ASK | watch() | {"count": ["5"]})
    assert (nothing["hits"], nothing["unchecked"], nothing["checked"]) == (0, 0, [])


def test_missing_overflow_records_are_said_once(nan: DebuggerAnswers) -> None:
    found = nan.hits(ASK | watch({"condition": "operator_overflow"}) | {"show": ["unchecked"], "count": ["9"]})
    assert [one["why"] for one in found["rows"]] == ["no overflow records"]
    for step in ("0", "3"):  # it is so of every iteration
        asked = {"only_step": [step], "show": ["unchecked"], "count": ["9"]}
        here = nan.hits(ASK | watch({"condition": "operator_overflow"}) | asked)
        assert (here["total"], here["counts"]) == (1, [[0, 1]])


def test_hits_of_the_selected_operator_come_with_the_list(nan: DebuggerAnswers) -> None:
    name = "Default/network-WithLossCell/_loss_fn-MSELoss/Square-op0"
    found = nan.hits(ASK | {"step": ["1"], "node": [name]} | watch(OVERFLOW) | {"count": ["1"]})
    assert [(one["name"], one["io"]) for one in found["node"]] == [(name, "output.0")]


def test_the_iteration_on_screen_is_checked_first(dump: RunDump) -> None:
    order: list[list[int]] = []

    class Told:
        def measure(self, rows: Any, *, computed: bool = False, of: Any = None) -> None:
            dump.measured(rows, computed=computed)

        def __call__(self, done: int, total: int, result: Any = None) -> None:
            order.append(sorted(result.done))

    work = hits.hits_work("k", [Watchpoint("tensor_overflow")], lambda: 3)
    found = work.job(dump, Told())
    assert order[0] == [3]
    assert order[-1] == [0, 1, 2, 3, 4]
    assert found.done == {0, 1, 2, 3, 4}


class WorkingDumps(MemoryDumps):
    """Dumps whose work has found a part so far."""

    def work(self, run: str, work: DumpWork, *, again: bool = False) -> WorkResult:
        return WorkResult("working", hits.FoundHits((), (7,), frozenset({1})), 3, 10)


def test_hits_so_far_are_listed_while_work_goes_on(dump: RunDump) -> None:
    found = DebuggerAnswers(MemorySource({"a": {"dump": dump}}, dumps=WorkingDumps)).hits(
        ASK | watch(OVERFLOW) | {"count": ["5"]}
    )
    assert (found["state"], found["total"], found["checked"]) == ("working", 0, [7])
    assert (found["progress"]["done"], found["progress"]["total"]) == (3, 10)


def test_a_bad_pattern_is_told(dump: RunDump) -> None:
    class Refusing(MemoryPatterns):
        def matching(self, pattern: str, names: Any) -> Any:
            raise ValueError("the expression takes too long")

    source = MemorySource({"a": {"dump": dump}}, patterns=Refusing)
    found = DebuggerAnswers(source).hits(ASK | watch(OVERFLOW | {"pattern": "(a+)+"}) | {"count": ["5"]})
    assert (found["state"], found["progress"]["text"]) == ("failed", "the expression takes too long")


def test_hits_are_saved_as_csv(nan: DebuggerAnswers) -> None:
    saved = nan.save(ASK | watch(OVERFLOW))
    rows = list(csv.DictReader(io.StringIO(saved["content"])))
    assert len(rows) == 105
    assert {one["condition"] for one in rows} == {"tensor_overflow"}
    assert list(rows[0]) == list(hits.COLUMNS)


# The sentence -----------------------------------------------------------------------------------------------------------


def test_the_sentence_counts_operators_and_names_the_first(nan: DebuggerAnswers) -> None:
    found = nan.health(ASK)
    assert found["bad"] == [[0, 1, 16, 32], [0, 2, 26, 32], [0, 3, 29, 32]]
    assert [one[1:] for one in found["checked"]] == [[0, 32], [1, 32], [2, 32], [3, 32]]
    assert found["causes"][0]["name"].endswith("/Square-op0")


def test_a_dump_without_bad_values_says_so(tmp_path: Path) -> None:
    write_dump(tmp_path / "good", iterations=2)
    found = DebuggerAnswers(MemorySource({"a": {"dump": open_run(tmp_path / "good").dump}})).health(ASK)
    assert (found["state"], found["bad"], found["causes"]) == ("ready", [], [])
    assert found["checked"]


# The tree ---------------------------------------------------------------------------------------------------------------


def test_the_tree_has_every_operator_once(dump: RunDump) -> None:
    whole = tree.tree_of(dump, 0)
    tensors = dump.tensors
    wanted = set(tensors.loc[tensors["io"] != "constant", "name"].astype(str))
    assert set(whole.names) == wanted
    assert len(whole.names) == len(wanted)
    assert (whole.root.first, whole.root.end) == (0, len(wanted))
    for scope in whole.root.scopes:
        assert all(whole.paths[place].split("/")[0] == scope.path for place in range(scope.first, scope.end))


def test_lines_of_the_tree_open_search_and_kinds(nan: DebuggerAnswers) -> None:
    closed = nan.tree(ASK | watch(OVERFLOW) | {"count": ["100"]})
    assert [(line[0], line[1]) for line in closed["rows"]] == [
        ("scope", "Default"), ("scope", "Expand"), ("scope", "Gradients"), ("scope", "parameters:"),
    ]  # fmt: skip
    counted = {line[1]: (line[6], line[8]) for line in closed["rows"]}
    assert sum(hit for _, hit in counted.values()) == 38
    opened = nan.tree(ASK | watch() | {"tree": ["parameters:", "parameters:/fc1"], "count": ["100"]})
    labels = [line[2] for line in opened["rows"]]
    assert labels.index("fc1") < labels.index("weight")
    shown = nan.tree(ASK | watch() | {"node": ["fc1.weight"], "count": ["100"]})
    assert shown["rows"][shown["at"]][1] == "fc1.weight"
    found = nan.tree(ASK | watch() | {"q": ["matmul"], "count": ["100"]})
    assert found["total"] == found["names"] > 0
    assert all("MatMul" in line[1] for line in found["rows"])
    weights = nan.tree(ASK | watch() | {"kind": ["weight"], "tree": ["parameters:"], "count": ["100"]})
    assert weights["names"] == 6
    pattern = nan.tree(ASK | watch() | {"q": ["fc[12].*MatMul"], "regex": ["1"], "count": ["100"]})
    assert {line[1].split("/")[-2] for line in pattern["rows"]} >= {"fc1-Dense", "fc2-Dense"}


def test_a_choice_of_operators_is_names_and_back(nan: DebuggerAnswers) -> None:
    found = nan.names(ASK | {"q": ["Sigmoid"], "act": ["search"]})
    assert found["ranges"]
    text = ",".join(f"{first}-{end}" for first, end in found["ranges"])
    names = nan.names(ASK | {"ranges": [text]})["names"]
    assert names
    assert all("sig" in name.lower() for name in names)
    again = nan.names(ASK | {"names": [json.dumps([OVERFLOW | {"names": [*names, "gone"]}])]})
    assert again["ranges"] == found["ranges"]
    for wrong in ("5", "a-b", "1-2-3", "-1-2"):
        with pytest.raises(BadInput):
            nan.names(ASK | {"ranges": [wrong]})


def test_a_watchpoint_for_chosen_operators_checks_no_others(nan: DebuggerAnswers) -> None:
    name = "Default/network-WithLossCell/_loss_fn-MSELoss/Square-op0"
    found = nan.hits(ASK | watch(OVERFLOW | {"names": [name]}) | {"count": ["500"]})
    assert {one["name"] for one in found["rows"]} == {name}
    assert found["checked"] == [4]
    by_pattern = nan.hits(ASK | watch(OVERFLOW | {"pattern": "^Square$"}) | {"count": ["500"]})
    assert {one["name"] for one in by_pattern["rows"]} == {name}


# Source lines -----------------------------------------------------------------------------------------------------------


def test_own_files_come_first_and_a_line_shows_its_operators(nan: DebuggerAnswers) -> None:
    found = nan.lines(ASK | {"count": ["500"]})
    files = [row for row in found["rows"] if row[0] == "file"]
    assert files[0][1].endswith("dump_nan.py")
    assert files[0][3]
    assert not any(row[3] for row in files[1:])
    line = next(row for row in found["rows"] if row[0] == "line")
    opened = nan.lines(ASK | {"lines": [line[1]], "count": ["500"]})["rows"]
    names = [row[1] for row in opened if row[0] == "name"]
    assert len(names) == line[3]
    assert any(name.endswith("fc1-Dense/MatMul-op0") for name in names)
    ranges = nan.names(ASK | {"line": [line[1]]})["ranges"]
    assert sum(end - first for first, end in ranges) == len(names)
    assert nan.lines(ASK | {"q": ["no such text"], "count": ["5"]})["total"] == 0


def test_the_same_line_of_two_operators_is_one(dump: RunDump) -> None:
    files = lines._files({"/a/net.py": {3: ("x", {"b": None, "a": None})}, "/v/site-packages/m.py": {1: ("y", {"a": None})}})
    assert [(one.path, one.own) for one in files] == [("/a/net.py", True), ("/v/site-packages/m.py", False)]
    assert files[0].lines[0].names == ("b", "a")


# Executions, graph, order ------------------------------------------------------------------------------------------------


def test_the_strip_has_each_run_of_root_graphs(nan: DebuggerAnswers, real_data: Path) -> None:
    found = nan.strip(ASK)
    assert (found["step"], found["graph"], found["with"]) == ([0, 1, 2, 3], [0] * 4, {})
    flow = DebuggerAnswers(MemorySource({"a": {"dump": open_run(real_data / "dump" / "out_cf").dump}}))
    found = flow.strip(ASK)
    assert found["step"] == [0, 1, 2, 2, 3, 4, 1]
    assert found["graph"] == [0, 0, 0, 0, 0, 8, 8]
    assert found["with"]["1"] == [3, 5, 7]
    assert DebuggerAnswers(MemorySource({"a": {}})).strip(ASK) == {"state": "missing"}


def test_the_graph_of_the_iteration_marks_hits_and_counts_them_on_closed_scopes(nan: DebuggerAnswers) -> None:
    found = nan.drawing(ASK | watch(OVERFLOW))
    meta = found["meta"]
    assert (found["state"], meta["graphs"], meta["number"]) == ("ready", [0], 0)
    classes = {element["data"]["id"]: element["classes"].split() for element in found["elements"] if "classes" in element}
    badges = [element["data"]["label"] for element in found["elements"] if element["data"].get("kind") == "badge"]
    assert badges
    assert any("hit" in names and "scope" in names for names in classes.values())
    hits_of = nan.hits(ASK | watch(OVERFLOW) | {"only_step": ["2"], "count": ["500"]})["rows"]
    marked = {meta["full"][key] for key, names in classes.items() if key in meta["full"] and "hit" in names}
    assert marked <= {one["name"] for one in hits_of}
    name = "Default/network-WithLossCell/_loss_fn-MSELoss/Square-op0"
    shown = nan.drawing(ASK | watch(OVERFLOW) | {"node": [name], "reveal": ["1"]})["meta"]
    assert shown["full"][shown["node"]] == name
    assert shown["chosen"] == shown["node"]


def test_watched_operators_are_marked(nan: DebuggerAnswers) -> None:
    name = "Default/network-WithLossCell/_loss_fn-MSELoss/Square-op0"
    marked = json.dumps([OVERFLOW | {"names": [name]}])
    found = nan.drawing(ASK | watch() | {"node": [name], "reveal": ["1"], "marked": [marked]})
    watched = [one["data"]["name"] for one in found["elements"] if "watched" in one.get("classes", "").split()]
    assert watched == [found["meta"]["node"]]


def test_the_neighbours_of_an_operator_are_one_hop_away(nan: DebuggerAnswers) -> None:
    name = "Default/network-WithLossCell/_loss_fn-MSELoss/Square-op0"
    found = nan.drawing(ASK | watch() | {"node": [name], "near": ["1"]})
    names = {full.rpartition("/")[2] for full in found["meta"]["full"].values()}
    assert names == {"Sub-op0", "Square-op0", "ReduceMean-op0"}


def test_neighbours_are_beyond_operators_that_only_pass_values_on(real_data: Path) -> None:
    graph = open_run(real_data / "dump" / "out_nan").dump.graphs[0, 0]
    whole = network(graph.nodes, graph.edges)
    names = whole.full_names
    row = names.index("Default/network-WithLossCell/_backbone-Net/fc1-Dense/MatMul-op0")
    near = {names[one] for one in np.flatnonzero(neighbours(whole, row)).tolist()}
    assert "fc1.weight" in near
    assert any("BiasAdd" in name for name in near)


def test_a_dump_without_a_graph_has_its_operators_in_order(real_data: Path) -> None:
    answers = DebuggerAnswers(MemorySource({"a": {"dump": open_run(real_data / "msprobe" / "mindspore" / "stat_mix").dump}}))
    ask = ASK | {"step": ["1"]} | watch(OVERFLOW)
    assert answers.drawing(ask) == {"state": "none"}
    answers.health(ASK)
    found = answers.order(ask | {"count": ["500"], "node": ["Functional.log.0.forward"]})
    assert (found["total"], found["of_msprobe"], found["modules"]) == (79, True, True)
    bad = [row[0] for row in found["rows"] if row[3] == 1]
    assert bad[0] == "Functional.log.0.forward"
    assert found["rows"][found["at"]][0] == "Functional.log.0.forward"
    assert found["rows"][0][2] == "features/0/conv"


def test_a_damaged_graph_is_told_and_the_order_is_there(tmp_path: Path) -> None:
    write_dump(tmp_path / "a", iterations=2)
    for path in (tmp_path / "a").rglob("ms_output_trace_code_graph_*"):
        path.chmod(0o600)
        path.write_bytes(b"\xff" * 40)
    answers = DebuggerAnswers(MemorySource({"a": {"dump": open_run(tmp_path / "a").dump}}))
    found = answers.drawing(ASK | {"step": ["0"]} | watch())
    assert found["state"] == "broken"
    assert found["text"]
    assert answers.order(ASK | {"step": ["0"]} | watch() | {"count": ["5"]})["total"] > 0


@pytest.mark.parametrize("part", ["health", "watch", "hits", "tree", "names", "lines", "strip", "drawing", "order"])
def test_parts_without_a_dump_are_refused_or_missing(part: str) -> None:
    answers = DebuggerAnswers(MemorySource({"a": {}}))
    with pytest.raises(BadInput):
        getattr(answers, part)({})
    assert getattr(answers, part)(ASK)["state"] in ("missing", "ready")


def test_counts_on_badges_stay_short() -> None:
    shown = [short_count(many) for many in (0, 999, 1000, 1667, 9949, 9950, 12_345)]
    assert shown == ["0", "999", "1.0k", "1.7k", "9.9k", "10k", "12k"]
