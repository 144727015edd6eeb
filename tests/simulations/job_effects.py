"""Draws jobs on NPUs with effects of known size, and jobs without any: what costs a step time, and how much of it.

Written from the manual alone, before its author read the rules that judge jobs. An effect is a share: by how much a stage
exceeds the mean of all (`stages`), of a step that stages wait by theory (`bubble`), that transfers take while nothing computes
(`communication`), that the host keeps the device idle (`idle`), of a step's computing that small packets take before their
first byte (`small_packets`), of the bandwidth that a link lacks (`slow_link`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from app.demo.simulated.programs import Fault, JobPlan

MB = 1 << 20
BANDWIDTH, HALF = 18.0, 0.5 * MB
"""Bytes per ns of large packets, and the size of a packet that gets half of it: what a packet costs before its first byte."""


@dataclass(frozen=True, slots=True)
class Case:
    """A job, and the sizes of packets of its operations in each step and rank.

    small: small operations reach less of the bandwidth of a link than large ones.
    """

    plan: JobPlan
    packets: tuple[int, ...] = ()
    small: bool = False


def drawn(seed: int, **told: object) -> JobPlan:
    """Return a healthy job of 4 to 8 replicas whose buckets are overlapped with backward."""
    chance = np.random.default_rng(seed + 11_000_000)
    plan = JobPlan(
        seed=int(chance.integers(2**31)), dp=int(chance.choice([4, 8])), steps=int(chance.integers(8, 16)),
        collectives=int(chance.integers(3, 13)), computing_ns=float(10 ** chance.uniform(7.3, 8.7)),
        communication=float(chance.uniform(0.03, 0.15)), noise=float(chance.uniform(0.005, 0.03)),
        transfer_noise=float(chance.uniform(0.01, 0.05)), gaps=float(chance.uniform(0.0, 0.03)),
        early=bool(chance.random() < 0.5), waits_recorded=bool(chance.random() < 0.5),
    )  # fmt: skip
    return replace(plan, **told)  # type: ignore[arg-type]


def piped(seed: int, micro: int = 0, **told: object) -> JobPlan:
    """Return a healthy pipeline of 2 or 4 stages whose bubble is about 6 % by theory; micro: batches per stage instead."""
    chance = np.random.default_rng(seed + 12_000_000)
    pp = int(chance.choice([2, 4]))
    tp = int(chance.choice([1, 2])) if pp == 2 else 1
    steps = int(chance.integers(8, 11))
    few = {"communication": float(chance.uniform(0.01, 0.03)), "collectives": int(chance.integers(1, 5))}
    return drawn(seed, **({"dp": 2, "pp": pp, "tp": tp, "micro": pp * (micro or 2 * pp + 4), "steps": steps} | few | told))


def stages(seed: int, excess: float) -> JobPlan:
    """Return a pipeline of which one stage computes longer than the mean of all by `excess`."""
    plan = piped(seed, micro=4)
    longer = excess / (1 - (1 + excess) / plan.pp)
    return replace(plan, fault=Fault("stage", seed % plan.pp, longer))


def bubble(seed: int, share: float) -> JobPlan:
    """Return a pipeline of the fewest micro batches whose stages wait for `share` of a step or more: (p - 1) / (m + p - 1)."""
    plan = piped(seed)
    most = (plan.pp - 1) * (1 - share) / share
    return replace(plan, micro=max(int(most), 1))


def communication(seed: int, share: float) -> JobPlan:
    """Return replicas that meet, and compute nothing meanwhile, for `share` of a step."""
    return drawn(seed, mode="meetings", communication=share / (1 - share))


def idle(seed: int, share: float) -> JobPlan:
    """Return replicas whose devices wait for launches for `share` of a step, before each of 96 pieces of computing."""
    few = int(np.random.default_rng(seed).integers(1, 5))
    return drawn(seed, dp=4, micro=32, gaps=share / (1 - share), communication=0.02, collectives=few)


def slow_link(seed: int, lost: float) -> JobPlan:
    """Return replicas of which one link lacks `lost` of its bandwidth."""
    plan = drawn(seed, mode="meetings" if seed % 2 else "buckets")
    return replace(plan, fault=Fault("slow_link", seed % plan.ranks, lost))


def packet_time(size: int) -> float:
    """Return what a packet takes, in ns."""
    return (size + HALF) / BANDWIDTH


def unfused(seed: int, lost: float) -> Case:
    """Return replicas that reduce each parameter alone; packets before their first byte take `lost` of a step's computing."""
    plan = drawn(seed)
    chance = np.random.default_rng(seed + 13_000_000)
    count = max(int(lost * plan.computing_ns * BANDWIDTH / HALF), 1)
    return Case(plan, tuple(int(size) for size in chance.lognormal(np.log(0.3 * MB), 1.0, count).clip(64, 8 * MB)))


