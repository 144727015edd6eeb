"""The data lineage table: the operation parameters of the runs' data pipelines, and the results of the runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parsers import DatasetGraph, LineageRow, Setting, settings_frame
from parsers.analysis.lineage.pipelines import MISSING, NumberedPipeline, PipelineColumn, numbered, pipeline_columns

from layouts.kit.i18n import CATALOGUE
from layouts.lineage import model_columns as model
from layouts.lineage.pipeline_parameters import PLUMBING, value_text
from layouts.lineage.table import METRICS, Label, LineageColumns, LineageTable
from layouts.sources import Sources, ValueSources

MARK, RUNS = "dataset_mark", "runs"
MOST_NODES = 20_000
"""Operations of all distinct pipelines together; pipelines beyond this limit are left out of the table."""
MOST_COLUMNS = 300
_MOST_MARKS = 24
"""With more pipelines than this, an axis of their marks is unreadable."""
_PIPELINE = "pipeline"
_NOTHING = LineageColumns({}, (), str, lambda name: (name, name), lambda _: 0, {})


@dataclass(frozen=True, slots=True)
class Pipelines:
    """Distinct pipelines by mark, and (member run, mark of its pipeline), newest run first."""

    graphs: Mapping[str, DatasetGraph]
    runs: Sequence[tuple[str, str]]


def pipelines(source: ValueSources) -> Pipelines:
    """Return the pipelines of all member runs that recorded one."""
    graphs: dict[str, DatasetGraph] = {}
    runs = []
    for run in (member for row in source.runs.rows() for member in row.members if source.runs.tags(member, "dataset_graph")):
        graph = source.graphs.dataset(run)
        if graph is not None:
            graphs.setdefault(graph.mark, graph)
            runs.append((run, graph.mark))
    return Pipelines(graphs, runs)


def table(source: Sources, known: LineageTable | None) -> LineageTable:
    """Return the current table: the known one if nothing changed."""
    found, lineage = pipelines(source), source.lineage.rows()
    if known is not None and known.inputs[0] == found.runs and known.inputs[1] is lineage:
        return known
    return side_by_side(found, lineage)


def side_by_side(found: Pipelines, lineage: Sequence[LineageRow]) -> LineageTable:
    """Return the table of these pipelines, with the results in the rows of `Sources.lineage`."""
    taken = _taken(found)
    runs = [(run, mark) for run, mark in found.runs if mark in taken]
    every = pipeline_columns(list(taken.values()))
    columns = every[:MOST_COLUMNS]
    parameters = {mark: _parameters(columns, place) for place, mark in enumerate(taken)}
    counts = Counter(mark for _, mark in runs)
    results = {row.run: _results(row) for row in lineage}
    rows = [
        LineageRow(run, "", {MARK: mark, RUNS: counts[mark], **parameters[mark], **results.get(run, {})}, {})
        for run, mark in runs
    ]
    names = [*dict.fromkeys(name for result in results.values() for name in result), MARK, RUNS]
    frame = settings_frame(rows, [*names, *(column.name for column in columns)])
    more = {
        "nodes": _nodes(columns, taken),
        "left": {"runs": len(found.runs) - len(runs), "columns": len(every) - len(columns)},
    }
    about = _about(columns, len(taken)) if columns else _NOTHING
    return LineageTable(rows, frame, about, (found.runs, lineage), more)


def _taken(found: Pipelines) -> dict[str, NumberedPipeline]:
    """Return the pipelines that fit into the table, those of the newest runs first."""
    taken: dict[str, NumberedPipeline] = {}
    count = 0
    for mark, graph in found.graphs.items():
        one = numbered(graph)
        count += len(one.nodes)
        if count > MOST_NODES:
            break
        taken[mark] = one
    return taken


def _parameters(columns: Sequence[PipelineColumn], place: int) -> dict[str, Setting]:
    return {column.name: _setting(column.values[place]) for column in columns if column.values[place] is not MISSING}


def _setting(value: Any) -> Setting:
    """Convert a parameter to a number or a text."""
    return value if isinstance(value, bool | int | float) else value_text(value)


def _results(row: LineageRow) -> dict[str, Setting]:
    return {name: value for name, value in row.settings.items() if name == "loss" or name.startswith("metric/")}


def _nodes(columns: Sequence[PipelineColumn], marks: Mapping[str, NumberedPipeline]) -> dict[str, dict[str, int]]:
    """Return {group of an operation: {mark of a pipeline: number of the operation in it}}."""
    return {
        _group(column): {mark: number for mark, number in zip(marks, column.numbers, strict=True) if number is not None}
        for column in columns if column.part == "type"
    }  # fmt: skip


def _group(column: PipelineColumn) -> str:
    return f"operation {column.operation}"


def _about(columns: Sequence[PipelineColumn], count: int) -> LineageColumns:
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

    return LineageColumns(
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
    """Return the rank of a column among the default columns; lower ranks are shown first."""
    if column is None:
        return 0 if name == MARK else 5 if name == RUNS else 2 + model.rank(name)
    if column.part == "type":
        return 1
    return 4 if column.key in PLUMBING else 1 if column.part == "node" else 3
