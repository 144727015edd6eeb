"""The cost of a derived curve: CPU milliseconds to evaluate an expression over two tags of a million points.

A server evaluates it once for each version of a run. `python -m benchmarks.derived` prints one measurement.
"""

from __future__ import annotations

import json
import time

import numpy as np

from benchmarks.measure import Figure, in_fresh_process
from parsers.model import Ints

POINTS = 1_000_000
EXPRESSIONS = {
    "train - val": 20.0,
    "train / even": 80.0,
    "log10(abs(train))": 30.0,
    "mean(train, 20)": 120.0,
    "mean(train, 1000 steps)": 250.0,
    "rate(train)": 30.0,
}
"""Expression -> bound; half the steps of `even` are steps of `train`."""


def figures(times: int) -> list[Figure]:
    """Measure each expression."""
    found = in_fresh_process("benchmarks.derived", times=times)
    return [
        Figure(f"derived curve of 1M points: {text}", "CPU ms", bound, tuple(each[text] for each in found))
        for text, bound in EXPRESSIONS.items()
    ]


def one() -> dict[str, float]:
    """CPU milliseconds of each expression, the best of three."""
    from parsers import Series
    from parsers.analysis import evaluate, parse_expression

    random = np.random.default_rng(0)

    def series(step: Ints) -> Series:
        size = step.size
        values = random.normal(size=size)
        return Series(step, np.arange(size, dtype=np.float64) * 0.5, values, np.zeros(size, np.int32), np.arange(size))

    steps = np.arange(POINTS)
    tags = {"train": series(steps), "val": series(steps.copy()), "even": series(steps * 2)}
    found = {}
    for text in EXPRESSIONS:
        expression = parse_expression(text)
        spent = []
        for _ in range(3):
            begun = time.process_time()
            evaluate(expression, tags.get)
            spent.append((time.process_time() - begun) * 1e3)
        found[text] = min(spent)
    return found


if __name__ == "__main__":
    print(json.dumps(one()))
