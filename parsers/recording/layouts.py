"""Encodes the values of a step as events of MindSpore's layout or TensorBoard's.

Formats: MindSpore's `summary.proto`; TensorFlow's `event.proto`, `summary.proto` and `tensor.proto`. A step is one event in
both: readers of either take any number of values from an event.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import RecordingError
from .histograms import mindspore_counted, mindspore_histogram, tensorboard_counted, tensorboard_histogram
from .values import CountedHistogram, Histogram, Image, Landscape, Surface, Tensor, Text, Value, array_of
from .wire import delimited, number, packed_float32, record, text, varint

MINDSPORE_DTYPES = {
    "bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint16": 7, "uint32": 8, "uint64": 9,
    "float16": 10, "float32": 11, "float64": 12,
}  # fmt: skip
TENSORFLOW_DTYPES = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "int64": 9, "bool": 10, "uint16": 17,
    "float16": 19, "uint32": 22, "uint64": 23,
}  # fmt: skip
TENSORFLOW_STRING = 7
_f32 = Struct("<f").pack
_begin = Struct("<Bd").pack
_WALL_TIME = 1 << 3 | 1
_MOST_TAGS = 100_000
"""Tags whose encoded form is kept; a training that makes names without end must not fill the memory."""


class Layout(ABC):
    """Encodes events of one file: it knows which tags that file has described."""

    version: bytes
    scalar_field: int

    def __init__(self) -> None:
        self._heads: dict[str, bytes] = {}

    def opening(self, wall_time: float) -> bytes:
        """Return the record with which a file begins. wall_time is in seconds since 1970."""
        return record(_begin(_WALL_TIME, wall_time) + delimited(3, self.version))

    def step(self, step: int, wall_time: float, values: Mapping[str, Value]) -> bytes:
        """Return the record of a step; values are by tag. RecordingError for a value that the layout cannot hold."""
        parts = []
        heads = self._heads
        for tag, value in values.items():
            if type(value) is float:
                try:
                    parts.append(heads[tag])
                    parts.append(_f32(value))
                except KeyError:
                    parts.append(self._head(tag))
                    parts.append(packed_float32(value))
                except OverflowError:  # beyond float32
                    parts.append(packed_float32(value))
            else:
                parts.append(delimited(1, text(1, tag) + self.encoded(tag, value)))
        summary = b"".join(parts)
        head = _begin(_WALL_TIME, wall_time) + (b"\x10" + varint(step) if step else b"")
        return record(head + b"\x2a" + varint(len(summary)) + summary)

    def graph(self, graph: bytes, wall_time: float) -> bytes:
        """Return the record of a serialised graph: MindSpore's GraphProto or TensorFlow's GraphDef."""
        return record(_begin(_WALL_TIME, wall_time) + delimited(4, graph))

    @abstractmethod
    def encoded(self, tag: str, value: Value) -> bytes:
        """Return the fields of a `Summary.Value` beside its tag."""

    def _head(self, tag: str) -> bytes:
        """Return all bytes of a scalar's `Summary.Value` before the four of its number."""
        if len(self._heads) >= _MOST_TAGS:
            self._heads.clear()
        value = text(1, tag) + varint(self.scalar_field << 3 | 5)
        head = self._heads[tag] = varint(1 << 3 | 2) + varint(len(value) + 4) + value
        return head


class MindSporeLayout(Layout):
    """Events as `SummaryRecord` of MindSpore writes them."""

    version = b"MindSpore.Event:1"
    scalar_field = 3

    def encoded(self, tag: str, value: Value) -> bytes:
        """Return the fields of a `Summary.Value` beside its tag."""
        if isinstance(value, Image):
            return delimited(4, _image(value))
        if isinstance(value, Histogram):
            return delimited(9, mindspore_histogram(value.values))
        if isinstance(value, CountedHistogram):
            return delimited(9, mindspore_counted(value))
        if isinstance(value, Tensor):
            return delimited(8, _mindspore_tensor(array_of(value.values), tag))
        if isinstance(value, Landscape):
            return delimited(10, _landscape(value))
        if isinstance(value, Text):
            raise RecordingError(f"{tag}: MindSpore event files cannot hold text; write an event file of TensorBoard")
        return varint(3 << 3 | 5) + packed_float32(value)


