"""Columns that users add to the list of runs: any setting, any last or best value of a scalar, and the duration.

A column is named "setting:<column of LINEAGE>", "last:<tag>", "best:<tag>", "min:<tag>", "max:<tag>" or "duration"; a tag may
be the name of a derived curve, "=" and an expression. The browser asks for the values of some runs at a time, those on screen
first, and again for a run that has new data.
"""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, TypedDict

import numpy as np
from dash import Input, Output
from parsers import Setting, better, derive
from parsers.model import Floats

from layouts.curves.expressions import error_of, expression_of
from layouts.curves.last_values import last_of, tip_of
from layouts.kit.i18n import Text
from layouts.kit.page import Ids
from layouts.kit.state import BadInput, text, texts
from layouts.lineage.model_columns import COLUMNS
from layouts.lineage.parallel import brief
from layouts.runs.rows import RunRow
from layouts.sources import Sources

MOST_RUNS = 2000
MOST_COLUMNS = 60
MOST_CHOICES = 200
"""Maximum number of settings and of tags that are offered at once; a search finds the others."""
MOST_TEXTS = 50_000
SECONDS = 0.2
"""CPU time, in seconds, that a request may spend; the browser then requests the rest."""
DURATION = "duration"
_EXACT = 2**53


def register(app: Any, source: Sources, ids: Ids) -> None:
    """Add the callbacks to a Dash application: columns to choose from, their values, and regular expressions of filters."""

    def offer(ask: Any) -> ColumnChoices:
        return choices(source, ask)

    def look(ask: Any) -> ColumnValues:
        return values(source, ask)

    def match(ask: Any) -> MatchedTexts:
        return matched(source, ask)

    for part, answer in (("choices", offer), ("values", look), ("matched", match)):
        app.callback(Output(ids(part), "data"), Input(ids(f"{part}-ask"), "data"), prevent_initial_call=True)(answer)


class ColumnChoices(TypedDict):
    """Settings and tags that can be columns, and how many more there are."""

    settings: list[Annotated[list[Any] | tuple[Any, ...], tuple[str, Annotated[Any, "Texts"], int]]]
    """name, label in both languages, number of runs"""
    tags: list[Annotated[list[Any] | tuple[Any, ...], tuple[str, str, int]]]
    """name, which values are best if that is known, number of runs"""
    left: int
    find: str


class ColumnValues(TypedDict):
    """Values of some runs in some columns."""

    col: list[str]
    rows: dict[str, list[float | str | None]]
    labels: dict[str, Annotated[list[str], "Texts"]]
    """Labels of settings by column."""
    wrong: dict[str, Annotated[Any, "Texts"]]
    """Errors of expressions by column."""
    tips: dict[str, dict[str, Annotated[Any, "Texts"]]]
    """What is said on hover of last values that are not finite, by run and column."""


class MatchedTexts(TypedDict):
    """Places of texts that a regular expression matches, and why there is no result, else an empty text."""

    pattern: str
    found: list[int]
    error: str


def choices(source: Sources, ask: Any) -> ColumnChoices:
    """Return the settings and tags whose names contain the text of a request {"find": [text]}, the most frequent ones first.

    Settings that divide the runs, with several values of which runs share some, come before those with one value for all
    and those with another value in each run, as results have. Of each: name, label in both languages, and number of runs;
    of tags also the best value ("min", "max" or "" for unknown).
    """
    find = text(ask, "find", "", limit=1000).lower()
    settings: Counter[str] = Counter()
    distinct: defaultdict[str, set[str]] = defaultdict(set)
    every: Counter[tuple[str, ...]] = Counter()  # runs of a sweep have the same tags
    for row in source.runs.rows():
        recorded = {(name, str(value)) for member in row.members for name, value in source.lineage.settings(member).items()}
        settings.update({name for name, _ in recorded})
        for name, value in recorded:
            distinct[name].add(value)
        every.update({tuple(source.runs.tags(member)) for member in row.members})
    tags: Counter[str] = Counter()
    for names, runs in every.items():
        tags.update(dict.fromkeys(names, runs))
    offered = sorted(settings.items(), key=lambda one: (not 1 < len(distinct[one[0]]) < one[1], -one[1], one[0]))
    fitting = [(name, COLUMNS.label(name), runs) for name, runs in offered if name not in ("run", "path")]
    fitting = [one for one in fitting if find in f"{one[0]} {' '.join(one[1])}".lower()]
    named = [(tag, better(tag), runs) for tag, runs in tags.most_common() if find in tag.lower()]
    return {
        "find": find,
        "settings": [[name, list(label), runs] for name, label, runs in fitting[:MOST_CHOICES]],
        "tags": [[tag, best, runs] for tag, best, runs in named[:MOST_CHOICES]],
        "left": max(0, len(fitting) - MOST_CHOICES) + max(0, len(named) - MOST_CHOICES),
    }


