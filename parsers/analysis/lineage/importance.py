"""Association of settings with a result over the runs of a LINEAGE_TABLE: association, never cause.

`parsers.analysis.lineage.strengths` documents the measures; `parsers.analysis.lineage.shares` considers all settings together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from parsers.analysis.lineage.settings import (
    SettingColumn,
    confounded,
    entangled,
    levels_of,
    numbers_of,
    setting_columns,
    settings_of,
)
from parsers.analysis.lineage.strengths import NONE, association, pearson, spearman
from parsers.deferred import pandas as pd
from parsers.frames import IMPORTANCE, SINGLE_CHANGES
from parsers.model import Floats

MOST_COMPARED = 1_500
"""Maximum runs that are compared pairwise."""


def importance(table: pd.DataFrame, target: str, settings: Sequence[str] | None = None) -> pd.DataFrame:
    """Measure the association of settings with a target (schema IMPORTANCE); by default all of `settings_of`.

    KeyError for a column that is not there, ValueError for a target that holds anything but numbers.
    """
    columns = setting_columns(table, target, settings)
    result = numbers_of(table[target])
    others = confounded(columns, len(table))
    near = entangled([one for one in columns if one.name not in others])
    rows = [_row(one, result, others.get(one.name, ""), near.get(one.name, ("", np.nan))) for one in columns]
    rows.sort(key=_surest)
    types = {column.name: column.dtype for column in IMPORTANCE.columns}
    return pd.DataFrame({name: pd.Series([row[name] for row in rows], dtype=dtype) for name, dtype in types.items()})


def _surest(row: dict[str, Any]) -> tuple[float, float]:
    """Sort key: what is sure of the strength, then the strength; those without a number last."""
    ends = [row[name] for name in ("pearson_low", "spearman_low") if row[name] == row[name]]
    size = row["pearson"]
    return -max(ends, default=-1.0 if size == size else -2.0), -size if size == size else 0.0


def _row(one: SettingColumn, result: Floats, other: str, near: tuple[str, float]) -> dict[str, Any]:
    y = result[one.rows]
    reason = one.reason or ("constant" if len(y) and y.min() == y.max() else "confounded" if other else "")
    linear = monotonic = NONE
    if not reason and one.values is not None:
        linear, monotonic = pearson(one.values, y), spearman(one.values, y)
    elif not reason:
        linear = association(one.codes, y)
    if other or reason:
        near = "", np.nan
    return {
        "setting": one.name, "kind": "categorical" if one.text else "numeric", "runs": len(one.rows), "levels": one.levels,
        "pearson": linear.value, "pearson_low": linear.low, "pearson_high": linear.high,
        "spearman": monotonic.value, "spearman_low": monotonic.low, "spearman_high": monotonic.high,
        "sign": 0 if one.text else linear.sign, "reason": reason, "confounded": other,
        "entangled": near[0], "entangled_strength": near[1],
    }  # fmt: skip


def single_changes(table: pd.DataFrame, settings: Sequence[str] | None = None) -> pd.DataFrame:
    """Return pairs of runs that differ in exactly one setting (schema SINGLE_CHANGES); a missing value counts as a value.

    Runs that differ only in one setting are sorted by it, and each is paired with the next one of another value.
    """
    names = settings_of(table) if settings is None else list(dict.fromkeys(settings))
    codes = np.stack([levels_of(table[name]) for name in names], axis=1) if names else np.empty((len(table), 0), np.int64)
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


def nearest_change(
    table: pd.DataFrame, setting: str, settings: Sequence[str] | None = None
) -> tuple[int, int, list[str]] | None:
    """Return (row, row, other differing settings) of two runs that differ in a setting and in the fewest others.

    Runs without a value of the setting are left out, and all beyond MOST_COMPARED of the rest; of equally near pairs it is the
    first. None where no two runs differ.
    """
    names = [name for name in (settings_of(table) if settings is None else settings) if name != setting]
    own = levels_of(table[setting])
    rows = np.flatnonzero(own >= 0)[:MOST_COMPARED]
    own = own[rows]
    if len(rows) < 2 or (own == own[0]).all():
        return None
    codes = [levels_of(table[name])[rows] for name in names]
    apart = np.zeros((len(rows), len(rows)), np.uint16)
    for one in codes:
        apart += one[:, None] != one[None, :]
    apart[own[:, None] == own[None, :]] = len(names) + 1
    first, second = divmod(int(apart.argmin()), len(rows))
    differing = [name for name, one in zip(names, codes, strict=True) if one[first] != one[second]]
    return int(rows[first]), int(rows[second]), differing
