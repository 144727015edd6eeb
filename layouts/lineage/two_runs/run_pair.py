"""The two runs to compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import product
from typing import Any

from parsers.analysis.lineage.setting_differences import NOT_SETTINGS

from layouts.kit.state import BadInput, text, texts
from layouts.lineage.model_columns import group_of
from layouts.runs.chosen_runs import label_of, selected_rows
from layouts.runs.rows import RunRow
from layouts.runs.run_numbers import NEEDS
from layouts.sources import RunSources, Sources

_NAME = 100_000
_MOST = 20
"""Number of newest runs among which the two are chosen."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two member runs, the first one being the reference: their keys, rows, names and colours.

    rows are those with which the pair was chosen, as a run may be deleted since. hidden are not drawn as curves.
    """

    runs: tuple[str, str]
    rows: tuple[RunRow, RunRow]
    names: tuple[str, str]
    colours: tuple[str, str]
    hidden: tuple[str, ...] = ()


def pair_of(source: Sources, state: Any) -> Pair | None:
    """Return the runs that a state names as `one` and `other`; None if there are fewer than two runs.

    A run that the state does not name is the newest chosen one that has curves in common with the other, differs from it in a
    setting, and then has most in common with it (`_shared`). Of a job one rank is a candidate, unless only one job is chosen.
    Where a single run is chosen, it is compared with one of those that are on screen while nobody has chosen any.
    """
    rows = {member: row for row in source.runs.rows() for member in row.members}
    selected = selected_rows(state, source, NEEDS)
    chosen = list(selected)
    firsts = [run for run, row in selected.items() if run == row.members[0]]
    candidates = (firsts if len(firsts) > 1 else chosen)[:_MOST]
    named = [run if (run := text(state, key, limit=_NAME)) in rows else "" for key in ("one", "other")]
    first = [named[0]] if named[0] else candidates
    second = [named[1]] if named[1] else candidates if len(chosen) != 1 else _others(source, chosen[0])
    parts = {run: _parts(source, run) for run in {*first, *second}}
    pairs = [(one, other) for one, other in product(first, second) if one != other]
    settings = {run: source.lineage.settings(run) for run in parts}

    def worth(two: tuple[str, str]) -> tuple[int, ...]:
        one, other = (parts[run] for run in two)
        return bool(one[1] & other[1]), _differ(*(settings[run] for run in two)), *_shared(one, other)

    best = max(pairs, key=worth, default=None)
    return None if best is None else pair(source, best, texts(state, "run"), chosen)


def _others(source: Sources, chosen: str) -> list[str]:
    """Return the runs that one chosen run may be compared with."""
    usual = selected_rows({}, source, NEEDS)
    return [run for run, row in usual.items() if run == row.members[0] and run != chosen][:_MOST]


def _parts(source: Sources, run: str) -> tuple[Set[str], ...]:
    """Return what the page can compare of a run, section by section: its settings, scalars, pipeline and graph."""
    settings = source.lineage.settings(run)
    return frozenset(settings), frozenset(source.runs.tags(run)), *(
        frozenset((kind,)) if source.runs.tags(run, kind) else frozenset() for kind in ("dataset_graph", "graph")
    )  # fmt: skip


def _differ(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two runs have different values of a setting; paths and results are none."""
    names = (name for name in {*one, *other} if name not in NOT_SETTINGS and group_of(name) != "metric")
    return any(one.get(name) != other.get(name) for name in names)


def _shared(one: tuple[Set[str], ...], other: tuple[Set[str], ...]) -> tuple[int, int]:
    """Return how many sections two runs have in common, and how many settings and tags."""
    common = [len(a & b) for a, b in zip(one, other, strict=True)]
    return sum(map(bool, common)), sum(common)


def pair(source: RunSources, runs: tuple[str, str], named: Sequence[str] = (), chosen: Sequence[str] = ()) -> Pair:
    """Return a pair by the keys of its runs. BadInput if one of them does not exist.

    named are the runs that the state names, chosen the member runs on screen: if both are among these, they have the colours of
    all pages.
    """
    rows = {member: row for row in source.runs.rows() for member in row.members}
    if not set(runs) <= rows.keys():
        raise BadInput(f"runs: expected the keys of two runs, found {str(runs)[:80]!r}")
    drawn = source.runs.colours(named if set(runs) <= set(chosen) else runs)
    one, other = runs
    names = label_of(one, rows[one]), label_of(other, rows[other])
    return Pair(runs, (rows[one], rows[other]), names, (drawn[one], drawn[other]))
