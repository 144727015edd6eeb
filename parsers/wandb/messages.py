"""The messages in the records of a .wandb file (wandb/proto/wandb_internal.proto): names with values as JSON.

Read are history, system metrics, config, summary and run. Of a name and value the bytes before the value are the same in each
row, so names are looked up by these bytes.
"""

from __future__ import annotations

from parsers.errors import FormatError
from parsers.events.wire import DELIMITED, WireError
from parsers.lineage.mindspore import text
from parsers.lineage.values import Setting, flat, load_json
from parsers.payloads.messages import fields, whole

HISTORY, SUMMARY, CONFIG, STATS, RUN = 2, 3, 5, 7, 17
"""Fields of a Record."""
_WANTED = {number << 3 | DELIMITED: number for number in (HISTORY, SUMMARY, CONFIG, STATS, RUN)}
_VALUE = 16 << 3 | DELIMITED
_MARK = b"\x82\x01"
"""The key of value_json."""
MOST_NAMES = 50_000
Items = list[tuple[str, bytes]]


def record(data: bytes) -> tuple[int, memoryview]:
    """Return which message a record holds, and its bytes; 0 for what is not read."""
    if len(data) > 6 and data[0] == 1 << 3:  # as wandb writes it: its number, then the message
        at = 2
        while data[at - 1] > 127 and at < 6:
            at += 1
        if data[at] in _WANTED:
            length, begin = delimited_length(data, at + 1)
            if begin + length <= len(data):
                return _WANTED[data[at]], memoryview(data)[begin : begin + length]
    for key, content in fields(memoryview(data)):
        if key in _WANTED:
            return _WANTED[key], content
    return 0, memoryview(b"")


def delimited_length(data: bytes, at: int) -> tuple[int, int]:
    """Return the length at a place, and the place after it."""
    length = shift = 0
    while True:
        byte = data[at]
        length |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return length, at
        shift += 7
        if shift > 35:
            raise FormatError("expected a length, found more than 5 bytes")


class FieldNames:
    """Names by the bytes that stand before a value."""

    def __init__(self) -> None:
        self._known: dict[bytes, str] = {}

    def items(self, data: bytes, field: int) -> Items:
        """Return names with values in the items of a message; those at a field number of up to 15."""
        return list(zip(*self.names_and_values(data, field), strict=True))

    def names_and_values(self, data: bytes, field: int) -> tuple[tuple[str, ...], list[bytes]]:
        """Return names and values in the items of a message; those at a field number of up to 15."""
        return self._known_items(data) or self._items(data, field)

    def _known_items(self, data: bytes) -> tuple[tuple[str, ...], list[bytes]] | None:
        """Return names and values if all names are known and all values short: the usual row. None otherwise."""
        names: list[str] = []
        values: list[bytes] = []
        known = self._known
        parts = data.split(_MARK)
        key = parts[0][2:]
        try:
            for part in parts[1:]:
                length = part[0]
                if length > 127:
                    return None
                names.append(known[key])
                values.append(part[1 : length + 1])
                key = part[length + 3 :]  # after field and length of the next item
        except (KeyError, IndexError):
            return None
        return (tuple(names), values) if names else None

    def _items(self, data: bytes, field: int) -> tuple[tuple[str, ...], list[bytes]]:
        names: list[str] = []
        values: list[bytes] = []
        at, end, key, known = 0, len(data), field << 3 | DELIMITED, self._known
        while at < end:
            if data[at] != key:
                break  # other fields come after the items
            length = data[at + 1]
            at += 2
            if length > 127:
                length, at = delimited_length(data, at - 1)
            item = data[at : at + length]
            if len(item) < length:
                raise FormatError(f"expected an item of {length} bytes, found {len(item)}")
            at += length
            mark = item.find(_MARK)
            name = known.get(item[:mark]) if mark > 0 else None
            if name is not None and mark + 2 < length and item[mark + 2] == length - mark - 3:
                names.append(name)
                values.append(item[mark + 3 :])
            else:
                name, value = self._item(item)
                names.append(name)
                values.append(value)
        return tuple(names), values

    def _item(self, item: bytes) -> tuple[str, bytes]:
        """Parse an item field by field and note its name."""
        keys: list[str] = []
        value, mark = b"", -1
        for key, content in fields(memoryview(item)):
            if key == _VALUE:
                value = bytes(content)
            elif key in (1 << 3 | DELIMITED, 2 << 3 | DELIMITED):
                keys.append(text(content))
        name = "/".join(keys)
        mark = len(item) - len(value) - 3
        if 0 < len(value) < 128 and mark > 0 and item[mark : mark + 2] == _MARK and len(self._known) < MOST_NAMES:
            self._known.setdefault(item[:mark], name)
        return name, value


def step_of(data: memoryview) -> int | None:
    """Return the step of a history record beside its items."""
    for key, content in fields(data):
        if key == 2 << 3 | DELIMITED:
            return next((whole(number) for inner, number in fields(content) if inner == 1 << 3), 0)
    return None


def stats_time(data: memoryview) -> float:
    """Return the time of a sample of system metrics in seconds."""
    seconds = 0.0
    for key, content in fields(data):
        if key == 2 << 3 | DELIMITED:
            for inner, number in fields(content):
                seconds += whole(number) * {1 << 3: 1.0, 2 << 3: 1e-9}.get(inner, 0.0)
    return seconds


def settings(data: bytes) -> dict[str, Setting]:
    """Return the settings in a record of a run, of config or of a summary; names of the last ones begin with `summary.`."""
    number, content = record(data)
    prefix = ""
    if number == RUN:
        content = next((part for key, part in fields(content) if key == 4 << 3 | DELIMITED), memoryview(b""))
    elif number == SUMMARY:
        prefix = "summary."
    found: dict[str, Setting] = {}
    try:
        items = FieldNames().items(bytes(content), 1) if content else []
    except (WireError, IndexError) as error:
        raise FormatError(f"expected a message, found {error}") from error
    for name, value in items:
        if name and not name.startswith("_"):
            decoded = load_json(value.decode("utf-8", "replace"))
            if isinstance(decoded, dict) and set(decoded) == {"desc", "value"}:
                decoded = decoded["value"]
            found |= dict(flat(decoded, prefix + name.replace("/", ".")))
    return found
