"""Parses one message field by field: positions of wall time, step and scalars, and the bytes of its large values.

The layout of a format is data (`MessageLayout`); the parser is the same for all. Scalars are read, everything else is only
located. Fields follow the rules of protobuf: any order, the last of a repeated single field counts, a oneof holds what came
last, unknown fields are skipped.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from struct import Struct
from typing import NamedTuple, overload

import numpy as np

from parsers.events.tensors import scalar_in
from parsers.events.wire import ByteSource, WireError, signed, skip, span, varint
from parsers.names import NO_TAG

TAG_LIMIT = 1 << 16
MANY_BYTES, AT_ONCE = 256, 1 << 12
"""After this many bytes of a summary, short values are read from copies of this many bytes."""
FEW = 1024
_SHORTEST = 7
"""Bytes of a value of a float besides its tag of less than 128 bytes."""
_EMPTY_VALUES = re.compile(rb"(?:\x0a\x00)+")
WALL_TIME, STEP, VERSION, SUMMARY = 0x09, 0x10, 0x1A, 0x2A
VALUE, TAG, METADATA, TENSOR, PLUGIN_DATA, PLUGIN_NAME = 0x0A, 0x0A, 0x4A, 0x42, 0x0A, 0x0A
_f32, _f64 = Struct("<f").unpack_from, Struct("<d").unpack_from


@dataclass(frozen=True, eq=False)
class MessageLayout:
    """The layout of a format. Keys are field number << 3 | wire type.

    signature begins the version string of the first record. scalar is the key of a float in a summary value (0: there is
    none), values the kind of each large value by key, contents kind and tag of each alternative to a summary ("": ignored).
    metadata says whether values may have plugin metadata and scalars in tensors, as TensorBoard's do; plugins is
    then the kind of a tensor by the name of the plugin it is for.
    """

    signature: bytes
    scalar: int = 0
    values: Mapping[int, str] = field(default_factory=dict)
    contents: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    summary: bool = True
    metadata: bool = False
    plugins: Mapping[str, str] = field(default_factory=dict)


class Scalar(NamedTuple):
    """A scalar of one message: tag, value, and its position and numpy dtype ("" if it has no fixed width)."""

    tag: str
    value: float
    at: int
    dtype: str


class Payload(NamedTuple):
    """A large value of one message: its bytes are start to end; plugin is None without metadata."""

    kind: str
    tag: str
    start: int
    end: int
    plugin: str | None


class EventMessage:
    """One message. wall and step_at are positions (-1: the field is missing and its value 0); plain says that every field
    the parser reads occurs once, so that another message with equal bytes elsewhere has its fields at the same positions;
    names are the positions of tags and metadata, which may differ between messages of one structure; tags those of tags alone.
    Of more than `most` scalars all are in many_tags and many_values instead: a hundred thousand objects take 30 MB."""

    __slots__ = (
        "complaints", "many_tags", "many_values", "most", "names", "payloads", "plain", "scalars", "step", "step_at",
        "step_end", "tags", "version", "wall", "wall_time",
    )  # fmt: skip

    def __init__(self) -> None:
        self.wall, self.wall_time = -1, 0.0
        self.step_at, self.step_end, self.step = -1, -1, 0
        self.version = b""
        self.scalars: list[Scalar] = []
        self.many_tags: list[str] = []
        self.many_values: array[float] = array("d")
        self.payloads: list[Payload] = []
        self.complaints: list[str] = []
        self.names: list[tuple[int, int]] = []
        self.tags: list[tuple[int, int]] = []
        self.plain = True
        self.most = FEW


def walk(data: ByteSource, end: int, form: MessageLayout, *, most: int = FEW) -> EventMessage:
    """Parse the message of bytes 0 to end, with positions of up to `most` scalars. Raises WireError if it is none."""
    event = EventMessage()
    event.most = most
    try:
        _fill(event, data, end, form)
    except IndexError:
        raise WireError("the message ends within a field") from None
    return event


def beginning(data: bytes, end: int, form: MessageLayout) -> EventMessage:
    """Parse the beginning of a message of `end` bytes: all values whose tag is in data, whether or not their bytes are."""
    event = EventMessage()
    try:
        _fill(event, _Strict(data), end, form)
    except (IndexError, WireError):
        return event  # what has been found until here
    return event


class _Strict:
    """Bytes whose slices, too, raise IndexError beyond the end."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> bytes: ...
    def __getitem__(self, index: int | slice) -> int | bytes:
        if isinstance(index, slice) and index.stop > len(self._data):
            raise IndexError(index.stop)
        return self._data[index]


