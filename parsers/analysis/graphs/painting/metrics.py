"""The metrics that a graph can be painted by: unit, and how the values of operators combine to that of a scope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SUM, MAX = "sum", "max"


@dataclass(frozen=True, slots=True)
class Metric:
    """unit: ns, B, 1/s and so on, "" for counts and norms. combine: SUM or MAX, of executions, outputs and scopes alike."""

    name: str
    unit: str
    combine: str


METRICS: Mapping[str, Metric] = {
    one.name: one
    for one in (
        Metric("time", "ns", SUM),
        Metric("flops", "FLOP", SUM),
        Metric("memory", "B", SUM),
        Metric("use", "share", MAX),
        Metric("nan", "", SUM),
        Metric("inf", "", SUM),
        Metric("overflow", "", SUM),
        Metric("norm", "", MAX),
    )
}
"""time: of executions; flops: operations of cube and vector units; memory: bytes of allocations; use: share of the peak or of
the cycles in which a unit computed; nan, inf: values of outputs and parameters; overflow: records of the device; norm: the L2
norm of the finite values."""
