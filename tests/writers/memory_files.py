"""Writes files about device memory in which everything is known: curves with steps and a leak, the memory tracker, a plan.

The blocks that are written add up to the curve, byte by byte, above what was allocated before.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SESSION = "host_1_20261120233012998_ascend_ms"
BEGIN_NS = 1_764_246_877_000_000_000
STEP_NS = 50_000_000
BEFORE = 512 * MIB
BLOCKS = ((256, "Default/network/backbone/Conv2D-op1"), (128, "Default/network/head/MatMul-op2"),
          (64, "Default/optimizer/Momentum-op3"))  # fmt: skip
"""Blocks of a step: MiB and operator. Each is allocated at its share of the step, and released in the opposite order."""
RECORD = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Device Type\n"
OPERATOR = "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Stream Ptr,Device\n"


def recording(folder: Path, *, steps: int = 20, leak_bytes: int = 0, first: int = 1) -> None:
    """Write memory_record.csv, operator_memory.csv and trace_view.json of MindSpore; each step leaves leak_bytes behind."""
    output = folder / SESSION / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    events: list[tuple[int, int]] = [(BEGIN_NS - 1_000_000, BEFORE)]
    blocks, marks = [], []
    for step in range(steps):
        start = BEGIN_NS + step * STEP_NS
        name = f"ProfilerStep#{first + step}"
        marks.append({"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": _us(start), "dur": STEP_NS / 1000})
        for number, (size, name) in enumerate(BLOCKS):
            came, went = start + (number + 1) * 1_000_000, start + STEP_NS - (number + 1) * 1_000_000
            events += [(came, size * MIB), (went, -size * MIB)]
            blocks.append(f"{name},{size * KIB},{_us(came)},{_us(went)},{_us(went)},7,NPU:0")
        if leak_bytes:
            kept = start + STEP_NS // 2
            events.append((kept, leak_bytes))
            blocks.append(f"Default/cache/Append-op9,{leak_bytes / KIB},{_us(kept)},,,7,NPU:0")
    total, rows = 0, []
    for time, change in sorted(events):
        total += change
        rows += [f"{name},{_us(time)},{_mb(total)},{_mb(GIB)},{_mb(total)},NPU:0" for name in ("MindSpore", "MindSpore+GE")]
    rows.append(f"APP,{_us(BEGIN_NS)},0.0,{_mb(GIB + 256 * MIB)},0.0,NPU:0")
    (output / "memory_record.csv").write_text(RECORD + "\n".join(rows) + "\n")
    (output / "operator_memory.csv").write_text(OPERATOR + "\n".join(blocks) + "\n")
    (output / "trace_view.json").write_text(json.dumps(marks))


def _mb(size: int) -> str:
    """Bytes as MindSpore's MB, which are 1,000 KB of 1,024 bytes."""
    return repr(size / 1_024_000)


def _us(time_ns: int) -> str:
    return f"{time_ns // 1000}.{time_ns % 1000:03d}"


TRACKER = (
    "start_time_stamp,end_time_stamp,device_addr,stream_id,pool_type,size,actual_used_memory,actual_peak_memory,file_name,line_num,"
    "type,producer_task,task_name,node_name,graph_name,user_tasks,last_user_task,python_stack,is_persistent,is_small,\n"
)
SOURCES = (("train.py", 12), ("model.py", 48), ("model.py", 77), ("loss.py", 5))
ADDRESS = 0x1240_0000_0000


def tracker(folder: Path, *, blocks: int = 200, seed: int = 3) -> None:
    """Write rank_0/memory_block.csv and task.csv of MindSpore's memory tracker: a pool with holes, owners and stacks.

    Every block of the pool has a place of its own of 2 MiB; some are smaller than their place.
    """
    random = np.random.default_rng(seed)
    output = folder / "rank_0"
    output.mkdir(parents=True)
    places, rows, tasks, event, used = list(range(64)), [], [], 0, 0
    ends: list[tuple[int, int, int]] = []
    for number in range(blocks):
        event += int(random.integers(1, 4))
        for end in [one for one in ends if one[0] <= event]:
            ends.remove(end)
            places.append(end[1])
            used -= end[2]
        if not places:
            continue
        place = places.pop(int(random.integers(len(places))))
        size = int(random.choice([2 * MIB, MIB, 512 * KIB, 64 * KIB]))
        life = int(random.integers(5, 120)) if number % 9 else -1
        file, line = SOURCES[number % len(SOURCES)]
        used += size
        end = event + life if life > 0 else -1
        if life > 0:
            ends.append((end, place, size))
        stack = f"{file}:{line} forward|mindspore/nn/cell.py:100 __call__"
        kind = ("Weight", "PyNativeOutput", "Workspace")[number % 3]
        rows.append(f"{event},{end},{hex(ADDRESS + place * 2 * MIB)},0,Default,{size},{used},{used},{file},{line},{kind},"
                    f"{number},task{number % 7},Default/net/Op{number % 11}-op{number % 11},graph_1,{{{number}-}},{event},"
                    f"{stack},0,0,")  # fmt: skip
        tasks.append(f"{number},task{number % 7},Default/net/Op{number % 11}-op{number % 11},graph_1,{file},{line},{stack},")
    (output / "memory_block.csv").write_text(TRACKER + "\n".join(rows) + "\n")
    head = "time_stamp,task_name,node_name,graph_name,file_name,line_num,python_stack,\n"
    (output / "task.csv").write_text(head + "\n".join(tasks) + "\n")


def legacy(folder: Path, *, nodes: int = 60, capacity: float = 32.0) -> None:
    """Write memory_usage_summary_0.json and memory_usage_details_0.json of MindSpore before 2.3, sizes in GiB."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = [
        {"tensor_name": f"Conv2D-op{number}:0", "tensor_id": number, "size": 0.125, "type": "kOutputOnly", "shape": "[32, 64]",
         "format": "NCHW", "data_type": "float16", "life_long": "life_long_none", "life_start": number,
         "life_end": min(2 * nodes - number, 2 * nodes)}
        for number in range(nodes)
    ]  # fmt: skip
    lines = [0.25 + sum(0.125 for one in tensors if one["life_start"] <= node <= one["life_end"]) for node in range(2 * nodes)]
    listed = [
        {"name": f"op{node}", "fullname": f"Default/network/op{node}", "node_id": node, "allocations": 1, "size": 0.125,
         "allocated": lines[node], "inputs": [], "outputs": []}
        for node in range(2 * nodes)
    ]  # fmt: skip
    graph = {"graph_id": 0, "static_mem": 0.25, "nodes": listed, "fp_start": 2, "bp_end": 2 * nodes - 4, "lines": lines,
             "breakdowns": tensors}  # fmt: skip
    (folder / "memory_usage_details_0.json").write_text(json.dumps({"0": graph}))
    summary = {"capacity": capacity, "allocations": nodes, "deallocations": nodes, "peak_mem": max(lines), "static_mem": 0.25}
    (folder / "memory_usage_summary_0.json").write_text(json.dumps(summary))
    (folder / "profiler_info_0.json").write_text("{}")
