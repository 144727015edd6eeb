"""The computation graphs of the chosen runs and of their dumps."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from parsers.graphs.stages import Staged, compiled, opening

from layouts.dumps.dumped_graphs import DumpedGraphs, dumped_graphs, place_of
from layouts.kit.i18n import both
from layouts.kit.state import stamped
from layouts.runs.chosen_runs import elsewhere, label_of, selected_rows
from layouts.runs.damage import damage
from layouts.runs.rows import RunRow
from layouts.sources import RunSources, Sources

MOST_RUNS = 100
"""Maximum number of runs whose graphs are listed."""
MOST_GRAPHS = 500
"""Maximum number of graphs listed per run."""
MOST_DUMPS = 4
"""Dumps that are listed at once, because no more are kept."""
MOST_ELSEWHERE = 8
MOST_EMPTY = 20


def catalogue(source: Sources, state: Any, known: Any = None) -> dict[str, Any] | None:
    """Return graphs by run and the numbers of runs left out and not read yet; None if the digest is the known one.

    If no chosen run has a graph, `elsewhere` names other runs that have one, and `damage` lists the problems of the chosen
    ones that may be the reason, and `empty` their files without bytes. A graph's mark changes when its file is
    rewritten. Graphs of dumps follow those of their run; `listing` is the number of dumps still being listed.
    """
    rows = selected_rows(state, source, ("graph", "dump"))
    runs = list(rows)
    source.runs.want(runs)
    dumps = _dumps(source, runs, rows)
    having = [run for run in runs if source.runs.tags(run, "graph") or (run in dumps and dumps[run].names)]
    found: dict[str, Any] = {
        "chosen": len(runs),
        "runs": [_run(source, run, rows[run], dumps.get(run, DumpedGraphs())) for run in having[:MOST_RUNS]],
        "left": max(0, len(having) - MOST_RUNS),
        "listing": sum(one.reading for one in dumps.values()),
        "waiting": sum(rows[run].state in ("waiting", "loading") for run in runs),
        "elsewhere": [] if having else elsewhere(source, runs, "graph", MOST_ELSEWHERE),
        "damage": [] if having else damage(source, runs[:MOST_RUNS]),
        "empty": [] if having else list(islice(_empty(source, runs[:MOST_RUNS]), MOST_EMPTY)),
    }
    answer = stamped(found)
    return None if answer["digest"] == known else answer


def _dumps(source: Sources, runs: Sequence[str], rows: Mapping[str, RunRow]) -> dict[str, DumpedGraphs]:
    """Return the graphs of dumps by the run they are shown with: of a job its first chosen member."""
    found: dict[str, DumpedGraphs] = {}
    seen: set[str] = set()
    for run in runs:
        row = rows[run]
        if row.tags.get("dump") and row.key not in seen and len(seen) < MOST_DUMPS:
            seen.add(row.key)
            found[run] = dumped_graphs(source, row)
    return found


def _empty(source: RunSources, runs: Sequence[str]) -> Iterator[list[str]]:
    problems = (problem for run in runs for _, problem in source.runs.problems(run) if problem.kind == "empty_file")
    return ([os.path.basename(problem.path), problem.text] for problem in problems)


def _run(source: Sources, run: str, row: RunRow, dumped: DumpedGraphs) -> dict[str, Any]:
    staged = compiled(source.graphs.locations(run))
    graphs = []
    for one in _most(staged):
        place = one.location
        mark = f"{place.offset}-{place.length}-{place.wall_time:.3f}"
        graphs.append({"name": place.name, "stage": place.stage, "mark": mark, "final": one.final, "bytes": place.length})
    for name in dumped.names[: MOST_GRAPHS - len(graphs)]:
        rank, number = place_of(name) or (0, 0)
        label = list(both("graph.dumped", rank=rank, number=number))
        graphs.append({"name": name, "stage": "", "mark": dumped.mark, "final": False, "label": label})
    first = opening(staged) or next(iter(dumped.names), "")
    return {
        "key": run, "name": label_of(run, row), "graphs": graphs, "total": len(staged) + len(dumped.names), "first": first,
    }  # fmt: skip


def _most(staged: list[Staged]) -> list[Staged]:
    """Return at most MOST_GRAPHS graphs; of more, which are passes of the compiler, the last ones."""
    return staged if len(staged) <= MOST_GRAPHS else staged[-MOST_GRAPHS:]
