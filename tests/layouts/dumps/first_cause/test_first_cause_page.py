"""The first cause: sentence, tables, charts; numbers compared with the values of the dumps."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layouts.dumps.first_cause import figures, page
from layouts.dumps.first_cause.loss import loss_of, loss_tag
from layouts.dumps.first_cause.sections import source_line, times
from layouts.dumps.first_cause.work import PARTS, FoundCauses, find_causes, norms_of, row_of
from layouts.dumps.links import address
from layouts.kit.state import BadInput
from parsers import Series, open_run
from parsers.analysis.dumps.first_cause import Causes
from parsers.dumps.access import RunDump
from parsers.graphs.graph import SourceLine
from tests.amounts import long_after
from tests.sources import MemorySource
from tests.sources.dumps import Reported
from tests.writers.dumps import Injection, npy, write_dump


def opened(folder: Path, **options: Any) -> RunDump:
    write_dump(folder, **options)
    return open_run(folder).dump


def of(dump: RunDump, loss: list[tuple[int, float]] | None = None) -> MemorySource:
    content: dict[str, Any] = {"dump": dump}
    if loss is not None:
        step, value = np.array(loss).T
        zeros = np.zeros(len(step), np.int64)
        content["scalar"] = {"loss": Series(step.astype(np.int64), step, value, zeros.astype(np.int32), zeros)}
    return MemorySource({"run": content})


def ask(**more: Any) -> dict[str, list[str]]:
    return {"of": ["run"], **{key: [str(value)] for key, value in more.items()}}


def words(markup: Any) -> str:
    """The English text of markup, [text or [tag, attributes, children], ...]."""
    if isinstance(markup, str):
        return markup
    if markup and isinstance(markup[0], str) and len(markup) == 3 and isinstance(markup[1], dict):
        return "" if markup[1].get("class") == "zh" else words(markup[2])
    return " ".join(words(one) for one in markup)


def addresses(markup: Any) -> list[str]:
    if isinstance(markup, str):
        return []
    if markup and isinstance(markup[0], str) and len(markup) == 3 and isinstance(markup[1], dict):
        return [markup[1][name] for name in ("href",) if name in markup[1]] + addresses(markup[2])
    return [found for one in markup for found in addresses(one)]


def drawn(spec: Any) -> Any:
    """The numbers of a typed array."""
    import base64

    return np.frombuffer(base64.b64decode(spec["bdata"]), np.dtype(spec["dtype"]))


@pytest.mark.parametrize("seed", range(4))
def test_the_first_bad_value_has_a_sign_and_a_place(tmp_path: Path, seed: int) -> None:
    write_dump(tmp_path, injection=Injection(1, 4, "inf"), iterations=2, seed=seed)
    file = next((tmp_path / "rank_0/Net/0/1").glob("BiasAdd.*fc1-Dense*output*"))
    values = np.load(file)
    index = next(list(index) for index in np.ndindex(values.shape) if not math.isfinite(values[index]))
    value = "+Inf" if values[tuple(index)] > 0 else "-Inf"
    said = words(page.causes(of(open_run(tmp_path).dump), ask())["sections"]["head"])
    assert f"The first of its bad values in row order is {value} at index {index}." in said


def test_no_place_is_said_without_values(real_data: Path) -> None:
    said = words(page.causes(of(open_run(real_data / "msprobe/torch/stat_L1").dump), ask())["sections"]["head"])
    assert "made the first bad values" in said
    assert "in row order" not in said


def scaled(folder: Path, factor: float, most: int) -> int:
    """Multiply the outputs of up to this many operators of gradients in all files; return the number of operators."""
    files = [file for file in (folder / "rank_0").rglob("*.output.*") if ".Gradients_" in file.name]
    names = sorted({file.name.split(".")[1] for file in files})[:most]
    for file in files:
        if file.name.split(".")[1] in names:
            values = np.load(file) * np.float32(factor)
            file.chmod(0o600)
            file.write_bytes(npy(values))
    return len(names)


@pytest.mark.parametrize("iterations", long_after(2, [1, 2, 3, 4, 6]))
@pytest.mark.parametrize("size", [1e-13, 1e-3, 1.0, 1e14])
def test_gradients_beyond_absolute_limits_are_no_green_light(tmp_path: Path, iterations: int, size: float) -> None:
    net = write_dump(tmp_path, iterations=iterations)
    total = len({one.name for one in net.operators if one.name.startswith("Gradients/")})
    count = scaled(tmp_path, size, 21) if size != 1.0 else 0
    dump = open_run(tmp_path).dump
    means: dict[str, list[float]] = {}
    for row in np.flatnonzero((dump.tensors["io"] == "output").to_numpy()).tolist():
        name = str(dump.tensors["name"].iloc[row])
        if name.startswith("Gradients/"):
            means.setdefault(name, []).append(float(np.abs(dump.tensor(row).astype(np.float64)).mean()))
    tiny = sum(max(found) < 1e-9 for found in means.values())
    huge = sum(min(found) > 1e9 for found in means.values())
    assert (tiny, huge) == (count if size == 1e-13 else 0, count if size == 1e14 else 0)  # by numpy
    source = of(dump)
    said = words(page.causes(source, ask())["sections"]["head"])
    assert ("Gradients vanish: " in said, "Gradients explode: " in said) == (tiny > 0, huge > 0)
    if tiny or huge:
        assert f"the mean absolute value of {tiny or huge} of {total} is " in said
    else:
        assert f"None of {total} gradients has a mean absolute value below 1e-09 or above 1e+09 in every iteration." in said
    table = words(page.departures(source, ask())["sections"]["departures"])
    missing = f"whether norms explode or vanish. That takes 4 iterations of a tensor; none has more than {iterations}"
    for told in (said, table):
        assert (missing in told) == (iterations < 4)
        assert "no norm left its history" not in told.lower() or iterations >= 4
    assert "No tensor has NaN or Inf" in said


def test_of_gradients_with_nan_nothing_is_so_in_every_iteration(real_data: Path) -> None:
    said = words(page.causes(of(open_run(real_data / "dump/out_nan").dump), ask())["sections"]["head"])
    assert "Gradients" not in said


def test_norms_that_are_not_known_are_not_judged(tmp_path: Path) -> None:
    leaf = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": 1.0, "Min": 1.0, "Mean": 1.0, "Norm": None}
    for step in range(6):
        folder = tmp_path / f"step{step}" / "rank0"
        folder.mkdir(parents=True)
        content = {"task": "statistics", "level": "L1", "data": {"Torch.add.0.forward": {"output": [leaf]}}}
        (folder / "dump.json").write_text(json.dumps(content))
    said = words(page.causes(of(open_run(tmp_path).dump), ask())["sections"]["head"])
    assert "No L2 norm of a tensor of real numbers is known." in said
    assert "no norm left its history" not in said


# Causes ---------------------------------------------------------------------------------------------------------------------


def test_the_first_operator_is_named_with_its_line(tmp_path: Path) -> None:
    net = write_dump(tmp_path, injection=Injection(3, 4, "nan"), iterations=6)
    found = page.causes(of(open_run(tmp_path).dump), ask())
    bad = net.operators[4]
    said = words(found["sections"]["head"])
    assert f"In iteration 3, {bad.name.rpartition('/')[2]} made the first bad values (1 NaN of 48); all its inputs" in said
    assert f"net.py:{bad.line} value = self.{bad.type.lower()}(value)" in said
    assert found["rows"] == [[0, 3, "non_finite"], [0, 4, "non_finite"], [0, 5, "non_finite"]]
    assert "bad before: fc0.weight" in " ".join(words(found["sections"]["causes"]).split())
    assert found["tensor"] == {"rank": 0, "node": bad.name, "io": "output.0"}
    link = addresses(found["sections"]["head"])[0]
    assert link.startswith("debugger?run=run&of=run&rank=0&step=3&node=")
    assert link.endswith("&io=output.0")


def test_the_range_of_what_the_first_operator_took_and_made_is_shown(tmp_path: Path) -> None:
    write_dump(tmp_path, injection=Injection(2, 3, "nan"), iterations=3)
    dump = open_run(tmp_path).dump
    found = Causes(dump)
    row = int(found.frame()["row"].iloc[0])
    ranges = found.ranges(row)
    assert {one.io for one in ranges} == {"input", "output"}
    names = dump.tensors["name"].astype(str)
    for one in ranges:
        of = (names == names[row]) & (dump.tensors["iteration"] == 2) & (dump.tensors["io"].astype(str) == one.io)
        values = dump.tensor(int(np.flatnonzero(of & (dump.tensors["slot"] == one.slot))[0])).astype(np.float64)
        finite = values[np.isfinite(values)]
        assert (one.low, one.high) == pytest.approx((finite.min(), finite.max()))
        assert one.nan == np.isnan(values).sum()
    assert sum(one.nan for one in ranges if one.io == "output") > 0
    assert sum(one.nan for one in ranges if one.io == "input") == 0


def test_a_healthy_dump_says_what_was_looked_at(tmp_path: Path) -> None:
    dump = opened(tmp_path, iterations=4)
    found = page.causes(of(dump), ask())
    assert f"No tensor has NaN or Inf, and no norm left its history (tensors: {len(dump.tensors)}, iterations: 4)" in words(
        found["sections"]["head"]
    )
    assert (found["rows"], found["tensor"], found["sections"]["causes"]) == ([], None, [])


def test_norms_that_explode_are_named(tmp_path: Path) -> None:
    net = write_dump(tmp_path, injection=Injection(5, 14, "exploding"), iterations=7)
    found = page.causes(of(open_run(tmp_path).dump), ask())
    name = net.operators[14].name.rpartition("/")[2]
    assert f"In iteration 5, the norm of {name} exploded: " in words(found["sections"]["head"])


def test_what_cannot_be_checked_is_counted(tmp_path: Path) -> None:
    write_dump(tmp_path, iterations=2)
    paths = list((tmp_path / "rank_0/Net/0/1").glob("Tanh*"))
    for path in paths:
        path.chmod(0o600)
        path.write_bytes(path.read_bytes()[:140])
    dump = open_run(tmp_path).dump
    found = page.causes(of(dump), ask())
    said = f"{len(paths)} of {len(dump.tensors)} tensors could not be checked"
    assert said in words(found["sections"]["head"])


def test_the_search_tells_what_it_found_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TELL_SECONDS", "TELL_COST"):
        monkeypatch.setattr(f"layouts.dumps.first_cause.work.{name}", -1.0)
    dump = opened(tmp_path, injection=Injection(2, 4, "nan"), iterations=20)
    report = Reported(dump)
    whole = find_causes().job(dump, report)
    assert 2 <= len(report.told) <= PARTS
    assert [one[0] for one in report.told] == sorted(one[0] for one in report.told)
    assert report.told[-1] == (len(dump.tensors), len(dump.tensors), None)
    for done, total, found in report.told[:-1]:
        assert isinstance(found, FoundCauses)
        assert done < total == len(dump.tensors)
        last = int(dump.tensors["iteration"].to_numpy()[done - 1])
        expected = whole.frame[whole.frame["iteration"] <= last]
        assert found.frame[["iteration", "name"]].astype(str).equals(expected[["iteration", "name"]].astype(str))


@pytest.mark.long
def test_what_is_known_of_later_iterations_is_not_told_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TELL_SECONDS", "TELL_COST"):
        monkeypatch.setattr(f"layouts.dumps.first_cause.work.{name}", -1.0)
    dump = opened(tmp_path, injection=Injection(2, 4, "nan"), iterations=20)
    iteration = dump.tensors["iteration"].to_numpy()
    outputs = (dump.tensors["io"] == "output").to_numpy()
    dump.measured(np.flatnonzero((iteration == 19) & outputs))  # as a page does that shows the last iteration
    report = Reported(dump)
    find_causes().job(dump, report)
    partly = [(done, found) for done, _, found in report.told if found is not None]
    assert partly
    for done, found in partly:
        last = int(iteration[done - 1])
        assert found.frame["iteration"].tolist() == list(range(2, last + 1))


def test_a_source_line_unfolds_to_its_stack() -> None:
    lines = (SourceLine("/me/net.py", 3, 3, "loss = net(x)"), SourceLine("/x/site-packages/ops.py", 9, 9, "return op(x)"))
    shown = source_line("/me/net.py:3 loss = net(x)", lines)
    assert shown.children[0].children == "net.py:3 loss = net(x)"
    assert shown.children[0].title == "/me/net.py:3 loss = net(x)"
    own = ["ms-debugging-own" in item.className for item in shown.children[1].children]
    assert own == [False, True]
    assert source_line("no line", ()).children == "no line"


# Spread ---------------------------------------------------------------------------------------------------------------------


def test_the_spread_has_the_share_of_bad_values(tmp_path: Path) -> None:
    net = write_dump(tmp_path, injection=Injection(2, 3, "inf"), iterations=3)
    dump = open_run(tmp_path).dump
    found = page.spread(of(dump), ask(rank=0, step=2))
    trace = found["figure"]["data"][0]
    for row, place, height in zip(trace["customdata"], drawn(trace["x"]), drawn(trace["y"]), strict=True):
        values = dump.tensor(row)
        assert net.operators[int(place) - 1].name == str(dump.tensors["name"].iat[row])
        assert height == pytest.approx(100.0 * np.mean(~np.isfinite(values)), rel=1e-6)
    assert trace["marker"]["opacity"][0] == 1.0
    assert set(trace["marker"]["opacity"][1:]) == {0.55}
    assert found["figure"]["layout"]["meta"]["operators"] == len(net.operators)
    json.dumps(found)


def test_the_spread_of_norms_has_decades(tmp_path: Path) -> None:
    dump = opened(tmp_path, injection=Injection(5, 14, "exploding"), iterations=7)
    found = page.spread(of(dump), ask(rank=0, step=5, kind="exploding"))
    trace = found["figure"]["data"][0]
    row = trace["customdata"][0]
    history = [float(np.linalg.norm(dump.tensor(one).astype(np.float64))) for one in dump.history(row)]
    assert drawn(trace["y"])[0] == pytest.approx(abs(math.log10(history[5] / np.median(history[:5]))), rel=1e-5)
    assert found["kind"] == "exploding"


def test_of_many_operators_the_worst_of_each_place_is_drawn() -> None:
    place = np.arange(10_000)
    height = np.random.default_rng(1).random(10_000)
    chosen = figures._worst(place, height, 10_000)
    assert len(chosen) == figures.MOST_BARS
    bins = place * figures.MOST_BARS // 10_000
    assert all(height[one] == height[bins == bins[one]].max() for one in chosen)


def test_an_iteration_without_bad_values_has_no_spread(tmp_path: Path) -> None:
    found = page.spread(of(opened(tmp_path, iterations=2)), ask(rank=0, step=1))
    assert found["figure"] is None
    assert "No operator has bad values" in words(found["sections"]["spread"])


@pytest.mark.parametrize("bad", [{"kind": "x"}, {"lang": "fr"}, {"theme": "blue"}, {"step": "a"}, {"rank": "-9"}])
def test_bad_values_in_the_ask_are_refused(bad: dict[str, str], tmp_path: Path) -> None:
    source = of(opened(tmp_path, iterations=1, layers=1))
    with pytest.raises(BadInput):
        page.spread(source, ask(rank=0, step=0) | {key: [value] for key, value in bad.items()})


# Departures and norms -------------------------------------------------------------------------------------------------------


def test_departures_say_how_much_later_the_loss_follows(tmp_path: Path) -> None:
    net = write_dump(tmp_path, injection=Injection(5, 14, "exploding"), iterations=8)
    loss = [(step + 1, 0.7 if step < 7 else 1e6) for step in range(8)]
    found = page.departures(of(open_run(tmp_path).dump, loss=loss), ask())
    said = words(found["sections"]["departures"])
    assert found["tensor"]["node"] == net.operators[14].name
    assert "Loss follows" in said
    departed = open_run(tmp_path).dump.departures({step: 0.7 if step < 7 else 1e6 for step in range(8)})
    assert [one for one in said.split() if one in ("+2", "+1", "0")][-1] == f"+{int(departed['lag'].iloc[-1])}"
    assert said.split().count("+2") == int((departed["lag"] == 2).sum())
    assert "Loss follows" not in words(page.departures(of(open_run(tmp_path).dump), ask())["sections"]["departures"])


def test_the_norms_are_those_of_the_values(tmp_path: Path) -> None:
    net = write_dump(tmp_path, injection=Injection(5, 4, "nan"), iterations=7)
    dump = open_run(tmp_path).dump
    causes = find_causes().job(dump, Reported(dump)).causes
    row = row_of(dump.tensors, 0, net.operators[4].name, "output.0")
    assert row is not None
    found = norms_of(causes, row)
    assert found.iteration.tolist() == list(range(7))
    for step, one in enumerate(dump.history(row)):
        values = dump.tensor(one).astype(np.float64)
        finite = values[np.isfinite(values)]
        assert found.bad[step] == values.size - finite.size
        assert found.norm[step] == pytest.approx(np.linalg.norm(finite), rel=1e-9) or not finite.size
    figure = page.norms(of(dump), ask(rank=0, node=net.operators[4].name, io="output.0"))["figure"]
    roles = {trace["meta"]["role"]: trace for trace in figure["data"]}
    assert drawn(roles["bad"]["x"]).tolist() == [5, 6]
    assert "loss" not in roles
    json.dumps(figure)


def test_a_norm_of_zero_stays_on_the_logarithmic_axis(tmp_path: Path) -> None:
    net = write_dump(tmp_path, injection=Injection(9, 14, "exploding"), iterations=12)
    name = next(one.name for one in net.operators if one.type == "TanhGrad")
    figure = page.norms(of(open_run(tmp_path).dump), ask(rank=0, node=name, io="output.0"))["figure"]
    heights = drawn(next(trace for trace in figure["data"] if trace["meta"]["role"] == "norm")["y"])
    assert (heights > 0).all()
    assert math.log10(heights.min()) > figure["layout"]["yaxis"]["range"][0]


def test_an_unknown_tensor_has_no_chart(tmp_path: Path) -> None:
    source = of(opened(tmp_path, iterations=2, layers=1))
    for io in ("output.0", "", "x", "output.99999999999999", "input.7"):
        assert page.norms(source, ask(rank=0, node="nothing", io=io))["figure"] is None


def test_the_loss_is_found_by_its_name(tmp_path: Path) -> None:
    assert loss_tag(["acc", "loss/auto", "eval_loss", "train/loss"]) == "loss/auto"
    assert loss_tag(["val/loss"]) == "val/loss"
    assert loss_tag(["blossom", "lossless", "acc"]) == ""
    dump = opened(tmp_path, iterations=2, layers=1)
    one_ahead = of(dump, loss=[(1, 5.0), (2, 4.0)])
    assert loss_of(one_ahead, "run", 0, 1) == ("loss", {0: 5.0, 1: 4.0})
    assert loss_of(of(dump, loss=[(0, 5.0), (1, 4.0)]), "run", 0, 1) == ("loss", {0: 5.0, 1: 4.0})
    assert loss_of(of(dump), "run", 0, 1) == ("", {})
    long = of(dump, loss=[(step, 1.0) for step in range(5_000)])
    found = loss_of(long, "run", 2_000, 2_001)[1]
    assert min(found) >= 1_500
    assert max(found) == 3_001


def test_ratios_are_written_with_any_exponent() -> None:
    assert [times(one) for one in (2.0, -1.0, -math.inf, 400.0)] == ["× 100", "× 0.10", "× 0", "× 1e+400"]


def test_addresses_are_those_of_pages_about_dumps() -> None:
    found = address("debugger", "a b", rank=0, step=3, node="x/y&z", io="output.0")
    assert found["href"] == "debugger?run=a+b&of=a+b&rank=0&step=3&node=x%2Fy%26z&io=output.0"
    assert found["data-query"] == "of=a+b&rank=0&step=3&node=x%2Fy%26z&io=output.0"


# Files ----------------------------------------------------------------------------------------------------------------------


def test_files_have_all_rows(tmp_path: Path) -> None:
    dump = opened(tmp_path, injection=Injection(2, 3, "inf"), iterations=4)
    source = of(dump)
    for name, frame in (("causes", dump.first_cause()), ("spread", dump.spread(0, 2)), ("departures", dump.departures())):
        saved = page._saver(source, name)(1, ask(rank=0, step=2))
        lines = saved["content"].splitlines()
        assert saved["filename"] == f"run_{name}.csv"
        assert lines[0].split(",") == list(frame.columns)
        assert len(lines) == len(frame) + 1


# Real dumps -----------------------------------------------------------------------------------------------------------------


def test_out_nan(real_data: Path) -> None:
    found = page.causes(of(open_run(real_data / "dump/out_nan").dump), ask())
    said = words(found["sections"]["head"])
    assert "In iteration 1, Square-op0 made the first bad values (12 Inf of 12); all its inputs are finite." in said
    assert "gen_ops_def.py:1192 return square_op(input)" in said
    assert "Operators with bad values in this iteration: 16 of 32." in said
    assert [row[1] for row in found["rows"]] == [1, 2, 3]


def test_a_cause_on_another_rank(real_data: Path) -> None:
    source = of(open_run(real_data / "msprobe/torch/stat_ddp").dump)
    found = page.causes(source, ask())
    assert "In iteration 1 on rank 1, Torch.div.0.forward made the first bad values (NaN or Inf, number unknown)" in words(
        found["sections"]["head"]
    )
    assert "rank 1: Torch.div.0.forward" in words(found["sections"]["causes"])
    spread = page.spread(source, ask(rank=1, step=1))
    assert spread["ranked"] is True
    assert set(spread["figure"]["data"][0]["marker"]["opacity"]) == {1.0, 0.25}


def test_values_are_counted_where_a_file_states_only_extremes(real_data: Path) -> None:
    dump = open_run(real_data / "msprobe/torch/tensor_mix").dump
    source = of(dump)
    found = page.causes(source, ask())
    row = int(dump.first_cause()["row"].iloc[0])
    values = dump.tensor(row)
    bad = int(np.isnan(values).sum())
    assert f"Torch.log.0.forward made the first bad values ({bad} NaN of {values.size})" in words(found["sections"]["head"])
    spread = page.spread(source, ask(rank=0, step=1))["figure"]["data"][0]
    heights = dict(zip(spread["customdata"], drawn(spread["y"]).tolist(), strict=True))
    assert heights[row] == pytest.approx(100.0 * np.mean(~np.isfinite(values)))


def test_a_dump_of_hashes_says_that_nothing_is_known(real_data: Path) -> None:
    found = page.causes(of(open_run(real_data / "msprobe/torch/stat_xor").dump), ask())
    assert "Nothing is known of the values" in words(found["sections"]["head"])
