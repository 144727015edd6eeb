"""Simulated operators of one NPU over steps: what runs on the AI CPU, and shapes that change. Knows no rule of the product.

Written from the manual before its author read the rules about operators. An effect is a share of the device's time: that of
operators on the AI CPU (`ai_cpu`), or of operators whose input shapes differ from step to step (`shapes`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

US = 1_000
WIDTH = 1_024
ON_CORES = (
    ("MatMul", "AI_CORE"), ("BatchMatMul", "MIX_AIC"), ("FlashAttentionScore", "MIX_AIC"), ("Add", "AI_VECTOR_CORE"),
    ("LayerNorm", "AI_VECTOR_CORE"), ("Cast", "AI_VECTOR_CORE"), ("SoftmaxCrossEntropyWithLogits", "AI_VECTOR_CORE"),
)  # fmt: skip
ON_CPU = ("Unique", "NonMaxSuppression", "RandomChoiceWithMask", "SparseToDense", "Where", "Multinomial")
SMALL_ON_CPU = ("GetNext", "DropoutGenMask", "RandomUniform")
"""Operators of the AI CPU that usual networks have: they draw masks and fetch data."""


@dataclass(frozen=True, slots=True)
class Place:
    """An operator at its place in a step. duration: mean, ns at full length; lengths: its first dimensions, one drawn for each
    step; every, offset: it runs in every so many-th step."""

    name: str
    type: str
    core: str
    duration: float
    lengths: tuple[int, ...] = (32,)
    every: int = 1
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Execution:
    """What ran once: step, operator, type, core, begin and duration (ns), shapes of its inputs."""

    step: int
    name: str
    type: str
    core: str
    start: int
    duration: int
    shapes: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Places of a step, in order. last: length of the last step's batch, 0 for that of the others; first: how much longer
    operators take in the first step; noise: coefficient of variation of a duration."""

    places: tuple[Place, ...]
    steps: int
    noise: float
    seed: int
    last: int = 0
    first: float = 1.0


def simulate(plan: Plan) -> list[Execution]:
    """Return what ran, in order."""
    chance = np.random.default_rng(plan.seed)
    found, now = [], 1_764_246_877_147_674_500
    for step in range(plan.steps):
        for place in plan.places:
            length = int(chance.choice(place.lengths))
            if step % place.every != place.offset:
                continue
            if plan.last and step == plan.steps - 1:
                length = plan.last
            share = length / max(place.lengths)
            factor = max(1 + plan.noise * chance.standard_normal(), 0.3) * (plan.first if step == 0 else 1.0)
            taken = max(int(place.duration * (0.1 + 0.9 * share) * factor), US)
            shapes = f"{length},{WIDTH};{WIDTH},{WIDTH}" if "MatMul" in place.type else f"{length},{WIDTH}"
            found.append(Execution(step + 1, place.name, place.type, place.core, now, taken, shapes))
            now += taken + int(chance.integers(1, 20)) * US
        now += int(chance.integers(100, 2_000)) * US
    return found


def share_of(found: list[Execution], names: frozenset[str]) -> float:
    """Return the share of the device's time that executions of these operators took."""
    return sum(one.duration for one in found if one.name in names) / sum(one.duration for one in found)


def healthy(seed: int, **told: object) -> Plan:
    """Return a network of 4 to 16 layers that runs on the cores."""
    chance = np.random.default_rng([seed, 21])
    layers = int(chance.integers(4, 17))
    places = []
    for layer in range(layers):
        for kind, core in ON_CORES[: int(chance.integers(4, 8))]:
            long = chance.uniform(200, 2_000) if core != "AI_VECTOR_CORE" else chance.uniform(10, 150)
            places.append(Place(f"Default/network/layer{layer}/{kind}-op{len(places)}", kind, core, long * US))
    plan = Plan(tuple(places), int(chance.integers(8, 20)), float(chance.uniform(0.01, 0.2)), int(chance.integers(2**31)))
    return replace(plan, **told)  # type: ignore[arg-type]


