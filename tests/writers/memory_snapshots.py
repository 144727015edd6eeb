"""Writes pickles of memory snapshots opcode by opcode: of any size without objects in memory, and such as no pickler writes."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
Line = tuple[str, str, int]
"""Function, file, line."""


class SnapshotWriter:
    """Yields the bytes of a snapshot as `pickle.dump` of torch's dicts does: texts and lines of stacks once, then by reference.

    Of entries that share a stack, as an allocation and its release, the second refers to the list of the first.
    """

    def __init__(self, *, protocol: int = 4, framed: bool = True) -> None:
        self._protocol, self._framed = protocol, framed and protocol >= 4
        self._places: dict[Any, int] = {}
        self._next = 0

    def write(
        self, traces: Iterable[Iterable[Entry]], segments: Iterable[Entry] = (), annotations: Iterable[Entry] = ()
    ) -> Iterator[bytes]:
        """Yield the pickle in pieces."""
        yield bytes([0x80, self._protocol])
        yield from self._frames(self._top(traces, segments, annotations))

    def _frames(self, parts: Iterator[bytes]) -> Iterator[bytes]:
        gathered = bytearray()
        for part in parts:
            gathered += part
            if len(gathered) >= 1 << 16:
                yield self._frame(gathered)
                gathered = bytearray()
        yield self._frame(gathered)

    def _frame(self, data: bytearray) -> bytes:
        return b"\x95" + struct.pack("<Q", len(data)) + bytes(data) if self._framed else bytes(data)

    def _top(
        self, traces: Iterable[Iterable[Entry]], segments: Iterable[Entry], annotations: Iterable[Entry]
    ) -> Iterator[bytes]:
        yield b"}" + self._memoize() + b"(" + self.value("segments")
        yield from self._list(self.value(one) for one in segments)
        yield self.value("device_traces") + b"]" + self._memoize() + b"("
        for entries in traces:
            yield from self._list(self.value(one) for one in entries)
        yield b"e" + self.value("external_annotations")
        yield from self._list(self.value(one) for one in annotations)
        yield b"u."

    def _list(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """A list in batches of 1,000, as Python's pickler writes it."""
        yield b"]" + self._memoize()
        number = -1
        for number, part in enumerate(parts):
            yield (b"(" if number % 1000 == 0 else b"") + part + (b"e" if number % 1000 == 999 else b"")
        if number % 1000 != 999 and number >= 0:
            yield b"e"

    def value(self, value: Any) -> bytes:
        """Return the opcodes of a value."""
        if isinstance(value, bool) or value is None:
            return {True: b"\x88", False: b"\x89", None: b"N"}[value]
        if isinstance(value, int):
            return number(value)
        if isinstance(value, float):
            return b"G" + struct.pack(">d", value)
        if isinstance(value, str):
            return self._once(value, lambda: text(value, self._protocol))
        if isinstance(value, tuple):
            return b"".join(map(self.value, value)) + (b"\x86" if len(value) == 2 else b"\x87") + self._memoize()
        if isinstance(value, dict):
            start = b"}" + self._memoize() + b"("
            return start + b"".join(self.value(key) + self._of(key, one) for key, one in value.items()) + b"u"
        raise TypeError(type(value))

    def _of(self, key: str, value: Any) -> bytes:
        if key == "frames":
            return self._stack(value)
        return b"".join(self._list(map(self.value, value))) if isinstance(value, list) else self.value(value)

    def _stack(self, lines: Any) -> bytes:
        """A list of lines; ("again", lines) refers to the last list of these lines."""
        if lines and lines[0] == "again":
            return self._get(self._places[("list", lines[1])])
        start = b"]" + self._memoize()
        self._places[("list", lines)] = self._next - 1
        if not lines:
            return start
        return start + b"(" + b"".join(map(self._line, lines)) + b"e"

    def _line(self, line: Line) -> bytes:
        if line in self._places:
            return self._get(self._places[line])
        self._places[line] = self._next
        return self.value({"name": line[0], "filename": line[1], "line": line[2]})

    def _once(self, key: str, made: Any) -> bytes:
        if key in self._places:
            return self._get(self._places[key])
        self._places[key] = self._next
        return bytes(made()) + self._memoize()

    def _get(self, place: int) -> bytes:
        return b"h" + bytes([place]) if place < 256 else b"j" + struct.pack("<I", place)

    def _memoize(self) -> bytes:
        place, self._next = self._next, self._next + 1
        if self._protocol >= 4:
            return b"\x94"
        return b"q" + bytes([place]) if place < 256 else b"r" + struct.pack("<I", place)


