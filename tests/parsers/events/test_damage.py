"""Files cut, flipped, garbled and grown: nothing intact is lost, all damage is reported, no work out of proportion."""

from __future__ import annotations

import os
import random
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from parsers.events.mindspore import MINDSPORE
from parsers.events.records import LONGEST, headers
from parsers.files import RegularFile
from parsers.recording import EventWriter, Histogram, Image, Tensor, Value
from parsers.recording.wire import delimited, float64, number, record
from tests.parsers.events.damaged_files import LAYOUTS, READER, header, reports, write
from tests.parsers.events.event_reference import framed, points, read_payloads, read_points, records
from tests.positions import every_byte, positions


def edges(content: bytes) -> list[int]:
    """Return where the lengths, their checksums, the data, its checksums begin, and where records end."""
    found = [(offset, len(data)) for offset, data in records(content)]
    return [offset + at for offset, size in found for at in (0, 8, 12, 12 + size, 16 + size)]


@every_byte
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("payloads", [False, True])
def test_cut_anywhere_and_resumed_equals_one_read(tmp_path: Path, layout: str, payloads: bool, every: bool) -> None:
    content = write(tmp_path / "whole", layout, 12 if payloads else 30, payloads=payloads)
    reader = READER[layout]
    whole = reader.read(str(tmp_path / "whole"))
    path = tmp_path / "grows"
    for cut in [*positions(len(content), every, edges(content)[:: 1 if every else 3]), len(content)]:
        path.write_bytes(content[:cut])
        first = reader.read(str(path))
        assert first.pending == cut - first.cursor.offset
        with path.open("ab") as file:
            file.write(content[cut:])
        second = reader.read(str(path), first.cursor)
        assert reports(first) <= {"empty_file"}
        assert not second.problems
        assert not second.restarted
        assert read_points(first, second) == read_points(whole)
        assert read_payloads(first, second) == read_payloads(whole)
        assert first.records + second.records == whole.records


@pytest.mark.parametrize("layout", LAYOUTS)
def test_grown_byte_by_byte(tmp_path: Path, layout: str) -> None:
    content = write(tmp_path / "whole", layout, 12, payloads=True)
    path, cursor, batches = tmp_path / "grows", None, []
    with path.open("wb", buffering=0) as file:
        for byte in content:
            file.write(bytes((byte,)))
            batches.append(READER[layout].read(str(path), cursor))
            cursor = batches[-1].cursor
    whole = READER[layout].read(str(tmp_path / "whole"))
    assert sorted(read_points(*batches)) == sorted(read_points(whole))
    assert read_payloads(*batches) == read_payloads(whole)
    assert not any(batch.problems for batch in batches)


