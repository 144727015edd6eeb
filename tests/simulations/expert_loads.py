"""Simulated loads of the experts of a mixture: tokens that each rank computes. Knows no rule of the product.

Written from the manual before its author read the rule. An effect is by how much the rank with most tokens exceeds the mean of
its group. Tokens are drawn for each step, so ranks differ by chance where routing is even.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from parsers.cluster_frames import COLLECTIVES, GROUPS, RANKS
from parsers.profiler.frame_parts import frame_of
from parsers.profiler.groups import text_of

WIDTH = 2 * 4_096
"""Bytes of a token."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A job. size, groups: ranks of a group of experts, and such groups; layers: of experts, by group; tokens: of a rank, a
    layer and a step; hot: (rank, by how much its experts get more than the mean); uneven: spread of the popularity of experts;
    rows: whether kernels tell the rows, else bytes of all-to-all stand in; dense: ranks after these that have no experts."""

    seed: int
    size: int
    groups: int
    steps: int
    tokens: int
    layers: tuple[int, ...]
    hot: tuple[int, float] | None = None
    uneven: float = 0.0
    rows: bool = True
    dense: int = 0


def simulate(plan: Plan) -> NDArray[np.int64]:
    """Return the tokens that each rank computed in each step: (steps, ranks)."""
    chance = np.random.default_rng(plan.seed)
    found = np.zeros((plan.steps, plan.size * plan.groups + plan.dense), np.int64)
    for group in range(plan.groups):
        share = np.exp(plan.uneven * chance.standard_normal(plan.size))
        first = group * plan.size
        if plan.hot and first <= plan.hot[0] < first + plan.size:
            share = np.full(plan.size, 1.0)
            place, excess = plan.hot[0] - first, plan.hot[1]
            share[place] = (1 + excess) * (plan.size - 1) / (plan.size - 1 - excess) if excess < plan.size - 1 else 1e3
        share /= share.sum()
        for _ in range(plan.layers[group]):
            found[:, first : first + plan.size] += chance.multinomial(plan.tokens * plan.size, share, plan.steps)
    return found


def excess_of(plan: Plan, tokens: NDArray[np.int64]) -> float:
    """Return by how much the rank with most tokens exceeds the mean of its group, over the recording."""
    sums = tokens.sum(0)[: plan.size * plan.groups].reshape(plan.groups, plan.size)
    return float((sums.max(1) / sums.mean(1)).max() - 1)


def frames(plan: Plan, tokens: NDArray[np.int64]) -> dict[str, pd.DataFrame]:
    """Return groups, all-to-all operations and ranks as the frames that readers make of files."""
    chance = np.random.default_rng([plan.seed, 1])
    ranks = tokens.shape[1]
    of = [list(range(group * plan.size, (group + 1) * plan.size)) for group in range(plan.groups)]
    names = [f"ep{group}" for group in range(plan.groups)]
    rows = []
    for step in range(plan.steps):
        for rank in range(plan.size * plan.groups):
            group = rank // plan.size
            sent, returned = plan.tokens * plan.layers[group] * WIDTH, int(tokens[step, rank]) * WIDTH
            for number, size in enumerate((sent, returned, sent, returned)):
                time = size / 18.0 * chance.uniform(0.95, 1.05) + 50_000
                rows.append((step + 1, names[group], f"hcom_alltoallv__{group}_{number}", rank, time, size))
    step, group, name, rank, time, size = (list(values) for values in zip(*rows, strict=True))
    n = len(rows)
    operations = {
        "step": step, "group": group, "name": name, "kind": ["alltoallv"] * n, "section": ["collective"] * n, "rank": rank,
        "start_ns": [10**15 + place * 10**6 for place in range(n)], "elapse_ns": time, "transit_ns": time,
        "wait_ns": [0.0] * n, "synchronisation_ns": [0.0] * n, "idle_ns": [0.0] * n, "size_bytes": size,
        "idle_explained": ["yes"] * n,
    }  # fmt: skip
    groups = {"group": names, "name": names, "kind": ["exp"] * len(names), "ranks": [text_of(one) for one in of],
              "size": [plan.size] * len(names), "told": ["yes"] * len(names),
              "sections": ["collective"] * len(names)}  # fmt: skip
    total = tokens.sum(0)
    about = {"rank": list(range(ranks)), "host": [f"node{one // 8}" for one in range(ranks)],
             "expert_rows": [int(one) if plan.rows and one else -1 for one in total]}  # fmt: skip
    return {"groups": frame_of(GROUPS, len(names), groups, "made"), "collectives": frame_of(COLLECTIVES, n, operations, "made"),
            "ranks": frame_of(RANKS, ranks, about, "made")}  # fmt: skip


def healthy(seed: int, **told: object) -> Plan:
    """Return a job with even routing, up to 8 ranks in up to 4 groups."""
    chance = np.random.default_rng([seed, 71])
    groups, layers = int(chance.integers(1, 5)), int(chance.integers(2, 13))
    plan = Plan(int(chance.integers(2**31)), int(chance.choice([2, 4, 8])), groups, int(chance.integers(3, 11)),
                int(chance.choice([1_024, 4_096, 16_384])), (layers,) * groups, rows=bool(seed % 2))  # fmt: skip
    return replace(plan, **told)  # type: ignore[arg-type]


def hot(seed: int, excess: float) -> Plan:
    """Return a job of which one rank gets more tokens than the mean by `excess`."""
    plan = healthy(seed, size=4 if seed % 2 else 8)
    return replace(plan, hot=(seed * 7 % (plan.size * plan.groups), excess))


EFFECTS: Mapping[str, tuple[float, ...]] = {"experts": (0.1, 0.3, 1.0, 2.0)}
FAULTS: Mapping[str, Callable[[int, float], Plan]] = {"experts": hot}
HEALTHY: Mapping[str, Callable[[int], Plan]] = {
    "even": healthy,
    "few_tokens": lambda seed: healthy(seed, tokens=256),
    "nearly_even": lambda seed: healthy(seed, uneven=0.03),
    "stages_of_other_depth": lambda seed: healthy(seed, groups=4, layers=(2, 4, 8, 12)),
    "ranks_without_experts": lambda seed: healthy(seed, dense=4),
    "one_step": lambda seed: healthy(seed, steps=1),
}
"""Healthy jobs: the rank with most tokens exceeds its group by less than 10 %."""
