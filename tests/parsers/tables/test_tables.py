"""Tables of metrics. The samples were written by the loggers themselves, from formulas that the tests repeat."""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.commands.cli import main
from parsers import discover, open_run
from parsers.json_text import MOST_CONTAINERS
from parsers.model import Batch
from parsers.registry import read_as_tables, reader_for
from parsers.tables import csv_tables
from parsers.tables.rows import LONGEST_LINE
from tests.amounts import examples

DATA = Path(__file__).resolve().parents[2] / "data"
Points = list[tuple[int, float]]


def points(*batches: Batch) -> dict[str, Points]:
    """Tag -> steps and values in file order."""
    found: dict[str, list[tuple[int, int, float]]] = {}
    for batch in batches:
        for block in batch.scalars:
            for tag, values in zip(block.tags, block.value.tolist(), strict=True):
                rows = zip(block.order.tolist(), block.step.tolist(), values, strict=True)
                found.setdefault(tag, []).extend(rows)
    return {tag: [(step, value) for _, step, value in sorted(rows)] for tag, rows in found.items()}


def read(path: Path, *lines: str | bytes) -> Batch:
    if lines:
        path.write_bytes(b"".join(line if isinstance(line, bytes) else line.encode() for line in lines))
    reader = reader_for(str(path))
    assert reader is not None
    return reader.read(str(path))


def texts(batch: Batch) -> list[str]:
    return [problem.text for problem in batch.problems]


def test_lightning(tmp_path: Path) -> None:
    run = open_run(DATA / "lightning" / "2.6.6")
    assert run.tags() == ("train_loss", "val_loss")
    assert run.series("train_loss").value.tolist() == [1 / (step + 1) for step in range(12)]
    assert run.series("val_loss").step.tolist() == [3, 7, 11]
    assert run.series("val_loss").value.tolist() == [0.5 - step / 40 for step in (3, 7, 11)]
    assert (run.settings["learning_rate"], run.settings["user_defined/layers"]) == (0.1, 3)
    assert not run.problems


def test_transformers() -> None:
    found = points(read(DATA / "transformers" / "5.24.0" / "trainer_state.json"))
    assert found["loss"] == [(5 * entry, 1 / (entry + 1)) for entry in range(1, 5)]
    assert found["eval_loss"] == [(20, 0.25)]
    assert sorted(found) == ["eval_loss", "grad_norm", "learning_rate", "loss"]


def test_mmengine() -> None:
    found = points(read(DATA / "mmengine" / "0.10.7" / "scalars.json"))
    assert found["loss"] == [(step, 1 / step) for step in range(10, 60, 10)]
    assert found["acc"] == [(50, 0.5)]


def test_ray() -> None:
    run = open_run(DATA / "ray" / "2.60.0")
    assert run.series("loss").value.tolist() == [0.1 / (row + 1) for row in range(4)]
    assert run.series("info/acc").value.tolist() == [row / 10 for row in range(4)]
    assert not {"info/note", "config/lr", "done", "timestamp"} & set(run.tags())
    assert (run.settings["learning_rate"], run.settings["user_defined/net.layers"]) == (0.1, 2)
    batch = read(DATA / "ray" / "2.60.0" / "result.json")
    assert batch.scalars[0].wall_time.tolist() == [1795824246.0] * 4
    assert batch.started == 1795824246.0
    assert not run.problems


def test_stable_baselines() -> None:
    found = points(read(DATA / "stable_baselines3" / "2.9.2" / "progress.csv"))
    assert found["rollout/ep_rew_mean"] == [(100, 0.0), (200, 10.0), (300, 20.0), (400, 30.0)]
    assert found["train/loss"] == [(200, 0.5), (400, 0.25)]


