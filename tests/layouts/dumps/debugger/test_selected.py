"""The selected operator: its tensors, figures and comparisons, over dumps made for the purpose, against plain numpy."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layouts.dumps.debugger import selected, selected_compare, selected_facts, selected_figures
from layouts.kit.state import BadInput
from parsers.dumps.access import RunDump
from parsers.dumps.statistics import TensorStatistics
from parsers.dumps.store import StatisticsTable
from parsers.graphs.graph import SourceLine
from parsers.graphs.sources import is_own
from tests.sources import MemorySource
from tests.writers.dumps import file_name, npy

NODE = "Default_fc_MatMul-op0"
RNG = np.random.default_rng(5)
OUTPUTS = [RNG.normal(size=(4, 6)).astype(np.float32) for _ in range(4)]
OUTPUTS[2][1, 3] = np.nan
OUTPUTS[2][0, 0] = np.inf


def write(base: Path, *, number: int = 0, shift: float = 0.0) -> RunDump:
    """Four iterations of an operator with an input and an output, and some of other types in the first one."""
    rank = base / "rank_0"
    (rank / ".dump_metadata").mkdir(parents=True)
    for step, output in enumerate(OUTPUTS):
        folder = rank / "Net" / "0" / str(step)
        folder.mkdir(parents=True)
        name = f"Default/fc/MatMul-op{number}"
        for place, (io, values) in enumerate((("input", np.full((3, 2), step, np.float32)), ("output", output + shift))):
            file = file_name("MatMul", name, 1000 * step + place, io, 0, "float32")
            (folder / file).write_bytes(npy(values.astype(np.float32)))
    folder = rank / "Net" / "0" / "0"
    for place, (name, values) in enumerate(OTHERS.items()):
        kind = str(values.dtype)
        file = f"Op.Default_{name}-op0.0.0.{9000 + place}.output.0.DefaultFormat.{kind.capitalize()}.npy"
        (folder / file).write_bytes(npy(values))
    (folder / file_name("Op", "Default/broken-op0", 9900, "output", 0, "float32")).write_bytes(npy(OUTPUTS[0])[:150])
    return RunDump(str(base), (str(rank),))


OTHERS: dict[str, Any] = {
    "scalar": np.array(3.5, np.float32),
    "none": np.empty((0, 4), np.float32),
    "flags": np.array([True, False, True]),
    "complex": np.array([3 + 4j, 1j], np.complex64),
    "flat": np.arange(24, dtype=np.int64),
    "long": np.arange(25, dtype=np.float32),
}


@pytest.fixture
def source(tmp_path: Path) -> MemorySource:
    return MemorySource({
        "a": {"dump": write(tmp_path / "a")},
        "b": {"dump": write(tmp_path / "b", number=3, shift=1.0)},
        "none": {},
    })  # fmt: skip


def ask(source: MemorySource, **more: Any) -> dict[str, list[str]]:
    plain = {"of": "a", "rank": 0, "step": 1, "node": NODE, "mark": source.dumps.open("a").mark, **more}
    return {key: [str(value)] for key, value in plain.items() if value is not None}


def row(source: MemorySource, name: str, step: int, run: str = "a", io: str = "output") -> int:
    dump = source.dumps.open(run).dump
    assert dump is not None
    tensors = dump.tensors
    names, kinds = tensors["name"].astype(str), tensors["io"].astype(str)
    found = names.str.contains(name) & (tensors["iteration"] == step) & (kinds == io)
    return int(np.flatnonzero(found.to_numpy())[0])


def sendable(answer: dict[str, Any]) -> dict[str, Any]:
    json.dumps(answer, allow_nan=False)
    return answer


# Tensors ----------------------------------------------------------------------------------------------------------------


def test_inputs_come_before_outputs_with_their_statistics(source: MemorySource) -> None:
    answer = sendable(selected.tensors(source, ask(source, step=2)))
    assert [one["id"] for one in answer["tensors"]] == ["input.0", "output.0"]
    given, made = answer["tensors"]
    assert (given["shape"], made["shape"], made["dtype"]) == ("3x2", "4x6", "float32")
    finite = OUTPUTS[2][np.isfinite(OUTPUTS[2])].astype(np.float64)
    wanted = {"min": finite.min(), "max": finite.max(), "mean": finite.mean(), "std": finite.std()}
    wanted["l2"] = np.linalg.norm(finite)
    for name, value in wanted.items():
        assert float(made["statistics"][name][1]) == pytest.approx(value, rel=1e-12)
    counts = {
        "nan": 1, "positive_inf": 1, "negative_inf": 0, "zero": 0,
        "negative": (finite < 0).sum(), "positive": (finite > 0).sum() + 1,
    }  # fmt: skip
    assert {name: int(made["statistics"][name][1]) for name in counts} == counts
    assert (made["non_finite"], given["non_finite"]) == (1, 0)
    assert (answer["chosen"], answer["before"]) == ("output.0", 1)


def test_the_chosen_tensor_is_that_of_the_address_or_a_bad_output(source: MemorySource) -> None:
    assert selected.tensors(source, ask(source, io="input.0"))["chosen"] == "input.0"
    assert selected.tensors(source, ask(source, io="input.0@3"))["chosen"] == "input.0"
    assert selected.tensors(source, ask(source, io="nothing.9"))["chosen"] == "output.0"


def test_an_operator_of_another_iteration_says_which(source: MemorySource) -> None:
    answer = selected.tensors(source, ask(source, node="Default_flags-op0", step=3))
    assert (answer["tensors"], answer["other"]) == ([], 0)
    answer = selected.tensors(source, ask(source, node="nobody"))
    assert (answer["tensors"], answer["other"]) == ([], None)


@pytest.mark.parametrize("name", OTHERS)
def test_tensors_of_every_type_have_statistics(source: MemorySource, name: str) -> None:
    answer = sendable(selected.tensors(source, ask(source, node=f"Default_{name}-op0", step=0)))
    (one,) = answer["tensors"]
    values = OTHERS[name]
    assert one["status"] == "values"
    sizes = np.abs(values.astype(np.complex128 if values.dtype.kind == "c" else np.float64))
    if values.size:
        assert float(one["statistics"]["l2"][1]) == pytest.approx(np.sqrt((sizes**2).sum()))
    else:
        assert "l2" not in one["statistics"]


def test_a_tensor_that_cannot_be_read_says_why(source: MemorySource) -> None:
    answer = sendable(selected.tensors(source, ask(source, node="Default_broken-op0", step=0)))
    (one,) = answer["tensors"]
    assert (one["status"], one["statistics"]) == ("unreadable", {})
    assert "truncated" in one["problem"]
    shown = selected.histogram(source, ask(source, row=one["row"]))
    assert "truncated" in shown["problem"]


def test_an_array_of_objects_is_refused(source: MemorySource, tmp_path: Path) -> None:
    file = tmp_path / "a" / "rank_0" / "Net" / "0" / "0" / file_name("Op", "Default/object-op0", 9960, "output", 0, "float32")
    np.save(file, np.array([{}], object), allow_pickle=True)
    (one,) = selected.tensors(source, ask(source, node="Default_object-op0", step=0))["tensors"]
    assert (one["status"], one["statistics"]) == ("unreadable", {})
    assert "never unpickled" in one["problem"]


def test_statistics_of_files_are_shown_as_they_are(real_data: Path) -> None:
    dump = RunDump(str(real_data), (str(real_data / "msprobe" / "mindspore" / "stat_mix"),))
    source = MemorySource({"a": {"dump": dump}})
    answer = selected.tensors(source, ask(source, node="Functional.log.0.forward"))
    made = next(one for one in answer["tensors"] if one["id"] == "output.0")
    assert (made["status"], made["source"], made["non_finite"]) == ("statistics", "dump.json", 1)
    assert made["statistics"]["mean"][0] == made["statistics"]["l2"][0] == "NaN"
    assert float(made["statistics"]["max"][1]) == pytest.approx(1.98, abs=0.01)
    assert "std" not in made["statistics"]
    assert "only statistics" in selected.histogram(source, ask(source, row=made["row"]))["problem"]


def test_a_stack_has_the_program_before_packages(real_data: Path) -> None:
    dump = RunDump(str(real_data), (str(real_data / "dump" / "out_tensor" / "rank_0"),))
    source = MemorySource({"a": {"dump": dump}})
    node = "Default/network-WithLossCell/_backbone-Net/conv-Conv2d/Conv2D-op0"
    answer = selected.tensors(source, ask(source, node=node))
    own = [line for line in answer["stack"] if line["own"]]
    assert [(Path(line["file"]).name, line["first"]) for line in own] == [("dump_train.py", 17), ("dump_train.py", 18)]
    assert answer["tensors"][0]["from"]["node"] == "inputs0"
    weight = next(one for one in answer["tensors"] if one["id"] == "input.1")
    assert weight["from"] == {"node": "conv.weight", "io": "parameter.0", "step": 0}, "as it was before the update"


def test_lines_that_are_there_twice_are_listed_once() -> None:
    line = SourceLine("/home/me/net.py", 8, 8, "return x")
    assert len(selected_facts.stack_lines((line, line))) == 1
    assert not is_own("/usr/lib/python3.11/site-packages/mindspore/nn.py")


# Figures ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statistic", ["l2", "mean", "nan", "max"])
def test_a_trend_is_that_of_all_iterations(source: MemorySource, statistic: str) -> None:
    answer = sendable(selected.trend(source, ask(source, row=row(source, "fc", 1), stat=statistic)))
    dump = source.dumps.open("a").dump
    assert dump is not None
    rows = selected_figures.trend_rows(dump, row(source, "fc", 1))
    known = dump.measured(rows, computed=True)
    figure = selected_figures.draw_trend(np.arange(4), known, rows, statistic, 1)
    finite = [one[np.isfinite(one)].astype(np.float64) for one in OUTPUTS]
    wanted = {
        "l2": [np.sqrt((one**2).sum()) for one in finite], "mean": [one.mean() for one in finite],
        "max": [one.max() for one in finite], "nan": [0, 0, 1, 0],
    }[statistic]  # fmt: skip
    np.testing.assert_allclose(known.column(statistic)[rows], wanted, rtol=1e-12)
    assert answer["figure"] == figure
    assert answer["iterations"] == 4
    marked = [line["x0"] for line in figure["layout"]["shapes"] if line["line"]["dash"] == "dot"]
    assert marked == [2.0]


def test_the_trend_of_another_tensor_is_drawn_beside_it(source: MemorySource) -> None:
    plain = ask(source, row=row(source, "fc", 1), stat="mean")

    def lines(run: str, step: int, io: str = "output") -> Any:
        number, mark = str(row(source, "fc", step, run, io)), source.dumps.open(run).mark
        beside = {"with_run": [run], "with_row": [number], "with_mark": [mark]}
        return sendable(selected.trend(source, plain | beside))["figure"]["data"]

    assert len(lines("a", 2)) == 1, "the same tensor in another iteration"
    other, this = lines("b", 1)
    shown = [np.frombuffer(base64.b64decode(one["y"]["bdata"]), f"<{one['y']['dtype']}") for one in (this, other)]
    np.testing.assert_allclose(shown[1][:2] - shown[0][:2], 1.0, rtol=1e-5)
    assert len(lines("a", 1, "input")) == 2
    assert selected.trend(source, plain | {"with_run": ["b"], "with_row": ["0"], "with_mark": ["old"]}) == {"state": "stale"}


def test_a_trend_over_many_decades_is_logarithmic() -> None:
    known = StatisticsTable(3)
    for place, value in enumerate((1e-3, 1.0, 1e12)):
        known.put(place, TensorStatistics(l2=value), 0, "computed")
    figure = selected_figures.draw_trend(np.arange(3), known, np.arange(3), "l2", None)
    assert figure["layout"]["yaxis"]["type"] == "log"


def test_a_histogram_counts_all_finite_values(source: MemorySource) -> None:
    figure = selected.histogram(source, ask(source, row=row(source, "fc", 2), step=2))["figure"]
    counts = figure["data"][0]["y"]
    found = np.frombuffer(base64.b64decode(counts["bdata"]), f"<{counts['dtype']}")
    assert found.sum() == np.isfinite(OUTPUTS[2]).sum()


def test_a_tensor_without_finite_values_has_no_histogram(source: MemorySource, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "rank_0" / "Net" / "0" / "0"
    values = np.array([np.nan, np.inf], np.float32)
    (folder / file_name("Op", "Default/bad-op0", 9950, "output", 0, "float32")).write_bytes(npy(values))
    answer = selected.histogram(source, ask(source, row=row(source, "bad", 0), step=0))
    assert (answer["state"], answer["figure"], answer["problem"]) == ("ready", None, "")


# Comparison -------------------------------------------------------------------------------------------------------------


def compared(source: MemorySource, **more: Any) -> dict[str, Any]:
    wanted = ask(source, row=row(source, "fc", 1), io="output.0", **more)
    return sendable(selected.comparison(source, wanted))


def test_two_iterations(source: MemorySource) -> None:
    answer = compared(source, with_step=0, tolerance=10)
    gap = np.abs(OUTPUTS[1].astype(np.float64) - OUTPUTS[0])
    values = answer["result"]["values"]
    assert float(values["max_absolute"][1]) == gap.max()
    assert float(values["max_relative"][1]) == pytest.approx((gap / np.abs(OUTPUTS[0].astype(np.float64))).max())
    one, two = (array.reshape(-1).astype(np.float64) for array in (OUTPUTS[1], OUTPUTS[0]))
    assert float(values["cosine"][1]) == pytest.approx(one @ two / np.linalg.norm(one) / np.linalg.norm(two))
    beyond = np.count_nonzero(gap > 0.1 * gap.max())
    assert answer["result"]["counts"]["beyond"][1] == str(beyond)
    assert answer["result"]["beyond"]["10"][0] == str(beyond)
    assert answer["result"]["limit"] == pytest.approx(0.1 * gap.max())
    assert answer["result"]["places"][0]["index"] == list(np.unravel_index(gap.argmax(), gap.shape))
    assert (answer["steps"], answer["ids"]) == ([0, 1, 2, 3], ["input.0", "output.0"])


def test_nan_is_listed_first_and_not_subtracted(source: MemorySource) -> None:
    answer = compared(source, with_step=2)
    assert answer["result"]["counts"]["unlike"][1] == "2"
    assert [one["bad"] for one in answer["result"]["places"]][:3] == [True, True, False]
    assert [one["index"] for one in answer["result"]["places"]][:2] == [[0, 0], [1, 3]]


def test_another_run_whose_operator_has_another_number(source: MemorySource) -> None:
    values = compared(source, **{"with": "b"})["result"]["values"]
    gap = np.abs((OUTPUTS[1] + np.float32(1)).astype(np.float64) - OUTPUTS[1])
    assert float(values["max_absolute"][1]) == gap.max()


def test_another_rank(tmp_path: Path) -> None:
    ranks = []
    for rank in range(2):
        folder = tmp_path / f"rank_{rank}" / "Net" / "0" / "1"
        folder.mkdir(parents=True)
        (tmp_path / f"rank_{rank}" / ".dump_metadata").mkdir()
        values = OUTPUTS[1] * np.float32(1 + rank)
        (folder / file_name("MatMul", "Default/fc/MatMul-op0", 1000, "output", 0, "float32")).write_bytes(npy(values))
        ranks.append(str(tmp_path / f"rank_{rank}"))
    source = MemorySource({"a": {"dump": RunDump(str(tmp_path), tuple(ranks))}})
    answer = compared(source, with_rank=1)
    assert answer["ranks"] == [0, 1]
    assert float(answer["result"]["values"]["max_absolute"][1]) == np.abs(OUTPUTS[1].astype(np.float64)).max()
    assert float(answer["result"]["values"]["cosine"][1]) == pytest.approx(1.0)


def test_tensors_of_other_shapes_are_compared_in_row_order_or_not_at_all(source: MemorySource) -> None:
    flat = compared(source, with_step=0, with_node="Default_flat-op0", with_io="output.0")
    assert (flat["shapes"], flat["dtypes"]) == ([[4, 6], [24]], ["float32", "int64"])
    gap = np.abs(OUTPUTS[1].reshape(-1).astype(np.float64) - np.arange(24))
    assert float(flat["result"]["values"]["max_absolute"][1]) == gap.max()
    assert flat["result"]["places"][0]["other_index"] == [gap.argmax()]
    long = compared(source, with_step=0, with_node="Default_long-op0", with_io="output.0")
    assert (long["result"], long["sizes"]) == (None, [24, 25])


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"with_node": NODE, "with_io": "output.0"}, "itself"),
        ({"with": "none"}, "missing"),
        ({"with_rank": 7}, "unmatched"),
        ({"with_node": "nobody"}, "unmatched"),
    ],
)
def test_what_cannot_be_compared_says_why(source: MemorySource, more: dict[str, Any], reason: str) -> None:
    assert compared(source, **more)["reason"] == reason


def test_a_damaged_tensor_is_not_compared(source: MemorySource) -> None:
    answer = compared(source, with_step=0, with_node="Default_broken-op0", with_io="output.0")
    assert "truncated" in answer["problem"]


def test_a_large_tensor_is_compared_in_the_background_with_the_same_result(source: MemorySource, monkeypatch: Any) -> None:
    here = compared(source, with_step=0, tolerance=7.5)
    monkeypatch.setattr(selected_compare, "LARGE_BYTES", 0)
    there = compared(source, with_step=0, tolerance=7.5)
    assert set(there["result"]["beyond"]) == {"7.5"}
    assert {**here["result"], "beyond": 0} == {**there["result"], "beyond": 0}


def test_a_large_histogram_is_drawn_in_the_background_with_progress(source: MemorySource, monkeypatch: Any) -> None:
    wanted = ask(source, row=row(source, "fc", 1))
    here = selected.histogram(source, wanted)["figure"]
    monkeypatch.setattr(selected_figures, "LARGE_BYTES", 0)
    assert selected.histogram(source, wanted)["figure"] == here


def test_the_comparison_of_an_old_listing_is_stale(source: MemorySource) -> None:
    assert selected.trend(source, ask(source, row=0, mark="old")) == {"state": "stale"}
    assert selected.histogram(source, ask(source, row=10**6)) == {"state": "stale"}


@pytest.mark.parametrize("bad", [{"tolerance": 101}, {"tolerance": "nan"}, {"row": -1}, {"row": None}, {"rank": "x"}])
def test_bad_input_is_refused(source: MemorySource, bad: dict[str, Any]) -> None:
    wanted = ask(source, **{"row": row(source, "fc", 1), "with_step": 0, **bad})
    with pytest.raises(BadInput):
        selected.comparison(source, wanted)


def test_an_unknown_statistic_is_refused(source: MemorySource) -> None:
    with pytest.raises(BadInput):
        selected.trend(source, ask(source, row=0, stat="median"))


def test_an_ask_without_an_operator_compares_nothing(source: MemorySource) -> None:
    assert selected.comparison(source, ask(source, row=0)) == {"state": "stale"}
