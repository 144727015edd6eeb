"""Trainings that go wrong in a known place, and clean curves that only look as if: a second set of generators, from a seed.

Written from what such faults are, before the rules that find them, which were then tuned on other seeds: a blow-up is an
exponential that is added to a healthy curve, a frozen value is one value written again and again, a shift is an
offset that stays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from parsers import Series

Random = np.random.Generator
BLOW_UP, FROZEN, SHIFT = "blow-up", "frozen", "shift"


class Trouble(NamedTuple):
    """A curve whose fault begins at a step, and the steps between which a mark of it is right."""

    tag: str
    series: Series
    step: int
    earliest: float
    latest: float


def recorded(value: np.ndarray, every: int = 1) -> Series:
    n = len(value)
    step = np.arange(n, dtype=np.int64) * every
    return Series(step, 1.7e9 + step * 0.37, np.asarray(value, np.float32).astype(float), np.zeros(n, np.int32), step * 60)


# Healthy curves -------------------------------------------------------------------------------------------------------


def _wander(random: Random, n: int) -> np.ndarray:
    """Unit noise as batches have it: white, correlated over some steps, skewed or with outliers."""
    kind = random.integers(4)
    if kind == 0:
        return random.normal(size=n)
    if kind == 1:
        width = int(random.integers(2, 30))
        kernel = np.exp(-np.arange(6 * width) / width)
        kernel /= np.sqrt((kernel**2).sum())
        return np.convolve(random.normal(size=n + len(kernel) - 1), kernel, mode="valid")
    if kind == 2:
        return (random.gamma(8.0, 1.0, n) - 8.0) / np.sqrt(8.0)
    return random.laplace(0.0, np.sqrt(0.5), n)


def healthy(random: Random, n: int) -> tuple[str, np.ndarray, np.ndarray]:
    """(tag, trend, deviation of the noise) of a curve that goes its way."""
    t = np.linspace(0.0, 1.0, n)
    kind = int(random.integers(5))
    if kind == 0:  # cross entropy of a language model
        fall = (1.0 + t * random.uniform(10, 300)) ** -random.uniform(0.3, 0.9)
        trend = random.uniform(1.5, 3.0) + random.uniform(3.0, 8.0) * fall
        return "train/loss", trend, np.full(n, random.uniform(0.01, 0.15))
    if kind == 1:  # a classifier
        trend = 2.3 * np.exp(-t / random.uniform(0.05, 0.4)) + random.uniform(0.05, 0.6)
        return "loss", trend, trend * random.uniform(0.01, 0.12)
    if kind == 2:  # two phases: a quick fall and a slow one
        trend = random.uniform(0.5, 2) * np.exp(-t / 0.03) + random.uniform(0.5, 2) * (1.3 - t) ** random.uniform(0.5, 1.5)
        return "nll_loss", trend, np.full(n, random.uniform(0.005, 0.05))
    if kind == 3:
        trend = np.exp(random.uniform(1, 3) + random.uniform(1, 3) * np.exp(-t / random.uniform(0.1, 0.5)))
        return "perplexity", trend, trend * random.uniform(0.01, 0.05)
    trend = random.uniform(0.02, 0.3) + random.uniform(0.4, 1.5) * np.exp(-((t / random.uniform(0.2, 0.8)) ** 0.7))
    return "val_error", trend, np.full(n, random.uniform(0.003, 0.03))


def _length(random: Random) -> int:
    return int(np.exp(random.uniform(np.log(600), np.log(100_000))))


# Faults ---------------------------------------------------------------------------------------------------------------


def blow_up(seed: int) -> Trouble:
    """A loss to which an exponential is added: slow or sudden, to a multiple of what it fell or until it overflows."""
    random = np.random.default_rng(seed)
    n = _length(random)
    tag, trend, deviation = healthy(random, n)
    at = int(n * random.uniform(0.25, 0.85))
    fallen = trend[0] - trend[at]
    e_fold = n * np.exp(random.uniform(np.log(0.003), np.log(0.08)))
    # From where the last factor e of the run makes it, so that each of them does regain what it fell.
    e_fold = min(e_fold, (n - at) / 6.0)
    begin = fallen * random.uniform(0.005, 0.03)
    with np.errstate(over="ignore"):
        rise = begin * np.expm1(np.maximum(np.arange(n) - at, 0) / e_fold)
    rise = np.minimum(rise, 1e38)
    noise = deviation * _wander(random, n)
    value = trend + noise * (1.0 + np.minimum(rise / max(fallen, 1e-9), 1e6))
    value = value + rise
    if random.random() < 0.3:
        value = np.where(rise > 1e4 * fallen, np.nan, value)
    half = at + int((trend[at:] + rise[at:] >= trend[at] + fallen / 2.0).argmax())
    every = int(random.choice([1, 10]))
    return Trouble(tag, recorded(value, every), at * every, (at - 0.01 * n) * every, half * every)


def frozen(seed: int) -> Trouble:
    """A value that is written again and again, to the end or for some time."""
    random = np.random.default_rng(seed)
    n = _length(random)
    if random.random() < 0.3:
        tag, value = "reward", 10 + np.cumsum(random.normal(size=n)) * 0.02 + random.normal(size=n)
    else:
        tag, trend, deviation = healthy(random, n)
        value = trend + deviation * _wander(random, n)
        if random.random() < 0.3:
            tag, value = "eval/accuracy", np.round((1 - value / value.max()) * 5000) / 5000
    at = int(n * random.uniform(0.15, 0.85))
    last = n if random.random() < 0.5 else min(n, at + int(n * random.uniform(0.06, 0.3)))
    value[at:last] = value[at]
    return Trouble(tag, recorded(value), at, at - 0.01 * n, at + 0.01 * n)


def shift(seed: int) -> Trouble:
    """An offset that stays: of 3 to 12 deviations for the worse, or either way of a value of which neither is better."""
    random = np.random.default_rng(seed)
    n = _length(random)
    tag, trend, deviation = healthy(random, n)
    at = int(n * random.uniform(0.25, 0.8))
    offset = deviation[at] * random.uniform(3, 12)
    noise = _wander(random, n)
    kind = random.integers(4)
    if kind == 0:
        unit = 0.9 / trend[0]
        tag, trend, deviation, offset = "accuracy", 1.0 - trend * unit, deviation * unit, -offset * unit
    if kind == 1:
        tag, trend = "grad_norm", random.uniform(1, 5) * (1 + 0.5 * np.exp(-np.linspace(0, 8, n)))
        deviation = trend * random.uniform(0.05, 0.3)
        offset = deviation[at] * random.uniform(3, 12) * (1 if random.random() < 0.6 else -1)
    value = trend + deviation * noise
    value[at:] += offset
    return Trouble(tag, recorded(value), at, at - 0.01 * n, at + 0.01 * n)


TROUBLES: dict[str, Callable[[int], Trouble]] = {BLOW_UP: blow_up, FROZEN: frozen, SHIFT: shift}


# Clean ----------------------------------------------------------------------------------------------------------------


def _walk(random: Random, n: int) -> tuple[str, np.ndarray]:
    return "reward", np.cumsum(random.normal(size=n)) * random.uniform(0.01, 1)


def _noisy_walk(random: Random, n: int) -> tuple[str, np.ndarray]:
    return "episode/reward", np.cumsum(random.normal(size=n)) * 0.03 + random.normal(size=n) * random.uniform(0.5, 5)


def _bounded_walk(random: Random, n: int) -> tuple[str, np.ndarray]:
    """It returns slowly to a mean that grows."""
    value, pull = np.zeros(n), random.uniform(2, 50) / n
    steps = random.normal(size=n)
    from scipy.signal import lfilter

    value = lfilter([1.0], [1.0, -(1.0 - pull)], steps)
    return "mean_reward", np.linspace(0, 3, n) * value.std() + value


def _warmed_rate(random: Random, n: int) -> tuple[str, np.ndarray]:
    warm = int(n * random.uniform(0.01, 0.3))
    return "lr", 3e-4 * np.minimum(np.arange(n) / warm, 1.0)


def _exploration(random: Random, n: int) -> tuple[str, np.ndarray]:
    return "epsilon", np.maximum(0.05, 1.0 - np.arange(n) / (n * random.uniform(0.1, 0.8)))


def _clipped(random: Random, n: int) -> tuple[str, np.ndarray]:
    """The norm of gradients after clipping: often at the limit, towards the end mostly below."""
    norm = np.exp(0.4 * random.normal(size=n)) * np.linspace(random.uniform(1.5, 8), 0.7, n)
    return "grad_norm", np.minimum(norm, 1.0)


def _perfect(random: Random, n: int) -> tuple[str, np.ndarray]:
    """The accuracy of small batches, at the end always 1."""
    batch = int(random.choice([16, 64, 256]))
    right = np.minimum(1.0, 0.3 + 0.7 * np.arange(n) / (n * random.uniform(0.4, 0.9)))
    return "train_accuracy", random.binomial(batch, right) / batch


def _counted(random: Random, n: int) -> tuple[str, np.ndarray]:
    """An accuracy of few samples, which takes equal values again and again."""
    samples = int(random.choice([20, 100, 1000]))
    right = 0.95 - 0.6 * np.exp(-np.linspace(0, random.uniform(3, 12), n))
    return "val_acc", random.binomial(samples, right) / samples


def _held(random: Random, n: int) -> tuple[str, np.ndarray]:
    """A loss computed every few steps and written at each."""
    _, trend, deviation = healthy(random, n)
    every = int(random.choice([5, 20, 100, 500]))
    value = trend + deviation * random.normal(size=n)
    return "loss", np.repeat(value[::every], every)[:n]


def _volatile(random: Random, n: int) -> tuple[str, np.ndarray]:
    """Noise whose level wanders."""
    level = np.exp(np.convolve(random.normal(size=n + 999), np.ones(1000) / 40, mode="valid") * 0.4)
    return "kl", 0.02 * (1 + level * np.abs(random.normal(size=n)))


def _decayed(random: Random, n: int) -> tuple[str, np.ndarray]:
    """A loss whose rate is divided by ten twice: it falls within some hundred steps, and scatters less."""
    t = np.arange(n)
    value, deviation = 1.0 + np.exp(-t / (0.05 * n)), np.full(n, 0.05)
    for share in (0.5, 0.75):
        at = int(share * n)
        gone = np.where(t >= at, 1.0 - np.exp(-np.maximum(t - at, 0) / random.uniform(50, 800)), 0.0)
        value, deviation = value - 0.3 * gone, deviation * (1 - 0.4 * gone)
    return "loss", value + deviation * _wander(random, n)


def _again(random: Random, n: int) -> tuple[str, np.ndarray]:
    """Cosine cycles that double in length: the loss goes up at each start and comes back."""
    value, deviation = 1.0 + 2.0 * np.exp(-np.linspace(0, 10, n)), np.full(n, random.uniform(0.01, 0.06))
    ends = n * np.cumsum(2.0 ** np.arange(5)) / 31
    begins = np.concatenate(([0.0], ends[:-1]))
    at = np.searchsorted(ends, np.arange(n), "right").clip(max=4)
    phase = (np.arange(n) - begins[at]) / (ends - begins)[at]
    return "loss", value + 0.2 * (1 + np.cos(np.pi * phase)) + deviation * _wander(random, n)


def _healthy(random: Random, n: int) -> tuple[str, np.ndarray]:
    tag, trend, deviation = healthy(random, n)
    return tag, trend + deviation * _wander(random, n)


HARMLESS: dict[str, Callable[[Random, int], tuple[str, np.ndarray]]] = {
    "walk": _walk, "noisy walk": _noisy_walk, "bounded walk": _bounded_walk, "warmed rate": _warmed_rate,
    "exploration": _exploration, "clipped": _clipped, "perfect": _perfect, "counted": _counted, "held": _held,
    "volatile": _volatile, "decayed": _decayed, "again": _again, "healthy": _healthy,
}  # fmt: skip


def harmless(family: str, seed: int, n: int = 100_000) -> tuple[str, Series]:
    """(tag, curve) without a fault."""
    tag, value = HARMLESS[family](np.random.default_rng(seed), n)
    return tag, recorded(value)
