"""The two runs to compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layouts.queries.run_facts import NEEDS
from layouts.sources import RunSource
from layouts.state import BadInput, label_of, selected_runs, text

_NAME = 100_000


@dataclass(frozen=True, slots=True)
class Pair:
    """Two member runs, the first one being the reference: their keys, names and colours."""

    runs: tuple[str, str]
    names: tuple[str, str]
    colours: tuple[str, str]


def pair_of(source: RunSource, state: Any) -> Pair | None:
    """Return the runs that a state names as `one` and `other`, else the first two chosen; None if there are fewer than two."""
    rows = {member: row for row in source.runs() for member in row.members}
    chosen = selected_runs(state, source, NEEDS)
    named = [run if (run := text(state, key, limit=_NAME)) in rows else "" for key in ("one", "other")]
    one = named[0] or next((run for run in chosen if run != named[1]), "")
    other = named[1] or next((run for run in chosen if run != one), "")
    return pair(source, (one, other)) if one and other else None


def pair(source: RunSource, runs: tuple[str, str]) -> Pair:
    """Return a pair by the keys of its runs. BadInput if one of them does not exist."""
    rows = {member: row for row in source.runs() for member in row.members}
    if not set(runs) <= rows.keys():
        raise BadInput(f"runs: expected the keys of two runs, found {str(runs)[:80]!r}")
    drawn = source.colours()
    one, other = runs
    return Pair(runs, (label_of(one, rows[one]), label_of(other, rows[other])), (drawn[one], drawn[other]))
