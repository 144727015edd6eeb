"""Large records: still being written, cut, with a damaged header, written over."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from parsers.events.mindspore import MINDSPORE
from parsers.events.walk import walk
from parsers.events.wire import WireError
from parsers.files import RegularFile, Sparse
from parsers.recording import EventWriter, Tensor
from tests.parsers.events.damaged_files import reports
from tests.parsers.events.event_reference import points, read_points, records


def test_a_large_record_still_being_written_waits(tmp_path: Path) -> None:
    with EventWriter(str(tmp_path / "whole"), "mindspore") as writer:
        writer.add(1, {"loss": 0.5, "t": Tensor([0.0] * 100_000), "after": 1.5})
        writer.add(2, {"loss": 0.25})
    content = (tmp_path / "whole").read_bytes()
    path, cursor, batches = tmp_path / "grows", None, []
    for size in range(0, len(content), 50_001):
        path.write_bytes(content[:size])
        batches.append(MINDSPORE.read(str(path), cursor))
        cursor = batches[-1].cursor
    path.write_bytes(content)
    batches.append(MINDSPORE.read(str(path), cursor))
    assert read_points(*batches) == points("mindspore", content)
    assert not any(reports(batch) - {"empty_file"} for batch in batches)


def test_values_beside_a_large_payload(tmp_path: Path) -> None:
    with EventWriter(str(tmp_path / "large"), "mindspore") as writer:
        for step in range(5):
            writer.add(step, {"before": step, "t": Tensor([1.0] * 50_000), "after": -step})
    batch = MINDSPORE.read(str(tmp_path / "large"))
    content = (tmp_path / "large").read_bytes()
    assert sorted(read_points(batch)) == sorted(points("mindspore", content))
    assert not batch.payloads[0].verified.any()
    damaged = bytearray(content)
    damaged[len(content) // 2] ^= 1
    (tmp_path / "large").write_bytes(damaged)
    assert not MINDSPORE.read(str(tmp_path / "large")).problems
    assert {problem.kind for problem in MINDSPORE.verify(str(tmp_path / "large"))} == {"bad_data"}


def test_a_large_record_cut_while_it_is_walked_is_no_message(tmp_path: Path) -> None:
    with EventWriter(str(tmp_path / "file"), "mindspore") as writer:
        writer.add(1, {"t": Tensor([1.0] * 50_000), "loss": 1.0})
    content = (tmp_path / "file").read_bytes()
    (_, (offset, data)) = records(content)
    for size in range(offset + 12, len(content), 7919):
        (tmp_path / "file").write_bytes(content)
        with RegularFile(str(tmp_path / "file")) as file:
            source = Sparse(file, offset + 12, len(data))
            os.truncate(tmp_path / "file", size)
            with pytest.raises(WireError):
                walk(source, len(data), MINDSPORE.form)


def test_a_large_record_with_a_damaged_header_is_kept(tmp_path: Path) -> None:
    with EventWriter(str(tmp_path / "file"), "mindspore") as writer:
        for step in range(3):
            writer.add(step, {"loss": step, "t": Tensor([1.0] * 50_000)})
    whole = MINDSPORE.read(str(tmp_path / "file"))
    content = bytearray((tmp_path / "file").read_bytes())
    offset, _ = list(records(bytes(content)))[2]
    content[offset + 9] ^= 1
    (tmp_path / "file").write_bytes(content)
    batch = MINDSPORE.read(str(tmp_path / "file"))
    assert read_points(batch) == read_points(whole)
    assert [problem.kind for problem in batch.problems] == ["bad_length"]
    assert batch.payloads[0].verified.tolist() == [True, True, False]


def test_a_large_record_cut_and_written_over_is_noticed(tmp_path: Path) -> None:
    with EventWriter(str(tmp_path / "large"), "mindspore") as writer:
        writer.add(1, {"t": Tensor([1.0] * 50_000)})
    with EventWriter(str(tmp_path / "small"), "mindspore") as writer:
        for step in range(3000):
            writer.add(step, {"loss": step})
    small = (tmp_path / "small").read_bytes()
    path = tmp_path / "both"
    path.write_bytes((tmp_path / "large").read_bytes()[:70_000] + small + b"x" * 200_000 + small)
    batch = MINDSPORE.read(str(path))
    assert len(read_points(batch)) == 6000
    assert reports(batch) == {"bad_length"}
