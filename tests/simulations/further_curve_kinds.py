"""Five more kinds of curves without a fault, written by the author of the rules after these: a check, not a blind one.

`further(kind, seed)` chooses 20 to 20,000 points, evenly in the logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tests.simulations.curve_kinds import BEGIN_S, POINTS, KnownCurve

Floats = NDArray[np.float64]
Random = np.random.Generator


def further(kind: str, seed: int) -> KnownCurve:
    random = np.random.default_rng([seed, *b"further", *kind.encode()])
    points = round(math.exp(random.uniform(math.log(POINTS[0]), math.log(POINTS[1]))))
    tags, value = FURTHER[kind](random, points)
    seconds = BEGIN_S + np.cumsum(random.uniform(0.01, 5.0) * np.exp(0.05 * random.standard_normal(points)))
    return KnownCurve(str(random.choice(tags.split())), np.arange(points, dtype=np.int64), seconds, value)


def _noisy(random: Random, value: Floats, low: float, high: float) -> Floats:
    return value * np.exp(random.uniform(low, high) * random.standard_normal(len(value)))


def four_step_decays(random: Random, points: int) -> tuple[str, Floats]:
    """A loss that levels off and falls anew at four cuts of the learning rate."""
    time = np.linspace(0.0, 1.0, points)
    value = random.uniform(0.2, 1.0) + random.uniform(1.0, 4.0) * np.exp(-time / random.uniform(0.02, 0.06))
    for cut in random.uniform(0.15, 0.9, 4):
        settled = 1.0 - np.exp(-np.maximum(time - cut, 0.0) / random.uniform(0.002, 0.02))
        value = value * (1.0 - random.uniform(0.1, 0.4) * settled)
    return "loss train/loss", _noisy(random, value, 0.005, 0.05)


def discriminator_loss(random: Random, points: int) -> tuple[str, Floats]:
    """From 2 ln 2 to a level about which it wanders."""
    level, memory, wander = random.uniform(0.5, 1.3), random.uniform(0.5, 0.97), np.empty(points)
    last = random.standard_normal()
    for place in range(points):
        wander[place] = last = memory * last + math.sqrt(1.0 - memory**2) * random.standard_normal()
    fall = np.exp(-np.linspace(0.0, 1.0, points) / random.uniform(0.02, 0.1))
    value = (level + (2.0 * math.log(2.0) - level) * fall) * np.exp(random.uniform(0.05, 0.15) * wander)
    return "discriminator_loss d_loss loss/D", np.maximum(value + 0.03 * random.standard_normal(points), 0.01)


def contrastive_loss(random: Random, points: int) -> tuple[str, Floats]:
    """Falls from the logarithm of the batch: at once, then as its temperature is learned, then by a power."""
    time, top = np.linspace(0.0, 1.0, points), math.log(random.choice([256, 1024, 4096]))
    temperature = 0.07 + 0.93 * np.exp(-time * random.uniform(2.0, 10.0))
    slow = 0.5 * temperature * (1.0 + time * random.uniform(5.0, 30.0)) ** -0.4
    value = top * (0.15 + slow + 0.35 * np.exp(-time * random.uniform(20.0, 80.0)))
    return "contrastive_loss train/loss loss/infonce", _noisy(random, value, 0.005, 0.04)


def success_rate(random: Random, points: int) -> tuple[str, Floats]:
    """The mean of the last 20 episodes, each of which succeeds or does not."""
    time = np.linspace(0.0, 1.0, points)
    skill = random.uniform(0.6, 0.98) / (1.0 + np.exp(-random.uniform(6.0, 15.0) * (time - random.uniform(0.2, 0.6))))
    episodes = random.random(points + 19) < np.concatenate((np.full(19, skill[0]), skill))
    return "success_rate rollout/success_rate eval/success", np.convolve(episodes, np.full(20, 1 / 20), "valid")


def accumulated_loss(random: Random, points: int) -> tuple[str, Floats]:
    """The loss of four micro-batches in turn, each from a source of its own."""
    time, end = np.linspace(0.0, 1.0, points), random.uniform(0.05, 0.6)
    fall = (1.0 + random.uniform(5.0, 200.0) * time) ** -random.uniform(0.3, 1.2)
    own = 1.0 + random.uniform(0.01, 0.1) * random.standard_normal(4)
    value = random.uniform(1.5, 8.0) * (end + (1.0 - end) * fall) * own[np.arange(points) % 4]
    return "loss train/loss", _noisy(random, value, 0.005, 0.05)


FURTHER: dict[str, Callable[[Random, int], tuple[str, Floats]]] = {
    make.__name__: make
    for make in (four_step_decays, discriminator_loss, contrastive_loss, success_rate, accumulated_loss)
}
