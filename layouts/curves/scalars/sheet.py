"""The table of final values below the cards (assets/curves/scalars/table.js), and the groups that the bar shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, NotRequired, TypedDict

import numpy as np
from parsers.analysis import FEW, Estimate
from parsers.lineage.table import better

from layouts.curves.final_values import FinalValueRequest, FinalValueRow, labels, read_wanted, rows
from layouts.curves.grouping import REST, CurveGrouping, columns, made
from layouts.curves.last_values import shown_last
from layouts.curves.scalars.matrix import LastMatrix, MatrixOrder, matrix
from layouts.kit import units as fmt
from layouts.kit.state import flag
from layouts.runs.chosen_runs import selected_runs
from layouts.sources import RunSources, Sources

MOST_ROWS = 1000
"""Maximum number of rows of the table on screen; the CSV file has all."""
RUN_COLUMNS = ("last", "last_step", "best", "best_step", "points")
GROUP_COLUMNS = ("n", "last", "last_interval", "best", "best_interval", "best_step")


class GroupOfRuns(TypedDict):
    """A group of the chosen runs."""

    label: str
    colour: str
    hand: bool
    """The colour was set by hand."""
    n: int
    runs: list[str]


class FinalCell(TypedDict):
    """A cell of the table; the value is what rows are sorted by."""

    text: str
    value: float | None
    title: NotRequired[str]
    tip: NotRequired[Annotated[Any, "Texts"]]
    wrong: NotRequired[bool]
    few: NotRequired[bool]


class FinalRow(TypedDict):
    """A curve, or a group of curves."""

    tag: str
    label: str
    colour: str
    better: str
    cells: list[FinalCell]


class FinalTable(TypedDict):
    """The table of final values."""

    columns: list[str]
    rows: list[FinalRow]
    total: int
    grouped: bool


class RequestedParts(TypedDict):
    """What was asked for of groups, settings to group by and table."""

    few: int
    groups: list[GroupOfRuns] | None
    settings: list[str] | None
    base: str | None
    refused: str
    table: FinalTable | None
    matrix: LastMatrix | None


class FilledSheet(RequestedParts):
    """A sheet and what was asked for."""

    ask: dict[str, list[str]]


def sheet(source: Sources, data: Any) -> RequestedParts:
    """Return the requested ones of: groups with their runs, settings to group by, the table or, with `matrix`, the matrix."""
    wanted, in_matrix = read_wanted(data), flag(data, "matrix")
    runs = selected_runs(wanted.state, source, ("scalar",))
    groups, refused = made(source, wanted.by, runs)
    names = labels(source)
    base_kind, _, base = wanted.base.partition(":")
    return {
        "groups": _groups(source, wanted.by, groups, runs, names) if groups else None,
        "refused": refused,
        "few": FEW,
        "base": names.get(base, base) if base_kind == "run" else base if groups else None,
        "settings": columns(source, runs) if wanted.settings else None,
        "table": _table(source, wanted, groups, runs) if wanted.tags is not None and not in_matrix else None,
        "matrix": matrix(source, runs, names, wanted.state, wanted.tags or (), MatrixOrder.read(data)) if in_matrix else None,
    }


def _groups(
    source: Sources, by: str, groups: CurveGrouping, runs: Sequence[str], names: dict[str, str]
) -> list[GroupOfRuns]:
    by_hand = source.notes.notebook().groups
    of: dict[str, list[str]] = {}
    for run in runs:
        of.setdefault(groups.label.get(run, REST), []).append(names.get(run, run))
    return [
        {"label": label, "colour": colour, "n": len(of[label]), "runs": of[label][:MOST_ROWS],
         "hand": (by, label) in by_hand}
        for label, colour in groups.colour.items() if label in of
    ]  # fmt: skip


def _table(source: RunSources, wanted: FinalValueRequest, groups: CurveGrouping | None, runs: Sequence[str]) -> FinalTable:
    kind = wanted.base.partition(":")[0]
    compared = kind == "run" or (kind == "group" and groups is not None)
    names = [*(GROUP_COLUMNS if groups else RUN_COLUMNS), *(("minus",) if compared else ())]
    if groups and kind == "group":
        names.append("wins")
    shown: list[FinalRow] = []
    total = 0
    for row in rows(source, wanted, groups, runs):
        total += 1
        if total <= MOST_ROWS:
            shown.append({"tag": row.tag, "label": row.label, "colour": row.colour, "better": better(row.tag),
                          "cells": [_CELLS[name](row, groups is not None) for name in names]})  # fmt: skip
    return {"columns": names, "rows": shown, "total": total, "grouped": groups is not None}


def _number(value: float) -> FinalCell:
    if math.isnan(value):
        return {"text": "", "value": None}
    return {"text": fmt.number(value), "title": fmt.exact(value), "value": value if math.isfinite(value) else None}


def _last(row: FinalValueRow, grouped: bool) -> FinalCell:
    if grouped and math.isnan(row.last.value) and row.last.n < len(row.finals):
        return {"text": fmt.number(math.nan), "value": None, "wrong": True}
    if grouped:
        return _number(row.last.value)
    (one,) = row.finals
    last = shown_last(one.ended)
    return {"text": last["text"], "value": one.last if math.isfinite(one.last) else None, "tip": last["tip"],
            "wrong": last["wrong"]}  # fmt: skip


def _count(value: float) -> FinalCell:
    return {"text": "", "value": None} if value < 0 or math.isnan(value) else {"text": fmt.count(int(value)), "value": value}


def _runs(row: FinalValueRow, _grouped: bool) -> FinalCell:
    """The number of runs with a finite last value, and of all runs if some have none."""
    n, k = row.last.n, len(row.finals)
    return {"text": fmt.count(n) if n == k else f"{fmt.count(n)} / {fmt.count(k)}", "value": n, "few": n < FEW}


def _interval(one: Estimate, write: Any = fmt.number) -> FinalCell:
    if math.isnan(one.low):
        return {"text": "", "value": None}
    width = one.high - one.low
    return {"text": f"{write(one.low)} – {write(one.high)}", "title": f"{fmt.exact(one.low)} – {fmt.exact(one.high)}",
            "value": width if math.isfinite(width) else None}  # fmt: skip


def _wins(row: FinalValueRow, _grouped: bool) -> FinalCell:
    if row.wins is None or math.isnan(row.wins.value):
        return {"text": "", "value": None}
    ends = _interval(row.wins, lambda value: f"{value:.2f}")
    return {"text": f"{row.wins.value:.2f}  ({ends['text']})", "value": row.wins.value, "few": row.wins.n < FEW}


def _best_step(row: FinalValueRow) -> float:
    found = [one.best_step for one in row.finals if one.best_step >= 0]
    return float(np.median(found)) if found else math.nan


_CELLS: dict[str, Any] = {
    "n": _runs,
    "last": _last,
    "last_interval": lambda row, _grouped: _interval(row.last),
    "last_step": lambda row, _grouped: _count(row.finals[0].last_step),
    "best": lambda row, _grouped: _number(row.best.value),
    "best_interval": lambda row, _grouped: _interval(row.best),
    "best_step": lambda row, _grouped: _count(_best_step(row)),
    "points": lambda row, _grouped: _count(row.finals[0].points),
    "minus": lambda row, _grouped: _number(row.minus),
    "wins": _wins,
}
