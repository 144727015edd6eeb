"""Simulated use of the processors of a machine that feeds an NPU, as MindData samples it. Knows no rule of the product.

Written from the manual before its author read the rule. An effect is the share of all cores that is busy while steps run. The
sampler writes whole percents of all cores; its first sample is 0, and what is neither busy nor idle waits for devices.
Lists of the machine have a zero after each value, as those of recorded files have.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Plan:
    """A recording. load: mean share of the cores that are busy; swing: how much it differs from sample to sample; start: busier
    part at the begin, as a share of the samples; peaks: share of samples in which all cores are busy; waiting: share of the
    cores that wait for devices; own: share of the load that is the training itself."""

    seed: int
    cores: int
    samples: int
    load: float
    swing: float
    start: float = 0.0
    peaks: float = 0.0
    waiting: float = 0.0
    own: float = 0.9


@dataclass(frozen=True, slots=True)
class Samples:
    """Shares of all cores by sample: in programs, in the kernel, waiting for devices; and the same of the process."""

    plan: Plan
    user: NDArray[np.float64]
    system: NDArray[np.float64]
    io: NDArray[np.float64]


def simulate(plan: Plan) -> Samples:
    """Return the samples of a recording."""
    chance = np.random.default_rng(plan.seed)
    busy = plan.load + plan.swing * chance.standard_normal(plan.samples)
    busy[: int(plan.start * plan.samples)] = chance.uniform(0.9, 1.0)
    if plan.peaks:
        busy[chance.permutation(plan.samples)[: int(np.ceil(plan.peaks * plan.samples))]] = 1.0
    busy = busy.clip(0.0, 1.0)
    kernel = busy * chance.uniform(0.05, 0.25)
    io = np.minimum(plan.waiting * chance.uniform(0.8, 1.2, plan.samples), 1 - busy)
    return Samples(plan, busy - kernel, kernel, io)


def busy_share(found: Samples) -> float:
    """Return the mean share of the cores that was busy."""
    return float((found.user + found.system).mean())


def write(found: Samples, folder: Path) -> None:
    """Write `minddata_cpu_utilization_0.json` below `folder`/profiler."""
    def percents(values: NDArray[np.float64]) -> list[int]:
        return [0, *(round(100 * one) for one in values)]

    user, system, io = (percents(values) for values in (found.user, found.system, found.io))
    idle = [100 - sum(of) for of in zip(user, system, io, strict=True)]
    idle[0] = 0
    own = [round(one * found.plan.own) for one in user]
    zeros = [0] * len(user)
    content = {
        "cpu_processor_num": found.plan.cores, "sampling_interval": 100,
        "time_stamp": [1_000 + 100 * place for place in range(len(user))],
        "device_info": {
            "context_switch_count": [value for _ in user for value in (900, 0)],
            "idle_utilization": [value for one in idle for value in (one, 0)],
            "io_utilization": [value for one in io for value in (one, 0)],
            "runnable_process": [value for one in user for value in (one, one)],
            "sys_utilization": system, "user_utilization": user,
        },
        "op_info": [{"metrics": {"sys_utilization": zeros, "user_utilization": own}, "op_id": 0}],
        "process_info": {"sys_utilization": [round(one * found.plan.own) for one in system[1:]], "user_utilization": own[1:]},
    }  # fmt: skip
    (folder / "profiler").mkdir(parents=True, exist_ok=True)
    (folder / "profiler" / "minddata_cpu_utilization_0.json").write_text(json.dumps(content), encoding="utf-8")


def healthy(seed: int, **told: object) -> Plan:
    """Return a machine of which 5 to 65 % are busy."""
    chance = np.random.default_rng([seed, 41])
    plan = Plan(int(chance.integers(2**31)), int(chance.choice([2, 8, 32, 96, 192])), int(chance.integers(15, 400)),
                float(chance.uniform(0.05, 0.65)), float(chance.uniform(0.0, 0.1)))  # fmt: skip
    return replace(plan, **told)  # type: ignore[arg-type]


EFFECTS: Mapping[str, tuple[float, ...]] = {"cpu": (0.7, 0.85, 0.93, 0.99)}
FAULTS: Mapping[str, Callable[[int, float], Plan]] = {"cpu": lambda seed, share: healthy(seed, load=share, swing=0.02)}
HEALTHY: Mapping[str, Callable[[int], Plan]] = {
    "quiet": healthy,
    "busy_start": lambda seed: healthy(seed, start=0.1 + seed % 5 / 50),
    "peaks": lambda seed: healthy(seed, peaks=0.02 + seed % 5 / 50),
    "waiting_for_devices": lambda seed: healthy(seed, load=0.1, waiting=0.85),
    "one_core": lambda seed: healthy(seed, cores=64, load=1 / 64, swing=0.002),
    "half": lambda seed: healthy(seed, load=0.5, swing=0.3),
    "few_samples": lambda seed: healthy(seed, samples=1 + seed % 8),
    "of_others": lambda seed: healthy(seed, own=0.1),
}
"""Healthy machines: less than 70 % of their cores are busy over the recording."""
