"""Group runs by a regular expression over their names, by a setting, by rank or by job.

Groups are made over all runs, not only those on screen; the hues are spread over the groups of those on screen.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from parsers import Setting

from layouts.kit import units as fmt
from layouts.runs.rows import RunRow
from layouts.runs.run_colours import group_colours
from layouts.sources import LineageSources, Sources

KINDS = ("job", "rank", "regex", "column")
"""Kinds of groupings. "regex:" and "column:" are followed by the expression or the name of the column."""
REST = ""
"""The group of all runs that are in no other group."""
REST_COLOUR = "#7b8694"
_LABEL = 200
MOST_COLUMNS = 500


@dataclass(frozen=True, slots=True)
class CurveGrouping:
    """The label of every member run, and the colour of every label in the order groups are listed, REST last."""

    label: Mapping[str, str]
    colour: Mapping[str, str]


def grouping(source: Sources, by: str, shown: Sequence[str] = ()) -> CurveGrouping | None:
    """Return the groups of all runs, None if `by` names no grouping. shown are the member runs on screen.

    Raises ValueError, whose text is meant for the user, for an invalid regular expression.
    """
    kind, _, value = by.partition(":")
    if not kind or (kind in ("regex", "column") and not value):
        return None
    rows = source.runs.rows()
    labels = {"job": _jobs, "rank": _ranks}[kind](rows) if kind in ("job", "rank") else _named(source, rows, kind, value)
    oldest_first = sorted(rows, key=lambda row: (row.started or 0.0, row.key))
    found = [label for row in oldest_first for member in row.members if (label := labels[member]) != REST]
    by_hand = {label: colour for (of, label), colour in source.notes.notebook().groups.items() if of == by}
    colours = group_colours(found, {labels[run] for run in shown if run in labels}, by_hand)
    ordered = sorted(colours, key=_natural)
    return CurveGrouping(labels, {label: colours[label] for label in ordered} | {REST: by_hand.get(REST, REST_COLOUR)})


def made(source: Sources, by: str, shown: Sequence[str]) -> tuple[CurveGrouping | None, str]:
    """Return (groups of all runs or None, the reason if they cannot be made)."""
    try:
        return grouping(source, by, shown), ""
    except ValueError as error:
        return None, str(error)


def columns(source: LineageSources, runs: Sequence[str]) -> list[str]:
    """Return the settings to group these runs by: first those in which runs differ, then the others, each sorted by name."""
    chosen, values = set(runs), dict[str, set[str]]()
    for row in source.lineage.rows():
        if row.run in chosen:
            for name, value in row.settings.items():
                values.setdefault(name, set()).add(_text(value))
    return sorted(values, key=lambda name: (len(values[name]) < 2, _natural(name)))[:MOST_COLUMNS]


def _named(source: Sources, rows: Sequence[RunRow], kind: str, key: str) -> dict[str, str]:
    members = [member for row in rows for member in row.members]
    if kind == "regex":
        found = source.patterns.captured(key, members)
        return {member: (label or REST)[:_LABEL] for member, label in zip(members, found, strict=True)}
    values = {row.run: row.settings.get(key) for row in source.lineage.rows()}
    return {member: _text(value) if (value := values.get(member)) is not None else REST for member in members}


def _jobs(rows: Sequence[RunRow]) -> dict[str, str]:
    return {member: row.key for row in rows for member in row.members}


def _ranks(rows: Sequence[RunRow]) -> dict[str, str]:
    """Label a rank by its directory within the job; a run without ranks gets REST."""
    return {member: member.removeprefix(f"{row.key}/") if member != row.key else REST for row in rows for member in row.members}


def _text(value: Setting) -> str:
    if isinstance(value, float):
        return fmt.exact(value)
    return str(value)[:_LABEL]


def _natural(label: str) -> tuple[float, list[tuple[int, int, str]], str]:
    """Sort key: numbers by value first, then texts, with the numbers in them by value too."""
    try:
        number = float(label)
    except ValueError:
        number = math.inf
    number = math.inf if math.isnan(number) else number
    parts = re.split(r"([0-9]{1,18})", label)
    keys = [(1, int(part), "") if part.isdecimal() and part.isascii() else (0, 0, part.casefold()) for part in parts]
    return number, keys, label
