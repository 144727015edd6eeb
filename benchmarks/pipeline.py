"""The pipeline of 64 ranks x 10 steps x 2,000 bands: the first view, later ones of all steps and of one, sentences and table.

The frames are made in memory. CPU is that of one process.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.measure import Figure, in_fresh_process

RANKS, STEPS, BANDS, STAGES = 64, 10, 2_000, 8
COLUMNS = 1_500
REPEATED = 5


def figures(times: int) -> Iterator[Figure]:
    """Each in a fresh process."""
    found = in_fresh_process("benchmarks.pipeline", "measure", times=times)
    size = f"{found[0]['bands']:,.0f} bands with idle ones, {found[0]['bytes'] / 1e3:,.0f} kB"

    def figure(what: str, name: str, bound: float, note: str = "") -> Figure:
        return Figure(what, "ms", bound, tuple(one[name] for one in found), note)

    yield figure("pipeline of 64 ranks x 10 steps x 2,000 bands: the first view, of all steps", "first", 100.0, size)
    yield figure("a view of all steps, the bands of all ranks made before", "all", 100.0)
    yield figure("a view of one step", "one", 100.0)
    yield figure("a view of all steps with folded stages", "folded", 100.0)
    yield figure("sentences and table of one step", "told", 100.0)
    yield figure("the band of a moment", "moment", 100.0)


def _frames() -> dict[str, Any]:
    from parsers.cluster_frames import CLUSTER_STEPS, COLLECTIVES, DEVICE_TIMES, GROUPS
    from parsers.profiler.frame_parts import frame_of
    from parsers.profiler.groups import text_of

    random = np.random.default_rng(0)
    each = STEPS * BANDS
    took = random.integers(50_000, 400_000, (RANKS, each))
    start = np.cumsum(took + random.integers(0, 30_000, (RANKS, each)), axis=1) - took + 1_764_246_877_000_000_000
    rank, step = np.repeat(np.arange(RANKS), each), np.tile(np.repeat(np.arange(1, STEPS + 1), BANDS), RANKS)
    kind = np.tile(np.arange(each) % 10, RANKS)
    computes, start, took = kind < 8, start.ravel(), took.ravel()
    number = int(computes.sum())
    times = {"step": step, "rank": rank, "start_ns": start, "end_ns": start + took}
    device = frame_of(
        DEVICE_TIMES, number,
        {name: column[computes] for name, column in times.items()}
        | {"kind": ["computing"] * number, "operations": np.ones(number, np.int64)}, "made",
    )  # fmt: skip
    sent = ~computes
    operations = frame_of(
        COLLECTIVES, int(sent.sum()),
        {
            "step": step[sent], "rank": rank[sent], "start_ns": start[sent], "elapse_ns": took[sent].astype(np.float64),
            "kind": np.where(kind[sent] == 8, "send", "allreduce").tolist(), "name": ["hcom"] * int(sent.sum()),
            "section": np.where(kind[sent] == 8, "p2p", "collective").tolist(), "group": ["1"] * int(sent.sum()),
        },
        "made",
    )  # fmt: skip
    chains = [text_of(range(first, RANKS, RANKS // STAGES)) for first in range(RANKS // STAGES)]
    columns = {"group": [f"{one}" for one in range(len(chains))], "kind": ["pp"] * len(chains), "ranks": chains}
    columns |= {"told": ["yes"] * len(chains), "sections": ["p2p"] * len(chains)}
    groups = frame_of(GROUPS, len(chains), columns, "made")
    return {"device_times": device, "collectives": operations, "groups": groups, "cluster_steps": CLUSTER_STEPS.empty()}


def measure() -> dict[str, float]:
    """Return CPU ms of what the page asks for: of the first view, which makes the bands, then the least of some repetitions."""
    from layouts.jobs.pipeline.page import drawn
    from parsers.analysis.jobs.job_pipeline import JobPipeline
    from parsers.profiler.jobs import JobFiles

    frames = _frames()

    def pipeline(step: int | None, stages: tuple[int, ...] | None = tuple(range(STAGES))) -> JobPipeline:
        return JobPipeline(frames.get, JobFiles("job", ()), step=step, stages=stages)

    def spent(make: Callable[[], Any], repeated: int = REPEATED) -> float:
        took = []
        for _ in range(repeated):
            begun = time.process_time()
            make()
            took.append(time.process_time() - begun)
        return 1e3 * min(took)

    return {
        "first": spent(lambda: pipeline(None).view(COLUMNS), 1),
        "all": spent(lambda: pipeline(None).view(COLUMNS)),
        "one": spent(lambda: pipeline(3).view(COLUMNS)),
        "folded": spent(lambda: pipeline(None, ()).view(COLUMNS)),
        "told": spent(lambda: drawn(pipeline(3))),
        "moment": spent(lambda: pipeline(3).moment(5, 100_000_000)),
        "bands": float(sum(len(one.bands) for one in pipeline(None).bands.values())),
        "bytes": float(len(pipeline(None).view(COLUMNS))),
    }


if __name__ == "__main__":
    print(json.dumps({"measure": measure}[sys.argv[1]]()))
