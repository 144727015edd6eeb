"""What differs between two runs, as values: settings, results, and data pipelines."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from parsers import Series, Setting, better
from parsers.analysis.pipelines import MISSING, compare, numbered

from layouts.cards.catalogue import ordered
from layouts.lineage.model_columns import group_of
from layouts.queries.pipelines import MOST_COMPARED
from layouts.sources import LineageSource, RunSource, ValueSource

Two: TypeAlias = tuple[Any, Any]
NOT_SETTINGS = frozenset(("run", "path", "model_path", "train_dataset_path", "test_dataset_path", "model_size"))
"""Columns of LINEAGE that say where something is, which two runs hardly ever share."""


@dataclass(frozen=True, slots=True)
class SettingLine:
    """A column of LINEAGE and its value in either run, MISSING where it was not recorded."""

    column: str
    values: Two
    equal: bool


@dataclass(frozen=True, slots=True)
class End:
    """What a scalar came to: its value written last and its best one with their steps; best is None without a direction."""

    last: float
    last_step: int
    best: float | None
    best_step: int


@dataclass(frozen=True, slots=True)
class ScalarLine:
    """A tag, whether its "min" or "max" is best ("" where its name says nothing), and its ends, None where a run has none."""

    tag: str
    better: str
    ends: tuple[End | None, End | None]


@dataclass(frozen=True, slots=True)
class PipelineLine:
    """An operation, one of its parameters ("" for the operation itself) and the value in either pipeline, or MISSING."""

    operation: str
    parameter: str
    values: Two


def settings(source: LineageSource, runs: tuple[str, str]) -> list[SettingLine]:
    """What either run says of itself, metrics and places apart, what differs first."""
    lines = [line for line in _recorded(source, runs) if group_of(line.column) != "metric"]
    return sorted(lines, key=lambda line: line.equal)


def metrics(source: LineageSource, runs: tuple[str, str]) -> list[SettingLine]:
    """What either run's evaluation came to."""
    return [line for line in _recorded(source, runs) if group_of(line.column) == "metric"]


def _recorded(source: LineageSource, runs: tuple[str, str]) -> Iterator[SettingLine]:
    one, other = (source.settings(run) for run in runs)
    for column in dict.fromkeys([*one, *other]):
        if column not in NOT_SETTINGS:
            values = one.get(column, MISSING), other.get(column, MISSING)
            yield SettingLine(column, values, _equal(*values))


def _equal(one: Setting | Any, other: Setting | Any) -> bool:
    """Whether two settings are equal as they were recorded: NaN equals NaN, and True is not 1."""
    if isinstance(one, bool) is not isinstance(other, bool):
        return False
    return bool(one == other) or (isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other))


def scalars(source: RunSource, runs: tuple[str, str]) -> list[ScalarLine]:
    """Every tag of either run: those of both first, losses before others."""
    lines = []
    for tag in ordered(Counter(tag for run in runs for tag in source.tags(run))):
        one, other = (end_of(source.series(run, tag), better(tag)) for run in runs)
        if one or other:
            lines.append(ScalarLine(tag, better(tag), (one, other)))
    return lines


def end_of(series: Series | None, direction: str) -> End | None:
    """The last and the best value of a series; None for one without a point."""
    if series is None or not series.step.size:
        return None
    last, last_step = float(series.value[-1]), int(series.step[-1])
    finite = np.flatnonzero(np.isfinite(series.value))
    if not direction or not finite.size:
        return End(last, last_step, None, 0)
    values = series.value[finite]
    at = finite[int(np.argmin(values) if direction == "min" else np.argmax(values))]
    return End(last, last_step, float(series.value[at]), int(series.step[at]))


def pipelines(source: ValueSource, runs: tuple[str, str]) -> list[PipelineLine] | None:
    """What differs between the data pipelines, in the order of the data; None where they are too large to compare.

    KeyError, whose argument is the run, where one of them recorded no pipeline; PayloadError where it cannot be read.
    """
    graphs = []
    for run in runs:
        graph = source.dataset_graph(run)
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
