"""PNG: size, and what is wrong with one that begins like one. Format: W3C Portable Network Graphics, third edition.

Nothing is decoded to pixels: chunks are walked, their CRCs checked, and the compressed rows run through zlib piece by piece to
see whether they are whole, as browsers show a picture without rows as if nothing were wrong with it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MOST_CHECKED = 64 << 20
"""Bytes of rows that are looked at, which takes about 0.2 s; what is wrong beyond them is not told."""
_PIECE = 1 << 20
# Colour type -> (samples of a pixel, bits a sample may have).
_COLOURS = {0: (1, (1, 2, 4, 8, 16)), 2: (3, (8, 16)), 3: (1, (1, 2, 4, 8)), 4: (2, (8, 16)), 6: (4, (8, 16))}


def png_size(data: bytes) -> tuple[int, int] | None:
    """(width, height) as the header has them, None where it is not whole."""
    if len(data) < 33 or data[12:16] != b"IHDR":
        return None
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def png_problem(data: bytes) -> str:
    """What is wrong with a PNG that has a header, "" for nothing. Browsers show the part that they can decode."""
    pos, rows = len(SIGNATURE), []
    while pos + 12 <= len(data):
        length = int.from_bytes(data[pos : pos + 4], "big")
        kind, end = data[pos + 4 : pos + 8], pos + 8 + length
        if end + 4 > len(data):
            break
        if zlib.crc32(memoryview(data)[pos + 4 : end]) != int.from_bytes(data[end : end + 4], "big"):
            return f"The image is damaged: its chunk {kind!r} at byte {pos:,} fails its CRC."
        if kind == b"IDAT":
            rows.append(memoryview(data)[pos + 8 : end])
        if kind == b"IEND":
            return _header_problem(data) or _rows_problem(rows, _rows_size(data))
        pos = end + 4
    return f"The image is cut: it has {len(data):,} bytes, and no end."


def _header_problem(data: bytes) -> str:
    depth, colour, compression, filtering, interlace = data[24:29]
    if depth in _COLOURS.get(colour, (0, ()))[1] and (compression, filtering) == (0, 0) and interlace in (0, 1):
        return ""
    got = f"depth {depth}, colour type {colour}, compression {compression}, filter {filtering}, interlace {interlace}"
    return f"The image cannot be decoded: its header wants what PNG does not have, {got}."


def _rows_size(data: bytes) -> int:
    """Bytes of all rows, each with its filter byte; 0 where they come interlaced."""
    width, height = png_size(data) or (0, 0)
    samples, _ = _COLOURS[data[25]]
    return 0 if data[28] else height * (1 + (width * samples * data[24] + 7) // 8)


def _rows_problem(pieces: Sequence[memoryview], wanted: int) -> str:
    stream, size = zlib.decompressobj(), 0
    try:
        for piece in pieces:
            waiting: bytes | memoryview = piece
            while waiting and not stream.eof:
                size += len(stream.decompress(waiting, _PIECE))
                waiting = stream.unconsumed_tail
                if size >= MOST_CHECKED:
                    return ""
    except zlib.error as error:
        return f"The image is damaged: its rows do not decompress after {size:,} bytes ({error})."
    if size < wanted or not stream.eof:
        whole = f" of {wanted:,}" if wanted else ""
        return f"The image is damaged: its rows end after {size:,}{whole} bytes."
    return ""
