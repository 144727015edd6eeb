"""The probe of data pipelines that were recorded one after another, and what two pipelines differ in.

SummaryCollector records the pipeline anew at each start of a training, so a training that was resumed has several.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from parsers.analysis.lineage.pipelines import compare, numbered
from parsers.analysis.runs.probes.model import (
    FOUND,
    NOT_JUDGED,
    NOT_RECORDED,
    NOTHING,
    NOWHERE,
    Finding,
    ProbedRun,
    Where,
    not_recorded,
)
from parsers.analysis.runs.probes.roles import of_role
from parsers.lineage.datasets import DatasetGraph

LARGEST_PIPELINE = 2_000
"""Pipelines with more operations are not compared, as on the pages that compare them."""


def pipelines_differ(run: ProbedRun) -> Finding:
    """Return the first operation in which the data pipelines of two runs differ, in the order of the data."""
    if run.other is None:
        return not_recorded("no_other_run")
    one, other = run.pipeline(), run.other.pipeline()
    if one is None or other is None:
        return not_recorded("no_two_pipelines")
    found = difference(one, other)
    if found is None:
        return Finding(NOT_JUDGED, "large_pipelines", {"n": LARGEST_PIPELINE}, rule="pipelines_differ")
    told, where = found
    if not told["n"]:
        return Finding(NOTHING, "pipelines_equal", {"n": told["of"]}, rule="pipelines_differ")
    return Finding(FOUND, "pipelines_differ", told, where, "pipelines_differ", severity=1.2)


def difference(one: DatasetGraph, other: DatasetGraph) -> tuple[dict[str, float | str], Where] | None:
    """Return how two pipelines differ: n differences, the first operation in the order of the data (name) and what it differs
    in (parameter), and of how many operations; and where it is, in the second one if that has it. None if they are too large to
    be compared."""
    graphs = [numbered(one), numbered(other)]
    if any(len(graph.nodes) > LARGEST_PIPELINE for graph in graphs):
        return None
    places = [place for place in reversed(compare(graphs)) if place.differences]
    told: dict[str, float | str] = {"n": sum(len(place.differences) for place in places), "of": len(graphs[0].nodes)}
    if not places:
        return told, NOWHERE
    sides = zip((one, other), graphs, places[0].numbers, strict=True)
    mark, number, name = [(side.mark, n, graph.nodes[n].type) for side, graph, n in sides if n is not None][-1]
    first = places[0].differences[0]
    return told | {"name": name, "parameter": first.owner or first.key or name}, Where(node=f"{mark}:{number}")


def pipeline_changed(run: ProbedRun) -> Finding:
    """Return the first start of the training whose pipeline is not that of the start before, and the step from which it fed.

    A run that recorded a single pipeline is compared with the other run, if there is one.
    """
    recorded = run.pipelines()
    if not recorded:
        return not_recorded("no_pipeline")
    if len(recorded) < 2:
        beside = pipelines_differ(run)
        alone = Finding(NOT_JUDGED, "one_pipeline", {"n": 1}, rule="pipeline_changed")
        return alone if beside.state == NOT_RECORDED else beside
    starts: dict[str, float | str] = {"starts": len(recorded)}
    for number, (before, after) in enumerate(pairwise(recorded), 2):
        found = difference(before.graph, after.graph)
        if found is None:
            return Finding(NOT_JUDGED, "large_pipelines", {"n": LARGEST_PIPELINE}, rule="pipeline_changed")
        told, where = found
        if told["n"]:
            step = step_at(run, after.wall_time)
            told |= starts | {"start": number}
            if step is None:
                return Finding(FOUND, "pipeline_changed", told, where, "pipeline_changed", severity=1.3)
            return Finding(FOUND, "pipeline_changed_at", told | {"step": step}, where, "pipeline_changed", severity=1.3)
    return Finding(NOTHING, "pipeline_kept", starts, rule="pipeline_changed")


def step_at(run: ProbedRun, wall_time: float) -> int | None:
    """Return the first step that was recorded at a wall time or later; None without one."""
    tags = run.tags()
    for tag in [*of_role(tags, "loss"), *tags][:1]:
        series = run.recorded(tag)
        if series is not None:
            later = np.flatnonzero(series.wall_time >= wall_time)
            return int(series.step[later[0]]) if later.size else None
    return None
