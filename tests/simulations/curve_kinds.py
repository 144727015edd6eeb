"""Curves of 28 kinds without a fault, and curves with one fault of a known size and place.

Written from the manual, without knowledge of the rules that judge curves. Every curve is a function of a random generator and
a number of points, a faulty one also of the size of its fault. `healthy(kind, seed)` and `faulty(kind, size, seed)` choose
the number of points: 20 to 20,000, evenly in the logarithm, for faults as many as `Fault.points` says. Noise is a share of
the level.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Random = np.random.Generator
POINTS = (20, 20_000)
BEGIN_S = 1_700_000_000.0
"""Seconds since 1970 of the first value."""


@dataclass(frozen=True, slots=True)
class KnownCurve:
    """A recorded curve: tag, training steps, seconds since 1970, values, and the indexes between which its fault lies."""

    tag: str
    step: NDArray[np.int64]
    wall_time: Floats
    value: Floats
    first: int = -1
    last: int = -1


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of fault: what makes it, its small, medium and large size, and how many points its curves have."""

    make: Callable[[Random, int, float], KnownCurve]
    sizes: tuple[float, float, float]
    points: tuple[int, int] = (60, POINTS[1])


def healthy(kind: str, seed: int) -> KnownCurve:
    random = _random(kind, seed)
    return HEALTHY[kind](random, _length(random, POINTS))


def faulty(kind: str, size: float, seed: int) -> KnownCurve:
    fault, random = FAULTS[kind], _random(kind, seed)
    return fault.make(random, _length(random, fault.points), size)


def _random(kind: str, seed: int) -> Random:
    return np.random.default_rng([seed, *kind.encode()])


def _length(random: Random, points: tuple[int, int]) -> int:
    return round(math.exp(random.uniform(math.log(points[0]), math.log(points[1]))))


# Parts of curves ----------------------------------------------------------------------------------------------------------


def _recorded(random: Random, tags: str, value: Floats, intervals: Floats | None = None) -> KnownCurve:
    """Name a curve one of the tags, which are separated by spaces, and give it steps and times."""
    points = len(value)
    every = int(random.choice([1, 1, 10, 50, 100]))
    step = np.arange(points, dtype=np.int64) * every + (every if random.random() < 0.5 else 0)
    times = BEGIN_S + np.cumsum(_intervals(random, points) if intervals is None else intervals)
    return KnownCurve(str(random.choice(tags.split())), step, times, value)


def _intervals(random: Random, points: int, typical_s: float | None = None) -> Floats:
    """Seconds from point to point, which vary by 2 to 10 %."""
    typical = math.exp(random.uniform(math.log(0.01), math.log(5.0))) if typical_s is None else typical_s
    return typical * np.exp(random.uniform(0.02, 0.1) * random.standard_normal(points))


def _scattered(random: Random, value: Floats, noise: float | None = None) -> Floats:
    """Multiply values by noise of a share of their level, which is chosen from 0.5 to 8 % unless given."""
    share = math.exp(random.uniform(math.log(0.005), math.log(0.08))) if noise is None else noise
    return value * np.exp(share * random.standard_normal(len(value)))


def _time(points: int) -> Floats:
    return np.arange(points) / max(points - 1, 1)


def _cycles(points: int, number: int) -> Floats:
    """Rise from 0 to 1 a number of times; the last point still belongs to the last cycle."""
    return (np.arange(points) / points * number) % 1.0


def _decay(random: Random, points: int) -> Floats:
    """Fall from 1 to 0: exponentially, or by a power of the steps."""
    time = _time(points)
    if random.random() < 0.5:
        fall = np.exp(-random.uniform(2.0, 8.0) * time)
    else:
        fall = (1 + random.uniform(5.0, 200.0) * time) ** -random.uniform(0.3, 1.2)
    return np.asarray((fall - fall[-1]) / (fall[0] - fall[-1]))


