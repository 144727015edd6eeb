"""Simulated calls of the host into the runtime of an NPU, with operators that are compiled again. Knows no rule of the product.

Written from the manual and from recorded `api_statistic.csv` before its author read the rule. An operator is compiled when it
comes with shapes or attributes that are not in the cache, which takes 50 ms to 3 s; with them its launch takes below 2 ms,
even where the function is called `aclopCompileAndExecute`. An effect is how many compilations there are in a step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

US, MS = 1_000, 1_000_000
USUAL = (
    ("runtime", "ContextGetCurrent", 0.5), ("runtime", "KernelLaunchWithHandle", 4.3), ("runtime", "EventRecord", 9.0),
    ("runtime", "MemcpyAsync", 5.0), ("acl", "aclnnMatmul", 17.0), ("acl", "aclnnMatmulGetWorkspaceSize", 26.0),
    ("acl", "aclnnInplaceAdd", 14.0), ("acl", "aclCreateTensorDesc", 1.2), ("node", "launch", 12.0),
)  # fmt: skip
"""Level, function, and what a call takes in µs."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A recording. launches: calls of aclopCompileAndExecute in a step; again: compilations in a step beyond the first step's;
    first: operators compiled in the first recorded step; compiling_ns: what a compilation takes; function: that compiles."""

    seed: int
    steps: int
    calls: int
    launches: int = 0
    again: float = 0.0
    first: int = 0
    compiling_ns: float = 300 * MS
    function: tuple[str, str] = ("acl", "aclopCompileAndExecute")
    options: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the host: level, name, and the durations of its calls (ns)."""

    level: str
    name: str
    durations: tuple[float, ...]


def simulate(plan: Plan) -> list[Call]:
    """Return the calls of a recording by function."""
    chance = np.random.default_rng(plan.seed)
    found = []
    for level, name, taken in USUAL:
        count = plan.steps * int(plan.calls * chance.uniform(0.2, 1.0))
        found.append(Call(level, name, tuple(chance.gamma(4, taken * US / 4, count))))
    compiled = plan.first + int(chance.poisson(plan.again * plan.steps))
    long = chance.gamma(6, plan.compiling_ns / 6, compiled)
    short = chance.gamma(3, 0.7 * MS / 3, plan.launches * plan.steps)
    if compiled or plan.launches:
        found.append(Call(*plan.function, tuple(np.concatenate([long, short]))))
    if plan.options:
        found.append(Call("acl", "aclSetCompileopt", tuple(chance.gamma(4, 2 * US, plan.options))))
        found.append(Call("acl", "aclopSetCompileFlag", tuple(chance.gamma(4, US, plan.options))))
    return found


def healthy(seed: int, **told: object) -> Plan:
    """Return a recording of 5 to 40 steps without a compilation."""
    chance = np.random.default_rng([seed, 31])
    plan = Plan(int(chance.integers(2**31)), int(chance.integers(5, 41)), int(chance.integers(50, 2_000)))
    return replace(plan, **told)  # type: ignore[arg-type]


def again(seed: int, rate: float) -> Plan:
    """Return a recording in which operators are compiled `rate` times a step, beside launches from the cache."""
    chance = np.random.default_rng([seed, 32])
    return healthy(seed, again=rate, launches=int(chance.choice([0, 3, 20, 100])), steps=int(chance.integers(10, 41)),
                   compiling_ns=float(chance.uniform(50, 1_000)) * MS)  # fmt: skip


EFFECTS: Mapping[str, tuple[float, ...]] = {"compilations": (0.3, 1.0, 5.0)}
FAULTS: Mapping[str, Callable[[int, float], Plan]] = {"compilations": again}
HEALTHY: Mapping[str, Callable[[int], Plan]] = {
    "none": healthy,
    "from_the_cache": lambda seed: healthy(seed, launches=1 + seed % 40),
    "options": lambda seed: healthy(seed, options=1 + seed % 200),
    "one": lambda seed: healthy(seed, first=1, launches=seed % 10),
}
"""Healthy recordings. From sums nobody can tell compilations of the first step from later ones: these are left out."""
