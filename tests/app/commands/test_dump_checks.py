"""`mindscope check-dump`, on real dumps and on those of a network made bad at a known operator."""

from __future__ import annotations

import math
import os
from functools import partial
from pathlib import Path

import pytest

from app.commands.cli import main
from app.store.dumps.measuring import Measuring
from parsers import open_run
from parsers.analysis.dumps.watchpoints import CONDITIONS, recommended
from tests.writers.dumps import Injection, write_dump

NAN = Injection(3, 4, "nan")
OVERFLOW, LARGE = ('[[watchpoint]]\ncondition = "tensor_overflow"\n', '[[watchpoint]]\ncondition = "tensor_too_large"\n')


def check(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[str], str]:
    try:
        code = main(["check-dump", *map(str, arguments)])
    except SystemExit as ended:
        code = int(str(ended.code))
    said = capsys.readouterr()
    return code, said.out.splitlines(), said.err


def watch(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "watch.toml"
    path.write_text(text)
    return path


def test_a_healthy_dump_has_no_hit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_dump(tmp_path / "dump")
    code, lines, errors = check(capsys, tmp_path / "dump")
    assert (code, errors) == (0, "")
    tensors = len(open_run(tmp_path / "dump").dump.tensors)
    assert lines[-1] == f"1 dump, {tensors:,} tensors, {len(recommended())} watchpoints: no hit"
    assert lines[:-1] == [
        "not checked: weight_change_too_large: 6 tensors: no previous iteration",
        "not checked: operator_overflow: no overflow records",
    ]


def test_hits_are_printed_in_the_order_they_happened_and_the_cause_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    net = write_dump(tmp_path / "dump", injection=NAN)
    code, lines, errors = check(capsys, tmp_path / "dump", "--most", "1000")
    assert (code, errors) == (1, "")
    bad = net.operators[4]
    assert lines[0] == f"rank 0, iteration 3, graph 0: tensor_overflow: {bad.name} output 0: 1 NaN or Inf"
    cause = next(line for line in lines if line.startswith("first cause"))
    assert cause.endswith(f"{bad.name} made NaN or Inf from inputs that are fine, /home/me/net.py:{bad.line} "
                          f"value = self.{bad.type.lower()}(value)")  # fmt: skip
    hits = [line for line in lines if line.startswith("rank ")]
    iterations = [int(line.split(",")[1].split()[1]) for line in hits]
    assert iterations == sorted(iterations)
    assert f"{len(hits)} hits (" in lines[-1]


@pytest.mark.parametrize("most", [0, 2])
def test_the_number_of_printed_hits_is_bounded(most: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_dump(tmp_path / "dump", injection=NAN)
    _, whole, _ = check(capsys, tmp_path / "dump", "--most", 999_999)
    _, lines, _ = check(capsys, tmp_path / "dump", "--most", most)
    hits = sum(line.startswith("rank ") for line in whole)
    assert sum(line.startswith("rank ") for line in lines) == most
    assert f"... and {hits - most} more hits" in lines
    assert lines[-1] == whole[-1]


def test_watchpoints_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = write_dump(tmp_path / "dump", iterations=2)
    text = '[[watchpoint]]\ncondition = "tensor_too_large"\nmax_gt = -1e9\nmin_gt = 1e9\npattern = "^Tanh$"\n'
    code, lines, errors = check(capsys, tmp_path / "dump", "--watch", watch(tmp_path, text))
    assert (code, errors) == (1, "")
    hits = [line for line in lines if line.startswith("rank ")]
    tanh = [one.name for one in net.operators if one.type == "Tanh"]
    assert len(hits) == 2 * len(tanh)
    dump = open_run(tmp_path / "dump").dump
    rows = dump.tensors[(dump.tensors["name"] == tanh[0]) & (dump.tensors["io"] == "output")].index
    greatest = float(dump.tensor(int(rows[0])).max())
    assert hits[0] == f"rank 0, iteration 0, graph 0: tensor_too_large: {tanh[0]} output 0: max_gt -1e+09, found {greatest:.4g}"


def test_a_file_may_add_to_the_recommended_watchpoints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_dump(tmp_path / "dump", iterations=2)
    path = watch(tmp_path, 'recommended = true\n[[watchpoint]]\ncondition = "weight_not_changed"\n')
    code, lines, _ = check(capsys, tmp_path / "dump", "--watch", path)
    assert code == 0
    assert f" {len(recommended()) + 1} watchpoints: no hit" in lines[-1]


@pytest.mark.parametrize("name", list(CONDITIONS))
def test_every_condition_can_be_in_a_file(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_dump(tmp_path / "dump", iterations=2, layers=1)
    given = "".join(
        f"{limit.name} = {5 if math.isfinite(limit.greatest) else 0.5}\n"
        for limit in CONDITIONS[name].limits
        if not limit.name.startswith("range_") or "range" in name
    ).replace("range_start_inclusive = 0.5", "range_start_inclusive = -1")
    path = watch(tmp_path, f'[[watchpoint]]\ncondition = "{name}"\n{given}')
    code, lines, errors = check(capsys, tmp_path / "dump", "--watch", path)
    assert code in (0, 1)
    assert errors == ""
    assert " 1 watchpoint: " in lines[-1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected at least one [[watchpoint]], or recommended = true, found none"),
        ("recommended = 1", "recommended: expected true or false, found 1"),
        ("watch = 1", "expected a known key (did you mean watchpoint?), found 'watch'"),
        ("watchpoint = 3", "watchpoint: expected tables that begin with [[watchpoint]], found 3"),
        ("[[watchpoint]\n", "expected valid TOML, found an error: Expected ']]'"),
        ("x = " + "1" * 5000, "expected valid TOML, found an error: Exceeds the limit"),
        ("x = " + "[" * 5000, "expected valid TOML, found an error: too deep nesting"),
        ("\n[[watchpoint]]\n", "line 2: watchpoint 1: condition: expected the name of a condition (one of weight_init"),
        (OVERFLOW.replace("flow", "flw"), "line 2: watchpoint 1: condition: expected the name of a condition (did you mean"),
        (LARGE + "max_gtt = 3", "line 3: watchpoint 1: expected a known key (did you mean max_gt?), found 'max_gtt'"),
        (LARGE + 'max_gt = "3"', "line 3: watchpoint 1: max_gt: expected a number, found '3'"),
        (LARGE + "max_gt = true", "line 3: watchpoint 1: max_gt: expected a number, found True"),
        (LARGE + "max_gt = nan", "line 3: watchpoint 1: max_gt: expected a finite number, found nan"),
        (LARGE, "line 1: watchpoint 1: tensor_too_large: expected one of the parameters abs_mean_gt, max_gt"),
        (LARGE + "abs_mean_gt = -1", "line 3: watchpoint 1: abs_mean_gt: expected a finite number from 0, found -1"),
        (OVERFLOW + 'pattern = "("', "line 3: watchpoint 1: expected a regular expression, found '('"),
        (OVERFLOW + "pattern = 1", "line 3: watchpoint 1: pattern: expected a text, found 1"),
        (OVERFLOW + "nodes = []", "line 3: watchpoint 1: nodes: expected a list of names, found []"),
        (OVERFLOW + '[[watchpoint]]\nnodes = ["a"]', "line 3: watchpoint 2: condition: expected the name of a condition"),
    ],
)
def test_mistakes_in_the_file(text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_dump(tmp_path / "dump", iterations=1, layers=1)
    path = watch(tmp_path, text)
    code, lines, errors = check(capsys, tmp_path / "dump", "--watch", path)
    assert (code, lines) == (2, [])
    assert errors.startswith(f"mindscope: --watch: {path}")
    assert said in errors
    assert errors.count("\n") == 1


def test_bad_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_dump(tmp_path / "dump", iterations=1, layers=1)
    (tmp_path / "empty").mkdir()
    (tmp_path / "pynative/rank_0/.dump_metadata").mkdir(parents=True)
    for arguments, said in (
        ((tmp_path / "absent",), "DIR: expected an existing directory"),
        ((tmp_path / "empty",), "DIR: expected a dump there or below it"),
        ((tmp_path / "pynative",), "DIR: expected dumped tensors, found 1 dump without any"),
        ((tmp_path / "dump", "--watch", tmp_path / "absent.toml"), "expected a readable TOML file, found none: No such file"),
        ((tmp_path / "dump", "--most", "-1"), "--most"),
        ((tmp_path / "dump", "--most", "x"), "--most: expected a whole number from 0 to 999999999, found 'x'"),
    ):
        code, lines, errors = check(capsys, *arguments)
        assert (code, lines) == (2, [])
        assert said in errors


def test_unreadable_tensors_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_dump(tmp_path / "dump", iterations=2)
    path = next((tmp_path / "dump/rank_0/Net/0/1").glob("Tanh*output*"))
    os.chmod(path, 0o600)
    path.write_bytes(path.read_bytes()[:150])
    code, lines, errors = check(capsys, tmp_path / "dump")
    assert code == 3
    assert "not checked: tensor_overflow: 1 tensor: unreadable" in lines
    assert lines[-1].endswith("no hit")
    assert str(path) in errors
    assert "could not be read, see above" in errors


def test_several_dumps_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_dump(tmp_path / "good", iterations=4)
    write_dump(tmp_path / "bad", iterations=4, injection=NAN)
    code, lines, _ = check(capsys, tmp_path)
    assert code == 1
    assert {line.split(":")[0] for line in lines[:-1]} == {"good", "bad"}
    assert any(line.startswith("bad: first cause: rank 0, iteration 3") for line in lines)
    assert lines[-1].startswith("2 dumps, ")


def test_ranks_of_one_dump_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_dump(tmp_path / "dump", iterations=4)
    write_dump(tmp_path / "dump", iterations=4, rank=1, injection=NAN)
    code, lines, _ = check(capsys, tmp_path / "dump")
    assert code == 1
    assert lines[0].startswith("rank 1, iteration 3, graph 0: tensor_overflow: ")
    assert lines[-1].startswith("1 dump, ")


@pytest.mark.long
def test_processes_find_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    write_dump(tmp_path / "dump", injection=NAN)
    here = check(capsys, tmp_path / "dump")
    monkeypatch.setattr("app.commands.dump_checks.Measuring", partial(Measuring, much=0))
    assert check(capsys, tmp_path / "dump") == here


# Real dumps -----------------------------------------------------------------------------------------------------------------


def test_out_nan(real_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, _ = check(capsys, real_data / "dump/out_nan", "--most", "100000")
    assert code == 1
    overflows = [sum(f"iteration {step}, graph 0: tensor_overflow" in line for line in lines) for step in range(4)]
    assert overflows == [0, 26, 38, 41]
    cause = next(line for line in lines if line.startswith("first cause"))
    assert "iteration 1, graph 0: Default/network-WithLossCell/_loss_fn-MSELoss/Square-op0 made NaN or Inf" in cause
    assert cause.endswith(":1192 return square_op(input)")


def test_a_cause_on_another_rank(real_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, _ = check(capsys, real_data / "msprobe/torch/stat_ddp")
    assert code == 1
    cause = next(line for line in lines if line.startswith("first cause"))
    assert cause.startswith("first cause: rank 1, iteration 1: Torch.div.0.forward made NaN or Inf from inputs that are fine")
    assert "not checked: gradient_vanishing: 56 tensors: no values" in lines


def test_a_dump_without_damage_of_values(real_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, _ = check(capsys, real_data / "dump/out_tensor")
    assert code == 0
    assert lines[-1].endswith("no hit")



def test_no_hit_is_said_only_of_what_was_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Changes from iteration to iteration need two: one alone shows none."""
    wanted = watch(tmp_path, '[[watchpoint]]\ncondition = "weight_change_too_large"\nabs_mean_update_ratio_gt = 1000.0\n')
    for iterations, said in ((1, "nothing could be checked"), (3, "no hit")):
        write_dump(tmp_path / f"dump{iterations}", iterations=iterations)
        code, lines, errors = check(capsys, tmp_path / f"dump{iterations}", "--watch", wanted)
        assert (code, errors) == (0, "")
        assert lines[-1].endswith(f": {said}"), lines
