"""Rows of landscapes on a Dask cluster: tasks of `app.dask_engine`. A worker runs the script in a process of its own.

Workers must see the checkpoints, the script and the directory of the result under the same paths.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from app.dask_engine import Dask, DaskError
from app.dask_pieces import see
from app.engines import PIECE, Here
from app.landscapes.options import LandscapeError
from app.landscapes.workers import GridPlace, GridRow, RowComputer
from parsers.errors import FormatError
from parsers.landscapes.points import Loss, Point
from parsers.model import Problem

log = logging.getLogger(__name__)
_own = threading.local()
"""The process of this thread of a worker, and what it was started for: further rows of the same surface use it."""


class AskedRow(msgspec.Struct, array_like=True):
    """What a worker is asked: the setting of `app.landscapes.workers`, its places, and the limit of each in seconds.

    files are those that it must see: path and size.
    """

    setting: dict[str, Any]
    surface: int
    places: list[GridPlace]
    limit_s: float
    files: list[tuple[str, int]]


def compute_row(body: msgspec.Raw) -> bytes:
    """Return the losses of an AskedRow, in MessagePack: [row, column, loss, reason] each."""
    asked = msgspec.msgpack.decode(body, type=AskedRow)
    for path, size in asked.files:
        see(path, size)
    mark = msgspec.json.encode(asked.setting)
    if getattr(_own, "mark", None) != mark:
        if getattr(_own, "computer", None) is not None:
            _own.computer.end()
        _own.mark, _own.computer = mark, RowComputer(asked.setting, asked.limit_s, 1)
    found: list[tuple[int, int, float, str]] = []
    _own.computer.compute(
        GridRow(asked.surface, tuple(asked.places)),
        lambda point, loss: found.append((point.row, point.column, loss.value, loss.reason)),
    )
    return msgspec.msgpack.encode(found)


@dataclass(frozen=True, slots=True)
class RowTask:
    """A row as a task of an engine. size makes it a piece of its own."""

    number: int
    row: AskedRow
    size: int = PIECE

    @property
    def paths(self) -> Sequence[str]:
        """See `AnyTask`."""
        return [self.row.setting["script"]]

    def do(self) -> bytes:
        """Compute it in a process of this one."""
        return compute_row(msgspec.Raw(msgspec.msgpack.encode(self.row)))

    def asked(self) -> tuple[int, Any]:
        """See `AnyTask`."""
        return self.size, self.row

    def lost(self, why: str) -> Problem:
        """Return the problem that the row has no losses."""
        return Problem(self.row.setting["script"], 0, 0, "unreadable", why)


class ClusterPool:
    """Computes rows on a Dask cluster, with the interface of `WorkerPool`. Raises LandscapeError if it cannot be used."""

    def __init__(self, address: str, *, trust: bool, limit_s: float, take: Callable[[Point, Loss], None]) -> None:
        self._limit, self._take = limit_s, take
        try:
            self._engine = Dask(address, trust=trust, do=compute_row, otherwise=Here())
            self._engine.connect()
        except DaskError as error:
            raise LandscapeError(f"--dask: {error}") from error

    def run(self, rows: Sequence[GridRow], setting: dict[str, Any]) -> None:
        """Compute rows; one that the cluster lost is computed here. Raises what `take` raises."""
        files = [(path, os.stat(path).st_size) for path in (setting["script"], setting["base"], *setting["plane"])]
        tasks = [
            RowTask(number, AskedRow(setting, row.surface, list(row.places), self._limit, files))
            for number, row in enumerate(rows)
        ]
        try:
            for task, answer in self._engine.run(tasks, lambda _: None, lambda: False):
                if isinstance(answer, Problem):
                    raise LandscapeError(answer.text)
                for point, loss in _losses_or_here(task, answer):
                    self._take(point, loss)
        finally:
            self._engine.close()
            if getattr(_own, "computer", None) is not None:  # of rows that were computed here
                _own.computer.end()
                _own.mark = _own.computer = None


def losses_of(task: RowTask, answer: bytes) -> list[tuple[Point, Loss]]:
    """Return the losses in an answer; FormatError unless it has those of the row, each once."""
    try:
        found = msgspec.msgpack.decode(answer, type=list[tuple[int, int, float, str]])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"losses of a row: {error}") from None
    places = {(place.row, place.column) for place in task.row.places}
    if len(found) != len(places) or {(row, column) for row, column, _, _ in found} != places:
        raise FormatError(f"losses of a row: expected those of its {len(places):,} places, found {len(found):,} others")
    return [(Point(task.row.surface, row, column), Loss(value, reason)) for row, column, value, reason in found]


def _losses_or_here(task: RowTask, answer: bytes) -> list[tuple[Point, Loss]]:
    try:
        return losses_of(task, answer)
    except FormatError as error:
        log.warning("an answer of the Dask cluster is not valid: %s; the row is computed here", error)
        return losses_of(task, task.do())
