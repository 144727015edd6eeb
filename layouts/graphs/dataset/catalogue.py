"""The pipelines of the chosen runs, serialized for the browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from parsers.analysis.lineage.pipelines import ComparedOperation

from layouts.graphs.dataset.boxes import drawing
from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import alternative, in_both, listed, named
from layouts.kit.i18n import Text, both
from layouts.kit.state import number, stamped, texts
from layouts.lineage.pipelines import FoundPipelines, Pipeline, letter
from layouts.runs.chosen_runs import KeyAndName, elsewhere, label_of, selected_runs
from layouts.runs.damage import damage
from layouts.sources import RunSources

MOST_ELSEWHERE = 5
MOST_NAMES = 20
"""Maximum number of runs without a pipeline that are named."""
COLUMNS = (1, 40)


def catalogue(source: RunSources, state: Any, found: FoundPipelines, places: Sequence[ComparedOperation]) -> dict[str, Any]:
    """Return all that assets/graphs/dataset/page.js draws, and its digest.

    `columns` of the state is the width of the page in boxes.
    """
    columns = int(number(state, "columns", 5, *COLUMNS))
    rows = {member: row for row in source.runs.rows() for member in row.members}
    of_run = source.runs.colours(texts(state, "run"))
    drawn = [
        {
            "mark": pipeline.graph.mark, "letter": letter(at) if len(found.pipelines) > 1 else "",
            "problem": pipeline.graph.problem, "total": len(graph.nodes),
            "runs": [
                {"key": run, "name": label_of(run, rows[run]) + _when(pipeline), "colour": of_run.get(run, "")}
                for run in pipeline.runs if run in rows  # it may have been deleted since
            ],
            **asdict(drawing(graph, columns, places if len(found.pipelines) > 1 else (), at)),
            "alternative": _said(
                [node.type or "?" for node in graph.nodes], [label_of(run, rows[run]) for run in pipeline.runs if run in rows]
            ),
        }
        for at, (pipeline, graph) in enumerate(zip(found.pipelines, found.graphs, strict=True))
    ]  # fmt: skip
    answer: dict[str, Any] = {
        "chosen": found.chosen, "pipelines": drawn, "left": found.left, "waiting": found.waiting, "unseen": found.unseen,
        "without": [label_of(run, rows[run]) for run in found.without[:MOST_NAMES] if run in rows],
        "without_total": len(found.without),
        "broken": [{"key": run, "name": label_of(run, rows[run])} for run in found.broken if run in rows],
        "elsewhere": [] if found.pipelines else _elsewhere(source, state),
        "damage": [] if found.pipelines else damage(source, selected_runs(state, source, ("dataset_graph",))),
    }  # fmt: skip
    return stamped(answer)


def _when(pipeline: Pipeline) -> str:
    """Return when a pipeline was recorded, to the second, where one run has several."""
    day, _, clock = fmt.moment(pipeline.recorded).partition("T")
    return f" · {day} {clock[:8]} UTC" if clock else ""


def _said(operations: Sequence[str], runs: Sequence[str]) -> Text:
    """Return the text alternative of a pipeline: its operations from the last one back to the data, and its runs."""
    every = named(both("dataset.said", n=fmt.count(len(operations))), listed(map(in_both, operations)))
    return alternative(every, named(both("dataset.said_runs"), listed(map(in_both, runs))))


def _elsewhere(source: RunSources, state: Any) -> list[KeyAndName]:
    return elsewhere(source, selected_runs(state, source, ("dataset_graph",)), "dataset_graph", MOST_ELSEWHERE)
