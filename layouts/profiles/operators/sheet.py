"""Tables of up to millions of rows, sorted, searched and filtered on the server; the browser gets the rows on screen.

Sort orders are cached per column, and a search tests each distinct text once, however many rows contain it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers.caches import Cache
from parsers.deferred import pandas as pd

from layouts.kit.state import BadInput

MOST_ORDERS = 6
"""Maximum number of sort orders cached per table, at 8 bytes a row each."""
MOST_ROWS = 1_000
"""Maximum number of rows per response."""
MOST_FILTERS = 20
NONE = -1
"""Missing value in a column of whole numbers."""
SIZED = ("difference_ns",)
"""Columns sorted by absolute value."""
_EXACT = 2**53
Rows = NDArray[np.int64]


class OperatorSheet:
    """A frame as a table. Columns are numbers or categories of texts. within: mask of the rows it has, None for all."""

    def __init__(self, frame: pd.DataFrame, within: NDArray[np.bool_] | None = None) -> None:
        self.frame = frame
        self._within = within
        self._orders: Cache[str, Rows] = Cache(MOST_ORDERS)
        self._folded: dict[str, list[str]] = {}

    def __len__(self) -> int:
        return len(self.frame) if self._within is None else int(np.count_nonzero(self._within))

    def rows(
        self, sort: tuple[str, str] | None, search: tuple[str, str] = ("", ""), filters: Mapping[str, Any] | None = None
    ) -> Rows:
        """Return the numbers of the rows to show, in order.

        sort: (column, "asc" or "desc"); missing values come last. search: (text, column), ignoring case. filters: AG Grid's
        filter models by column. Unknown columns are skipped. BadInput if a filter is malformed.
        """
        matches = self._searched(*search)
        if self._within is not None:
            matches = self._within if matches is None else matches & self._within
        for name, one in list((filters or {}).items())[:MOST_FILTERS]:
            if name in self.frame:
                found = self._filtered(name, one)
                matches = found if matches is None else matches & found
        if sort is None or sort[0] not in self.frame:
            return np.arange(len(self.frame), dtype=np.int64) if matches is None else np.flatnonzero(matches)
        order = self._order(*sort)
        chosen: Rows = order if matches is None else order[matches[order]]
        return chosen

    def records(self, rows: Rows, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return up to MOST_ROWS rows as {column: number or text}; missing numbers are None."""
        part = self.frame.iloc[rows[:MOST_ROWS]]
        columns = [_plain(part[name].array) for name in names]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def _order(self, name: str, direction: str) -> Rows:
        return self._orders.made(f"{name}:{direction}", lambda: self._sorted(name, direction))

    def _sorted(self, name: str, direction: str) -> Rows:
        values = self.frame[name].array
        if isinstance(values, pd.Categorical):
            ranks = np.argsort(np.argsort(np.array(self._texts(name), object), kind="stable"), kind="stable")
            numbers = np.append(ranks, -1)[values.codes].astype(np.float64)
        else:
            numbers = np.asarray(values, np.float64)
            numbers = np.abs(numbers) if name in SIZED else numbers
        # NaN sorts last in both directions; equal rows keep their order.
        return np.argsort(-numbers if direction == "desc" else numbers, kind="stable").astype(np.int64)

    def _texts(self, name: str) -> list[str]:
        if name not in self._folded:
            self._folded[name] = [text.casefold() for text in self.frame[name].cat.categories]
        return self._folded[name]

    def _searched(self, text: str, name: str) -> NDArray[np.bool_] | None:
        if not text or name not in self.frame:
            return None
        query = text.casefold()
        return self._where(name, [query in one for one in self._texts(name)])

    def _where(self, name: str, hits: Sequence[bool]) -> NDArray[np.bool_]:
        codes = np.asarray(self.frame[name].cat.codes)
        found: NDArray[np.bool_] = np.append(np.array(hits, np.bool_), False)[codes]
        return found

    def _filtered(self, name: str, one: Any) -> NDArray[np.bool_]:
        if not isinstance(one, dict):
            raise BadInput(f"filter of {name[:80]}: expected an object, found {type(one).__name__}")
        conditions = one.get("conditions")
        if isinstance(conditions, list) and conditions:
            parts = [self._filtered(name, condition) for condition in conditions[:4]]
            joined = np.logical_or if one.get("operator") == "OR" else np.logical_and
            return np.asarray(joined.reduce(parts), np.bool_)
        values = self.frame[name].array
        kind = str(one.get("type"))
        if isinstance(values, pd.Categorical):
            query = str(one.get("filter", ""))[:4096].casefold()
            test = _TEXT_TESTS.get(kind)
            if test is None:
                raise BadInput(f"filter of {name[:80]}: expected one of {', '.join(_TEXT_TESTS)}, found {kind[:40]!r}")
            return self._where(name, [test(text, query) for text in self._texts(name)])
        return _compared(np.asarray(values, np.float64), kind, one)


_TEXT_TESTS: Mapping[str, Any] = {
    "contains": lambda text, query: query in text, "notContains": lambda text, query: query not in text,
    "equals": lambda text, query: text == query, "notEqual": lambda text, query: text != query,
    "startsWith": lambda text, query: text.startswith(query), "endsWith": lambda text, query: text.endswith(query),
    "blank": lambda text, _: not text, "notBlank": lambda text, _: bool(text),
}  # fmt: skip


def _compared(values: NDArray[np.float64], kind: str, one: Mapping[str, Any]) -> NDArray[np.bool_]:
    missing: NDArray[np.bool_] = np.isnan(values)
    if kind in ("blank", "notBlank"):
        return missing if kind == "blank" else ~missing
    low, high = _number(one.get("filter")), _number(one.get("filterTo", math.inf))
    with np.errstate(invalid="ignore"):
        matches = {
            "equals": values == low, "notEqual": values != low, "greaterThan": values > low,
            "greaterThanOrEqual": values >= low,
            "lessThan": values < low, "lessThanOrEqual": values <= low, "inRange": (values >= low) & (values <= high),
        }.get(kind)  # fmt: skip
    if matches is None:
        raise BadInput(f"filter: expected a comparison, found {kind[:40]!r}")
    return np.asarray(matches, np.bool_)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise BadInput(f"filter: expected a number, found {str(value)[:40]!r}")
    return float(value)


def _plain(values: Any) -> list[Any]:
    if isinstance(values, pd.Categorical):
        return [values.categories[code] if code >= 0 else "" for code in values.codes.tolist()]
    array = np.asarray(values)
    if array.dtype.kind == "f":
        return [value if math.isfinite(value) else None for value in array.tolist()]
    # JavaScript's whole numbers are exact up to 2^53 only.
    return [None if value == NONE else value if abs(value) < _EXACT else str(value) for value in array.tolist()]