@every_byte
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
def test_a_byte_flipped(tmp_path: Path, layout: str, flip: int, every: bool) -> None:
    """Of 200 records: the damage is reported, no other record is lost, nothing is made up."""
    content = bytearray(write(tmp_path / "whole", layout, 199))
    reader = READER[layout]
    expected = read_points(reader.read(str(tmp_path / "whole")))
    places = [(offset, len(data) + 16) for offset, data in records(bytes(content))]
    assert len(places) == 200
    path = tmp_path / "flipped"
    path.write_bytes(content)
    with path.open("r+b", buffering=0) as file:
        for offset, length in places[:: 1 if flip == 0xFF else 7] if every else (places[0], *places[3::28], places[-1]):
            others = [point for point in expected if point[0] != offset]
            fields = {0, 4, 7, 8, 11, 12, 13, length // 2, length - 6, length - 5, length - 4, length - 1}
            for at in range(offset, offset + length) if every else sorted(offset + field for field in fields):
                file.seek(at)
                file.write(bytes((content[at] ^ flip,)))
                batch = reader.read(str(path))
                got = read_points(batch)
                assert [point for point in got if point[0] != offset] == others, at
                assert all(point in expected for point in got if point[0] == offset)
                assert batch.problems or batch.pending > 0, at
                assert reports(batch) <= {"bad_data", "bad_length"}
                file.seek(at)
                file.write(bytes((content[at],)))


@pytest.mark.long
def test_resumed_after_damage_finds_the_rest(tmp_path: Path) -> None:
    content = bytearray(write(tmp_path / "whole", "mindspore", 40))
    content[len(content) // 2] ^= 0xFF
    path = tmp_path / "cut"
    (tmp_path / "whole").write_bytes(content)
    expected = read_points(MINDSPORE.read(str(tmp_path / "whole")))
    for cut in range(0, len(content), 3):
        path.write_bytes(content[:cut])
        first = MINDSPORE.read(str(path))
        path.write_bytes(content)
        os.utime(path)
        assert read_points(first, MINDSPORE.read(str(path), first.cursor)) == expected


def robust_cases(pieces: list[bytes]) -> Iterator[tuple[str, bytes, int, set[str]]]:
    """Name, file, records of steps that must be read of 100, kinds of problem."""
    middle, last = pieces[50], pieces[-1]

    def with_middle(piece: bytes) -> bytes:
        return b"".join([*pieces[:50], piece, *pieces[51:]])

    whole = b"".join(pieces)
    flipped = bytearray(middle)
    flipped[-6] ^= 0xFF
    yield "intact", whole, 100, set()
    yield "tail cut", whole[:-10], 99, set()
    yield "tail cut in the header", whole[: -len(last) + 5], 99, set()
    yield "payload flipped", with_middle(bytes(flipped)), 99, {"bad_data"}
    yield "payload CRC flipped", with_middle(middle[:-1] + bytes((middle[-1] ^ 255,))), 99, {"bad_data"}
    yield "length CRC flipped", with_middle(middle[:9] + bytes((middle[9] ^ 255,)) + middle[10:]), 100, {"bad_length"}
    yield "length 2**60, CRC wrong", with_middle(struct.pack("<Q", 1 << 60) + middle[8:]), 99, {"bad_length"}
    yield "length 2**60, CRC right", with_middle(header(1 << 60) + middle[12:]), 99, {"bad_length"}
    yield "length 2**60, CRC right, last", whole[: -len(last)] + header(1 << 60) + last[12:], 99, {"bad_length"}
    yield "length 2**30, CRC right", with_middle(header(1 << 30) + middle[12:]), 99, {"bad_length"}
    yield "length 2**30, CRC right, last", whole[: -len(last)] + header(1 << 30) + last[12:], 99, set()
    yield "length 0", with_middle(record(b"")), 99, set()
    yield "empty", b"", 0, {"empty_file"}
    yield "garbage message", with_middle(record(b"\xff" * 37)), 99, {"bad_message"}
    yield "record cut, then written on", with_middle(middle[:20]), 99, {"bad_data", "bad_length"}
    yield "garbage between", with_middle(middle + b"garbage" * 1000), 100, {"bad_length"}
    yield "zeros between", with_middle(middle + bytes(5000)), 100, {"bad_length"}
    yield "zeros at the end", whole + bytes(5000), 100, {"bad_length"}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_robustness(tmp_path: Path, layout: str) -> None:
    content = write(tmp_path / "whole", layout, 101)
    pieces = [content[offset : offset + 16 + len(data)] for offset, data in records(content)]
    for name, damaged, count, kinds in robust_cases(pieces[:1] + pieces[2:]):
        path = tmp_path / "case"
        path.write_bytes(damaged)
        batch = READER[layout].read(str(path))
        assert len(read_points(batch)) == count, name
        assert reports(batch) <= kinds, name
        assert bool(batch.problems) == bool(kinds), name
        again = READER[layout].read(str(path), batch.cursor)
        assert not again.scalars, name
        assert (len(damaged) - batch.cursor.offset) == batch.pending, name


def test_resumed_where_a_false_claim_was_pending(tmp_path: Path) -> None:
    content = write(tmp_path / "whole", "mindspore", 20)
    path = tmp_path / "claim"
    path.write_bytes(content + header(1 << 20) + b"begun")
    first = MINDSPORE.read(str(path))
    assert not first.problems
    later = b"".join(framed(data) for _, data in list(records(content))[1:])
    with path.open("ab") as file:
        file.write(later)
    second = MINDSPORE.read(str(path), first.cursor)
    assert reports(second) == {"bad_length"}
    assert len(read_points(second)) == 20


def test_cut_replaced_and_rewritten_files_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "file"
    content = write(path, "mindspore", 60)
    first = MINDSPORE.read(str(path))
    shorter = write(tmp_path / "short", "mindspore", 10)
    path.write_bytes(shorter)
    cut = MINDSPORE.read(str(path), first.cursor)
    assert cut.restarted
    assert reports(cut) == {"replaced"}
    assert read_points(cut) == points("mindspore", shorter)
    changed = bytearray(content)
    changed[-6] ^= 1
    path.write_bytes(content)
    first = MINDSPORE.read(str(path))
    path.write_bytes(bytes(changed) + content[-50:])
    assert MINDSPORE.read(str(path), first.cursor).restarted
    os.replace(tmp_path / "short", path)
    assert MINDSPORE.read(str(path), first.cursor).restarted
    path.write_bytes(b"")
    emptied = MINDSPORE.read(str(path), first.cursor)
    assert emptied.restarted
    assert reports(emptied) == {"replaced", "empty_file"}
    path.write_bytes(content)
    assert read_points(MINDSPORE.read(str(path), emptied.cursor)) == points("mindspore", content)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    missing = MINDSPORE.read(str(tmp_path / "missing"))
    assert reports(missing) == {"unreadable"}
    assert reports(MINDSPORE.read(str(tmp_path))) == {"unreadable"}
    os.mkfifo(tmp_path / "pipe")
    assert reports(MINDSPORE.read(str(tmp_path / "pipe"))) == {"unreadable"}
    write(tmp_path / "missing", "mindspore", 3)
    later = MINDSPORE.read(str(tmp_path / "missing"), missing.cursor)
    assert not later.restarted
    assert len(read_points(later)) == 3


def test_a_file_of_another_user_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "file", "mindspore", 3)

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    (problem,) = MINDSPORE.read(str(tmp_path / "file")).problems
    assert problem.kind == "unreadable"
    assert "another user" in problem.text


def test_read_in_limited_pieces_equals_one_read(tmp_path: Path) -> None:
    for layout in LAYOUTS:
        content = write(tmp_path / layout, layout, 2000, tags=3)
        path, cursor, batches, more = str(tmp_path / layout), None, [], True
        while more:
            batches.append(READER[layout].read(path, cursor, 10_000))
            cursor, more = batches[-1].cursor, batches[-1].more
        assert 3 <= len(batches) <= len(content) // 10_000 + 2
        assert sorted(read_points(*batches)) == sorted(read_points(READER[layout].read(path)))
        assert not any(batch.problems for batch in batches)


@pytest.mark.parametrize("fails_at", [0, 1, 5, 20])
def test_a_read_error_on_the_way_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int) -> None:
    with EventWriter(str(tmp_path / "file"), "mindspore") as writer:
        for step in range(10):
            writer.add(step, {"t": Tensor([1.0] * 50_000), "loss": step})
    whole = MINDSPORE.read(str(tmp_path / "file"))
    fill, calls = RegularFile.fill, 0

    def failing(self: RegularFile, into: memoryview, offset: int) -> int:
        nonlocal calls
        calls += 1
        if calls == fails_at + 1:
            raise OSError(5, "Input/output error")
        return fill(self, into, offset)

    with monkeypatch.context() as patched:
        patched.setattr(RegularFile, "fill", failing)
        first = MINDSPORE.read(str(tmp_path / "file"))
    assert reports(first) == {"unreadable"}
    second = MINDSPORE.read(str(tmp_path / "file"), first.cursor)
    assert read_points(first, second) == read_points(whole)
    assert read_payloads(first, second) == read_payloads(whole)


