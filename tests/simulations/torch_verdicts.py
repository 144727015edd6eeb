"""What advice says of simulated training with torch, and how often that is right.

Effects are shares of a step; of a slow rank, the share by which it computes longer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from parsers import open_run
from parsers.analysis.jobs.advice import FRAMES, OF_JOB, Review, review
from tests.simulations.torch_jobs import BETWEEN, FLOAT32, MS, TF32, US, Plan, drawn, simulate, step_time

RULES = ("fetching", "launching", "pageable", "slow_rank", "short_kernels", "float32", "shapes", "synchronising")
EFFECTS = {
    "slow_rank": (0.05, 0.1, 0.5), "slow_rank_of_64": (0.1,), "fetch_in_process": (0.08, 0.2, 0.4),
    "slow_workers": (0.08, 0.2, 0.4), "pageable": (0.02, 0.05, 0.1), "launch_bound": (1.0,),
    "short_kernels": (0.25, 0.4, 0.6), "float32": (0.25, 0.5, 0.9), "shapes": (30, 100, 1_000),
    "items": (0.05, 0.1, 0.2, 0.3),
}  # fmt: skip
"""The effects of each fault; of shapes how many there are."""
ITEM = 25 * US
"""What a call of `item` costs a device that the host was ahead of: its end, and launching anew."""
ALSO = {"launch_bound": {"short_kernels"}}
"""What else is true of a fault."""


IDLE = 0.08
"""Share of a recording without a kernel from which a device may be called idle: the rule's limit is 0.1 of the steps."""


def part(share: float, seed: int) -> int:
    """Return the time (ns) that makes this share of a step of `drawn` if it is added to it."""
    return int(share / (1 - share) * step_time(drawn(seed), seed))


def small(seed: int) -> Plan:
    """Return a job of eight ranks whose traces are small."""
    chance = np.random.default_rng(seed + 8_000_000)
    return replace(drawn(seed), ranks=8, layers=int(chance.choice([4, 6, 8])), kernel=int(chance.integers(300, 1_500)) * US)


def launch_bound(seed: int, _: float = 0.0) -> Plan:
    """Return many kernels of 2 to 6 µs, each launched in 8 to 15 µs."""
    chance = np.random.default_rng(seed + 9_000_000)
    return replace(
        drawn(seed), steps=int(chance.integers(8, 13)), layers=int(chance.integers(40, 70)),
        kernel=int(chance.uniform(2, 6) * US), host=int(chance.uniform(8, 15) * US), copy=8 * US,
    )  # fmt: skip


def short_kernels(seed: int, share: float) -> Plan:
    """Return an optimizer whose kernels of 5 to 8 us, and the gaps between them, take this share of a step."""
    chance = np.random.default_rng(seed + 10_000_000)
    duration = int(chance.integers(5, 9)) * US
    plan = replace(drawn(seed), steps=8, kernel=int(chance.integers(100, 300)) * US)
    whole = share / (1 - share) * step_time(plan, seed)
    return replace(plan, short=int(whole / (duration + BETWEEN)), short_kernel=duration)


