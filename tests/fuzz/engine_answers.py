"""What a worker of a cluster may answer in place of columns of a rank, a snapshot of a run, or losses of a landscape.

A case is the bytes of an answer, which an engine hands to what asked: each task gets its answer or its problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import msgspec

from app.landscapes.cluster import AskedRow, RowTask, losses_of
from app.landscapes.workers import GridPlace
from app.store.jobs.job_frames import RankReader
from app.store.runs.run_tasks import checked
from parsers.discovery import source_of
from parsers.errors import FormatError
from parsers.model import Problem
from parsers.profiler.jobs import JobMember
from parsers.profiler.ranks import FRAMES, columns_of
from parsers.profiler.sessions import ProfileFile
from parsers.runs import Run
from parsers.snapshot import dump
from tests.fuzz.corpus import ROOT, Files
from tests.fuzz.promises import Broken, check_problems

_RUN = ROOT / "tests" / "data" / "mindspore" / "2.10"
_RANK = (ProfileFile("/r/kernel_details.csv", "kernel_details.csv", "kernel_details", 0, 1, 1),)
_MEMBER = JobMember("r", "/r", 0, "", _RANK)
_ROW = AskedRow({"script": "loss.py"}, 0, [GridPlace(0, column, 0.0, 0.5) for column in range(3)], 1.0, [])


class _Answering:
    """An engine that answers each task with given bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def run(self, tasks: Sequence[Any], told: object, is_cancelled: object) -> Iterator[tuple[Any, bytes | Problem]]:
        """See `app.engines.Engine`."""
        del told, is_cancelled
        return ((task, self._data) for task in tasks)

    def close(self) -> None:
        """Nothing was started."""


@cache
def _source() -> Any:
    return source_of(_RUN)


def cases() -> Files:
    """Return honest answers."""
    run = Run(_source())
    run.refresh(run.source)
    parts = dump(list(run.states.values())) or ()
    losses = [(place.row, place.column, 0.5, "") for place in _ROW.places]
    return columns_of((), FRAMES), b"".join(parts), msgspec.msgpack.encode(losses)


def take(data: bytes, _folder: str) -> None:
    """Take an answer of each kind."""
    (piece,) = RankReader(None, _Answering(data), lambda _: None, lambda: False)([_MEMBER], FRAMES)
    columns = piece.columns
    check_problems(columns.problems)
    refused = 0
    try:
        checked(_source(), data)
    except FormatError:
        refused += 1
    try:
        for point, loss in losses_of(RowTask(0, _ROW), data):
            if (point.row, point.column) not in {(place.row, place.column) for place in _ROW.places}:
                raise Broken(f"a loss at {point}, which was not asked for")
            if not isinstance(loss.value, float):
                raise Broken("a loss that is no number")
    except FormatError:
        refused += 1
    if data and refused == 0 and columns.frames:
        raise Broken("one answer is of all kinds")

