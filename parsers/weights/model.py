"""The weights in a checkpoint: where each tensor is in its file, and reading it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsers.errors import FormatError
from parsers.files import RegularFile

BFLOAT16 = "bfloat16"
WIDENED = frozenset(("float16", BFLOAT16))
"""Types that are read as float32."""
MOST_TENSORS = 1_000_000
LONGEST_DIRECTORY = 48 << 20
"""Bytes of the directory of an archive, which has at most a million members then."""
MOST_DIMENSIONS = 32


class StoredBytes(NamedTuple):
    """Bytes of a file."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class WeightTensor:
    """A tensor in a file: the name of its numpy type or "bfloat16", its shape, and its bytes, in one or several pieces.

    fortran: the first index runs fastest. stride and first, in values, if it is a view of what is stored.
    """

    dtype: str
    shape: tuple[int, ...]
    pieces: tuple[StoredBytes, ...]
    big_endian: bool = False
    fortran: bool = False
    stride: tuple[int, ...] | None = None
    first: int = 0

    @property
    def size(self) -> int:
        """Number of values."""
        return math.prod(self.shape)

    @property
    def floating(self) -> bool:
        """Whether the values are real numbers of limited precision."""
        return self.dtype == BFLOAT16 or np.dtype(self.dtype).kind == "f"


class Weights:
    """The tensors of an open checkpoint by name, in its order. Use it as a context: it holds the file open."""

    def __init__(self, file: RegularFile, kind: str, tensors: Mapping[str, WeightTensor]) -> None:
        self.kind, self.tensors = kind, tensors
        self._file = file

    def __enter__(self) -> Weights:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.__exit__(kind, error, trace)

    @property
    def path(self) -> str:
        """The file."""
        return self._file.path

    def read(self, name: str) -> NDArray[Any]:
        """Return a tensor in its shape; float16 and bfloat16 as float32. KeyError, or FormatError for a file that was cut."""
        tensor = self.tensors[name]
        values = self._values(tensor, 0, sum(piece.size for piece in tensor.pieces) // item_size(tensor.dtype))
        if tensor.stride is not None:
            bytes_apart = tuple(step * values.itemsize for step in tensor.stride)
            view = np.lib.stride_tricks.as_strided(values[tensor.first :], tensor.shape, bytes_apart, writeable=False)
            return np.ascontiguousarray(view).reshape(tensor.shape)
        return values.reshape(tensor.shape, order="F" if tensor.fortran else "C")

    def blocks(self, name: str, count: int) -> Iterator[NDArray[Any]]:
        """Yield the values of a tensor in the order of its shape, `count` at a time. Errors as for `read`."""
        tensor = self.tensors[name]
        if tensor.stride is not None or tensor.fortran:
            whole = self.read(name).reshape(-1)
            yield from (whole[at : at + count] for at in range(0, whole.size, count))
            return
        for at in range(0, tensor.size, count):
            yield self._values(tensor, at, min(count, tensor.size - at))

    def _values(self, tensor: WeightTensor, first: int, count: int) -> NDArray[Any]:
        """Return `count` stored values from one on."""
        item = item_size(tensor.dtype)
        raw = bytearray(count * item)
        view, start, filled = memoryview(raw), first * item, 0
        for piece in tensor.pieces:
            if start < piece.size and filled < len(raw):
                wanted = min(piece.size - start, len(raw) - filled)
                got = self._file.fill(view[filled : filled + wanted], piece.offset + start)
                filled += got
                if got < wanted:
                    break
            start = max(start - piece.size, 0)
        if filled < len(raw):
            raise FormatError(f"{self.path}: expected {len(raw):,} bytes of a tensor, found {filled:,}; the file was cut")
        return as_numbers(raw, tensor.dtype, big_endian=tensor.big_endian)


def as_numbers(raw: bytes | bytearray, dtype: str, *, big_endian: bool = False) -> NDArray[Any]:
    """Return raw bytes as numbers of this machine's byte order; float16 and bfloat16 as float32."""
    if dtype == BFLOAT16:
        return (np.frombuffer(raw, ">u2" if big_endian else "<u2").astype(np.uint32) << 16).view(np.float32)
    found = np.frombuffer(raw, np.dtype(dtype).newbyteorder(">" if big_endian else "<"))
    return found.astype(np.float32 if dtype in WIDENED else np.dtype(dtype), copy=False)


def item_size(dtype: str) -> int:
    """Return the bytes of a value of a type by its name."""
    return 2 if dtype == BFLOAT16 else np.dtype(dtype).itemsize


def checked(name: str, tensor: WeightTensor, file_size: int) -> WeightTensor:
    """Return a tensor whose bytes lie in its file and are as many as its shape says. Raises FormatError."""
    if len(tensor.shape) > MOST_DIMENSIONS or not 0 <= min(tensor.shape, default=0) <= max(tensor.shape, default=0) < 1 << 64:
        raise FormatError(f"{name[:200]}: expected up to {MOST_DIMENSIONS} sizes from 0 of 64 bits, found others")
    found = sum(piece.size for piece in tensor.pieces)
    wanted = tensor.size * item_size(tensor.dtype)
    if tensor.stride is None and found != wanted:
        raise FormatError(f"{name[:200]}: expected {wanted:,} bytes by its shape, found {found:,}")
    for piece in tensor.pieces:
        if piece.offset < 0 or piece.size < 0 or piece.offset + piece.size > file_size:
            raise FormatError(
                f"{name[:200]}: expected its bytes within the {file_size:,} of the file, found them up to "
                f"{piece.offset + piece.size:,}; the file was cut, or is damaged"
            )
    return tensor
