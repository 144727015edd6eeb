"""Measures tensors of dumps: a separate program, which `engines` starts several times and may kill.

    python -m app.tensor_process

Each task is several tensors, or a part of a large one; how it takes tasks and answers is in `app.tasks`.
"""

from __future__ import annotations

import os

import msgspec

from app.tasks import serve
from parsers.dumps.refusals import refused
from parsers.dumps.statistics import Scratch, Sums, TensorStatistics
from parsers.dumps.values import TensorHeader, TensorPlace, measure, measure_part
from parsers.errors import FormatError
from parsers.model import Problem

MOST_READ = 256 << 30
"""Bytes of tensors after which a process ends: measuring them leaves nothing behind."""


class AskedTensor(msgspec.Struct, array_like=True):
    """A `TensorPlace`, whose path need not be text."""

    path: bytes
    offset: int
    size: int
    dtype: str
    shape: tuple[int, ...]
    format: str
    original: tuple[int, ...]

    @classmethod
    def of(cls, place: TensorPlace) -> AskedTensor:
        """Return what is asked for a tensor."""
        path = os.fsencode(place.path)
        return cls(path, place.offset, place.size, place.dtype, place.shape, place.format, place.original)

    @property
    def place(self) -> TensorPlace:
        """The place of the tensor."""
        path = os.fsdecode(self.path)
        return TensorPlace(path, self.offset, self.size, self.dtype, self.shape, self.format, self.original)


class TensorsMessage(msgspec.Struct, array_like=True):
    """What a task needs: tensors, and (first value, number of values) if only a part of a single one is to be read."""

    tensors: list[AskedTensor]
    part: tuple[int, int] | None = None


class TensorMeasurement(msgspec.Struct, array_like=True):
    """What was found of a tensor: statistics, sums of a part of it, or a problem (kind, text)."""

    header: TensorHeader | None = None
    statistics: TensorStatistics | None = None
    sums: Sums | None = None
    kind: str = ""
    text: str = ""

    def problem(self, place: TensorPlace) -> Problem:
        """Return the problem of the tensor at this place."""
        return Problem(place.path, max(place.offset, 0), place.size, self.kind, self.text)


def measured(asked: TensorsMessage, scratch: Scratch | None = None) -> bytes:
    """Measure tensors one after the other; return a list of `TensorMeasurement` in MessagePack."""
    scratch = scratch or Scratch()
    return msgspec.msgpack.encode([_measured(one.place, asked.part, scratch) for one in asked.tensors])


def _measured(place: TensorPlace, part: tuple[int, int] | None, scratch: Scratch) -> TensorMeasurement:
    try:
        if part is not None:
            return TensorMeasurement(sums=measure_part(place, *part, scratch))
        return TensorMeasurement(*measure(place, scratch))
    except (FormatError, OSError, MemoryError) as error:
        problem = refused(place, error)
        return TensorMeasurement(kind=problem.kind, text=problem.text)


def main() -> None:
    """Measure tensors until there are none."""
    decoder, scratch = msgspec.msgpack.Decoder(TensorsMessage), Scratch()
    serve(lambda body: measured(decoder.decode(body), scratch), most_read=MOST_READ)


if __name__ == "__main__":
    main()
