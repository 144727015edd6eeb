"""Curves as trainings write them, clean or with one fault in a known place, from a seed.

Nothing here knows a detector: the families are those of published training curves, the noise is what one adds to such curves
(independent or correlated, of constant or falling level, heavy-tailed), and a fault is what its name says.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from parsers import Series

NAN, SPIKE, DIVERGENCE, PLATEAU, GAP, STALL, SLOWER = "non_finite", "spike", "divergence", "plateau", "gap", "stall", "slower"
FAULTS = (SPIKE, NAN, PLATEAU, DIVERGENCE, GAP, STALL, SLOWER)
Random = np.random.Generator


class Curve(NamedTuple):
    """A curve, the name it is recorded under, and when it is looked at (seconds since 1970)."""

    family: str
    tag: str
    series: Series
    now: float


class Fault(NamedTuple):
    """A curve with one fault of a kind that begins at a step."""

    kind: str
    step: int
    curve: Curve


def series(step, wall, value) -> Series:
    n = len(step)
    order = np.arange(n, dtype=np.int64) * 60
    return Series(np.asarray(step, np.int64), np.asarray(wall, float), np.asarray(value, float), np.zeros(n, np.int32), order)


# Noise ----------------------------------------------------------------------------------------------------------------


def correlated(random: Random, n: int, rho: float) -> np.ndarray:
    """Of unit variance, first-order autoregressive."""
    from scipy.signal import lfilter

    raw = random.normal(size=n) * np.sqrt(1 - rho * rho)
    raw[0] /= np.sqrt(1 - rho * rho)
    return lfilter([1.0], [1.0, -rho], raw)


def noise(random: Random, n: int) -> np.ndarray:
    """Correlated by 0 to 0.9."""
    return correlated(random, n, random.uniform(0, 0.9))


def heavy(random: Random, n: int) -> np.ndarray:
    """Student's t of 5 degrees of freedom, scaled to unit variance."""
    return random.standard_t(5, n) / np.sqrt(5 / 3)


# Values ---------------------------------------------------------------------------------------------------------------


def exponential(random: Random, n: int) -> tuple[np.ndarray, np.ndarray]:
    """(trend, noise level) of a loss that falls exponentially to a floor."""
    t = np.arange(n)
    floor = random.uniform(0.05, 0.5)
    return floor + random.uniform(1, 6) * np.exp(-t / (n * random.uniform(0.05, 0.5))), np.full(n, random.uniform(0.01, 0.1))


def power_law(random: Random, n: int) -> tuple[np.ndarray, np.ndarray]:
    t = np.arange(n)
    trend = random.uniform(0, 2) + random.uniform(2, 8) * (1 + t / random.uniform(1, 200)) ** -random.uniform(0.1, 0.6)
    return trend, np.full(n, random.uniform(0.01, 0.1))


