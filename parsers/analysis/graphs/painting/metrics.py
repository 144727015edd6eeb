"""The metrics that a graph can be painted by: unit, and how the values of operators combine to that of a scope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SUM, MAX = "sum", "max"


@dataclass(frozen=True, slots=True)
class GraphMetric:
    """unit: ns, B, 1/s and so on, "" for counts and norms. combine: SUM or MAX, of executions, outputs and scopes alike."""

    name: str
    unit: str
    combine: str


METRICS: Mapping[str, GraphMetric] = {
    one.name: one
    for one in (
        GraphMetric("time", "ns", SUM),
        GraphMetric("flops", "FLOP", SUM),
        GraphMetric("memory", "B", SUM),
        GraphMetric("use", "share", MAX),
        GraphMetric("nan", "", SUM),
        GraphMetric("inf", "", SUM),
        GraphMetric("overflow", "", SUM),
        GraphMetric("norm", "", MAX),
    )
}
"""time: of executions; flops: operations of cube and vector units; memory: bytes of allocations; use: share of the peak or of
the cycles in which a unit computed; nan, inf: values of outputs and parameters; overflow: records of the device; norm: the L2
norm of the finite values."""
