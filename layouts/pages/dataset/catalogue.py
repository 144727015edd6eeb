"""The distinct pipelines of the chosen runs, each with the runs it fed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from parsers import DatasetGraph
from parsers.analysis.pipelines import ComparedOperation, Numbered, compare, numbered

from layouts.pages.dataset.boxes import drawing
from layouts.sources import FrameSource
from layouts.state import colours, elsewhere, label_of, number, selected_runs, stamped

MOST_RUNS = 200
"""Of so many runs the pipelines are read."""
MOST_PIPELINES = 8
"""So many pipelines are drawn and compared, those of the newest runs."""
MOST_COMPARED = 2_000
"""Pipelines of more operations are drawn without being compared."""
MOST_ELSEWHERE = 5
MOST_NAMES = 20
"""So many runs without a pipeline are named."""
COLUMNS = (1, 40)


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


def find(source: FrameSource, state: Any) -> Found:
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


def catalogue(source: FrameSource, state: Any, found: Found, places: Sequence[ComparedOperation]) -> dict[str, Any]:
    """All that assets/dataset.js draws, and its digest. columns of the state is how many boxes the page is wide."""
    columns = int(number(state, "columns", 5, *COLUMNS))
    rows = {member: row for row in source.runs() for member in row.members}
    of_run = colours(source)
    drawn = [
        {
            "mark": pipeline.graph.mark, "letter": letter(at) if len(found.pipelines) > 1 else "",
            "problem": pipeline.graph.problem, "total": len(graph.nodes),
            "runs": [{"key": run, "name": label_of(run, rows[run]), "colour": of_run.get(run, "")} for run in pipeline.runs],
            **asdict(drawing(graph, columns, places if len(found.pipelines) > 1 else (), at)),
        }
        for at, (pipeline, graph) in enumerate(zip(found.pipelines, found.graphs, strict=True))
    ]  # fmt: skip
    answer: dict[str, Any] = {
        "chosen": found.chosen, "pipelines": drawn, "left": found.left, "waiting": found.waiting, "unseen": found.unseen,
        "without": [label_of(run, rows[run]) for run in found.without[:MOST_NAMES]], "without_total": len(found.without),
        "broken": [{"key": run, "name": label_of(run, rows[run])} for run in found.broken],
        "elsewhere": [] if found.pipelines else _elsewhere(source, state),
    }  # fmt: skip
    return stamped(answer)


def _elsewhere(source: FrameSource, state: Any) -> list[dict[str, str]]:
    return elsewhere(source, selected_runs(state, source, ("dataset_graph",)), "dataset_graph", MOST_ELSEWHERE)


def compared(found: Found) -> list[ComparedOperation]:
    """The operations of the pipelines found and what differs in them; none for one pipeline alone and for too large ones."""
    few = all(len(graph.nodes) <= MOST_COMPARED for graph in found.graphs)
    return compare(found.graphs) if len(found.graphs) > 1 and few else []