def _falling(random: Random, points: int) -> Floats:
    """Fall from 1.5 to 8 to between 5 and 60 % of that."""
    end = random.uniform(0.05, 0.6)
    return np.asarray(random.uniform(1.5, 8.0) * (end + (1 - end) * _decay(random, points)))


def _persistent(random: Random, points: int, memory: float) -> Floats:
    """Noise of deviation 1, of which each value keeps a share of the one before."""
    fresh = random.standard_normal(points) * math.sqrt(1 - memory * memory)
    noise = np.empty(points)
    last = float(random.standard_normal())
    for at in range(points):
        noise[at] = last = memory * last + fresh[at]
    return noise


# Curves without a fault ---------------------------------------------------------------------------------------------------


def training_loss(random: Random, points: int) -> KnownCurve:
    return _recorded(random, "loss train/loss Loss", _scattered(random, _falling(random, points)))


def skewed_loss(random: Random, points: int) -> KnownCurve:
    """The loss of small batches: most values below the mean, some far above it."""
    shape = random.uniform(8.0, 60.0)
    return _recorded(random, "loss train_loss batch_loss", _falling(random, points) * random.gamma(shape, 1 / shape, points))


def correlated_loss(random: Random, points: int) -> KnownCurve:
    noise = random.uniform(0.005, 0.04) * _persistent(random, points, random.uniform(0.3, 0.9))
    return _recorded(random, "loss train/loss", _falling(random, points) * np.exp(noise))


def smoothed_loss(random: Random, points: int) -> KnownCurve:
    """A loss that the program averages exponentially before it records it."""
    value = _scattered(random, _falling(random, points))
    for at in range(1, points):
        value[at] = 0.9 * value[at - 1] + 0.1 * value[at]
    return _recorded(random, "loss loss/ema", value)


def decayed_rate_loss(random: Random, points: int) -> KnownCurve:
    """A loss that falls anew when the learning rate drops, at a half and at three quarters."""
    time = _time(points)
    value = 0.3 + 1.5 * np.exp(-12 * time)
    for drop in (0.5, 0.75):
        value *= np.where(time < drop, 1.0, 1 - random.uniform(0.15, 0.4) * (1 - np.exp(-60 * np.maximum(time - drop, 0))))
    return _recorded(random, "loss train/loss", _scattered(random, value))


def validation_loss(random: Random, points: int) -> KnownCurve:
    value = _scattered(random, _falling(random, points), random.uniform(0.003, 0.02))
    return _recorded(random, "val_loss eval/loss test_loss", value)


def levelled_validation_loss(random: Random, points: int) -> KnownCurve:
    """The loss of an evaluation that has arrived after a third of the run and stays."""
    value = random.uniform(0.3, 1.0) + random.uniform(0.5, 2.0) * np.exp(-random.uniform(9, 15) * _time(points))
    return _recorded(random, "val_loss validation/loss", _scattered(random, value, random.uniform(0.003, 0.02)))


def accuracy(random: Random, points: int) -> KnownCurve:
    """The accuracy of batches of 32 to 1,024 samples."""
    batch = int(random.choice([32, 128, 1024]))
    share = random.uniform(0.6, 0.98) - random.uniform(0.3, 0.5) * _decay(random, points)
    return _recorded(random, "accuracy train/acc train_accuracy", random.binomial(batch, share) / batch)


def validation_accuracy(random: Random, points: int) -> KnownCurve:
    share = random.uniform(0.6, 0.98) - random.uniform(0.3, 0.5) * _decay(random, points)
    return _recorded(random, "val_accuracy eval/acc", random.binomial(5_000, share) / 5_000)


def quantised_accuracy(random: Random, points: int) -> KnownCurve:
    """The accuracy of an evaluation of 20 to 100 samples: few values, often repeated."""
    count = int(random.choice([20, 50, 100]))
    share = random.uniform(0.7, 0.9) - random.uniform(0.3, 0.5) * _decay(random, points)
    return _recorded(random, "val_acc accuracy", np.rint(count * np.clip(_scattered(random, share, 0.01), 0, 1)) / count)


