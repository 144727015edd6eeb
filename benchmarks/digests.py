"""CPU time of a digest of one long curve, and of a gate of ten runs against ten, the start of the program included."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.measure import Figure, in_fresh_process

POINTS, RUNS, RUN_POINTS = 1_000_000, 10, 10_000


def figures(times: int) -> list[Figure]:
    """A loss of 1,000,000 steps, and runs of 10,000."""
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder))
        gates = in_fresh_process("benchmarks.digests", "gate", folder, times=times)
    digests = in_fresh_process("benchmarks.digests", "digest", times=times)
    return [
        Figure("gate: 10 against 10 runs, all of it", "CPU s", 1.0, tuple(r["s"] for r in gates), f"{RUN_POINTS:,} points"),
        Figure("digest: beyond reading", "CPU s", 0.1, tuple(r["s"] for r in digests), f"{POINTS:,} points"),
        Figure("digest: beyond insights", "CPU s", 0.1, tuple(r["rest_s"] for r in digests), f"{POINTS:,} points"),
    ]


def digest() -> dict[str, float]:
    """CPU seconds, numpy warm."""
    from parsers import Series
    from parsers.analysis.curves.curve_digest import curve_digest
    from parsers.analysis.curves.insights import insights_of

    def curve(points: int) -> Series:
        step = np.arange(points)
        value = 0.3 + np.exp(-step / (points / 5)) + 0.02 * np.random.default_rng(1).normal(size=points)
        return Series(step, np.asarray(1.7e9 + step * 0.5, np.float64), value, np.zeros(points, np.int32), step * 60)

    curve_digest("loss", curve(10_000))
    long = curve(POINTS)
    begun = time.process_time()
    found = insights_of("loss", long)
    between = time.process_time()
    curve_digest("loss", long, found)
    end = time.process_time()
    return {"s": end - begun, "rest_s": end - between}


def gate(folder: str) -> dict[str, float]:
    """CPU seconds of this process since it started."""
    from app.commands.cli import main

    with contextlib.redirect_stdout(io.StringIO()):
        code = main(["gate", f"{folder}/new", "--against", f"{folder}/old", "--metric", "loss"])
    if code not in (0, 1):
        raise RuntimeError(f"gate: expected a decision, found exit code {code}")
    return {"s": time.process_time()}


def _write(folder: Path) -> None:
    from parsers.recording import Recorder

    random = np.random.default_rng(37)
    for side in ("new", "old"):
        for number in range(RUNS):
            with Recorder(str(folder / side / str(number))) as recorder:
                for step, value in enumerate((0.3 + random.normal(0.0, 0.02, RUN_POINTS)).tolist()):
                    recorder.log(step, {"loss": value})


if __name__ == "__main__":
    json.dump(gate(sys.argv[2]) if sys.argv[1] == "gate" else digest(), sys.stdout)
