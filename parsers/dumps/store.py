"""Statistics of the rows of a dump as columns: those that files state, and those that were computed."""

from __future__ import annotations

from collections.abc import Sequence
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
COMPUTED = "computed"


class Statistics:
    """A row per tensor: values of REALS and COUNTS, whether it has NaN or Inf, and where that is from.

    non_finite is 1, 0 or -1 for unknown; known says which rows have statistics. dtype and shape are "" unless a header told.
    """

    def __init__(self, rows: int) -> None:
        self.reals: NDArray[np.float64] = np.full((len(REALS), rows), np.nan)
        self.counts: Ints = np.full((len(COUNTS), rows), -1, np.int64)
        self.non_finite: NDArray[np.int8] = np.full(rows, -1, np.int8)
        self.known: NDArray[np.bool_] = np.zeros(rows, np.bool_)
        self.hash: dict[int, str] = {}
        self.source: dict[int, str] = {}
        self.dtype: dict[int, str] = {}
        self.shape: dict[int, str] = {}

    def put(self, row: int, values: TensorStatistics, non_finite: int, source: str) -> None:
        """Set the statistics of a row."""
        self.reals[:, row] = [getattr(values, name) for name in REALS]
        self.counts[:, row] = [getattr(values, name) for name in COUNTS]
        self.non_finite[row], self.known[row] = non_finite, True
        self.source[row] = source

    def column(self, name: str) -> NDArray[Any]:
        """Return one column of NAMES."""
        found: NDArray[Any] = self.reals[REALS.index(name)] if name in REALS else self.counts[COUNTS.index(name)]
        return found

    def over(self, other: Statistics) -> Statistics:
        """Return these statistics, and those of other where these have none."""
        found = Statistics(len(self.known))
        found.reals = np.where(self.known, self.reals, other.reals)
        found.counts = np.where(self.known, self.counts, other.counts)
        found.non_finite = np.where(self.known, self.non_finite, other.non_finite)
        found.known = self.known | other.known
        for name in ("source", "dtype", "shape", "hash"):
            setattr(found, name, {**getattr(other, name), **getattr(self, name)})
        return found

    def frame(self, tensors: pd.DataFrame, rows: Ints) -> pd.DataFrame:
        """Return the statistics of these rows (schema DUMP_STATISTICS)."""
        columns: dict[str, Any] = {"row": rows}
        for name in ("rank", "iteration", "slot"):
            columns[name] = tensors[name].to_numpy()[rows]
        for name in ("name", "io"):
            columns[name] = tensors[name].array.take(rows)
        for name, told in (("dtype", self.dtype), ("shape", self.shape)):
            columns[name] = _replaced(tensors[name].array.take(rows), rows, told)
        columns |= {name: self.column(name)[rows] for name in NAMES}
        columns["non_finite"] = self.non_finite[rows].astype(np.int64)
        columns["hash"] = categorical([self.hash.get(row, "") for row in rows.tolist()])
        columns["source"] = categorical([self.source.get(row, "") for row in rows.tolist()])
        return DUMP_STATISTICS.check(pd.DataFrame({name: columns[name] for name in DUMP_STATISTICS.names}, copy=False))


def _replaced(texts: Any, rows: Sequence[int] | Ints, told: dict[int, str]) -> Any:
    if not told:
        return texts
    before = texts.astype(object)
    return categorical([told.get(row) or text for row, text in zip(np.asarray(rows).tolist(), before.tolist(), strict=True)])
