"""Probes of float16: recorded tensors that overflowed before the loss was NaN, and operators of the graph that may overflow."""

from __future__ import annotations

import re

import numpy as np

from parsers.analysis.dumps.half_precision import LARGEST, NEAR
from parsers.analysis.runs.probes.curves import first_bad
from parsers.analysis.runs.probes.model import FOUND, NOT_JUDGED, NOTHING, Finding, ProbedRun, Where, not_recorded
from parsers.analysis.runs.probes.roles import of_role
from parsers.analysis.runs.probes.structure import nearest
from parsers.analysis.runs.probes.values import MOST_TAGS, place_before
from parsers.payloads.values import TensorValue

_HALF = re.compile(r"(?<![a-z])f(?:loat)?_?16", re.IGNORECASE)
"""Float16, F16, float_16 in the type of a value; not BFloat16, which ends where float32 does."""
_GROWING = re.compile(
    r"exp(m1)?|pow(er)?|square|squaresumall|cosh|sinh|tan|softplus|reciprocal(grad)?|inv|rsqrt(grad)?"
    r"|(real|true|float)?div(nonan)?|(reduce_?)?(sum|prod|log_?sum_?exp|l[12]|sum_?square)|cum(sum|prod)"
    r"|(l2|lp)?_?norm(alize)?|l2_?loss|(layer|group)_?norm|\w*(cross_?entropy|nll_?loss|mse_?loss|l1_?loss|kl_?div)\w*",
    re.IGNORECASE,
)
"""Types of operators, in MindSpore, torch and TensorFlow, whose values may exceed their inputs many times: those that
torch.autocast computes in float32 (PyTorch, "Automatic Mixed Precision", CUDA ops that autocast to float32), and divisions."""


def half_recorded(run: ProbedRun) -> Finding:
    """Return the recorded tensor of float16 with the greatest absolute value, at the first bad step of the loss or before it.

    Inputs are left out: a value that a file holds is no overflow. Of each tag one record is read.
    """
    inputs = set(of_role(run.tags("tensor"), "input"))
    tags = [tag for tag in run.tags("tensor") if tag not in inputs]
    if not tags:
        return not_recorded("no_tensors")
    bad = first_bad(run)
    half = [one for tag in tags[:MOST_TAGS] if (one := _largest(run, tag, bad.step if bad else None)) is not None]
    told: dict[str, float | str] = {"n": len(half), "of": len(tags), "largest": LARGEST}
    if not half:
        return Finding(NOT_JUDGED, "no_half_recorded", told, Where((tags[0],)), "half_overflow")
    value, step, tag = max(half)
    hits = sum(one[0] == np.inf if value == np.inf else one[0] >= NEAR for one in half)
    told |= {"hits": hits, "name": tag, "step": step, "value": value}
    where = Where((tag,), step)
    if value == np.inf:
        return Finding(FOUND, "half_overflowed", told, where, "half_overflow", severity=1.9)
    if value >= NEAR:
        return Finding(FOUND, "half_near", told, where, "half_overflow", severity=1.4)
    return Finding(NOTHING, "half_fits", told, where, "half_overflow")


def _largest(run: ProbedRun, tag: str, step: int | None) -> tuple[float, int, str] | None:
    """Return the greatest absolute value of a tensor up to a step, NaN left out, the step of the record, and the tag.

    None if it is not of float16, or has no other values.
    """
    place, at = place_before(run, "tensor", tag, step)
    value = run.value("tensor", tag, place) if place >= 0 else None
    if not isinstance(value, TensorValue) or value.dtype != "float16" or np.isnan(value.data).all():
        return None
    return float(np.nanmax(np.abs(value.data.astype(np.float64)))), at, tag


def half_operators(run: ProbedRun) -> Finding:
    """Return the operators of the graph whose output is float16 and may exceed its largest value; name that nearest to the end.

    A graph without types of values is not judged.
    """
    graph = run.graph()
    if graph is None:
        return not_recorded("no_graph")
    operators = (graph.nodes["kind"].astype("str") == "operator").to_numpy(bool)
    types, kinds = (graph.nodes[name].astype("str") for name in ("output_type", "type"))
    typed = operators & (types != "").to_numpy(bool)
    told: dict[str, float | str] = {"nodes": int(typed.sum()), "largest": LARGEST}
    if not typed.any():
        return Finding(NOT_JUDGED, "no_value_types", {"nodes": len(graph.nodes)}, rule="half_operators")
    half = typed & types.str.contains(_HALF).to_numpy(bool)
    rows = np.flatnonzero(half & kinds.str.fullmatch(_GROWING).to_numpy(bool))
    told["of"] = int(half.sum())
    if rows.size:
        row, _ = nearest(graph, rows)
        names = ", ".join(dict.fromkeys(kinds.iloc[rows].tolist()))
        told |= {"n": int(rows.size), "types": names[:120], "name": str(graph.nodes["name"].array[row])}
        return Finding(FOUND, "half_operators", told, Where(node=f"n{row}"), "half_operators", severity=0.8)
    if graph.problems:
        return Finding(NOT_JUDGED, "graph_damaged", told, rule="half_operators")
    said = "half_operators_safe" if half.any() else "no_half_operators"
    return Finding(NOTHING, said, told, rule="half_operators")
