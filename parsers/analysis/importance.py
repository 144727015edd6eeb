"""Which settings go with a result, over runs side by side (LINEAGE_TABLE): association, never cause.

|r| is Pearson's, over the runs in which setting and result are both finite, as MindInsight ranks its parameters; at least three
runs are needed. Its interval is Fisher's, tanh(atanh(r) +- z / sqrt(n - 3)). Spearman's rho is r of the ranks, equal values
sharing their mean rank; its interval takes the standard error sqrt((1 + rho^2 / 2) / (n - 3)) of Bonett and Wright
(Psychometrika 65, 2000). An interval that holds 0 begins there, as the sign is left out: of a weak relation in a dozen runs
or fewer it then covers up to 98 %.

Categories: the square root of epsilon^2 = 1 - (1 - eta^2) (n - 1) / (n - k), the share of the variance that k categories
explain less what they explain by chance (Kelley 1935). Two categories are taken as 0 and 1, for which |r| is that share's root.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from parsers.frames import IMPORTANCE, SINGLE_CHANGES
from parsers.model import Floats, Ints

Z = 1.959963984540054
"""Two-sided 95 % of a normal distribution."""
FEWEST = 3
"""Runs without which there is no number."""
RESULTS = ("metric/", "last/", "best/")
"""How columns that are results begin."""
_NO_SETTINGS = {"run", "path", "loss", "model_path", "model_size", "steps", "duration"}


class Strength(NamedTuple):
    """A strength from 0 to 1, the ends of its 95 % interval (NaN where n is too small), and the sign of the relation."""

    value: float
    low: float
    high: float
    sign: int


def pearson(x: Floats, y: Floats) -> Strength:
    """|Pearson r| of two arrays of shape (n,) without NaN; NaN where one of them does not vary or n < 3."""
    return _strength(_r(x, y), len(x), 1.0)


def spearman(x: Floats, y: Floats) -> Strength:
    """|Spearman rho| of two arrays of shape (n,) without NaN; NaN where one of them does not vary or n < 3."""
    rho = _r(ranks(x), ranks(y))
    return _strength(rho, len(x), 1.0 + rho * rho / 2.0)


def association(codes: Ints, y: Floats) -> float:
    """The square root of epsilon^2 of categories 0 to k-1 and numbers of shape (n,); NaN where y does not vary or n <= k."""
    n, counts = len(y), np.bincount(codes)
    groups = int(np.count_nonzero(counts))
    y = _scaled(y)
    total = float(y @ y)
    if n <= groups or not total:
        return float("nan")
    sums = np.bincount(codes, weights=y)
    between = float((sums[counts > 0] ** 2 / counts[counts > 0]).sum())
    return float(np.sqrt(max(0.0, 1.0 - (1.0 - between / total) * (n - 1) / (n - groups))))


def ranks(values: Floats) -> Floats:
    """Ranks from 1 on; equal values share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = counts.cumsum()
    return np.asarray(((ends - counts + 1 + ends) / 2.0)[inverse], np.float64)


def _scaled(values: Floats) -> Floats:
    """Deviations from the mean, the greatest of them 1: squares of values near the limits of float64 stay numbers."""
    span = float(np.abs(values).max(initial=0.0))
    shifted = values / span if span else values
    shifted = shifted - shifted.mean() if len(values) else shifted
    most = float(np.abs(shifted).max(initial=0.0))
    return shifted / most if most else shifted


def _r(x: Floats, y: Floats) -> float:
    if len(x) < FEWEST or x.min() == x.max() or y.min() == y.max():
        return float("nan")
    a, b = _scaled(x), _scaled(y)
    below = float(np.sqrt((a @ a) * (b @ b)))
    return min(1.0, max(-1.0, float(a @ b) / below)) if below else float("nan")


def _strength(r: float, n: int, variance: float) -> Strength:
    if r != r:
        return Strength(r, r, r, 0)
    sign = int(np.sign(r))
    if n <= 3:
        return Strength(abs(r), float("nan"), float("nan"), sign)
    with np.errstate(divide="ignore"):
        middle, wide = float(np.arctanh(abs(r))), Z * float(np.sqrt(variance / (n - 3)))
    low, high = float(np.tanh(middle - wide)), float(np.tanh(middle + wide))
    return Strength(abs(r), max(low, 0.0), high, sign)


# Over a table ------------------------------------------------------------------------------------------------------


def settings_of(table: pd.DataFrame) -> list[str]:
    """The columns of a table of runs that are settings: not names, results, or what the training came to."""
    return [name for name in table.columns if name not in _NO_SETTINGS and not name.startswith(RESULTS)]


def targets_of(table: pd.DataFrame) -> list[str]:
    """The columns that may be explained: numeric results with at least one finite value."""
    named = [name for name in table.columns if name == "loss" or name.startswith(RESULTS)]
    return [name for name in named if np.isfinite(_numbers(table[name])).any()]


def importance(table: pd.DataFrame, target: str, settings: Sequence[str] | None = None) -> pd.DataFrame:
    """How far settings go with a target (schema IMPORTANCE); by default all of `settings_of`.

    KeyError for a column that is not there, ValueError for a target that holds anything but numbers.
    """
    result = _numbers(table[target])
    if _is_text(table[target]):
        raise ValueError(f"target: wanted a column of numbers, got {target!r} of dtype {table[target].dtype}")
    names = settings_of(table) if settings is None else list(dict.fromkeys(settings))
    columns = [_Setting.of(name, table[name], result) for name in names if name != target]
    others = _confounded(columns, len(table))
    rows = [_row(one, result, others.get(one.name, "")) for one in columns]
    rows.sort(key=lambda row: -row["pearson"] if row["pearson"] == row["pearson"] else np.inf)
    types = {column.name: column.dtype for column in IMPORTANCE.columns}
    return pd.DataFrame({name: pd.Series([row[name] for row in rows], dtype=dtype) for name, dtype in types.items()})


