"""The columns of the model lineage table: their groups, labels and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from parsers import LINEAGE_TABLE, LineageRow, lineage_frame

from layouts.curves.last_values import last_of, tip_of
from layouts.kit.i18n import CATALOGUE, Text
from layouts.lineage.table import LineageColumns, LineageTable
from layouts.sources import LineageSources

GROUPS = ("user", "hyper", "metric", "dataset", "other")
"""Groups of columns, in the order of the table: settings that users vary, what came of them, the rest."""
_AXES = ("user", "hyper", "dataset", "other", "metric")
"""Groups in the order of their axes: settings first, then results."""
_PREFIXES = {"metric/": "metric", "best/": "metric", "last/": "metric", "user_defined/": "user"}
_FIXED = {
    "loss": "metric", "optimizer": "hyper", "learning_rate": "hyper", "loss_function": "hyper", "epoch": "hyper",
    "batch_size": "hyper", "parallel_mode": "hyper", "device_num": "hyper", "network": "hyper",
    "train_dataset_path": "dataset", "train_dataset_count": "dataset", "test_dataset_path": "dataset",
    "test_dataset_count": "dataset", "dataset_mark": "dataset",
}  # fmt: skip
_FIRST = ("metric/", "learning_rate", "batch_size", "optimizer", "epoch", "user_defined/", "loss", "network",
          "device_num", "parallel_mode", "dataset_mark", "train_dataset_count", "best/", "last/")  # fmt: skip
_NOT_AXES = frozenset(("path", "model_path", "train_dataset_path", "test_dataset_path"))
LAST = "last/"
_UNITS = {column.name: column.unit for column in LINEAGE_TABLE.columns}


def group_of(name: str) -> str:
    """Return the group of a column of LINEAGE_TABLE."""
    prefix, slash, _ = name.partition("/")
    return _PREFIXES.get(prefix + slash) or _FIXED.get(name, "other")


def label(name: str) -> tuple[str, str]:
    """Return the label of a column in English and Chinese; by default its recorded name without the prefix of its group."""
    known = CATALOGUE.get(f"lineage.column.{name}")
    if known is not None:
        return known
    prefix, _, rest = name.partition("/")
    if prefix in ("last", "best"):
        english, chinese = CATALOGUE[f"lineage.column.{prefix}"]
        return f"{english} {rest}", f"{chinese} {rest}"
    return rest, rest


def rank(name: str) -> int:
    """Return the rank of a column among the default columns; lower ranks are shown first."""
    fits = (name == first or (first.endswith("/") and name.startswith(first)) for first in _FIRST)
    return next((place for place, fit in enumerate(fits) if fit), len(_FIRST))


COLUMNS = LineageColumns(
    groups={group: CATALOGUE[f"lineage.group.{group}"] for group in GROUPS}, axes=_AXES, group_of=group_of, label=label,
    rank=rank, units=_UNITS, not_axes=_NOT_AXES,
)  # fmt: skip


def table(source: LineageSources, known: LineageTable | None) -> LineageTable:
    """Return the current lineage table: the known one if nothing changed."""
    rows = source.lineage.rows()
    if known is not None and rows is known.inputs:
        return known
    return LineageTable(rows, lineage_frame(rows), COLUMNS, rows, {"tips": _tips(source, rows)})


def _tips(source: LineageSources, rows: Sequence[LineageRow]) -> dict[str, dict[str, Text]]:
    """Return run -> column -> what is said of last values that are not finite."""
    found: dict[str, dict[str, Text]] = {}
    for row in rows:
        for name, value in row.derived.items():
            last = last_of(source, row.run, name.removeprefix(LAST)) if name.startswith(LAST) and not isfinite(value) else None
            if last is not None:
                found.setdefault(row.run, {})[name] = tip_of(last)
    return found
