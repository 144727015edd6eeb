"""CPU milliseconds of decoding large values and of what pages compute from them: `python -m benchmarks.values DIR`."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.data import folder
from benchmarks.measure import Figure, anonymous_rss, in_fresh_process

FIGURES = (
    ("S4: one tensor or image of 1 MB, decoded for the first time (99 % of 200)", "value", "ms", 20.0),
    ("S4: memory after 200 of them", "rss", "MB", 300.0),
    ("Tensor of 10 million values: decoded, its CRC checked", "large", "ms", 30.0),
    ("Tensor of 10 million values: statistics", "statistics", "ms", 300.0),
    ("200 histograms of 90 buckets: decoded", "histograms", "ms", 30.0),
    ("200 histograms of 90 buckets: on common bins, with five quantiles", "resampled", "ms", 30.0),
)


def figures(times: int) -> list[Figure]:
    """Each figure with its bound."""
    results = in_fresh_process("benchmarks.values", str(folder() / "ms/S4"), times=times)
    return [Figure(what, unit, bound, tuple(r[name] for r in results)) for what, name, unit, bound in FIGURES]


def one(base: Path) -> dict[str, float]:
    """Visit values at random, then make and read a large tensor and many histograms."""
    import numpy as np

    from parsers import discover
    from parsers.runs import Run

    run = Run(next(leaf for source in discover(base) for leaf in source.leaves))
    run.refresh(run.source)
    known = [
        (kind, tag, place)
        for kind in ("tensor", "image")
        for tag in run.tags(kind)
        for place in range(len(run.payload_series(kind, tag)))
    ]
    chosen = np.random.default_rng(0).permutation(len(known))[:200]
    spent = [_milliseconds(partial(run.value, *known[at])) for at in chosen]
    return {"value": float(np.percentile(spent, 99)), "rss": anonymous_rss(), **_made()}


def _made() -> dict[str, float]:
    import numpy as np

    from parsers import open_run
    from parsers.analysis import bands, common_edges, resample, statistics
    from parsers.recording import EventWriter, Histogram, Tensor

    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as base:
        with EventWriter(f"{base}/events.out.events.summary.1700000000.0.host_MS", "mindspore") as writer:
            writer.add(0, {"large": Tensor(rng.normal(size=(1000, 10_000)).astype("f4"))})
            for step in range(200):
                writer.add(step, {"weights": Histogram(rng.normal(step / 50, 1, 5000))})
        run = open_run(base)
        large = _milliseconds(lambda: run.tensor("large", 0))
        array = run.tensor("large", 0).data
        decoded = _milliseconds(lambda: [run.histogram("weights", place) for place in range(200)])
        values = [run.histogram("weights", place) for place in range(200)]
    return {
        "large": large,
        "statistics": _milliseconds(lambda: statistics(array)),
        "histograms": decoded,
        "resampled": _milliseconds(
            lambda: (resample(values, common_edges(values)), bands(values, [0.05, 0.25, 0.5, 0.75, 0.95]))
        ),
    }


def _milliseconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return 1000 * (time.process_time() - begun)


if __name__ == "__main__":
    print(json.dumps(one(Path(sys.argv[1]))))
