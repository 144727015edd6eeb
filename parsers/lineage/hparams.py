"""Decodes TensorBoard's hparams: the plugin data that `SummaryWriter.add_hparams` and `hp.hparams` write into event files.

The bytes are a SummaryMetadata whose plugin data hold an HParamsPluginData (tensorboard/plugins/hparams/plugin_data.proto).
Read are the settings of a session and which scalars are metrics; domains of settings, groups, times and status are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from parsers.errors import FormatError
from parsers.events.wire import DELIMITED, FIXED64, VARINT
from parsers.lineage.mindspore import double, entry, text
from parsers.lineage.values import DEEPEST, Setting, flat
from parsers.payloads.messages import fields, whole


def _within(data: memoryview, *path: int) -> Iterator[memoryview]:
    """Yield the contents of the delimited fields at a path of field numbers."""
    for key, content in fields(data):
        if key == path[0] << 3 | DELIMITED:
            yield from _within(content, *path[1:]) if len(path) > 1 else (content,)


def plugin_data(metadata: memoryview) -> tuple[list[str], dict[str, Setting]]:
    """Return tags of metrics, and settings, in a SummaryMetadata."""
    content = next(_within(metadata, 1, 2), memoryview(b""))
    return metric_tags(content), hparams(content)


def hparams(data: memoryview) -> dict[str, Setting]:
    """Return the settings recorded at the start of a session by name. Numbers are doubles there: whole ones become int."""
    found: dict[str, Setting] = {}
    for start in _within(data, 3):
        for content in _within(start, 1):
            name, _, value = entry(content)
            found |= dict(flat(_value(value), name))
    return found


def metric_tags(data: memoryview) -> list[str]:
    """Return the tags of the scalars that an experiment declares as metrics."""
    return [text(tag) for tag in _within(data, 2, 5, 1, 2)]


def _value(data: memoryview, depth: int = 0) -> Any:
    """Decode a google.protobuf.Value."""
    if depth > DEEPEST:
        raise FormatError(f"expected at most {DEEPEST} levels, found more")
    value: Any = None
    for key, content in fields(data):
        number, kind = key >> 3, key & 7
        if (number, kind) == (1, VARINT):
            value = None
        elif (number, kind) == (2, FIXED64):
            value = double(content)
            value = int(value) if value.is_integer() and abs(value) < 2**53 else value
        elif (number, kind) == (3, DELIMITED):
            value = text(content)
        elif (number, kind) == (4, VARINT):
            value = whole(content) != 0
        elif (number, kind) == (5, DELIMITED):
            value = {name: _value(part, depth + 1) for name, _, part in map(entry, _within(content, 1))}
        elif (number, kind) == (6, DELIMITED):
            value = [_value(part, depth + 1) for part in _within(content, 1)]
    return value
