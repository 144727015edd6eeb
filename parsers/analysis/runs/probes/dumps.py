"""Probes of dumped tensors. All but that of overflows take reading tensors, so they run when somebody asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from parsers.analysis.dumps.half_precision import LARGEST, half_tensors
from parsers.analysis.dumps.two_dumps import first_difference
from parsers.analysis.runs.probes.model import FOUND, NOT_JUDGED, NOTHING, Finding, ProbedRun, Where, not_recorded


def overflows(run: ProbedRun) -> Finding:
    """Return the first overflow that a device reported."""
    found = run.dump("overflows")
    if found is None:
        return not_recorded("no_dump")
    if not len(found):
        # Without a single record nobody knows whether the device was asked to report any.
        return Finding(NOT_JUDGED, "no_overflow_records", {}, rule="overflows")
    row = found.sort_values(["iteration", "time_ns"], kind="stable").iloc[0]
    told: dict[str, float | str] = {"n": len(found), "step": int(row["iteration"]), "name": str(row["name"])}
    where = Where(step=int(row["iteration"]), rank=int(row["rank"]), node=str(row["name"]))
    return Finding(FOUND, "overflows", told, where, "overflows", severity=1.8)


def half_overflow(run: ProbedRun) -> Finding:
    """Return the first dumped tensor of float16 that overflowed, else the first that is near overflowing."""
    statistics = run.dump("statistics")
    if statistics is None:
        return not_recorded("no_dump")
    half = half_tensors(statistics)
    told: dict[str, float | str] = {"n": len(half), "of": len(statistics), "largest": LARGEST}
    for column, said, severity in (("overflowed", "half_overflowed", 1.9), ("is_near", "half_near", 1.4)):
        rows = half[half[column].to_numpy(bool)]
        if len(rows):
            row = rows.iloc[0]
            told |= {"hits": len(rows), "name": str(row["name"]), "step": int(row["iteration"]), "value": float(row["largest"])}
            where = Where(step=int(row["iteration"]), rank=int(row["rank"]), node=str(row["name"]))
            return Finding(FOUND, said, told, where, "half_overflow", severity=severity)
    if not len(half):
        return Finding(NOT_JUDGED, "no_half_tensors", told, rule="half_overflow")
    told["value"] = float(half["largest"].max())
    if np.isinf(half["largest"].to_numpy()).any():  # each of them had NaN or Inf among its inputs
        return Finding(NOTHING, "half_inherited", told, rule="half_overflow")
    return Finding(NOTHING, "half_fits", told, rule="half_overflow")


def dumped_values(run: ProbedRun) -> Finding:
    """Return the earliest tensor that is known to hold NaN or Inf, of those that files state or that are read in no time.

    That others are finite is not said: only a part of the dump was read.
    """
    found = run.dump("glance")
    if found is None:
        return not_recorded("no_dump")
    known = found[(found["non_finite"] >= 0).to_numpy(bool)]
    told: dict[str, float | str] = {"n": len(known), "of": len(found)}
    bad = known[(known["non_finite"] > 0).to_numpy(bool)]
    if len(bad):
        last = np.where(bad["order"] < 0, np.iinfo(np.int64).max, bad["order"])
        row = bad.assign(order=last).sort_values(["iteration", "order"], kind="stable").iloc[0]
        where = Where(step=int(row["iteration"]), rank=int(row["rank"]), node=str(row["name"]))
        told |= {"name": str(row["name"]), "step": int(row["iteration"])}
        return Finding(FOUND, "dump_bad", told, where, "bad_inputs", severity=2.2)
    return Finding(NOT_JUDGED, "dump_glanced" if len(known) else "dump_unread", told, rule="bad_inputs")


def near_cause(run: ProbedRun) -> Finding:
    """Return the logarithm, division, root or power that is nearest before the operator of the first cause, in its graph."""
    found = run.dump("causes")
    if found is None:
        return not_recorded("no_dump")
    if not len(found):
        return first_cause(run)
    near = run.dump("nearby")
    name, step, rank = (found[column].iloc[0] for column in ("name", "iteration", "rank"))
    told: dict[str, float | str] = {"operator": str(name), "step": int(step)}
    where = Where(step=int(step), rank=int(rank), node=str(name))
    if near is None or not len(near):
        return Finding(NOT_JUDGED, "no_dumped_graph", told, where, "unbounded_operators")
    operators = near[near["unbounded"].to_numpy(bool)]
    told["nodes"] = len(near)
    if not len(operators):
        return Finding(NOTHING, "none_near_cause", told, where, "unbounded_operators")
    row = operators.iloc[0]
    told |= {"n": len(operators), "name": str(row["name"]), "distance": int(row["distance"])}
    said = "cause_is_unbounded" if int(row["distance"]) == 0 else "near_cause"
    place = Where(step=int(step), rank=int(rank), node=str(row["name"]))
    return Finding(FOUND, said, told, place, "unbounded_operators", severity=1.6)


def first_cause(run: ProbedRun) -> Finding:
    """Return the first cause of bad values: a row of DUMP_CAUSES."""
    found = run.dump("causes")
    if found is None:
        return not_recorded("no_dump")
    if len(found):
        row: dict[Any, Any] = found.iloc[0].to_dict()
        where = Where(step=int(row["iteration"]), rank=int(row["rank"]), node=str(row["name"]))
        return Finding(FOUND, "first_cause", {"n": len(found)}, where, "first_cause", row, severity=2.5)
    judged = run.dump("statistics")
    known = int((judged["non_finite"] >= 0).sum()) if judged is not None and "non_finite" in judged else 0
    if not known:
        return Finding(NOT_JUDGED, "no_statistics", {"n": 0 if judged is None else len(judged)}, rule="first_cause")
    return Finding(NOTHING, "no_cause", {"n": known}, rule="first_cause")


def departed(run: ProbedRun, *, kinds: Sequence[str] = ("exploding", "vanishing")) -> Finding:
    """Return the tensor whose norm left its own history first."""
    found = run.dump("departures")
    if found is None:
        return not_recorded("no_dump")
    rows = found[found["kind"].astype("str").isin(kinds)]
    if len(rows):
        row = rows.iloc[0]
        told: dict[str, float | str] = {
            "name": str(row["name"]), "step": int(row["iteration"]), "value": float(row["measured"]),
            "usual": float(row["usual"]),
        }  # fmt: skip
        where = Where(step=int(row["iteration"]), rank=int(row["rank"]), node=str(row["name"]))
        return Finding(FOUND, f"departed_{row['kind']}", told, where, "departed", severity=1.7)
    statistics = run.dump("statistics")
    steps = 0 if statistics is None or "iteration" not in statistics else int(statistics["iteration"].nunique())
    return Finding(NOT_JUDGED, "short_history", {"n": steps}, rule="departed")


def watched(run: ProbedRun, *, conditions: Sequence[str]) -> Finding:
    """Return the first tensor that one of MindInsight's recommended watchpoints hits."""
    found = run.dump("hits")
    if found is None:
        return not_recorded("no_dump")
    rows = found[found["condition"].astype("str").isin(conditions)]
    hits = rows[rows["hit"].to_numpy(bool)]
    if len(hits):
        row = hits.iloc[0]
        told: dict[str, float | str] = {"n": len(hits), "name": str(row["name"]), "step": int(row["iteration"])}
        where = Where(step=int(row["iteration"]), rank=int(row["rank"]), node=str(row["name"]))
        return Finding(FOUND, f"watched_{row['condition']}", told, where, "watched", severity=1.5)
    judged = rows[(rows["why"].astype("str") == "").to_numpy()]
    if not len(judged):
        return Finding(NOT_JUDGED, "nothing_watched", {"n": len(rows)}, rule="watched")
    return Finding(NOTHING, "no_hits", {"n": len(judged)}, rule="watched")


def first_tensor(run: ProbedRun, *, tolerance: float) -> Finding:
    """Return the first output that differs between this dump and that of the other run by more than a tolerance."""
    if run.other is None:
        return not_recorded("no_other_run")
    found = run.dump("differences")
    if found is None:
        return not_recorded("no_two_dumps")
    if not len(found) or bool(np.isnan(found["difference"].to_numpy(np.float64)).all()):
        return Finding(NOT_JUDGED, "no_pairs", {"n": len(found)}, rule="first_tensor")
    at = first_difference(found, tolerance)
    if at is None:
        return Finding(NOTHING, "tensors_equal", {"n": len(found), "tolerance": tolerance}, rule="first_tensor")
    row = found.iloc[at]
    told: dict[str, float | str] = {
        "name": str(row["name"]), "difference": float(row["difference"]), "n": len(found), "tolerance": tolerance,
    }  # fmt: skip
    where = Where(step=int(row["iteration"]), node=str(row["name"]), tolerance=tolerance)
    return Finding(FOUND, "first_tensor", told, where, "first_tensor", severity=1.9)
