"""CPU time of all insight rules on one long curve, and on the curves of a page of cards."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.measure import Figure, in_fresh_process

if TYPE_CHECKING:
    from parsers import Series

POINTS, BOUND_MS = 100_000, 50.0
CURVES = 100


def figures(times: int) -> list[Figure]:
    """A falling, noisy loss of 100,000 steps; a hundred of 1,000."""
    results = in_fresh_process("benchmarks.insights", times=times)
    many = tuple(r["many"] for r in results)
    return [
        Figure("insights: one curve, all rules", "CPU ms", BOUND_MS, tuple(r["long"] for r in results), f"{POINTS:,} steps"),
        Figure("insights: a tag of 100 runs, in requests of 150 ms", "CPU ms", 1000.0, many, "1,000 steps each"),
    ]


def measure() -> dict[str, float]:
    """CPU milliseconds, numpy warm."""
    from parsers.analysis.curves.insights import insights_of

    insights_of("loss", _curve(1_000, 0))
    long, many = _curve(POINTS, 1), [_curve(1_000, seed) for seed in range(CURVES)]
    begun = time.process_time()
    insights_of("loss", long)
    first = time.process_time()
    for one in many:
        insights_of("loss", one)
    return {"long": (first - begun) * 1e3, "many": (time.process_time() - first) * 1e3}


def _curve(points: int, seed: int) -> Series:
    from parsers import Series

    step = np.arange(points)
    value = 0.3 + np.exp(-step / (points / 5)) + 0.02 * np.random.default_rng(seed).normal(size=points)
    return Series(step, np.asarray(1.7e9 + step * 0.5, np.float64), value, np.zeros(points, np.int32), step * 60)


if __name__ == "__main__":
    json.dump(measure(), sys.stdout)
