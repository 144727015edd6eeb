"""Pictures of hierarchical occlusion: what the network still recognises when all but some boxes is hidden.

The producer hides by a mask such as `gaussian:4`. Its rule, and MindInsight's: a copy is blurred by a Gaussian of this radius
(Pillow's, a standard deviation in px), darkened to 0.7 of each channel, and made grey; then the boxes of the layer are put back
as they were. Grey is luma by ITU-R 601. Both steps round as Pillow does, so that pictures are the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from parsers.errors import FormatError

Box: TypeAlias = tuple[int, int, int, int]
"""x, y, width and height in px; x and y are those of the upper left corner."""
Pixels: TypeAlias = NDArray[np.uint8]
"""A picture of shape (height, width, 3), RGB."""
BRIGHTNESS = 0.7
MOST_RADIUS = 1_000
_MASK = re.compile(r"gaussian:([0-9]{1,6})")
_LUMA = (19_595, 38_470, 7_471)
"""ITU-R 601 in 65,536ths."""


def radius_of(mask: str) -> int:
    """Return the radius of a mask in px; FormatError for any other text than gaussian:1 to gaussian:1000."""
    found = _MASK.fullmatch(mask)
    if found is None or not 0 < int(found[1]) <= MOST_RADIUS:
        raise FormatError(f"mask: expected gaussian:R with R from 1 to {MOST_RADIUS:,}, found {mask[:80]!r}")
    return int(found[1])


def boxes_of(text: str) -> list[Box]:
    """Return the boxes in a cell of the frame `counterfactuals`: x,y,width,height separated by semicolons."""
    numbers = [[int(number) for number in box.split(",")] for box in text.split(";") if box]
    return [(x, y, width, height) for x, y, width, height in numbers]


def hidden(pixels: Pixels, radius: int) -> Pixels:
    """Return a picture blurred, darkened and grey: what stands for the parts that are hidden."""
    from PIL import Image, ImageFilter  # few servers draw these: 0.05 s of imports

    blurred = np.asarray(Image.fromarray(pixels).filter(ImageFilter.GaussianBlur(radius)))
    darkened = (np.float32(BRIGHTNESS) * np.arange(256, dtype=np.float32)).astype(np.uint32)
    grey = np.full(pixels.shape[:2], 1 << 15, np.uint32)
    for channel, weight in enumerate(_LUMA):
        grey += (weight * darkened).astype(np.uint32)[blurred[:, :, channel]]
    return np.repeat((grey >> 16).astype(np.uint8)[:, :, None], 3, axis=2)


def outcome_picture(pixels: Pixels, boxes: Sequence[Box], radius: int) -> Pixels:
    """Return a picture of which only the boxes are visible; parts of boxes outside of the picture are left out."""
    drawn = hidden(pixels, radius)
    for place in map(_inside, boxes):
        drawn[place] = pixels[place]
    return drawn


def visible_share(size: tuple[int, int], boxes: Sequence[Box]) -> float:
    """Return the part of a picture of (width, height) in px that boxes show, 0 to 1; NaN for an empty picture."""
    width, height = size
    if width <= 0 or height <= 0:
        return float("nan")
    seen = np.zeros((height, width), np.bool_)
    for place in map(_inside, boxes):
        seen[place] = True
    return float(seen.mean())


def _inside(box: Box) -> tuple[slice, slice]:
    x, y, width, height = box
    return slice(max(y, 0), max(y + height, 0)), slice(max(x, 0), max(x + width, 0))
