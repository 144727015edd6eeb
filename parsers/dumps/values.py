"""The values of one tensor of a dump, read by position in chunks: from .npy, .pt, and binary files of devices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.dumps.formats import reordered
from parsers.dumps.npy import read_header
from parsers.dumps.statistics import TensorStatistics, statistics_of
from parsers.dumps.torch_files import TorchTensor, read_record
from parsers.errors import FormatError
from parsers.files import RegularFile

CHUNK_BYTES = 1 << 20
Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class TensorPlace:
    """Where the values of a tensor are: a file of its own (offset -1), or a part of a file with a known type and shape.

    dtype is that of numpy or bfloat16. format is the layout of the values, original the shape on the host if they have another
    one on the device.
    """

    path: str
    offset: int = -1
    size: int = 0
    dtype: str = ""
    shape: tuple[int, ...] = ()
    format: str = ""
    original: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TensorHeader:
    """What is known of a tensor once its header has been read: dtype (bfloat16 and those of numpy), shape, number of values."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of values."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class _Layout:
    """How the values lie in the file: type of one stored value, number of stored values, where they begin, how to view them."""

    header: TensorHeader
    stored: np.dtype[np.generic]
    count: int
    offset: int
    fortran_order: bool = False
    torch: TorchTensor | None = None
    place: TensorPlace | None = None


def read_tensor_header(place: TensorPlace) -> TensorHeader:
    """Return type and shape of a tensor; FormatError if its file is damaged, OSError if it cannot be read."""
    with RegularFile(place.path) as file:
        return _layout(file, place).header


def read_tensor(place: TensorPlace) -> Array:
    """Return the whole tensor; bfloat16 as float32. FormatError for damage, OSError if it cannot be read."""
    with RegularFile(place.path) as file:
        layout = _layout(file, place)
        found = np.empty(layout.count, layout.stored)
        got = file.fill(found.view(np.uint8).data, layout.offset) if layout.count else 0
        if got < found.nbytes:
            raise FormatError(f"truncated: expected {found.nbytes:,} bytes of values, found {got:,}: the file was cut")
    values = _widened(found, layout.header.dtype)
    if layout.torch is not None:
        return _viewed(values, layout.torch)
    if layout.place is not None and layout.place.format:
        return reordered(values.reshape(layout.place.shape), layout.place.format, layout.place.original)
    try:
        return values.reshape(layout.header.shape, order="F" if layout.fortran_order else "C")
    except ValueError as error:
        raise FormatError(f"expected a shape that numpy allows, found {layout.header.shape}") from error


def chunks(place: TensorPlace, *, size_bytes: int = CHUNK_BYTES) -> Iterator[Array]:
    """Yield the values in pieces of about this many bytes in the order of the file; bfloat16 as float32.

    A piece is overwritten by the next one. Values that padding or strides would repeat or leave out make the whole tensor one
    piece.
    """
    with RegularFile(place.path) as file:
        yield from _pieces(file, _layout(file, place), place, size_bytes)


def measure(place: TensorPlace) -> tuple[TensorHeader, TensorStatistics]:
    """Return header and statistics of a tensor, opening its file once. Errors as for `read_tensor`."""
    with RegularFile(place.path) as file:
        layout = _layout(file, place)
        return layout.header, statistics_of(_pieces(file, layout, place, CHUNK_BYTES))


def _pieces(file: RegularFile, layout: _Layout, place: TensorPlace, size_bytes: int) -> Iterator[Array]:
    if not _plain(layout):
        yield np.ascontiguousarray(read_tensor(place)).reshape(-1)
    else:
        step = max(size_bytes // layout.stored.itemsize, 1)
        buffer = np.empty(min(step, layout.count), layout.stored)
        raw = buffer.view(np.uint8).data
        at = 0
        while at < layout.count:
            count = min(step, layout.count - at)
            wanted = count * layout.stored.itemsize
            got = file.fill(raw[:wanted], layout.offset + at * layout.stored.itemsize)
            if got < wanted:
                raise FormatError(f"truncated: expected {wanted:,} bytes of values, found {got:,}: the file was cut")
            yield _widened(buffer[:count], layout.header.dtype)
            at += count


def _plain(layout: _Layout) -> bool:
    if layout.torch is not None:
        return layout.torch.contiguous and math.prod(layout.torch.shape) == layout.count
    return layout.place is None or layout.place.original in ((), layout.place.shape)


def _layout(file: RegularFile, place: TensorPlace) -> _Layout:
    if place.offset >= 0:
        return _part(file, place)
    if place.path.endswith(".pt"):
        record = read_record(file)
        stored = _stored(record.dtype)
        if record.big_endian:
            stored = stored.newbyteorder(">")
        return _Layout(
            TensorHeader(record.dtype, record.shape), stored, record.size_bytes // stored.itemsize, record.offset, torch=record
        )
    header = read_header(file)
    dtype = header.dtype.newbyteorder("=").name if header.dtype.kind not in "SU" else str(header.dtype)
    return _Layout(TensorHeader(dtype, header.shape), header.dtype, header.size, header.offset, header.fortran_order)


def _part(file: RegularFile, place: TensorPlace) -> _Layout:
    stored = _stored(place.dtype)
    count = math.prod(place.shape)
    if count * stored.itemsize != place.size:
        raise FormatError(f"the shape does not match the bytes: expected {count * stored.itemsize:,}, found {place.size:,}")
    if place.offset + place.size > file.size:
        raise FormatError(f"truncated: expected {place.size:,} bytes of values, found {max(file.size - place.offset, 0):,}")
    reordered(None, place.format, place.original, place.shape)
    return _Layout(TensorHeader(place.dtype, place.original or place.shape), stored, count, place.offset, place=place)


def _stored(dtype: str) -> np.dtype[np.generic]:
    if dtype == "bfloat16":
        return np.dtype("<u2")
    try:
        found = np.dtype(dtype)
    except TypeError as error:
        raise FormatError(f"expected a type that can be read, found {dtype or 'an unknown one'}") from error
    return found.newbyteorder("<")


def _widened(values: Array, dtype: str) -> Array:
    """Return bfloat16 as float32, and anything in the byte order of this machine."""
    if dtype == "bfloat16":
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def _viewed(values: Array, record: TorchTensor) -> Array:
    if record.contiguous:
        count = math.prod(record.shape)
        return values[record.first : record.first + count].reshape(record.shape)
    strides = [step * values.itemsize for step in record.stride]
    view = np.lib.stride_tricks.as_strided(values[record.first :], record.shape, strides, writeable=False)
    return np.ascontiguousarray(view)
