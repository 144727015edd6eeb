"""Turns the settings of a LINEAGE_TABLE into columns to compute with, and finds settings that cannot be told apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from parsers.analysis.lineage.strengths import FEWEST, association, pearson, ranks
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints

RESULTS = ("metric/", "last/", "best/")
"""Prefixes of result columns."""
ENTANGLED = 0.9
"""If two settings are related this strongly, the result cannot be attributed to one of them."""
_SEED = re.compile(r"(?:^|[^a-z])seed(?:s|$|[^a-z])", re.IGNORECASE)
_NO_SETTINGS = {"run", "path", "loss", "model_path", "model_size", "steps", "duration"}


def settings_of(table: pd.DataFrame) -> list[str]:
    """Return the columns of a table of runs that are settings: no names, no results."""
    return [name for name in table.columns if name not in _NO_SETTINGS and not name.startswith(RESULTS)]


def is_seed(name: str) -> bool:
    """Return whether a setting is a seed by its name: runs that differ in it differ by chance, and none is best."""
    return _SEED.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)) is not None


def targets_of(table: pd.DataFrame) -> list[str]:
    """Return the columns that may be a target: numeric results with at least one finite value."""
    named = [name for name in table.columns if name == "loss" or name.startswith(RESULTS)]
    return [name for name in named if np.isfinite(numbers_of(table[name])).any()]


class SettingColumn(NamedTuple):
    """One setting: which rows count, the numbers of their levels, and their values where they are numbers or two texts."""

    name: str
    rows: Ints
    codes: Ints
    values: Floats | None
    levels: int
    text: bool

    @classmethod
    def of(cls, name: str, column: pd.Series[Any], result: Floats) -> SettingColumn:
        """The column over the rows in which it has a value and the result is finite."""
        valid = np.isfinite(result)
        numbers = None if is_text(column) else numbers_of(column)
        valid = valid & (np.isfinite(numbers) if numbers is not None else column.notna().to_numpy())
        rows = np.flatnonzero(valid)
        if numbers is not None:
            levels, codes = np.unique(numbers[rows], return_inverse=True)
            return cls(name, rows, codes, numbers[rows], len(levels), False)
        codes, texts = pd.factorize(column.iloc[rows].map(level_text))
        values = codes.astype(np.float64) if len(texts) == 2 else None
        return cls(name, rows, codes, values, len(texts), True)

    @property
    def reason(self) -> str:
        """Why the setting can have no number, whatever the others are."""
        if len(self.rows) < FEWEST:
            return "few"
        if self.levels < 2:
            return "constant"
        if self.values is not None or 2 * self.levels <= len(self.rows):
            return ""
        return "unique" if self.levels == len(self.rows) else "identifier"


def setting_columns(table: pd.DataFrame, target: str, settings: Sequence[str] | None = None) -> list[SettingColumn]:
    """The settings of a table, by default all of `settings_of`, beside a target.

    KeyError for a column that is not there, ValueError for a target that holds anything but numbers.
    """
    result = numbers_of(table[target])
    if is_text(table[target]):
        raise ValueError(f"target: expected a column of numbers, found {target!r} of dtype {table[target].dtype}")
    names = settings_of(table) if settings is None else list(dict.fromkeys(settings))
    return [SettingColumn.of(name, table[name], result) for name in names if name != target]


def level_text(value: Any) -> str:
    """A value of a mixed column as the name of its category."""
    return f"{type(value).__name__} {value}"


def is_text(column: pd.Series[Any]) -> bool:
    """Return whether a column holds anything but numbers."""
    return not pd.api.types.is_numeric_dtype(column.dtype)


def numbers_of(column: pd.Series[Any]) -> Floats:
    """The column as float64, missing values NaN; all NaN for a column of other things than numbers."""
    if is_text(column):
        return np.full(len(column), np.nan)
    return column.to_numpy(np.float64, na_value=np.nan)


def levels_of(column: pd.Series[Any]) -> Ints:
    """The number of each row's value: by size for numbers, else by first appearance; -1 for a missing one."""
    if is_text(column):
        return np.asarray(pd.factorize(column.map(level_text, na_action="ignore"))[0], np.int64)
    return np.asarray(pd.factorize(numbers_of(column), sort=True)[0], np.int64)


