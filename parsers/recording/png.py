"""Encodes pictures as PNG (W3C Portable Network Graphics, third edition), 8 bits a sample, every row unfiltered."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from .errors import RecordingError

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOUR_TYPES = {(): 0, (3,): 2, (4,): 6}


def encode_png(picture: NDArray[np.uint8]) -> bytes:
    """Encode a picture of shape (height, width), (height, width, 3) for RGB or (height, width, 4) for RGBA.

    RecordingError for another shape.
    """
    if picture.ndim not in (2, 3) or picture.shape[2:] not in _COLOUR_TYPES or not picture.size:
        raise RecordingError(f"picture: expected the shape (height, width) or (height, width, 3), found {picture.shape}")
    height, width = picture.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOUR_TYPES[picture.shape[2:]], 0, 0, 0)
    rows = np.concatenate([np.zeros((height, 1), np.uint8), picture.reshape(height, -1)], axis=1)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b""))
    return _SIGNATURE + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts
    )


def png_size(data: bytes) -> tuple[int, int]:
    """Return (width, height) of an encoded picture; RecordingError if it has no header."""
    if data[:8] != _SIGNATURE or data[12:16] != b"IHDR" or len(data) < 24:
        raise RecordingError("picture: expected PNG, found something else")
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