class _Setting(NamedTuple):
    """One setting: which rows count, the numbers of their levels, and their values where they are numbers or two texts."""

    name: str
    rows: Ints
    codes: Ints
    values: Floats | None
    levels: int
    text: bool

    @classmethod
    def of(cls, name: str, column: pd.Series[Any], result: Floats) -> _Setting:
        valid = np.isfinite(result)
        numbers = None if _is_text(column) else _numbers(column)
        valid = valid & (np.isfinite(numbers) if numbers is not None else column.notna().to_numpy())
        rows = np.flatnonzero(valid)
        if numbers is not None:
            levels, codes = np.unique(numbers[rows], return_inverse=True)
            return cls(name, rows, codes, numbers[rows], len(levels), False)
        codes, texts = pd.factorize(column.iloc[rows].map(_text))
        values = codes.astype(np.float64) if len(texts) == 2 else None
        return cls(name, rows, codes, values, len(texts), True)

    @property
    def reason(self) -> str:
        """Why the setting can have no number, whatever the others are."""
        if len(self.rows) < FEWEST:
            return "few"
        if self.levels < 2:
            return "constant"
        return "unique" if self.values is None and self.levels == len(self.rows) else ""


def _text(value: Any) -> str:
    """A value of a mixed column as the name of its category."""
    return f"{type(value).__name__} {value}"


def _is_text(column: pd.Series[Any]) -> bool:
    return not pd.api.types.is_numeric_dtype(column.dtype)


def _numbers(column: pd.Series[Any]) -> Floats:
    """The column as float64, missing values NaN; all NaN for a column of other things than numbers."""
    if _is_text(column):
        return np.full(len(column), np.nan)
    return column.to_numpy(np.float64, na_value=np.nan)


def _row(one: _Setting, result: Floats, other: str) -> dict[str, Any]:
    y = result[one.rows]
    reason = one.reason or ("constant" if len(y) and y.min() == y.max() else "confounded" if other else "")
    linear = monotonic = Strength(np.nan, np.nan, np.nan, 0)
    if not reason and one.values is not None:
        linear, monotonic = pearson(one.values, y), spearman(one.values, y)
    elif not reason:
        linear = linear._replace(value=association(one.codes, y))
    return {
        "setting": one.name, "kind": "categorical" if one.text else "numeric", "runs": len(one.rows), "levels": one.levels,
        "pearson": linear.value, "pearson_low": linear.low, "pearson_high": linear.high,
        "spearman": monotonic.value, "spearman_low": monotonic.low, "spearman_high": monotonic.high,
        "sign": 0 if one.text else linear.sign, "reason": reason, "confounded": other,
    }  # fmt: skip


def _confounded(columns: Sequence[_Setting], size: int) -> dict[str, str]:
    """Setting -> another that takes a level of its own wherever this one does, so that nothing tells the two apart.

    Where every run has a value of its own, as in a random search, the two must also rise or fall together.
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
    return {name: names[names[0] == name] for names in groups.values() if len(names) > 1 for name in names}


def single_changes(table: pd.DataFrame, settings: Sequence[str] | None = None) -> pd.DataFrame:
    """Pairs of runs that are alike in all settings but one (schema SINGLE_CHANGES); a missing value is a value of its own.

    Of the runs that differ in one setting alone, sorted by it, each is paired with the next one of another value.
    """
    names = settings_of(table) if settings is None else list(dict.fromkeys(settings))
    codes = np.stack([_levels(table[name]) for name in names], axis=1) if names else np.empty((len(table), 0), np.int64)
    found: list[tuple[str, int, int]] = []
    for at, name in enumerate(names):
        if len(table) < 2 or (codes[:, at] == codes[0, at]).all():
            continue
        alike = np.unique(np.delete(codes, at, axis=1), axis=0, return_inverse=True)[1].ravel()
        order = np.lexsort((codes[:, at], alike))
        group, level = alike[order], codes[order, at]
        ends = np.flatnonzero((group[1:] == group[:-1]) & (level[1:] != level[:-1]))
        found += [(name, int(order[end]), int(order[end + 1])) for end in ends]
    types = {column.name: column.dtype for column in SINGLE_CHANGES.columns}
    columns = zip(*found, strict=True) if found else ((), (), ())
    return pd.DataFrame(
        {name: pd.Series(list(values), dtype=dtype) for (name, dtype), values in zip(types.items(), columns, strict=True)}
    )


def _levels(column: pd.Series[Any]) -> Ints:
    """The number of each row's value: by size for numbers, else by first appearance; -1 for a missing one."""
    if _is_text(column):
        return np.asarray(pd.factorize(column.map(_text, na_action="ignore"))[0], np.int64)
    return np.asarray(pd.factorize(_numbers(column), sort=True)[0], np.int64)


def trend(x: Floats, y: Floats) -> tuple[float, float]:
    """Slope and intercept of the least-squares line through points of shape (n,), those not finite left out; NaN for none."""
    finite = np.isfinite(x) & np.isfinite(y)
    x, y = x[finite], y[finite]
    if len(x) < 2 or x.min() == x.max():
        return float("nan"), float("nan")
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = x - x.mean(), y - y.mean()
        slope = float((a @ b) / (a @ a))
        return slope, float(y.mean() - slope * x.mean())
