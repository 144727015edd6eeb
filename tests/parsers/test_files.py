"""Reading ranges of a file: exactly the bytes that are there, also where one call gives less and where the file was cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.files import RegularFile

DATA = bytes(range(256)) * 4


class _Slow:
    """A file that gives at most seven bytes at a time, as network file systems and signals do."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def seek(self, at: int) -> None:
        self.at = at

    def read(self, length: int) -> bytes:
        found = self.data[self.at : self.at + min(length, 7)]
        self.at += len(found)
        return found

    def readinto(self, into: memoryview) -> int:
        found = self.read(len(into))
        into[: len(found)] = found
        return len(found)

    def close(self) -> None:
        pass


@pytest.mark.parametrize("offset", [0, 1, 700, 1024, 5000])
@pytest.mark.parametrize("length", [0, 1, 6, 7, 8, 400, 1024, 9999])
@pytest.mark.parametrize("slow", [False, True], ids=["whole", "pieces"])
def test_a_range_has_its_bytes(tmp_path: Path, offset: int, length: int, slow: bool) -> None:
    path = tmp_path / "file"
    path.write_bytes(DATA)
    with RegularFile(str(path)) as file:
        if slow:
            file._file.close()
            file._file = _Slow(DATA)  # type: ignore[assignment]
        assert file.read(offset, length) == DATA[offset : offset + length]
        assert file.whole() == DATA
        assert file.size == len(DATA)


@pytest.mark.parametrize("left", [0, 10, 300])
def test_a_file_that_is_cut_while_it_is_open_has_what_is_left(tmp_path: Path, left: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(DATA)
    with RegularFile(str(path)) as file:
        path.write_bytes(DATA[:left])
        assert file.whole() == DATA[:left]
        assert file.size == left, "nothing is expected after the cut any more"
        assert file.read(5, 1000) == DATA[5:left]
