"""All parameters of one pipeline operation, in the panel of the dataset graph page."""

from __future__ import annotations

from typing import Any

from dash import no_update
from parsers.analysis.lineage.pipelines import numbered

from layouts.kit.state import text
from layouts.lineage.pipeline_columns import pipelines
from layouts.lineage.pipeline_panel import chosen, panel
from layouts.lineage.pipelines import FoundPipelines, Pipeline
from layouts.sources import ValueSources


def detail(source: ValueSources, asked: Any) -> Any:
    """Return the panel of the operation that `asked` names as "mark:number" under `node`; no update if it names none."""
    if asked is None:
        return no_update
    mark = text(asked, "node").partition(":")[0]
    found = pipelines(source)
    fed = tuple(run for run, of in found.runs if of == mark)
    shown = (Pipeline(found.graphs[mark], fed),) if fed else ()
    alone = FoundPipelines(1, shown, tuple(numbered(one.graph) for one in shown), 0, (), (), 0, 0)
    return panel(alone, (), chosen(asked, alone))
