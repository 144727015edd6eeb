"""The cost of recording in a training: CPU time of one core for each scalar, histogram, step and sample of the system.

That of the thread that writes the files is included. `python -m benchmarks.recording` prints one measurement.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np

from benchmarks.measure import Figure, in_fresh_process
from parsers.recording import Recorder

STEPS = 20_000
_PER_STEP = 20
_STEP_SECONDS = 0.01
_ROWS = {
    "scalar_of_20": ("a scalar, 20 per step", "us", 4),
    "scalar_alone": ("a scalar alone", "us", 8),
    "share": ("20 scalars in a step of 10 ms", "%", 1),
    "histogram": ("a histogram of 100,000 values", "ms", 2),
    "steps": ("run.steps per step", "us", 5),
    "sample": ("a sample of the system, without child processes", "ms", 5),
    "import": ("import of the Recorder beyond numpy", "s", 0.05),
}


def figures(times: int) -> list[Figure]:
    """Measure each row."""
    found = in_fresh_process("benchmarks.recording", times=times)
    return [Figure(what, unit, bound, tuple(one[name] for one in found)) for name, (what, unit, bound) in _ROWS.items()]


def one() -> dict[str, float]:
    """Return the figures by name, in the units of the rows."""
    values = {f"train/metric_{place}": place / 7 for place in range(_PER_STEP)}
    weights = np.random.default_rng(0).normal(size=100_000)

    def many(run: Recorder) -> None:
        for step in range(STEPS):
            run.log(step, values)

    def alone(run: Recorder) -> None:
        for step in range(STEPS):
            run.log(step, {"loss": 0.5})

    def histograms(run: Recorder) -> None:
        for step in range(200):
            run.log(step, {"weights": run.histogram(weights)})

    def steps(run: Recorder) -> None:
        for _ in run.steps(range(STEPS)):
            pass

    of_many = _cpu(many) / STEPS
    return {
        "scalar_of_20": of_many / _PER_STEP * 1e6, "scalar_alone": _cpu(alone) / STEPS * 1e6,
        "share": 100 * of_many / _STEP_SECONDS, "histogram": _cpu(histograms) / 200 * 1e3,
        "steps": _cpu(steps) / STEPS * 1e6, "sample": _sample() * 1e3, "import": _import(),
    }  # fmt: skip


def _cpu(work: Callable[[Recorder], None]) -> float:
    """CPU seconds of recording into a directory of its own, closing included."""
    with tempfile.TemporaryDirectory() as directory:
        run = Recorder(directory)
        work(run)  # imports, and all tags are known
        run.flush()
        begun = time.process_time()
        work(run)
        run.close()
        return time.process_time() - begun


def _sample() -> float:
    """CPU seconds of one sample of the system."""
    from parsers.recording.system import sample, totals

    before, _ = totals()
    begun = time.process_time()
    for _ in range(100):
        counters, amounts = totals()
        sample(before, counters, amounts, 10.0, 100.0)
        before = counters
    return (time.process_time() - begun) / 100


def _import() -> float:
    """CPU seconds that importing the Recorder takes beyond numpy, without anything else of Mindscope."""
    code = (
        "import sys, time, numpy; sys.path.insert(0, {path!r}); begun = time.process_time(); from recording import Recorder;"
        "print(time.process_time() - begun)"
    )
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "parsers")
    command = [sys.executable, "-c", code.format(path=path)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    print(json.dumps(one()))
