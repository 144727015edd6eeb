"""The run that the overview shows, and the head of the page."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from layouts.kit import units as fmt
from layouts.kit.state import text
from layouts.runs.chosen_runs import label_of, selected_runs
from layouts.runs.rows import RunRow
from layouts.runs.run_numbers import NEEDS, RunFact, facts
from layouts.sources import RunSources, ValueSources

SHOWN = (*NEEDS, "explain")
"""Kinds of data that have tiles."""
_NAME = 100_000


class NoRun(TypedDict):
    """The head of the page if no run is chosen."""

    of: Literal[""]


class RunHead(TypedDict):
    """The head of the page."""

    of: str
    label: str
    colour: str
    state: str
    started: float | None
    problems: str
    wrong: bool
    """There are problems."""
    path: str
    real: str
    """The path without links if that is another one, else empty."""
    facts: list[RunFact]


def run_of(source: RunSources, state: Any) -> tuple[str, RunRow] | None:
    """Return (member run to show, its row): `of` in the state, else the first chosen run; None if no run is chosen."""
    chosen = selected_runs(state, source, SHOWN)
    if not chosen:
        return None
    named = text(state, "of", limit=_NAME)
    run = named if named in chosen else chosen[0]
    return run, next(row for row in source.runs.rows() if run in row.members)


def head(source: ValueSources, run: str, row: RunRow, colour: str = "") -> RunHead:
    """Return the contents of the head of the page: name, colour, state and path of a run, its problems and its facts."""
    own = source.runs.member(run) or row
    return {
        "of": run,
        "label": label_of(run, row),
        "colour": colour,
        "state": own.state,
        "started": own.started,
        "problems": fmt.count(len(source.runs.problems(run))),
        "wrong": bool(source.runs.problems(run)),
        "path": own.path,
        "real": own.real_path if own.real_path != own.path else "",
        "facts": facts(source, run, row),
    }
