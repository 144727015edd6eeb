"""Writes event files that the readers of MindSpore and TensorBoard accept: for users, the demo and tests.

    with EventWriter("run/events.out.events.summary.1700000000.0.host_MS", "mindspore") as writer:
        writer.add(1, {"loss": 0.5, "fc.weight": Histogram(weights)})

Like the originals, it puts all values of a step into one event for MindSpore, and one value into each for TensorBoard.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from struct import Struct
from types import TracebackType
from typing import BinaryIO, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsers.errors import FormatError
from parsers.events.checksums import masked

_u32, _u64, _f64 = Struct("<I").pack, Struct("<Q").pack, Struct("<d").pack


@dataclass(frozen=True)
class Histogram:
    """The distribution of the values of an array."""

    values: ArrayLike


@dataclass(frozen=True)
class Tensor:
    """An array. MindSpore stores all dtypes as float32."""

    values: ArrayLike


@dataclass(frozen=True)
class Image:
    """An encoded image (PNG); colorspace 1 is grey, 3 RGB, 4 RGBA."""

    encoded: bytes
    height: int
    width: int
    colorspace: int = 3


@dataclass(frozen=True)
class Text:
    """A text; TensorBoard only."""

    text: str


Value: TypeAlias = float | Histogram | Tensor | Image | Text
MINDSPORE_DTYPES = {
    "bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint16": 7, "uint32": 8, "uint64": 9,
    "float16": 10, "float32": 11, "float64": 12,
}  # fmt: skip
TENSORFLOW_DTYPES = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "int64": 9, "bool": 10, "uint16": 17,
    "float16": 19, "uint32": 22, "uint64": 23,
}  # fmt: skip
TENSORFLOW_STRING = 7


def varint(value: int) -> bytes:
    """Encode a number as a varint; negative ones take ten bytes."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    """A varint field."""
    return varint(field << 3) + varint(value)


def float32(field: int, value: float) -> bytes:
    """A float field."""
    return varint(field << 3 | 5) + _float32(value)


def _float32(value: ArrayLike) -> bytes:
    with np.errstate(over="ignore", invalid="ignore"):  # numbers beyond float32 become Inf
        return np.asarray(value).astype("<f4").tobytes()


def float64(field: int, value: float) -> bytes:
    """A double field."""
    return varint(field << 3 | 1) + _f64(value)


def delimited(field: int, value: bytes) -> bytes:
    """A string, bytes, packed or message field."""
    return varint(field << 3 | 2) + varint(len(value)) + value


def record(data: bytes) -> bytes:
    """One record: length, its CRC, data, their CRC."""
    header = _u64(len(data))
    return b"".join((header, _u32(masked(header)), data, _u32(masked(data))))


class EventWriter:
    """Writes one event file. layout is "mindspore" or "tensorboard"; tensor_scalars writes TensorBoard's scalars as tensors.

    The file is created at once with its version record. Records are buffered until `flush()` or `close()`.
    """

    def __init__(
        self, path: str, layout: str, *, wall_time: float | None = None, tensor_scalars: bool = False
    ) -> None:
        if layout not in ("mindspore", "tensorboard"):
            raise FormatError(f'layout: expected "mindspore" or "tensorboard", found {layout!r}')
        self._mindspore, self._tensor_scalars = layout == "mindspore", tensor_scalars
        self._described: set[str] = set()
        self._file: BinaryIO = open(path, "xb")  # noqa: SIM115  closed by close()
        version = b"MindSpore.Event:1" if self._mindspore else b"brain.Event:2"
        self._write(_now(wall_time) + delimited(3, version))

    def __enter__(self) -> EventWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def add(self, step: int, values: Mapping[str, Value], *, wall_time: float | None = None) -> None:
        """Add the values of a step by tag. wall_time is in seconds, by default now."""
        head = _now(wall_time) + (number(2, step) if step else b"")
        encode = self._mindspore_value if self._mindspore else self._tensorboard_value
        encoded = [delimited(1, delimited(1, tag.encode()) + encode(tag, value)) for tag, value in values.items()]
        for summary in [b"".join(encoded)] if self._mindspore else encoded:
            self._write(head + delimited(5, summary))

    def add_graph(self, graph: bytes, *, wall_time: float | None = None) -> None:
        """Add a serialised graph: MindSpore's GraphProto or TensorFlow's GraphDef."""
        self._write(_now(wall_time) + delimited(4, graph))

    def flush(self) -> None:
        """Write buffered records to the file."""
        self._file.flush()

    def close(self) -> None:
        """Flush and close the file."""
        self._file.close()

    def _write(self, message: bytes) -> None:
        self._file.write(record(message))

    def _mindspore_value(self, tag: str, value: Value) -> bytes:
        if isinstance(value, Image):
            size = number(1, value.height) + number(2, value.width) + number(3, value.colorspace)
            return delimited(4, size + delimited(4, value.encoded))
        if isinstance(value, Histogram):
            return delimited(9, _mindspore_histogram(value))
        if isinstance(value, Tensor):
            array = np.asarray(value.values)
            dims = b"".join(number(1, size) for size in array.shape)
            dtype = number(2, _dtype(MINDSPORE_DTYPES, array, tag))
            return delimited(8, dims + dtype + delimited(3, _float32(array)))
        if isinstance(value, Text):
            raise FormatError(f"{tag}: MindSpore event files cannot hold text; write an event file of TensorBoard")
        return float32(3, value)

    def _tensorboard_value(self, tag: str, value: Value) -> bytes:
        if isinstance(value, Image):
            size = number(1, value.height) + number(2, value.width) + number(3, value.colorspace)
            return delimited(4, size + delimited(4, value.encoded))
        if isinstance(value, Histogram):
            return delimited(5, _tensorboard_histogram(value))
        if isinstance(value, Tensor):
            array = np.asarray(value.values)
            return delimited(8, _tensorboard_tensor(array, tag)) + self._metadata(tag, "tensors")
        if isinstance(value, Text):
            tensor = number(1, TENSORFLOW_STRING) + delimited(2, delimited(2, number(1, 1))) + delimited(8, value.text.encode())
            return delimited(8, tensor) + self._metadata(tag, "text")
        if self._tensor_scalars:
            tensor = number(1, TENSORFLOW_DTYPES["float32"]) + delimited(2, b"") + delimited(5, _float32(value))
            return delimited(8, tensor) + self._metadata(tag, "scalars")
        return float32(2, value)

    def _metadata(self, tag: str, plugin: str) -> bytes:
        """Return the metadata with a tag's plugin, which TensorFlow writes into the first event of the tag only."""
        if tag in self._described:
            return b""
        self._described.add(tag)
        return delimited(9, delimited(1, delimited(1, plugin.encode())))


