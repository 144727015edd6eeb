"""Converts times of traces from their digits to whole nanoseconds.

A float64 cannot hold a time in microseconds since 1970 to the nanosecond, so no time ever becomes one. Digits below a
nanosecond are rounded to the nearest one, halves to the even one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal

import msgspec
import numpy as np
from numpy.typing import NDArray

Texts = Sequence[bytes] | Sequence[msgspec.Raw]
LATEST = 1 << 61
"""No time or duration of a trace is as long as this, in ns (73 years), so that the sum of two fits."""
_NUMBER = re.compile(rb'\s*"?\s*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?)\s*"?\s*')
_QUOTE, _DOT, _MINUS, _ZERO = b'".-0'
_MOST_DIGITS = 19
"""Digits of a time in ns that the quick way takes: they fit uint64."""


def nanoseconds(texts: Texts, places: int = 3) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return numbers, as JSON writes them (with or without quotes), times 10**places, and which of them are numbers.

    places 3 takes microseconds. Whatever is no number, or not below LATEST, is 0.
    """
    count = len(texts)
    found, valid = np.zeros(count, np.int64), np.zeros(count, np.bool_)
    if not count:
        return found, valid
    buffer = np.frombuffer(b"\n".join(texts) + b"\n", np.uint8)
    ends = np.flatnonzero(buffer == 10)
    if len(ends) != count:  # a text with a newline in it
        _each(texts, np.arange(count), places, found, valid)
        return found, valid
    starts = np.empty(count, np.int64)
    starts[0] = 0
    starts[1:] = ends[:-1] + 1
    quoted = (buffer[starts] == _QUOTE) & (ends - starts >= 2) & (buffer[ends - 1] == _QUOTE)
    starts += quoted
    negative = buffer[starts + 0] == _MINUS
    starts += negative
    ends = ends - quoted
    dots = np.flatnonzero(buffer == _DOT)
    before = ends.copy()
    before[np.searchsorted(ends, dots)] = dots
    width, whole = ends - starts, before - starts
    quick = (width > 0) & (width < 32) & (whole > 0) & (whole + places <= _MOST_DIGITS)
    key = np.where(quick, width * 32 + whole, -1)
    kinds, which = np.unique(key, return_inverse=True)
    slow: list[NDArray[np.int64]] = []
    for kind, each in enumerate(kinds.tolist()):
        rows = np.flatnonzero(which == kind) if len(kinds) > 1 else np.arange(count)
        if each < 0:
            slow.append(rows)
            continue
        made, good = _uniform(buffer, starts[rows], each // 32, each % 32, places)
        found[rows], valid[rows] = made, good
        if not good.all():
            slow.append(rows[~good])
    np.negative(found, out=found, where=negative)
    for rows in slow:
        _each(texts, rows, places, found, valid)
    return found, valid


def _uniform(
    buffer: NDArray[np.uint8], starts: NDArray[np.int64], width: int, whole: int, places: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Convert numbers of the same width with the dot at the same place; return which of them have digits only."""
    decimals = max(width - whole - 1, 0)
    kept = min(decimals, places)
    columns = np.array([*range(whole), *range(whole + 1, whole + 1 + decimals)])
    digits = buffer[columns[:, None] + starts] - np.uint8(_ZERO)  # what is no digit becomes 10 or more
    good = digits.max(axis=0) < 10
    taken = whole + kept
    made = np.zeros(len(starts), np.uint64)
    for each in digits[:taken]:
        made *= 10
        made += each
    if decimals < places:
        made *= 10 ** (places - decimals)
    elif decimals > places:
        half = digits[taken]
        made += (half > 5) | ((half == 5) & ((made & 1 == 1) | (digits[taken + 1 :] != 0).any(axis=0)))
    good &= made < LATEST
    return np.where(good, made, 0).astype(np.int64), good


def _each(
    texts: Texts, rows: NDArray[np.int64], places: int, found: NDArray[np.int64], valid: NDArray[np.bool_]
) -> None:
    for row in rows.tolist():
        match = _NUMBER.fullmatch(bytes(texts[row])[:4096])
        made = None if match is None else _exact(match[1].decode(), places)
        valid[row], found[row] = made is not None, made or 0


def _exact(text: str, places: int) -> int | None:
    number = Decimal(text)
    if not number:
        return 0
    if number.adjusted() > 18 or number.adjusted() < -40:
        return None if number.adjusted() > 18 else 0
    made = int((number.scaleb(places)).to_integral_value(ROUND_HALF_EVEN))
    return made if abs(made) < LATEST else None