def quantised_loss(random: Random, points: int) -> KnownCurve:
    """A loss that was written with two or three decimals."""
    decimals = int(random.choice([2, 3]))
    return _recorded(random, "loss train/loss", np.round(_scattered(random, _falling(random, points)), decimals))


def saturated_accuracy(random: Random, points: int) -> KnownCurve:
    """An accuracy of batches of 64 that arrives at 1.0, with few exceptions."""
    share = 1 - random.uniform(0.2, 0.6) * np.exp(-random.uniform(10, 30) * _time(points)) - 1e-4
    return _recorded(random, "accuracy train_acc", random.binomial(64, share) / 64)


def saturated_reward(random: Random, points: int) -> KnownCurve:
    """Returns of episodes that are cut at 500, which good policies mostly reach."""
    skill = 700 / (1 + np.exp(-random.uniform(10, 20) * (_time(points) - random.uniform(0.2, 0.5))))
    return _recorded(random, "reward episode_return", np.clip(_scattered(random, skill, 0.2), 8, 500))


def rising_reward(random: Random, points: int) -> KnownCurve:
    rise = random.uniform(50, 300) * (1 - _decay(random, points)) - random.uniform(0, 100)
    return _recorded(random, "reward rollout/ep_rew_mean", rise + random.uniform(5, 40) * random.standard_normal(points))


def cosine_restart_rate(random: Random, points: int) -> KnownCurve:
    """Learning rates that fall as half a cosine and jump back, 2 to 6 times."""
    phase = _cycles(points, int(random.integers(2, 7)))
    return _recorded(random, "learning_rate lr", 10 ** random.uniform(-4, -1) * (1 + np.cos(math.pi * phase)) / 2)


def cosine_restart_loss(random: Random, points: int) -> KnownCurve:
    """A loss that rises a little at each restart of the learning rate and ends each cycle lower."""
    phase = _cycles(points, int(random.integers(2, 7)))
    bump = 1 + random.uniform(0.05, 0.3) * (1 + np.cos(math.pi * phase)) / 2
    return _recorded(random, "loss train/loss", _scattered(random, _falling(random, points) * bump))


def warm_up_rate(random: Random, points: int) -> KnownCurve:
    """A learning rate that rises linearly, then falls linearly or as half a cosine."""
    time, rise = _time(points), random.uniform(0.02, 0.2)
    rest = np.clip((time - rise) / (1 - rise), 0, 1)
    fall = 1 - rest if random.random() < 0.5 else (1 + np.cos(math.pi * rest)) / 2
    rate = 10 ** random.uniform(-4, -1) * np.where(time < rise, time / rise, fall)
    return _recorded(random, "learning_rate lr train/lr", rate)


def warm_up_loss(random: Random, points: int) -> KnownCurve:
    """A loss that hardly falls during the warm-up, then fast, then slowly."""
    time, rise = _time(points), random.uniform(0.03, 0.15)
    value = random.uniform(1, 3) * (0.3 + 0.7 / (1 + np.exp((time - rise) * 40))) * (1 - 0.3 * time)
    return _recorded(random, "loss train/loss", _scattered(random, value))


def one_cycle_momentum(random: Random, points: int) -> KnownCurve:
    """A momentum that falls from 0.95 to 0.85 and returns."""
    return _recorded(random, "momentum optimizer/momentum", 0.85 + 0.1 * np.abs(1 - 2 * _time(points)))


def epoch_sawtooth(random: Random, points: int) -> KnownCurve:
    """A loss that falls within each of 3 to 20 epochs and goes back a part of that when the next begins."""
    teeth = 1 - random.uniform(0.05, 0.25) * _cycles(points, int(random.integers(3, 21)))
    noise = random.uniform(0.005, 0.03)
    return _recorded(random, "loss train/loss", _scattered(random, _falling(random, points) * teeth, noise))