@pytest.mark.parametrize("seed", range(40))
def test_a_file_cut_while_it_is_read_raises_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    chance = random.Random(seed)
    with EventWriter(str(tmp_path / "file"), "mindspore") as writer:
        for step in range(20):
            writer.add(step, {"loss": step} | ({"t": Tensor([1.0] * 20_000)} if step % 3 == 0 else {}))
    content = bytearray((tmp_path / "file").read_bytes())
    for _ in range(seed % 4):
        content[chance.randrange(len(content))] ^= 1
    (tmp_path / "file").write_bytes(content)
    fill, left = RegularFile.fill, chance.randrange(1, 40)

    def cutting(self: RegularFile, into: memoryview, offset: int) -> int:
        nonlocal left
        left -= 1
        if left == 0:
            os.truncate(self.path, chance.randrange(len(content)))
        return fill(self, into, offset)

    with monkeypatch.context() as patched:
        patched.setattr(RegularFile, "fill", cutting)
        first = MINDSPORE.read(str(tmp_path / "file"))
        if left > 0:
            MINDSPORE.verify(str(tmp_path / "file"))
    (tmp_path / "file").write_bytes(content)
    second = MINDSPORE.read(str(tmp_path / "file"), first.cursor)
    whole = MINDSPORE.read(str(tmp_path / "file"))
    assert set(read_points(first, second)) >= set(read_points(whole))


def test_damage_at_very_many_places_is_told_in_bounds(tmp_path: Path) -> None:
    content = write(tmp_path / "file", "mindspore", 5000)
    damaged = bytearray(content)
    for offset, data in list(records(content))[1::2]:
        damaged[offset + 12 + len(data)] ^= 1
    (tmp_path / "file").write_bytes(damaged)
    batch = MINDSPORE.read(str(tmp_path / "file"))
    assert len(read_points(batch)) == 2500
    assert len(batch.problems) == 1001
    assert "1,500 places" in batch.problems[-1].text