def values(source: Sources, ask: Any, clock: Callable[[], float] = time.thread_time) -> ColumnValues:
    """Return the values of some runs in some columns: a request is {"run": [key, ...], "col": [name, ...]}.

    The result is {"col": the columns, "rows": {key: [value, ...]}, "labels": {name: label of a setting}, "wrong": {name: the
    error of its expression, in both languages}}, without the runs for which there was no time. A value is null if missing, a
    number, or a text; non-finite numbers are the texts NaN, Infinity and -Infinity. A job has the value of its first rank that
    has one, and the duration of its longest rank.
    """
    keys, columns = texts(ask, "run"), texts(ask, "col")
    if len(keys) > MOST_RUNS or len(columns) > MOST_COLUMNS:
        raise BadInput(
            f"run, col: expected at most {MOST_RUNS} runs and {MOST_COLUMNS} columns, found {len(keys)} and {len(columns)}"
        )
    end = clock() + SECONDS
    rows = {row.key: row for row in source.runs.rows()}
    found: dict[str, list[float | str | None]] = {}
    for key in keys:
        if found and clock() >= end:
            break
        row = rows.get(key)
        found[key] = [None if row is None else _value(source, row, name) for name in columns]
    labels = {name: list(COLUMNS.label(name.partition(":")[2])) for name in columns if name.startswith("setting:")}
    tips = {key: tips for key, cells in found.items() if (tips := _tips(source, rows.get(key), columns, cells))}
    return {"col": columns, "rows": found, "labels": labels, "wrong": _wrong(columns), "tips": tips}


def _tips(
    source: Sources, row: RunRow | None, columns: Sequence[str], cells: Sequence[float | str | None]
) -> dict[str, Text]:
    """Return column -> what is said of last values that are not finite."""
    found = {}
    for name, cell in zip(columns, cells, strict=True):
        kind, _, tag = name.partition(":")
        if row is not None and kind == "last" and isinstance(cell, str):
            last = next(filter(None, (last_of(source, member, tag) for member in row.members)), None)
            if last is not None:
                found[name] = tip_of(last)
    return found


def _wrong(columns: Iterable[str]) -> dict[str, list[str]]:
    """Return column -> why the expression of its derived curve is invalid, in both languages."""
    found = {}
    for name in columns:
        kind, _, tag = name.partition(":")
        text = expression_of(tag) if kind != "setting" else None
        error = error_of(text) if text is not None else None
        if error is not None:
            found[name] = list(error["text"])
    return found


def _value(source: Sources, row: RunRow, column: str) -> float | str | None:
    if column == DURATION:
        return _plain(max(filter(None, (_duration(source, member) for member in row.members)), default=None))
    kind, _, name = column.partition(":")
    of = {"setting": _setting, "last": _last, "best": _best, "min": _lowest, "max": _highest}.get(kind)
    if of is None:
        kinds = "setting:, last:, best:, min: or max:"
        raise BadInput(f"col: expected {kinds} and a name, or {DURATION}; found {column[:80]!r}")
    return _plain(_first(of(source, member, name) for member in row.members))


def _first(found: Iterable[Setting | None]) -> Setting | None:
    return next((value for value in found if value is not None), None)


def _duration(source: Sources, member: str) -> float | None:
    derived = derive(source.runs.tags(member), lambda tag: source.curves.recorded(member, tag), ())
    return derived.get("duration")


def _setting(source: Sources, member: str, name: str) -> Setting | None:
    return source.lineage.settings(member).get(name)


def _last(source: Sources, member: str, tag: str) -> float | None:
    last = last_of(source, member, tag)
    return None if last is None else last.value


def _best(source: Sources, member: str, tag: str) -> float | None:
    """Return the best finite value of a scalar; None if its name does not say what is better."""
    of = {"min": _lowest, "max": _highest}.get(better(tag))
    return None if of is None else of(source, member, tag)


def _lowest(source: Sources, member: str, tag: str) -> float | None:
    finite = _finite(source, member, tag)
    return float(finite.min()) if finite.size else None


def _highest(source: Sources, member: str, tag: str) -> float | None:
    finite = _finite(source, member, tag)
    return float(finite.max()) if finite.size else None


def _finite(source: Sources, member: str, tag: str) -> Floats:
    series = source.curves.series(member, tag)
    return np.empty(0) if series is None else series.value[np.isfinite(series.value)]


def _plain(value: Setting | None) -> float | str | None:
    if value is None or isinstance(value, str):
        return value if value is None else brief(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    return value if abs(value) <= _EXACT or isinstance(value, float) else str(value)


def matched(source: Sources, ask: Any) -> MatchedTexts:
    """Return which texts a regular expression matches: a request is {"pattern": [text], "text": [text, ...]}.

    The result is {"pattern", "found": places in the list of texts, "error": why there is no result, else ""}. Matching takes
    place in a process that is stopped if it takes too long.
    """
    pattern, among = text(ask, "pattern", "", limit=10_000), texts(ask, "text")
    if len(among) > MOST_TEXTS:
        raise BadInput(f"text: expected at most {MOST_TEXTS} texts, found {len(among)}")
    try:
        found, error = set(source.patterns.matching(pattern, among)), ""
    except ValueError as failed:
        found, error = set(), str(failed)
    return {"pattern": pattern, "found": [at for at, one in enumerate(among) if one in found], "error": error}
