"""Curves of training in which it is known what is wrong and where: healthy ones of many kinds, and ones with a single fault.

A healthy kind is made of (random, points, noise), a faulty one also of the size of its fault. `noise` is the standard deviation
as a share of the curve's level. `KINDS` lists all kinds with what `draw` may choose for each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
BEGIN_S = 1_764_000_000.0
"""Seconds since 1970 of the first value."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What is wrong with a curve. Places are indexes of its values; first and last are -1 for a healthy curve."""

    kind: str
    fault: str = ""
    first: int = -1
    last: int = -1
    size: float = 0.0
    """Size of the fault, in the unit that its function states."""
    noise: float = 0.0
    places: tuple[int, ...] = ()
    """The faulty values of a fault that is not one range."""
    period: float = math.nan
    """Values per oscillation."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One recorded series: training steps, seconds since 1970, values."""

    tag: str
    step: NDArray[np.int64]
    wall_time: Values
    value: Values
    truth: Truth


Random = np.random.Generator
Maker = Callable[..., Curve]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of curve and the range of what is drawn for it."""

    name: str
    make: Maker
    points: tuple[int, int] = (10, 5000)
    noises: tuple[float, ...] = (0.003, 0.01, 0.03, 0.1)
    sizes: tuple[float, ...] = ()
    """Sizes of the fault; empty for a healthy kind."""


def draw(random: Random, kind: Kind) -> Curve:
    """Make a curve of the kind: points evenly in the logarithm, noise and size from its lists."""
    low, high = kind.points
    points = round(math.exp(random.uniform(math.log(low), math.log(high))))
    noise = float(random.choice(kind.noises))
    return kind.make(random, points, noise, *([float(random.choice(kind.sizes))] if kind.sizes else []))


# Parts of curves ----------------------------------------------------------------------------------------------------------


def _wall_time(random: Random, points: int, step_s: float | None = None) -> Values:
    """Times of values with 2 % of jitter; a step takes 0.03 to 3 s unless step_s says how long."""
    usual = 10 ** random.uniform(-1.5, 0.5) if step_s is None else step_s
    taken = usual * (1.0 + 0.02 * np.abs(random.standard_normal(points)))
    return BEGIN_S + np.concatenate([[0.0], np.cumsum(taken[1:])])


def _curve(random: Random, tag: str, value: Values, truth: Truth, *, every: int = 0, wall_time: Values | None = None) -> Curve:
    points = len(value)
    gap = every or int(random.choice([1, 1, 10, 50]))
    step = np.arange(1, points + 1, dtype=np.int64) * gap
    times = _wall_time(random, points) if wall_time is None else wall_time
    return Curve(tag, step, times, np.asarray(value, np.float64), truth)


def _progress(points: int) -> Values:
    return np.linspace(0.0, 1.0, points)


def _falling(random: Random, points: int) -> Values:
    """A loss without noise: 2 to 8 at first, which falls by a power of the steps to 2 to 40 % of that."""
    first, share = random.uniform(2.0, 8.0), random.uniform(0.02, 0.4)
    power, scale = random.uniform(0.5, 1.5), random.uniform(0.01, 0.1)
    fall = (1.0 + _progress(points) / scale) ** -power
    fall = (fall - fall[-1]) / (1.0 - fall[-1])
    return np.asarray(first * (share + (1.0 - share) * fall))


def _noisy(random: Random, value: Values, noise: float) -> Values:
    return np.asarray(value * (1.0 + noise * random.standard_normal(len(value))))


def _persistent(random: Random, points: int, memory: float) -> Values:
    """Noise of standard deviation 1 in which each value keeps `memory` of the one before."""
    own = random.standard_normal(points) * math.sqrt(1.0 - memory**2)
    kept = np.empty(points)
    last = random.standard_normal()
    for place in range(points):
        last = memory * last + own[place]
        kept[place] = last
    return kept


# Healthy ------------------------------------------------------------------------------------------------------------------


def power_loss(random: Random, points: int, noise: float) -> Curve:
    """A training loss that falls by a power of the steps."""
    return _curve(random, "loss", _noisy(random, _falling(random, points), noise), Truth("power_loss", noise=noise))


def exponential_loss(random: Random, points: int, noise: float) -> Curve:
    """A loss that falls exponentially within the first tenth to half and is level from there."""
    fall = np.exp(-_progress(points) / random.uniform(0.03, 0.15))
    value = random.uniform(1.0, 5.0) * (random.uniform(0.05, 0.5) + fall)
    return _curve(random, "train/loss", _noisy(random, value, noise), Truth("exponential_loss", noise=noise))


def skewed_loss(random: Random, points: int, noise: float) -> Curve:
    """A loss of small batches, whose noise is gamma distributed: a long tail upwards."""
    shape = 1.0 / noise**2
    value = _falling(random, points) * random.gamma(shape, 1.0 / shape, points)
    return _curve(random, "loss", value, Truth("skewed_loss", noise=noise))


def heavy_tailed_loss(random: Random, points: int, noise: float) -> Curve:
    """A loss with noise of Student's distribution of 4 degrees: outliers are usual."""
    value = _falling(random, points) * np.maximum(1.0 + noise * random.standard_t(4, points) / math.sqrt(2.0), 0.05)
    return _curve(random, "loss", value, Truth("heavy_tailed_loss", noise=noise))