FAULTS: Mapping[str, Callable[[int, float], Plan]] = {
    "slow_rank": lambda seed, effect: replace(small(seed), slow=(seed % 8, effect)),
    "slow_rank_of_64": lambda seed, effect: replace(small(seed), ranks=64, layers=2, steps=10, slow=(seed % 64, effect)),
    "fetch_in_process": lambda seed, effect: replace(drawn(seed), lead=0, loader="process", fetch=part(effect, seed)),
    "slow_workers": lambda seed, effect: replace(
        drawn(seed), fetch=int(step_time(drawn(seed), seed) / (1 - effect)), skipped=max(drawn(seed).skipped, 1)
    ),
    "pageable": lambda seed, effect: replace(drawn(seed), copied="pageable", copy=part(effect, seed)),
    "launch_bound": launch_bound,
    "short_kernels": short_kernels,
    "float32": lambda seed, effect: replace(drawn(seed), products=effect, product=FLOAT32),
    "shapes": lambda seed, effect: replace(drawn(seed), steps=8 + seed % 13, lengths=int(effect)),
    "items": lambda seed, effect: replace(
        drawn(seed), lead=-1, items=1, host=20 * US, kernel=int(ITEM * (1 - effect) / effect)
    ),
}
RIGHT = {
    "slow_rank": "slow_rank", "slow_rank_of_64": "slow_rank", "fetch_in_process": "fetching", "slow_workers": "fetching",
    "pageable": "pageable", "launch_bound": "launching", "short_kernels": "short_kernels", "float32": "float32",
    "shapes": "shapes", "items": "synchronising",
}  # fmt: skip
HEALTHY: Mapping[str, Callable[[int], Plan]] = {
    "compute": drawn,
    "prefetch": lambda seed: replace(drawn(seed), lead=0, loader="process", fetch=part(0.01 + seed % 5 / 400, seed)),
    "hidden_loader": lambda seed: replace(
        drawn(seed), lead=-1, loader="process", fetch=part(0.1 + seed % 3 / 10, seed), skipped=2
    ),
    "pinned": lambda seed: replace(drawn(seed), copied="beside", copy=part(0.02 + seed % 5 / 50, seed)),
    "little_pageable": lambda seed: replace(drawn(seed), copied="pageable", copy=part(0.001 + seed % 5 / 1_250, seed)),
    "ahead": lambda seed: replace(drawn(seed), lead=2 + seed % 3, kernel=1 * MS),
    "hiccups": lambda seed: replace(drawn(seed), hiccups=0.01),
    "warm_up": lambda seed: replace(drawn(seed), skipped=0, warm_up=3.0 + seed % 8),
    "small_kernels": lambda seed: replace(drawn(seed), layers=60, kernel=15 * US, host=9 * US, steps=8),
    "graph": lambda seed: replace(drawn(seed), layers=100, kernel=4 * US, host=9 * US, graph=True, copy=5 * US),
    "few_short": lambda seed: short_kernels(seed, 0.03 + seed % 5 / 50),
    "tf32": lambda seed: replace(drawn(seed), products=0.9, product=TF32),
    "little_float32": lambda seed: replace(drawn(seed), products=0.04, product=FLOAT32),
    "without_tensor_cores": lambda seed: replace(drawn(seed), products=0.9, product=FLOAT32, device="Tesla P100-SXM2-16GB"),
    "buckets": lambda seed: replace(drawn(seed), steps=8 + seed % 13, lengths=2 + seed % 3),
    "few_items": lambda seed: replace(drawn(seed), lead=-1, items=1 + seed % 5, kernel=(1_500 + 300 * (seed % 4)) * US),
    "last_batch": lambda seed: replace(drawn(seed), last=True),
    "ranks": small,
    "ranks_unequal": lambda seed: replace(small(seed), unequal=0.1),
    "ranks_warm_up": lambda seed: replace(small(seed), skipped=0, warm_up=3.0 + seed % 8),
    "ranks_hiccups": lambda seed: replace(small(seed), hiccups=0.01),
    "64_ranks": lambda seed: replace(small(seed), ranks=64, layers=2, steps=10, unequal=0.05),
}


def reviewed(plan: Plan, seed: int) -> tuple[Review, bool]:
    """Return what the product says of the traces of a job, read by its own readers, at the page of the first rank.

    And whether the device of that rank was idle.
    """
    with TemporaryDirectory() as directory:
        job = simulate(plan, seed, Path(directory))
        run = open_run(Path(directory))
        profile = next(iter(run.profile.values()))
        frames = {name: profile.frame(name) if profile.gives(name) else None for name in FRAMES}
        for whole in run.profile.jobs:
            frames |= {name: whole.frame(name) if whole.gives(name) else None for name in OF_JOB}
        return review(frames), job.ranks[0].idle > IDLE


def named(found: Review, idle: bool) -> frozenset[str]:
    """Return the rules of `RULES` that found something, which ranks are slow, and "idle" where the device was not idle."""
    said = {one.rule for one in found.found if one.rule in RULES and one.rule != "slow_rank"}
    ranks = {f"slow_rank {rank}" for one in found.found if one.rule == "slow_rank" for rank in one.evidence["rank"]}
    return frozenset(said | ranks | ({"idle"} if not idle and any(one.rule == "idle" for one in found.found) else set()))


def of_fault(case: str, effect: float, seeds: Iterable[int]) -> Counter[str]:
    """Count how often a fault is "right", "missed" or "unjudged"; and what else `named` has."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        plan = FAULTS[case](seed, effect)
        found, idle = reviewed(plan, seed)
        rule = RIGHT[case]
        right = f"{rule} {plan.slow[0]}" if plan.slow is not None else rule
        others = named(found, idle)
        verdict = "right" if right in others else "unjudged" if rule in found.unchecked else "missed"
        counts.update([verdict, *(f"false {one.split()[0]}" for one in others - {right} - ALSO.get(case, set()))])
    return counts


def of_healthy(case: str, seeds: Iterable[int]) -> Counter[str]:
    """Count how often each rule of `named` accuses healthy data, and how often all are silent ("fine")."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        found = named(*reviewed(HEALTHY[case](seed), seed))
        counts.update({f"false {one.split()[0]}" for one in found} or {"fine"})
    return counts
