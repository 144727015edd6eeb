"""What every reader promises, tried on each of them by what it says of its format."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from parsers.events.writer import delimited, float64, number, record
from parsers.model import Batch, Cursor, Reader
from parsers.registry import READERS, reader_for, reader_of_kind
from tests.parsers.events.event_reference import read_payloads, read_points

WALL = float64(1, 1.7e9)


def mindspore() -> list[bytes]:
    value = delimited(1, b"loss") + b"\x1d\0\0\x80\x3f"
    image = delimited(1, b"i") + delimited(4, number(1, 1) + number(2, 1) + number(3, 3) + delimited(4, b"png"))
    summary = WALL + number(2, 3) + delimited(5, delimited(1, value) + delimited(1, image))
    return [WALL + delimited(3, b"MindSpore.Event:1"), summary, summary, WALL + delimited(4, b"")]


def tensorboard() -> list[bytes]:
    value = delimited(1, b"loss") + b"\x15\0\0\x80\x3f"
    metadata = delimited(9, delimited(1, delimited(1, b"text")))
    text = delimited(1, b"t") + metadata + delimited(8, number(1, 7) + delimited(8, b"hi"))
    events = [WALL + number(2, 3) + delimited(5, delimited(1, each)) for each in (value, text, value)]
    return [WALL + delimited(3, b"brain.Event:2"), *events]


def lineage() -> list[bytes]:
    train = delimited(6, delimited(1, delimited(1, b"Momentum")))
    return [WALL + train, WALL + delimited(7, delimited(2, b"{}")), WALL + delimited(10, b"")]


def explain() -> list[bytes]:
    return [WALL + delimited(6, number(1, 1) + delimited(2, b"a.png")), WALL + delimited(6, number(1, 2))]


def graph() -> list[bytes]:
    kind = delimited(6, number(1, 14) + delimited(2, number(1, 11)))
    node = delimited(1, delimited(1, b"x") + number(2, 0)) + delimited(2, b"1") + delimited(3, b"ReLU") + kind
    whole = delimited(1, node) + delimited(2, b"net") + delimited(3, delimited(1, b"x"))
    return [number(1, 1) + delimited(4, whole)]


SAMPLES = {"mindspore": mindspore, "tensorboard": tensorboard, "lineage": lineage, "explain": explain, "graph": graph}
NAMES = {
    "mindspore": "events.out.events.summary.1700000000.0.host_MS",
    "tensorboard": "events.out.tfevents.1700000000.host.1.0",
    "lineage": "events.out.events.summary.1700000000.0.host_lineage",
    "explain": "events.out.events.summary.1700000000.0.host_explain",
    "graph": "ms_output_optimize.pb",
}
every_reader = pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)


def sample(reader: Reader) -> bytes:
    pieces = SAMPLES[reader.name]()
    return b"".join(map(record, pieces) if reader.checksummed else pieces)


def content(*batches: Batch) -> tuple[object, ...]:
    return read_points(*batches), read_payloads(*batches), sum(batch.records for batch in batches)


def test_every_reader_has_a_sample_and_a_name_of_its_own() -> None:
    assert set(SAMPLES) == set(NAMES) == {reader.name for reader in READERS}
    kinds = [kind for reader in READERS for kind in reader.kinds]
    assert len(kinds) == len(set(kinds))
    for reader in READERS:
        assert reader_of_kind(reader.kinds[0]) is reader
        assert inspect.getdoc(type(reader))


@every_reader
def test_its_own_sample_is_read_whole(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / NAMES[reader.name]
    path.write_bytes(sample(reader))
    batch = reader.read(str(path))
    assert batch.records == len(SAMPLES[reader.name]())
    assert (batch.problems, batch.pending, batch.bytes_read) == ([], 0, path.stat().st_size)
    assert not reader.verify(str(path))
    again = reader.read(str(path), batch.cursor)
    assert (again.records, again.bytes_read, again.restarted) == (0, 0, False)


@every_reader
def test_an_empty_file_gives_nothing_and_grows(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"")
    batch = reader.read(str(path))
    assert [problem.kind for problem in batch.problems] == ["empty_file"]
    assert content(batch) == ([], [], 0)
    path.write_bytes(sample(reader))
    assert content(reader.read(str(path), batch.cursor)) == content(reader.read(str(path)))


@every_reader
def test_a_missing_file_is_a_problem(reader: Reader, tmp_path: Path) -> None:
    cursor = Cursor(5, 1, 2, 3, 4)
    for batch in (reader.read(str(tmp_path / "no")), reader.read(str(tmp_path / "no"), cursor)):
        assert [problem.kind for problem in batch.problems] == ["unreadable"]
    assert batch.cursor == cursor
    assert [problem.kind for problem in reader.verify(str(tmp_path / "no"))] == ["unreadable"]


@every_reader
def test_recognised_by_content_under_any_name(reader: Reader, tmp_path: Path) -> None:
    if not reader.signed:
        pytest.skip("not recognisable by content")
    assert [other.name for other in READERS if other.sniff(sample(reader))] == [reader.name]
    for name in ("unknown", *NAMES.values()):
        path = tmp_path / name
        path.write_bytes(sample(reader))
        assert reader_for(str(path)) is reader


@every_reader
def test_recognised_by_name_when_the_content_is_damaged(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / NAMES[reader.name]
    for damaged in (b"", b"\xff" * 100, sample(reader)[:7]):
        path.write_bytes(damaged)
        assert reader_for(str(path)) is reader


def test_a_file_of_nothing_known_has_no_reader(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("plain text")
    assert reader_for(str(tmp_path / "notes.txt")) is None


@every_reader
def test_cut_at_every_byte_and_resumed_equals_one_read(reader: Reader, tmp_path: Path) -> None:
    if not reader.appendable:
        pytest.skip("files of this format do not grow")
    whole, path = sample(reader), tmp_path / "file"
    path.write_bytes(whole)
    expected = content(reader.read(str(path)))
    for cut in range(1, len(whole)):
        path.write_bytes(whole[:cut])
        first = reader.read(str(path))
        assert not first.problems
        path.write_bytes(whole)
        assert content(first, reader.read(str(path), first.cursor)) == expected


@every_reader
def test_no_flipped_byte_raises_and_each_is_noticed(reader: Reader, tmp_path: Path) -> None:
    whole, path = sample(reader), tmp_path / "file"
    messages = [record(data) for data in SAMPLES[reader.name]()]
    ends = [sum(map(len, messages[: n + 1])) for n in range(len(messages))]
    path.write_bytes(whole)
    intact = reader.read(str(path)).records
    for at in range(len(whole)):
        for flip in (0x01, 0x10, 0xFF):
            path.write_bytes(whole[:at] + bytes((whole[at] ^ flip,)) + whole[at + 1 :])
            batch = reader.read(str(path))
            reader.verify(str(path))
            if reader.checksummed:
                last = at >= ends[-2]
                assert batch.problems or (last and batch.pending), at
                assert batch.records >= intact - 1, at
