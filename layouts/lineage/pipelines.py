"""The distinct data pipelines of the chosen runs, the runs that used each, and their differences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from parsers import DatasetGraph
from parsers.analysis.lineage.pipelines import ComparedOperation, NumberedPipeline, compare, numbered

from layouts.runs.chosen_runs import selected_runs
from layouts.sources import ValueSources

MOST_RUNS = 200
"""Maximum number of runs whose pipelines are read."""
MOST_PIPELINES = 8
"""Maximum number of pipelines drawn and compared; those of the newest runs come first."""
MOST_COMPARED = 2_000
"""Pipelines with more operations are drawn but not compared."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A pipeline and the member runs that used it; recorded is its wall time in seconds, NaN unless one run had several."""

    graph: DatasetGraph
    runs: tuple[str, ...]
    recorded: float = math.nan


@dataclass(frozen=True, slots=True)
class FoundPipelines:
    """The pipelines of the chosen runs.

    graphs are the pipelines as numbered lists, left is the number of further pipelines. without are runs that recorded none,
    broken runs with an unreadable pipeline, waiting the number of runs still being read, unseen that of runs beyond MOST_RUNS.
    """

    chosen: int
    pipelines: tuple[Pipeline, ...]
    graphs: tuple[NumberedPipeline, ...]
    left: int
    without: tuple[str, ...]
    broken: tuple[str, ...]
    waiting: int
    unseen: int


def find(source: ValueSources, state: Any) -> FoundPipelines:
    """Return the pipelines of the runs that a state names, in the order of the list of runs.

    Of a single run these are the pipelines of all starts of its training, in the order of time.
    """
    runs = selected_runs(state, source, ("dataset_graph",))
    source.runs.want(runs)
    states = {member: row.state for row in source.runs.rows() for member in row.members}
    having = [run for run in runs if source.runs.tags(run, "dataset_graph")]
    sharing: dict[str, tuple[DatasetGraph, list[str]]] = {}
    broken = []
    for run in having[:MOST_RUNS]:
        graph = source.graphs.dataset(run)
        if graph is None:
            broken.append(run)
        else:
            sharing.setdefault(graph.mark + graph.problem, (graph, []))[1].append(run)
    without = [run for run in runs if run not in set(having)]
    waiting = [run for run in without if states[run] in ("waiting", "loading")]
    pipelines = tuple(Pipeline(graph, tuple(fed)) for graph, fed in sharing.values())
    if len(having) == 1 and pipelines:
        pipelines = _starts(source, having[0]) or pipelines
    return FoundPipelines(
        len(runs), pipelines[:MOST_PIPELINES], tuple(numbered(one.graph) for one in pipelines[:MOST_PIPELINES]),
        len(pipelines[MOST_PIPELINES:]),
        tuple(run for run in without if run not in set(waiting)), tuple(broken), len(waiting), len(having[MOST_RUNS:]),
    )  # fmt: skip


def _starts(source: ValueSources, run: str) -> tuple[Pipeline, ...]:
    """Return the distinct pipelines with which the training of a run was started, the newest MOST_PIPELINES of them; empty if
    all starts had the same."""
    distinct: dict[str, Pipeline] = {}
    for one in source.graphs.datasets(run):
        distinct.setdefault(one.graph.mark + one.graph.problem, Pipeline(one.graph, (run,), one.wall_time))
    return tuple(distinct.values())[-MOST_PIPELINES:] if len(distinct) > 1 else ()


def letter(place: int) -> str:
    """Return the letter that stands for a pipeline on the page."""
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[place]


def compared(found: FoundPipelines) -> list[ComparedOperation]:
    """Return the operations of the pipelines and their differences; empty for a single pipeline or very large ones."""
    few = all(len(graph.nodes) <= MOST_COMPARED for graph in found.graphs)
    return compare(found.graphs) if len(found.graphs) > 1 and few else []
