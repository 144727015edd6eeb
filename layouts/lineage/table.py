"""The table of a lineage page: one row per run, columns in groups, and missing values distinct from NaN."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from parsers import LineageRow
from parsers.deferred import pandas as pd

from layouts.runs.damage import damage
from layouts.sources import Sources

Label: TypeAlias = tuple[str, str]
"""A text in English and Chinese."""
METRICS = "metric"
"""The group of results."""


@dataclass(frozen=True, slots=True)
class LineageColumns:
    """The description of a table's columns, by their names.

    groups: key -> title, in the order of the table; axes: the keys of groups in the order of axes. rank orders the default
    columns, lowest first. not_axes are shown in the table only, such as paths. full is the label of a column outside its
    group. compared: columns in which a missing value counts as a difference, and in which values other than the most frequent
    one are highlighted.
    """

    groups: Mapping[str, Label]
    axes: Sequence[str]
    group_of: Callable[[str], str]
    label: Callable[[str], Label]
    rank: Callable[[str], int]
    units: Mapping[str, str]
    not_axes: Collection[str] = ()
    full: Callable[[str], Label] | None = None
    compared: Collection[str] = ()


@dataclass(frozen=True)
class LineageTable:
    """Rows, and a frame with the same rows: column `run` and the columns that `about` describes."""

    rows: Sequence[LineageRow]
    frame: pd.DataFrame = field(repr=False)
    about: LineageColumns = field(repr=False)
    inputs: Any = None
    """The data it was made from; the table is made again if that has changed."""
    more: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Further data for the page's script."""

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Columns in which any run has a value, ordered by group."""
        there = [name for name in self.frame.columns if name != "run" and bool(self.recorded(name).any())]
        order = {group: place for place, group in enumerate(self.about.groups)}
        return tuple(sorted(there, key=lambda name: order[self.about.group_of(name)]))

    @cached_property
    def _values(self) -> list[dict[str, Any]]:
        return [row.values for row in self.rows]

    def recorded(self, name: str) -> NDArray[np.bool_]:
        """Return which runs have a value in a column, as a read-only array; NaN is a value."""
        known = self._recorded.get(name)
        if known is None:
            known = self._recorded[name] = np.array([one.get(name) is not None for one in self._values], bool)
            known.flags.writeable = False
        return known

    @cached_property
    def _recorded(self) -> dict[str, NDArray[np.bool_]]:
        return {}

    @cached_property
    def differing(self) -> frozenset[str]:
        """Columns in which runs have different values; NaN is a value."""
        return frozenset(name for name in self.columns if self._differs(name))

    def _differs(self, name: str) -> bool:
        there = self.recorded(name)
        if name in self.about.compared and not there.all():
            return True
        values = self.frame[name][there]
        if values.dtype == object:
            values = values.map(lambda value: f"{type(value).__name__} {value}")
        return bool(values.nunique(dropna=False) > 1)


class LineageTables:
    """Caches the table of a source. make(source, known) returns the current table: the known one if nothing changed."""

    def __init__(self, source: Sources, make: Callable[[Sources, LineageTable | None], LineageTable]) -> None:
        self._source, self._make = source, make
        self._made: LineageTable | None = None

    def table(self) -> LineageTable:
        """Return the current table."""
        made = self._made = self._make(self._source, self._made)
        return made

    def damage(self) -> list[list[str]]:
        """Return the problems of the runs, as `layouts.runs.damage` does, if there is no row."""
        if self.table().rows:
            return []
        return damage(self._source, [run for row in self._source.runs.rows() for run in row.members])
