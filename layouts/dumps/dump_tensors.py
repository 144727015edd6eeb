"""Parse which tensor of a dump, which difference of two, and which part of it a page or a plain route asks for.

An ask has the form of a state (`layouts.kit.page.State`): {"run": ["a"], "row": ["12"], "mark": ["..."], "dims": ["0,:,2:5"]}.
run is the key of a row of `RunSource.rows` with a dump, row a row of its tensors while its mark is that. with_run, with_row
and with_mark name a tensor to subtract, how is "absolute" or "relative". Every value in an ask is untrusted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from parsers import PayloadError
from parsers.analysis import Tensor, TensorDifference
from parsers.analysis.values.tensor_chunks import DIFFERENCE_MODES, Values
from parsers.dumps.access import RunDump
from parsers.errors import FormatError

from layouts.dumps.open_dump import DumpView
from layouts.kit import parameters as asked
from layouts.kit.parameters import Request
from layouts.kit.state import number, text
from layouts.sources import DumpSources


class Changed(PayloadError):
    """The dump was listed anew, so rows may be others: whoever asked is about to ask again."""


LARGE_BYTES = 16 << 20
"""Tensors in files of more bytes are not read whole: only the values that are shown are."""
_NAME = 100_000
_MOST_ROWS = 2.0**53


@dataclass(frozen=True, slots=True)
class Dumped:
    """A reference to a tensor of a dump."""

    run: str
    row: int
    mark: str


def read_dumped(data: Any, prefix: str = "") -> Dumped | None:
    """Return the tensor under the keys run, row and mark, None if there is no row, or raise BadInput."""
    if not text(data, f"{prefix}row"):
        return None
    row = int(number(data, f"{prefix}row", 0.0, 0.0, _MOST_ROWS))
    return Dumped(text(data, f"{prefix}run", limit=_NAME), row, text(data, f"{prefix}mark"))


def _value(data: Any) -> Dumped:
    return read_dumped(data) or Dumped(text(data, "run", limit=_NAME), 0, text(data, "mark"))


def _is_relative(data: Any) -> bool:
    return text(data, "how", DIFFERENCE_MODES[0], choices=DIFFERENCE_MODES) == "relative"


@dataclass(frozen=True, slots=True)
class DumpTensorRequest(Request):
    """A tensor, the one to subtract from it, and the dimension boxes as text (empty: the default ones)."""

    value: Dumped = asked.part(_value, "run", "row", "mark")
    minus: Dumped | None = asked.part(partial(read_dumped, prefix="with_"), "with_run", "with_row", "with_mark")
    relative: bool = asked.part(_is_relative, "how", default=False)
    dims: str = asked.word("dims", limit=2000)


def find(source: DumpSources, ask: DumpTensorRequest) -> Tensor:
    """Return the tensor of an ask; FormatError, whose text is meant for the user, if it cannot be shown."""
    value = numbers_of(opened(source, ask.value), ask.value.row)
    if ask.minus is None:
        return value
    minus = numbers_of(opened(source, ask.minus), ask.minus.row)
    if minus.shape != value.shape and minus.size == value.size:
        minus = minus.reshape(value.shape)
    return TensorDifference(value, minus, ask.relative)


def opened(source: DumpSources, dumped: Dumped) -> DumpView:
    """Return the dump of a reference; PayloadError if it is not known, or has changed."""
    found = source.dumps.open(dumped.run)
    if found.dump is None:
        reason = found.text or ("the dump is being listed" if found.state == "reading" else "there is no dump")
        raise PayloadError(f"{dumped.run[:200]}: {reason}")
    if found.mark != dumped.mark:
        raise Changed("The dump has changed meanwhile: select the tensor again.")
    return found.dump


def values_of(dump: DumpView, row: int) -> Values:
    """Return the values of a tensor; of a large one in a file those that are looked at are read then.

    PayloadError if it has none, or they cannot be read. This is the only place where pages read values of tensors.
    """
    try:
        if isinstance(dump, RunDump) and int(dump.tensors["size_bytes"].to_numpy()[row]) > LARGE_BYTES:
            return dump.stored(row)
        return dump.tensor(row)
    except IndexError as error:
        raise PayloadError(f"expected a tensor of the dump, found row {row:,}") from error


def numbers_of(dump: DumpView, row: int) -> Values:
    """Return the values of a tensor if they are numbers of a type that browsers know; FormatError otherwise."""
    values = values_of(dump, row)
    if values.dtype.kind not in "biufc":
        raise FormatError(f"The tensor is not shown: its values are {values.dtype}, not numbers.")
    if values.dtype.itemsize // (2 if values.dtype.kind == "c" else 1) > np.dtype(np.float64).itemsize:
        raise FormatError(f"The tensor is not shown: no browser has numbers of type {values.dtype}.")
    return values


def readable(read: Callable[[], Any]) -> Any:
    """Return what a function reads of a tensor; PayloadError if its file cannot be read (any more)."""
    try:
        return read()
    except OSError as error:
        raise PayloadError(f"the file cannot be read: {error.strerror or error}") from error