@pytest.mark.parametrize(("beside", "read_from"), [
    (("params.json", "result.json"), ["result.json"]),
    (("result.json",), ["progress.csv", "result.json"]),
    (("params.json",), ["progress.csv"]),
])  # fmt: skip
def test_the_rows_that_ray_writes_twice_are_read_once(tmp_path: Path, beside: tuple[str, ...], read_from: list[str]) -> None:
    for name in beside:
        (tmp_path / name).write_text('{"x": 1}\n')
    (tmp_path / "progress.csv").write_text("step,x\n1,1\n")
    (source,) = discover(tmp_path)
    tables = {file.kind for file in source.files} - {"config"}
    assert sorted(os.path.basename(file.path) for file in source.files if file.kind in tables) == read_from


@pytest.mark.parametrize(
    ("header", "steps"),
    [("step,epoch", [7, 8]), ("epoch,global_step", [5, 6]), ("iteration,x", [7, 8]), ("x,_step", [5, 6]), ("x,y", [0, 1])],
)
def test_the_step_is_the_first_known_column_else_the_row(header: str, steps: list[int], tmp_path: Path) -> None:
    batch = read(tmp_path / "metrics.csv", f"{header},loss\n7,5,0.5\n8,6,0.25\n")
    assert points(batch)["loss"] == list(zip(steps, (0.5, 0.25), strict=True))
    names = header.split(",")
    lines = [json.dumps({names[0]: a, names[1]: b, "loss": loss}) + "\n" for a, b, loss in ((7, 5, 0.5), (8, 6, 0.25))]
    assert points(read(tmp_path / "metrics.jsonl", *lines))["loss"] == list(zip(steps, (0.5, 0.25), strict=True))


def test_rows_are_counted_on_when_a_file_grows(tmp_path: Path) -> None:
    for name, head, lines in (
        ("progress.csv", "loss\n", ["1\n", "2\n", "3\n"]),
        ("log.jsonl", "", ['{"loss":1}\n', '{"loss":2}\n', '{"loss":3}\n']),
    ):
        path = tmp_path / name
        reader = reader_for(str(path))
        assert reader is not None
        first = read(path, head, *lines[:2], lines[2][:-2])
        assert (first.records, first.pending) == (2, len(lines[2]) - 2)
        path.write_text(head + "".join(lines))
        assert points(first, reader.read(str(path), first.cursor)) == {"loss": [(0, 1.0), (1, 2.0), (2, 3.0)]}


HOSTILE: Sequence[tuple[str, Points, int]] = (
    ("1,nan\n2,inf\n3,-Infinity\n4,1e999\n", [(1, math.nan), (2, math.inf), (3, -math.inf), (4, math.inf)], 0),
    ("1,\n2,text\n3,5\n", [(3, 5.0)], 0),
    ("1,0.5\n1,0.25\n0,1\n", [(1, 0.5), (1, 0.25), (0, 1.0)], 0),
    ("99999999999999999999,1\n1,2\n", [(1, 2.0)], 1),
    ("x,1\n,2\n1.5,3\n2.0,4\n", [(2, 4.0)], 3),
    ("1,2,3\n4\n5,6\n", [(5, 6.0)], 2),
    ('1,"2"\n2,"a ""b""\nc"\n3,4\n', [(1, 2.0), (3, 4.0)], 0),
    ("1,2\r\n\r\n3,4\r\n", [(1, 2.0), (3, 4.0)], 0),
    ("step,loss\n1,2\n", [(1, 2.0)], -1),
    ("1,\xff\0\n2,3\n", [(2, 3.0)], 0),
    ("1,0.1\n2,0.30000000000000004\n3,1_0\n", [(1, 0.1), (2, 0.30000000000000004)], 0),
    ("1," + "9" * 400 + "\n", [(1, math.inf)], 0),
)


@pytest.mark.parametrize(("text", "expected", "damaged"), HOSTILE)
def test_csv_of_any_content(text: str, expected: Points, damaged: int, tmp_path: Path) -> None:
    batch = read(tmp_path / "metrics.csv", "step,loss\n", text.encode("latin-1"))
    assert repr(points(batch).get("loss", [])) == repr(expected)
    if damaged >= 0:
        assert len(batch.problems) == damaged, texts(batch)
    assert batch.pending == 0


