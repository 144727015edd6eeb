"""The computation graphs of the chosen runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from layouts.queries.damage import damage
from layouts.sources import RunRow, RunSource, ValueSource
from layouts.state import elsewhere, label_of, selected_runs, stamped

MOST_RUNS = 100
"""Maximum number of runs whose graphs are listed."""
MOST_GRAPHS = 500
"""Maximum number of graphs listed per run."""
MOST_ELSEWHERE = 8
MOST_EMPTY = 20


def catalogue(source: ValueSource, state: Any, known: Any = None) -> dict[str, Any] | None:
    """Return graphs by run and the numbers of runs left out and not read yet; None if the digest is the known one.

    If no chosen run has a graph, `elsewhere` names other runs that have one, and `damage` lists the problems of the chosen
    ones that may be the reason, and `empty` their files without bytes. A graph's mark changes when its file is
    rewritten.
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
        "damage": [] if having else damage(source, runs[:MOST_RUNS]),
        "empty": [] if having else list(islice(_empty(source, runs[:MOST_RUNS]), MOST_EMPTY)),
    }
    answer = stamped(found)
    return None if answer["digest"] == known else answer


def _empty(source: RunSource, runs: Sequence[str]) -> Iterator[list[str]]:
    problems = (problem for run in runs for _, problem in source.problems(run) if problem.kind == "empty_file")
    return ([os.path.basename(problem.path), problem.text] for problem in problems)


def _run(source: ValueSource, run: str, row: RunRow) -> dict[str, Any]:
    places = source.graphs(run)
    graphs = [
        {"name": place.name, "stage": place.stage, "mark": f"{place.offset}-{place.length}-{place.wall_time:.3f}"}
        for place in islice(places, MOST_GRAPHS)
    ]
    return {"key": run, "name": label_of(run, row), "graphs": graphs, "total": len(places)}