def _now(wall_time: float | None) -> bytes:
    return float64(1, time.time() if wall_time is None else wall_time)


def _dtype(known: Mapping[str, int], array: NDArray[np.generic], tag: str) -> int:
    if array.dtype.name not in known:
        raise FormatError(f"{tag}: expected an array of {', '.join(known)}; found {array.dtype.name}")
    return known[array.dtype.name]


def _tensorboard_tensor(array: NDArray[np.generic], tag: str) -> bytes:
    shape = b"".join(delimited(2, number(1, size)) for size in array.shape)
    content = array.astype(array.dtype.newbyteorder("<")).tobytes()
    return number(1, _dtype(TENSORFLOW_DTYPES, array, tag)) + delimited(2, shape) + delimited(4, content)


def _finite(histogram: Histogram) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    values = np.asarray(histogram.values, np.float64).ravel()
    return values, values[np.isfinite(values)]


def _buckets(finite: NDArray[np.float64], count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return counts and edges: no bucket for no values, one if float64 has no room for more between the limits."""
    if not len(finite):
        return np.empty(0, np.int64), np.empty(1)
    try:
        counts, edges = np.histogram(finite, bins=count)
    except ValueError:
        return np.array([len(finite)]), np.array([finite.min(), finite.max()])
    return counts, edges


def _mindspore_histogram(histogram: Histogram) -> bytes:
    values, finite = _finite(histogram)
    counts, edges = _buckets(finite, bin_count(len(finite)))
    buckets = b"".join(
        delimited(1, float64(1, left) + float64(2, right - left) + number(3, int(count)))
        for left, right, count in zip(edges[:-1], edges[1:], counts, strict=True)
    )
    kinds = (np.isnan(values), np.isposinf(values), np.isneginf(values))
    apart = b"".join(number(2 + i, int(kind.sum())) for i, kind in enumerate(kinds))
    limits = (finite.max(), finite.min(), finite.sum()) if len(finite) else (0.0, 0.0, 0.0)
    return buckets + apart + b"".join(float64(5 + i, float(x)) for i, x in enumerate(limits)) + number(8, len(values))


def bin_count(count: int) -> int:
    """Return the number of buckets MindSpore gives a histogram of this many values."""
    for limit, bins in ((0, 1), (5, 2), (10, 3)):
        if count <= limit:
            return bins
    return count // 10 + 1 if count <= 880 else 90


def _tensorboard_histogram(histogram: Histogram) -> bytes:
    _, finite = _finite(histogram)
    counts, edges = _buckets(finite, 30)
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    moments = (low, high, len(finite), finite.sum(), (finite * finite).sum())
    fields = b"".join(float64(1 + i, float(x)) for i, x in enumerate(moments))
    return fields + delimited(6, edges[1:].astype("<f8").tobytes()) + delimited(7, counts.astype("<f8").tobytes())

