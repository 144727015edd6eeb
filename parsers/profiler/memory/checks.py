"""What is wrong with rows about memory: one problem for each rule that rows break, with the first line that does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.model import NOTE
from parsers.profiler.frame_parts import changed
from parsers.profiler.lines import Complaints
from parsers.profiler.tables import NONE

MOST_COMPONENTS = 100
"""Maximum components of which curves are offered. Profilers know ten; each that is named is searched for its peak."""
_PIECE = 1 << 16
Mask = NDArray[np.bool_]
Ints = NDArray[np.int64]


class CheckedRows:
    """The rows of one file that are checked: what they are called in a problem ("Line", "Row"), and the number of each."""

    def __init__(self, path: str, numbers: Ints, word: str = "Line") -> None:
        self.complaints = Complaints(path)
        self._numbers, self._word = numbers, word

    def report(self, wrong: Mask, text: Callable[[int], str], *, note: bool = False) -> None:
        """Report the rows that are wrong, if any: their number, and text(index of the first one). note: nothing is lost."""
        places = np.flatnonzero(wrong)
        if not len(places):
            return
        first = int(places[0])
        more = f" and {len(places) - 1:,} more" if len(places) > 1 else ""
        where = f"{self._word} {self._numbers[first]}{more}" if first < len(self._numbers) else f"{len(places):,} rows"
        self.complaints.add(f"{where}: {text(first)}.", NOTE if note else "bad_table")

    def keep(self, kept: Mask) -> None:
        """Drop the numbers of rows that were dropped."""
        self._numbers = self._numbers[kept] if len(self._numbers) == len(kept) else self._numbers


def sizes(rows: CheckedRows, what: str, values: NDArray[Any], factor: float = 1.0) -> Ints:
    """Return sizes as whole bytes; NONE for missing ones, and for negative ones and those beyond int64, which are reported.

    The memory of float64 values is used again for the result.
    """
    numbers = np.asarray(values, np.float64)
    if factor != 1.0:
        numbers *= factor
    negative = numbers < 0
    rows.report(negative, lambda row: f"{what}: expected a size of at least 0, found {numbers[row]:.0f} bytes; it is unknown")
    large = numbers >= 2.0**62
    rows.report(large, lambda row: f"{what}: expected a size below 2^62 bytes, found {numbers[row]:g}; it is unknown")
    numbers[~(numbers >= 0) | large] = NONE
    whole = numbers.view(np.int64)
    for begin in range(0, len(whole), _PIECE):
        whole[begin : begin + _PIECE] = np.rint(numbers[begin : begin + _PIECE])
    return whole


def timed(rows: CheckedRows, times: Ints, what: str) -> Mask:
    """Return which rows have a time; those at or before 0 are reported."""
    there = times > 0
    rows.report(~there, lambda row: f"{what}: expected a time after 0, found {times[row]}; the row was skipped")
    return there


def in_order(rows: CheckedRows, times: Ints, components: pd.Categorical, what: str) -> NDArray[np.intp] | None:
    """Return the order of time, unknown times first; None if the rows have it. Times before those of the last row of the same
    component are reported."""
    if len(times) < 2 or bool((times[1:] >= times[:-1]).all()):
        return None
    back = np.zeros(len(times), np.bool_)
    places = np.flatnonzero(times != NONE)
    places = places[np.argsort(components.codes[places], kind="stable")]
    listed, codes = times[places], components.codes[places]
    back[places[1:]] = (listed[1:] < listed[:-1]) & (codes[1:] == codes[:-1])
    text = f"{what}: expected times that grow within a component, found an earlier one; they were sorted"
    rows.report(back, lambda _: text, note=True)
    return np.argsort(times, kind="stable")


def devices(texts: pd.Categorical) -> Ints:
    """Return the numbers of devices named NPU:0 or 0; NONE for other names."""
    known = [_number(str(text)) for text in texts.categories]
    table = np.array([*known, NONE], np.int64)
    made: Ints = table[texts.codes]
    return made


def _number(text: str) -> int:
    digits = text.rpartition(":")[2]
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else NONE


def scopes(names: pd.Categorical) -> pd.Categorical:
    """Return the scopes of operators: all parts of a name before the last /. Names with :: have none."""
    return changed(names, lambda name: name.rpartition("/")[0] if "::" not in name else "")
