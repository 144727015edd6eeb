"""What makes stages compute unequally long, on the card of that advice: the operators of one rank of each, listed openly."""

from __future__ import annotations

from typing import Any

from dash import html
from parsers.analysis.jobs.stage_operators import StageOperators, TwoStages

from layouts.jobs.advice.stage_kernels import ComparedStages
from layouts.kit import units as fmt
from layouts.kit.i18n import t
from layouts.kit.tables import COUNT, TIME_NS, TableColumn, table

NOT_COMPARED = ComparedStages("missing")


def what_differs(stages: ComparedStages) -> list[Any]:
    """Return the sentences and the table; why there are none where kernels are missing or being read."""
    if stages.state == "reading":
        return [html.P(t("advice.stages.reading"), className="ms-muted", role="status")]
    if stages.operators is None or stages.two is None:
        return [html.P(t("advice.stages.no_operators"), className="ms-muted")]
    found, two = stages.operators, stages.two
    values = {"rank": found.rank, "other": found.other, "stage": two.longest, "peer": two.shortest}
    more = _time(found.more_ns)
    said = [html.P(t("advice.stages.operators", more=more, **values)), _listed(found, two)]
    if found.dimension:
        part = {"part": _time(found.dimension_ns), "more": more, "dimension": found.dimension}
        said.append(html.P(t("advice.stages.dimension", **part)))
    return said


def _listed(found: StageOperators, two: TwoStages) -> Any:
    columns = [
        TableColumn("common.type"), TableColumn("common.input_shapes", class_name="ms-mono"),
        TableColumn("common.executions", COUNT),
        *(TableColumn([t("advice.column.of_stage", stage=stage)], TIME_NS) for stage in (two.longest, two.shortest)),
        TableColumn("advice.column.more_ns", TIME_NS),
    ]  # fmt: skip
    names = ["type", "input_shapes", "count", "own_ns", "other_ns", "more_ns"]
    rows = found.rows[names].itertuples(index=False)
    return table(columns, rows, class_name="ms-simple-table ms-advice-stages", scroll="ms-advice-rows", heads=2)


def _time(ns: float) -> str:
    return fmt.duration(ns * 1e-9)
