"""The rules, their thresholds, and the frames they look at."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from parsers.analysis.jobs.advice import (
    cluster,
    host,
    kernels,
    launching,
    memory,
    operators,
    packets,
    pipeline,
    shapes,
    stages,
    steps,
)
from parsers.analysis.jobs.advice.model import Advice, Frames, Review, Unchecked
from parsers.analysis.jobs.advice.saved import Savings, replayed_savings, to_replay, with_savings
from parsers.analysis.jobs.bubble import LEAST_SHARE
from parsers.analysis.jobs.contention import REFERENCE
from parsers.analysis.jobs.contention import SHARE as HELD
from parsers.analysis.jobs.links import SHARE
from parsers.analysis.jobs.packets import SHARE as MANY_SMALL
from parsers.analysis.jobs.slow_tests import LIMITS
from parsers.analysis.jobs.warm_up import steady
from parsers.analysis.profiles.memory.leaks import GROWTH
from parsers.analysis.profiles.preparation import EMPTY_RATE, QUEUE_USE
from parsers.profiler.registry import FILE_KINDS, display_name

THRESHOLDS: Mapping[str, float] = MappingProxyType({
    "interval": pipeline.LONG_NS, "fetching": 0.05, "idle": 0.1, "communication": 0.1, "synchronising": 0.05,
    "launching": 0.2, "short_kernels": 0.2, "pageable": 0.01, "float32": 0.1, "shapes": 0.5, "gaps": 0.1,
    "empty": EMPTY_RATE, "queue_use": QUEUE_USE[0], "cpu": 0.8, "ai_cpu": 0.05,
    "slow_rank": LIMITS.excess, "slow_link": SHARE, "small_packets": MANY_SMALL, "alignment": 0.05, "retransmission": 4e9,
    "contention": HELD * REFERENCE, "bubble": LEAST_SHARE, "stages": stages.LEAST, "memory": 0.95, "leak": GROWTH,
})  # fmt: skip
"""Rule -> threshold to exceed, for those in BELOW to fall below. interval and retransmission in ns, contention in B/s, all
others are fractions of 1.
"""
BELOW = frozenset(("queue_use", "slow_link", "contention"))
"""Rules that find what falls below their threshold."""
FRAMES = (
    "steps", "communication", "operators", "queues", "pipeline", "cpu", "kernels", "memory", "static_memory", "step_times",
    "hardware", "shape_times",
)  # fmt: skip
"""The frames of a profile that the rules look at; without "memory" also "operator_memory"."""
OF_JOB = ("groups", "collectives", "packets", "links", "cluster_steps", "ranks", "device_times")
"""The frames of the profile's job that they look at."""
GAPS = ("gap_steps", "gap_calls")
"""Frames of `parsers.profiler.trace.idle` that they look at too; there are none until the trace has been read."""
Judge = Callable[[Frames, float], "Advice | None"]
_RULES: Mapping[str, Judge] = MappingProxyType({
    "interval": steps.interval, "fetching": launching.fetching, "idle": steps.idle, "communication": steps.communication,
    "synchronising": host.synchronising, "launching": launching.launching, "short_kernels": kernels.short_kernels,
    "pageable": launching.pageable, "float32": kernels.float32, "shapes": shapes.shapes, "gaps": host.gaps,
    "empty": pipeline.empty, "queue_use": pipeline.queue_use, "cpu": pipeline.cpu,
    "ai_cpu": operators.ai_cpu, "slow_rank": cluster.slow_rank, "slow_link": cluster.slow_link,
    "small_packets": packets.small, "alignment": packets.alignment, "retransmission": packets.retransmission,
    "contention": packets.contention, "bubble": cluster.bubble, "stages": stages.unbalanced,
    "memory": memory.close_to_capacity, "leak": memory.leaking,
})  # fmt: skip


def advise(frames: Frames, thresholds: Mapping[str, float] = THRESHOLDS) -> list[Advice]:
    """Return the advice of `review`."""
    return list(review(frames, thresholds).found)


def review(frames: Frames, thresholds: Mapping[str, float] = THRESHOLDS, *, capacity: int = 0) -> Review:
    """Apply all rules to frames by name (those in FRAMES of a profile, in OF_JOB of its job; None or missing: no file).

    Advice always has supporting rows. thresholds override those of THRESHOLDS; KeyError for an unknown rule. capacity is the
    memory of the device in bytes, used where no file tells it; 0 for unknown.
    """
    found = judged(frames, thresholds, capacity=capacity)
    frames = steady(frames)
    asked = to_replay(found.found, frames)
    return with_costs(found, replayed_savings(asked, frames)) if asked else found


def with_costs(found: Review, savings: Savings | None) -> Review:
    """Return what the rules found with what replays tell of it (None: nothing), the largest cost first."""
    return replace(found, found=tuple(sorted(with_savings(found.found, savings), key=_largest)))


_CAUSES_OF_IDLE = ("fetching", "synchronising", "launching", "pageable", "short_kernels")
"""Rules that say why a device is idle; what they save is no part of what advice about idle time saves."""


def _without_shared(found: Sequence[Advice]) -> list[Advice]:
    explained = math.fsum(one.cost_ns for one in found if one.rule in _CAUSES_OF_IDLE)
    of_idle = [one.rule in ("idle", "gaps") and one.variant != "ranks" for one in found]
    return [
        replace(one, cost_ns=max(one.cost_ns - explained, 0.0)) if idle and explained else one
        for one, idle in zip(found, of_idle, strict=True)
    ]


def _largest(one: Advice) -> tuple[bool, float]:
    return math.isnan(one.cost_ns), -one.cost_ns if one.cost_ns == one.cost_ns else 0.0


def judged(frames: Frames, thresholds: Mapping[str, float] = THRESHOLDS, *, capacity: int = 0) -> Review:
    """Return what the rules of `review` find, without replays: advice about several ranks has the costs of sums."""
    frames = steady(frames)
    unknown = set(thresholds) - set(THRESHOLDS)
    if unknown:
        raise KeyError(f"expected rules {', '.join(THRESHOLDS)}; found {', '.join(sorted(unknown))}")
    limits = {**THRESHOLDS, **thresholds}
    rules: dict[str, Judge] = {**_RULES, "memory": partial(memory.close_to_capacity, capacity=capacity)}
    found: list[Advice] = []
    fine: list[str] = []
    unchecked: dict[str, tuple[str, ...]] = {}
    reasons: dict[str, str] = {}
    for rule, judge in rules.items():
        try:
            advice = judge(frames, limits[rule])
        except Unchecked as lacking:
            unchecked[rule] = tuple(display_name(kind) if kind in FILE_KINDS else kind for kind in lacking.args)
            if lacking.reason:
                reasons[rule] = lacking.reason
            continue
        if advice is not None and len(advice.evidence):
            found.append(advice)
        else:
            fine.append(rule)
    found = sorted(_without_shared(found), key=_largest)
    return Review(tuple(found), tuple(fine), MappingProxyType(unchecked), MappingProxyType(reasons))
