"""What tests of several readers share."""

from __future__ import annotations

import pytest

from parsers.files import RegularFile


@pytest.fixture
def lengths_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes each read of a file asks for, as it is read."""
    lengths: list[int] = []
    read = RegularFile.read

    def counted(file: RegularFile, offset: int, length: int) -> bytes:
        lengths.append(length)
        return read(file, offset, length)

    monkeypatch.setattr(RegularFile, "read", counted)
    return lengths
