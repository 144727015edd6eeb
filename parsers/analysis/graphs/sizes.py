"""Computes the number of values of a shape and the bytes of a type, from the texts of NODES."""

from __future__ import annotations

import re

import numpy as np

from parsers.analysis.graphs.network import Ints

_BITS = re.compile(r"(?:bfloat|float|complex|uint|int)s?_?(\d+)", re.IGNORECASE)
_MOST = 2**62
"""Maximum values of a shape, so that sums over all nodes fit 64 bits."""


def values(shapes: list[str]) -> Ints:
    """How many numbers each shape such as 32x3x224x224 holds; 1 for [], 0 for what is unknown or has an unknown dimension."""
    return np.array([_held(shape) for shape in shapes], np.int64)


def type_bytes(types: list[str]) -> Ints:
    """Bytes of one value of each type such as Tensor[Float32] or BFloat16; 0 for what is no number or not known."""
    return np.array([_width(text) for text in types], np.int64)


def _held(shape: str) -> int:
    if shape == "[]":
        return 1
    product = 1
    for part in shape.split("x"):
        if not part.isascii() or not part.isdigit() or len(part) > 18:
            return 0
        product *= int(part)
    return product if product < _MOST // 1_000_000 else 0


def _width(text: str) -> int:
    inner = text.rpartition("[")[2].partition("]")[0] if text.startswith(("Tensor[", "Ref[", "Parameter[")) else text
    if inner.lower() in ("bool", "bool_"):
        return 1
    found = _BITS.fullmatch(inner)
    if not found or int(found[1]) not in (4, 8, 16, 32, 64, 128):
        return 0
    return max(1, int(found[1]) // 8)
