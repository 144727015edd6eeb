"""The differences between two runs, as values: settings, results and data pipelines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from parsers import Series, better
from parsers.analysis.curves.final_values import Final, final
from parsers.analysis.lineage.pipelines import MISSING, compare, numbered
from parsers.analysis.lineage.results import order
from parsers.analysis.lineage.setting_differences import NOT_SETTINGS, equal_settings

from layouts.kit.cards.catalogue import ordered
from layouts.lineage.model_columns import group_of
from layouts.lineage.pipelines import MOST_COMPARED
from layouts.sources import LineageSources, RunSources, ValueSources

Two: TypeAlias = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class SettingLine:
    """A column of LINEAGE and its value in each run, MISSING if not recorded."""

    column: str
    values: Two
    equal: bool


@dataclass(frozen=True, slots=True)
class ScalarLine:
    """A tag, whether "min" or "max" is better ("" if its name does not say), and its final values, None if a run lacks it."""

    tag: str
    better: str
    ends: tuple[Final | None, Final | None]


@dataclass(frozen=True, slots=True)
class PipelineLine:
    """An operation, one of its parameters ("" for the operation itself) and its value in each pipeline, or MISSING."""

    operation: str
    parameter: str
    values: Two


def settings(source: LineageSources, runs: tuple[str, str]) -> list[SettingLine]:
    """Return the recorded settings, without metrics and paths; those that differ come first."""
    lines = [line for line in _recorded(source, runs) if group_of(line.column) != "metric"]
    return sorted(lines, key=lambda line: line.equal)


def metrics(source: LineageSources, runs: tuple[str, str]) -> list[SettingLine]:
    """Return the metrics that the evaluation of either run recorded, in the order of results (`order`)."""
    return sorted(
        (line for line in _recorded(source, runs) if group_of(line.column) == "metric"), key=lambda line: order(line.column)
    )


def _recorded(source: LineageSources, runs: tuple[str, str]) -> Iterator[SettingLine]:
    one, other = (source.lineage.settings(run) for run in runs)
    for column in dict.fromkeys([*one, *other]):
        if column not in NOT_SETTINGS:
            values = one.get(column, MISSING), other.get(column, MISSING)
            yield SettingLine(column, values, equal_settings(*values))


def scalars(source: RunSources, runs: tuple[str, str]) -> list[ScalarLine]:
    """Return every tag of either run: common tags first, and of these in the order of results (`order`)."""
    lines = []
    tags = Counter(tag for run in runs for tag in source.runs.tags(run))
    for tag in sorted(ordered(tags), key=lambda tag: (-tags[tag], order(tag))):
        one, other = (final_value(source.curves.series(run, tag), better(tag)) for run in runs)
        if one or other:
            lines.append(ScalarLine(tag, better(tag), (one, other)))
    return lines


def final_value(series: Series | None, direction: str) -> Final | None:
    """Return the last and the best value of a series; None if it has no points."""
    if series is None or not series.step.size:
        return None
    return final(series, direction)


def pipelines(source: ValueSources, runs: tuple[str, str]) -> list[PipelineLine] | None:
    """Return the differences between the data pipelines, in the order of the data; None if they are too large to compare.

    KeyError, with the run as its argument, if one of them recorded no pipeline; PayloadError if it cannot be read.
    """
    graphs = []
    for run in runs:
        graph = source.graphs.dataset(run)
        if graph is None:
            raise KeyError(run)
        graphs.append(numbered(graph))
    if any(len(graph.nodes) > MOST_COMPARED for graph in graphs):
        return None
    lines = []
    for place in reversed(compare(graphs)):
        name = next(graph.nodes[n].type for graph, n in zip(graphs, place.numbers, strict=True) if n is not None)
        for one in place.differences:
            owner = one.owner or ("sampler" if one.part == "sampler" else "")
            parameter = " · ".join(filter(None, (owner, one.key)))
            lines.append(PipelineLine(name, parameter, (one.values[0], one.values[1])))
    return lines