def _fill(event: EventMessage, data: ByteSource, end: int, form: MessageLayout) -> None:
    """Parse the message of bytes 0 to end into the event."""
    pos, holds = 0, 0
    while pos < end:
        key, pos = varint(data, pos)
        if key == WALL_TIME:
            event.plain &= event.wall < 0
            event.wall, pos = pos, pos + 8
        elif key == STEP:
            event.plain &= event.step_at < 0
            event.step_at = pos
            value, pos = varint(data, pos)
            event.step, event.step_end = signed(value), pos
        elif key == SUMMARY and form.summary:
            if holds != key:
                _clear(event)
            event.plain &= not holds
            holds = key
            start, pos = span(data, pos, end)
            _summary(data, start, pos, form, event)
        elif key in form.contents:
            _clear(event)
            event.plain, holds = False, key
            start, pos = span(data, pos, end)
            kind, tag = form.contents[key]
            if kind:
                event.payloads.append(Payload(kind, tag, start, pos, None))
        elif key == VERSION:
            _clear(event)
            event.plain, holds = False, key
            start, pos = span(data, pos, end)
            event.version = data[start : min(pos, start + 64)]
        else:
            pos = skip(data, pos, end, key)
    if pos != end:
        raise WireError("the last field ends beyond the message")
    if event.wall >= 0:
        event.wall_time = _f64(data[event.wall : event.wall + 8])[0]


def _clear(event: EventMessage) -> None:
    event.scalars, event.payloads, event.version = [], [], b""
    event.many_tags, event.many_values = [], array("d")


def _summary(data: ByteSource, pos: int, end: int, form: MessageLayout, event: EventMessage) -> None:
    many = pos + MANY_BYTES
    while pos < end:
        if pos > many:
            pos, many = _short_values(data, pos, end, form, event)
            if pos >= end:
                break
        key, pos = varint(data, pos)
        if key == VALUE:
            start, pos = span(data, pos, end)
            _value(data, start, pos, form, event)
            if event.many_tags and event.scalars:
                _keep_many(event)
        else:
            pos = skip(data, pos, end, key)
    if pos != end:
        raise WireError("a field ends beyond the summary")


def _keep_many(event: EventMessage) -> None:
    """Move the scalars to where they take less memory."""
    event.plain = False
    event.many_tags += [scalar.tag for scalar in event.scalars]
    event.many_values.extend(scalar.value for scalar in event.scalars)
    for one in (event.scalars, event.names, event.tags):
        one.clear()


def _short_values(data: ByteSource, pos: int, end: int, form: MessageLayout, event: EventMessage) -> tuple[int, int]:
    """Read values of less than 128 bytes, most of which are a tag and a float, as long as there are no others.

    Return where the first other one begins, and from where on it is worth while to call this again.
    """
    try:
        chunk = data[pos : min(pos + AT_ONCE, end)]
    except IndexError:  # only the beginning of the message is there
        return pos, end
    few = not event.many_tags and len(event.scalars) <= event.most
    if not few:
        _keep_many(event)
    most, at, scalar, known = len(chunk), 0, form.scalar, dict[bytes, str]()
    while at + 1 < most and chunk[at] == VALUE:
        size = chunk[at + 1]
        stop = at + 2 + size
        if not size:
            event.plain = False
            at = _EMPTY_VALUES.match(chunk, at).end()  # type: ignore[union-attr]  # it has one at least
            continue
        if size > 127 or stop > most:
            break
        is_usual = size >= _SHORTEST and chunk[at + 2] == TAG and chunk[at + 3] == size - _SHORTEST
        if not is_usual or not scalar or chunk[stop - 5] != scalar:
            _value(chunk, at + 2, stop, form, event, pos)
            at = stop
            continue
        if not few and stop + 2 + size < most and chunk[stop + 1] == size:
            if event.scalars:
                _keep_many(event)
            at = _alike_values(chunk, at, scalar, event, known)
            continue
        raw = chunk[at + 4 : stop - 5]
        tag = known.get(raw)
        if tag is None:
            tag = known[raw] = raw.decode("utf-8", "backslashreplace") or NO_TAG
        value = _f32(chunk, stop - 4)[0]
        if few:
            event.scalars.append(Scalar(tag, value, pos + stop - 4, "<f4"))
            event.names.append((pos + at + 4, pos + stop - 5))
            event.tags.append((pos + at + 4, pos + stop - 5))
        else:
            if event.scalars:
                _keep_many(event)
            event.many_tags.append(tag)
            event.many_values.append(value)
        at = stop
    if not few and event.scalars:
        _keep_many(event)
    # After a value of another kind, some of which are images of megabytes, it is tried a little later.
    return pos + at, pos + at + (0 if at else MANY_BYTES)


