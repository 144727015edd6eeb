"""The differences between the pipelines on the page, as a table and as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import html
from parsers.analysis.lineage.pipelines import MISSING, ComparedOperation, ParameterDifference

from layouts.kit import tables
from layouts.kit import units as fmt
from layouts.kit.i18n import t
from layouts.kit.tables import TableColumn
from layouts.lineage.pipeline_panel import jump, value_cell
from layouts.lineage.pipeline_parameters import value_text
from layouts.lineage.pipelines import MOST_COMPARED, FoundPipelines, letter

MOST_DIFFERENCES = 500


def differences(found: FoundPipelines, places: Sequence[ComparedOperation]) -> Any:
    """Return a table of the parameters that differ, with a column of values per pipeline; None for a single pipeline."""
    if len(found.pipelines) < 2:
        return None
    if not places:
        return html.P(t("dataset.uncompared", n=fmt.count(MOST_COMPARED)), className="ms-muted")
    listed = [(place, one) for place in reversed(places) for one in place.differences]
    rows = [_difference_row(found, place, one) for place, one in listed[:MOST_DIFFERENCES]]
    columns = [TableColumn("dataset.operation"), TableColumn("dataset.parameter")]
    columns += [TableColumn([letter(at)]) for at in range(len(found.graphs))]
    left = len(listed) - len(rows)
    more = [html.P(t("dataset.differences_left", n=fmt.count(left)), className="ms-muted")] if left else []
    if not listed:
        return html.P(t("dataset.no_differences"), className="ms-muted")
    return [tables.table(columns, rows, class_name="", scroll="", heads=0), *more]


def _difference_row(found: FoundPipelines, place: ComparedOperation, one: ParameterDifference) -> Sequence[Any]:
    at = next(at for at, number in enumerate(place.numbers) if number is not None)
    number = place.numbers[at] or 0
    name = found.graphs[at].nodes[number].type
    parts: list[Any] = [one.owner, one.key or (t("dataset.sampler") if one.part == "sampler" else "")]
    label: list[Any] = [part for part in parts if part]
    shown = [child for part in label for child in (" · ", part)][1:] or [t("dataset.itself")]
    return jump(found.pipelines[at].graph.mark, number, name), shown, *map(value_cell, one.values)


def csv(found: FoundPipelines, places: Sequence[ComparedOperation]) -> str:
    """Write every difference as CSV, a column of values per pipeline. Texts that look like formulas are escaped."""
    named = [f"{letter(at)} {', '.join(pipeline.runs)}" for at, pipeline in enumerate(found.pipelines)]
    names = ("operation", "number", "part", "owner", "parameter", *named)
    lines = []
    for place in reversed(places):
        at, number = next((at, number) for at, number in enumerate(place.numbers) if number is not None)
        for one in place.differences:
            values = ("" if value is MISSING else value_text(value) for value in one.values)
            lines.append((found.graphs[at].nodes[number].type, number, one.part, one.owner, one.key, *values))
    return tables.csv([TableColumn([name], name=name) for name in names], lines)
