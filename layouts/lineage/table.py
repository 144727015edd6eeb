"""Runs side by side, as the pages about lineage use them: columns in groups, and what is missing told apart from NaN."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from parsers import LINEAGE_TABLE, LineageRow, lineage_frame

from layouts.page import FrameSource

GROUPS = ("metric", "user", "hyper", "dataset", "other")
"""Of columns, in the order of the table."""
_PREFIXES = {"metric/": "metric", "best/": "metric", "last/": "metric", "user_defined/": "user"}
_FIXED = {
    "loss": "metric", "optimizer": "hyper", "learning_rate": "hyper", "loss_function": "hyper", "epoch": "hyper",
    "batch_size": "hyper", "parallel_mode": "hyper", "device_num": "hyper", "network": "hyper",
    "train_dataset_path": "dataset", "train_dataset_count": "dataset", "test_dataset_path": "dataset",
    "test_dataset_count": "dataset", "dataset_mark": "dataset",
}  # fmt: skip
NOT_AXES = frozenset(("path", "model_path", "train_dataset_path", "test_dataset_path"))
"""Columns that say where something is: they are in the table only."""


def group_of(name: str) -> str:
    """The group of a column of LINEAGE_TABLE."""
    prefix, slash, _ = name.partition("/")
    return _PREFIXES.get(prefix + slash) or _FIXED.get(name, "other")


@dataclass(frozen=True)
class Table:
    """Rows, and the frame of them (schema LINEAGE_TABLE) in the same order."""

    rows: Sequence[LineageRow]
    frame: pd.DataFrame = field(repr=False)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Columns in which any run has a value, by group."""
        there = [name for name in self.frame.columns if name != "run" and bool(self.recorded(name).any())]
        return tuple(sorted(there, key=lambda name: GROUPS.index(group_of(name))))

    @cached_property
    def _values(self) -> list[dict[str, Any]]:
        return [row.values for row in self.rows]

    def recorded(self, name: str) -> NDArray[np.bool_]:
        """Which runs have a value in a column: NaN is one."""
        return np.array([one.get(name) is not None for one in self._values], bool)

    @cached_property
    def differing(self) -> frozenset[str]:
        """Columns in which two runs have different values; that a run has none is no difference, NaN is a value."""
        return frozenset(name for name in self.columns if self._differs(name))

    def _differs(self, name: str) -> bool:
        values = self.frame[name][self.recorded(name)]
        if values.dtype == object:
            values = values.map(lambda value: f"{type(value).__name__} {value}")
        return bool(values.nunique(dropna=False) > 1)


class Tables:
    """Makes the table of a source, once for each state of it."""

    def __init__(self, source: FrameSource) -> None:
        self._source = source
        self._made = Table((), lineage_frame(()))

    def table(self) -> Table:
        """The table of now."""
        rows, made = self._source.lineage(), self._made
        if rows is not made.rows:
            made = self._made = Table(rows, lineage_frame(rows))
        return made


UNITS = {column.name: column.unit for column in LINEAGE_TABLE.columns}
"""Column -> its unit."""
