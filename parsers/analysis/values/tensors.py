"""Statistics and distributions of tensors, and the selection of a part of one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parsers.analysis.values.histograms import even_edges
from parsers.analysis.values.tensor_chunks import Tensor, chunks
from parsers.errors import FormatError
from parsers.payloads.values import HistogramValue
from parsers.recording.histograms import bin_count

MOST_FREE = 2
_BOX = re.compile(r"(?P<index>[+-]?[0-9]{1,18})|(?P<start>[+-]?[0-9]{1,18})?\s*:\s*(?P<stop>[+-]?[0-9]{1,18})?")


@dataclass(frozen=True, slots=True)
class Statistics:
    """min, max, mean and std (of the population) over the finite values, NaN where there are none; of complex numbers over
    their magnitudes. count is of all values."""

    min: float
    max: float
    mean: float
    std: float
    count: int
    nan: int
    pos_inf: int
    neg_inf: int
    zeros: int


@np.errstate(over="ignore", invalid="ignore")  # sums may overflow or contain non-finite values
def statistics(array: Tensor) -> Statistics:
    """Statistics of all values, read in chunks so that no second array of this size is needed."""
    low, high, mean, squares = np.inf, -np.inf, 0.0, 0.0
    finite = nan = pos_inf = zeros = 0
    for chunk in chunks(array):
        zeros += len(chunk) - int(np.count_nonzero(chunk))
        real = np.abs(chunk) if chunk.dtype.kind == "c" else chunk
        values = real.astype(np.float64)
        if not np.isfinite(values.sum()):  # takes a third of the time of testing every value
            good = np.isfinite(values)
            nan += int(np.count_nonzero(np.isnan(values)))
            pos_inf += int(np.count_nonzero(values == np.inf))
            values = values[good]
        if not len(values):
            continue
        low, high = min(low, float(values.min())), max(high, float(values.max()))
        there = float(values.mean())
        values -= there
        total = finite + len(values)
        apart = there - mean
        values *= values  # np.dot would wake up threads that wait by spinning
        squares += float(values.sum()) + apart * apart * finite * len(values) / total
        mean += apart * len(values) / total
        finite = total
    neg_inf = array.size - finite - nan - pos_inf
    if not finite:
        return Statistics(np.nan, np.nan, np.nan, np.nan, array.size, nan, pos_inf, neg_inf, zeros)
    return Statistics(low, high, mean, float(np.sqrt(squares / finite)), array.size, nan, pos_inf, neg_inf, zeros)


def distribution(array: Tensor, bins: int | None = None) -> HistogramValue:
    """Compute a histogram of the values; by default with MindSpore's number of bins for that many values."""
    known = statistics(array)
    finite = known.count - known.nan - known.pos_inf - known.neg_inf
    low, high = known.min, known.max
    if not finite:
        none = np.empty(0)
        return HistogramValue(none, none, none, np.nan, np.nan, 0.0, known.count, known.nan, known.pos_inf, known.neg_inf)
    number = bin_count(finite) if bins is None else bins
    edges = even_edges(low, high, number)
    counts = np.zeros(number)
    for chunk in chunks(array):
        values = (np.abs(chunk) if chunk.dtype.kind == "c" else chunk).astype(np.float64)
        counts += np.histogram(values[np.isfinite(values)], edges)[0]
    return HistogramValue(
        edges[:-1], np.diff(edges), counts, low, high, known.mean * finite, known.count, known.nan, known.pos_inf,
        known.neg_inf,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Selection:
    """A part of a tensor: a numpy index, the dimensions left in it (free), and their indices (ranges)."""

    index: tuple[int | slice, ...]
    free: tuple[int, ...]
    ranges: tuple[range, ...]


def default_boxes(shape: Sequence[int]) -> tuple[str, ...]:
    """Return the initial texts of the dimension boxes: all of the last two dimensions at the first index of the others."""
    return tuple("0" if dimension < len(shape) - MOST_FREE else ":" for dimension in range(len(shape)))


def selection(boxes: Sequence[str], shape: Sequence[int]) -> Selection:
    """Parse the texts of dimension boxes: an index, "a:b", "a:", ":b" or ":" each, negative ones from the end.

    FormatError names the dimension, what was expected and what was found.
    """
    if len(boxes) != len(shape):
        raise FormatError(f"expected {len(shape)} dimensions, found {len(boxes)}")
    index = tuple(_box(number, box, size) for number, (box, size) in enumerate(zip(boxes, shape, strict=True)))
    free = tuple(number for number, part in enumerate(index) if isinstance(part, slice))
    if len(free) > MOST_FREE:
        raise FormatError(f"expected at most {MOST_FREE} dimensions with a colon, found {len(free)}")
    ranges = tuple(range(part.start, part.stop) for part in index if isinstance(part, slice))
    return Selection(index, free, ranges)


def _box(number: int, box: str, size: int) -> int | slice:
    found = _BOX.fullmatch(box.strip())
    if found is None:
        raise FormatError(f"dimension {number}: expected an index or a range such as 2:5, found {box[:40]!r}")
    if (text := found["index"]) is not None:
        index = int(text)
        if not -size <= index < size:
            expected = f"{-size} to {size - 1}" if size else "a colon, as it has no values"
            raise FormatError(f"dimension {number}: expected {expected}, found {index}")
        return index % size
    start, stop = (int(found[name]) if found[name] else default for name, default in (("start", 0), ("stop", size)))
    for bound in (start, stop):
        if not -size <= bound <= size:
            raise FormatError(f"dimension {number}: expected a range within {-size}:{size}, found {box.strip()}")
    start, stop = (bound + size if bound < 0 else bound for bound in (start, stop))
    if start >= stop and size:
        raise FormatError(f"dimension {number}: expected a range that holds an index, found {box.strip()}")
    return slice(start, stop)
