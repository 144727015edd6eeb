"""How mutated memory snapshots of torch are read, and what is checked of them."""

from __future__ import annotations

from parsers.analysis.profiles import memory_snapshots
from parsers.memory_snapshot_frames import SNAPSHOT_FRAME_SCHEMAS
from parsers.memory_snapshots import is_memory_snapshot, read_memory_snapshot
from tests.fuzz.corpus import Files
from tests.fuzz.promises import DERIVED_OF, Broken, check_problems, is_chosen, write_file
from tests.writers.memory_snapshots import SnapshotWriter, steady_entries

_MOST_DEVICES = 3


def files() -> Files:
    """Return small snapshots of several protocols."""
    segment = {
        "device": 0, "address": 1 << 40, "total_size": 1 << 21, "allocated_size": 512, "active_size": 512, "stream": 0,
        "segment_type": "small", "segment_pool_id": (0, 0), "is_expandable": False, "frames": (),
        "blocks": [{"address": 1 << 40, "size": 512, "requested_size": 500, "state": "active_allocated", "frames": ()}],
    }  # fmt: skip
    marks = [{"name": "ProfilerStep#1", "stage": stage, "device": 0, "time_us": 5} for stage in ("START", "END")]
    found = []
    for protocol in (2, 4):
        entries = list(steady_entries(1, depth=2, stacks=3))[:60]
        entries.append({"action": "oom", "device_free": 7, "size": 9, "stream": 0, "time_us": 8, "frames": ()})
        found.append(b"".join(SnapshotWriter(protocol=protocol).write([entries, []], [segment], marks)))
    return tuple(found)


def read(data: bytes, folder: str) -> None:
    """Read a snapshot, and ask some for everything that is computed from one."""
    path = write_file(folder, "snapshot.pickle", data)
    is_memory_snapshot(data[:4096])
    found = read_memory_snapshot(path)
    check_problems(list(found.problems))
    for name, schema in SNAPSHOT_FRAME_SCHEMAS.items():
        schema.check(found[name])
    if not is_chosen(data, DERIVED_OF):
        return
    memory_snapshots.step_times(found.frames)
    for device in found.devices[:_MOST_DEVICES]:
        lives = memory_snapshots.lifetimes(found.frames, device)
        sums = memory_snapshots.totals(found.frames, device, lives)
        if len(sums.active) and min(sums.active.min(), sums.allocated.min(), sums.reserved.min()) < 0:
            raise Broken("less than no memory")
        memory_snapshots.operator_memory(found.frames, device, found=lives)
        memory_snapshots.memory(found.frames, device, found=lives)
        memory_snapshots.exhaustions(found.frames, device, lives)
        memory_snapshots.largest_requests(memory_snapshots.segment_use(found.frames, device))
