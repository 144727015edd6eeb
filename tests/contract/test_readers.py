"""What every reader promises, tried on its smallest sample; the flags of a kind choose what is checked."""

from __future__ import annotations

import inspect
import shutil
from bisect import bisect_left
from pathlib import Path

import pytest

from parsers import SCALARS, discover, open_run
from parsers.export.directory import Export, WantedExport
from parsers.model import Batch, Cursor, Reader
from parsers.registry import KINDS, READERS, kind_of, reader_for, reader_named
from tests.contract.samples import SAMPLES
from tests.parsers.events.event_reference import read_payloads, read_points
from tests.positions import every_byte, positions

every_reader = pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)


def sample_of(reader: Reader) -> Path:
    assert reader.name in SAMPLES, f"put a sample of {reader.name} under tests/data/<producer>/<version>/"
    return SAMPLES[reader.name][0]


def sample(reader: Reader) -> bytes:
    return sample_of(reader).read_bytes()


def content(*batches: Batch) -> tuple[object, ...]:
    return sorted(read_points(*batches)), read_payloads(*batches), sum(batch.records for batch in batches)


def test_kinds_have_names_of_their_own_and_say_what_they_are() -> None:
    names = [kind.name for kind in KINDS]
    assert len(names) == len(set(names))
    for reader in READERS:
        assert reader_named(reader.name) is reader
        assert inspect.getdoc(type(reader))


@every_reader
def test_its_sample_is_read_whole(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / sample_of(reader).name
    shutil.copyfile(sample_of(reader), path)
    batch = reader.read(str(path))
    assert batch.records
    assert (list(batch.problems), batch.pending, batch.bytes_read) == ([], 0, path.stat().st_size)
    assert not reader.verify(str(path))
    again = reader.read(str(path), batch.cursor)
    assert (again.records, again.bytes_read, again.restarted) == (0, 0, False)


@every_reader
def test_a_directory_with_its_sample_is_a_run_that_can_be_read_and_exported(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "runs" / "one" / sample_of(reader).name
    path.parent.mkdir(parents=True)
    shutil.copyfile(sample_of(reader), path)
    kind, stamp = kind_of(path.name) or (None, None)
    assert kind is reader
    (source,) = discover(tmp_path / "runs")
    assert [(file.path, file.kind, file.stamp) for file in source.files] == [(str(path), reader.name, stamp)]
    run = open_run(path.parent)
    assert run.states[str(path)].reader == reader.name
    assert run.kinds()
    assert not run.problems
    SCALARS.check(run.scalars)
    with Export(tmp_path / "out", WantedExport(kinds=("scalars",)), refused=pytest.fail) as export:
        export.add(run)
    assert export.counts["scalars"] == run.points
    assert len((tmp_path / "out" / "scalars.csv").read_bytes().splitlines()) == run.points + 1


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
def test_a_replaced_file_is_read_again(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(sample(reader) * 2)
    before = reader.read(str(path))
    path.write_bytes(sample(reader))
    after = reader.read(str(path), before.cursor)
    assert after.restarted
    assert content(after) == content(reader.read(str(path)))
    assert [problem.kind for problem in after.problems] == (["replaced"] if reader.appendable else [])
    path.write_bytes(b"")
    emptied = reader.read(str(path), after.cursor)
    assert emptied.restarted
    assert content(emptied) == ([], [], 0)


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
        assert not reader.sniff(sample(reader))
        return
    assert [other.name for other in READERS if other.sniff(sample(reader))] == [reader.name]
    for name in ("unknown", *(path.name for paths in SAMPLES.values() for path in paths)):
        path = tmp_path / name
        path.write_bytes(sample(reader))
        assert reader_for(str(path)) is reader


@every_reader
def test_recognised_by_name_when_the_content_is_damaged(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / sample_of(reader).name
    for damaged in (b"", b"\xff" * 100, sample(reader)[:7]):
        path.write_bytes(damaged)
        assert reader_for(str(path)) is reader


def test_a_file_of_nothing_known_has_no_reader(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("plain text")
    assert reader_for(str(tmp_path / "notes.txt")) is None


@every_byte
@every_reader
def test_cut_anywhere_and_resumed_equals_one_read(reader: Reader, tmp_path: Path, every: bool) -> None:
    if not reader.appendable:
        pytest.skip("files of this format do not grow")
    whole, path = sample(reader), tmp_path / "file"
    path.write_bytes(whole)
    expected = content(reader.read(str(path)))
    for cut in positions(len(whole), every)[1:]:
        path.write_bytes(whole[:cut])
        first = reader.read(str(path))
        assert not first.problems
        path.write_bytes(whole)
        rest = reader.read(str(path), first.cursor)
        assert not rest.problems
        assert content(first, rest) == expected


def last_record(reader: Reader, path: Path) -> int:
    """Byte offset at which the last record of the sample begins: no shorter file has all other records and nothing pending."""
    whole = path.read_bytes()
    count = reader.read(str(path)).records

    def has_the_others(cut: int) -> bool:
        path.write_bytes(whole[:cut])
        return reader.read(str(path)).records >= count - 1

    cut = bisect_left(range(len(whole)), True, lo=1, key=has_the_others)
    path.write_bytes(whole[:cut])
    assert not reader.read(str(path)).pending
    return cut if count > 1 else 0


@every_byte
@every_reader
def test_no_flipped_byte_raises_and_each_is_noticed(reader: Reader, tmp_path: Path, every: bool) -> None:
    whole, path = sample(reader), tmp_path / "file"
    path.write_bytes(whole)
    intact = reader.read(str(path)).records
    last = last_record(reader, path) if reader.checksummed else 0
    for at in positions(len(whole), every, (last,)):
        for flip in (0x01, 0x10, 0xFF):
            path.write_bytes(whole[:at] + bytes((whole[at] ^ flip,)) + whole[at + 1 :])
            batch = reader.read(str(path))
            reader.verify(str(path))
            if reader.checksummed:
                assert batch.problems or (at >= last and batch.pending), at
                assert batch.records >= intact - 1, at
