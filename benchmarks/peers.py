"""The peers beside ours on the same data, where they are installed: tbparse and TensorBoard's own reader in Python.

MindInsight and TensorBoard's server need environments of their own; README gives what was measured with them.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time

from benchmarks.data import folder
from benchmarks.measure import Figure, in_fresh_process

PEERS = ("tbparse", "tensorboard")


def figures(times: int) -> list[Figure]:
    """CPU seconds of each installed peer on S1 in the TensorBoard layout."""
    found = []
    for name in PEERS:
        if importlib.util.find_spec(name) is None:
            print(f"{name} is not installed here: not measured")
            continue
        results = in_fresh_process("benchmarks.peers", name, times=min(times, 2))
        found.append(Figure(f"{name} on S1 (TensorBoard layout)", "CPU s", float("inf"), tuple(r["cpu"] for r in results)))
    return found


def one(name: str) -> dict[str, float]:
    """Read S1 with a peer."""
    where = str(folder() / "tb" / "S1" / "run0")
    if name == "tbparse":
        from tbparse import SummaryReader

        begun = time.process_time()
        points = len(SummaryReader(where).scalars)
    else:
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        begun = time.process_time()
        accumulator = EventAccumulator(where, size_guidance={"scalars": 0})
        accumulator.Reload()
        points = sum(len(accumulator.Scalars(tag)) for tag in accumulator.Tags()["scalars"])
    return {"cpu": time.process_time() - begun, "points": points}


if __name__ == "__main__":
    print(json.dumps(one(sys.argv[1])))
