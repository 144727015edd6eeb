"""Parse which tensor, which difference of two tensors, and which part of it a card or a plain route asks for.

An ask has the form of a state (`layouts.kit.page.State`): {"run": ["a"], "tag": ["w"], "step": ["10"], "dims": ["0,:,2:5"]}.
place is the index among the recorded values of the tag, for steps recorded more than once. Without place and step the newest
value is meant. minus_run, minus_step and minus_place name a tensor of the same tag to subtract, how is "absolute" or
"relative".
Every value in an ask is untrusted; names of runs and tags are only ever looked up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from parsers import PayloadError, PayloadSeries, TensorValue
from parsers.analysis import Selection, Tensor, TensorDifference, default_boxes, part, selection
from parsers.analysis.values.tensor_chunks import DIFFERENCE_MODES

from layouts.kit import parameters as asked
from layouts.kit.parameters import Request
from layouts.kit.state import BadInput, text
from layouts.sources import ValueSources

_NAME = 100_000
_DIMS = 2000
_WHOLE = re.compile(r"-?[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class NamedTensor:
    """A reference to a recorded tensor by its step, its place, or both; without either to the newest one."""

    run: str
    tag: str
    step: int | None = None
    place: int | None = None


def whole(data: Any, key: str) -> int | None:
    """Return the 64-bit integer under a key, None if there is none, or raise BadInput."""
    digits = text(data, key)
    if not digits:
        return None
    if not _WHOLE.fullmatch(digits) or not -(2**63) <= int(digits) < 2**63:
        raise BadInput(f"{key}: expected a whole number; found {digits[:80]!r}")
    return int(digits)


def _value(data: Any) -> NamedTensor:
    run, tag = text(data, "run", limit=_NAME), text(data, "tag", limit=_NAME)
    return NamedTensor(run, tag, whole(data, "step"), whole(data, "place"))


def _minus(data: Any) -> NamedTensor | None:
    if not any(key in data for key in ("minus_run", "minus_step", "minus_place")):
        return None
    value = _value(data)
    run = text(data, "minus_run", value.run, limit=_NAME)
    return NamedTensor(run, value.tag, whole(data, "minus_step"), whole(data, "minus_place"))


def _is_relative(data: Any) -> bool:
    return text(data, "how", DIFFERENCE_MODES[0], choices=DIFFERENCE_MODES) == "relative"


@dataclass(frozen=True, slots=True)
class TensorRequest(Request):
    """A tensor, the one to subtract from it, and the dimension boxes as text (empty: the default ones)."""

    value: NamedTensor = asked.part(_value, "run", "tag", "step", "place")
    minus: NamedTensor | None = asked.part(_minus, "minus_run", "minus_step", "minus_place")
    relative: bool = asked.part(_is_relative, "how", default=False)
    dims: str = asked.word("dims", limit=_DIMS)


# The tensor of an ask -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class FoundTensor:
    """A recorded tensor: the reference, its place among the values of its tag, and its values."""

    named: NamedTensor
    items: PayloadSeries
    place: int
    value: TensorValue

    @property
    def step(self) -> int:
        """The step it was recorded at."""
        return int(self.items.step[self.place])


@dataclass(frozen=True, slots=True, eq=False)
class ShownTensor:
    """The tensor that a card shows, which may be the difference of two."""

    value: FoundTensor
    minus: FoundTensor | None
    tensor: Tensor


def find(source: ValueSources, ask: TensorRequest) -> ShownTensor:
    """Return the tensor of an ask; FormatError, whose text is meant for the user, if it cannot be shown."""
    value = _found(source, ask.value)
    if ask.minus is None:
        return ShownTensor(value, None, value.value.data)
    minus = _found(source, ask.minus)
    return ShownTensor(value, minus, TensorDifference(value.value.data, minus.value.data, ask.relative))


def locate(source: ValueSources, named: NamedTensor) -> tuple[PayloadSeries, int]:
    """Return all values of a tag and the place of the referenced one; PayloadError if it does not exist (any more)."""
    items = source.values.series(named.run, "tensor", named.tag)
    if items is None:
        raise PayloadError(f"expected a tensor {named.tag!r} in run {named.run!r}, found none of that name")
    place, step = named.place, named.step
    if place is None:
        place = len(items) - 1 if step is None else items.find(step)
    elif not 0 <= place < len(items) or (step is not None and items.step[place] != step):
        # The file was rewritten, so the same step may now have another place.
        place = None if step is None else items.find(step)
    if place is None:
        wanted = f"step {step:,}" if step is not None else f"value {named.place:,}"
        known = f"{len(items):,} values of steps {items.step.min():,} to {items.step.max():,}"
        raise PayloadError(f"{named.run}: tensor {named.tag}: expected {wanted}, found only {known}")
    return items, place


def _found(source: ValueSources, named: NamedTensor) -> FoundTensor:
    items, place = locate(source, named)
    value = source.values.value(named.run, "tensor", named.tag, place)
    assert isinstance(value, TensorValue)
    return FoundTensor(named, items, place, value)


# The part that is shown -------------------------------------------------------------------------------------------


def boxes(dims: str, shape: Sequence[int]) -> tuple[str, ...]:
    """Return the texts of the dimension boxes: the text of an ask without brackets, split at its commas."""
    inner = dims.strip().removeprefix("[").removesuffix("]").strip()
    return tuple(box.strip() for box in inner.split(",")) if inner else default_boxes(shape)


def chosen(dims: str, tensor: Tensor) -> Selection:
    """Return the part that the dimension boxes select; FormatError names the dimension, what was expected and found."""
    return selection(boxes(dims, tensor.shape), tensor.shape)


def extent(picked: Selection) -> tuple[int, int]:
    """Return (rows, columns) of a part as a table: one dimension becomes a column, none a single cell."""
    sizes = [len(indices) for indices in picked.ranges]
    return (sizes[0] if sizes else 1), (sizes[1] if len(sizes) == 2 else 1)


def rectangle(tensor: Tensor, picked: Selection, rows: slice, columns: slice) -> NDArray[Any]:
    """Return these rows and columns of a part as a table."""
    index = list(picked.index)
    for number, indices, wanted in zip(picked.free, picked.ranges, (rows, columns), strict=False):
        start, stop, _ = wanted.indices(len(indices))
        index[number] = slice(indices.start + start, indices.start + max(start, stop))
    values = part(tensor, tuple(index))
    table = values.reshape(values.shape + (1,) * (2 - values.ndim))
    # A dimension that the part does not have is a single row or column, which the slices may leave out.
    return table[slice(None) if picked.free else rows, slice(None) if len(picked.free) == 2 else columns]