# Settings that go together -----------------------------------------------------------------------------------------


def confounded(columns: Sequence[SettingColumn], size: int) -> dict[str, str]:
    """Return setting -> the first one that always changes together with it, which stands for all of them.

    They cannot be told apart. The first one itself is not returned. Where every run has a value of its own, as in a random
    search, the two must also rise or fall together. size is the number of rows of the table.
    """
    groups: dict[tuple[bool, bytes], list[str]] = {}
    for one in columns:
        if one.reason:
            continue
        repeated = one.levels < len(one.rows)
        marks = np.full(size, -1, np.int64)
        if repeated or one.values is None:
            marks[one.rows] = pd.factorize(one.codes)[0]
            key = marks.tobytes()
        else:
            marks[one.rows] = one.codes
            turned = marks.copy()
            turned[one.rows] = one.levels - 1 - one.codes
            key = min(marks.tobytes(), turned.tobytes())
        groups.setdefault((repeated, key), []).append(one.name)
    return {name: names[0] for names in groups.values() for name in names[1:]}


def entangled(columns: Sequence[SettingColumn]) -> dict[str, tuple[str, float]]:
    """Return setting -> the most strongly related other one and the strength, if that is at least ENTANGLED.

    Of numbers that is |Spearman rho|, of a text and a number the square root of epsilon^2 of its ranks, of two texts Cramer's
    V without its bias (Bergsma 2013); over the rows in which both have a value.
    """
    usable = [one for one in columns if not one.reason]
    ordered = [ranks(one.values) if one.values is not None else np.empty(0) for one in usable]
    best: dict[str, tuple[str, float]] = {}
    for at, one in enumerate(usable):
        for other in range(at):
            strength = _together(one, ordered[at], usable[other], ordered[other])
            for this, that in ((one.name, usable[other].name), (usable[other].name, one.name)):
                if strength >= ENTANGLED and strength > best.get(this, ("", 0.0))[1]:
                    best[this] = (that, strength)
    return best


def _together(a: SettingColumn, a_ranks: Floats, b: SettingColumn, b_ranks: Floats) -> float:
    a_at: Any = slice(None)
    b_at: Any = slice(None)
    if not np.array_equal(a.rows, b.rows):
        _, a_at, b_at = np.intersect1d(a.rows, b.rows, assume_unique=True, return_indices=True)
    if a.values is not None and b.values is not None:
        return pearson(a_ranks[a_at], b_ranks[b_at]).value
    if a.values is None and b.values is None:
        return _cramer(a.codes[a_at], b.codes[b_at])
    codes, numbers = (a.codes[a_at], b_ranks[b_at]) if a.values is None else (b.codes[b_at], a_ranks[a_at])
    return association(codes, numbers).value


def _cramer(a: Ints, b: Ints) -> float:
    """Cramer's V of two columns of categories less its bias; 0 where one does not vary."""
    n = len(a)
    a, b = np.unique(a, return_inverse=True)[1], np.unique(b, return_inverse=True)[1]
    rows, columns = int(a.max(initial=-1)) + 1, int(b.max(initial=-1)) + 1
    if n < FEWEST or rows < 2 or columns < 2 or rows * columns > 1 << 20:
        return 0.0
    counts = np.bincount(a * columns + b, minlength=rows * columns).reshape(rows, columns)
    expected = counts.sum(1, keepdims=True) * counts.sum(0, keepdims=True) / n
    phi = float(((counts - expected) ** 2 / expected).sum()) / n
    phi = max(0.0, phi - (rows - 1) * (columns - 1) / (n - 1))
    least = min(rows - (rows - 1) ** 2 / (n - 1), columns - (columns - 1) ** 2 / (n - 1)) - 1
    return float(np.sqrt(min(1.0, phi / least))) if least > 0 else 0.0
