"""Decodes histograms: MindSpore's buckets, TensorBoard's HistogramProto, and its tensor of (left, right, count)."""

from __future__ import annotations

from struct import Struct

import numpy as np

from parsers.errors import FormatError
from parsers.events.wire import DELIMITED, FIXED64, VARINT
from parsers.model import Floats
from parsers.payloads.messages import collect, fields, repeated, varint_at, whole
from parsers.payloads.tensors import real, tensorboard_tensor
from parsers.payloads.values import HistogramValue

MOST = 1_000_000
"""Maximum number of buckets; histograms with more are rejected."""
_f64 = Struct("<d").unpack

BUCKET, LEFT, WIDTH, COUNT = 1 << 3 | DELIMITED, 1 << 3 | FIXED64, 2 << 3 | FIXED64, 3 << 3 | VARINT
COUNT_AT = 21
"""Offset of the count in a bucket of three fields."""
LIMITS, COUNTS = 6, 7


def mindspore_histogram(data: memoryview) -> HistogramValue:
    """Decode MindSpore's Summary.Histogram."""
    table, rest = _plain_buckets(data)
    buckets: list[tuple[float, float, int]] = []
    numbers = {2: 0, 3: 0, 4: 0, 8: 0}
    limits = {5: 0.0, 6: 0.0, 7: 0.0}
    for key, content in fields(data[rest:]):
        number = key >> 3
        if key == BUCKET:
            buckets.append(_bucket(content))
            _bound(len(table) + len(buckets))
        elif number in numbers and key & 7 == VARINT:
            numbers[number] = whole(content)
        elif number in limits and key & 7 == FIXED64:
            limits[number] = _f64(content)[0]
    if buckets:
        table = np.concatenate((table, np.array(buckets, np.float64)))
    nan, pos_inf, neg_inf, total = numbers.values()
    largest, smallest, total_sum = limits.values()
    return _checked(
        *table.T.copy(), low=smallest, high=largest, total_sum=total_sum, total=total, apart=(nan, pos_inf, neg_inf)
    )


def _plain_buckets(data: memoryview) -> tuple[Floats, int]:
    """Return the leading buckets, shape (k, 3), that have their three fields once and in order, and the position after them."""
    places: list[int] = []
    pos, end = 0, len(data)
    while pos < end - 1 and data[pos] == BUCKET and len(places) <= MOST:
        places.append(pos)
        pos += 2 + data[pos + 1]
    _bound(len(places))
    at = np.array(places, np.int64)
    if not len(at) or pos > end or pos - at[-1] < COUNT_AT + 1 or (np.diff(at) < COUNT_AT + 1).any():
        return np.empty((0, 3)), 0
    octets = np.frombuffer(data, np.uint8)
    doubles = np.ndarray((end - 7,), "<f8", data, strides=(1,))
    first, last = at + COUNT_AT, np.append(at[1:], pos) - 1
    ends = np.cumsum(octets < 128)
    plain = (octets[at + 2] == LEFT) & (octets[at + 11] == WIDTH) & (octets[at + 20] == COUNT) & (octets[last] < 128)
    if not (plain & (ends[last] - ends[first - 1] == 1)).all():
        return np.empty((0, 3)), 0
    counts = varint_at(octets, first, last).view(np.int64)
    return np.stack((doubles[at + 3], doubles[at + 12], counts.astype(np.float64)), axis=1), pos


def _bucket(data: memoryview) -> tuple[float, float, int]:
    left = width = 0.0
    count = 0
    for key, content in fields(data):
        if key == LEFT:
            left = _f64(content)[0]
        elif key == WIDTH:
            width = _f64(content)[0]
        elif key == COUNT:
            count = whole(content)
    return left, width, count


def tensorboard_histogram(data: memoryview) -> HistogramValue:
    """Decode a HistogramProto, or a TensorProto of shape (k, 3), which begins with the number of its dtype."""
    if any(key == 1 << 3 | VARINT for key, _ in fields(data)):
        return _from_table(real(tensorboard_tensor(data).data))
    content = collect(data, dict.fromkeys((1, 2, 3, 4), FIXED64), dict.fromkeys((LIMITS, COUNTS), FIXED64))
    low, high, total, total_sum = (_f64(content[n][-1])[0] if n in content else 0.0 for n in (1, 2, 3, 4))
    limits = repeated(content, LIMITS, "<f8", FIXED64).astype(np.float64)
    count = repeated(content, COUNTS, "<f8", FIXED64).astype(np.float64)
    if len(limits) != len(count):
        raise FormatError(f"expected as many bucket limits as counts, found {len(limits):,} and {len(count):,}")
    _bound(len(count))
    edges = np.concatenate(([-np.inf], limits))
    if low <= high:  # the outer limits may be the largest floats
        edges = edges.clip(low, high)
    left, width = edges[:-1], np.diff(edges)
    kept = (count != 0) | (width > 0)
    number = _whole(total, count)
    return _checked(left[kept], width[kept], count[kept], low=low, high=high, total_sum=total_sum, total=number)


def _from_table(table: Floats) -> HistogramValue:
    if table.ndim != 2 or table.shape[1] != 3:
        raise FormatError(f"expected a tensor of shape (k, 3), found {table.shape}")
    _bound(len(table))
    left, right, count = table.T.copy()
    held = count > 0
    low = float(left[held].min()) if held.any() else 0.0
    high = float(right[held].max()) if held.any() else 0.0
    number = _whole(float(count.sum()), count)
    return _checked(left, right - left, count, low=low, high=high, total_sum=float("nan"), total=number)


def _whole(total: float, count: Floats) -> int:
    """Return the number of all values: the total, else the sum of the finite counts, else 0: the first that is finite."""
    held = float(count[np.isfinite(count)].sum())
    return next((int(number) for number in (total, held) if np.isfinite(number)), 0)


def _bound(buckets: int) -> None:
    if buckets > MOST:
        raise FormatError(f"expected at most {MOST:,} buckets, found {buckets:,} or more")


def _checked(
    left: Floats, width: Floats, count: Floats, *,
    low: float, high: float, total_sum: float, total: int, apart: tuple[int, int, int] = (0, 0, 0),
) -> HistogramValue:  # fmt: skip
    """Build the histogram without invalid buckets, and with a sentence about them."""
    with np.errstate(over="ignore", invalid="ignore"):
        good = np.isfinite(left) & np.isfinite(width) & np.isfinite(left + width) & (width >= 0)
        good &= np.isfinite(count) & (count >= 0)
    problem = ""
    if not good.all():
        bad = int(np.count_nonzero(~good))
        first = int(np.argmin(good))
        problem = (
            f"{bad:,} of {len(good):,} buckets are left out: expected finite edges and counts from 0 on, found a bucket at "
            f"{left[first]:g} of width {width[first]:g} with count {count[first]:g}."
        )
        left, width, count = left[good], width[good], count[good]
    if total < 0 or min(apart) < 0 or sum(apart) > total:
        wrong = (total, *apart)
        problem = problem or f"Its numbers of values (all, NaN, +Inf, -Inf) contradict each other: {wrong}."
        apart = (max(apart[0], 0), max(apart[1], 0), max(apart[2], 0))
        total = max(total, _whole(float(count.sum()), count) + sum(apart))
    held = count.sum()
    if not problem and held != total - sum(apart):
        problem = f"Its buckets hold {held:,.0f} values, but it says that {total - sum(apart):,} are finite."
    for column in (left, width, count):
        column.flags.writeable = False
    if total == sum(apart):
        low = high = float("nan")
    return HistogramValue(left, width, count, low, high, total_sum, total, *apart, problem)