def accuracy(random: Random, points: int, noise: float) -> Curve:
    """An accuracy that rises from a guess to 60 to 99 %."""
    best, guess = random.uniform(0.6, 0.99), random.uniform(0.01, 0.3)
    value = best - (best - guess) * np.exp(-_progress(points) / random.uniform(0.05, 0.3))
    return _curve(random, "accuracy", np.clip(_noisy(random, value, noise), 0.0, 1.0), Truth("accuracy", noise=noise))


def quantised_accuracy(random: Random, points: int, noise: float) -> Curve:
    """An accuracy of so few samples (16 to 128) that it has few values; its noise is that of counting."""
    best, samples = random.uniform(0.6, 0.99), int(random.choice([16, 32, 64, 128]))
    share = best - (best - 0.1) * np.exp(-_progress(points) / random.uniform(0.05, 0.3))
    value = random.binomial(samples, share) / samples
    return _curve(random, "train/accuracy", value, Truth("quantised_accuracy", noise=noise))


def saturated_reward(random: Random, points: int, noise: float) -> Curve:
    """A reward that reaches its highest possible value of 500 and stays, with an unlucky episode in fifty."""
    rise = 520.0 / (1.0 + np.exp(-12.0 * (_progress(points) - random.uniform(0.2, 0.5))))
    value = rise * (1.0 + max(noise, 0.03) * random.standard_normal(points))
    unlucky = random.random(points) < 0.02
    value[unlucky] *= random.uniform(0.5, 0.95, int(unlucky.sum()))
    return _curve(random, "episode_reward", np.clip(value, 9.0, 500.0), Truth("saturated_reward", noise=noise))


def cosine_restart_rate(random: Random, points: int, noise: float) -> Curve:
    """A learning rate of cosine cycles that restart 2 to 6 times; it has no noise."""
    phase = (_progress(points) * random.integers(2, 7)) % 1.0
    value = 10 ** random.uniform(-4.0, -1.0) * (0.5 + 0.5 * np.cos(math.pi * phase))
    return _curve(random, "learning_rate", value, Truth("cosine_restart_rate"))


def cosine_restart_loss(random: Random, points: int, noise: float) -> Curve:
    """A loss that rises by a tenth to a third where the learning rate restarts and falls again."""
    phase = (_progress(points) * random.integers(2, 7)) % 1.0
    started = _progress(points) >= phase + 1e-9
    bump = random.uniform(0.1, 0.35) * np.exp(-phase * random.uniform(4.0, 10.0)) * started
    value = _falling(random, points) * (1.0 + bump)
    return _curve(random, "loss", _noisy(random, value, noise), Truth("cosine_restart_loss", noise=noise))


def warm_up_bump(random: Random, points: int, noise: float) -> Curve:
    """A loss that rises by a tenth to a half within the warm-up, then falls."""
    progress, top = _progress(points), random.uniform(0.03, 0.1)
    bump = random.uniform(0.1, 0.5) * np.exp(-((progress / top - 1.0) ** 2))
    return _curve(
        random, "loss", _noisy(random, _falling(random, points) * (1.0 + bump), noise), Truth("warm_up_bump", noise=noise)
    )


