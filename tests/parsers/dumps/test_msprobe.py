"""Dumps of msprobe: entries of dump.json, tensor files, modules and stacks."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from parsers import discover, open_run
from parsers.dump_frames import DUMP_STATISTICS, DUMP_TENSORS
from parsers.dumps import msprobe
from parsers.dumps.access import RunDump
from parsers.errors import FormatError

NAN, INF = float("nan"), float("inf")


def leaf(*values: object, dtype: str = "Float32", shape: Sequence[int] = (2, 3), **more: object) -> dict[str, object]:
    stated = dict(zip(("Max", "Min", "Mean", "Norm"), values, strict=False))
    return {"type": "mindspore.Tensor", "dtype": dtype, "shape": list(shape), **stated, **more}


def written(root: Path, data: object, *, step: int = 0, part: str = "proc7", name: str = "dump.json", **beside: object) -> Path:
    folder = root / f"step{step}" / part
    folder.mkdir(parents=True, exist_ok=True)
    content = {"task": "statistics", "level": "mix", "framework": "mindspore", "dump_data_dir": None, "data": data}
    (folder / name).write_text(json.dumps(content, indent=1))
    for stem, one in beside.items():
        (folder / f"{stem}.json").write_text(json.dumps(one))
    return folder


def bad_by_step(dump: RunDump) -> dict[int, int]:
    frame = dump.statistics
    return {int(step): int((rows["non_finite"] == 1).sum()) for step, rows in frame.groupby("iteration")}


# The counts of the reference: (run, entries per step, tensors per step, bad tensors per step).
COUNTS = [
    ("torch/stat_L0", (26, 26, 26), (61, 61, 61), (0, 32, 58)),
    ("torch/stat_L1", (40, 64, 64), (120, 180, 180), (0, 88, 168)),
    ("torch/stat_mix", (66, 90, 90), (181, 241, 241), (0, 120, 226)),
    ("torch/tensor_mix", (90,), (241,), (120,)),
    ("torch/stat_md5_mix", (90,), (241,), (120,)),
    ("torch/stat_xor", (64,), (180,), (0,)),
    ("torch/stat_noextra", (66,), (181,), (0,)),
    ("torch/tensor_bf16_L1", (40,), (120,), (0,)),
    ("torch/tensor_debug", (3, 3, 3), (4, 4, 4), (0, 2, 2)),
    ("torch/stat_ddp", (52, 52), (134, 134), (0, 56)),
    ("torch/structure_mix", (), (), ()),
    ("mindspore/stat_L0", (36, 36, 36), (85, 85, 85), (0, 42, 61)),
    ("mindspore/stat_L1", (43, 43, 43), (115, 115, 115), (0, 54, 87)),
    ("mindspore/stat_mix", (79, 79, 79), (200, 200, 200), (0, 96, 148)),
    ("mindspore/tensor_mix", (79, 79), (200, 200), (0, 96)),
    ("mindspore/stat_md5_mix", (79,), (200,), (96,)),
    ("mindspore/stat_tensorlist", (79,), (200,), (96,)),
    ("mindspore/tensor_debug", (2, 2, 2), (3, 3, 3), (0, 1, 1)),
    ("mindspore/structure_mix", (), (), ()),
]


@pytest.mark.parametrize(("run", "entries", "tensors", "bad"), COUNTS)
def test_the_counts_of_real_dumps_hold(
    real_data: Path, run: str, entries: Sequence[int], tensors: Sequence[int], bad: Sequence[int]
) -> None:
    dump = open_run(real_data / "msprobe" / run).dump
    frame = DUMP_TENSORS.check(dump.tensors)
    assert dump.problems == () or run == "torch/tensor_bf16_L1"
    by_step = frame.groupby("iteration", observed=True)
    assert tuple(by_step.size()) == tuple(tensors)
    assert tuple(len(rows[["rank", "name"]].drop_duplicates()) for _, rows in by_step) == tuple(entries)
    DUMP_STATISTICS.check(dump.statistics)
    assert tuple(bad_by_step(dump).values()) == tuple(bad)


def test_every_real_dump_is_discovered(real_data: Path) -> None:
    names = {source.name for source in discover(real_data / "msprobe")}
    assert names == {run for run, *_ in COUNTS}


def test_values_of_files_agree_with_the_statistics_of_the_json(real_data: Path) -> None:
    nans = {"torch/tensor_mix": (1, 241, 120, 13366), "mindspore/tensor_mix": (1, 200, 96, 15683)}
    for run, (step, files, with_nan, values) in nans.items():
        dump = open_run(real_data / "msprobe" / run).dump
        rows = np.flatnonzero((dump.tensors["iteration"] == step).to_numpy())
        frame = dump.statistics_of(rows, computed=True)
        assert set(frame["source"]) == {"computed"}
        assert len(frame) == files
        assert ((frame["nan"] > 0).sum(), frame["nan"].sum()) == (with_nan, values)
        assert (frame["positive_inf"] + frame["negative_inf"]).sum() == 0
        stated = dump.statistics_of(rows)
        fine = (stated["non_finite"] == 0).to_numpy() & stated["dtype"].str.startswith("float").to_numpy()
        for name in ("max", "min", "mean", "l2"):
            assert np.allclose(frame[name][fine], stated[name][fine], rtol=1e-4, atol=1e-6), (run, name)


def test_bfloat16_files_are_read(real_data: Path) -> None:
    dump = open_run(real_data / "msprobe/torch/tensor_bf16_L1").dump
    with_file = np.flatnonzero((dump.tensors["file"] != "").to_numpy())
    assert len(with_file) == 16
    for row in with_file.tolist():
        values = dump.tensor(row)
        assert dump.header(row).dtype == dump.tensors["dtype"].iloc[row]
        assert float(values.max()) == pytest.approx(dump.statistics["max"].iloc[row], rel=1e-2)


# Made by hand -----------------------------------------------------------------------------------------------------------------


def test_leaves_of_all_groups_are_rows(tmp_path: Path) -> None:
    entry = {
        "input_args": [leaf(1.0, 0.0, 0.5, 2.0), None, [leaf(1.0, 0.0, 0.5, 2.0), {"type": "int", "value": 3}]],
        "input_kwargs": {"mask": leaf(True, False, None, None, dtype="torch.bool", shape=())},
        "output": [leaf(1.0, 0.0, 0.5, 2.0, shape=(0,))],
        "parameters": {"weight": leaf(1.0, 0.0, 0.5, 2.0, dtype="BFloat16")},
    }
    written(tmp_path, {"Cell.a.0.Dense.forward.0": entry, "Cell.a.0.Dense.parameters_grad.0": {"weight": [leaf(0, 0, 0, 0)]}})
    dump = open_run(tmp_path).dump
    found = dump.tensors[["io", "slot", "key", "dtype", "shape"]].values.tolist()
    assert found == [
        ["input", 0, "", "float32", "2x3"],
        ["input", 2, "2.0", "float32", "2x3"],
        ["input", 0, "kwargs.mask", "bool", "[]"],
        ["output", 0, "", "float32", "0"],
        ["parameter", 0, "weight", "bfloat16", "2x3"],
        ["gradient", 0, "weight.0", "float32", "2x3"],
    ]
    assert dump.statistics["max"].iloc[2] == 1.0
    assert dump.tensors["type"].iloc[0] == "Dense"


def test_nan_and_inf_are_found_wherever_they_show(tmp_path: Path) -> None:
    cases = {
        "fine": (leaf(1.0, -1.0, 0.0, 2.0), 0),
        "hidden": (leaf(1.98, 1.51, NAN, NAN), 1),
        "infinite": (leaf(INF, 0.0, INF, INF), 1),
        "norm_overflows": (leaf(1e30, 0.0, 1.0, INF), 0),
        "unknown": (leaf(None, None, None, None), -1),
        "empty": (leaf(), -1),
        "hash": (leaf(md5="0a1b2c3d"), -1),
    }
    written(tmp_path, {f"Functional.{name}.0.forward": {"output": [one]} for name, (one, _) in cases.items()})
    frame = open_run(tmp_path).dump.statistics
    assert frame["non_finite"].tolist() == [wanted for _, wanted in cases.values()]
    assert frame["hash"].tolist()[-1] == "0a1b2c3d"
    assert frame["source"].tolist()[4:] == ["", "", "dump.json"]


def test_a_json_that_is_cut_keeps_the_entries_before(tmp_path: Path) -> None:
    folder = written(
        tmp_path, {f"Functional.op.{number}.forward": {"output": [leaf(NAN, INF, 0.0, 1.0)]} for number in range(5)}
    )
    path = folder / "dump.json"
    whole = path.read_text()
    path.write_text(whole[: int(len(whole) * 0.7)])
    dump = open_run(tmp_path).dump
    assert 2 <= len(dump.tensors) < 5
    (problem,) = dump.problems
    assert problem.path == str(path)
    assert "entries before" in problem.text
    path.write_text(whole)
    assert dump.refresh()
    assert len(dump.tensors) == 5
    assert dump.problems == ()


def test_a_json_of_something_else_is_a_problem(tmp_path: Path) -> None:
    folder = written(tmp_path, {})
    for content in ("[]", '{"a": 1}', "", '{"task": 1, "level": 2, "data": []}', "[" * 5000):
        (folder / "dump.json").write_text(content)
        dump = RunDump(str(tmp_path), [str(tmp_path)])
        assert not len(dump.tensors), content
        assert dump.problems, content


def test_old_and_new_rank_directories_are_read(tmp_path: Path) -> None:
    for part in ("rank", "rank3"):
        written(tmp_path, {"Functional.log.0.forward": {"output": [leaf(1, 1, 1, 1)]}}, part=part)
    dump = open_run(tmp_path).dump
    assert dump.ranks == (0, 3)
    assert set(dump.tensors["part"]) == {"rank", "rank3"}


def test_two_runs_in_one_directory_are_a_problem(tmp_path: Path) -> None:
    for part in ("proc7", "proc9"):
        written(tmp_path, {"Functional.log.0.forward": {"output": [leaf(1, 1, 1, 1)]}}, part=part)
    dump = open_run(tmp_path).dump
    assert len(dump.tensors) == 2
    assert any("proc7, proc9" in problem.text for problem in dump.problems)
    assert dump.tensors["occurrence"].tolist() == [0, 0]
    assert dump.previous(0) is None


def test_files_without_entries_are_a_problem(tmp_path: Path) -> None:
    folder = written(tmp_path, {"Functional.log.0.forward": {"output": [leaf(1, 1, 1, 1, data_name="gone.npy")]}})
    (folder / "dump_tensor_data").mkdir()
    np.save(folder / "dump_tensor_data" / "other.npy", np.zeros(3))
    dump = open_run(tmp_path).dump
    assert dump.tensors["file"].tolist() == [""]
    assert any("1 files" in problem.text for problem in dump.problems)


def test_names_in_the_json_lead_nowhere_else(tmp_path: Path) -> None:
    secret = tmp_path / "secret.npy"
    np.save(secret, np.arange(4))
    data = {
        "Functional.log.0.forward": {
            "output": [leaf(1, 1, 1, 1, data_name=name) for name in ("../../../secret.npy", str(secret))]
        }
    }
    folder = written(tmp_path / "run", data)
    (folder / "dump_tensor_data").mkdir()
    assert open_run(tmp_path / "run").dump.tensors["file"].tolist() == ["", ""]


def test_modules_and_stacks_are_those_of_both_forms(tmp_path: Path) -> None:
    data = {
        "Functional.log.0.forward": {"output": [leaf(1, 1, 1, 1)]},
        "Functional.log.0.backward": {"output": [leaf(1, 1, 1, 1)]},
    }
    line = "File /home/me/net.py, line 12, in construct, \n return ops.log(x)"
    construct = {"Functional.log.0.forward": ["Cell.a.b.Net.forward.0", 3], "Cell.a.b.Net.forward.0": None}
    for grouped in (True, False):
        stack = {"0": [["Functional.log.0.forward"], [line, "File /x.py, line 1, in <module>, \n main()"]]}
        old = {"Functional.log.0.forward": [line, "File /x.py, line 1, in <module>, \n main()"]}
        written(tmp_path, data, construct=construct, stack=stack if grouped else old)
        dump = RunDump(str(tmp_path), [str(tmp_path)])
        assert dump.tensors["scope"].tolist() == ["a/b", ""]
        for row in (0, 1):
            lines = dump.stack(row)
            assert [(one.file, one.first, one.code) for one in lines] == [
                ("/x.py", 1, "main()"), ("/home/me/net.py", 12, "return ops.log(x)"),
            ]  # fmt: skip


def test_damaged_descriptions_are_problems(tmp_path: Path) -> None:
    folder = written(tmp_path, {"Functional.log.0.forward": {"output": [leaf(NAN, 1, 1, 1)]}})
    for name in ("construct.json", "stack.json"):
        (folder / name).write_text("{")
    dump = open_run(tmp_path).dump
    assert dump.stack(0) == ()
    assert len(dump.first_cause()) == 1
    assert sorted(Path(problem.path).name for problem in dump.problems) == ["construct.json", "stack.json"], "one of each"


def test_a_dump_beside_event_files_belongs_to_their_run(real_data: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(real_data / "msprobe/mindspore/stat_L0", run)
    event = next(path for path in (real_data / "summary").rglob("*_MS"))
    shutil.copy(event, run)
    (source,) = discover(tmp_path)
    assert source.files
    assert source.dump_dirs == (str(run),)
    assert len(open_run(run).dump.tensors) == 255


def test_an_entry_of_the_stacks_that_is_too_long_is_left_out_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "stack.json"
    long = [["Cell.b.Conv.forward.0"], ["x" * 100] * 50_000]
    path.write_text(json.dumps({"Cell.a.Conv.forward.0": ["main.py:3"], "0": long}))
    assert msprobe.read_object(str(path)) == ({"Cell.a.Conv.forward.0": ["main.py:3"]}, 1)


def test_a_dump_of_too_many_arrays_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path, {"Functional.log.0.forward": {"output": [leaf(1, 1, 1, 1)]}})
    text = (folder / "dump.json").read_text()
    (folder / "dump.json").write_text(text.replace('"output": [', '"output": [' + "[]," * 260_000))
    dump = open_run(tmp_path).dump
    assert not len(dump.tensors)
    (problem,) = dump.problems
    assert "Expected at most one array or object per 8 characters, found 260,0" in problem.text


@pytest.mark.parametrize("value", ["NaN", "1"])
def test_stacks_of_too_many_arrays_are_refused_however_short_each_entry_is(tmp_path: Path, value: str) -> None:
    path = tmp_path / "stack.json"
    half = "[]," * 130_000
    path.write_text(f'{{"x": {value}, "a": [{half}1], "b": [{half}1]}}')
    with pytest.raises(FormatError, match="one array or object per 16 characters, found 260,003"):
        msprobe.read_object(str(path))


@pytest.mark.parametrize("text", [b'\xef\xbb\xbf{"a": ["b"]}', b'{"a": ["\\ud800"]}', b'{"a": ["\xff"]}', b'{"a": [NaN]}'])
def test_what_only_python_takes_for_json_is_read_too(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "stack.json"
    path.write_bytes(text)
    content, refused = msprobe.read_object(str(path))
    assert (list(content), refused) == (["a"], 0)
    assert str(content).encode()
