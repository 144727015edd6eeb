"""Archives that would take far more memory than their contents are refused before they are read: by size, number and claims."""

from __future__ import annotations

import struct
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsers.dumps.torch_files import read_record
from parsers.errors import FormatError
from parsers.files import RegularFile
from parsers.weights import opened
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
