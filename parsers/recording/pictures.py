"""Pictures of arrays and of PIL as encoded images: one, or a batch as one picture of tiles, as MindSpore writes it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import RecordingError
from .png import encode_png
from .values import Image, array_of, is_picture

_CHANNELS = (1, 3, 4)
_PER_ROW = 8
"""Pictures of a batch side by side."""


def image_of(value: object, order: str = "") -> Image:
    """Return a picture as an image.

    value: a picture of PIL, or an array of shape (height, width), (height, width, channels), (channels, height, width), or a
    batch of these with one more axis in front; 1, 3 or 4 channels. order names the axes (like "CHW") where the shape does not
    tell. uint8 is taken as it is, floats between 0 and 1 become 0 to 255, others are scaled from least to greatest value.
    RecordingError for other shapes.
    """
    if isinstance(value, Image):
        return value
    if is_picture(value):
        return _of_pil(value)
    return _encoded(pixels_of(value, order))


def pixels_of(value: object, order: str = "") -> NDArray[np.uint8]:
    """Return the pixels of a picture or a batch, as for `image_of`: of shape (height, width) or (height, width, channels)."""
    array = array_of(value)
    if not array.size:
        raise RecordingError(f"picture: expected pixels, found an array of shape {array.shape}")
    bright = _eight_bits(_channels_last(array, order))
    return _tiled(bright) if bright.ndim == 4 else bright


def _of_pil(picture: Any) -> Image:
    mode = picture.mode if picture.mode in ("L", "RGB", "RGBA") else "RGBA" if "A" in picture.getbands() else "RGB"
    return _encoded(np.asarray(picture.convert(mode), np.uint8))


def _encoded(picture: NDArray[np.uint8]) -> Image:
    flat = picture[..., 0] if picture.ndim == 3 and picture.shape[2] == 1 else picture
    height, width = flat.shape[:2]
    return Image(encode_png(flat), height, width, 1 if flat.ndim == 2 else flat.shape[2])


def _channels_last(array: NDArray[Any], order: str) -> NDArray[Any]:
    """Return an array of shape (height, width), (height, width, channels) or (n, height, width, channels)."""
    axes = order.upper() or _guessed(array)
    if len(axes) != array.ndim or len(set(axes)) != len(axes) or set(axes) - set("NHWC") or not {"H", "W"} <= set(axes):
        raise RecordingError(f"picture: expected axes like HW, HWC, CHW or NCHW, found {axes!r} and the shape {array.shape}")
    wanted = [axis for axis in "NHWC" if axis in axes]
    found = array.transpose([axes.index(axis) for axis in wanted])
    if "N" in wanted and "C" not in wanted:
        found = found[..., None]
    channels = found.shape[-1] if "C" in wanted or "N" in wanted else 1
    if channels not in _CHANNELS:
        raise RecordingError(f"picture: expected 1, 3 or 4 channels, found {channels} in the shape {array.shape}")
    return found


def _guessed(array: NDArray[Any]) -> str:
    """Return the axes that a shape stands for: channels are first where only that can be, as in frameworks, else last."""
    if array.ndim == 2:
        return "HW"
    first, last = array.shape[-3] if array.ndim >= 3 else 0, array.shape[-1]
    axes = "CHW" if first in _CHANNELS and last not in _CHANNELS else "HWC" if last in _CHANNELS else ""
    if array.ndim == 4 and first in _CHANNELS:  # batches of frameworks have channels first
        axes = "CHW"
    if not axes or array.ndim not in (3, 4):
        raise RecordingError(
            f"picture: expected (height, width), 1, 3 or 4 channels as first or last axis, or a batch; found {array.shape}"
        )
    return axes if array.ndim == 3 else f"N{axes}"


def _eight_bits(array: NDArray[Any]) -> NDArray[np.uint8]:
    if array.dtype == np.uint8:
        return np.asarray(array, np.uint8)
    if array.dtype == np.bool_:
        return array.astype(np.uint8) * np.uint8(255)
    real = array.astype(np.float64)
    finite = real[np.isfinite(real)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    if array.dtype.kind == "f" and low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    elif array.dtype.kind in "iu" and low >= 0 and high <= 255:
        low, high = 0.0, 255.0
    scaled = (np.nan_to_num(real, nan=low, posinf=high, neginf=low) - low) / ((high - low) or 1.0)
    return np.round(scaled * 255).astype(np.uint8)


def _tiled(batch: NDArray[np.uint8]) -> NDArray[np.uint8]:
    count, height, width, channels = batch.shape
    columns = min(count, _PER_ROW)
    rows = -(-count // columns)
    room = np.zeros((rows * columns, height, width, channels), np.uint8)
    room[:count] = batch
    tiles = room.reshape(rows, columns, height, width, channels).swapaxes(1, 2)
    return tiles.reshape(rows * height, columns * width, channels)
