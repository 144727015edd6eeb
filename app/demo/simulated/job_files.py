"""Writes a simulated job as torch_npu or MindSpore do: a directory per rank, with the files of which all frames are read."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from app.demo.simulated.job_records import PAIRS, CommunicationRow, ComputingRow, JobRecord, LinkRow, PartsRow
from app.demo.simulated.programs import JobPlan

OUTPUT = "ASCEND_PROFILER_OUTPUT"
Row = TypeVar("Row", CommunicationRow, LinkRow, PartsRow, ComputingRow)
_STEPS = (
    "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
    "Communication(Not Overlapped and Exclude Receive),Preparing"
)
_KERNELS = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)"
_NOTHING: dict[str, Any] = {
    "Transit Size(MB)": 0, "Transit Time(ms)": 0, "Bandwidth(GB/s)": 0, "Large Packet Ratio": 0, "Size Distribution": {},
}  # fmt: skip


def rank_folder(folder: Path, plan: JobPlan, rank: int, framework: str) -> Path:
    """Return the directory of a rank; framework is "pt" or "ms", as in its name."""
    return folder / f"node{rank // plan.hosts}_{1000 + rank}_20261120233012998_ascend_{framework}"


def write(
    folder: Path, rows: JobRecord, *, trace: bool = False, kernels: bool = True, groups: bool = True, framework: str = "pt"
) -> None:
    """Write the job; trace: also trace_view.json; groups: whether metadata list them; framework: see `rank_folder`."""
    communication, links = _of_ranks(rows.communication), _of_ranks(rows.links)
    parts, computing = _of_ranks(rows.parts), _of_ranks(rows.computing)
    for rank in range(rows.plan.ranks):
        base = rank_folder(folder, rows.plan, rank, framework)
        output = base / OUTPUT
        output.mkdir(parents=True)
        (base / f"profiler_info_{rank}.json").write_text(json.dumps({"rank_id": rank}))
        (base / "profiler_metadata.json").write_text(json.dumps(_metadata(rows, rank, groups)))
        (output / "communication.json").write_text(json.dumps(_communication(communication[rank])))
        (output / "communication_matrix.json").write_text(json.dumps(_matrix(links[rank])))
        device = rank % rows.plan.hosts
        (output / "step_trace_time.csv").write_text("\n".join([_STEPS, *(_step(device, row) for row in parts[rank])]) + "\n")
        if kernels:
            lines = [_KERNELS, *(_kernel(place, row) for place, row in enumerate(computing[rank]))]
            lines += [_between(row) for row in communication[rank]]
            (output / "kernel_details.csv").write_text("\n".join(lines) + "\n")
        if trace:
            (output / "trace_view.json").write_text(json.dumps(_trace(computing[rank], communication[rank])))


def _of_ranks(rows: Iterable[Row]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        found[row.rank].append(row)
    return found


def _metadata(rows: JobRecord, rank: int, groups: bool) -> dict[str, Any]:
    plan = rows.plan
    sizes = {
        "tensor_model_parallel_size": plan.tp, "pipeline_model_parallel_size": plan.pp, "data_parallel_size": plan.dp,
        "context_parallel_size": 1, "expert_model_parallel_size": 1,
    }  # fmt: skip
    told = {
        one.name: {"group_name": one.kind, "group_rank": one.ranks.index(rank), "global_ranks": list(one.ranks)}
        for one in rows.groups if rank in one.ranks
    }  # fmt: skip
    about: dict[str, Any] = {"distributed_args": {**sizes, "rank": rank, "world_size": plan.ranks}}
    if plan.pp > 1:
        about["pp_info"] = {"pp_type": "interleaved" if plan.chunks > 1 else "1f1b", "microbatch_num": plan.micro}
    return {**about, "parallel_group_info": told} if groups else about


def _us(ns: float) -> float:
    return round(ns / 1e3, 3)


def decimal(ns: int) -> str:
    """Return ns as microseconds with three digits."""
    return f"{ns // 1000}.{ns % 1000:03d}"


def _communication(rows: list[CommunicationRow]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for row in rows:
        size = row.size_bytes / 1e6
        time = row.transit_ns / 1e6
        moved = {
            "Transit Size(MB)": size, "Transit Time(ms)": time, "Bandwidth(GB/s)": size / time if time else 0.0,
            "Large Packet Ratio": 1.0, "Size Distribution": {str(size): [1, time]},
        }  # fmt: skip
        ratio = row.wait_ns / (row.wait_ns + row.transit_ns) if row.wait_ns else 0
        step = found.setdefault(f"step{row.step}", {"p2p": {}, "collective": {}})
        step[row.section][f"{row.name}@{row.group.hashed}"] = {
            "Communication Time Info": {
                "Start Timestamp(us)": row.start_ns / 1e3, "Elapse Time(ms)": row.elapse_ns / 1e6, "Transit Time(ms)": time,
                "Wait Time(ms)": row.wait_ns / 1e6, "Synchronization Time(ms)": row.wait_ns / 1e6,
                "Idle Time(ms)": row.idle_ns / 1e6, "Wait Time Ratio": ratio, "Synchronization Time Ratio": ratio,
            },
            "Communication Bandwidth Info": {
                "RDMA": _NOTHING, "HCCS": moved, "PCIE": _NOTHING, "SDMA": {**moved, "Size Distribution": {}}, "SIO": _NOTHING,
            },
        }  # fmt: skip
    return found


def _matrix(rows: list[LinkRow]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for row in rows:
        section = "p2p" if row.kind in PAIRS else "collective"
        step = found.setdefault(f"step{row.step}", {"p2p": {}, "collective": {}})
        links = step[section].setdefault(f"{row.kind.lower()}-total@{row.group.hashed}", {})
        links[f"{row.group.ranks.index(row.rank)}-{row.group.ranks.index(row.target)}"] = {
            "Transport Type": "HCCS", "Transit Size(MB)": row.size_bytes / 1e6, "Transit Time(ms)": row.time_ns / 1e6,
            "Bandwidth(GB/s)": row.size_bytes / row.time_ns, "Op Name": "",
        }  # fmt: skip
    return found


def _step(device: int, row: PartsRow) -> str:
    times = (
        row.computing, row.exposed, row.overlapped, row.exposed + row.overlapped, row.free, row.total - row.bubble, row.bubble,
        row.exposed - row.bubble, row.preparing,
    )  # fmt: skip
    return ",".join([str(device), str(row.step), *(str(_us(time)) for time in times)])


def _kernel(place: int, row: ComputingRow) -> str:
    took = _us(row.end_ns - row.start_ns)
    return f"{row.step},{row.kind}_{place},MatMul,AI_CORE,{decimal(row.start_ns)}\t,{took}"


def _between(row: CommunicationRow) -> str:
    took = _us(row.elapse_ns)
    return f"{row.step},{row.name},hcom_{row.kind}_,COMMUNICATION,{decimal(row.start_ns)}\t,{took}"


def _trace(computing: list[ComputingRow], communication: list[CommunicationRow]) -> list[dict[str, Any]]:
    """Kernels of a stream, operations of a thread per group, and steps of a host thread."""
    streams = {name: 100 + place for place, name in enumerate(dict.fromkeys(row.group.name for row in communication))}
    named = [(1, 10, "Python", "Thread 10"), (2, 2, "Ascend Hardware", "Stream 2")]
    named += [(4, tid, "Communication", f"Group {name} Communication") for name, tid in streams.items()]
    events: list[dict[str, Any]] = []
    for pid, tid, process, thread in named:
        events.append({"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": process}})
        events.append({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": thread}})

    def slice_of(pid: int, tid: int, name: str, start: int, ns: float) -> dict[str, Any]:
        return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": decimal(start), "dur": ns / 1e3, "args": {}}

    for step in sorted({row.step for row in computing}):
        own = [row for row in computing if row.step == step]
        begin, end = min(row.start_ns for row in own), max(row.end_ns for row in own)
        events.append(slice_of(1, 10, f"ProfilerStep#{step}", begin, end - begin))
    events += [slice_of(2, 2, f"MatMul_{row.kind}", row.start_ns, row.end_ns - row.start_ns) for row in computing]
    events += [slice_of(4, streams[row.group.name], row.name, row.start_ns, row.elapse_ns) for row in communication]
    return events
