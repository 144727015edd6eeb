"""Values for the nodes of a computation graph, from profiles, dumps and recorded parameters, step by step.

`amounts` are what a source says of names, `matching` joins names with nodes, `painting` gives nodes, scopes and boxes their
values. A metric says how values add up (`metrics`).
"""

from __future__ import annotations

from parsers.analysis.graphs.painting.amounts import WHOLE, Amounts
from parsers.analysis.graphs.painting.matching import WAYS, Matches, match
from parsers.analysis.graphs.painting.metrics import METRICS, GraphMetric
from parsers.analysis.graphs.painting.painting import Paint, PaintedStep

__all__ = ["METRICS", "WAYS", "WHOLE", "Amounts", "GraphMetric", "Matches", "Paint", "PaintedStep", "match"]
