"""The distinct data pipelines of the chosen runs, each with the runs it fed, and in what they differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from parsers import DatasetGraph
from parsers.analysis.pipelines import ComparedOperation, Numbered, compare, numbered

from layouts.sources import ValueSource
from layouts.state import selected_runs

MOST_RUNS = 200
"""Of so many runs the pipelines are read."""
MOST_PIPELINES = 8
"""So many pipelines are drawn and compared, those of the newest runs."""
MOST_COMPARED = 2_000
"""Pipelines of more operations are drawn without being compared."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A pipeline and the member runs that it fed."""

    graph: DatasetGraph
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """Pipelines of the chosen runs, also as lists, and the runs without one: not recorded, not readable, still being read,
    not looked at."""

    chosen: int
    pipelines: tuple[Pipeline, ...]
    graphs: tuple[Numbered, ...]
    left: int
    without: tuple[str, ...]
    broken: tuple[str, ...]
    waiting: int
    unseen: int


def find(source: ValueSource, state: Any) -> Found:
    """The pipelines of the runs that state names, in the order of the list of runs."""
    runs = selected_runs(state, source, ("dataset_graph",))
    source.want(runs)
    states = {member: row.state for row in source.runs() for member in row.members}
    having = [run for run in runs if source.tags(run, "dataset_graph")]
    sharing: dict[str, tuple[DatasetGraph, list[str]]] = {}
    broken = []
    for run in having[:MOST_RUNS]:
        graph = source.dataset_graph(run)
        if graph is None:
            broken.append(run)
        else:
            sharing.setdefault(graph.mark + graph.problem, (graph, []))[1].append(run)
    without = [run for run in runs if run not in set(having)]
    waiting = [run for run in without if states[run] in ("waiting", "loading")]
    pipelines = tuple(Pipeline(graph, tuple(fed)) for graph, fed in sharing.values())
    return Found(
        len(runs), pipelines[:MOST_PIPELINES], tuple(numbered(one.graph) for one in pipelines[:MOST_PIPELINES]),
        len(pipelines[MOST_PIPELINES:]),
        tuple(run for run in without if run not in set(waiting)), tuple(broken), len(waiting), len(having[MOST_RUNS:]),
    )  # fmt: skip


def letter(place: int) -> str:
    """What a pipeline is called on the page."""
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[place]


def compared(found: Found) -> list[ComparedOperation]:
    """The operations of the pipelines found and what differs in them; none for one pipeline alone and for too large ones."""
    few = all(len(graph.nodes) <= MOST_COMPARED for graph in found.graphs)
    return compare(found.graphs) if len(found.graphs) > 1 and few else []
