"""Runs side by side, as the pages about lineage use them: columns in groups, and what is missing told apart from NaN."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from parsers import LineageRow

from layouts.sources import FrameSource

Label: TypeAlias = tuple[str, str]
"""A text in English and Chinese."""
METRICS = "metric"
"""The group of results."""


@dataclass(frozen=True, slots=True)
class Columns:
    """What a page knows of the columns of its table, by their names.

    groups: key -> title, in the order of the table; axes: their keys in the order of axes. rank: how late a column comes
    among those on screen where nobody chose any. not_axes say where something is, and are in the table only. full: what a
    column is called beside those of other groups. compared: columns in which to have no value is a difference, and values
    other than the most frequent one are marked.
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
class Table:
    """Rows, and the frame of them in the same order: a column `run` and those that `about` knows."""

    rows: Sequence[LineageRow]
    frame: pd.DataFrame = field(repr=False)
    about: Columns = field(repr=False)
    made_of: Any = None
    """What it is made anew for when it is another."""
    more: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What a page tells its script beside the table."""

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Columns in which any run has a value, by group."""
        there = [name for name in self.frame.columns if name != "run" and bool(self.recorded(name).any())]
        order = {group: place for place, group in enumerate(self.about.groups)}
        return tuple(sorted(there, key=lambda name: order[self.about.group_of(name)]))

    @cached_property
    def _values(self) -> list[dict[str, Any]]:
        return [row.values for row in self.rows]

    def recorded(self, name: str) -> NDArray[np.bool_]:
        """Which runs have a value in a column: NaN is one. An array to be read alone."""
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
        """Columns in which two runs have different values; NaN is a value."""
        return frozenset(name for name in self.columns if self._differs(name))

    def _differs(self, name: str) -> bool:
        there = self.recorded(name)
        if name in self.about.compared and not there.all():
            return True
        values = self.frame[name][there]
        if values.dtype == object:
            values = values.map(lambda value: f"{type(value).__name__} {value}")
        return bool(values.nunique(dropna=False) > 1)


class Tables:
    """The table of a source, made once for each state of it: make(source, the table it made before) does so."""

    def __init__(self, source: FrameSource, make: Callable[[FrameSource, Table | None], Table]) -> None:
        self._source, self._make = source, make
        self._made: Table | None = None

    def table(self) -> Table:
        """The table of now."""
        made = self._made = self._make(self._source, self._made)
        return made