def adversarial_files() -> Iterator[tuple[str, bytes]]:
    version = framed(float64(1, 1e9) + delimited(3, b"MindSpore.Event:1"))

    def scalar(tag: str, step: int, filler: int = 0) -> bytes:
        extra = delimited(15, b"x" * filler) if filler else b""
        value = delimited(1, delimited(1, tag.encode()) + b"\x1d" + struct.pack("<f", step))
        return float64(1, 1e9) + number(2, step) + delimited(5, value) + extra

    yield "distinct lengths", version + b"".join(framed(scalar("t", i % 100, i % 2000)) for i in range(8000))
    yield "one length, 1,000 tags", version + b"".join(framed(scalar(f"t{i * 7919 % 1000:04}", i)) for i in range(20000))
    yield "all tags differ", version + b"".join(framed(scalar(f"t{i:06}", i)) for i in range(20000))
    yield "every second length bad", version + b"".join(
        framed(scalar("t", i)) if i % 2 else b"\xff" * 8 + framed(scalar("t", i))[8:] for i in range(5000)
    )
    yield "headers only", version + header(60_000) * 60_000
    yield "headers that claim much", version + header(900_000) * 80_000
    yield "headers that claim more than there is", version + header(1 << 29) * 50_000
    yield "zeros", version + bytes(5_000_000)
    yield "bad data, long claims", version + (header(50_000) + b"xxxx") * 30_000


@pytest.mark.long
def test_work_is_in_proportion_to_size(tmp_path: Path) -> None:
    for name, content in adversarial_files():
        path = tmp_path / "file"
        path.write_bytes(content)
        begin = time.process_time()
        batch = MINDSPORE.read(str(path))
        assert time.process_time() - begin < 5, name
        assert batch.bytes_read + batch.pending == len(content), name


def test_headers_are_found_whatever_surrounds_them() -> None:
    rng = np.random.default_rng(1)
    lengths = [0, 1, 255, 256, 65_536, 16_777_216, LONGEST - 1, LONGEST, 1 << 40]
    for case in range(300):
        data = rng.integers(0, 256, 400).astype(np.uint8) * (rng.random(400) < rng.choice([0.0, 0.02, 0.3, 1.0]))
        data = data.astype(np.uint8)
        for at in rng.integers(0, 388, 6).tolist():
            data[at : at + 12] = np.frombuffer(header(lengths[rng.integers(len(lengths))]), np.uint8)
        expected = [
            at for at in range(389)
            if (length := int.from_bytes(data[at : at + 8].tobytes(), "little")) < LONGEST
            and data[at : at + 12].tobytes() == header(length)
        ]  # fmt: skip
        assert headers(data)[0].tolist() == expected, case
    assert not len(headers(np.zeros(11, np.uint8))[0])


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ({"loss": 0.5, "accuracy": 0.25}, "It holds, of step 7: scalar 'loss', scalar 'accuracy';"),
        ({"w": Tensor([0.0] * 50_000), "loss": 1.0}, "It holds, of step 7: tensor 'w';"),
        ({"w": Histogram([1.0] * 100)}, "It holds, of step 7: histogram 'w';"),
        ({"i": Image(b"png" * 5000, 1, 1)}, "It holds, of step 7: image 'i';"),
        ({f"t{i}": float(i) for i in range(9)}, "scalar 't0', scalar 't1', scalar 't2' and 6 more;"),
    ],
)
@pytest.mark.parametrize("layout", ["mindspore", "tensorboard"])
def test_a_tail_says_what_is_missing(tmp_path: Path, layout: str, value: dict[str, Value], content: str) -> None:
    path = tmp_path / "file"
    with EventWriter(str(path), layout) as writer:
        writer.add(6, {"loss": 1.0})
        writer.add(7, value)
    whole = path.read_bytes()
    offset, data = list(records(whole))[2]
    for present in (1, 11, 12, 15, 16 + len(data) - 1):
        path.write_bytes(whole[: offset + present])
        tail = READER[layout].read(str(path)).tail
        assert tail is not None
        assert (tail.kind, tail.offset, tail.length) == ("truncated", offset, present)
        needed = f"needs {16 + len(data):,} bytes" if present >= 12 else "needs at least 16 bytes"
        assert f"at byte {offset:,} {needed}, only {present:,} are present." in tail.text
        assert tail in READER[layout].verify(str(path))
    if layout == "mindspore":
        assert content in tail.text
    path.write_bytes(whole[:offset])
    assert READER[layout].read(str(path)).tail is None