def fused(seed: int, small: int = 0) -> Case:
    """Return replicas that reduce buckets of 32 to 256 MB, and `small` scalars: a loss, a norm, a flag of overflow."""
    chance = np.random.default_rng(seed + 14_000_000)
    buckets = [int(size) * MB for size in chance.integers(32, 257, int(chance.integers(2, 9)))]
    plan = drawn(seed, computing_ns=float(10 ** chance.uniform(8.0, 8.7)))
    return Case(plan, (*buckets, *(int(size) for size in chance.choice([4, 8, 64, 512], small))))


EFFECTS: Mapping[str, tuple[float, ...]] = {
    "stages": (0.05, 0.15, 0.3, 0.6), "bubble": (0.15, 0.25, 0.4), "communication": (0.05, 0.15, 0.3, 0.5),
    "idle": (0.05, 0.15, 0.3, 0.5), "slow_link": (0.1, 0.3, 0.5, 0.7), "small_packets": (0.003, 0.02, 0.1),
}  # fmt: skip
FAULTS: Mapping[str, Callable[[int, float], Case]] = {
    "stages": lambda seed, effect: Case(stages(seed, effect)),
    "bubble": lambda seed, effect: Case(bubble(seed, effect)),
    "communication": lambda seed, effect: Case(communication(seed, effect)),
    "idle": lambda seed, effect: Case(idle(seed, effect)),
    "slow_link": lambda seed, effect: Case(slow_link(seed, effect)),
    "small_packets": unfused,
}
HEALTHY: Mapping[str, Callable[[int], Case]] = {
    "buckets": lambda seed: Case(drawn(seed)),
    "meetings": lambda seed: Case(drawn(seed, mode="meetings", communication=0.01 + seed % 5 / 200)),
    "sharded": lambda seed: Case(drawn(seed, mode="sharded", communication=0.03 + seed % 5 / 100)),
    "tensor": lambda seed: Case(drawn(seed, dp=2, tp=4, communication=0.01)),
    "pipeline": lambda seed: Case(piped(seed)),
    "interleaved": lambda seed: Case(piped(seed, micro=8, chunks=2)),
    "stages_alike": lambda seed: Case(_alike(seed)),
    "unequal": lambda seed: Case(drawn(seed, unequal=0.15)),
    "unequal_meetings": lambda seed: Case(drawn(seed, unequal=0.15, mode="meetings", communication=0.02)),
    "hiccups": lambda seed: Case(drawn(seed, hiccups=0.01)),
    "pipeline_hiccups": lambda seed: Case(piped(seed, hiccups=0.01)),
    "3_steps": lambda seed: Case(drawn(seed, steps=3)),
    "pipeline_3_steps": lambda seed: Case(piped(seed, steps=3)),
    "tensor_of_sizes": lambda seed: Case(drawn(seed, dp=4, tp=2, communication=0.02), small=True),
    "pipeline_of_sizes": lambda seed: Case(piped(seed, micro=8, dp=4, chunks=1 + seed % 2), small=True),
    "fused": fused,
    "fused_and_scalars": lambda seed: fused(seed, 3 + seed % 6),
}  # fmt: skip


def _alike(seed: int) -> JobPlan:
    chance = np.random.default_rng(seed + 15_000_000)
    plan = piped(seed)
    return replace(plan, stages=tuple(chance.uniform(0.96, 1.04, plan.pp)))
