"""Intervals of time as (begins, ends), whole ns: joined, and split by others."""

from __future__ import annotations

import numpy as np

from parsers.model import Ints

Spans = tuple[Ints, Ints]
"""Begins and ends of intervals, in any order."""
NO_SPANS: Spans = (np.empty(0, np.int64), np.empty(0, np.int64))
_LONG_AGO = -(1 << 62)


def joined(begins: Ints, ends: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the union of intervals as intervals in order that do not touch: begins, ends, how many each was made of.

    Intervals that do not end after they begin are left out.
    """
    if (begins[1:] > ends[:-1]).all() and (begins < ends).all():
        return begins, ends, np.ones(len(begins), np.int64)
    return joined_within(np.zeros(len(begins), np.int64), begins, ends)[1:]


def joined_within(keys: Ints, begins: Ints, ends: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Return what `joined` does of the intervals of each key, the keys in order: keys, begins, ends, how many each was made of.

    Takes as long for a key per interval as for one key.
    """
    kept = ends > begins
    keys, begins, ends = keys[kept], begins[kept], ends[kept]
    if not len(begins):
        return NO_SPANS[0], *NO_SPANS, NO_SPANS[0]
    if not ((keys[1:] > keys[:-1]) | ((keys[1:] == keys[:-1]) & (begins[1:] >= begins[:-1]))).all():
        order = np.lexsort((begins, keys))
        keys, begins, ends = keys[order], begins[order], ends[order]
    new = np.r_[False, keys[1:] != keys[:-1]]
    group = np.cumsum(new)
    # One running maximum serves all keys: those of each key are above those of the keys before.
    lowest = int(ends.min())
    height = int(ends.max()) - lowest + 1
    if height * (int(group[-1]) + 1) < -_LONG_AGO:
        shift = group * height - lowest
        ends = np.maximum.accumulate(ends + shift) - shift
    else:
        values, place = np.unique(ends, return_inverse=True)
        shift = group * len(values)
        ends = values[np.maximum.accumulate(place + shift) - shift]
    first = np.flatnonzero(np.r_[True, (begins[1:] > ends[:-1]) | new[1:]])
    last = np.r_[first[1:], len(begins)] - 1
    return keys[first], begins[first], ends[last], last - first + 1


def split(spans: Spans, others: Spans) -> tuple[Spans, Spans]:
    """Return the parts of intervals that lie in others, and those that do not.

    Both sets are in order and their intervals do not touch (`joined`); the same holds for the parts.
    """
    (begins, ends), (other_begins, other_ends) = spans, others
    first = np.searchsorted(other_ends, begins, "right")
    count = np.searchsorted(other_begins, ends, "left") - first  # of others that an interval meets
    if not count.any():
        return NO_SPANS, spans
    own, other = _pairs(first, count)
    inside = np.maximum(begins[own], other_begins[other]), np.minimum(ends[own], other_ends[other])
    own, gap = _pairs(first, count + 1)  # gap number n lies before the n-th of the others
    begins = np.maximum(begins[own], np.r_[_LONG_AGO, other_ends][gap])
    ends = np.minimum(ends[own], np.r_[other_begins, -_LONG_AGO][gap])
    left = begins < ends
    return inside, (begins[left], ends[left])


def _pairs(first: Ints, count: Ints) -> tuple[Ints, Ints]:
    """Return for rows that meet this many things from a first one on: each row as often as it meets one, and what it meets."""
    row = np.repeat(np.arange(len(first)), count)
    return row, np.arange(len(row)) + np.repeat(first - np.cumsum(count) + count, count)
