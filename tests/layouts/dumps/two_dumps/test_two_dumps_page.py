"""Two dumps: sentence, curve, tables; numbers compared with the values of the dumps."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layouts.dumps.two_dumps import figure, page
from layouts.dumps.two_dumps.work import TwoDumpsRequest
from layouts.kit.state import BadInput
from parsers import open_run
from parsers.dumps.access import RunDump
from tests.layouts.dumps.first_cause.test_first_cause_page import addresses, drawn, words
from tests.sources import MemorySource
from tests.writers.dumps import Injection, Network, npy, write_dump

PLACE = 4


@pytest.fixture
def net(tmp_path: Path) -> Network:
    write_dump(tmp_path / "good", iterations=3)
    return write_dump(tmp_path / "bad", iterations=3, injection=Injection(2, PLACE, "exploding"))


@pytest.fixture
def source(tmp_path: Path, net: Network) -> MemorySource:
    return MemorySource({name: {"dump": open_run(tmp_path / name).dump} for name in ("good", "bad")})


def ask(**more: Any) -> dict[str, list[str]]:
    asked = {"of": "good", "rank": 0, "step": 2, "with": "bad", "with_rank": 0, "with_step": 2, **more}
    return {key: [str(value)] for key, value in asked.items()}


def output(dump: RunDump, name: str) -> int:
    """The row of the output of an operator in iteration 2."""
    tensors = dump.tensors
    rows = np.flatnonzero((tensors["name"] == name) & (tensors["io"] == "output") & (tensors["iteration"] == 2))
    return int(rows[0])


def test_inputs_of_another_shape_do_not_agree(tmp_path: Path, source: MemorySource, net: Network) -> None:
    bad = net.operators[PLACE]
    dump = open_run(tmp_path / "bad").dump
    rows = dump.tensors[(dump.tensors["name"] == bad.name) & (dump.tensors["iteration"] == 2) & (dump.tensors["io"] == "input")]
    files = [tmp_path / "bad" / name for name in rows["file"]]
    assert len(files) == 2
    said = []
    for file in files:
        file.chmod(0o600)
        file.write_bytes(npy(np.zeros(3, np.float32)))
        again = MemorySource({name: {"dump": open_run(tmp_path / name).dump} for name in ("good", "bad")})
        said.append(words(page.compared(again, ask())["sections"]["head"]))
    assert "1 of its 2 dumped inputs agree, the others cannot be compared." in said[0]
    assert "Its inputs cannot be compared." in said[1]


def test_the_first_output_that_differs_is_named(source: MemorySource, net: Network) -> None:
    found = page.compared(source, ask())
    bad = net.operators[PLACE]
    said = words(found["sections"]["head"])
    assert f"The first output that differs by more than 0.001 is output 0 of {bad.name.rpartition('/')[2]}: > 99.99 %." in said
    assert "All its dumped inputs agree." in said
    link = addresses(found["sections"]["head"])[0]
    assert link.startswith("debugger?run=good&of=good&rank=0&step=2&node=")
    assert link.endswith("&io=output.0&with=bad&with_rank=0&with_step=2")
    assert found["alone"] is False
    json.dumps(found)


def test_the_curve_has_the_differences_of_the_outputs(source: MemorySource, net: Network, tmp_path: Path) -> None:
    found = page.compared(source, ask())["figure"]
    roles = {trace["meta"]["role"]: trace for trace in found["data"]}
    heights = drawn(roles["difference"]["y"])
    dumps = [open_run(tmp_path / name).dump for name in ("good", "bad")]
    for height, one in zip(heights, net.operators, strict=False):
        rows = [output(dump, one.name) for dump in dumps]
        this, other = (dump.tensor(row).astype(np.float64).ravel() for dump, row in zip(dumps, rows, strict=True))
        wanted = np.linalg.norm(this - other) / max(np.linalg.norm(this), np.linalg.norm(other))
        assert height == pytest.approx(max(wanted, figure.FLOOR), rel=1e-6)
    assert drawn(roles["beyond"]["x"])[0] == PLACE + 1
    assert found["layout"]["shapes"][0]["y0"] == 1e-3


def test_a_tolerance_and_a_choice_of_rows(source: MemorySource, net: Network) -> None:
    def rows(**more: Any) -> int:
        return json.dumps(page.compared(source, ask(**more))["sections"]["table"]).count("data-place")

    everything, outputs, differing = rows(show="all"), rows(), rows(show="differing")
    dump = source.dumps.open("good").dump
    assert dump is not None
    assert everything == int((dump.tensors["iteration"] == 2).sum())
    assert outputs == everything - int(((dump.tensors["iteration"] == 2) & (dump.tensors["io"] == "input")).sum())
    assert 0 < differing < outputs
    assert rows(show="differing", tol=5) == 0
    assert "No output differs by more than 5 (compared: " in words(page.compared(source, ask(tol=5))["sections"]["head"])
    assert rows(find="tanhGRAD") == sum(one.type == "TanhGrad" for one in net.operators)
    assert rows(find="nowhere") == 0


def test_nan_in_one_dump_only(tmp_path: Path) -> None:
    write_dump(tmp_path / "good", iterations=2)
    write_dump(tmp_path / "bad", iterations=2, injection=Injection(1, 7, "nan"))
    source = MemorySource({name: {"dump": open_run(tmp_path / name).dump} for name in ("good", "bad")})
    found = page.compared(source, ask(step=1, with_step=1))
    assert "NaN or Inf in one (1 of 48)." in words(found["sections"]["head"])
    trace = next(trace for trace in found["figure"]["data"] if trace["meta"]["role"] == "beyond")
    assert trace["marker"]["symbol"][0] == "x"
    assert np.isfinite(drawn(trace["y"])).all()
    json.dumps(found, allow_nan=False)


def test_inputs_that_differ_already_are_counted(source: MemorySource) -> None:
    said = words(page.compared(source, ask(step=1, with_step=2))["sections"]["head"])
    assert re.search(r"Inputs that differ already: [12] of 2 dumped, most of all input 0 \(8.13 %\)", said)


def test_a_dump_with_itself(source: MemorySource) -> None:
    found = page.compared(source, ask(**{"with": "good"}))
    assert "No output differs" in words(found["sections"]["head"])
    assert found["figure"]["layout"]["meta"]["beyond"] == 0


def test_the_first_iteration_that_differs_is_found(tmp_path: Path, source: MemorySource) -> None:
    found = page.searched(source, ask())
    assert (found["state"], found["step"], found["alike"]) == ("ready", 2, 2)
    assert page.searched(source, ask(tol=5))["step"] is None
    assert page.searched(source, ask(tol=5))["alike"] == 3
    assert page.searched(source, ask(**{"with": "good"}))["step"] is None
    assert page.searched(source, ask(**{"with": "nobody"})) == {"state": "missing"}
    assert page.searched(source, {}) == {"state": "missing"}
    with pytest.raises(BadInput):
        page.searched(source, ask(tol="x"))
    # By numpy: the outputs of both dumps agree in all iterations before.
    dumps = [open_run(tmp_path / name).dump for name in ("good", "bad")]
    made = np.flatnonzero((dumps[0].tensors["io"] == "output") & (dumps[0].tensors["iteration"] < 2))
    assert len(made)
    assert all(np.array_equal(dumps[0].tensor(row), dumps[1].tensor(row)) for row in made.tolist())


def test_iterations_of_one_dump_only_are_not_searched(tmp_path: Path) -> None:
    write_dump(tmp_path / "long", iterations=3)
    write_dump(tmp_path / "short", iterations=3, injection=Injection(2, PLACE, "exploding"))
    for file in (tmp_path / "short/rank_0").rglob("*.npy"):
        if file.parent.name == "2":
            file.unlink()
        elif file.parent.name == "1":
            file.chmod(0o600)
            file.write_bytes(b"no array")  # nothing of it can be compared
    dumps = {name: {"dump": open_run(tmp_path / name).dump} for name in ("long", "short")}
    found = page.searched(MemorySource(dumps), ask(of="long", **{"with": "short"}))
    assert (found["step"], found["alike"], found["shared"]) == (None, 1, 2)
    # One output that can be read again is not all of them.
    for name in ("long", "short"):
        (one,) = (tmp_path / name / "rank_0/Net/0/1").glob("Sub.*.output.0.*")
        one.chmod(0o600)
        one.write_bytes(npy(np.zeros(3, np.float32)))
    dumps = {name: {"dump": open_run(tmp_path / name).dump} for name in ("long", "short")}
    asked = ask(of="long", step=1, with_step=1, **{"with": "short"})
    said = words(page.compared(MemorySource(dumps), asked)["sections"]["head"])
    assert re.search(r"\(compared: 1\)\. Not judged: \d+ outputs that cannot be compared", said)


def test_hashes_that_differ_are_a_difference(real_data: Path, tmp_path: Path) -> None:
    shutil.copytree(real_data / "msprobe/torch/stat_xor", tmp_path / "other")
    for path in (tmp_path / "other").rglob("dump.json"):
        path.write_text(path.read_text().replace('"md5": "0x00', '"md5": "0xff'))
    folders = {"good": real_data / "msprobe/torch/stat_xor", "bad": tmp_path / "other"}
    source = MemorySource({name: {"dump": open_run(folder).dump} for name, folder in folders.items()})
    step = int(open_run(tmp_path / "other").dump.tensors["iteration"].max())
    said = words(page.compared(source, ask(step=step, with_step=step))["sections"]["head"])
    assert "by its hash: by how much is unknown." in said
    assert page.searched(source, ask())["step"] is not None
    alike = page.searched(source, ask(**{"with": "good"}))
    assert (alike["step"], alike["alike"] > 0) == (None, True)


def moved(folder: Path, **renamed: str) -> None:
    """Rename parts of the names of operators in a dump without a graph."""
    for file in list(folder.rglob("*.npy")):
        name = file.name
        for before, after in renamed.items():
            name = name.replace(before, after)
        file.rename(file.with_name(name))


def test_dumps_that_share_nothing_say_so(tmp_path: Path) -> None:
    write_dump(tmp_path / "a", iterations=2, layers=1, graph=False)
    write_dump(tmp_path / "foreign", iterations=2, layers=1, graph=False)
    moved(tmp_path / "foreign", Default="Other", fc0="dense", TanhGrad="X", Tanh="Y", moments="m", MatMul="Z", BiasAdd="B",
          Sub="S", Square="Q", ReduceMean="R", Mul="U", ApplyMomentum="A")  # fmt: skip
    write_dump(tmp_path / "later", iterations=2, layers=1)
    for step in (1, 0):
        (tmp_path / f"later/rank_0/Net/0/{step}").rename(tmp_path / f"later/rank_0/Net/0/{step + 2}")
    dumps = {name: {"dump": open_run(tmp_path / name).dump} for name in ("a", "foreign", "later")}
    source = MemorySource(dumps)
    said = words(page.compared(source, ask(of="a", step=1, with_step=1, **{"with": "foreign"}))["sections"]["head"])
    assert "The two share no operator and no parameter: nothing can be compared." in said
    found = page.searched(source, ask(of="a", **{"with": "foreign"}))
    assert (found["step"], found["alike"], found["shared"]) == (None, 0, 2)
    found = page.searched(source, ask(of="a", **{"with": "later"}))
    assert (found["step"], found["alike"], found["shared"]) == (None, 0, 0)


@pytest.mark.parametrize("seed", range(3))
def test_the_partner_is_the_dump_that_shares_most(tmp_path: Path, seed: int) -> None:
    sizes = {"one": (3, 3), "few": (3, 1), "small": (1, 3), "twin": (3, 3), "long": (1, 6)}  # layers, iterations
    for name, (layers, iterations) in sizes.items():
        write_dump(tmp_path / name, iterations=iterations, layers=layers, seed=seed)
    (tmp_path / "empty").mkdir()
    source = MemorySource({name: {"dump": open_run(tmp_path / name).dump} for name in sizes})
    order = np.random.default_rng(seed).permutation([name for name in sizes if name != "one"]).tolist()
    asked = {"of": ["one"], "among": ["nobody", *order]}
    assert page.partner(source, asked) == {"state": "ready", "key": "twin"}
    tensors = {name: open_run(tmp_path / name).dump.tensors for name in sizes}

    def common(name: str) -> int:  # by brute force
        operators, steps = (set(tensors["one"][column]) & set(tensors[name][column]) for column in ("name", "iteration"))
        return len(operators) * len(steps - {-1})

    left = [name for name in order if name != "twin"]
    assert page.partner(source, {"of": ["one"], "among": left})["key"] == max(left, key=common)
    assert page.partner(source, {"of": ["one"]})["key"] == ""
    assert page.partner(source, {})["state"] == "missing"


@pytest.mark.parametrize("swapped", [False, True])
def test_a_producer_of_one_dump_only_is_named(tmp_path: Path, swapped: bool) -> None:
    write_dump(tmp_path / "a", iterations=1)
    net = write_dump(tmp_path / "b", iterations=1, injection=Injection(0, 5, "exploding"))
    assert (net.operators[5].type, net.operators[6].inputs[0]) == ("Tanh", net.operators[5].output)
    moved(tmp_path / "b", **{"tanh1-Tanh": "gelu1-Gelu"})
    for file in (p for p in (tmp_path / "b/rank_0").rglob("*") if p.suffix in (".pb", ".csv")):
        file.write_bytes(file.read_bytes().replace(b"tanh1-Tanh", b"gelu1-Gelu"))
    source = MemorySource({name: {"dump": open_run(tmp_path / name).dump} for name in "ab"})
    one, two = "ba" if swapped else "ab"
    said = words(page.compared(source, ask(of=one, step=0, with_step=0, **{"with": two}))["sections"]["head"])
    top = "Default/network-WithLossCell/_backbone-Net"
    letters = "BA" if swapped else "AB"
    assert f"Its input 0 comes from {top}/tanh1-Tanh/Tanh-op0, which only {letters[0]} has." in said
    assert f"Its input 0 comes from {top}/gelu1-Gelu/Tanh-op0, which only {letters[1]} has." in said
    write_dump(tmp_path / "c", iterations=1, injection=Injection(0, 5, "exploding"))
    source = MemorySource({name: {"dump": open_run(tmp_path / name).dump} for name in "ac"})
    said = words(page.compared(source, ask(of="a", step=0, with_step=0, **{"with": "c"}))["sections"]["head"])
    assert "which only" not in said


def test_what_is_missing_is_said(source: MemorySource) -> None:
    assert page.compared(source, {})["state"] == "missing"
    assert page.compared(source, {"of": ["good"], "rank": ["0"], "step": ["1"]})["state"] == "missing"
    assert page.compared(source, ask(**{"with": "nobody"}))["state"] == "missing"
    found = page.compared(source, ask(step=77))
    assert "The two share no operator and no parameter: nothing can be compared." in words(found["sections"]["head"])
    assert found["figure"] is None


@pytest.mark.parametrize(
    "bad", [{"tol": "x"}, {"tol": "-1"}, {"tol": "inf"}, {"show": "some"}, {"find": "x" * 300}, {"lang": "de"}]
)
def test_bad_values_in_the_ask_are_refused(bad: dict[str, str]) -> None:
    with pytest.raises(BadInput):
        TwoDumpsRequest.read_any(ask(**bad))


def test_files_have_all_rows(source: MemorySource) -> None:
    saved = page._saver(source, "table")(1, ask(show="differing", find="nowhere"))
    lines = saved["content"].splitlines()
    assert saved["filename"] == "good_rank0_2_bad_rank0_2_table.csv"
    dump = source.dumps.open("good").dump
    assert dump is not None
    assert len(lines) == int((dump.tensors["iteration"] == 2).sum()) + 1
    assert lines[0].startswith("place,name,type,how,other_name,io,slot")
    assert page._saver(source, "alone")(1, ask())["content"].count("\n") == 1


def test_of_many_outputs_the_greatest_of_each_place_is_drawn() -> None:
    value = np.random.default_rng(0).random(20_000)
    value[777] = math.inf
    kept = figure.reduced(value)
    assert len(kept) == figure.MOST_POINTS
    assert 777 in kept
    bins = np.arange(20_000) * figure.MOST_POINTS // 20_000
    assert all(value[one] == value[bins == bins[one]].max() for one in kept.tolist())


# Real dumps ----------------------------------------------------------------------------------------------------------------


def test_ranks_of_statistics_say_so(real_data: Path) -> None:
    source = MemorySource({"ddp": {"dump": open_run(real_data / "msprobe/torch/stat_ddp").dump}})
    found = page.compared(source, ask(**{"of": "ddp", "with": "ddp", "with_rank": 1, "step": 1, "with_step": 1}))
    said = words(found["sections"]["head"])
    assert "output 0 of Functional.linear.0.forward: 33.3 %." in said
    assert "67 of 67 tensors are compared by maximum, minimum, mean and norm" in said
    assert "Cosine" not in words(found["sections"]["table"])
    assert found["figure"]["layout"]["meta"]["cosine"] is False


def test_frameworks_list_what_has_no_partner(real_data: Path) -> None:
    source = MemorySource({
        name: {"dump": open_run(real_data / f"msprobe/{name}/stat_mix").dump} for name in ("torch", "mindspore")
    })
    found = page.compared(source, ask(**{"of": "torch", "with": "mindspore", "step": 1, "with_step": 1}))
    assert found["alone"] is True
    said = words(found["sections"]["head"])
    assert "by scope, type and order" in said
    assert "2 tensors have another shape in B." in said
    assert "Only in A: " in words(found["sections"]["alone"])
    assert "Primitive.conv2d.Conv2D.0.forward" in words(found["sections"]["table"])