def _alike_values(chunk: bytes, at: int, scalar: int, event: EventMessage, known: dict[bytes, str]) -> int:
    """Read the values from `at` on that are as long as the first, a tag and a float, at once; return where they end."""
    size = chunk[at + 1] + 2
    rows = np.frombuffer(chunk, np.uint8, (len(chunk) - at) // size * size, at).reshape(-1, size)
    alike = (rows[:, :4] == rows[0, :4]).all(axis=1) & (rows[:, -5] == scalar)
    count = len(rows) if alike.all() else int(alike.argmin())
    tags = rows[:count, 4:-5].tobytes()
    width = size - 9
    each = [tags[begin : begin + width] for begin in range(0, len(tags), width)] if width else [b""] * count
    for raw in each:
        if raw not in known:
            known[raw] = raw.decode("utf-8", "backslashreplace") or NO_TAG
    event.many_tags += [known[raw] for raw in each]
    event.many_values.frombytes(rows[:count, -4:].copy().view("<f4").astype(np.float64).tobytes())
    return at + count * size


def _value(data: ByteSource, pos: int, end: int, form: MessageLayout, event: EventMessage, base: int = 0) -> None:
    """Parse the value of bytes pos to end of data, which begin at `base` in the message."""
    tag_at, tag_end = -1, -1
    holds, start, stop = 0, 0, 0
    metadata: tuple[int, int] | None = None
    while pos < end:
        key, pos = varint(data, pos)
        if key == TAG:
            event.plain &= tag_at < 0
            tag_at, tag_end = span(data, pos, end)
            event.names.append((base + tag_at, base + tag_end))
            event.tags.append((base + tag_at, base + tag_end))
            pos = tag_end
        elif key == form.scalar:
            event.plain &= not holds
            holds, start = key, pos
            pos = stop = pos + 4
        elif key in form.values:
            event.plain &= not holds
            holds = key
            start, stop = span(data, pos, end)
            pos = stop
        elif key == METADATA and form.metadata:
            event.plain &= metadata is None
            metadata = span(data, pos, end)
            event.names.append((base + metadata[0], base + metadata[1]))
            pos = metadata[1]
        else:
            pos = skip(data, pos, end, key)
    if pos != end:
        raise WireError("a field ends beyond its value")
    if tag_end - tag_at > TAG_LIMIT:
        event.plain = False
        event.complaints.append(f"its tag has {tag_end - tag_at:,} bytes")
        return
    tag = (data[tag_at:tag_end].decode("utf-8", "backslashreplace") if tag_at >= 0 else "") or NO_TAG
    if holds and holds == form.scalar:
        event.scalars.append(Scalar(tag, _f32(data[start:stop])[0], base + start, "<f4"))
        return
    plugin = None if metadata is None else _plugin(data, *metadata)
    if holds == TENSOR and form.metadata and plugin != "hparams":
        found = scalar_in(data, start, stop)
        if found is not None:
            event.plain &= bool(found.dtype)
            event.scalars.append(Scalar(tag, found.value, base + found.at if found.dtype else -1, found.dtype))
            return
    event.plain = False
    if metadata is not None and plugin == "hparams":
        event.payloads.append(Payload("hparams", tag, base + metadata[0], base + metadata[1], plugin))
    elif holds:
        event.payloads.append(Payload(form.values[holds], tag, base + start, base + stop, plugin))


def _plugin(data: ByteSource, pos: int, end: int) -> str:
    """Return the plugin name in a SummaryMetadata, "" for none."""
    name = ""
    while pos < end:
        key, pos = varint(data, pos)
        if key != PLUGIN_DATA:
            pos = skip(data, pos, end, key)
            continue
        inner, pos = span(data, pos, end)
        while inner < pos:
            key, inner = varint(data, inner)
            if key == PLUGIN_NAME:
                start, inner = span(data, inner, pos)
                name = data[start : min(inner, start + 256)].decode("utf-8", "backslashreplace")
            else:
                inner = skip(data, inner, pos, key)
        if inner != pos:
            raise WireError("a field ends beyond its plugin data")
    if pos != end:
        raise WireError("a field ends beyond its metadata")
    return name