def epoch_sawtooth(random: Random, points: int, noise: float) -> Curve:
    """A loss that drops as an epoch begins, as samples are known, and rises within it by what it dropped."""
    epochs = int(random.integers(3, 12))
    phase = (_progress(points) * epochs) % 1.0
    value = _falling(random, points) * (1.0 + random.uniform(0.03, 0.2) * (phase - 0.5))
    return _curve(random, "loss", _noisy(random, value, noise), Truth("epoch_sawtooth", noise=noise, period=points / epochs))


def samples_per_second(random: Random, points: int, noise: float) -> Curve:
    """A speed that is lower in the first values and dips now and then for one value."""
    value = random.uniform(100.0, 5000.0) * (1.0 + noise * _persistent(random, points, 0.5))
    value[:2] *= random.uniform(0.2, 0.8)
    dips = random.random(points) < 0.01
    value[dips] *= random.uniform(0.7, 0.95, int(dips.sum()))
    return _curve(random, "samples_per_second", value, Truth("samples_per_second", noise=noise))


def pure_noise(random: Random, points: int, noise: float) -> Curve:
    """Noise round a level: a metric of which nothing is learned, nor should be."""
    value = _noisy(random, np.full(points, random.uniform(0.5, 50.0)), noise)
    return _curve(random, "temperature", value, Truth("pure_noise", noise=noise))


def decay_plateaus(random: Random, points: int, noise: float) -> Curve:
    """A loss that levels off and drops where the learning rate is cut, twice or three times."""
    progress, value = _progress(points), np.full(points, random.uniform(0.3, 1.0))
    value += random.uniform(1.0, 4.0) * np.exp(-progress / 0.05)
    for place in np.sort(random.uniform(0.25, 0.9, int(random.integers(2, 4)))):
        value *= np.where(progress > place, 1.0 - random.uniform(0.2, 0.5) * (1.0 - np.exp(-(progress - place) / 0.01)), 1.0)
    return _curve(random, "loss", _noisy(random, value, noise), Truth("decay_plateaus", noise=noise))


def drifting_norm(random: Random, points: int, noise: float) -> Curve:
    """A norm of weights that drifts by 5 to 60 % over the run, with a slow random walk on it."""
    walk = np.cumsum(random.standard_normal(points)) * noise * 0.3 / math.sqrt(points)
    value = random.uniform(5.0, 200.0) * np.exp(math.log1p(random.uniform(0.05, 0.6)) * np.sqrt(_progress(points)) + walk)
    return _curve(random, "weight_norm", value, Truth("drifting_norm", noise=noise))


def gradient_norm(random: Random, points: int, noise: float) -> Curve:
    """A norm of gradients: log-normal, falling to 20 to 80 % of its first level."""
    level = random.uniform(0.5, 5.0) * random.uniform(0.2, 0.8) ** _progress(points)
    value = level * np.exp(max(noise, 0.03) * 2.0 * random.standard_normal(points))
    return _curve(random, "gradient_norm", value, Truth("gradient_norm", noise=noise))


def generator_loss(random: Random, points: int, noise: float) -> Curve:
    """The loss of a GAN's generator, which wanders: it does not fall, nor should it."""
    value = random.uniform(0.7, 2.5) * np.exp(0.15 * _persistent(random, points, 0.95))
    return _curve(random, "generator_loss", _noisy(random, value, noise), Truth("generator_loss", noise=noise))


def discriminator_loss(random: Random, points: int, noise: float) -> Curve:
    """The loss of a GAN's discriminator: from 2 ln 2 towards a level about which it wanders."""
    level = random.uniform(0.6, 1.3)
    value = level + (2.0 * math.log(2.0) - level) * np.exp(-_progress(points) / 0.05)
    value *= np.exp(0.1 * _persistent(random, points, 0.9))
    return _curve(random, "discriminator_loss", _noisy(random, value, noise), Truth("discriminator_loss", noise=noise))


def perplexity(random: Random, points: int, noise: float) -> Curve:
    """The exponential of a loss that falls from about 10."""
    loss = random.uniform(2.0, 4.0) + random.uniform(5.0, 7.0) * (1.0 + _progress(points) / 0.02) ** -random.uniform(0.6, 1.2)
    return _curve(random, "perplexity", np.exp(_noisy(random, loss, noise / 3.0)), Truth("perplexity", noise=noise / 3.0))


