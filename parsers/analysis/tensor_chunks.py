"""The values of a tensor, or of the difference of two, piece by piece: no second array of its size is ever needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.errors import FormatError

CHUNK = 1 << 17
"""Values in a piece."""
DIFFERENCE_MODES = ("absolute", "relative")
_EXACT = "biu"


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """array - other, or that divided by the magnitude of other (relative). Both have one shape.

    What is equal differs by 0, infinities and zeros included. Nothing is computed before it is asked for.
    """

    array: NDArray[Any]
    other: NDArray[Any]
    relative: bool = False

    def __post_init__(self) -> None:
        if self.array.shape != self.other.shape:
            raise FormatError(f"expected two tensors of one shape, found {self.array.shape} and {self.other.shape}")

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of both."""
        return self.array.shape

    @property
    def size(self) -> int:
        """How many values there are."""
        return self.array.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """What differences are given in: int64 between integers of up to 32 bits, else float64, or complex128."""
        return self[(slice(0, 0),) * self.array.ndim].dtype

    def __getitem__(self, index: tuple[int | slice, ...]) -> NDArray[Any]:
        """Differences of a part, which is named as in numpy."""
        return _subtract(np.asarray(self.array[index]), np.asarray(self.other[index]), self.relative)


Tensor = NDArray[Any] | Difference


def part(tensor: Tensor, index: tuple[int | slice, ...]) -> NDArray[Any]:
    """The values under an index; of a recorded tensor no copy is made."""
    return np.asarray(tensor[index])


def cut(tensor: Tensor, index: tuple[int | slice, ...]) -> Tensor:
    """A part of a tensor as a tensor; of a difference still nothing is computed."""
    if isinstance(tensor, Difference):
        return Difference(np.asarray(tensor.array[index]), np.asarray(tensor.other[index]), tensor.relative)
    return part(tensor, index)


def chunks(tensor: Tensor, begin: int = 0) -> Iterator[NDArray[Any]]:
    """All values from the begin-th on in row order, as one-dimensional arrays of up to CHUNK values."""
    if isinstance(tensor, Difference):
        pairs = zip(chunks(tensor.array, begin), chunks(tensor.other, begin), strict=True)
        yield from (_subtract(array, other, tensor.relative) for array, other in pairs)
        return
    # A reshape of what is not contiguous would copy all of it.
    flat = tensor.reshape(-1) if tensor.flags.c_contiguous else tensor.flat
    yield from (flat[place : place + CHUNK] for place in range(begin, tensor.size, CHUNK))


def next_bad(tensor: Tensor, begin: int = 0) -> tuple[int, ...] | None:
    """Index of the first NaN or infinity from the begin-th value on in row order, or None."""
    for values in chunks(tensor, begin):
        if values.dtype.kind in _EXACT:
            return None
        bad = ~np.isfinite(values)
        if bad.any():
            return tuple(int(number) for number in np.unravel_index(begin + int(bad.argmax()), tensor.shape))
        begin += len(values)
    return None


def row_number(index: Sequence[int], shape: Sequence[int]) -> int:
    """The place in row order of the value under an index."""
    return int(np.ravel_multi_index(tuple(index), tuple(shape))) if shape else 0


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _subtract(array: NDArray[Any], other: NDArray[Any], relative: bool) -> NDArray[Any]:
    equal = array == other
    left, right = _comparable(array, other)
    difference = np.asarray(left - right)
    if relative:
        difference = np.asarray(difference / np.abs(right))
    elif difference.dtype.kind in _EXACT:
        return difference
    if difference.dtype == np.longdouble:
        difference = difference.astype(np.float64)
    difference[equal] = 0
    return difference


def _comparable(array: NDArray[Any], other: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both in a dtype in which they can be subtracted without loss where there is one."""
    kinds = array.dtype.kind + other.dtype.kind
    if "c" in kinds:
        target: Any = np.complex128
    elif set(kinds) <= set(_EXACT):
        target = np.int64 if max(array.itemsize, other.itemsize) <= 4 else np.longdouble
    else:
        target = np.float64
    return array.astype(target), other.astype(target)
