"""Damaged kernel dumps: each damage is a problem, and all that is intact is shown."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from parsers import open_run
from parsers.dumps.ascend import read_parts
from parsers.dumps.names import NPY
from parsers.errors import FormatError, PayloadError
from parsers.files import RegularFile
from tests.parsers.dumps.looking import one_of, texts
from tests.writers.dumps import async_file, file_name, npy, write_dump
from tests.writers.worst_binaries import delimited, varint


def test_damaged_binary_files_hide_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "20261122040000" / "2" / "Net" / "1" / "0"
    folder.mkdir(parents=True)
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    data = async_file([("input", values, 1, 2, (2, 3)), ("output", values * 2, 1, 2, ())], buffers=9)
    nz = np.zeros((1, 1, 16, 16), np.float32)
    private = async_file([("output", nz, 1, 4, (3, 3))])
    for number, one in enumerate((data, data[:-1], data[:20], b"", b"\xff" * 40, private)):
        (folder / f"Add.Default_Add-op{number}.{number}.7.179532000012345{number}").write_bytes(one)
    dump = open_run(tmp_path).dump
    assert dump.ranks == (2,)
    assert len(dump.tensors) == 3
    assert np.array_equal(dump.tensor(one_of(dump, io="output")), values * 2)
    with pytest.raises(PayloadError, match="FRACTAL_Z"):
        dump.tensor(2)
    assert sum("not shown" in text for text in texts(dump)) == 5


@pytest.mark.parametrize(("sizes", "why"), [
    ([2**63 - 1] * 500_000, "at most 64 dimensions of a tensor, found 500,000"),
    ([2**32] * 2, "values of a tensor, found the shape"),
])  # fmt: skip
def test_shapes_whose_product_takes_long_are_refused_before(tmp_path: Path, sizes: list[int], why: str) -> None:
    head = delimited(4, delimited(3, delimited(1, b"".join(map(varint, sizes)))))
    path = tmp_path / "Add.Default_Add-op0.0.7.1795320000123450"
    path.write_bytes(len(head).to_bytes(8, "little") + head)
    begin = time.process_time()
    with RegularFile(str(path)) as file, pytest.raises(FormatError, match=why):
        read_parts(file)
    assert time.process_time() - begin < 5


def test_every_damaged_tensor_is_a_problem_and_the_rest_is_shown(dumped: Path) -> None:
    files = sorted((dumped / "rank_0/Net/0/1").glob("*.npy"))[:4]
    good = files[0].read_bytes()
    made = (good[:-1], b"not an npy file" + good[15:], good + b"\0", b"")
    for file, data in zip(files, made, strict=True):
        file.chmod(0o600)
        file.write_bytes(data)
    dump = open_run(dumped).dump
    frame = dump.statistics
    assert (frame["source"] == "").sum() == 4
    assert (frame["source"] == "computed").sum() == len(frame) - 4
    assert {problem.path for problem in dump.problems} == set(map(str, files))
    assert {problem.kind for problem in dump.problems} == {"bad_dump"}


def test_a_missing_graph_and_order_are_problems(tmp_path: Path) -> None:
    write_dump(tmp_path / "job", iterations=2, graph=False)
    dump = open_run(tmp_path / "job").dump
    assert len(dump.tensors)
    assert (dump.tensors["order"] == -1).all()
    assert any("graphs/" in text for text in texts(dump))
    assert any("execution_order/" in text for text in texts(dump))
    assert dump.stack(0) == ()


def test_the_graph_of_another_network_is_a_problem(dumped: Path, real_data: Path) -> None:
    for folder in ("graphs", "execution_order"):
        shutil.rmtree(dumped / "rank_0" / folder)
        shutil.copytree(real_data / "dump/out_cf/rank_0" / folder, dumped / "rank_0" / folder)
    dump = open_run(dumped).dump
    assert any("another network" in text for text in texts(dump))
    assert dump.tensors["name"].str.startswith("Default_").any()


def test_a_cut_graph_is_a_problem(dumped: Path) -> None:
    path = dumped / "rank_0/graphs/ms_output_trace_code_graph_0.pb"
    path.write_bytes(path.read_bytes()[:900])
    dump = open_run(dumped).dump
    assert len(dump.tensors)
    assert (dump.tensors["order"] >= 0).any()
    assert any(problem.path == str(path) for problem in dump.problems)


def test_two_networks_in_one_directory_are_a_problem(dumped: Path) -> None:
    shutil.copytree(dumped / "rank_0/Net", dumped / "rank_0/Other")
    dump = open_run(dumped).dump
    assert any("2 in one directory" in text for text in texts(dump))
    assert set(dump.tensors["net"]) == {"Net", "Other"}


def test_files_of_an_earlier_run_are_a_problem(dumped: Path) -> None:
    folder = dumped / "rank_0/Net/0/1"
    for file in list(folder.glob("*.npy")):
        head, digits, tail = NPY.fullmatch(file.name).groups()  # type: ignore[union-attr]
        shutil.copy(file, folder / f"{head}.{int(digits) + 10**9}.{tail}")
    dump = open_run(dumped).dump
    assert any("two runs" in text for text in texts(dump))
    assert set(dump.tensors["occurrence"]) == {0, 1}


def test_strange_names_are_counted(dumped: Path) -> None:
    (dumped / "rank_0/Net/0/1/weights.npy").write_bytes(npy(np.zeros(2)))
    assert any("1 other npy files (weights.npy)" in text for text in texts(open_run(dumped).dump))


def test_names_that_are_no_text_can_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "rank_0/Net/0/0"
    folder.mkdir(parents=True)
    (tmp_path / "rank_0/.dump_metadata").mkdir()
    name = os.fsencode(file_name("Add", "Default/a-op0", 1_795_217_412_000_000, "output", 0, "float32"))
    with open(os.path.join(os.fsencode(folder), name.replace(b"Default", b"D\xff")), "wb") as file:
        file.write(npy(np.arange(3, dtype=np.float32)))
    dump = open_run(tmp_path).dump
    assert dump.tensors["recorded"].tolist() == ["D\\xff_a-op0"]
    assert "\\xff" in dump.tensors["file"].iloc[0]
    assert dump.tensor(0).tolist() == [0.0, 1.0, 2.0]


def test_a_file_of_another_user_is_a_problem(dumped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = min((dumped / "rank_0/Net/0/1").glob("*.npy"))
    opened = os.open

    def refuse(path: str, *more: int) -> int:
        if path == str(file):
            raise PermissionError(13, "Permission denied", path)
        return opened(path, *more)

    monkeypatch.setattr(os, "open", refuse)
    dump = open_run(dumped).dump
    frame = dump.statistics
    (problem,) = dump.problems
    assert (problem.path, problem.kind, "0400" in problem.text) == (str(file), "unreadable", True)
    assert (frame["source"] == "").sum() == 1
