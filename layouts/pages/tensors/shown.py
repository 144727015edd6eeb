"""From an ask to a tensor, the part of it that is shown, and rectangles of that part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from parsers import PayloadError, PayloadSeries, TensorValue
from parsers.analysis import Difference, Selection, Tensor, default_boxes, part, selection

from layouts.pages.tensors.asks import Ask, Named
from layouts.sources import FrameSource


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A recorded tensor: what was asked for by name, where it is among the values of its tag, and its values."""

    named: Named
    items: PayloadSeries
    place: int
    value: TensorValue

    @property
    def step(self) -> int:
        """The step it was recorded at."""
        return int(self.items.step[self.place])


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """What a card shows: a tensor, or its difference from another one."""

    value: Found
    minus: Found | None
    tensor: Tensor


def find(source: FrameSource, ask: Ask) -> Shown:
    """The tensor of an ask; FormatError, whose text is meant for the user, where it cannot be shown."""
    value = _found(source, ask.value)
    if ask.minus is None:
        return Shown(value, None, value.value.data)
    minus = _found(source, ask.minus)
    return Shown(value, minus, Difference(value.value.data, minus.value.data, ask.relative))


def locate(source: FrameSource, named: Named) -> tuple[PayloadSeries, int]:
    """All values of a tag and the place of the one that is named; PayloadError where it is not there, or no longer."""
    items = source.payload_series(named.run, "tensor", named.tag)
    if items is None:
        raise PayloadError(f"wanted a tensor {named.tag!r} of run {named.run!r}, got none of that name")
    place, step = named.place, named.step
    if place is None:
        place = len(items) - 1 if step is None else items.find(step)
    elif not 0 <= place < len(items) or (step is not None and items.step[place] != step):
        # The file was written anew: the same step may have another place now.
        place = None if step is None else items.find(step)
    if place is None:
        wanted = f"step {step:,}" if step is not None else f"value {named.place:,}"
        known = f"{len(items):,} values of steps {items.step.min():,} to {items.step.max():,}"
        raise PayloadError(f"{named.run}: tensor {named.tag}: wanted {wanted}, which is not there, or no longer; got {known}")
    return items, place


def _found(source: FrameSource, named: Named) -> Found:
    items, place = locate(source, named)
    value = source.value(named.run, "tensor", named.tag, place)
    assert isinstance(value, TensorValue)
    return Found(named, items, place, value)


# The part that is shown -------------------------------------------------------------------------------------------


def boxes(dims: str, shape: Sequence[int]) -> tuple[str, ...]:
    """What stands in the dimension boxes: the text of an ask without brackets, apart at its commas."""
    inner = dims.strip().removeprefix("[").removesuffix("]").strip()
    return tuple(box.strip() for box in inner.split(",")) if inner else default_boxes(shape)


def chosen(dims: str, tensor: Tensor) -> Selection:
    """The part that dimension boxes ask for; FormatError names dimension, wanted and got."""
    return selection(boxes(dims, tensor.shape), tensor.shape)


def extent(picked: Selection) -> tuple[int, int]:
    """(rows, columns) of a part as a table: one dimension goes down, none is a single cell."""
    sizes = [len(indices) for indices in picked.ranges]
    return (sizes[0] if sizes else 1), (sizes[1] if len(sizes) == 2 else 1)


def rectangle(tensor: Tensor, picked: Selection, rows: slice, columns: slice) -> NDArray[Any]:
    """Values of a part as a table, of these rows and columns of it."""
    index = list(picked.index)
    for number, indices, wanted in zip(picked.free, picked.ranges, (rows, columns), strict=False):
        start, stop, _ = wanted.indices(len(indices))
        index[number] = slice(indices.start + start, indices.start + max(start, stop))
    values = part(tensor, tuple(index))
    table = values.reshape(values.shape + (1,) * (2 - values.ndim))
    # A dimension that the part does not have is one row or column, which may not be among those wanted.
    return table[slice(None) if picked.free else rows, slice(None) if len(picked.free) == 2 else columns]
