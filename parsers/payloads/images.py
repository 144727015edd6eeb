"""Images: encoded bytes as recorded; their type comes from the first bytes, their size from their own header.

Only types that browsers decode are accepted: PNG, JPEG, GIF and WebP. Nothing is decoded here.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace

from parsers.errors import FormatError, MediaError
from parsers.events.wire import DELIMITED, VARINT
from parsers.payloads.messages import fields, whole
from parsers.payloads.png import SIGNATURE, png_problem, png_size
from parsers.payloads.tensors import STRINGS
from parsers.payloads.values import ImageValue

MOST_PIXELS = 100_000_000
MOST_IMAGES = 1000
_Size = tuple[int, int]
HEIGHT, WIDTH, COLORSPACE, ENCODED = 1 << 3 | VARINT, 2 << 3 | VARINT, 3 << 3 | VARINT, 4 << 3 | DELIMITED


def image(data: memoryview) -> ImageValue:
    """Decode Summary.Image, which MindSpore and TensorFlow share."""
    height, width, colorspace, encoded = -1, -1, 0, b""
    for key, content in fields(data):
        if key == HEIGHT:
            height = whole(content)
        elif key == WIDTH:
            width = whole(content)
        elif key == COLORSPACE:
            colorspace = whole(content)
        elif key == ENCODED:
            encoded = bytes(content)
    return replace(_claimed(encoded_image(encoded), width, height), colorspace=colorspace)


def _claimed(value: ImageValue, width: int, height: int) -> ImageValue:
    """Add the size stated in the record; a contradiction to the image's own header is a problem."""
    problem = value.problem
    if not problem and min(width, height) > 0 and (width, height) != (value.width, value.height):
        problem = f"Its record says {width:,} x {height:,} pixels, its own header {value.width:,} x {value.height:,}."
    return replace(value, claimed_width=width, claimed_height=height, problem=problem)


def tensorboard_image(data: memoryview) -> ImageValue:
    """Decode Summary.Image, or a tensor of strings: width, height, then encoded images."""
    strings = [content for key, content in fields(data) if key == STRINGS << 3 | DELIMITED]
    if not strings:
        return image(data)
    if len(strings) < 3:
        raise FormatError(f"expected width, height and an image, found {len(strings)} strings")
    if len(strings) > MOST_IMAGES + 2:
        raise FormatError(f"expected at most {MOST_IMAGES:,} images in a record, found {len(strings) - 2:,}")
    width, height = (_number(bytes(text[:11])) for text in strings[:2])
    first, *others = (_claimed(encoded_image(bytes(one)), width, height) for one in strings[2:])
    return replace(first, others=tuple(others))


def _number(text: bytes) -> int:
    return int(text) if text.isdigit() and len(text) < 11 else -1


def encoded_image(data: bytes) -> ImageValue:
    """Return type and size of an encoded image; FormatError for anything that must not be sent to a browser."""
    for magic, media, size_of in _FORMATS:
        if data.startswith(magic) and (media != "image/webp" or data[8:12] == b"WEBP"):
            size = size_of(data)
            if size is None:
                raise FormatError(f"expected a whole {media} header, found {len(data):,} bytes without one")
            width, height = size
            if width < 1 or height < 1 or width * height > MOST_PIXELS:
                raise FormatError(f"expected an image of 1 to {MOST_PIXELS:,} pixels, found {width:,} x {height:,}")
            return ImageValue(data, media, width, height, problem=png_problem(data) if media == "image/png" else "")
    raise MediaError(f"expected a PNG, JPEG, GIF or WebP image, found {len(data):,} bytes beginning with {data[:8].hex(' ')}")


def _gif(data: bytes) -> _Size | None:
    if len(data) < 13 or data[3:6] not in (b"87a", b"89a"):
        return None
    width, height = int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    pos = 13 + (3 << (data[10] & 7) + 1 if data[10] & 0x80 else 0)  # after the table of colours
    while data[pos : pos + 1] == b"!":  # an extension: its kind, then blocks until an empty one
        pos += 2
        while pos < len(data) and data[pos]:
            pos += 1 + data[pos]
        pos += 1
    if data[pos : pos + 1] == b"," and len(data) >= pos + 10:  # browsers enlarge the screen to the first picture
        left, top, wide, high = struct.unpack_from("<HHHH", data, pos + 1)
        return max(width, left + wide), max(height, top + high)
    return width, height


def _jpeg(data: bytes) -> _Size | None:
    pos = 2
    while pos + 9 <= len(data):
        if data[pos] != 0xFF:
            return None
        marker = data[pos + 1]
        if marker == 0xFF:  # fill
            pos += 1
        elif marker == 0x01 or 0xD0 <= marker <= 0xD8:  # markers that stand alone
            pos += 2
        elif marker in (0xD9, 0xDA):
            return None
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):  # start of frame
            return int.from_bytes(data[pos + 7 : pos + 9], "big"), int.from_bytes(data[pos + 5 : pos + 7], "big")
        else:
            pos += 2 + int.from_bytes(data[pos + 2 : pos + 4], "big")
    return None


def _webp(data: bytes) -> _Size | None:
    form = data[12:16]
    if form == b"VP8 " and len(data) >= 30 and data[23:26] == b"\x9d\x01\x2a":
        return int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(data[28:30], "little") & 0x3FFF
    if form == b"VP8L" and len(data) >= 25 and data[20] == 0x2F:
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if form == b"VP8X" and len(data) >= 30:
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    return None


_FORMATS: tuple[tuple[bytes, str, Callable[[bytes], _Size | None]], ...] = (
    (SIGNATURE, "image/png", png_size),
    (b"\xff\xd8\xff", "image/jpeg", _jpeg),
    (b"GIF8", "image/gif", _gif),
    (b"RIFF", "image/webp", _webp),
)
