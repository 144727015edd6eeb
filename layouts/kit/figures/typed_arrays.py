"""Encode numpy arrays as plotly.js's typed arrays: half the bytes of JSON lists, and no conversion per number."""

from __future__ import annotations

import base64
import math
from typing import Annotated, Any, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

_LEGAL = ("i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8")
_INT32 = 2**31
_LONGEST_S = (_INT32 - 4) / 2000
_INTEGERS = ((np.int8, 2**7 - 1), (np.int16, 2**15 - 1), (np.int32, _INT32 - 1))
EXACT = 2**53
"""From here on float64 does not hold every integer."""


class TypedArray(TypedDict):
    """An array: its dtype as numpy names it, base64 of its bytes, and "rows, columns" if it has two dimensions."""

    dtype: str
    bdata: str
    shape: NotRequired[str]


SentArray = Annotated[dict[str, str], TypedArray]


def typed(array: NDArray[Any]) -> dict[str, str]:
    """Encode an array as {"dtype", "bdata"}, and "shape" if it has two dimensions. NaN and infinities are preserved."""
    name = array.dtype.str[1:]
    if name not in _LEGAL or array.dtype.str[0] == ">":
        raise TypeError(f"typed: expected a little-endian dtype of {', '.join(_LEGAL)}; found {array.dtype}")
    spec = {"dtype": name, "bdata": base64.b64encode(np.ascontiguousarray(array).data).decode("ascii")}
    if array.ndim == 2:
        spec["shape"] = f"{array.shape[0]}, {array.shape[1]}"
    return spec


def whole_numbers(array: NDArray[Any]) -> dict[str, str]:
    """Encode integers as int32 if they fit, else as float64, the only other number that plotly.js has."""
    fits = not array.size or (array.min() >= -_INT32 and array.max() < _INT32)
    return typed(array.astype(np.int32 if fits else np.float64))


def exact_integers(array: NDArray[np.int64]) -> dict[str, str]:
    """Encode integers as `whole_numbers` does, but as int64 ("i8") if float64 cannot hold them all; for our own scripts."""
    if not beyond_float64(array):
        return whole_numbers(array)
    return {"dtype": "i8", "bdata": base64.b64encode(np.ascontiguousarray(array, "<i8").data).decode("ascii")}


def beyond_float64(array: NDArray[np.int64]) -> bool:
    """Return whether the array has integers beyond 2**53, from which on float64 does not hold every integer."""
    return bool(array.size) and bool(array.min() < -EXACT or array.max() > EXACT)


def numbers(array: NDArray[np.float64]) -> dict[str, str]:
    """Encode floats exactly: as int32 or float32 if that changes no value, else as float64."""
    with np.errstate(invalid="ignore", over="ignore"):
        single = array.astype(np.float32)
    if bool((single == array).all()) or np.array_equal(single, array, equal_nan=True):  # the first is quicker and mostly true
        return typed(single)
    if array.size and np.array_equal(array, np.floor(array)) and np.abs(array).max() < _INT32:
        return typed(array.astype(np.int32))
    return typed(array)


def drawn(array: NDArray[np.float64]) -> dict[str, str]:
    """Encode floats that are only drawn: as float32 unless that could move a point visibly."""
    ends = finite_ends(array)
    if ends is None:
        return typed(array.astype(np.float32))
    low, high = ends
    largest = max(abs(low), abs(high))
    if largest < 1e37 and (high - low) * 1e-4 >= largest * 2.0**-24:
        return typed(array.astype(np.float32))
    return typed(array)


def finite_ends(array: NDArray[np.float64]) -> tuple[float, float] | None:
    """Return the lowest and highest finite number, or None if there is none."""
    if array.size and math.isfinite(low := float(array.min())) and math.isfinite(high := float(array.max())):
        return low, high
    finite = array[np.isfinite(array)]
    return (float(finite.min()), float(finite.max())) if finite.size else None


def durations(seconds: NDArray[np.float64]) -> dict[str, Any]:
    """Encode seconds to the millisecond as {"first", "steps"}: the first time and the differences in ms, in the smallest dtype.

    Points come at a steady pace, so differences need a quarter of the bytes. {"seconds"} if a time is not finite or too large.
    """
    if not seconds.size or not (seconds.min() > -_LONGEST_S and seconds.max() < _LONGEST_S):  # false for NaN
        return {"seconds": typed(seconds)}
    ms = np.rint(seconds * 1000.0).astype(np.int64)
    steps = np.empty_like(ms)
    steps[0] = 0
    np.subtract(ms[1:], ms[:-1], out=steps[1:])
    largest = max(-int(steps.min()), int(steps.max()))
    dtype = next(dtype for dtype, limit in _INTEGERS if largest <= limit)
    return {"first": int(ms[0]), "steps": typed(steps.astype(dtype))}


def spaced(array: NDArray[np.float64]) -> tuple[float, float] | None:
    """Return (first, distance) if the array has whole numbers at equal distances, else None. It replaces an array in JSON."""
    if array.size < 2:
        return None
    distance = array[1] - array[0]
    if not np.isfinite(distance) or distance != np.floor(distance) or array[0] != np.floor(array[0]):
        return None
    return (float(array[0]), float(distance)) if bool((array[1:] - array[:-1] == distance).all()) else None
