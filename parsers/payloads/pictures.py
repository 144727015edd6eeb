"""Picture files beside event files, PNG or JPEG: checked by what they contain, limited before they are decoded.

A file named .jpg may be anything, so the first bytes decide. Nothing is decoded before the size in the header is known to be
small enough: a few kB of PNG can describe gigabytes of pixels. Grey values are those of Pillow, which uses libjpeg-turbo.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from parsers.errors import FormatError, MediaError
from parsers.payloads.images import encoded_image
from parsers.payloads.values import ImageValue

MOST_BYTES = 64 << 20
MOST_PIXELS = 25_000_000
MOST_SCANS = 100
"""Scans of a JPEG: programs write ten, and one of 42 bytes costs the decoder as much time as all pixels."""
MEDIA = ("image/png", "image/jpeg")
_END_OF_IMAGE = b"\xff\xd9"
_SCAN = b"\xff\xda"
_MARKER = re.compile(rb"\xff[^\x00\x01\xd0-\xd7\xff]")
"""The begin of a segment of a JPEG that has a length; within a scan, 0xff is followed by others. 0xff01 has none: scans could
hide behind it."""
_MOST_SEGMENTS = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class GreyPicture:
    """A picture as grey values of shape (height, width), 0 to 255. problem is a sentence if its file is damaged, else ""."""

    values: NDArray[np.uint8]
    problem: str = ""

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return self.values.nbytes + 512

    def png(self) -> bytes:
        """Encode it without loss; 1,000 x 1,000 pixels take some 20 ms."""
        return png_of(self.values)

    @property
    def is_constant(self) -> bool:
        """Whether all values are equal, so the map tells nothing."""
        return bool((self.values == self.values.flat[0]).all())


def checked_picture(data: bytes) -> ImageValue:
    """Return type and size of a PNG or JPEG, and its damage; FormatError for anything else, and for more than MOST_PIXELS."""
    if len(data) > MOST_BYTES:
        raise FormatError(f"expected at most {MOST_BYTES:,} bytes, found {len(data):,}")
    value = encoded_image(data)
    if value.media not in MEDIA:
        raise MediaError(f"expected a PNG or JPEG image, found {value.media}")
    if value.width * value.height > MOST_PIXELS:
        raise FormatError(f"expected an image of 1 to {MOST_PIXELS:,} pixels, found {value.width:,} x {value.height:,}")
    if value.media == "image/jpeg" and _scans(data) > MOST_SCANS:
        raise FormatError(f"expected a JPEG of at most {MOST_SCANS} scans, found more")
    if value.media == "image/jpeg" and data.find(_END_OF_IMAGE, max(data.find(_SCAN), 0)) < 0:
        return replace(value, problem=f"The image is cut: it has {len(data):,} bytes, and no end.")
    return value


def _scans(data: bytes) -> int:
    """Return the number of scans of a JPEG; more than MOST_SCANS also for one of too many segments."""
    count, at = 0, len(_SCAN)
    for _ in range(_MOST_SEGMENTS):
        found = _MARKER.search(data, at)
        if found is None or found[0] == _END_OF_IMAGE or count > MOST_SCANS:
            return count
        count += found[0] == _SCAN
        at = found.end() + int.from_bytes(data[found.end() : found.end() + 2], "big")
    return MOST_SCANS + 1


def grey_picture(data: bytes) -> GreyPicture:
    """Decode a PNG or JPEG to grey values; colours become luma (ITU-R 601, as Pillow computes it).

    Of one that is cut, the rest is as the decoder fills it. FormatError if it cannot be decoded at all.
    """
    value, grey = _decoded(data, _grey_levels)
    grey.setflags(write=False)
    return GreyPicture(grey, value.problem)


def rgb_picture(data: bytes) -> tuple[NDArray[np.uint8], str]:
    """Decode a PNG or JPEG to RGB values of shape (height, width, 3), and return these and the problem as `GreyPicture` has it.

    Transparency is ignored. FormatError as for `grey_picture`.
    """
    value, pixels = _decoded(data, _rgb_levels)
    return pixels, value.problem


def png_of(pixels: NDArray[np.uint8]) -> bytes:
    """Encode grey (height, width) or RGB (height, width, 3) values as PNG, quickly rather than small."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG", compress_level=1, compress_type=zlib.Z_RLE)
    return out.getvalue()


def _decoded(data: bytes, levels: Callable[[object], NDArray[np.uint8]]) -> tuple[ImageValue, NDArray[np.uint8]]:
    """Return what the header says, and what `levels` makes of the Pillow image."""
    value = checked_picture(data)
    from PIL import Image

    whole = data + _END_OF_IMAGE if value.problem and value.media == "image/jpeg" else data
    try:
        with Image.open(io.BytesIO(whole), formats=("PNG", "JPEG")) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise FormatError(f"expected an image of 1 to {MOST_PIXELS:,} pixels, found {picture.width} x {picture.height}")
            return value, levels(picture)
    except FormatError:
        raise
    except Exception as error:  # Pillow raises errors of many types, also SyntaxError and struct.error, for damaged files
        said = str(error).partition(" <")[0]  # Pillow names the object in memory that it reads
        raise FormatError(f"{value.media} cannot be decoded: {said}") from error


def _rgb_levels(picture: object) -> NDArray[np.uint8]:
    """Return 8-bit RGB values of a Pillow image."""
    from PIL import Image

    assert isinstance(picture, Image.Image)
    if picture.mode.startswith("I"):
        return np.repeat(_grey_levels(picture)[:, :, None], 3, axis=2)
    return np.array(picture.convert("RGB"), np.uint8)


def _grey_levels(picture: object) -> NDArray[np.uint8]:
    """Return 8-bit grey values of a Pillow image; those of 16 bits lose the lower half."""
    from PIL import Image

    assert isinstance(picture, Image.Image)
    if picture.mode.startswith("I;16"):
        return np.asarray(np.asarray(picture, np.uint16) >> 8, np.uint8)
    if picture.mode == "I":
        return np.asarray(np.clip(np.asarray(picture, np.int64) >> 8, 0, 255), np.uint8)
    return np.array(picture.convert("L"), np.uint8)