def number(value: int) -> bytes:
    """Return BININT1, BININT2, BININT or LONG1, the shortest that holds a number."""
    if 0 <= value < 1 << 8:
        return b"K" + bytes([value])
    if 0 <= value < 1 << 16:
        return b"M" + struct.pack("<H", value)
    if -(1 << 31) <= value < 1 << 31:
        return b"J" + struct.pack("<i", value)
    size = (value.bit_length() >> 3) + 1
    return b"\x8a" + bytes([size]) + value.to_bytes(size, "little", signed=True)


def text(value: str, protocol: int = 4) -> bytes:
    """Return SHORT_BINUNICODE or, of long texts and protocols below 4, BINUNICODE."""
    data = value.encode()
    if protocol >= 4 and len(data) < 256:
        return b"\x8c" + bytes([len(data)]) + data
    return b"X" + struct.pack("<I", len(data)) + data


BEGIN_US = 1_776_479_641_000_000


def steady_entries(steps: int, *, depth: int = 12, stacks: int = 500, leaked: int = 0) -> Iterator[Entry]:
    """Yield a training of `steps` steps of 3 x 100 entries; `leaked` of its 100 blocks of each step are not released."""
    time, address = count(BEGIN_US, 3), 1 << 40
    known = [tuple((f"f{(one + place) % 97}", f"/site/torch/m{(one * 7 + place) % 31}.py", place) for place in range(depth))
             for one in range(stacks)]  # fmt: skip
    for step in range(steps):
        held = []
        for block in range(100):
            lines = known[(step * 13 + block) % stacks]
            size = 512 * (1 + (block * 37 + step) % 4096) - 16
            held.append((address + (block + step * leaked if block < leaked else block + 1_000_000) * (1 << 22), size, lines))
            yield _entry("alloc", *held[-1], next(time))
        for at, size, lines in held[leaked:]:
            yield _entry("free_requested", at, size, ("again", lines), next(time))
            yield _entry("free_completed", at, size, (), next(time))


def _entry(action: str, address: int, size: int, frames: Any, time_us: int) -> Entry:
    return {"action": action, "addr": address, "size": size, "stream": 0, "time_us": time_us, "compile_context": "N/A",
            "user_metadata": "", "frames": frames}  # fmt: skip


def steps_in_snapshot(steps: int = 3, length_us: int = 1_000) -> Iterator[bytes]:
    """Yield a snapshot of a device with these steps, in each of which a block is allocated and released."""
    marks = [
        {"name": f"ProfilerStep#{step}", "stage": stage, "device": 0, "time_us": BEGIN_US + step * length_us + place}
        for step in range(steps)
        for stage, place in (("START", 0), ("END", length_us - 1))
    ]
    entries = [
        _entry(action, 1 << 20, 512, (("forward", "train.py", 7),), BEGIN_US + step * length_us + place)
        for step in range(steps)
        for action, place in (("alloc", 10), ("free_requested", 20), ("free_completed", 21))
    ]
    return SnapshotWriter().write([entries], (), marks)


def write_large(path: Path, size: int) -> None:
    """Write a snapshot of about `size` bytes: 3,000 entries of about 80 bytes, again and again."""
    writer = SnapshotWriter(framed=False)
    with path.open("wb") as file:
        file.write(b"\x80\x04}" + writer._memoize() + b"(" + writer.value("device_traces") + b"]" + writer._memoize())
        file.writelines(writer._list(writer.value(one) for one in steady_entries(10)))
        again = b"".join(b"".join(writer._list(writer.value(one) for one in steady_entries(10)))[2:] for _ in range(20))
        while file.tell() < size:
            file.write(again)
        file.write(b"au.")