def test_plain_lines_and_lines_with_quotes_say_the_same(tmp_path: Path) -> None:
    lines = [f"{row},{'' if row % 3 else row / 7},{'nan' if row % 5 == 0 else row}\n" for row in range(200)]
    plain = read(tmp_path / "metrics.csv", "step,a,b\n", *lines)
    in_quotes = ['"' + line.replace(",", '",', 1) for line in lines]
    quoted = read(tmp_path / "metrics.csv", 'step,a,"b"\n', *in_quotes)
    assert repr(points(plain)) == repr(points(quoted))
    assert plain.records == quoted.records == 200


RECORDS = (
    "1,2,3", '"1","2","3"', "1,,3", '1,"",3', "1,2", "1,2,3,4", "", "  ", "step,a,b", "x,1,2", '"4","x,y",5', '4,"x\ny",5',
    '4,"say ""x""",5', '4,q""r,5', "4,1\0,5", "4,1\r2,5", "4,True,-inf", '4,"1_0", 5', '"4,1,2', "4,nan,1e400", '"",1,2',
)  # fmt: skip
OPEN = '"4,1,2'


@pytest.mark.parametrize("part", [1, 30, 1 << 18])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r\r\n"])
def test_a_record_says_the_same_among_any_others(
    end: str, part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_tables, "PART", part)
    path, header = tmp_path / "metrics.csv", f"step,a,b{end}"
    alone = {one: read(path, header, one, end, *(["1,2,3\n"] * 200 if one == OPEN else [])) for one in RECORDS}
    damaged = {one for one, batch in alone.items() if batch.problems}
    assert damaged == {"1,2", "1,2,3,4", "x,1,2", "4,1\r2,5", OPEN, '"",1,2'}
    for one in ('"4","x,y",5', '4,"x\ny",5', '4,"say ""x""",5', '4,q""r,5', "4,1\0,5"):
        assert points(alone[one]) == {"b": [(4, 5.0)]}
    for seed in range(examples(20)):
        some = random.Random(seed)
        few = some.sample(RECORDS, some.randint(1, len(RECORDS)))
        chosen = [some.choice(few) for _ in range(some.randint(0, 80))]
        after = ["1,2,3\n"] * 200 if OPEN in chosen else []  # a quoted cell may span lines, which these are too many for
        chosen = [one for one in chosen if one != OPEN] + [OPEN] * bool(after)
        found = read(path, header, *(one + end for one in chosen), *after)
        told = points(*(alone[one] for one in chosen))
        assert {tag: sorted(map(str, values)) for tag, values in points(found).items()} == {
            tag: sorted(map(str, values)) for tag, values in told.items()
        }
        assert len(found.problems) == sum(len(alone[one].problems) for one in chosen)


def test_json_lines_of_any_content(tmp_path: Path) -> None:
    deep = '{"a":' * 3000 + "1" + "}" * 3000
    batch = read(
        tmp_path / "metrics.jsonl",
        '{"step":1,"loss":NaN}\n{"step":2,"loss":1e999}\n[]\n{"step"\n\xff\n', deep + "\n", "\n",
        '{"step":3,"loss":' + "9" * 400 + '}\n{"step":4,"loss":true,"x":null,"y":"1","z":[1]}\n{"step":1e300,"loss":5}\n{}\n',
    )  # fmt: skip
    assert repr(points(batch)["loss"]) == repr([(1, math.nan), (2, math.inf), (3, math.inf), (4, 5.0)])
    assert len(batch.problems) >= 3


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"log_history":{}}', "\xff", "[" * 100_000])
def test_a_state_without_a_history_is_one_problem(text: str, tmp_path: Path) -> None:
    path = tmp_path / "trainer_state.json"
    path.write_bytes(text.encode("latin-1"))
    batch = read(path)
    assert len(batch.problems) == 1
    assert not batch.scalars


def test_a_state_of_too_many_arrays_is_one_problem(tmp_path: Path) -> None:
    batch = read(tmp_path / "trainer_state.json", '{"log_history": [' + "[]," * MOST_CONTAINERS + "1]}")
    (text,) = texts(batch)
    assert "250,002 arrays and objects where at most 250,000 are read; the file was skipped" in text


