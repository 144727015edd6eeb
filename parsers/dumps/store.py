"""Statistics of the rows of a dump as columns: those that files state, and those that were computed."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.dump_frames import DUMP_STATISTICS
from parsers.dumps.statistics import NAMES, TensorStatistics
from parsers.dumps.tables import categorical
from parsers.model import Ints

REALS = ("max", "min", "mean", "std", "l2", "abs_mean")
COUNTS = tuple(name for name in NAMES if name not in REALS)
TEXTS = ("source", "dtype", "shape", "hash")
COMPUTED = "computed"


class RowTexts:
    """A text for each row, "" for none. Most rows share a few texts, so a row takes four bytes.

    Any thread may set a text while another one reads: a text is there before a row has its code.
    """

    def __init__(self, rows: int) -> None:
        self.codes: NDArray[np.int32] = np.zeros(rows, np.int32)
        self.texts = [""]
        self._places = {"": 0}
        self._lock = threading.Lock()

    def __getitem__(self, row: int) -> str:
        return self.texts[int(self.codes[row])]

    def __setitem__(self, rows: Any, text: str) -> None:
        self.codes[rows] = self._place(text)

    def is_text(self, text: str) -> NDArray[np.bool_]:
        """Return which rows have this text."""
        found: NDArray[np.bool_] = self.codes == self._places.get(text, -1)
        return found

    def copy(self, rows: Ints, other: RowTexts, others: Ints) -> None:
        """Set rows to those rows of other."""
        codes, places = np.unique(other.codes[others], return_inverse=True)
        known = np.array([self._place(other.texts[code]) for code in codes.tolist()], np.int32)
        self.codes[rows] = known[places.reshape(-1)]

    def over(self, other: RowTexts) -> RowTexts:
        """Return these texts, and those of other where these have none, as they are now."""
        found, codes, others = RowTexts(0), self.codes.copy(), other.codes.copy()
        mine = np.array([found._place(text) for text in self.texts.copy()], np.int32)
        theirs = np.array([found._place(text) for text in other.texts.copy()], np.int32)
        found.codes = np.where(codes > 0, mine[codes], theirs[others])
        return found

    def take(self, rows: Ints) -> Any:
        """Return the texts of rows as a categorical."""
        codes, places = np.unique(self.codes[rows], return_inverse=True)
        texts = pd.Index([self.texts[code] for code in codes.tolist()], dtype="str")
        return pd.Categorical.from_codes(places.reshape(-1), categories=texts)

    def _place(self, text: str) -> int:
        with self._lock:
            place = self._places.setdefault(text, len(self.texts))
            if place == len(self.texts):
                self.texts.append(text)
            return place


class StatisticsTable:
    """A row per tensor: values of REALS and COUNTS, whether it has NaN or Inf, and where that is from.

    non_finite is 1, 0 or -1 for unknown; known says which rows have statistics. dtype and shape are "" unless a header told.
    """

    def __init__(self, rows: int) -> None:
        self.reals: NDArray[np.float64] = np.full((len(REALS), rows), np.nan)
        self.counts: Ints = np.full((len(COUNTS), rows), -1, np.int64)
        self.non_finite: NDArray[np.int8] = np.full(rows, -1, np.int8)
        self.known: NDArray[np.bool_] = np.zeros(rows, np.bool_)
        self.source, self.dtype, self.shape, self.hash = (RowTexts(rows) for _ in TEXTS)

    def put(self, row: int, values: TensorStatistics, non_finite: int, source: str) -> None:
        """Set the statistics of a row."""
        self.reals[:, row] = [getattr(values, name) for name in REALS]
        self.counts[:, row] = [getattr(values, name) for name in COUNTS]
        self.non_finite[row], self.known[row] = non_finite, True
        self.source[row] = source

    def copy(self, rows: Ints, other: StatisticsTable, others: Ints) -> None:
        """Set the statistics of rows to those of these rows of other."""
        self.reals[:, rows], self.counts[:, rows] = other.reals[:, others], other.counts[:, others]
        self.non_finite[rows], self.known[rows] = other.non_finite[others], other.known[others]
        for name in TEXTS:
            getattr(self, name).copy(rows, getattr(other, name), others)

    def column(self, name: str) -> NDArray[Any]:
        """Return one column of NAMES."""
        found: NDArray[Any] = self.reals[REALS.index(name)] if name in REALS else self.counts[COUNTS.index(name)]
        return found

    def over(self, other: StatisticsTable) -> StatisticsTable:
        """Return these statistics, and those of other where these have none, as they are now."""
        found = StatisticsTable(0)
        found.reals = np.where(self.known, self.reals, other.reals)
        found.counts = np.where(self.known, self.counts, other.counts)
        found.non_finite = np.where(self.known, self.non_finite, other.non_finite)
        found.known = self.known | other.known
        for name in TEXTS:
            setattr(found, name, getattr(self, name).over(getattr(other, name)))
        return found

    def frame(self, tensors: pd.DataFrame, rows: Ints) -> pd.DataFrame:
        """Return the statistics of these rows (schema DUMP_STATISTICS)."""
        columns: dict[str, Any] = {"row": rows}
        for name in ("rank", "iteration", "slot"):
            columns[name] = tensors[name].to_numpy()[rows]
        for name in ("name", "io"):
            columns[name] = tensors[name].array.take(rows)
        for name, told in (("dtype", self.dtype), ("shape", self.shape)):
            columns[name] = _replaced(tensors[name].array.take(rows), told.take(rows))
        columns |= {name: self.column(name)[rows] for name in NAMES}
        columns["non_finite"] = self.non_finite[rows].astype(np.int64)
        columns["hash"] = self.hash.take(rows)
        columns["source"] = self.source.take(rows)
        return DUMP_STATISTICS.check(pd.DataFrame({name: columns[name] for name in DUMP_STATISTICS.names}, copy=False))


def _replaced(texts: Any, told: Any) -> Any:
    """Return texts, and what was told instead where that is not empty; both are categoricals."""
    new, before = told.categories.tolist(), texts.categories.tolist()
    known = np.array([text != "" for text in new], np.bool_)[told.codes]
    if not known.any():
        return texts
    joined = categorical([*before, *new])
    codes = np.where(known, joined.codes[len(before) + told.codes], joined.codes[texts.codes] if before else 0)
    return pd.Categorical.from_codes(codes, categories=joined.categories).remove_unused_categories()
