"""The lineage table as JSON for the browser, and the parallel coordinates figure."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from parsers import better
from parsers.analysis.lineage.results import main_target

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import described
from layouts.lineage.alternatives import of_axes
from layouts.lineage.asks import BY_RUN, AxesRequest
from layouts.lineage.parallel import (
    LINEAR,
    LOG,
    Axis,
    axis,
    brief,
    category_text,
    colour_key,
    is_numeric,
    line_by_axis,
    line_by_colour,
    parallel,
    usual_scale,
)
from layouts.lineage.table import METRICS, LineageTable

MOST_BY_DEFAULT = 12
"""Number of columns shown if the state names none."""
_ACCENT = "#2f5fd0"
_FEWEST = 5
"""Texts of fewer runs may all differ without being identifiers."""


# Table -------------------------------------------------------------------------------------------------------------


def sheet(table: LineageTable, damage: Sequence[Sequence[str]] = ()) -> dict[str, Any]:
    """Return all rows by column, with the description of each column; damage may be the reason that there are none.

    A value is null if missing, a number, or a text; non-finite numbers, which JSON cannot represent, are the texts NaN,
    Infinity and -Infinity. Long texts are shortened; exports have the full texts.
    """
    found = {
        "keys": [row.run for row in table.rows],
        "groups": [(group, title) for group, title in table.about.groups.items()],
        "axes": list(table.about.axes),
        "columns": [_column(table, name) for name in table.columns],
        "default": default_columns(table),
        "ranked": _ranked(table)[:MOST_BY_DEFAULT],
        "colour": default_colour(table),
        "sort": default_sort(table),
        "damage": [list(problem) for problem in damage],
        **table.more,
    }
    content = json.dumps(found, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return found | {"stamp": hashlib.blake2b(content, digest_size=12).hexdigest()}


def _column(table: LineageTable, name: str) -> dict[str, Any]:
    about = table.about
    numeric, group, label = is_numeric(table.frame[name]), about.group_of(name), about.label(name)
    values = _numbers(table, name) if numeric else _texts(table, name)
    compared = name in about.compared and name in table.differing
    return {
        "name": name, "label": label, "full": about.full(name) if about.full else label, "group": group, "numeric": numeric,
        "unit": about.units.get(name, ""), "axis": name not in about.not_axes, "differs": name in table.differing,
        "values": values, "scale": scale_of(table, name), "usual": [most_frequent(values)] if compared else [],
    }  # fmt: skip


def scale_of(table: LineageTable, name: str) -> str:
    """Return the default scale of a column, which depends on all runs, shown or hidden."""
    column = table.frame[name]
    return usual_scale(column.to_numpy(dtype=np.float64, na_value=np.nan)) if is_numeric(column) else LINEAR


def most_frequent(values: Sequence[Any]) -> Any:
    """Return the most frequent value; the first one if there is a tie."""
    return Counter(values).most_common(1)[0][0]


def _numbers(table: LineageTable, name: str) -> list[float | str | None]:
    there = table.recorded(name)
    values = table.frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
    whole = table.frame[name].dtype.kind in "iu"
    plain = [int(value) if whole and value == value else value for value in values.tolist()]
    return [
        None if not known else value if math.isfinite(value) else _NOT_FINITE[fmt.number(value)]
        for value, known in zip(plain, there.tolist(), strict=True)
    ]


_NOT_FINITE = {"NaN": "NaN", "+Inf": "Infinity", "-Inf": "-Infinity"}


def _texts(table: LineageTable, name: str) -> list[str | None]:
    there = table.recorded(name).tolist()
    return [brief(category_text(value)) if known else None for value, known in zip(table.frame[name].array, there, strict=True)]


def default_columns(table: LineageTable) -> list[str]:
    """Return the columns to show if the state names none, in the order of their axes.

    They are those in which runs differ, without texts that identify a run rather than describe it. If there are too many, the
    main result comes first, then columns that most runs have, and results and common settings before the rest (`Columns.rank`).
    """
    about = table.about
    chosen = set(_ranked(table)[:MOST_BY_DEFAULT])
    return sorted((name for name in table.columns if name in chosen), key=lambda name: about.axes.index(about.group_of(name)))


def _ranked(table: LineageTable) -> list[str]:
    """Return the columns that may be shown by default, the most important one first."""
    about = table.about
    usable = [name for name in table.columns if name not in about.not_axes]
    differing = [name for name in usable if name in table.differing and (about.compared or not _identifies(table, name))]
    half = len(table.rows) / 2
    among = usable if about.compared or len(differing) < 2 else differing
    main = default_colour(table)
    return sorted(
        among,
        key=lambda name: (
            name != main, bool(about.compared) and name not in table.differing, table.recorded(name).sum() < half,
            about.rank(name),
        ),
    )


def _identifies(table: LineageTable, name: str) -> bool:
    """True if more than half of the runs that have a text have one of their own, such as a name."""
    if is_numeric(table.frame[name]):
        return False
    recorded = table.frame[name][table.recorded(name)]
    return len(recorded) >= _FEWEST and 2 * int(recorded.map(category_text).nunique()) > len(recorded)


def default_colour(table: LineageTable) -> str:
    """Return the main result (`main_target`) if runs differ in it, else BY_RUN."""
    results = [name for name in table.columns if table.about.group_of(name) == METRICS and is_numeric(table.frame[name])]
    main = main_target(table.frame, results)
    return main if main in table.differing else BY_RUN


def default_sort(table: LineageTable) -> str:
    """Return the order of the rows if the state names none: "+" or "-" and the main result, the best run first; else ""."""
    main = default_colour(table)
    return "" if main == BY_RUN else f"{'+' if better(main) == 'min' else '-'}{main}"


# Figure ------------------------------------------------------------------------------------------------------------


def drawing(table: LineageTable, ask: AxesRequest, colours: Mapping[str, str]) -> dict[str, Any]:
    """Return the figure an ask describes, without unknown columns and runs. colours maps run keys to colours."""
    shown = [place for place, row in enumerate(table.rows) if row.run not in ask.hidden]
    keys = [table.rows[place].run for place in shown]
    known = [name for name in ask.columns if name in table.columns and name not in table.about.not_axes]
    axes = {name: _axis(table, name, shown, ask) for name in known}
    figure = parallel(list(axes.values()), keys, _line(table, ask, shown, colours))
    if ask.colour in table.columns:
        figure["layout"]["meta"]["key"] = colour_key(_axis(table, ask.colour, shown, ask), dark=ask.dark)
    return described(figure, *of_axes(table, known, shown))


def _axis(table: LineageTable, name: str, shown: list[int], ask: AxesRequest) -> Axis:
    column, recorded = table.frame[name], table.recorded(name)
    if len(shown) != len(table.rows):
        column, recorded = column.iloc[shown], recorded[shown]
    scale = LINEAR if name in ask.linear else LOG if name in ask.log else scale_of(table, name)
    return axis(name, column, recorded, scale=scale, unit=table.about.units.get(name, ""))


def _line(table: LineageTable, ask: AxesRequest, shown: list[int], colours: Mapping[str, str]) -> dict[str, Any]:
    if ask.colour in table.columns:
        return line_by_axis(_axis(table, ask.colour, shown, ask), dark=ask.dark)
    if ask.colour == BY_RUN:
        return line_by_colour([colours.get(table.rows[place].run, _ACCENT) for place in shown])
    return {"color": _ACCENT}
