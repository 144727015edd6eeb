"""What single rules say of drawn operators, packets, memory, machines and experts, and how often that is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from parsers import open_run
from parsers.analysis.jobs.advice import Review, review
from parsers.analysis.runs.probes.model import FOUND, NOTHING
from parsers.analysis.runs.probes.registry import PROBES
from parsers.profile_frames import API, KERNELS
from tests.parsers.analysis.runs.probes.probed_run import MadeRun
from tests.simulations import compilations, device_memory, expert_loads, machine_load, operator_profiles, packet_sizes
from tests.writers.symptomatic_files import write_run
from tests.writers.symptomatic_runs import Made, rows_of

SUBJECTS = (operator_profiles, compilations, machine_load, device_memory, packet_sizes, expert_loads)
EFFECTS: Mapping[str, tuple[float, ...]] = {rule: sizes for one in SUBJECTS for rule, sizes in one.EFFECTS.items()}
FAULTS: Mapping[str, Callable[[int, float], Any]] = {rule: made for one in SUBJECTS for rule, made in one.FAULTS.items()}
HEALTHY: Mapping[str, Callable[[int], Any]] = {
    f"{one.__name__.rsplit('.', 1)[-1]}.{kind}": made for one in SUBJECTS for kind, made in one.HEALTHY.items()
}
Said = tuple[str, object]
"""What a rule says ("found", "nothing", "unjudged"), and of what."""


def said(rule: str, plan: Any) -> Said:
    """What the product says of a plan's data, read by its own readers where a writer makes files of it."""
    return _JUDGES[rule](plan)


def _advice(found: Review, rule: str) -> Said:
    card = next((one for one in found.found if one.rule == rule), None)
    if card is not None:
        return "found", card
    return ("nothing" if rule in found.fine else "unjudged"), None


def _probe(name: str, frames: Mapping[str, Any]) -> Said:
    found = PROBES[name].judge(MadeRun(Made(frames=dict(frames))))
    return {FOUND: "found", NOTHING: "nothing"}.get(found.state, "unjudged"), found


def _kernels(plan: operator_profiles.Plan) -> Mapping[str, Any]:
    rows = [{"step": one.step, "name": one.name, "type": one.type, "core": one.core, "start_ns": one.start,
             "duration_ns": one.duration, "input_shapes": one.shapes, "input_types": "FLOAT16"}
            for one in operator_profiles.simulate(plan)]  # fmt: skip
    with TemporaryDirectory() as folder:
        write_run(Path(folder, "run"), Made(frames={"kernels": rows_of(KERNELS, rows)}))
        profile = next(iter(open_run(Path(folder, "run")).profile.values()))
        return {name: profile.frame(name) for name in ("operators", "kernels", "shape_times", "steps")}


def _calls(plan: compilations.Plan) -> Said:
    rows = [{"level": one.level, "name": one.name, "count": len(one.durations), "total_ns": sum(one.durations),
             "min_ns": min(one.durations), "max_ns": max(one.durations), "variance_ns2": np.var(one.durations)}
            for one in compilations.simulate(plan)]  # fmt: skip
    with TemporaryDirectory() as folder:
        write_run(Path(folder, "run"), Made(frames={"api": rows_of(API, rows)}))
        profile = next(iter(open_run(Path(folder, "run")).profile.values()))
        return _probe("recompiled", {"api": profile.frame("api")})


def _machine(plan: machine_load.Plan) -> Said:
    with TemporaryDirectory() as folder:
        machine_load.write(machine_load.simulate(plan), Path(folder))
        profile = next(iter(open_run(Path(folder)).profile.values()))
        return _advice(review({"cpu": profile.frame("cpu")}), "cpu")


def _memory(plan: device_memory.Plan) -> Said:
    return _advice(review({"ranks": device_memory.ranks_frame(plan, device_memory.simulate(plan))}), "memory")


def _experts(plan: expert_loads.Plan) -> Said:
    return _probe("expert_balance", expert_loads.frames(plan, expert_loads.simulate(plan)))


_JUDGES: Mapping[str, Callable[[Any], Said]] = {
    "ai_cpu": lambda plan: _advice(review(_kernels(plan)), "ai_cpu"),
    "shapes": lambda plan: _probe("changing_shapes", _kernels(plan)),
    "compilations": _calls,
    "cpu": _machine,
    "memory": _memory,
    "alignment": lambda plan: _advice(review(packet_sizes.frames(plan)), "alignment"),
    "resent": lambda plan: _advice(review(packet_sizes.frames(plan)), "retransmission"),
    "experts": _experts,
}


def right(rule: str, plan: Any, what: object) -> bool:
    """Whether what was found is where it is: the rank, or operators on the AI CPU or with shapes that change."""
    named: Any = what
    if rule == "ai_cpu":
        return set(named.evidence["name"]) == {_short(place.name) for place in plan.places if place.core == "AI_CPU"}
    if rule == "shapes":
        return named.told["name"] in {place.name for place in plan.places if len(place.lengths) > 1}
    if rule == "memory":
        return bool(named.told["rank"] == str(plan.full[0]))
    if rule == "experts":
        return bool(named.told["rank"] == plan.hot[0])
    if rule == "alignment":
        return bool((named.evidence["name"] == plan.sends[-1].name).all())
    if rule == "resent":
        return bool(named.told["name"] == plan.sends[plan.resent[0]].name)
    return True


def _short(name: str) -> str:
    """The name of an operator without its scopes, as `kernel_details.csv` is read."""
    return name.rsplit("/", 1)[-1]


def of_fault(rule: str, effect: float, seeds: Iterable[int]) -> Counter[str]:
    """How often an effect is "right", "elsewhere", "unjudged" or "missed"."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        plan = FAULTS[rule](seed, effect)
        state, what = said(rule, plan)
        if state == "found":
            state = "right" if right(rule, plan, what) else "elsewhere"
        counts["missed" if state == "nothing" else state] += 1
    return counts


def of_healthy(kind: str, seeds: Iterable[int]) -> Counter[str]:
    """How often data of a healthy kind is "fine", not judged, or found to be at fault ("false" and the rule)."""
    counts: Counter[str] = Counter()
    module = next(one for one in SUBJECTS if one.__name__.endswith(kind.split(".")[0]))
    for seed in seeds:
        for rule in module.FAULTS:
            state, _ = said(rule, HEALTHY[kind](seed))
            counts[f"false {rule}" if state == "found" else f"{'fine' if state == 'nothing' else state} {rule}"] += 1
    return counts
