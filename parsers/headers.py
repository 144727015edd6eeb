"""The beginning of our own binary files: magic, version, length and CRC-32C of a header in MessagePack, then the header."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import google_crc32c
import msgspec

from parsers.errors import FormatError

PREFIX = struct.Struct("<7sBQQ")
_PIECE = 1 << 20
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Format:
    """One of our formats: its name in messages, magic (7 bytes) and version (0 to 255)."""

    name: str
    magic: bytes
    version: int

    def prefix(self, header: bytes) -> bytes:
        """Return what comes before an encoded header."""
        return PREFIX.pack(self.magic, self.version, len(header), google_crc32c.value(header))

    def place(self, prefix: bytes) -> tuple[int, int]:
        """Return the length of the header in bytes and its CRC; FormatError for another format or version."""
        if len(prefix) < PREFIX.size:
            raise FormatError(f"{self.name}: expected at least {PREFIX.size} bytes, found {len(prefix)}")
        magic, version, size, crc = PREFIX.unpack_from(prefix)
        if magic != self.magic or version != self.version:
            raise FormatError(f"{self.name}: expected version {self.version}, found {magic!r} version {version}")
        return size, crc

    def header(self, data: bytes, kind: type[T]) -> tuple[T, int]:
        """Return the header at the beginning of data, and where it ends; FormatError unless it is whole and of this version."""
        size, crc = self.place(data)
        end = PREFIX.size + size
        return self.decoded(data[PREFIX.size : end], size, crc, kind), end

    def decoded(self, raw: bytes, size: int, crc: int, kind: type[T]) -> T:
        """Decode a header, whose length and CRC are known; FormatError if it does not match them or its type."""
        if len(raw) != size or google_crc32c.value(raw) != crc:
            raise FormatError(f"{self.name}: the header fails its CRC")
        try:
            return msgspec.msgpack.decode(raw, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise FormatError(f"{self.name}: the header cannot be decoded ({error})") from error


def crc_of(parts: Iterable[bytes | memoryview]) -> int:
    """Return the CRC-32C of parts that follow each other, without a copy of all of them."""
    crc = 0
    for part in parts:
        for at in range(0, len(part), _PIECE):
            crc = google_crc32c.extend(crc, bytes(part[at : at + _PIECE]))
    return crc
