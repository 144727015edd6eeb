"""Colours of heat maps: for each of 256 levels red, green, blue and alpha. Alpha grows with the level.

So the picture stays visible where a map is low. "purple" is the map of mindspore-xai's own viewer: for s from 0 to 1 the colour
s · (255, 255, 0) + (1 - s) · (55, 25, 86) with alpha s.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from layouts.values.landscapes import SCALES

LEVELS = 256
ANCHORS = {
    "purple": ("#371956", "#ffff00"),
    "viridis": SCALES["viridis"],
    "cividis": SCALES["cividis"],
    "grey": ("#000000", "#ffffff"),
}


def table(anchors: Sequence[str]) -> NDArray[np.uint8]:
    """Return RGBA of shape (256, 4), linear between colours at equal distances."""
    rgb = np.array([[int(one[at : at + 2], 16) for at in (1, 3, 5)] for one in anchors], np.float64)
    levels = np.linspace(0.0, len(anchors) - 1.0, LEVELS)
    channels = [np.interp(levels, np.arange(len(anchors)), rgb[:, at]) for at in range(3)]
    return np.round(np.stack([*channels, np.arange(LEVELS)], axis=1)).astype(np.uint8)


def tables() -> dict[str, str]:
    """Return name -> its table in base64, row by row."""
    return {name: base64.b64encode(table(anchors).tobytes()).decode() for name, anchors in ANCHORS.items()}
