"""Opens zip archives of others: of torch.save and numpy.savez. Their members are stored, so none is larger than the archive.

The directory at the end of an archive says itself how long it is, and `zipfile` reads it at once, into 450 bytes of memory for
each member, of which the shortest takes 46 bytes there. So its length is limited before it is read.
"""

from __future__ import annotations

import contextlib
import io
import struct
import zipfile
from collections.abc import Iterator
from typing import Any

from parsers.errors import FormatError
from parsers.files import RegularFile

_ERRORS = (zipfile.BadZipFile, NotImplementedError, EOFError, struct.error, RuntimeError, ValueError, OverflowError)


@contextlib.contextmanager
def open_archive(file: RegularFile, wanted: str, longest_directory: int) -> Iterator[zipfile.ZipFile]:
    """Open an archive whose directory has at most that many bytes.

    FormatError for one that is damaged, also if that is found when a member is read; its text says what was `wanted`.
    """
    data = _ArchiveBytes(file, longest_directory)
    try:
        with zipfile.ZipFile(data) as archive:
            data.longest = file.size
            yield archive
    except FormatError:
        raise
    except _ERRORS as error:
        raise FormatError(f"expected {wanted}, found {error}; the file was cut or damaged") from error


def is_stored(member: zipfile.ZipInfo, most: int) -> bool:
    """Return whether a member is not compressed, and has at most this many bytes by both sizes that the archive states."""
    return member.compress_type == zipfile.ZIP_STORED and max(member.file_size, member.compress_size) <= most


def member_begin(file: RegularFile, place: zipfile.ZipInfo) -> int:
    """Return where the bytes of a member begin, behind its local header, whose extra field may differ from the directory's."""
    head = file.read(place.header_offset, 30)
    if len(head) < 30 or head[:4] != b"PK\x03\x04":
        raise FormatError("expected the header of a member of the archive, found other bytes")
    name, extra = struct.unpack_from("<HH", head, 26)
    return place.header_offset + 30 + int(name) + int(extra)


class _ArchiveBytes(io.RawIOBase):
    """A file read by position, as zipfile wants it, up to `longest` bytes at once."""

    def __init__(self, file: RegularFile, longest: int) -> None:
        self._file, self._at, self.longest = file, 0, longest

    def readable(self) -> bool:
        """See io.RawIOBase."""
        return True

    def seekable(self) -> bool:
        """See io.RawIOBase."""
        return True

    def tell(self) -> int:
        """See io.RawIOBase."""
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        """See io.RawIOBase."""
        self._at = max(offset + (0, self._at, self._file.size)[whence], 0)
        return self._at

    def read(self, size: int = -1) -> bytes:
        """See io.RawIOBase; FormatError for more bytes than may be read at once."""
        wanted = self._file.size if size < 0 else size
        if wanted > self.longest:
            raise FormatError(f"expected an archive with a directory of at most {self.longest:,} bytes, found {wanted:,}")
        return super().read(size) or b""

    def readinto(self, into: Any) -> int:
        """See io.RawIOBase."""
        got = self._file.fill(memoryview(into).cast("B"), self._at)
        self._at += got
        return got
