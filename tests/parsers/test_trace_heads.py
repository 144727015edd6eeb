"""Traces are found by how they begin, whatever their names; other JSON is opened once."""

from __future__ import annotations

import gzip
import json
import os
import time
from pathlib import Path

import pytest

from parsers import discover, open_run
from parsers.files import RegularFile
from parsers.profiler.trace import sources
from parsers.trace_heads import head_of

EVENT = {"ph": "X", "name": "add", "pid": 1, "tid": 1, "ts": 1.5, "dur": 2}
LONG_AGO = 1_600_000_000


def write(path: Path, content: object, *, packed: bool = False) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    os.utime(path, (LONG_AGO, LONG_AGO))
    return path


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("content", "is_trace", "rank"),
    [
        ({"traceEvents": [EVENT]}, True, None),
        ([EVENT, EVENT], True, None),
        ([{"name": "a", "args": {"deep": 1}, "ph": "B"}], True, None),
        (b'\xef\xbb\xbf \n{"schemaVersion": 1, "traceEvents": [', True, None),
        ({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 34}, "traceEvents": [EVENT]}, True, 34),
        ({"metadata": "x" * 23_000, "distributedInfo": {"rank": 3}, "traceEvents": [EVENT]}, True, 3),
        ({"metadata": "x" * 70_000, "traceEvents": [EVENT]}, False, None),  # torch writes at most some 23 kB before the events
        ({"schema": "1.0.1", "nodes": [{"name": "x"}]}, False, None),
        ([[1, 2, 3]], False, None),
        ([{"loss": 1}, {"ph": "X"}], False, None),
        (b"", False, None), (b"[" * 50_000, False, None), (b'{"a": "' + b"x" * 200_000, False, None),
        (b"\x1f\x8bdamaged", False, None),
    ],
)  # fmt: skip
def test_what_a_file_is_follows_from_how_it_begins(
    content: object, is_trace: bool, rank: int | None, packed: bool, tmp_path: Path
) -> None:
    found = head_of(str(write(tmp_path / "any name.json", content, packed=packed)))
    assert found[:2] == (is_trace, rank) or (packed and isinstance(content, dict) and len(json.dumps(content)) > 65_536)
    assert found.is_final


@pytest.mark.parametrize(
    ("name", "rank"),
    [("rank0.json", 0), ("a_rank_7_b.json", 7), ("x.rank-12.json.gz", 12), ("gpu3.json", None), ("franking5.json", None)],
)
def test_a_rank_that_a_trace_does_not_state_is_that_of_its_name(name: str, rank: int | None, tmp_path: Path) -> None:
    assert head_of(str(write(tmp_path / name, [EVENT])))[:3] == (True, rank, True)


def test_every_trace_of_the_samples_is_found_and_read(real_data: Path) -> None:
    expected = json.loads((real_data / "accelerators/expected_kineto.json").read_text())
    found = {}
    for source in discover(real_data / "accelerators"):
        profiles = open_run(source).profile
        for key in profiles:
            found |= {Path(path).relative_to(real_data / "accelerators").as_posix(): key[1] for path in profiles[key].traces}
    assert set(found) == set(expected)
    assert found["kineto/dlrm_rank3_of_8/control.json.gz"] == 3
    assert found["kineto/cpu_only/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz"] == 34
    least = min(found, key=lambda name: (real_data / "accelerators" / name).stat().st_size)
    assert len(sources.read(str(real_data / "accelerators" / least)).slices.start)


def test_nothing_is_opened_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(50):
        write(tmp_path / "run" / f"{number}.json", {"settings": number})
    trace = write(tmp_path / "run" / "x.json", [EVENT])
    opened: list[str] = []
    begin = RegularFile.__init__

    def counted(self: RegularFile, path: str) -> None:
        opened.append(path)
        begin(self, path)

    monkeypatch.setattr(RegularFile, "__init__", counted)
    assert [source.profile_dirs for source in discover(tmp_path)] == [(str(trace),)]
    assert len(opened) == 51
    discover(tmp_path)
    assert len(opened) == 51
    write(tmp_path / "run" / "7.json", [EVENT, EVENT])
    assert len(discover(tmp_path)[0].profile_dirs) == 2
    assert len(opened) == 52


def test_a_file_that_is_being_written_is_looked_at_again(tmp_path: Path) -> None:
    path = write(tmp_path / "trace_of_mine.json", b'{"schemaVersion": 1,')
    os.utime(path, (time.time(), time.time()))
    assert head_of(str(path))[:3] == (False, None, False)
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [EVENT]}))
    assert head_of(str(path))[:3] == (True, None, True)


def test_what_is_no_regular_file_is_no_trace(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.json")
    (tmp_path / "b.json").symlink_to(write(tmp_path / "elsewhere" / "x.json", [EVENT]))
    (tmp_path / "c.json").symlink_to("/dev/zero")
    assert not head_of(str(tmp_path / "a.json")).is_trace
    assert not head_of(str(tmp_path / "c.json")).is_trace
    assert not head_of(str(tmp_path / "none.json")).is_trace
    found = [path for source in discover(tmp_path) for path in source.profile_dirs]
    assert found == [str(tmp_path / "elsewhere" / "x.json")], "links are not followed"