def test_of_several_checkpoints_the_newest_counts(tmp_path: Path) -> None:
    for steps in (9, 10, 100):
        folder = tmp_path / "out" / f"checkpoint-{steps}"
        folder.mkdir(parents=True)
        history = [{"step": step, "loss": 1 / step} for step in range(1, steps + 1)]
        (folder / "trainer_state.json").write_text(json.dumps({"log_history": history}))
        (folder / "config.json").write_text('{"layers": 3}')
    (source,) = discover(tmp_path)
    assert source.name == "out"
    run = open_run(tmp_path / "out")
    assert run.series("loss").value.tolist() == [1 / step for step in range(1, 101)]
    assert run.settings["user_defined/layers"] == 3
    (tmp_path / "out" / "trainer_state.json").write_text('{"log_history": [{"step": 101, "loss": 0.5}]}')
    (source,) = discover(tmp_path)
    assert open_run(tmp_path / "out").series("loss").step.tolist() == [101]


def test_a_line_of_too_many_values_costs_itself_alone(tmp_path: Path) -> None:
    many = '{"step": 2, "loss": [' + "[]," * MOST_CONTAINERS + "1]}\n"
    batch = read(tmp_path / "metrics.jsonl", '{"step": 1, "loss": 0.5}\n', many, '{"step": 3, "loss": 0.25}\n')
    assert points(batch)["loss"] == [(1, 0.5), (3, 0.25)]
    (text,) = texts(batch)
    assert "250,002 arrays and objects where at most 250,000 are read" in text


def test_a_line_that_is_too_long_costs_itself_alone(tmp_path: Path) -> None:
    longest = b'{"step": 2, "note": "' + b"x" * LONGEST_LINE + b'", "loss": 9}\n'
    batch = read(tmp_path / "metrics.jsonl", '{"step": 1, "loss": 0.5}\n', longest, '{"step": 3, "loss": 0.25}\n')
    assert points(batch)["loss"] == [(1, 0.5), (3, 0.25)]
    assert "A line has more than 16,777,216 bytes; it was skipped." in texts(batch)


def test_names_problems_and_levels_of_a_table_are_limited(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    names = "".join(f'{{"step": {number}, "a{number}": 1, "kept": 2}}\n' for number in range(20_005))
    found = points(read(path, names))
    assert len(found) == 20_000
    assert found["kept"] == [(number, 2.0) for number in range(20_005)]
    batch = read(path, "1\n" * 1_005, '{"step": 1, "loss": 0.5}\n')
    assert (len(batch.problems), points(batch)) == (1_000, {"loss": [(1, 0.5)]})
    levels = '{"a":' * 20 + '{"b": 1, "c": {"d": 2}}' + "}" * 20
    assert list(points(read(path, '{"step": 1, "loss": 0.5, "x": {"y": 3}, "deep": ' + levels + "}\n"))) == ["loss", "x/y"]


def test_a_read_stops_at_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text("step,loss\n" + "".join(f"{row},{row / 7}\n" for row in range(20_000)))
    reader = reader_for(str(path))
    assert reader is not None
    batches = [reader.read(str(path), None, 1000)]
    while batches[-1].more:
        batches.append(reader.read(str(path), batches[-1].cursor, 1000))
    assert len(batches) > 3
    assert points(*batches)["loss"] == [(row, row / 7) for row in range(20_000)]


def test_other_names_are_tables_on_demand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "loss_log.csv").write_text("step,loss\n3,0.5\n")
    (tmp_path / "own.jsonl").write_text('{"step": 4, "acc": 0.25}\n')
    try:
        assert main(["list", str(tmp_path)]) == 0
        assert "." not in capsys.readouterr().out.split()
        assert main(["list", str(tmp_path), "--table", "*_log.csv", "--table", "own.*"]) == 0
        run = open_run(tmp_path)
        assert {tag: run.series(tag).step.tolist() for tag in run.tags()} == {"loss": [3], "acc": [4]}
        assert main(["list", str(tmp_path), "--table", "a/b"]) == 2
    finally:
        read_as_tables(())
