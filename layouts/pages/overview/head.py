"""Which run the overview shows, and the head of the page."""

from __future__ import annotations

from typing import Any

from layouts import format as fmt
from layouts.queries.run_facts import NEEDS, facts
from layouts.sources import RunRow, RunSource, ValueSource
from layouts.state import colours, label_of, selected_runs, text

_NAME = 100_000


def run_of(source: RunSource, state: Any) -> tuple[str, RunRow] | None:
    """The member run that a state puts on screen, and its row: `of`, or else the first chosen; None where none is chosen."""
    chosen = selected_runs(state, source, NEEDS)
    if not chosen:
        return None
    named = text(state, "of", limit=_NAME)
    run = named if named in chosen else chosen[0]
    return run, next(row for row in source.runs() if run in row.members)


def head(source: ValueSource, run: str, row: RunRow) -> dict[str, Any]:
    """The head of the page: facts as {name, text}, key and values of a text that the text goes into, tips in both languages."""
    own = source.member(run) or row
    return {
        "of": run,
        "label": label_of(run, row),
        "colour": colours(source).get(run, ""),
        "state": own.state,
        "started": own.started,
        "problems": fmt.count(len(source.problems(run))),
        "wrong": bool(source.problems(run)),
        "path": own.path,
        "real": own.real_path if own.real_path != own.path else "",
        "facts": facts(source, run, row),
    }