def falling_noise(random: Random, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The noise is a share of the level."""
    trend = (exponential if random.random() < 0.5 else power_law)(random, n)[0]
    return trend, trend * random.uniform(0.01, 0.2)


def accuracy(random: Random, n: int) -> tuple[np.ndarray, np.ndarray]:
    t = np.arange(n)
    top = random.uniform(0.6, 0.99)
    trend = 0.1 + (top - 0.1) * (1 - np.exp(-t / (n * random.uniform(0.05, 0.4))))
    return trend, np.sqrt(trend * (1 - trend) / random.integers(32, 1024))


def step_decay(random: Random, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A loss that falls at once when the learning rate is divided by ten, and is less noisy from there on."""
    t = np.arange(n)
    trend, level = np.zeros(n), np.zeros(n)
    drops = [0, *(int(n * share) for share in (0.3, 0.6, 0.8)), n]
    height = random.uniform(1.5, 3)
    for first, last in pairwise(drops):
        below = height * random.uniform(0.45, 0.8)
        fall = np.exp(-(t[first:last] - first) / (n * random.uniform(0.001, 0.03)))
        trend[first:last] = below + (height - below) * fall
        level[first:last] = below * 0.05
        height = below
    return trend, level


def warm_restarts(random: Random, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A loss under cosine annealing with warm restarts: up at once at each restart, down over the cycle."""
    cycles = int(random.integers(4, 12))
    phase = np.arange(n) * cycles / n % 1
    whole = exponential(random, n)[0]
    return whole * (1 + 0.3 * (1 + np.cos(np.pi * phase)) / 2), whole * 0.03 * (1 + (1 - phase))


LOSSES: dict[str, Callable[[Random, int], tuple[np.ndarray, np.ndarray]]] = {
    "exponential": exponential, "power law": power_law, "falling noise": falling_noise, "accuracy": accuracy,
    "step decay": step_decay, "warm restarts": warm_restarts,
}  # fmt: skip


def _loss(name: str, draw: Callable[[Random, int], np.ndarray]):
    def make(random: Random, n: int) -> tuple[str, np.ndarray]:
        trend, level = LOSSES[name](random, n)
        value = trend + level * draw(random, n)
        return ("accuracy", np.clip(value, 0, 1)) if name == "accuracy" else ("loss", value)

    return make


def cosine_rate(random: Random, n: int) -> tuple[str, np.ndarray]:
    t = np.arange(n)
    warm = int(n * random.uniform(0.005, 0.1))
    return "learning_rate", 0.001 * np.where(t < warm, t / warm, (1 + np.cos(np.pi * (t - warm) / (n - warm))) / 2)


def restarted_rate(random: Random, n: int) -> tuple[str, np.ndarray]:
    return "lr", 0.1 * (1 + np.cos(np.pi * (np.arange(n) * random.integers(3, 12) / n % 1))) / 2


def stepped_rate(random: Random, n: int) -> tuple[str, np.ndarray]:
    return "lr", 0.1 * 10.0 ** -np.searchsorted([0.3 * n, 0.6 * n, 0.9 * n], np.arange(n))


def constant_rate(random: Random, n: int) -> tuple[str, np.ndarray]:
    return "learning_rate", np.full(n, 0.01)


def tokens(random: Random, n: int) -> tuple[str, np.ndarray]:
    return "tokens_seen", np.cumsum(random.integers(900, 1024, n)).astype(float)


def epoch(random: Random, n: int) -> tuple[str, np.ndarray]:
    return "epoch", np.floor(np.arange(n) / random.integers(50, 5000))


def right_or_wrong(random: Random, n: int) -> tuple[str, np.ndarray]:
    """Batches of one: 0 or 1."""
    return "accuracy", (random.random(n) < np.linspace(0.5, random.uniform(0.7, 0.99), n)).astype(float)


def loss_scale(random: Random, n: int) -> tuple[str, np.ndarray]:
    """Doubled every 2,000 steps, halved where gradients overflow."""
    power = 16.0 + np.cumsum((np.arange(n) % 2000 == 1999).astype(float) - (random.random(n) < 1 / 2000))
    return "loss_scale", 2.0 ** np.clip(power, 0, 24)


def sawtooth(random: Random, n: int) -> tuple[str, np.ndarray]:
    """The mean loss of the epoch so far, which begins anew with each epoch."""
    period = int(random.integers(20, 5000))
    t = np.arange(n)
    trend = exponential(random, n)[0]
    return "loss", trend * (1.2 - 0.2 * (t % period) / period) + 0.01 * noise(random, n)


def gradient_norm(random: Random, n: int) -> tuple[str, np.ndarray]:
    return "grad_norm", (1 + np.exp(-np.arange(n) / (0.1 * n))) * np.exp(random.uniform(0.1, 0.5) * noise(random, n))


CLEAN: dict[str, Callable[[Random, int], tuple[str, np.ndarray]]] = {
    **{name: _loss(name, noise) for name in LOSSES},
    "heavy tails": _loss("exponential", heavy), "heavy tails, falling": _loss("falling noise", heavy),
    "cosine rate": cosine_rate, "restarted rate": restarted_rate, "stepped rate": stepped_rate, "constant rate": constant_rate,
    "tokens": tokens, "epoch": epoch, "right or wrong": right_or_wrong, "loss scale": loss_scale, "sawtooth": sawtooth,
    "gradient norm": gradient_norm,
}  # fmt: skip


# Steps and times ------------------------------------------------------------------------------------------------------


def steps(random: Random, n: int) -> np.ndarray:
    """Every step, every tenth and so on, or after uneven numbers of steps."""
    kind = random.integers(4)
    if kind == 0:
        return np.arange(1, n + 1)
    if kind == 1:
        return np.arange(n) * int(random.choice([5, 10, 50, 100]))
    if kind == 2:
        return np.cumsum(1 + random.poisson(random.uniform(1, 20), n))
    return np.cumsum(random.geometric(random.uniform(0.05, 0.5), n))


def times(random: Random, step: np.ndarray, each: np.ndarray | None = None) -> np.ndarray:
    """Wall times at a jittering pace with the pauses of regular checkpoints; of some writers whole seconds."""
    n = len(step)
    seconds = random.uniform(0.05, 3) if each is None else each
    taken = np.diff(step, prepend=0) * seconds * np.exp(random.uniform(0.02, 0.3) * random.normal(size=n))
    taken[:: int(random.integers(200, 5000))] += random.uniform(1, 120)
    wall = 1.7e9 + np.cumsum(taken)
    return np.floor(wall) if random.random() < 0.2 else wall


def clean(family: str, seed: int, n: int = 100_000) -> Curve:
    """A curve of a family of CLEAN without a fault, looked at soon after its last point."""
    random = np.random.default_rng(seed)
    tag, value = CLEAN[family](random, n)
    step = steps(random, n)
    wall = times(random, step)
    # Files of summaries hold float32.
    return Curve(family, tag, series(step, wall, value.astype(np.float32)), float(wall[-1] + np.median(np.diff(wall))))


# Faults ---------------------------------------------------------------------------------------------------------------

BASES = ("exponential", "power law", "falling noise", "accuracy", "warm restarts", "step decay")


def fault(kind: str, seed: int) -> Fault:
    """A curve of 1,000 to 100,000 points with one fault of a kind in its middle part."""
    random = np.random.default_rng(seed)
    n = int(10 ** random.uniform(3, 5))
    at = int(n * random.uniform(0.3, 0.8))
    family = str(random.choice(("exponential", "power law", "falling noise") if kind in (PLATEAU, DIVERGENCE) else BASES))
    trend, level = LOSSES[family](random, n)
    t = np.arange(n)
    if kind == PLATEAU:
        # A trend that has still a way to go, and stops.
        at = int(n * random.uniform(0.3, 0.7))
        fall = random.uniform(0.3, 0.8)
        straight = np.linspace(0, 1, n) ** random.uniform(0.5, 1)
        trend = random.uniform(2, 6) * (1 - fall * straight)
        level = trend * random.uniform(0.002, 0.02)
        family = "steady fall"
        trend = np.where(t < at, trend, trend[at])
        level = np.where(t < at, level, level[at])
    if kind == DIVERGENCE:
        grown = (t - at) / (n * random.uniform(0.01, 0.1))
        shape = random.integers(3)
        height = random.uniform(2, 20) * (trend[0] - trend[at])
        rise = (1.0 - np.exp(-np.maximum(grown, 0)), np.minimum(np.maximum(grown, 0), 1.0), (grown >= 0) * 1.0)[shape]
        trend = trend + height * rise
        level = level + 0.02 * height * rise
    value = trend + level * noise(random, n)
    tag = "accuracy" if family == "accuracy" else "loss"
    step, each = steps(random, n), np.full(n, random.uniform(0.05, 3))
    if kind == SPIKE:
        width = int(random.integers(1, 6))
        # The noise is of unit variance: its level is the deviation.
        value[at : at + width] += 8 * level[at] * (-1 if tag == "accuracy" else 1)
    if kind == NAN:
        value[at : at + int(random.choice([1, 5, n]))] = random.choice([np.nan, np.inf, -np.inf])
    if kind == GAP:
        usual = np.diff(step)
        missing = max(int(usual.max()) * int(random.integers(4, 40)), 20)
        step[at + 1 :] += missing
    if kind == SLOWER:
        each[at:] *= random.uniform(1.5, 5)
    wall = times(random, step, each)
    place, now = at, float(wall[-1] + np.median(np.diff(wall)))
    if kind == STALL:
        longest = float(np.diff(wall).max())
        place, now = n - 1, float(wall[-1] + max(3600.0, longest * random.uniform(10, 100)))
    return Fault(kind, int(step[place]), Curve(family, tag, series(step, wall, value.astype(np.float32)), now))