class TensorBoardLayout(Layout):
    """Events as TensorFlow, torch and TensorBoard read them."""

    version = b"brain.Event:2"
    scalar_field = 2

    def __init__(self) -> None:
        super().__init__()
        self._described: set[str] = set()

    def encoded(self, tag: str, value: Value) -> bytes:
        """Return the fields of a `Summary.Value` beside its tag."""
        if isinstance(value, Image):
            return delimited(4, _image(value))
        if isinstance(value, Histogram):
            return delimited(5, tensorboard_histogram(value.values))
        if isinstance(value, CountedHistogram):
            return delimited(5, tensorboard_counted(value))
        if isinstance(value, _TensorScalar):
            tensor = number(1, TENSORFLOW_DTYPES["float32"]) + delimited(2, b"") + varint(5 << 3 | 5) + packed_float32(value)
            return delimited(8, tensor) + self._metadata(tag, "scalars")
        if isinstance(value, Tensor):
            tensor = _tensorboard_tensor(array_of(value.values), tag)
            return delimited(8, tensor) + self._metadata(tag, value.plugin, value.content)
        if isinstance(value, Text):
            tensor = number(1, TENSORFLOW_STRING) + delimited(2, delimited(2, number(1, 1))) + text(8, value.text)
            return delimited(8, tensor) + self._metadata(tag, "text")
        if isinstance(value, Landscape):
            raise RecordingError(f"{tag}: TensorBoard event files cannot hold a loss landscape; write one of MindSpore")
        return varint(2 << 3 | 5) + packed_float32(value)

    def _metadata(self, tag: str, plugin: str, content: bytes = b"") -> bytes:
        """Return the metadata with a tag's plugin, which TensorFlow writes into the first event of the tag only."""
        if tag in self._described:
            return b""
        self._described.add(tag)
        return delimited(9, delimited(1, text(1, plugin) + (delimited(2, content) if content else b"")))


class TensorScalarsLayout(TensorBoardLayout):
    """Events whose scalars are tensors, as TensorFlow 2 writes them."""

    def step(self, step: int, wall_time: float, values: Mapping[str, Value]) -> bytes:
        """Return the record of a step; values are by tag. RecordingError for a value that the layout cannot hold."""
        tensors = {tag: _TensorScalar(value) if isinstance(value, float) else value for tag, value in values.items()}
        return super().step(step, wall_time, tensors)


class _TensorScalar(float):
    """A number that is written as a tensor."""


def _image(value: Image) -> bytes:
    return number(1, value.height) + number(2, value.width) + number(3, value.colorspace) + delimited(4, value.encoded)


def _dtype(known: Mapping[str, int], array: NDArray[Any], tag: str) -> int:
    if array.dtype.name not in known:
        raise RecordingError(f"{tag}: expected an array of {', '.join(known)}; found {array.dtype.name}")
    return known[array.dtype.name]


def _mindspore_tensor(array: NDArray[Any], tag: str) -> bytes:
    dims = b"".join(number(1, size) for size in array.shape)
    return dims + number(2, _dtype(MINDSPORE_DTYPES, array, tag)) + delimited(3, packed_float32(array))


def _tensorboard_tensor(array: NDArray[Any], tag: str) -> bytes:
    shape = b"".join(delimited(2, number(1, size)) for size in array.shape)
    content = array.astype(array.dtype.newbyteorder("<")).tobytes()
    return number(1, _dtype(TENSORFLOW_DTYPES, array, tag)) + delimited(2, shape) + delimited(4, content)


def _landscape(value: Landscape) -> bytes:
    found = delimited(1, _point(value.surface))
    if value.path is not None:
        found += delimited(2, b"".join(number(1, at) for at in value.intervals) + delimited(2, _point(value.path)))
    facts = text(1, value.decomposition) + text(2, value.unit) + number(3, value.steps_per_epoch)
    end = Surface(*([coordinate] for coordinate in value.minimum))
    return found + delimited(3, facts) + delimited(4, _point(end))


def _point(surface: Surface) -> bytes:
    axes = (np.asarray(array_of(axis), np.float64) for axis in (surface.x, surface.y, surface.z))
    return b"".join(delimited(place, _mindspore_tensor(axis, "landscape")) for place, axis in enumerate(axes, 1))


def layout_of(name: str) -> type[Layout]:
    """Return the layout of a name; RecordingError for one that is unknown."""
    known: dict[str, type[Layout]] = {"mindspore": MindSporeLayout, "tensorboard": TensorBoardLayout}
    if name not in known:
        raise RecordingError(f'layout: expected "mindspore" or "tensorboard", found {name!r}')
    return known[name]

