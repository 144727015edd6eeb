"""What curves came to: last and best value of every run or group, for each tag; and what the bar says of groups.

Values are raw, whatever is drawn. A run counts with the last word on every step; best is the lowest or the highest finite value
by the name of the tag, where that says which. Of a group the interquartile mean over its runs is told, with its 95 % interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers import Series
from parsers.analysis import FEW, Estimate, improvement, interquartile_mean, newest
from parsers.lineage.table import better

from layouts import format as fmt
from layouts.pages.scalars.asks import BASES, of_kind
from layouts.pages.scalars.grouping import KINDS, REST, Grouping, columns, made
from layouts.sources import FrameSource
from layouts.state import BadInput, colours, flag, label_of, selected_runs, text, texts
from layouts.theme import PALETTE

MOST_ROWS = 1000
"""A table on screen has at most so many; the CSV has all."""
MOST_TAGS = 500
RUN_COLUMNS = ("last", "last_step", "best", "best_step", "points")
GROUP_COLUMNS = ("n", "last", "last_interval", "best", "best_interval", "best_step")


@dataclass(frozen=True, slots=True)
class Final:
    """Last and best value of a run and their steps; NaN and -1 where there is none. points is the number of values."""

    last: float
    last_step: int
    best: float
    best_step: int
    points: int


@dataclass(frozen=True, slots=True)
class Row:
    """A tag of a run or group: its finals, and the estimates of last and best; minus and wins compare with the baseline."""

    tag: str
    label: str
    colour: str
    finals: Sequence[Final] = field(repr=False)
    last: Estimate
    best: Estimate
    minus: float
    wins: Estimate | None


def final(series: Series, direction: str) -> Final:
    """What one series came to; direction is "min", "max" or "" of `parsers.lineage.table.better`."""
    keep = newest(series.step)
    step, value = series.step[keep], series.value[keep]
    finite = np.flatnonzero(np.isfinite(value))
    best, at = math.nan, -1
    if direction and finite.size:
        place = finite[value[finite].argmin() if direction == "min" else value[finite].argmax()]
        best, at = float(value[place]), int(step[place])
    return Final(float(value[-1]), int(step[-1]), best, at, series.step.size)


# Rows -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a sheet is asked for: runs as a state names them, tags of the table (None: no table), grouping and baseline."""

    state: dict[str, list[str]]
    tags: tuple[str, ...] | None
    by: str
    base: str
    settings: bool


def read_wanted(data: Any) -> Wanted:
    """What the browser or a request asked for, or BadInput."""
    tags = texts(data, "tag")
    if len(tags) > MOST_TAGS:
        raise BadInput(f"tag: wanted at most {MOST_TAGS} in one table; got {len(tags)}")
    return Wanted(
        state={"run": texts(data, "run")} if texts(data, "run") else {},
        tags=tuple(tags) if flag(data, "table") else None,
        by=of_kind(data, "group", KINDS),
        base=of_kind(data, "base", BASES),
        settings=text(data, "settings") == "1",
    )


def rows(source: FrameSource, wanted: Wanted, groups: Grouping | None, runs: Sequence[str]) -> Iterator[Row]:
    """A row for each tag and run, or for each tag and group, that has any value."""
    names = labels(source)
    colour = colours(source)
    kind, _, base = wanted.base.partition(":")
    for tag in wanted.tags or ():
        direction = better(tag)
        found = {run: final(one, direction) for run in runs if (one := source.series(run, tag)) is not None and one.step.size}
        shown: dict[str, list[Final]] = {}
        for run, came in found.items():
            shown.setdefault(groups.label[run] if groups else run, []).append(came)
        under: Sequence[Final] = ()
        if kind == "group" and groups:
            under = shown.get(base, ())
        elif kind == "run" and (series := source.series(base, tag)) is not None and series.step.size:
            under = [final(series, direction)]
        order = [label for label in groups.colour if label in shown] if groups else list(shown)
        for label in order:
            mine = groups.colour[label] if groups else colour.get(label, PALETTE[0][0])
            itself = label == base and kind == ("group" if groups else "run")
            yield _row(tag, label if groups else names.get(label, label), mine, shown[label], under, direction, itself)


