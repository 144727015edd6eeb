"""An explained run of 100,000 samples with 4 labels and 3 explainers: frames, outcomes, their memory, and the saliency page."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.explanations_data import explained_run
from benchmarks.explanations_server import FILTERS, PAGES, SIDE
from benchmarks.measure import Figure, in_fresh_process

SAMPLES, LABELS, EXPLAINERS = 100_000, 4, 3
FRAMES = ("samples", "predictions", "saliency", "counterfactuals", "scores", "labels")


def figures(times: int) -> list[Figure]:
    """Make the run in a temporary directory and measure it in fresh processes."""
    with tempfile.TemporaryDirectory() as base:
        explained_run(Path(base), samples=SAMPLES, labels=LABELS, explainers=EXPLAINERS)
        found = in_fresh_process("benchmarks.explanations", base, times=times)
        served = in_fresh_process("benchmarks.explanations_server", base, times=times)

    def of(name: str) -> tuple[float, ...]:
        return tuple(one[name] for one in found)

    def page(name: str) -> tuple[float, ...]:
        return tuple(one[name] for one in served)

    what = f"{SAMPLES:,} samples, {SAMPLES * LABELS * EXPLAINERS:,} heat maps:"
    return [
        Figure(f"{what} all frames, beyond the index of the events", "CPU s", 2.5, of("frames")),
        Figure("from the file", "CPU s", 6.0, of("whole")),
        Figure("memory beyond that of the libraries, at most", "MB", 300.0, of("more_mb")),
        Figure("outcomes at a threshold", "CPU s", 0.1, of("outcomes")),
        Figure("saliency: 200 rows once the frames are read", "CPU ms", 1000.0, page("first")),
        *(Figure(f"saliency: {name}", "CPU ms", 100.0, page(name)) for name in FILTERS),
        *(Figure(name, "CPU ms", 100.0, page(name)) for name in PAGES),
        Figure(f"a heat map of {SIDE:,} x {SIDE:,} px for the browser", "CPU ms", 60.0, page("picture")),
        Figure("an outcome picture of that size, blurred by 40 px", "CPU ms", 150.0, page("outcome")),
    ]


def _measure(base: str) -> dict[str, float]:
    import pandas as pd

    import parsers.explanations.access
    from parsers import open_run

    pd.Series(["loaded"], dtype="str")
    before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    run = open_run(base)
    indexed = time.process_time()
    explained: parsers.explanations.access.RunExplanations = run.explanations
    rows = sum(len(getattr(explained, name)) for name in FRAMES)
    done = time.process_time()
    if rows < SAMPLES * LABELS * EXPLAINERS:
        raise RuntimeError(f"wanted at least {SAMPLES * LABELS * EXPLAINERS:,} rows, got {rows:,}")
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    again = time.process_time()
    explained.outcomes(0.7)
    return {
        "frames": done - indexed, "whole": done - begun, "more_mb": more / 1024, "outcomes": time.process_time() - again,
    }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1])))
