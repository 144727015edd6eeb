"""What is wrong with a PNG: against zlib itself, with every byte flipped and every cut."""

from __future__ import annotations

import struct
import zlib

import pytest

from parsers.payloads import png as checks
from parsers.payloads.png import SIGNATURE, png_problem, png_size

WIDTH, HEIGHT = 13, 9
ROWS = b"".join(b"\0" + bytes((x * 17 + y * 31) % 256 for x in range(WIDTH * 3)) for y in range(HEIGHT))


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(
    *rows: bytes, depth: int = 8, colour: int = 2, methods: bytes = bytes(2), interlace: int = 0, height: int = HEIGHT
) -> bytes:
    header = struct.pack(">IIBB", WIDTH, height, depth, colour) + methods + bytes([interlace])
    pieces = rows or (zlib.compress(ROWS),)
    return SIGNATURE + chunk(b"IHDR", header) + b"".join(chunk(b"IDAT", piece) for piece in pieces) + chunk(b"IEND", b"")


def test_a_whole_one() -> None:
    packed = zlib.compress(ROWS)
    assert png_problem(png()) == png_problem(png(*(packed[at : at + 1] for at in range(len(packed))))) == ""
    assert png_size(png()) == (WIDTH, HEIGHT)
    assert png_problem(png() + b"more") == ""


def test_every_flipped_byte_is_told() -> None:
    whole = png()
    for at in range(len(SIGNATURE), len(whole)):
        assert png_problem(whole[:at] + bytes([whole[at] ^ 0x20]) + whole[at + 1 :]), at


def test_every_cut_is_told() -> None:
    whole = png()
    assert all("is cut" in png_problem(whole[:size]) for size in range(33, len(whole)))


def test_every_flipped_bit_of_rows_whose_crc_holds() -> None:
    packed = zlib.compress(ROWS)
    for bit in range(len(packed) * 8):
        flipped = bytearray(packed)
        flipped[bit // 8] ^= 1 << bit % 8
        try:
            same = zlib.decompress(flipped) == ROWS
        except zlib.error:
            same = False
        assert (png_problem(png(bytes(flipped))) == "") == same, bit


@pytest.mark.parametrize(
    ("encoded", "said"),
    [
        (png(depth=77), "depth 77"),
        (png(colour=5), "colour type 5"),
        (png(depth=4), "depth 4"),
        (png(methods=b"\1\0"), "compression 1"),
        (png(methods=b"\0\1"), "filter 1"),
        (png(interlace=2), "interlace 2"),
        (png(zlib.compress(ROWS[:-1])), f"end after {len(ROWS) - 1} of {len(ROWS)} bytes"),
        (png(zlib.compress(ROWS)[:-1]), f"end after {len(ROWS)} of {len(ROWS)} bytes"),
        (png(b""), f"end after 0 of {len(ROWS)} bytes"),
        (png(b"", interlace=1), "end after 0 bytes"),
        (png(b"no rows"), "do not decompress after 0 bytes"),
    ],
)
def test_what_is_said(encoded: bytes, said: str) -> None:
    assert said in png_problem(encoded)


@pytest.mark.parametrize(("colour", "depth", "row"), [(0, 1, 2), (0, 16, 26), (3, 4, 7), (4, 8, 26), (6, 16, 104)])
def test_rows_of_every_kind_of_pixel(colour: int, depth: int, row: int) -> None:
    def given(size: int) -> bytes:
        return png(zlib.compress(bytes(size)), colour=colour, depth=depth)

    assert png_problem(given(HEIGHT * (1 + row))) == ""
    assert "end after" in png_problem(given(HEIGHT * (1 + row) - 1))


def test_rows_without_end_take_no_more_than_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "MOST_CHECKED", 3 << 20)
    bomb = zlib.compress(bytes(64 << 20), 9) + b"garbage"
    assert png_problem(png(bomb[:-20], height=10_000)) == ""