def _row(
    tag: str, label: str, colour: str, finals: Sequence[Final], under: Sequence[Final], direction: str, itself: bool
) -> Row:
    last, best = _lasts(finals), np.array([one.best for one in finals])
    wins = None
    if len(under) > 1 and direction and not itself:
        wins = improvement(last, _lasts(under), direction)
    minus = interquartile_mean(last).value - interquartile_mean(_lasts(under)).value if under else math.nan
    return Row(tag, label, colour, finals, interquartile_mean(last), interquartile_mean(best), minus, wins)


def _lasts(finals: Sequence[Final]) -> NDArray[np.float64]:
    return np.array([one.last for one in finals])


def labels(source: FrameSource) -> dict[str, str]:
    """Member run -> what it is called on the page."""
    return {member: label_of(member, row) for row in source.runs() for member in row.members}


# For the browser --------------------------------------------------------------------------------------------------------


def sheet(source: FrameSource, data: Any) -> dict[str, Any]:
    """Groups with their runs, settings to group by, and the table, as far as they are asked for."""
    wanted = read_wanted(data)
    runs = selected_runs(wanted.state, source, ("scalar",))
    groups, refused = made(source, wanted.by)
    names = labels(source)
    base_kind, _, base = wanted.base.partition(":")
    return {
        "groups": _groups(groups, runs, names) if groups else None,
        "refused": refused,
        "few": FEW,
        "base": names.get(base, base) if base_kind == "run" else base if groups else None,
        "settings": columns(source, runs) if wanted.settings else None,
        "table": _table(source, wanted, groups, runs) if wanted.tags is not None else None,
    }


def _groups(groups: Grouping, runs: Sequence[str], names: dict[str, str]) -> list[dict[str, Any]]:
    of: dict[str, list[str]] = {}
    for run in runs:
        of.setdefault(groups.label.get(run, REST), []).append(names.get(run, run))
    return [
        {"label": label, "colour": colour, "n": len(of[label]), "runs": of[label][:MOST_ROWS]}
        for label, colour in groups.colour.items() if label in of
    ]  # fmt: skip


def _table(source: FrameSource, wanted: Wanted, groups: Grouping | None, runs: Sequence[str]) -> dict[str, Any]:
    kind = wanted.base.partition(":")[0]
    compared = kind == "run" or (kind == "group" and groups is not None)
    names = [*(GROUP_COLUMNS if groups else RUN_COLUMNS), *(("minus",) if compared else ())]
    if groups and kind == "group":
        names.append("wins")
    told, total = [], 0
    for row in rows(source, wanted, groups, runs):
        total += 1
        if total <= MOST_ROWS:
            told.append({"tag": row.tag, "label": row.label, "colour": row.colour, "better": better(row.tag),
                         "cells": [_CELLS[name](row, groups is not None) for name in names]})  # fmt: skip
    return {"columns": names, "rows": told, "total": total, "grouped": groups is not None}


Cell = dict[str, Any]


def _number(value: float) -> Cell:
    if math.isnan(value):
        return {"text": "", "value": None}
    return {"text": fmt.number(value), "title": fmt.exact(value), "value": value if math.isfinite(value) else None}


def _last(row: Row, grouped: bool) -> Cell:
    if grouped:
        return _number(row.last.value)
    (one,) = row.finals
    return _number(one.last) if math.isfinite(one.last) else {"text": fmt.number(one.last), "value": None, "wrong": True}


def _count(value: float) -> Cell:
    return {"text": "", "value": None} if value < 0 or math.isnan(value) else {"text": fmt.count(int(value)), "value": value}


def _runs(row: Row, _grouped: bool) -> Cell:
    """How many runs have a finite last value, of how many."""
    n, k = row.last.n, len(row.finals)
    return {"text": fmt.count(n) if n == k else f"{fmt.count(n)} / {fmt.count(k)}", "value": n, "few": n < FEW}


def _interval(one: Estimate, write: Any = fmt.number) -> Cell:
    if math.isnan(one.low):
        return {"text": "", "value": None}
    return {"text": f"{write(one.low)} – {write(one.high)}", "title": f"{fmt.exact(one.low)} – {fmt.exact(one.high)}",
            "value": one.high - one.low}  # fmt: skip


def _wins(row: Row, _grouped: bool) -> Cell:
    if row.wins is None or math.isnan(row.wins.value):
        return {"text": "", "value": None}
    ends = _interval(row.wins, lambda value: f"{value:.2f}")
    return {"text": f"{row.wins.value:.2f}  ({ends['text']})", "value": row.wins.value, "few": row.wins.n < FEW}


def _best_step(row: Row) -> float:
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
