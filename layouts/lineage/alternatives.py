"""The text alternatives of charts of many runs: how many there are, the ends of results and settings, and the runs at them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from parsers import LineageRow, better

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import MOST_NAMED, entry, in_both, joined, listed, named
from layouts.kit.i18n import Text, both, define_texts
from layouts.lineage.model_columns import label
from layouts.lineage.parallel import category_text, is_numeric
from layouts.lineage.table import LineageTable

define_texts({
    "lineages.axes": ("Parallel axes of {runs} runs over {columns} columns", "{runs} 次训练在 {columns} 列上的平行坐标图"),
    "lineages.points": ("Result of {n} runs over a setting", "{n} 次训练的结果随参数的变化"),
    "lineages.result": ("Distribution of the result of {n} runs", "{n} 次训练结果的分布"),
    "lineages.runs": "common.runs",
    "lineages.low": ("lowest {value} in {run}", "{run} 中最低，为 {value}"),
    "lineages.high": ("highest {value} in {run}", "{run} 中最高，为 {value}"),
    "lineages.best": ("best {value} in {run}", "{run} 中最优，为 {value}"),
    "lineages.kinds": ("{name}: {n} different values", "{name}：{n} 个不同的值"),
})  # fmt: skip


def of_axes(table: LineageTable, columns: Sequence[str], shown: Sequence[int]) -> tuple[Text | None, ...]:
    """Return the sentences about parallel axes of some rows of a table, given by their places."""
    runs = [in_both(table.rows[place].run) for place in shown]
    title = both("lineages.axes", runs=fmt.count(len(shown)), columns=fmt.count(len(columns)))
    said = [_column(table, name, shown) for name in columns[:MOST_NAMED]]
    return title, listed(said, len(columns)), named(both("lineages.runs"), listed(runs)) if runs else None


def _column(table: LineageTable, name: str, shown: Sequence[int]) -> Text:
    title, column = in_names(table.about.label(name)), table.frame[name].iloc[list(shown)]
    if is_numeric(column):
        return entry(title, column.dropna().to_numpy(np.float64), ordered=False)
    number = len({category_text(value) for value in column.dropna()})
    english, chinese = (
        pattern.format(name=text, n=fmt.count(number)) for pattern, text in zip(both("lineages.kinds"), title, strict=True)
    )
    return english, chinese


def of_result(
    rows: Sequence[LineageRow], values: NDArray[np.float64], target: str, setting: str = ""
) -> tuple[Text | None, ...]:
    """Return the sentences about a result of runs, over a setting if there is one. values are those of the rows."""
    finite = np.flatnonzero(np.isfinite(values))
    title = both("lineages.points" if setting else "lineages.result", n=fmt.count(len(finite)))
    names = joined([in_names(label(name)) for name in (target, setting) if name])
    if not finite.size:
        return title, names
    low, high = int(finite[values[finite].argmin()]), int(finite[values[finite].argmax()])
    wanted = better(target)
    ends = [("best" if wanted == "min" else "low", low), ("best" if wanted == "max" else "high", high)]
    said = [both(f"lineages.{end}", value=fmt.number(float(values[at])), run=in_both(rows[at].run)[0]) for end, at in ends]
    return title, names, listed(said)


def in_names(title: Text) -> Text:
    """Return the title of a column, shortened."""
    return in_both(title[0])[0], in_both(title[1])[0]
