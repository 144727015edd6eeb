"""Dicts of a snapshot as rows of columns: entries, segments, blocks, annotations, and the lines of stacks.

What a dict is, its keys tell. A value of another type than the format has is unknown, and counted.
"""

from __future__ import annotations

from array import array
from typing import Any

from parsers.memory_snapshots.objects import Ended, FrameNumber, OpenDict, OpenList, StackNumber, TakenRows

MOST_EVENTS = 1 << 24
MOST_ROWS = 1 << 22
"""Rows of each of the other tables."""
MOST_DEPTHS = 1 << 23
"""Lines of all different stacks."""
MOST_ACTIONS, MOST_STREAMS = 64, 1 << 14
UNKNOWN = -1
LARGEST = 1 << 62
ENTRY_KEYS = frozenset(
    {
        "action", "addr", "device_free", "size", "stream", "time_us", "frames", "compile_context", "user_metadata", "pool_id",
        "user_defined",
    }
)  # fmt: skip
"""Keys of entries, as torch and torch_npu write them."""


class ValueNumbers:
    """Different texts, or streams, by number. Those beyond `most` have the number of `other`."""

    def __init__(self, most: int, other: str | int) -> None:
        self.known: dict[Any, int] = {}
        self._most, self._other = most, other

    def number(self, value: Any) -> int:
        """Return the number of a value."""
        found = self.known.get(value)
        if found is not None:
            return found
        return self.known.setdefault(value if len(self.known) < self._most else self._other, len(self.known))