def whole(plan: Plan) -> float:
    """Return the time of a step's operators, in ns."""
    return sum(place.duration / place.every for place in plan.places)


def on_ai_cpu(seed: int, share: float, kinds: tuple[str, ...] = ON_CPU) -> Plan:
    """Return a network of which one to four operators run on the AI CPU, for `share` of the device's time."""
    plan = healthy(seed)
    chance = np.random.default_rng([seed, 22])
    count = int(chance.integers(1, 5))
    parts = chance.dirichlet(np.full(count, 3.0)) * share / (1 - share) * whole(plan)
    made = [
        Place(f"Default/network/head/{kind}-op{900 + number}", kind, "AI_CPU", float(part))
        for number, (kind, part) in enumerate(zip(chance.choice(kinds, count), parts, strict=True))
    ]
    return replace(plan, places=(*plan.places, *made))


def changing(seed: int, share: float, lengths: int = 12) -> Plan:
    """Return a network whose operators for `share` of the time have one of `lengths` lengths, drawn anew for each step."""
    plan = healthy(seed, steps=12 + seed % 9)
    chance = np.random.default_rng([seed, 23])
    drawn = tuple(int(one) for one in chance.choice(np.arange(24, 65), lengths, replace=False))
    places, rest = list(plan.places), share * whole(plan)
    for number in chance.permutation(len(places)):
        if rest <= 0:
            break
        rest -= places[number].duration
        places[number] = replace(places[number], lengths=drawn)
    return replace(plan, places=tuple(places))


def several_shapes(seed: int) -> Plan:
    """Return a network of which one operator runs at several places of a step, each with a shape of its own."""
    plan = healthy(seed)
    made = [Place("Default/network/shared/Cast-op5", "Cast", "AI_VECTOR_CORE", 50 * US, (length,)) for length in (8, 16, 64)]
    return replace(plan, places=(*made, *plan.places))


def evaluated(seed: int) -> Plan:
    """Return a training that evaluates in every fourth step: other operators, with the batch of the evaluation."""
    plan = healthy(seed, steps=16)
    made = [replace(one, name=one.name.replace("network", "evaluation"), lengths=(128,), every=4, offset=3)
            for one in plan.places[::3]]  # fmt: skip
    return replace(plan, places=(*plan.places, *made))


def accumulated(seed: int) -> Plan:
    """Return a training that updates its parameters in every second step, each with a shape of its own."""
    plan = healthy(seed)
    made = [Place("Default/optimizer/AdamWeightDecay-op1", "AdamWeightDecay", "AI_VECTOR_CORE", 30 * US, (length,), 2, 1)
            for length in (1, 32, 4_096)]  # fmt: skip
    return replace(plan, places=(*plan.places, *made))


EFFECTS: Mapping[str, tuple[float, ...]] = {"ai_cpu": (0.03, 0.08, 0.2, 0.5), "shapes": (0.05, 0.2, 0.6)}
FAULTS: Mapping[str, Callable[[int, float], Plan]] = {"ai_cpu": on_ai_cpu, "shapes": changing}
HEALTHY: Mapping[str, Callable[[int], Plan]] = {
    "cores_only": healthy,
    "masks": lambda seed: on_ai_cpu(seed, 0.002 + seed % 10 / 500, SMALL_ON_CPU),
    "slow_first_step": lambda seed: healthy(seed, first=30.0),
    "noisy": lambda seed: healthy(seed, noise=0.5),
    "several_shapes": several_shapes,
    "evaluated": evaluated,
    "accumulated": accumulated,
    "last_batch": lambda seed: healthy(seed, last=20),
    "2_steps": lambda seed: healthy(seed, steps=2),
}
"""Healthy networks: those with a smaller last batch change their shapes once, which costs one more compilation."""
