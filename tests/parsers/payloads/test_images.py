"""Images: types from their bytes, sizes from their headers, everything else refused."""

from __future__ import annotations

import struct
import zlib

import pytest

from parsers import FormatError, ImageValue
from parsers.events.messages import message_class
from parsers.payloads.decoding import decode


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress(bytes((width + 1) * height)) if width * height < 1_000_000 else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes(6) + b"\x3b"


def jpeg(width: int, height: int) -> bytes:
    application = b"\xff\xe0" + struct.pack(">H", 16) + b"JFIF\0" + bytes(9)
    comment = b"\xff\xff\xfe" + struct.pack(">H", 6) + b"\xff\xc0ab"  # fill byte, and a marker that is none
    frame = b"\xff\xc2" + struct.pack(">HBHHB", 11, 8, height, width, 1) + bytes(3)
    return b"\xff\xd8" + application + comment + frame + b"\xff\xd9"


def webp(form: bytes, body: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", 12 + len(body)) + b"WEBP" + form + struct.pack("<I", len(body)) + body


def lossy(width: int, height: int) -> bytes:
    return webp(b"VP8 ", b"\x10\0\0\x9d\x01\x2a" + struct.pack("<HH", width | 1 << 14, height) + bytes(4))


def lossless(width: int, height: int) -> bytes:
    return webp(b"VP8L", b"\x2f" + struct.pack("<I", width - 1 | height - 1 << 14) + bytes(4))


def extended(width: int, height: int) -> bytes:
    return webp(b"VP8X", bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"))


def decoded(encoded: bytes, height: int = 5, width: int = 4) -> ImageValue:
    message = message_class("mindspore.Image")(height=height, width=width, colorspace=3, encoded_image=encoded)
    value = decode("events", "image", memoryview(message.SerializeToString()))
    assert isinstance(value, ImageValue)
    return value


@pytest.mark.parametrize(
    ("make", "media"),
    [(png, "image/png"), (gif, "image/gif"), (jpeg, "image/jpeg"), (lossy, "image/webp"), (lossless, "image/webp"),
     (extended, "image/webp")],
)  # fmt: skip
def test_type_and_size_come_from_the_bytes(make: object, media: str) -> None:
    encoded = make(321, 123)  # type: ignore[operator]
    value = decoded(encoded, height=123, width=321)
    assert (value.media, value.width, value.height, value.data) == (media, 321, 123, encoded)
    assert (value.claimed_width, value.claimed_height, value.colorspace, value.problem) == (321, 123, 3, "")


def test_a_record_that_contradicts_its_image_says_so_and_the_image_is_there() -> None:
    value = decoded(png(32, 24), height=100_000, width=100_000)
    assert (value.width, value.height, value.claimed_width, value.claimed_height) == (32, 24, 100_000, 100_000)
    assert value.problem == "Its record says 100,000 x 100,000 pixels, its own header 32 x 24."


@pytest.mark.parametrize("make", [png, gif, jpeg, lossy, lossless, extended])
def test_every_header_may_be_cut(make: object) -> None:
    encoded = make(321, 123)  # type: ignore[operator]
    for size in range(len(encoded)):
        try:
            value = decoded(encoded[:size])
        except FormatError:
            continue
        assert (value.width, value.height) == (321, 123)


@pytest.mark.parametrize(
    "encoded",
    [b"", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"<?xml version='1.0'?><svg/>", b"BM" + bytes(60), b"%PDF-1.7",
     b"RIFF\0\0\0\0WAVEfmt ", b"<html>", b"GIF8xx" + bytes(20), b"\0" * 100],
)  # fmt: skip
def test_anything_else_is_refused(encoded: bytes) -> None:
    with pytest.raises(FormatError, match="expected"):
        decoded(encoded)


@pytest.mark.parametrize("colours", [0, 0x81])
@pytest.mark.parametrize("extension", [b"", b"!\xf9\x04" + bytes(4) + b"\0", b"!\xfe\x02ab\x01c\0!\xff\0"])
def test_the_first_picture_of_a_gif_counts_where_it_exceeds_the_screen(colours: int, extension: bytes) -> None:
    """Browsers take memory for that picture, however small the screen that its file states."""
    begin = b"GIF89a" + struct.pack("<HHBBB", 3, 2, colours, 0, 0) + bytes(12 if colours else 0) + extension

    def holding(width: int, height: int) -> bytes:
        return begin + b"," + struct.pack("<HHHHB", 1, 0, width, height, 0) + b"\x02\x02\x4c\x01\0;"

    value = decoded(holding(2, 2))
    assert (value.width, value.height) == (3, 2)
    value = decoded(holding(40, 30))
    assert (value.width, value.height) == (41, 30)
    with pytest.raises(FormatError, match="expected an image of 1 to 100,000,000 pixels, found 60,001 x 60,000"):
        decoded(holding(60_000, 60_000))


@pytest.mark.parametrize("size", [(100_000, 100_000), (0, 5), (2**31, 1), (10_001, 10_000)])
def test_absurd_sizes_are_refused(size: tuple[int, int]) -> None:
    with pytest.raises(FormatError, match="expected an image of 1 to 100,000,000 pixels"):
        decoded(png(*size))


def test_a_damaged_png_says_so() -> None:
    whole = png(30, 20)
    assert "is cut" in decoded(whole[:-5]).problem
    at = whole.index(b"IDAT") + 6
    assert "chunk b'IDAT'" in decoded(whole[:at] + b"\xff" + whole[at + 1 :]).problem


def test_a_batch_of_tensorboard() -> None:
    tensor = message_class("tensorflow.TensorProto")(dtype=7, string_val=[b"30", b"20", png(30, 20), gif(31, 21)])
    tensor.tensor_shape.dim.add(size=4)
    value = decode("tensorboard", "image", memoryview(tensor.SerializeToString()))
    assert isinstance(value, ImageValue)
    assert (value.width, value.height, value.claimed_width, value.claimed_height) == (30, 20, 30, 20)
    assert [(other.media, other.width) for other in value.others] == [("image/gif", 31)]
    assert value.nbytes > len(png(30, 20)) + len(gif(31, 21))


def test_a_tensor_without_images_is_refused() -> None:
    tensor = message_class("tensorflow.TensorProto")(dtype=7, string_val=[b"30", b"20"])
    with pytest.raises(FormatError, match="expected width, height and an image, found 2 strings"):
        decode("tensorboard", "image", memoryview(tensor.SerializeToString()))
