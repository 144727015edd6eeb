"""Which graphs the chosen runs have."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from layouts.sources import RunRow, RunSource, ValueSource
from layouts.state import elsewhere, label_of, selected_runs, stamped

MOST_RUNS = 100
"""The graphs of so many runs are listed."""
MOST_GRAPHS = 500
"""So many graphs of one run are listed."""
MOST_ELSEWHERE = 8
MOST_REFUSED = 20
_REFUSED = ("no_graph", "empty_file", "unreadable")


def catalogue(source: ValueSource, state: Any, known: Any = None) -> dict[str, Any] | None:
    """Graphs by run, how many runs are left out or unread; None where the digest is the known one.

    For a choice without any graph, elsewhere names runs that are not chosen and have some, and refused the files that were
    expected to hold one, each with the reason why it does not. A graph's mark changes when its file is written anew.
    """
    runs = selected_runs(state, source, ("graph",))
    source.want(runs)
    rows = {member: row for row in source.runs() for member in row.members}
    having = [run for run in runs if source.tags(run, "graph")]
    found: dict[str, Any] = {
        "chosen": len(runs),
        "runs": [_run(source, run, rows[run]) for run in having[:MOST_RUNS]],
        "left": max(0, len(having) - MOST_RUNS),
        "waiting": sum(rows[run].state in ("waiting", "loading") for run in runs),
        "elsewhere": [] if having else elsewhere(source, runs, "graph", MOST_ELSEWHERE),
        "refused": [] if having else list(islice(_refused(source, runs[:MOST_RUNS]), MOST_REFUSED)),
    }
    answer = stamped(found)
    return None if answer["digest"] == known else answer


def _refused(source: RunSource, runs: Sequence[str]) -> Iterator[list[str]]:
    problems = (problem for run in runs for _, problem in source.problems(run) if problem.kind in _REFUSED)
    return ([os.path.basename(problem.path), problem.text] for problem in problems)


def _run(source: ValueSource, run: str, row: RunRow) -> dict[str, Any]:
    places = source.graphs(run)
    graphs = [
        {"name": place.name, "stage": place.stage, "mark": f"{place.offset}-{place.length}-{place.wall_time:.3f}"}
        for place in islice(places, MOST_GRAPHS)
    ]
    return {"key": run, "name": label_of(run, row), "graphs": graphs, "total": len(places)}