class SnapshotColumns:
    """The tables. Methods whose name begins with `take` return what stands for the dict from then on."""

    def __init__(self) -> None:
        self.actions, self.streams = ValueNumbers(MOST_ACTIONS, ""), ValueNumbers(MOST_STREAMS, UNKNOWN)
        self.action, self.address, self.size = array("b"), array("q"), array("q")
        self.stream, self.time, self.stack = array("h"), array("q"), array("i")
        self.device_free: dict[int, int] = {}
        self.segments: list[dict[str, Any]] = []
        self.blocks: dict[str, array[int]] = {name: array("q") for name in ("address", "size", "requested", "state", "stack")}
        self.states = ValueNumbers(MOST_ACTIONS, "")
        self.annotations: list[tuple[str, str, int, int]] = []
        self.lines: dict[tuple[str, str, int], int] = {}
        self.stacks: dict[bytes, int] = {}
        self._numbers: list[StackNumber] = []
        self._depths = 0
        self.strange = 0
        self.empty = StackNumber(UNKNOWN)

    def take(self, one: OpenDict, offset: int) -> Any:
        """Return what stands for a dict of a list; the dict itself if it is none of the tables'."""
        if "action" in one:
            return self._take_event(one, offset)
        if "filename" in one and "name" in one:
            return self._take_line(one, offset)
        if "blocks" in one:
            return self._take_segment(one, offset)
        if "state" in one and "size" in one:
            return self._take_block(one, offset)
        if "stage" in one and "name" in one:
            return self._take_annotation(one, offset)
        return one

    def _take_event(self, one: OpenDict, offset: int) -> TakenRows:
        row = len(self.action)
        self.check_room(row, MOST_EVENTS, offset)
        stack = self.stack_of(one.get("frames"), offset)
        self.action.append(self.actions.number(self._text(one, "action")))
        self.address.append(self.whole(one, "addr"))
        self.size.append(self.whole(one, "size"))
        self.stream.append(self.streams.number(self.whole(one, "stream")))
        self.time.append(self.whole(one, "time_us"))
        self.stack.append(stack)
        if "device_free" in one:
            self.device_free[row] = self.whole(one, "device_free")
        return TakenRows("event", row, row + 1)

    def _take_line(self, one: OpenDict, offset: int) -> FrameNumber:
        line = (self._text(one, "name"), self._text(one, "filename"), self.whole(one, "line"))
        self.check_room(len(self.lines), MOST_ROWS, offset)
        return FrameNumber(self.lines.setdefault(line, len(self.lines)))

    def _take_segment(self, one: OpenDict, offset: int) -> TakenRows:
        row = len(self.segments)
        self.check_room(row, MOST_ROWS, offset)
        blocks = one["blocks"]
        parts = blocks if type(blocks) is OpenList else ()
        names = ("device", "address", "total_size", "allocated_size", "active_size", "requested_size", "stream")
        pool = one.get("segment_pool_id")
        expandable = one.get("is_expandable")
        self.segments.append(
            {name: self.whole(one, name) for name in names}
            | {
                "kind": self._text(one, "segment_type"),
                "pool": ",".join(map(str, pool)) if type(pool) is tuple and {type(part) for part in pool} == {int} else "",
                "expandable": int(expandable) if type(expandable) is bool else UNKNOWN,
                "stack": self.stack_of(one.get("frames"), offset),
                "blocks": [(part.begin, part.end) for part in parts if type(part) is TakenRows and part.kind == "block"],
            }
        )
        return TakenRows("segment", row, row + 1)

    def _take_block(self, one: OpenDict, offset: int) -> TakenRows:
        row = len(self.blocks["size"])
        self.check_room(row, MOST_ROWS, offset)
        history = one.get("history")  # torch 1.13 to 2.0: the allocation is the first entry
        first = history[0] if type(history) is OpenList and history and type(history[0]) is OpenDict else OpenDict()
        frames = one.get("frames", first.get("frames"))
        requested = self.whole(one, "requested_size") if "requested_size" in one else self.whole(first, "real_size")
        values = (
            self.whole(one, "address"), self.whole(one, "size"), requested, self.states.number(self._text(one, "state")),
            self.stack_of(frames, offset),
        )  # fmt: skip
        for column, value in zip(self.blocks.values(), values, strict=True):
            column.append(value)
        return TakenRows("block", row, row + 1)

    def _take_annotation(self, one: OpenDict, offset: int) -> TakenRows:
        row = len(self.annotations)
        self.check_room(row, MOST_ROWS, offset)
        found = (self._text(one, "name"), self._text(one, "stage"), self.whole(one, "device"), self.whole(one, "time_us"))
        self.annotations.append(found)
        return TakenRows("annotation", row, row + 1)

    def stack_of(self, frames: Any, offset: int) -> int:
        """Return the number of a stack; -1 for none."""
        if type(frames) is StackNumber:
            return frames.number
        return self.stack_number(frames, offset).number if type(frames) is OpenList else UNKNOWN

    def stack_number(self, frames: OpenList | list[Any], offset: int) -> StackNumber:
        """Return the stack of lines, which is kept once; lines that are none are left out, and counted."""
        lines = array("i", [one.number for one in frames if type(one) is FrameNumber])
        self.strange += len(frames) - len(lines)
        if not lines:
            return self.empty
        key = lines.tobytes()
        found = self.stacks.get(key)
        if found is None:
            self._depths += len(lines)
            self.check_room(self._depths, MOST_DEPTHS, offset)
            self.check_room(len(self.stacks), MOST_ROWS, offset)
            found = self.stacks[key] = len(self.stacks)
            self._numbers.append(StackNumber(found))
        return self._numbers[found]

    def whole(self, one: OpenDict, key: str) -> int:
        """Return a whole number of a dict; -1 if it is absent, or too large to be an address or a size."""
        value = one.get(key)
        if type(value) is int and -LARGEST < value < LARGEST:
            return value
        self.strange += value is not None
        return UNKNOWN

    def _text(self, one: OpenDict, key: str) -> str:
        value = one.get(key)
        if type(value) is str:
            return value
        self.strange += value is not None
        return ""

    def check_room(self, rows: int, most: int, offset: int) -> None:
        """Raise Ended if a table is full."""
        if rows >= most:
            raise Ended(offset, "bad_message", f"expected at most {most:,} rows of one kind")