def samples_per_second(random: Random, points: int) -> KnownCurve:
    """A steady speed with a slow first step and single slow steps in which a checkpoint was written."""
    value = _scattered(random, np.full(points, random.uniform(50, 5_000)), random.uniform(0.01, 0.05))
    value[0] *= 0.2
    value[:: max(points // int(random.integers(3, 12)), 2)] *= random.uniform(0.4, 0.8)
    return _recorded(random, "samples_per_second throughput", value)


def pure_noise(random: Random, points: int) -> KnownCurve:
    value = random.normal(random.uniform(-5, 5), random.uniform(0.01, 3.0), points)
    return _recorded(random, "noise debug/noise temperature", value)


def gradient_norm(random: Random, points: int) -> KnownCurve:
    """A norm that falls slowly and scatters by a factor."""
    level = random.uniform(0.5, 5.0) * (0.4 + 0.6 * _decay(random, points))
    return _recorded(random, "grad_norm train/grad_norm", _scattered(random, level, random.uniform(0.1, 0.35)))


def perplexity(random: Random, points: int) -> KnownCurve:
    logarithm = random.uniform(2.5, 3.5) + random.uniform(3, 6) * _decay(random, points)
    return _recorded(random, "perplexity train/ppl", np.exp(logarithm + 0.03 * random.standard_normal(points)))


def constant_setting(random: Random, points: int) -> KnownCurve:
    return _recorded(random, "weight_decay lr batch_size", np.full(points, float(random.choice([0.0001, 0.01, 256.0]))))


def loss_scale(random: Random, points: int) -> KnownCurve:
    """The scale of mixed precision: doubled at regular distances, halved where gradients overflow."""
    exponent = 12 + np.cumsum(np.arange(points) % max(points // 8, 2) == 0)
    exponent -= np.cumsum(random.random(points) < 4 / points)
    return _recorded(random, "loss_scale amp/scale", 2.0 ** np.clip(exponent, 1, 24))


def checkpoint_pauses(random: Random, points: int) -> KnownCurve:
    """A loss recorded at steps of seconds, with a pause of 5 to 90 s at each of 4 to 12 checkpoints."""
    intervals = _intervals(random, points, random.uniform(0.2, 3.0))
    intervals[points // int(random.integers(4, 13)) :: max(points // 12, 2)] += random.uniform(5, 90)
    return _recorded(random, "loss train/loss", _scattered(random, _falling(random, points)), intervals)


def short_run(random: Random, points: int) -> KnownCurve:
    """A loss recorded within milliseconds, with one pause of some intervals."""
    intervals = _intervals(random, points, random.uniform(0.0003, 0.002))
    intervals[int(random.integers(points // 4, points))] *= random.uniform(10, 100)
    return _recorded(random, "loss train/loss", _scattered(random, _falling(random, points)), intervals)


HEALTHY: dict[str, Callable[[Random, int], KnownCurve]] = {
    make.__name__: make
    for make in (
        training_loss, skewed_loss, correlated_loss, smoothed_loss, decayed_rate_loss, validation_loss,
        levelled_validation_loss, accuracy, validation_accuracy, quantised_accuracy, quantised_loss, saturated_accuracy,
        saturated_reward, rising_reward, cosine_restart_rate, cosine_restart_loss, warm_up_rate, warm_up_loss,
        one_cycle_momentum, epoch_sawtooth, samples_per_second, pure_noise, gradient_norm, perplexity, constant_setting,
        loss_scale, checkpoint_pauses, short_run,
    )
}  # fmt: skip


# Curves with a fault ------------------------------------------------------------------------------------------------------


def _place(random: Random, points: int) -> int:
    return int(random.uniform(0.35, 0.65) * points)


def _after(points: int, first: int) -> Floats:
    """0 up to the first place, then up to 1 at the end."""
    return np.clip((np.arange(points) - first) / max(points - 1 - first, 1), 0, 1)


def _faulty_loss(random: Random, value: Floats, first: int, last: int, noise: float | None = None) -> KnownCurve:
    share = random.uniform(0.005, 0.03) if noise is None else noise
    return replace(_recorded(random, "loss train/loss", _scattered(random, value, share)), first=first, last=last)


def overfitting(random: Random, points: int, size: float) -> KnownCurve:
    """A validation loss that regains `size` of its fall, with noise of 1 %."""
    first = _place(random, points)
    fall = random.uniform(0.5, 2.0)
    down = np.where(np.arange(points) < first, 1 - np.arange(points) / first, 0.0) ** random.uniform(1.5, 3.0)
    value = random.uniform(0.2, 1.0) + fall * (down + size * _after(points, first) ** random.uniform(1.0, 1.5))
    curve = _recorded(random, "val_loss eval/loss test_loss", _scattered(random, value, 0.01))
    return replace(curve, first=first, last=points - 1)


def spike(random: Random, points: int, size: float) -> KnownCurve:
    """One to three values that lie `size` deviations of the noise above the curve."""
    noise, first = random.uniform(0.005, 0.03), _place(random, points)
    last = first + int(random.integers(0, 3))
    curve = _faulty_loss(random, _falling(random, points), first, last, noise)
    curve.value[first : last + 1] *= 1 + size * noise
    return curve


def level_shift(random: Random, points: int, size: float) -> KnownCurve:
    """A loss that jumps up by `size` deviations of its noise and stays there."""
    noise, first = random.uniform(0.005, 0.03), _place(random, points)
    curve = _faulty_loss(random, _falling(random, points), first, points - 1, noise)
    curve.value[first:] += size * noise * curve.value[max(first - 10, 0) : first].mean()
    return curve


def plateau(random: Random, points: int, size: float) -> KnownCurve:
    """A loss that falls steadily and does not fall during the last share `size` of the run."""
    first = int((1 - size) * points)
    fall = random.uniform(0.4, 0.8)
    value = random.uniform(1.5, 8.0) * (1 - fall * np.minimum(np.arange(points) / first, 1.0))
    return _faulty_loss(random, value, first, points - 1)


def divergence(random: Random, points: int, size: float) -> KnownCurve:
    """A loss that turns back and regains `size` times what it fell, faster and faster."""
    first = _place(random, points)
    value = _falling(random, points)
    growth = np.expm1(random.uniform(1, 4) * _after(points, first))
    return _faulty_loss(random, value + size * (value[0] - value[first]) * growth / growth[-1], first, points - 1)


def _swinging(random: Random, points: int, growth: Floats, first: int) -> KnownCurve:
    value = _falling(random, points)
    periods = random.uniform(6, min(40, (points - first) / 6))
    swings = np.sin(2 * math.pi * periods * _after(points, first) + random.uniform(0, 6)) * (np.arange(points) >= first)
    value = value + growth * (value[0] - value[-1]) * swings
    return _faulty_loss(random, value, first, points - 1, random.uniform(0.003, 0.01))


def oscillation(random: Random, points: int, size: float) -> KnownCurve:
    """A loss that swings by `size` of its fall to both sides, over the whole run or its second half."""
    return _swinging(random, points, np.full(points, size), int(random.choice([0, points // 3])))


def growing_oscillation(random: Random, points: int, size: float) -> KnownCurve:
    """Swings that grow from nothing to `size` of the fall to both sides."""
    first = points // 4
    return _swinging(random, points, size * _after(points, first), first)


def _noisier(random: Random, points: int, factor: Floats, first: int) -> KnownCurve:
    level = random.uniform(1.0, 4.0) * (0.7 + 0.3 * _decay(random, points))
    noise = random.uniform(0.005, 0.03) * factor * random.standard_normal(points)
    return replace(_recorded(random, "loss train/loss", level * (1 + noise)), first=first, last=points - 1)


def sudden_noise(random: Random, points: int, size: float) -> KnownCurve:
    """Noise that is `size` times as large from some point on."""
    first = _place(random, points)
    return _noisier(random, points, np.where(np.arange(points) < first, 1.0, size), first)


def growing_noise(random: Random, points: int, size: float) -> KnownCurve:
    """Noise that grows evenly to `size` times, from a quarter of the run on."""
    return _noisier(random, points, 1 + (size - 1) * _after(points, points // 4), points // 4)


def never_moves(random: Random, points: int, size: float) -> KnownCurve:
    """A loss of ln 10 with noise of `size` of it; without noise also an accuracy of 0 or a norm of gradients of 0."""
    tag, level = [("loss", math.log(10)), ("accuracy", 0.0), ("grad_norm", 0.0)][0 if size else int(random.integers(3))]
    return replace(_recorded(random, tag, _scattered(random, np.full(points, level), size)), first=0, last=points - 1)


def stall(random: Random, points: int, size: float) -> KnownCurve:
    """A pause of `size` seconds within a run whose points are 0.05 to 2 s apart."""
    first = _place(random, points)
    intervals = _intervals(random, points, random.uniform(0.05, 2.0))
    intervals[first] += size
    curve = _recorded(random, "loss train/loss", _scattered(random, _falling(random, points)), intervals)
    return replace(curve, first=first - 1, last=first)


def falling_speed(random: Random, points: int, size: float) -> KnownCurve:
    """A recorded speed that is `size` times lower from some point on, at once or little by little."""
    first = _place(random, points)
    level = random.uniform(50, 5_000) / _slowness(random, points, first, size)
    curve = _recorded(random, "samples_per_second throughput", _scattered(random, level, random.uniform(0.01, 0.05)))
    return replace(curve, first=first, last=points - 1)


def slower_steps(random: Random, points: int, size: float) -> KnownCurve:
    """Steps that take `size` times as long from some point on, at once or little by little."""
    first = _place(random, points)
    intervals = _intervals(random, points) * _slowness(random, points, first, size)
    curve = _recorded(random, "loss train/loss", _scattered(random, _falling(random, points)), intervals)
    return replace(curve, first=first, last=points - 1)


def _slowness(random: Random, points: int, first: int, size: float) -> Floats:
    grown = np.arange(points) >= first if random.random() < 0.5 else np.minimum(2 * _after(points, first), 1.0)
    return np.asarray(1 + (size - 1) * grown)


def not_a_number(random: Random, points: int, size: float) -> KnownCurve:
    """NaN for a share `size` of the points, at least one."""
    first = _place(random, points)
    last = min(first + max(int(size * points), 1), points) - 1
    curve = _faulty_loss(random, _falling(random, points), first, last)
    curve.value[first : last + 1] = math.nan
    return curve


FAULTS: dict[str, Fault] = {
    "overfitting": Fault(overfitting, (0.4, 0.8, 2.0), (20, 80)),
    "spike": Fault(spike, (5, 10, 30)),
    "level_shift": Fault(level_shift, (2, 5, 15)),
    "plateau": Fault(plateau, (0.3, 0.5, 0.7)),
    "divergence": Fault(divergence, (0.6, 2, 10)),
    "oscillation": Fault(oscillation, (0.05, 0.15, 0.4)),
    "growing_oscillation": Fault(growing_oscillation, (0.05, 0.15, 0.4)),
    "sudden_noise": Fault(sudden_noise, (2, 3, 5)),
    "growing_noise": Fault(growing_noise, (2, 3, 5)),
    "never_moves": Fault(never_moves, (0.005, 0.0005, 0.0), (20, POINTS[1])),
    "stall": Fault(stall, (20, 90, 600)),
    "falling_speed": Fault(falling_speed, (1.15, 1.5, 3)),
    "slower_steps": Fault(slower_steps, (1.2, 1.5, 3)),
    "not_a_number": Fault(not_a_number, (0.0, 0.05, 1.0)),
}
"""Sizes in the unit that each function states, the smallest effect first."""
