"""Reads a tensor, or the difference of two, in chunks, so that no second array of its size is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from parsers.errors import FormatError

CHUNK = 1 << 17
"""Values per chunk."""
DIFFERENCE_MODES = ("absolute", "relative")
_EXACT = "biu"


@dataclass(frozen=True, slots=True, eq=False)
class TensorDifference:
    """array - other, or that divided by the magnitude of other (relative). Both have one shape.

    Equal values differ by 0, infinities and zeros included. Values are computed on demand.
    """

    array: Values
    other: Values
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
        """Number of values."""
        return self.array.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the differences: int64 between integers of up to 32 bits, else float64 or complex128."""
        return self[(slice(0, 0),) * self.array.ndim].dtype

    def __getitem__(self, index: tuple[int | slice, ...]) -> NDArray[Any]:
        """Return the differences under a numpy index."""
        return _subtract(np.asarray(self.array[index]), np.asarray(self.other[index]), self.relative)


class IndexedTensor(Protocol):
    """A tensor whose values are read where they are indexed, such as `parsers.dumps.values.StoredTensor`."""

    shape: tuple[int, ...]
    size: int
    dtype: np.dtype[Any]

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        ...

    def __getitem__(self, index: tuple[int | slice, ...]) -> NDArray[Any]:
        """Return the values under an index or a range for each dimension."""
        ...

    def reshape(self, shape: tuple[int, ...]) -> IndexedTensor:
        """Return the same values, in row order, in another shape."""
        ...

    def pieces(self, begin: int, count: int) -> Iterator[NDArray[Any]]:
        """Yield the values from a position in row order on, count at a time."""
        ...


Values = NDArray[Any] | IndexedTensor
Tensor = Values | TensorDifference


def part(tensor: Tensor, index: tuple[int | slice, ...]) -> NDArray[Any]:
    """Return the values under an index; a recorded tensor is not copied."""
    return np.asarray(tensor[index])


def cut(tensor: Tensor, index: tuple[int | slice, ...]) -> Tensor:
    """Return a part of a tensor as a tensor; a difference is still not computed."""
    if isinstance(tensor, TensorDifference):
        return TensorDifference(part(tensor.array, index), part(tensor.other, index), tensor.relative)
    return part(tensor, index)


def chunks(tensor: Tensor, begin: int = 0) -> Iterator[NDArray[Any]]:
    """Yield all values from the begin-th on in row order, as one-dimensional arrays of up to CHUNK values."""
    if isinstance(tensor, TensorDifference):
        pairs = zip(chunks(tensor.array, begin), chunks(tensor.other, begin), strict=True)
        yield from (_subtract(array, other, tensor.relative) for array, other in pairs)
        return
    if not isinstance(tensor, np.ndarray):
        yield from tensor.pieces(begin, CHUNK)
        return
    # Reshaping a non-contiguous array would copy it.
    flat = tensor.reshape(-1) if tensor.flags.c_contiguous else tensor.flat
    yield from (flat[place : place + CHUNK] for place in range(begin, tensor.size, CHUNK))


def next_bad(tensor: Tensor, begin: int = 0) -> tuple[int, ...] | None:
    """Return the index of the first NaN or infinity from the begin-th value on in row order, or None."""
    for values in chunks(tensor, begin):
        if values.dtype.kind in _EXACT:
            return None
        bad = ~np.isfinite(values)
        if bad.any():
            return tuple(int(number) for number in np.unravel_index(begin + int(bad.argmax()), tensor.shape))
        begin += len(values)
    return None


def row_number(index: Sequence[int], shape: Sequence[int]) -> int:
    """Return the position in row order of the value under an index."""
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
    """Convert both to a dtype in which they can be subtracted, without loss if there is one."""
    kinds = array.dtype.kind + other.dtype.kind
    if "c" in kinds:
        target: Any = np.complex128
    elif set(kinds) <= set(_EXACT):
        target = np.int64 if max(array.itemsize, other.itemsize) <= 4 else np.longdouble
    else:
        target = np.float64
    return array.astype(target), other.astype(target)
