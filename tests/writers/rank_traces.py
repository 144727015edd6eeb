"""Chrome traces of the ranks of a job, made of `chrome_traces`.

Each begins later than the one before, its device has a clock of its own, and collectives end on all ranks at one moment."""

from __future__ import annotations

import json
from typing import Any

from tests.writers import chrome_traces

LATER_NS = 250_000
"""By which each rank begins later than the one before."""
CLOCK_NS = -80_000
"""What the clock of the device of each rank is off by, times its number."""
SLOWER_NS = 7_000
"""By which each kernel MatMulV2 takes longer than on the rank before."""
GROUP = {"pid": 4, "tid": 7}
ENDS_NS = (2_000_000, 3_000_000)
"""When the collectives end, since the start of rank 0."""


def slices(rank: int) -> list[dict[str, Any]]:
    """The slices, with start and duration in ns since the start of rank 0 under `at` and `ns`, by the clocks of the rank."""
    found = []
    for one in chrome_traces.slices():
        device = one["pid"] == 2
        slower = rank * SLOWER_NS * (one["name"] == "MatMulV2")
        found.append(one | {"at": one["at"] + rank * (LATER_NS + CLOCK_NS * device), "ns": one["ns"] + slower})
    for end in ENDS_NS:
        begin = end - 100_000 + 30_000 * rank
        found.append({**GROUP, "name": "hcom_allReduce__1", "at": begin + rank * CLOCK_NS, "ns": end - begin, "args": {}})
    return found


def text(rank: int) -> str:
    """The file of a rank."""
    made: list[dict[str, Any]] = []
    for pid, name, order in ((1, "Python", 0), (2, "Ascend Hardware", 13), (4, "HCCL", 15)):
        made.append({"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}})
        made.append({"ph": "M", "name": "process_sort_index", "pid": pid, "tid": 0, "args": {"sort_index": order}})
    made.append({"ph": "M", "name": "thread_name", **chrome_traces.THREAD, "args": {"name": "Thread 10"}})
    made.append({"ph": "M", "name": "thread_name", **chrome_traces.STREAM, "args": {"name": "Stream 2"}})
    made.append({"ph": "M", "name": "thread_name", **GROUP, "args": {"name": "Group 1 Communication"}})
    for one in slices(rank):
        event = {key: value for key, value in one.items() if key not in ("at", "ns")}
        made.append({"ph": "X", "ts": chrome_traces.microseconds(one["at"]), "dur": one["ns"] / 1000, **event})
    return json.dumps(made)
