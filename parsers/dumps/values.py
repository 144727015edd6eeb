"""The values of one tensor of a dump, read by position in chunks: from .npy, .pt, and binary files of devices."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.dumps.formats import reordered
from parsers.dumps.npy import read_header
from parsers.dumps.statistics import Scratch, Sums, TensorStatistics, statistics_of, sums_of
from parsers.dumps.torch_files import TorchTensor, read_record
from parsers.errors import FormatError
from parsers.files import RegularFile
from parsers.profiler.progress import report_read

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


def measure(place: TensorPlace, scratch: Scratch | None = None) -> tuple[TensorHeader, TensorStatistics]:
    """Return header and statistics of a tensor, opening its file once. Errors as for `read_tensor`.

    scratch is given if many tensors are measured one after the other.
    """
    with RegularFile(place.path) as file:
        layout = _layout(file, place)
        return layout.header, statistics_of(_pieces(file, layout, place, CHUNK_BYTES, scratch=scratch), scratch)


def parts(place: TensorPlace, size_bytes: int) -> tuple[TensorHeader, list[tuple[int, int]]]:
    """Return (header, parts of about this many bytes as (first value, number of values)) for `measure_part`.

    No parts if the values can only be measured together: texts, and those with padding or strides. Errors as for `read_tensor`.
    """
    with RegularFile(place.path) as file:
        layout = _layout(file, place)
    if not _plain(layout) or layout.stored.kind in "SU":
        return layout.header, []
    step = max(size_bytes // layout.stored.itemsize, 1)
    return layout.header, [(at, min(step, layout.count - at)) for at in range(0, layout.count, step)]


def measure_part(place: TensorPlace, first: int, count: int, scratch: Scratch | None = None) -> Sums:
    """Return what statistics of a part of the values are made of; `Sums.join` joins parts. Errors as for `read_tensor`."""
    with RegularFile(place.path) as file:
        layout = _layout(file, place)
        end = min(first + count, layout.count)
        return sums_of(_pieces(file, layout, place, CHUNK_BYTES, first, end, scratch), scratch)


class StoredTensor:
    """A tensor in its file: only the values under an index are read, so it may be larger than memory.

    Values that the file does not have in row order are read whole at first use. Errors as for `read_tensor`.
    """

    def __init__(self, place: TensorPlace) -> None:
        self._place = place
        with RegularFile(place.path) as file:
            self._layout = layout = _layout(file, place)
        self.shape = layout.header.shape
        self.size = layout.header.size
        self.dtype: np.dtype[Any] = _widened(np.empty(0, layout.stored), layout.header.dtype).dtype
        self._whole: Array | None = None
        if (layout.fortran_order and len(self.shape) > 1) or not _plain(layout):
            self._whole = read_tensor(place)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def __getitem__(self, index: tuple[int | slice, ...]) -> Array:
        """Return a copy of the values under an index or a range of steps of 1 for each dimension, as numpy does."""
        if self._whole is not None:
            return np.array(self._whole[index])
        ranges = [part.indices(size)[:2] if isinstance(part, slice) else (part % size, part % size + 1)
                  for part, size in zip(index, self.shape, strict=True)]  # fmt: skip
        extents = [max(stop - start, 0) for start, stop in ranges]
        found = np.empty(math.prod(extents), self.dtype)
        inner = len(extents)  # from this dimension on, values lie one after the other
        while inner and extents[inner - 1] == self.shape[inner - 1]:
            inner -= 1
        inner = max(inner - 1, 0)
        steps = [math.prod(self.shape[number + 1 :]) for number in range(len(extents))]
        run = math.prod(extents[inner:])
        first = sum(start * step for (start, _), step in zip(ranges, steps, strict=True))
        with RegularFile(self._place.path) as file:
            for number, outer in enumerate(np.ndindex(*extents[:inner]) if found.size else ()):
                at = first + sum(place * step for place, step in zip(outer, steps, strict=False))
                found[number * run : (number + 1) * run] = self._read(file, at, run)
        return found.reshape([extent for part, extent in zip(index, extents, strict=True) if isinstance(part, slice)])

    def reshape(self, shape: tuple[int, ...]) -> StoredTensor:
        """Return the same values, in row order, in another shape of as many values."""
        found = copy.copy(self)
        found.shape = shape
        if self._whole is not None:
            found._whole = self._whole.reshape(shape)
        return found

    def pieces(self, begin: int, count: int) -> Iterator[Array]:
        """Yield the values from a position in row order on, count at a time."""
        if self._whole is not None:
            flat = self._whole.reshape(-1)
            yield from (flat[at : at + count] for at in range(begin, self.size, count))
            return
        with RegularFile(self._place.path) as file:
            for at in range(begin, self.size, count):
                yield self._read(file, at, min(count, self.size - at))

    def _read(self, file: RegularFile, at: int, count: int) -> Array:
        stored = self._layout.stored
        values = np.empty(count, stored)
        got = file.fill(values.view(np.uint8).data, self._layout.offset + at * stored.itemsize)
        if got < values.nbytes:
            raise FormatError(f"truncated: expected {values.nbytes:,} bytes of values, found {got:,}: the file was cut")
        return _widened(values, self._layout.header.dtype)


def _pieces(
    file: RegularFile,
    layout: _Layout,
    place: TensorPlace,
    size_bytes: int,
    first: int = 0,
    end: int | None = None,
    scratch: Scratch | None = None,
) -> Iterator[Array]:
    """Yield the values from first up to end in pieces; of a layout that is not plain all of them at once."""
    if not _plain(layout):
        yield np.ascontiguousarray(read_tensor(place)).reshape(-1)
    else:
        step = max(size_bytes // layout.stored.itemsize, 1)
        end = layout.count if end is None else end
        buffer = (scratch or Scratch()).bytes_of(min(step, max(end - first, 0)), layout.stored)
        raw = buffer.view(np.uint8).data
        at = first
        while at < end:
            count = min(step, end - at)
            wanted = count * layout.stored.itemsize
            got = file.fill(raw[:wanted], layout.offset + at * layout.stored.itemsize)
            if got < wanted:
                raise FormatError(f"truncated: expected {wanted:,} bytes of values, found {got:,}: the file was cut")
            report_read(wanted)
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
