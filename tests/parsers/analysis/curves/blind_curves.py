"""Generators of training curves with a known fault, and of curves without one.

Written from how losses, accuracies, gradient norms, learning rates, rewards and evaluation metrics behave, without knowledge
of the rules they measure. Every curve is determined by (seed, kind, number).

A fault comes with the steps between which a mark counts as right:
- "blow_up": 1 % of the run before the onset of exponential growth, to the step where the noise-free curve has regained half
  of what it had fallen;
- "frozen" and "shift": the larger of 1 % of the run and 10 points on either side of the first step of the fault.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from parsers import Series

Floats = NDArray[np.float64]
Rng = np.random.Generator

SHORTEST, LONGEST = 300, 100_000
STRIDES = (1, 10, 100)  # steps between two records
TOLERANCE, NEAREST = 0.01, 10  # share of the run, points

FALLING = ("loss", "train/loss", "val_loss", "total_loss", "mlm_loss", "perplexity", "mae", "eval/wer", "critic_loss", "errors")
RISING = ("accuracy", "val/acc", "top1", "bleu", "mAP", "f1", "reward", "episode_return_mean", "eval/auc")
NEUTRAL = ("grad_norm", "q_value", "layer3/activation_std", "kl", "entropy", "weights/mean", "tokens_per_second", "logit_scale")


@dataclass(frozen=True)
class Made:
    """One generated curve. A mark is right if its step lies in [first, last]; without a fault both are -1."""

    fault: str
    variant: str
    tag: str
    series: Series
    first: int
    last: int


@dataclass(frozen=True)
class Course:
    """What a curve does without noise, and how noise is put on it: additive with deviation sigma(t), or relative, or counts."""

    tag: str
    clean: Floats
    sigma: Floats  # deviation of the noise at every point
    unit: Floats  # noise of deviation 1
    relative: float = 0.0  # deviation of the logarithm, if the noise is multiplicative
    batch: int = 0  # if the values are shares of so many samples

    def noisy(self, clean: Floats, rng: Rng) -> Floats:
        if self.batch:
            return rng.binomial(self.batch, np.clip(clean, 0, 1)) / self.batch
        if self.relative:
            return clean * np.exp(self.relative * self.unit - self.relative**2 / 2)
        return clean + self.sigma * self.unit


def generator(seed: int, kind: str, number: int) -> Rng:
    return np.random.default_rng([seed, zlib.crc32(kind.encode()), number])


def log_uniform(rng: Rng, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def recorded(rng: Rng, values: Floats, stride: int) -> Series:
    """Return values as a recorded series: single precision, steps at a stride, times with jitter and regular checkpoints."""
    count = len(values)
    seconds = log_uniform(rng, 0.02, 5) * stride * np.exp(0.05 * rng.standard_normal(count))
    if rng.random() < 0.3:
        every = max(count // int(rng.integers(5, 40)), 1)
        seconds[every::every] += 5 * seconds.mean()
    with np.errstate(over="ignore"):
        stored = values.astype(np.float32).astype(np.float64)
    step = (np.arange(count, dtype=np.int64) + int(rng.integers(0, 2))) * stride
    return Series(step, 1.7e9 + np.cumsum(seconds), stored, np.zeros(count, np.int32), np.arange(count, dtype=np.int64))


# Noise of deviation 1


def autoregressive(drive: Floats, memory: float) -> Floats:
    out = lfilter([np.sqrt(1 - memory**2)], [1, -memory], drive)
    out[0] = drive[0]
    return np.asarray(out, float)


def unit_noise(rng: Rng, count: int) -> tuple[str, Floats]:
    kind = str(rng.choice(["gaussian", "laplace", "student", "autocorrelated", "mixed"]))
    if kind == "gaussian":
        return kind, rng.standard_normal(count)
    if kind == "laplace":
        return kind, rng.laplace(size=count) / np.sqrt(2)
    if kind == "student":
        free = rng.uniform(3, 8)
        return kind, rng.standard_t(free, count) / np.sqrt(free / (free - 2))
    memory = float(rng.uniform(0.3, 0.95))
    slow = autoregressive(rng.standard_normal(count + 200), memory)[200:]
    if kind == "autocorrelated":
        return kind, slow
    share = rng.uniform(0.2, 0.8)
    return kind, np.sqrt(share) * slow + np.sqrt(1 - share) * rng.standard_normal(count)


# Courses from 1 down to 0, on points in [0, 1)


def fall(rng: Rng, count: int) -> tuple[str, Floats]:
    time = np.arange(count) / count
    kind = str(rng.choice(["power", "exponential", "two_rates", "cosine", "lr_steps", "late", "logarithmic"]))
    if kind == "power":
        down = (1 + time / log_uniform(rng, 1e-3, 0.1)) ** -rng.uniform(0.3, 1.2)
    elif kind == "exponential":
        down = np.exp(-time / log_uniform(rng, 0.01, 0.4))
    elif kind == "two_rates":
        share = rng.uniform(0.4, 0.9)
        down = share * np.exp(-time / log_uniform(rng, 0.003, 0.05)) + (1 - share) * np.exp(-time / rng.uniform(0.2, 1))
    elif kind == "cosine":  # a power law, lowered further as the learning rate goes to zero
        down = (1 + time / log_uniform(rng, 3e-3, 0.05)) ** -rng.uniform(0.4, 1)
        down += rng.uniform(0.05, 0.2) * (1 + np.cos(np.pi * time)) / 2
    elif kind == "lr_steps":
        down = 0.3 + 0.7 * np.exp(-time / log_uniform(rng, 0.01, 0.1))
        for at, share in zip((0.3, 0.6, 0.85), (0.5, 0.25, 0.1), strict=True):
            after = time >= at
            down[after] -= 0.3 * share * (1 - np.exp(-(time[after] - at) / rng.uniform(0.002, 0.03)))
    elif kind == "late":
        down = 1 / (1 + np.exp((time - rng.uniform(0.05, 0.2)) / rng.uniform(0.01, 0.05)))
    else:
        first = log_uniform(rng, 1e-3, 1e-2)
        down = 1 - np.log1p(time / first) / np.log1p(1 / first)
    return kind, down


def length(rng: Rng) -> int:
    return int(log_uniform(rng, SHORTEST, LONGEST))


def falling(rng: Rng, count: int, tag: str) -> tuple[str, Course]:
    """A loss of any scale: falls to a floor, its noise additive, shrinking or proportional to the value."""
    shape, down = fall(rng, count)
    scale = log_uniform(rng, 1e-6, 1e6)
    floor = scale * (0.0 if rng.random() < 0.1 else log_uniform(rng, 0.02, 2))
    clean = floor + scale * down
    noise, unit = unit_noise(rng, count)
    form = str(rng.choice(["additive", "shrinking", "relative"]))
    if form == "relative" and clean.min() > 0:
        spread = log_uniform(rng, 0.005, 0.25)
        return f"{shape} {noise} {form}", Course(tag, clean, clean * spread, unit, relative=spread)
    sigma = np.full(count, scale * log_uniform(rng, 0.002, 0.1))
    if form == "shrinking":
        sigma *= (1 + np.arange(count) / count / 0.05) ** -0.4
    return f"{shape} {noise} {form}", Course(tag, clean, sigma, unit)


def rising(rng: Rng, count: int, tag: str) -> tuple[str, Course]:
    """An accuracy (a share of a batch, or smooth) or a reward of any scale."""
    shape, down = fall(rng, count)
    if tag in {"accuracy", "val/acc", "top1"} and rng.random() < 0.7:
        batch = int(rng.choice([16, 32, 64, 128, 256, 1024]))
        low, high = rng.uniform(0.01, 0.3), rng.uniform(0.6, 0.95)
        clean = high - (high - low) * np.clip(down, 0, 1)
        return f"{shape} batch {batch}", Course(tag, clean, np.sqrt(clean * (1 - clean) / batch), np.zeros(count), batch=batch)
    if "reward" in tag or "return" in tag:
        scale, low = log_uniform(rng, 0.1, 1e4), rng.uniform(-1, 0.2)
    else:
        scale, low = float(rng.choice([1.0, 100.0])) * rng.uniform(0.4, 0.8), 0.05
    noise, unit = unit_noise(rng, count)
    sigma = np.full(count, scale * log_uniform(rng, 0.003, 0.1))
    return f"{shape} {noise}", Course(tag, scale * (low + 1 - down), sigma, unit)


def neutral(rng: Rng, count: int, tag: str) -> tuple[str, Course]:
    """A metric of which neither high nor low is good: level, slowly drifting, or settling after a start."""
    time = np.arange(count) / count
    scale = log_uniform(rng, 1e-6, 1e6)
    kind = str(rng.choice(["level", "drift", "settling"]))
    clean = np.ones(count)
    if kind == "drift":
        clean = 1 + rng.uniform(-0.4, 0.4) * time ** rng.uniform(0.5, 1.5)
    elif kind == "settling":
        clean = 1 + rng.uniform(-0.7, 2) * fall(rng, count)[1]
    noise, unit = unit_noise(rng, count)
    spread = log_uniform(rng, 0.01, 0.2)
    if rng.random() < 0.5:
        return f"{kind} {noise} relative", Course(tag, scale * clean, scale * clean * spread, unit, relative=spread)
    return f"{kind} {noise}", Course(tag, scale * clean, np.full(count, scale * spread), unit)


def made(rng: Rng, fault: str, variant: str, tag: str, values: Floats, begin: int, end: int) -> Made:
    """The curve with the places [begin, end] between which a mark is right."""
    series = recorded(rng, values, int(rng.choice(STRIDES)))
    begin, end = max(begin, 0), min(end, len(values) - 1)
    return Made(fault, variant, tag, series, int(series.step[begin]), int(series.step[end]))


def tolerance(count: int) -> int:
    return max(round(TOLERANCE * count), NEAREST)


# Faults


def blow_up(seed: int, number: int) -> Made:
    """A falling curve that grows exponentially from an onset, and then ends high, becomes NaN, or recovers."""
    rng = generator(seed, "blow_up", number)
    while True:
        count = length(rng)
        tag = str(rng.choice([*FALLING, "grad_norm"]))
        about, course = falling(rng, count, tag)
        onset = int(rng.uniform(0.15, 0.85) * count)
        fallen = float(course.clean[: onset + 1].max() - course.clean[onset])
        sigma = float(course.sigma[onset])
        if fallen > 6 * sigma:
            break
    end = str(rng.choice(["high", "nan", "recovers"]))
    peak = fallen * log_uniform(rng, 0.75, 100)
    seed_size = min(sigma * rng.uniform(0.05, 1), fallen / 20)
    decades = np.log(peak / seed_size)
    rate = min(max(count * log_uniform(rng, 1e-3, 0.04), 1.0), 0.9 * (count - onset) / decades)
    after = np.arange(count) - onset
    grown = np.where(after >= 0, seed_size * np.exp(np.minimum(np.maximum(after, 0) / rate, decades)), 0.0)
    top = onset + int(np.ceil(rate * decades))
    ended = count
    if end == "recovers":
        back = rng.uniform(0, 0.1) * fallen
        later = np.arange(top, count) - top
        grown[top:] = back + (peak - back) * np.exp(-later / (rate * rng.uniform(0.5, 4)))
    elif end == "high" and rng.random() < 0.3:
        ended = min(top + int(rng.integers(2, 20)), count)  # somebody stopped it
    clean = course.clean + grown
    half = onset + int(np.argmax(clean[onset:] >= course.clean[onset] + fallen / 2))
    values = course.noisy(clean, rng)
    if end == "nan":
        values[top:] = np.nan
        if rng.random() < 0.3:
            ended = min(top + int(rng.integers(1, 50)), count)
    values = values[:ended]
    return made(rng, "blow_up", f"{end} | {about}", tag, values, onset - round(TOLERANCE * ended), half)


def frozen(seed: int, number: int) -> Made:
    """A noisy curve that keeps one value, exactly or but for the last digits, to its end or for a long stretch."""
    rng = generator(seed, "frozen", number)
    count = length(rng)
    family = (FALLING, RISING, NEUTRAL)[int(rng.integers(3))]
    tag = str(rng.choice(family))
    make = {FALLING: falling, RISING: rising, NEUTRAL: neutral}[family]
    about, course = make(rng, count, tag)
    values = course.noisy(course.clean, rng)
    begin = int(rng.uniform(0.1, 0.85) * count)
    how_long = "to the end" if rng.random() < 0.6 else "stretch"
    end = count if how_long == "to the end" else min(begin + max(int(log_uniform(rng, 0.03, 0.4) * count), 40), count)
    kept = str(rng.choice(["last", "last", "last", "level", "zero"]))
    if course.batch:
        kept = "last"
        while not 0 < values[begin] < 1:  # best and worst possible are no fault
            values[begin] = rng.binomial(course.batch, course.clean[begin]) / course.batch
    at = {"last": float(values[begin]), "level": float(course.clean[begin]), "zero": 0.0}[kept]
    if kept == "zero" and family != NEUTRAL:
        at = float(course.clean[begin] + 3 * course.sigma[begin])  # a dead network: the value of guessing, above the usual
    exactly = "exactly" if rng.random() < 0.65 or course.batch else "practically"
    values[begin:end] = at
    if exactly == "practically":
        values[begin:end] += course.sigma[begin] * log_uniform(rng, 1e-4, 1e-2) * rng.standard_normal(end - begin)
    near = tolerance(count)
    return made(rng, "frozen", f"{exactly} {how_long} {kept} | {about}", tag, values, begin - near, begin + near)


def shift(seed: int, number: int, *, better: bool = False) -> Made:
    """A curve that jumps by 5 to 15 deviations of its noise and stays: for the worse if the name says what is better.

    With better, falling metrics jump down and rising ones up, which a user need not be warned of.
    """
    rng = generator(seed, "better" if better else "shift", number)
    while True:
        count = length(rng)
        family = (FALLING, RISING)[int(rng.integers(2))] if better else (FALLING, RISING, NEUTRAL)[int(rng.integers(3))]
        tag = str(rng.choice(family))
        about, course = {FALLING: falling, RISING: rising, NEUTRAL: neutral}[family](rng, count, tag)
        clean = course.clean
        begin = int(rng.uniform(0.12, 0.85) * count)
        size = float(course.sigma[begin]) * rng.uniform(5, 15)
        around = slice(max(begin - count // 60, 0), begin + count // 60)
        seen = size >= 0.05 * np.ptp(clean) and size >= 3 * np.ptp(clean[around])
        sign = {FALLING: 1.0, RISING: -1.0, NEUTRAL: float(rng.choice([-1, 1]))}[family] * (-1 if better else 1)
        moved = clean[begin:] + sign * size
        possible = moved.min() > 0.02 if course.batch else (moved.min() > 0.05 * clean[begin:].min() or family == RISING)
        if course.batch and moved.max() >= 0.99:
            possible = False
        if seen and possible:
            break
    after = np.maximum(np.arange(count) - begin + 1, 0)
    way = str(rng.choice(["at once", "at once", "ramp", "lag"]))
    if way == "at once":
        form = (after > 0).astype(float)
    elif way == "ramp":
        form = np.minimum(after / max(rng.uniform(0.001, 0.005) * count, 2), 1)
    else:
        form = 1 - np.exp(-after / max(rng.uniform(0.0005, 0.002) * count, 1))
    lasting = "to the end"
    if rng.random() < 0.2:
        lasting = "and back"
        form[min(begin + int(rng.uniform(0.15, 0.4) * count), count) :] = 0
    values = course.noisy(clean + sign * size * form, rng)
    near = tolerance(count)
    direction = "up" if sign > 0 else "down"
    return made(rng, "shift", f"{direction} {way} {lasting} | {about}", tag, values, begin - near, begin + near)


FAULTS: dict[str, Callable[[int, int], Made]] = {"blow_up": blow_up, "frozen": frozen, "shift": shift}


# Curves without a fault


def schedule(rng: Rng, count: int) -> Floats:
    time = np.arange(count) / count
    warm = rng.uniform(0.005, 0.1)
    kind = int(rng.integers(5))
    after = np.clip((time - warm) / (1 - warm), 0, 1)
    rate = (
        (1 + np.cos(np.pi * after)) / 2,
        1 - after,
        0.1 ** np.floor(after * 3.4),
        np.ones(count),
        np.sqrt(warm / np.maximum(time, warm)),
    )[kind]
    return log_uniform(rng, 1e-5, 0.1) * rate * np.minimum(time / warm, 1)


def clean_loss(rng: Rng, count: int) -> tuple[str, Floats]:
    tag = str(rng.choice(FALLING))
    _, course = falling(rng, count, tag)
    return tag, course.noisy(course.clean, rng)


def clean_warm_up(rng: Rng, count: int) -> tuple[str, Floats]:
    _, course = falling(rng, count, "loss")
    start = int(rng.uniform(0.002, 0.02) * count)
    hump = rng.uniform(0, 0.2) * float(np.ptp(course.clean)) * np.exp(-(((np.arange(count) - 2 * start) / start) ** 2))
    return "loss", course.noisy(course.clean + hump, rng)


def clean_epochs(rng: Rng, count: int) -> tuple[str, Floats]:
    """A training loss that falls at the start of every epoch, since the samples are then seen once more."""
    _, course = falling(rng, count, "train/loss")
    epochs = int(rng.integers(3, 60))
    drop = float(course.sigma.mean()) * rng.uniform(0.3, 1.5)
    saw = drop * ((np.arange(count) * epochs / count) % 1)
    return "train/loss", course.noisy(course.clean + saw, rng)


def clean_memorised(rng: Rng, count: int) -> tuple[str, Floats]:
    _, down = fall(rng, count)
    clean = log_uniform(rng, 0.5, 5) * np.exp(-rng.uniform(4, 12) * (1 - down))
    return "loss", clean * np.exp(rng.uniform(0.1, 0.6) * unit_noise(rng, count)[1])


def clean_accuracy(rng: Rng, count: int) -> tuple[str, Floats]:
    batch = int(rng.choice([8, 16, 32, 64, 256]))
    clean = rng.uniform(0.5, 1.0) - 0.5 * np.clip(fall(rng, count)[1], 0, 1)
    return "accuracy", rng.binomial(batch, np.clip(clean, 0, 1)) / batch


def clean_metric(rng: Rng, count: int) -> tuple[str, Floats]:
    tag = str(rng.choice(RISING))
    _, course = rising(rng, count, tag)
    return tag, course.noisy(course.clean, rng)


def clean_gradient(rng: Rng, count: int) -> tuple[str, Floats]:
    """Heavy-tailed and multiplicative: settles after a start, or rises slowly as weights grow."""
    time = np.arange(count) / count
    level = 0.5 + rng.uniform(0.2, 2) * time
    if rng.random() < 0.5:
        level = 1 + rng.uniform(1, 8) * np.exp(-time / rng.uniform(0.005, 0.05))
    heavy = rng.standard_t(rng.uniform(4, 10), count)
    return "grad_norm", log_uniform(rng, 0.01, 100) * level * np.exp(rng.uniform(0.05, 0.35) * heavy)


def clean_learning_rate(rng: Rng, count: int) -> tuple[str, Floats]:
    return str(rng.choice(["learning_rate", "lr"])), schedule(rng, count)


def clean_walk(rng: Rng, count: int) -> tuple[str, Floats]:
    noise = rng.standard_normal(count) if rng.random() < 0.5 else rng.standard_t(5, count)
    walk = np.cumsum(noise) * log_uniform(rng, 1e-3, 10)
    return str(rng.choice(["reward", "train/reward", "episode_reward"])), walk


def clean_noisy_walk(rng: Rng, count: int) -> tuple[str, Floats]:
    walk = np.cumsum(rng.standard_normal(count))
    return "reward", walk + rng.uniform(1, 30) * rng.standard_normal(count)


def clean_reward(rng: Rng, count: int) -> tuple[str, Floats]:
    """A reward that is learnt, with long correlated swings, as a mean over the last hundred episodes has them."""
    _, down = fall(rng, count)
    slow = autoregressive(rng.standard_normal(count), 1 - log_uniform(rng, 1e-3, 0.1))
    return "reward", log_uniform(rng, 0.1, 1e3) * (1 - down + rng.uniform(0.03, 0.15) * slow)


def clean_sparse_reward(rng: Rng, count: int) -> tuple[str, Floats]:
    chance = np.clip(0.05 + rng.uniform(0.2, 0.9) * (1 - fall(rng, count)[1]), 0, 1)
    return "reward", rng.binomial(int(rng.choice([4, 10, 20])), chance) * 1.0


def clean_gan(rng: Rng, count: int) -> tuple[str, Floats]:
    slow = autoregressive(rng.standard_normal(count), 1 - log_uniform(rng, 1e-3, 0.05))
    level = rng.uniform(0.5, 3)
    return str(rng.choice(["g_loss", "d_loss"])), level * np.exp(0.15 * slow + 0.15 * rng.standard_normal(count))


def clean_speed(rng: Rng, count: int) -> tuple[str, Floats]:
    return "tokens_per_second", log_uniform(rng, 10, 1e6) / (1 + rng.gamma(2, rng.uniform(0.01, 0.05), count))


def clean_loss_scale(rng: Rng, count: int) -> tuple[str, Floats]:
    """The scale of a half-precision loss: doubled every so many steps without overflow, halved at one."""
    every = int(rng.choice([500, 1000, 2000]))
    level, kept, values = 16, 0, np.empty(count)
    overflow = rng.random(count)
    for at in range(count):
        values[at] = level
        kept += 1
        if overflow[at] < 4e-4 * 2.0 ** (level - 16):
            level, kept = level - 1, 0
        elif kept >= every:
            level, kept = level + 1, 0
    return "loss_scale", 2.0**values


def clean_weights(rng: Rng, count: int) -> tuple[str, Floats]:
    time = np.arange(count) / count
    size = log_uniform(rng, 0.1, 100) * (1 + rng.uniform(0.1, 1) * time ** rng.uniform(0.3, 1))
    return "weight_norm", size * (1 + 1e-4 * autoregressive(rng.standard_normal(count), 0.99))


def clean_entropy(rng: Rng, count: int) -> tuple[str, Floats]:
    slow = autoregressive(rng.standard_normal(count), 0.99)
    level = 0.3 + 1.5 * fall(rng, count)[1]
    return "entropy", level * np.exp(0.03 * slow + 0.03 * rng.standard_normal(count))


def clean_level_loss(rng: Rng, count: int) -> tuple[str, Floats]:
    """Fine-tuning: the loss is nearly where it will be from the first step on."""
    noise = rng.uniform(0.02, 0.3) * np.maximum(unit_noise(rng, count)[1], -3)
    return "loss", log_uniform(rng, 1e-3, 1e3) * (1 + 0.05 * fall(rng, count)[1] + noise)


def clean_annealed(rng: Rng, count: int) -> tuple[str, Floats]:
    time = np.arange(count) / count
    grown = rng.uniform(2, 30) / (1 + np.exp(-(time - rng.uniform(0.2, 0.5)) / rng.uniform(0.05, 0.15)))
    return "kl", (0.2 + grown) * np.exp(0.08 * rng.standard_normal(count))


CLEAN: dict[str, Callable[[Rng, int], tuple[str, Floats]]] = {
    "loss": clean_loss,
    "warm_up": clean_warm_up,
    "epochs": clean_epochs,
    "memorised": clean_memorised,
    "accuracy": clean_accuracy,
    "metric": clean_metric,
    "gradient": clean_gradient,
    "learning_rate": clean_learning_rate,
    "walk": clean_walk,
    "noisy_walk": clean_noisy_walk,
    "reward": clean_reward,
    "sparse_reward": clean_sparse_reward,
    "gan": clean_gan,
    "speed": clean_speed,
    "loss_scale": clean_loss_scale,
    "weights": clean_weights,
    "entropy": clean_entropy,
    "level_loss": clean_level_loss,
    "annealed": clean_annealed,
}


def clean(seed: int, kind: str, number: int) -> Made:
    """A curve of 100,000 steps without a fault, recorded at every step; one in five at every 10 or 100 steps."""
    rng = generator(seed, f"clean {kind}", number)
    stride = 1 if rng.random() < 0.8 else int(rng.choice(STRIDES[1:]))
    tag, values = CLEAN[kind](rng, LONGEST // stride)
    return Made("", kind, tag, recorded(rng, values, stride), -1, -1)