def scheduled_rate(random: Random, points: int, noise: float) -> Curve:
    """A learning rate that rises evenly in the warm-up and falls evenly to 0; it has no noise."""
    progress, top = _progress(points), random.uniform(0.02, 0.2)
    value = 10 ** random.uniform(-4.0, -1.0) * np.minimum(progress / top, (1.0 - progress) / (1.0 - top))
    return _curve(random, "lr", value, Truth("scheduled_rate"))


def level_validation(random: Random, points: int, noise: float) -> Curve:
    """A validation loss that falls and stays level: no overfitting."""
    fall = np.exp(-_progress(points) / random.uniform(0.08, 0.3))
    value = random.uniform(0.5, 3.0) * (random.uniform(0.1, 0.6) + fall)
    return _curve(random, "val/loss", _noisy(random, value, noise), Truth("level_validation", noise=noise), every=100)


def loss_scale(random: Random, points: int, noise: float) -> Curve:
    """A dynamic loss scale: doubled every so many steps, halved at an overflow."""
    patience, scale, since = int(random.integers(5, 60)), 2.0**16, 0
    value = np.empty(points)
    for place in range(points):
        since += 1
        overflow = random.random() < (0.2 if scale > 2.0**18 else 0.01)
        if overflow or since > patience:
            scale, since = scale / 2.0 if overflow else scale * 2.0, 0
        value[place] = scale
    return _curve(random, "loss_scale", value, Truth("loss_scale"))


def constant_setting(random: Random, points: int, noise: float) -> Curve:
    """A setting that is recorded each step and never changes."""
    value = np.full(points, float(random.choice([1.0, 16.0, 32.0, 256.0])))
    return _curve(random, "batch_size", value, Truth("constant_setting"))


