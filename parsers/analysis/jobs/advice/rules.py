"""The rules, their thresholds, and the frames they look at."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

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
from parsers.analysis.jobs.advice.model import Advice, Frames, OwnFrames, Review, Unchecked
from parsers.analysis.jobs.advice.saved import Savings, replayed_savings, to_replay, with_savings
from parsers.analysis.jobs.bubble import LEAST_SHARE
from parsers.analysis.jobs.contention import REFERENCE
from parsers.analysis.jobs.contention import SHARE as HELD
from parsers.analysis.jobs.links import SHARE
from parsers.analysis.jobs.packets import SHARE as MANY_SMALL
from parsers.analysis.jobs.slow_tests import LIMITS
from parsers.analysis.jobs.warm_up import SteadyFrames, steady
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
"""The frames of the profile's job that they and replays look at."""
GAPS = ("gap_steps", "gap_calls")
"""Frames of `parsers.profiler.trace.idle` that they look at too; there are none until the trace has been read."""
Judge = Callable[[Frames, float], "Advice | None"]


class AdviceRule(NamedTuple):
    """A rule: the function that judges, and the names of the frames that it may look at."""

    judge: Judge
    frames: tuple[str, ...]


_KERNELS = ("kernels", "steps")
RULES: Mapping[str, AdviceRule] = MappingProxyType({
    "interval": AdviceRule(steps.interval, ("steps", "queues")),
    "fetching": AdviceRule(launching.fetching, ("steps", "step_times", "operators")),
    "idle": AdviceRule(steps.idle, ("cluster_steps", "steps")),
    "communication": AdviceRule(steps.communication, ("cluster_steps", "collectives", "links", "steps", "communication")),
    "synchronising": AdviceRule(host.synchronising, ("operators", *_KERNELS)),
    "launching": AdviceRule(launching.launching, (*_KERNELS, "step_times")),
    "short_kernels": AdviceRule(kernels.short_kernels, _KERNELS),
    "pageable": AdviceRule(launching.pageable, _KERNELS),
    "float32": AdviceRule(kernels.float32, (*_KERNELS, "hardware")),
    "shapes": AdviceRule(shapes.shapes, ("steps", "shape_times", "operators")),
    "gaps": AdviceRule(host.gaps, GAPS),
    "empty": AdviceRule(pipeline.empty, ("queues", "steps")),
    "queue_use": AdviceRule(pipeline.queue_use, ("pipeline", "queues", "steps")),
    "cpu": AdviceRule(pipeline.cpu, ("cpu",)),
    "ai_cpu": AdviceRule(operators.ai_cpu, ("operators", "steps")),
    "slow_rank": AdviceRule(cluster.slow_rank, ("cluster_steps", "collectives", "groups", "links")),
    "slow_link": AdviceRule(cluster.slow_link, ("links",)),
    "small_packets": AdviceRule(packets.small, ("packets", "cluster_steps")),
    "alignment": AdviceRule(packets.alignment, ("packets", "cluster_steps")),
    "retransmission": AdviceRule(packets.retransmission, ("packets", "collectives")),
    "contention": AdviceRule(packets.contention, ("packets", "kernels", "communication", "collectives")),
    "bubble": AdviceRule(cluster.bubble, ("cluster_steps",)),
    "stages": AdviceRule(stages.unbalanced, ("cluster_steps",)),
    "memory": AdviceRule(memory.close_to_capacity, ("static_memory", "memory", "ranks", "hardware")),
    "leak": AdviceRule(memory.leaking, ("memory", "operator_memory", "step_times", *_KERNELS, "memory_sessions")),
})  # fmt: skip
"""Name -> rule, in the order of the advice's thresholds."""


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


_IDLE = ("idle", "gaps")
_CAUSES_OF_IDLE = ("fetching", "synchronising", "launching", "pageable", "short_kernels")
"""Rules that say why a device is idle; what they save is no part of what advice about idle time saves."""


def _is_explained(one: Advice) -> bool:
    return one.rule in _IDLE and one.variant != "ranks"


def _without_shared(found: Sequence[Advice], causes: Sequence[Advice]) -> list[Advice]:
    explained = math.fsum(one.cost_ns for one in causes if one.rule in _CAUSES_OF_IDLE)
    return [
        replace(one, cost_ns=max(one.cost_ns - explained, 0.0)) if _is_explained(one) and explained else one for one in found
    ]


def _largest(one: Advice) -> tuple[bool, float]:
    return math.isnan(one.cost_ns), -one.cost_ns if one.cost_ns == one.cost_ns else 0.0


def judged(
    frames: Frames, thresholds: Mapping[str, float] = THRESHOLDS, *, capacity: int = 0, rules: Collection[str] = RULES.keys()
) -> Review:
    """Return what some of the rules of `review` find, without replays: advice about several ranks has the costs of sums.

    Each rule looks at the frames that it declares, and at no more of these than it needs, so frames may be read when they are
    looked at. Costs are those of a review of all rules: where several are compared, what explains idle time is judged too.
    """
    unknown = {*thresholds, *rules} - set(THRESHOLDS)
    if unknown:
        raise KeyError(f"expected rules {', '.join(THRESHOLDS)}; found {', '.join(sorted(unknown))}")
    applied = _Applied(frames, {**THRESHOLDS, **thresholds}, capacity)
    found: list[Advice] = []
    fine: list[str] = []
    unchecked: dict[str, tuple[str, ...]] = {}
    reasons: dict[str, str] = {}
    for rule in (one for one in RULES if one in rules):
        try:
            advice = applied.advice(rule)
        except Unchecked as lacking:
            unchecked[rule] = tuple(display_name(kind) if kind in FILE_KINDS else kind for kind in lacking.args)
            if lacking.reason:
                reasons[rule] = lacking.reason
            continue
        if advice is not None:
            found.append(advice)
        else:
            fine.append(rule)
    causes = list(found)
    if len(found) > 1 and any(map(_is_explained, found)):
        causes += applied.checked(one for one in _CAUSES_OF_IDLE if one not in rules)
    found = sorted(_without_shared(found, causes), key=_largest)
    return Review(tuple(found), tuple(fine), MappingProxyType(unchecked), MappingProxyType(reasons))


class _Applied:
    """Rules applied to frames without the warm-up of the job."""

    def __init__(self, frames: Frames, limits: Mapping[str, float], capacity: int) -> None:
        self._frames, self._limits, self._capacity = SteadyFrames(frames), limits, capacity

    def advice(self, name: str) -> Advice | None:
        """Return the advice of a rule that has rows that support it. Unchecked if it lacks data."""
        rule = RULES[name]
        judge = partial(memory.close_to_capacity, capacity=self._capacity) if name == "memory" else rule.judge
        found = judge(OwnFrames(self._frames, rule.frames), self._limits[name])
        return found if found is not None and len(found.evidence) else None

    def checked(self, names: Iterable[str]) -> list[Advice]:
        """Return the advice of those of these rules that find something."""
        found = []
        for name in names:
            with suppress(Unchecked):
                advice = self.advice(name)
                found += [advice] if advice is not None else []
        return found
