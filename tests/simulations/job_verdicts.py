"""What advice says of drawn jobs (`job_effects.py`), and how often that is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from app.demo.simulated.job_records import JobRecord, recorded
from app.demo.simulated.jobs import simulate
from app.demo.simulated.programs import JobPlan
from parsers.analysis.jobs.advice import Review, review
from parsers.cluster_frames import PACKETS
from parsers.profiler.frame_parts import frame_of
from tests.simulations.job_effects import BANDWIDTH, FAULTS, HALF, HEALTHY, Case, packet_time
from tests.simulations.job_frames import frames

RULES = ("idle", "communication", "bubble", "stages", "slow_link", "slow_rank", "small_packets")
HARMLESS = {"idle": 0.08, "communication": 0.08, "bubble": 0.08, "stages": 0.08, "small_packets": 0.001}
"""Below these true shares of a step (of stages: of their mean) a finding is false; the rules' limits are somewhat above."""


def reviewed(case: Case) -> Review:
    """What the product says of the frames of a job."""
    rows = recorded(simulate(case.plan))
    found = frames(_with_latency(rows) if case.small else rows)
    if case.packets:
        found["packets"] = _packets(case)
    return review(found)


def _with_latency(rows: JobRecord) -> JobRecord:
    """Links whose operations take what they take before their first byte, too."""
    counts = Counter((row.step, row.rank, row.group.name, row.kind, row.target) for row in rows.communication)
    links = [
        replace(row, time_ns=row.time_ns + counts[row.step, row.rank, row.group.name, row.kind, row.target] * HALF / BANDWIDTH)
        for row in rows.links
    ]
    return replace(rows, links=links)


def _packets(case: Case) -> pd.DataFrame:
    plan, sizes = case.plan, np.array(case.packets)
    kinds, counts = np.unique(sizes, return_counts=True)
    places = [(step, rank, place) for step in range(plan.steps) for rank in range(plan.ranks) for place in range(len(kinds))]
    step, rank, place = np.array(places).T
    columns = {
        "step": step + 1, "group": ["dp"] * len(places), "name": ["hcom_allReduce_"] * len(places),
        "section": ["collective"] * len(places), "rank": rank, "transport": ["HCCS"] * len(places),
        "size_bytes": kinds[place], "count": counts[place],
        "time_ns": np.array([packet_time(int(size)) for size in kinds])[place] * counts[place],
    }  # fmt: skip
    return frame_of(PACKETS, len(places), columns, "made")


def true_shares(case: Case) -> dict[str, float]:
    """What each rule is about, as it truly is: shares of a step of the rank that has most; what a stage exceeds the mean by."""
    plan = case.plan
    rows = recorded(simulate(plan)).parts
    of = np.array([row.rank for row in rows])

    def by_rank(values: list[float]) -> NDArray[np.float64]:
        return np.bincount(of, values, plan.ranks) / plan.steps

    step, computing = by_rank([row.total for row in rows]), by_rank([row.computing for row in rows])
    stages = np.array([plan.place(rank)[1] for rank in range(plan.ranks)])
    stage = np.array([computing[stages == one].mean() for one in range(plan.pp)])
    return {
        "idle": float((by_rank([row.free for row in rows]) / step).max()),
        "communication": float((by_rank([row.exposed - row.pairs for row in rows]) / step).max()),
        "bubble": float((by_rank([row.pairs for row in rows]) / step).max()),
        "stages": float(stage.max() / stage.mean() - 1),
        "small_packets": len(case.packets) * HALF / BANDWIDTH / float(step.mean()),
    }


def found_of(said: Review) -> frozenset[str]:
    """The rules of `RULES` that found something."""
    return frozenset(one.rule for one in said.found if one.rule in RULES)


def right(plan: JobPlan, said: Review, rule: str) -> bool:
    """Whether the rule found something, and names the stage or the rank at the link that it is about."""
    card = next((one for one in said.found if one.rule == rule), None)
    if card is None:
        return False
    fault = plan.fault
    if fault is None or rule not in ("slow_link", "stages"):
        return True
    if rule == "stages":
        return card.told["stage"] == str(fault.place)
    return fault.place in card.evidence["source"].tolist()


def of_fault(rule: str, effect: float, seeds: Iterable[int]) -> Counter[str]:
    """How often an effect is "right", "elsewhere" (of another place), "unjudged" or "missed"; and what else is false."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        case = FAULTS[rule](seed, effect)
        said = reviewed(case)
        found = found_of(said)
        if right(case.plan, said, rule):
            counts["right"] += 1
        else:
            counts["elsewhere" if rule in found else "unjudged" if rule in said.unchecked else "missed"] += 1
        counts.update(f"false {one}" for one in _false(case, found - {rule}))
    return counts


def of_healthy(kind: str, seeds: Iterable[int]) -> Counter[str]:
    """How often each rule accuses a job that loses little, and how often all are silent ("fine")."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        case = HEALTHY[kind](seed)
        false = _false(case, found_of(reviewed(case)))
        counts.update({f"false {one}" for one in false} or {"fine"})
    return counts


def _false(case: Case, found: frozenset[str]) -> set[str]:
    """Those of the rules that found something for which the job gives no reason."""
    if not found:
        return set()
    told = true_shares(case)
    kind = case.plan.fault.kind if case.plan.fault else ""
    return {one for one in found if (told[one] < HARMLESS[one] if one in HARMLESS else kind != one)}
