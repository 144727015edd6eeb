"""Archives that would take far more memory than their contents are refused before they are read: by size, number and claims."""

from __future__ import annotations

import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsers.dumps import torch_files
from parsers.dumps.torch_files import read_record
from parsers.errors import FormatError
from parsers.files import RegularFile
from parsers.weights import opened, torch_archives
from tests.writers.dumps import torch_file, torch_pickle

MEMORY = 16 << 20
HOLE = 200 << 20
"""Bytes of a file that were never written, and take no place on the disk."""


@pytest.fixture
def peak() -> Iterator[Any]:
    """Return the memory that was taken at most since `tracemalloc.reset_peak`, in bytes."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


def member(name: bytes, packed: int, size: int) -> tuple[bytes, bytes]:
    """Headers of a stored member at the beginning of an archive: before its bytes, and in the directory."""
    common = struct.pack("<5H3I2H", 20, 0, 0, 0, 0, 0, packed, size, len(name), 0)
    return b"PK\x03\x04" + common + name, b"PK\x01\x02\x14\0" + common + struct.pack("<3H2I", 0, 0, 0, 0, 0) + name


def end(number: int, size: int, offset: int) -> bytes:
    return b"PK\x05\x06" + struct.pack("<4H2IH", 0, 0, number, number, size, offset, 0)


def claiming(path: Path) -> None:
    """An archive whose directory is a hole."""
    with path.open("wb") as file:
        head = member(b"a/data.pkl", 0, 0)[0]
        file.write(head)
        file.seek(HOLE)
        file.write(end(1, HOLE - len(head), len(head)))


def crowded(path: Path) -> None:
    """An archive with a member for each 57 bytes of its directory, all of them the same bytes."""
    number = 30_000 if path.suffix == ".pt" else 900_000
    head, entry = member(b"a/data.pkl", 0, 0)
    path.write_bytes(head + entry * number + end(number & 0xFFFF, len(entry) * number, len(head)))


def lying(path: Path) -> None:
    """An archive with a short description, of which the directory says that it is packed into a hole."""
    head, entry = member(b"a/data.pkl", HOLE, 100)
    with path.open("wb") as file:
        file.write(head)
        file.seek(len(head) + HOLE)
        at = file.tell()
        file.write(entry + end(1, len(entry), at))


@pytest.mark.parametrize("write", [claiming, crowded, lying])
@pytest.mark.parametrize("name", ["a.pt", "a.ckpt"])
def test_an_archive_that_claims_too_much_is_refused_before_it_is_read(name: str, write: Any, tmp_path: Path, peak: Any) -> None:
    path = tmp_path / name
    write(path)
    tracemalloc.reset_peak()
    read = read_of_dump if name == "a.pt" else lambda path: opened(path).__exit__(None, None, None)
    with pytest.raises(FormatError, match="at most"):
        read(str(path))
    assert peak() < MEMORY


def nested(path: Path) -> None:
    np.savez(path.with_suffix(".inner.npz"), w=np.zeros(1000))
    inner = path.with_suffix(".inner.npz").read_bytes()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", inner)  # an archive where an array belongs


def huge(path: Path) -> None:
    """An array that says it has 2**60 numbers."""
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846976,), }".ljust(117) + b"\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + bytes(64))


def objects(path: Path) -> None:
    """An array of objects, which numpy would unpickle."""
    np.savez(path, a=np.array([{"a": 1}], object))


@pytest.mark.parametrize("write", [nested, huge, objects])
def test_arrays_that_are_none_are_refused(write: Any, tmp_path: Path, peak: Any) -> None:
    write(tmp_path / "a.npz")
    tracemalloc.reset_peak()
    with pytest.raises(FormatError, match="expected"):
        opened(str(tmp_path / "a.npz"))
    assert peak() < MEMORY


def test_an_archive_within_an_archive_is_not_opened(tmp_path: Path) -> None:
    np.savez(tmp_path / "inner.npz", w=np.zeros(1000))
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.write(tmp_path / "inner.npz", "inner.npz")
    with opened(str(tmp_path / "a.npz")) as weights:
        assert list(weights.tensors) == []


def torch_with(path: Path, members: list[tuple[str, bytes]]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members:
            archive.writestr(name, data)


HOSTILE: dict[str, list[tuple[str, bytes]]] = {
    "deep names": [("a/" * 30_000 + "data.pkl", b"\x80\x02}.")],
    "names that lead outside": [("../../../../tmp/data.pkl", b"\x80\x02}."), ("/etc/data/0", b"")],
    "a call": [("a/data.pkl", b"\x80\x02cos\nsystem\nX\x0e\x00\x00\x00touch /dev/nullq\x00\x85R.")],
    "a call whose name is quoted": [("a/data.pkl", b"\x80\x02c'os'\n\"system\"\n(S'id'\ntR.")],
    "a long that never ends": [("a/data.pkl", b"\x80\x02\x8b\xff\xff\xff\x7f" + b"1" * 100)],
    "a tower of tuples": [("a/data.pkl", b"\x80\x02)" + b"\x85" * 200_000 + b".")],
    "a memo that doubles": [("a/data.pkl", b"\x80\x02]" + b"q\x00h\x00h\x00\x86" * 60_000 + b".")],
}


@pytest.mark.parametrize("members", HOSTILE.values(), ids=HOSTILE)
def test_hostile_descriptions_of_torch_are_refused(members: list[tuple[str, bytes]], tmp_path: Path, peak: Any) -> None:
    path = tmp_path / "a.pt"
    torch_with(path, members)
    tracemalloc.reset_peak()
    with pytest.raises(FormatError, match="expected"):
        opened(str(path))
    assert peak() < (64 << 20)


@pytest.mark.parametrize(("limit", "expected"), [
    ("LONGEST_PICKLE", "a description of at most 100 stored bytes"), ("MOST_OPCODES", "at most 100 opcodes"),
])  # fmt: skip
def test_descriptions_of_torch_are_limited(limit: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_archives, limit, 100)
    torch_with(tmp_path / "a.pt", [("a/data.pkl", b"\x80\x02" + b"N" * 200 + b".")])
    with pytest.raises(FormatError, match=expected):
        opened(str(tmp_path / "a.pt"))


@pytest.mark.parametrize("content", [b")" + b"\x85" * 600_000, b"))R" * 600_000, b"N" + b"\x94" * 600_000])
def test_a_byte_of_a_description_takes_no_hundred_of_memory(content: bytes, tmp_path: Path) -> None:
    torch_with(tmp_path / "a.pt", [("a/data.pkl", b"\x80\x02" + content + b".")])
    with pytest.raises(FormatError, match="at most 500,000 tuples, calls or remembered values, found more"):
        opened(str(tmp_path / "a.pt"))


def test_the_description_of_a_tensor_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_files, "_MOST_OPCODES", 100)
    torch_with(tmp_path / "a.pt", [("a/data.pkl", b"\x80\x02" + b"N" * 200 + b"."), ("a/data/0", bytes(4))])
    with RegularFile(str(tmp_path / "a.pt")) as file, pytest.raises(FormatError, match="at most 100 opcodes"):
        torch_files.read_record(file)


def test_members_that_overlap_cost_no_more_than_their_bytes(tmp_path: Path, peak: Any) -> None:
    """Ten thousand names for the same bytes, each of which claims the length of all: 100 MB in all."""
    head, entry = member(b"a/data/0", 10_000, 10_000)
    pickled, pickled_entry = member(b"a/data.pkl", 4, 4)
    body = head + bytes(10_000)
    where = len(body)
    body += pickled + b"\x80\x02}."
    crc = struct.pack("<I", zlib.crc32(b"\x80\x02}."))
    at = pickled_entry[:16] + crc + pickled_entry[20:42] + struct.pack("<I", where) + pickled_entry[46:]
    directory = entry * 10_000 + at
    (tmp_path / "a.pt").write_bytes(body + directory + end(10_001, len(directory), len(body)))
    tracemalloc.reset_peak()
    with pytest.raises(FormatError, match="expected tensors by name"):
        opened(str(tmp_path / "a.pt"))
    assert peak() < MEMORY


def read_of_dump(path: str) -> Any:
    with RegularFile(path) as file:
        return read_record(file)


def test_members_that_are_packed_a_thousand_to_one_are_refused(tmp_path: Path, peak: Any) -> None:
    np.savez_compressed(tmp_path / "a.npz", w=np.zeros(1 << 20))
    record = torch_pickle("DoubleStorage", (1 << 20,), (1,), 0, 1 << 20)
    (tmp_path / "a.pt").write_bytes(torch_file(record, bytes(8 << 20), method=zipfile.ZIP_DEFLATED))
    tracemalloc.reset_peak()
    with pytest.raises(FormatError, match="found a compressed one"):
        opened(str(tmp_path / "a.npz"))
    with pytest.raises(FormatError, match="stored bytes"):
        read_of_dump(str(tmp_path / "a.pt"))
    with pytest.raises(FormatError, match="stored"):
        opened(str(tmp_path / "a.pt"))
    assert peak() < (20 << 20)
