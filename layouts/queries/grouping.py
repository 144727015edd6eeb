"""Which runs belong together: by a regular expression over their names, by a setting, by rank or by job.

Groups are made over all runs, not over those on screen alone, so that a group has its colour whatever is chosen beside it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from parsers import Setting

from layouts import format as fmt
from layouts.sources import FrameSource, LineageSource, RunRow
from layouts.theme import run_colours

KINDS = ("job", "rank", "regex", "column")
"""What a grouping begins with; after "regex:" and "column:" stands which."""
REST = ""
"""The group of runs that have no name to be grouped by."""
REST_COLOUR = "#7b8694"
_LABEL = 200
MOST_COLUMNS = 500


@dataclass(frozen=True, slots=True)
class Grouping:
    """label of every member run, and colour of every label, in the order groups are listed: REST last."""

    label: Mapping[str, str]
    colour: Mapping[str, str]


def grouping(source: FrameSource, by: str) -> Grouping | None:
    """The groups of all runs, None where `by` is of none; ValueError, whose text is meant for the user, for a bad pattern."""
    kind, _, what = by.partition(":")
    if not kind or (kind in ("regex", "column") and not what):
        return None
    rows = source.runs()
    labels = {"job": _jobs, "rank": _ranks}[kind](rows) if kind in ("job", "rank") else _named(source, rows, kind, what)
    oldest_first = sorted(rows, key=lambda row: (row.started or 0.0, row.key))
    colours = run_colours(label for row in oldest_first for member in row.members if (label := labels[member]) != REST)
    ordered = sorted(colours, key=_natural)
    return Grouping(labels, {label: colours[label] for label in ordered} | {REST: REST_COLOUR})


def made(source: FrameSource, by: str) -> tuple[Grouping | None, str]:
    """(groups of all runs, None for none, and why they cannot be made)."""
    try:
        return grouping(source, by), ""
    except ValueError as error:
        return None, str(error)


def columns(source: LineageSource, runs: Sequence[str]) -> list[str]:
    """Settings to group these runs by: those in which two of them differ first, then the others, each kind by name."""
    chosen, values = set(runs), dict[str, set[str]]()
    for row in source.lineage():
        if row.run in chosen:
            for name, value in row.settings.items():
                values.setdefault(name, set()).add(_text(value))
    return sorted(values, key=lambda name: (len(values[name]) < 2, _natural(name)))[:MOST_COLUMNS]


def _named(source: FrameSource, rows: Sequence[RunRow], kind: str, what: str) -> dict[str, str]:
    members = [member for row in rows for member in row.members]
    if kind == "regex":
        found = source.captured(what, members)
        return {member: (label or REST)[:_LABEL] for member, label in zip(members, found, strict=True)}
    values = {row.run: row.settings.get(what) for row in source.lineage()}
    return {member: _text(value) if (value := values.get(member)) is not None else REST for member in members}


def _jobs(rows: Sequence[RunRow]) -> dict[str, str]:
    return {member: row.key for row in rows for member in row.members}


def _ranks(rows: Sequence[RunRow]) -> dict[str, str]:
    """A rank is named as its directory below that of its job; a run without ranks has none."""
    return {member: member.removeprefix(f"{row.key}/") if member != row.key else REST for row in rows for member in row.members}


def _text(value: Setting) -> str:
    if isinstance(value, float):
        return fmt.exact(value)
    return str(value)[:_LABEL]


def _natural(label: str) -> tuple[float, list[tuple[int, int, str]], str]:
    """Numbers by their value, then texts, in which numbers count by their value too."""
    try:
        number = float(label)
    except ValueError:
        number = math.inf
    number = math.inf if math.isnan(number) else number
    parts = re.split(r"([0-9]{1,18})", label)
    told = [(1, int(part), "") if part.isdecimal() and part.isascii() else (0, 0, part.casefold()) for part in parts]
    return number, told, label
