"""Tensors to measure as tasks for an engine: many small ones together, a large one in parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from app.tensor_process import AskedTensor, TensorMeasurement, TensorsMessage, measured
from parsers.dumps.access import RunDump
from parsers.dumps.refusals import refused
from parsers.dumps.statistics import Sums
from parsers.dumps.values import TensorHeader, TensorPlace, parts
from parsers.errors import FormatError, PayloadError
from parsers.model import Problem

TOGETHER = 1 << 20
"""Bytes of tensors from which a task is not filled further."""
MOST_TOGETHER = 64
"""Tensors in a task."""
PART = 32 << 20
"""Bytes of a part of a tensor; twice as large ones are read in parts."""
_decoder = msgspec.msgpack.Decoder(list[TensorMeasurement])


@dataclass(frozen=True, slots=True)
class TensorTask:
    """Tensors of these rows to measure, or one and which values (first, number of values) of it. size is in bytes."""

    number: int
    rows: tuple[int, ...]
    places: tuple[TensorPlace, ...]
    size: int
    part: tuple[int, int] | None = None

    @property
    def paths(self) -> Sequence[str]:
        """See `app.engines.AnyTask`."""
        return [place.path for place in self.places]

    def _asked(self) -> TensorsMessage:
        return TensorsMessage([AskedTensor.of(place) for place in self.places], self.part)

    def do(self) -> bytes:
        """See `app.engines.AnyTask`."""
        return measured(self._asked())

    def asked(self) -> tuple[int, Any]:
        """See `app.engines.AnyTask`."""
        return self.size, self._asked()

    def lost(self, why: str) -> Problem:
        """Return the problem that the tensors were not read."""
        text = f"Reading the tensor failed ({why}); it has no statistics, others have."
        place = self.places[0]
        return Problem(place.path, max(place.offset, 0), place.size, "unreadable", text)

    def alone(self, first: int) -> list[TensorTask]:
        """Return a task for each of the tensors, numbered from first on."""
        size = self.size // len(self.rows)
        return [TensorTask(first + at, (row,), (self.places[at],), size) for at, row in enumerate(self.rows)]


class TensorTasks:
    """The tasks that measure some rows of a dump, made when they are needed, and what becomes of their answers."""

    def __init__(self, dump: RunDump, rows: Iterable[int]) -> None:
        self.dump = dump
        self._rows = iter(rows)
        self._held: list[TensorTask] = []
        self._ended = False
        self._number = 0
        self._large: dict[int, _Large] = {}

    def take(self, size: int) -> list[TensorTask]:
        """Return the next tasks of about this many bytes; none if there are no more."""
        taken: list[TensorTask] = []
        left = size
        while left > 0:
            while not self._held and not self._ended:
                self._held = self._next()
            if not self._held:
                break
            taken.append(self._held.pop(0))
            left -= max(taken[-1].size, TOGETHER // MOST_TOGETHER)
        return taken

    def answer(self, task: TensorTask, data: bytes) -> None:
        """Give what a task measured to the dump."""
        found = _decoder.decode(data)
        if task.part is not None:
            self._join(task, found[0])
            return
        for row, place, one in zip(task.rows, task.places, found, strict=True):
            if one.statistics is not None and one.header is not None:
                self.dump.keep_statistics(row, one.statistics, one.header)
            else:
                self.dump.keep_failure(row, one.problem(place))

    def refuse(self, task: TensorTask, problem: Problem) -> None:
        """Tell the dump that the tensors of a task cannot be read."""
        for row in task.rows:
            self._large.pop(row, None)
            self.dump.keep_failure(row, problem)

    def _join(self, task: TensorTask, found: TensorMeasurement) -> None:
        row = task.rows[0]
        large = self._large.get(row)
        if large is None:  # another part could not be read
            return
        if found.sums is None:
            self.refuse(task, found.problem(task.places[0]))
            return
        large.found[task.part[0] if task.part else 0] = found.sums
        if len(large.found) == large.parts:
            sums = Sums()
            for _, one in sorted(large.found.items()):
                sums.join(one)
            self.dump.keep_statistics(row, sums.found(), large.header)
            del self._large[row]

    def _next(self) -> list[TensorTask]:
        """Return a task for the next small tensors, and the parts of the next large one; none of it may be there."""
        rows: list[int] = []
        places: list[TensorPlace] = []
        size = 0
        for row in self._rows:
            try:
                place = self.dump.place(row)
            except PayloadError:  # only its statistics were dumped
                continue
            bytes_of = self.dump.size_of(row)
            if bytes_of >= 2 * PART:
                small = [self._task(rows, places, size)] if rows else []
                return small + self._parts(row, place, bytes_of)
            rows.append(row)
            places.append(place)
            size += bytes_of
            if size >= TOGETHER or len(rows) == MOST_TOGETHER:
                break
        else:
            self._ended = True
        return [self._task(rows, places, size)] if rows else []

    def _task(
        self, rows: Sequence[int], places: Sequence[TensorPlace], size: int, part: tuple[int, int] | None = None
    ) -> TensorTask:
        self._number += 1
        return TensorTask(self._number - 1, tuple(rows), tuple(places), size, part)

    def _parts(self, row: int, place: TensorPlace, size: int) -> list[TensorTask]:
        try:
            header, found = parts(place, PART)
        except (FormatError, OSError, MemoryError) as error:
            self.dump.keep_failure(row, refused(place, error))
            return []
        if not found:
            return [self._task([row], [place], size)]
        self._large[row] = _Large(header, len(found))
        width = size // max(header.size, 1)
        return [self._task([row], [place], count * width, (first, count)) for first, count in found]


@dataclass(slots=True)
class _Large:
    """A tensor that is read in parts: the sums of those that have been."""

    header: TensorHeader
    parts: int
    found: dict[int, Sums] = field(default_factory=dict)
