"""The table of the page: what the operations of the pipelines of runs were told, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parsers import DatasetGraph, LineageRow, Setting, settings_frame
from parsers.analysis.pipelines import MISSING, Numbered, PipelineColumn, numbered, pipeline_columns

from layouts.components.pipeline_parameters import PLUMBING, value_text
from layouts.i18n import CATALOGUE
from layouts.lineage import model_columns as model
from layouts.lineage.table import METRICS, Columns, Label, Table
from layouts.sources import FrameSource, ValueSource

MARK, RUNS = "dataset_mark", "runs"
MOST_NODES = 20_000
"""Operations of all different pipelines: more pipelines are not laid side by side."""
MOST_COLUMNS = 300
_MOST_MARKS = 24
"""An axis of more marks tells nothing."""
_PIPELINE = "pipeline"
_NOTHING = Columns({}, (), str, lambda name: (name, name), lambda _: 0, {})


@dataclass(frozen=True, slots=True)
class Pipelines:
    """Different pipelines by mark, and member runs, newest first, with the mark of theirs."""

    graphs: Mapping[str, DatasetGraph]
    runs: Sequence[tuple[str, str]]


def pipelines(source: ValueSource) -> Pipelines:
    """The pipelines of all member runs that recorded one."""
    graphs: dict[str, DatasetGraph] = {}
    runs = []
    for run in (member for row in source.runs() for member in row.members if source.tags(member, "dataset_graph")):
        graph = source.dataset_graph(run)
        if graph is not None:
            graphs.setdefault(graph.mark, graph)
            runs.append((run, graph.mark))
    return Pipelines(graphs, runs)


def table(source: FrameSource, known: Table | None) -> Table:
    """The table of now; the one that is known where it is still that."""
    found, described = pipelines(source), source.lineage()
    if known is not None and known.made_of[0] == found.runs and known.made_of[1] is described:
        return known
    return side_by_side(found, described)


def side_by_side(found: Pipelines, described: Sequence[LineageRow]) -> Table:
    """The table of pipelines, and of the results that runs described."""
    taken = _taken(found)
    runs = [(run, mark) for run, mark in found.runs if mark in taken]
    every = pipeline_columns(list(taken.values()))
    columns = every[:MOST_COLUMNS]
    told = {mark: _told(columns, place) for place, mark in enumerate(taken)}
    counts = Counter(mark for _, mark in runs)
    results = {row.run: _results(row) for row in described}
    rows = [
        LineageRow(run, "", {MARK: mark, RUNS: counts[mark], **told[mark], **results.get(run, {})}, {}) for run, mark in runs
    ]
    names = [*dict.fromkeys(name for result in results.values() for name in result), MARK, RUNS]
    frame = settings_frame(rows, [*names, *(column.name for column in columns)])
    more = {
        "nodes": _nodes(columns, taken),
        "left": {"runs": len(found.runs) - len(runs), "columns": len(every) - len(columns)},
    }
    about = _about(columns, len(taken)) if columns else _NOTHING
    return Table(rows, frame, about, (found.runs, described), more)


def _taken(found: Pipelines) -> dict[str, Numbered]:
    """The pipelines that are laid side by side, those of the newest runs first."""
    taken: dict[str, Numbered] = {}
    count = 0
    for mark, graph in found.graphs.items():
        one = numbered(graph)
        count += len(one.nodes)
        if count > MOST_NODES:
            break
        taken[mark] = one
    return taken


def _told(columns: Sequence[PipelineColumn], place: int) -> dict[str, Setting]:
    return {column.name: _setting(column.values[place]) for column in columns if column.values[place] is not MISSING}


def _setting(value: Any) -> Setting:
    """A parameter as a value of a column: a number or a text."""
    return value if isinstance(value, bool | int | float) else value_text(value)


def _results(row: LineageRow) -> dict[str, Setting]:
    return {name: value for name, value in row.settings.items() if name == "loss" or name.startswith("metric/")}


def _nodes(columns: Sequence[PipelineColumn], marks: Mapping[str, Numbered]) -> dict[str, dict[str, int]]:
    """Of each operation its number in each pipeline that has it, by the mark of that."""
    return {
        _group(column): {mark: number for mark, number in zip(marks, column.numbers, strict=True) if number is not None}
        for column in columns if column.part == "type"
    }  # fmt: skip


def _group(column: PipelineColumn) -> str:
    return f"operation {column.operation}"


def _about(columns: Sequence[PipelineColumn], count: int) -> Columns:
    by_name = {column.name: column for column in columns}
    operations = {_group(column): (column.operation, column.operation) for column in columns}
    own = {MARK: CATALOGUE["data_lineage.column.dataset_mark"], RUNS: CATALOGUE["data_lineage.column.runs"]}
    titles = {METRICS: CATALOGUE["lineage.group.metric"], _PIPELINE: CATALOGUE["data_lineage.group"]}

    def group_of(name: str) -> str:
        return _group(by_name[name]) if name in by_name else _PIPELINE if name in own else METRICS

    def label(name: str) -> Label:
        return _label(by_name[name]) if name in by_name else own.get(name) or model.label(name)

    def full(name: str) -> Label:
        if name not in by_name:
            return label(name)
        column, (english, chinese) = by_name[name], label(name)
        operation = column.operation
        return (operation, operation) if column.part == "type" else (f"{operation} {english}", f"{operation} {chinese}")

    return Columns(
        groups={_PIPELINE: titles[_PIPELINE], **operations, METRICS: titles[METRICS]},
        axes=(_PIPELINE, *operations, METRICS), group_of=group_of, label=label, full=full, units={}, compared=by_name,
        not_axes=(RUNS,) if count <= _MOST_MARKS else (RUNS, MARK),
        rank=lambda name: _rank(by_name.get(name), name),
    )  # fmt: skip


def _label(column: PipelineColumn) -> Label:
    if column.part == "type":
        return CATALOGUE["data_lineage.column.operation"]
    if column.part == "sampler":
        english, chinese = CATALOGUE["data_lineage.column.sampler"]
        return (f"{english} {column.key}", f"{chinese} {column.key}") if column.key else (english, chinese)
    text = " ".join(filter(None, (column.owner, column.key)))
    return text, text


def _rank(column: PipelineColumn | None, name: str) -> int:
    """How late a column comes among those on screen where nobody chose any."""
    if column is None:
        return 0 if name == MARK else 5 if name == RUNS else 2 + model.rank(name)
    if column.part == "type":
        return 1
    return 4 if column.key in PLUMBING else 1 if column.part == "node" else 3