def checkpoint_pauses(random: Random, points: int, noise: float) -> Curve:
    """A loss whose training pauses at regular steps for a checkpoint or an evaluation."""
    taken = np.diff(_wall_time(random, points), prepend=BEGIN_S)
    every = max(points // int(random.integers(3, 12)), 3)
    taken[every::every] += float(np.median(taken)) * random.uniform(5.0, 40.0)
    value = _noisy(random, _falling(random, points), noise)
    truth = Truth("checkpoint_pauses", noise=noise, places=tuple(range(every, points, every)))
    return _curve(random, "loss", value, truth, wall_time=BEGIN_S + np.cumsum(taken))


# Faulty -------------------------------------------------------------------------------------------------------------------


def overfitting_pair(random: Random, points: int, noise: float, size: float) -> tuple[Curve, Curve]:
    """A training loss that goes on falling, and a validation loss that rises again by `size` of what it fell until its least
    value, which is the first place of the truth."""
    least = int(points * random.uniform(0.25, 0.7))
    first, floor = random.uniform(1.0, 4.0), random.uniform(0.1, 0.6)
    progress = np.arange(points) / least
    fall = (np.exp(-3.5 * progress) - math.exp(-3.5)) / (1.0 - math.exp(-3.5))
    after = np.clip(np.arange(points) - least, 0, None) / (points - 1 - least)
    rise = size * after ** random.uniform(0.7, 1.3)
    clean = first * (floor + (1.0 - floor) * (np.maximum(fall, 0.0) + rise))
    every, times = int(random.choice([1, 50, 200])), _wall_time(random, points)
    truth = Truth("overfitting", "overfitting", least, points - 1, size, noise)
    own = first * (0.6 * floor + (1.0 - 0.6 * floor) * np.exp(-2.5 * progress))
    training = _curve(random, "train/loss", _noisy(random, own, noise), Truth("training", noise=noise), every=every,
                      wall_time=times)  # fmt: skip
    return training, _curve(random, "val/loss", _noisy(random, clean, noise), truth, every=every, wall_time=times)


def overfitting(random: Random, points: int, noise: float, size: float) -> Curve:
    """The validation loss of `overfitting_pair`."""
    return overfitting_pair(random, points, noise, size)[1]


def _begin(random: Random, points: int) -> int:
    return int(points * random.uniform(0.3, 0.7))


def oscillation(random: Random, points: int, noise: float, size: float) -> Curve:
    """A loss that swings from a place on by `size` of its level to either side, with a period of 6 to 40 values."""
    return _swinging(random, points, noise, size, growing=False)


def growing_oscillation(random: Random, points: int, noise: float, size: float) -> Curve:
    """A loss whose swings grow evenly from nothing at a place to `size` of its level at the end."""
    return _swinging(random, points, noise, size, growing=True)


def _swinging(random: Random, points: int, noise: float, size: float, *, growing: bool) -> Curve:
    clean, first = _falling(random, points), _begin(random, points)
    period = random.uniform(6.0, min(40.0, max((points - first) / 3.0, 6.5)))
    after = np.clip(np.arange(points) - first, 0, None)
    strength = size * (after / max(points - 1 - first, 1) if growing else (after > 0))
    value = _noisy(random, clean, noise) + clean * strength * np.sin(2.0 * math.pi * after / period)
    name = "growing_oscillation" if growing else "oscillation"
    return _curve(random, "loss", value, Truth(name, "oscillation", first, points - 1, size, noise, period=period))


def sudden_noise(random: Random, points: int, noise: float, size: float) -> Curve:
    """A loss whose noise is `size` times as large from a place on."""
    clean, first = _falling(random, points), _begin(random, points)
    strength = np.where(np.arange(points) >= first, noise * size, noise)
    value = clean * (1.0 + strength * random.standard_normal(points))
    return _curve(random, "loss", value, Truth("sudden_noise", "noise", first, points - 1, size, noise))


def growing_noise(random: Random, points: int, noise: float, size: float) -> Curve:
    """A loss whose noise grows by the same factor each step from a place on, to `size` times as large at the end."""
    clean, first = _falling(random, points), _begin(random, points)
    after = np.clip(np.arange(points) - first, 0, None) / max(points - 1 - first, 1)
    value = clean * (1.0 + noise * size**after * random.standard_normal(points))
    return _curve(random, "loss", value, Truth("growing_noise", "noise", first, points - 1, size, noise))


def divergence(random: Random, points: int, noise: float, size: float) -> Curve:
    """A loss that grows from a place on, by the same factor each step, to `size` times as large at the end."""
    clean, first = _falling(random, points), _begin(random, points)
    after = np.clip(np.arange(points) - first, 0, None) / max(points - 1 - first, 1)
    value = _noisy(random, clean, noise) * size**after
    return _curve(random, "loss", value, Truth("divergence", "divergence", first, points - 1, size, noise))


def not_a_number(random: Random, points: int, noise: float, size: float) -> Curve:
    """A loss that is NaN from a place on, after `size` values that double each time."""
    value, first = _noisy(random, _falling(random, points), noise), _begin(random, points)
    before = min(int(size), first)
    value[first - before : first] *= 2.0 ** np.arange(1, before + 1)
    value[first:] = math.nan
    truth = Truth("not_a_number", "non_finite", first, points - 1, size, noise, tuple(range(first - before, points)))
    return _curve(random, "loss", value, truth)


def spikes(random: Random, points: int, noise: float, size: float) -> Curve:
    """A loss with 1 to 4 values that lie `size` standard deviations of its noise above it."""
    clean = _falling(random, points)
    choices = np.arange(points // 5, points - 2)
    places = np.sort(random.choice(choices, min(int(random.integers(1, 5)), len(choices)), replace=False))
    value = _noisy(random, clean, noise)
    value[places] = clean[places] * (1.0 + noise * size)
    first, last = int(places[0]), int(places[-1])
    truth = Truth("spikes", "spike", first, last, size, noise, tuple(int(place) for place in places))
    return _curve(random, "loss", value, truth)


def never_moves(random: Random, points: int, noise: float, size: float) -> Curve:
    """A loss that never moves from `size` (0, or ln 10: guessing one of ten classes)."""
    return _curve(random, "loss", np.full(points, size), Truth("never_moves", "frozen", 0, points - 1, size))


def never_learns(random: Random, points: int, noise: float, size: float) -> Curve:
    """A loss that stays at `size`, as never_moves, but with noise of batches of 0.1 %."""
    value = _noisy(random, np.full(points, size), 0.001)
    return _curve(random, "loss", value, Truth("never_learns", "no_learning", 0, points - 1, size, 0.001))


def slower(random: Random, points: int, noise: float, size: float) -> Curve:
    """A loss whose steps take `size` times as long from a place on."""
    return _slower(random, points, noise, size, sudden=True)


def ever_slower(random: Random, points: int, noise: float, size: float) -> Curve:
    """A loss whose steps take longer from a place on, evenly, up to `size` times as long."""
    return _slower(random, points, noise, size, sudden=False)


def _slower(random: Random, points: int, noise: float, size: float, *, sudden: bool) -> Curve:
    value, first = _noisy(random, _falling(random, points), noise), _begin(random, points)
    after = np.clip(np.arange(points) - first, 0, None) / max(points - 1 - first, 1)
    factor = np.where(np.arange(points) > first, size, 1.0) if sudden else 1.0 + (size - 1.0) * after
    times = BEGIN_S + np.cumsum(np.diff(_wall_time(random, points), prepend=BEGIN_S) * factor)
    truth = Truth("slower" if sudden else "ever_slower", "slower", first, points - 1, size, noise)
    return _curve(random, "loss", value, truth, wall_time=times)


def stall(random: Random, points: int, noise: float, size: float, step_s: float | None = None) -> Curve:
    """A loss before one of whose values training stood still for `size` seconds; a step takes 27 ms to 10 s."""
    usual = float(10 ** random.uniform(math.log10(0.027), 1.0)) if step_s is None else step_s
    value, place = _noisy(random, _falling(random, points), noise), _begin(random, points)
    times = _wall_time(random, points, usual)
    times[place:] += size
    return _curve(random, "loss", value, Truth("stall", "stall", place, place, size, noise), every=1, wall_time=times)


HEALTHY = tuple(
    Kind(make.__name__, make) for make in (
        power_loss, exponential_loss, skewed_loss, heavy_tailed_loss, accuracy, quantised_accuracy, saturated_reward,
        cosine_restart_rate, cosine_restart_loss, warm_up_bump, epoch_sawtooth, samples_per_second, pure_noise, decay_plateaus,
        drifting_norm, gradient_norm, generator_loss, discriminator_loss, perplexity, scheduled_rate, level_validation,
        loss_scale, constant_setting, checkpoint_pauses,
    )
)  # fmt: skip
HEALTHY = (*HEALTHY, *(replace(kind, name=f"few_{kind.name}", points=(10, 30)) for kind in HEALTHY[:6]))

FAULTY = (
    Kind("overfitting", overfitting, (16, 400), (0.003, 0.01, 0.02, 0.05), (0.2, 0.5, 1.0, 2.0)),
    Kind("oscillation", oscillation, (40, 2000), (0.003, 0.01, 0.03), (0.1, 0.3, 0.6)),
    Kind("growing_oscillation", growing_oscillation, (40, 2000), (0.003, 0.01, 0.03), (0.2, 0.5, 1.0)),
    Kind("sudden_noise", sudden_noise, (40, 5000), (0.003, 0.01, 0.03), (1.5, 3.0, 10.0)),
    Kind("growing_noise", growing_noise, (40, 5000), (0.003, 0.01, 0.03), (1.5, 3.0, 10.0)),
    Kind("divergence", divergence, (20, 5000), sizes=(3.0, 10.0, 1e3, 1e9)),
    Kind("not_a_number", not_a_number, (20, 5000), sizes=(0.0, 1.0, 5.0)),
    Kind("spikes", spikes, (30, 5000), (0.003, 0.01, 0.03), (8.0, 20.0, 100.0)),
    Kind("never_moves", never_moves, (10, 5000), sizes=(0.0, math.log(10.0))),
    Kind("never_learns", never_learns, (30, 5000), sizes=(math.log(10.0),)),
    Kind("slower", slower, (40, 5000), sizes=(1.2, 1.5, 2.0, 5.0)),
    Kind("ever_slower", ever_slower, (40, 5000), sizes=(1.5, 2.0, 5.0)),
    Kind("stall", stall, (20, 5000), sizes=(5.0, 30.0, 120.0, 600.0)),
)

KINDS = (*HEALTHY, *FAULTY)
