"""The matrix of 1,000 ranks of which each sends to every other one, as a browser gets it, from the frame of their links."""

from __future__ import annotations

import json
import time

from benchmarks.measure import Figure, in_fresh_process

RANKS = 1_000
TIMES = 5


def figures(times: int) -> list[Figure]:
    """In fresh processes."""
    found = [in_fresh_process("benchmarks.matrices", times=1)[0] for _ in range(times)]
    note = f"{found[0]['mb']:.1f} MB"
    what = f"matrix of {RANKS:,} ranks, all links: links to bytes for the browser"
    return [Figure(what, "ms", 150.0, tuple(one["ms"] for one in found), note)]


def of_process() -> dict[str, float]:
    """CPU ms of a matrix of bandwidths, the median of TIMES after a first one; MB that are sent."""
    import numpy as np

    from parsers.analysis.jobs.matrix import cells, matrix
    from parsers.cluster_frames import LINKS
    from parsers.profiler.frame_parts import frame_of

    random, number = np.random.default_rng(7), RANKS * RANKS
    source, target = np.divmod(np.arange(number), RANKS)
    links = frame_of(
        LINKS, number,
        {
            "step": np.ones(number, np.int64), "class": ["total"] * number, "group": ["all"] * number,
            "source": source, "target": target, "source_local": source, "target_local": target,
            "size_bytes": random.integers(1 << 20, 1 << 30, number), "time_ns": 1e6 * random.random(number),
        },
        "links",
    )  # fmt: skip
    spent, size = [], 0
    for _ in range(1 + TIMES):
        begun = time.process_time()
        size = len(matrix(cells(links, group="all", members=np.arange(RANKS)), "bandwidth").packed())
        spent.append(1e3 * (time.process_time() - begun))
    return {"ms": float(np.median(spent[1:])), "mb": size / 1e6}


if __name__ == "__main__":
    print(json.dumps(of_process()))
