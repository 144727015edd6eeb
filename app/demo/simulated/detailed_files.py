"""Writes what else MindSpore's profiler records of a rank: its kernels, its trace with the host, and its device memory."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from app.demo.simulated import strategy_files
from app.demo.simulated.job_files import OUTPUT, decimal, rank_folder, write
from app.demo.simulated.job_records import CommunicationRow, ComputingRow, JobRecord
from app.demo.simulated.kernels import Kernel, kernels_of
from app.demo.simulated.memory import SimulatedAllocation, blocks_of, curve_of

_KERNELS = (
    "Step Id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),"
    "Block Dim,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats"
)
_RECORD = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Device Type"
_BLOCKS = (
    "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),Active Duration(us),"
    "Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),Release Total Allocated(MB),"
    "Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device"
)
_CULPRIT = "gc.collect"
"""What the host of a late rank does meanwhile."""
_LAUNCH_NS = 6_000
_LATE_NS = 3_000_000
"""A pause of the host of at least this long is one that it does not usually make."""
_HOST, _DEVICE, _COMMUNICATION = 1, 2, 4
_MAIN = 10
_STREAM = 2


def write_detailed(folder: Path, rows: JobRecord, *, leaking: Sequence[int] = ()) -> None:
    """Write a job with all that pages about one rank read; leaking: ranks in which a callback keeps its predictions."""
    write(folder, rows, kernels=False, framework="ms")
    computing: dict[int, list[ComputingRow]] = defaultdict(list)
    communication: dict[int, list[CommunicationRow]] = defaultdict(list)
    for row in rows.computing:
        computing[row.rank].append(row)
    for one in rows.communication:
        communication[one.rank].append(one)
    for rank in range(rows.plan.ranks):
        output = rank_folder(folder, rows.plan, rank, "ms") / OUTPUT
        pieces = sorted(computing[rank], key=lambda row: row.start_ns)
        kernels = list(kernels_of(pieces, rows.plan.micro))
        blocks = blocks_of(kernels, leak=rank in leaking)
        _write_lines(output / "kernel_details.csv", _kernel_lines(kernels, communication[rank]))
        _write_lines(output / "operator_memory.csv", _block_lines(blocks))
        _write_lines(output / "memory_record.csv", _record_lines(blocks))
        strategy_files.write(output, rank, strategy_files.of_rank(rows.plan, rank))
        trace = list(_trace(rank, pieces, kernels, communication[rank]))
        (output / "trace_view.json").write_text(json.dumps(trace, separators=(",", ":")), encoding="utf-8")


def _write_lines(path: Path, lines: Iterator[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


# Kernels --------------------------------------------------------------------------------------------------------------------


def _kernel_lines(kernels: Sequence[Kernel], communication: Sequence[CommunicationRow]) -> Iterator[str]:
    yield _KERNELS
    before = kernels[0].start_ns
    for task, kernel in enumerate(kernels):
        operator = kernel.operator
        inputs = ";".join(",".join(map(str, shape)) for shape in operator.inputs)
        output = ",".join(map(str, operator.output))
        kinds = ";".join(["DT_FLOAT16"] * len(operator.inputs)), ";".join(["ND"] * len(operator.inputs))
        yield (
            f"{kernel.step},1,{task},{_STREAM},{kernel.name},{operator.type},static,{operator.core},{decimal(kernel.start_ns)}\t,"
            f"{decimal(kernel.end_ns - kernel.start_ns)},{decimal(max(0, kernel.start_ns - before))},24,"
            f'"{inputs}",{kinds[0]},{kinds[1]},"{output}",DT_FLOAT16,ND'
        )
        before = kernel.end_ns
    for row in communication:
        yield (
            f"{row.step},1,0,0,{row.name},hcom_{row.kind}_,static,COMMUNICATION,{decimal(row.start_ns)}\t,"
            f"{decimal(round(row.elapse_ns))},0,0,N/A,N/A,N/A,N/A,N/A,N/A"
        )


# Memory ---------------------------------------------------------------------------------------------------------------------


def _mb(size: int) -> str:
    """Bytes as MindSpore's MB, which are 1,000 KB of 1,024 bytes."""
    return f"{size / 1_024_000:.6f}"


def _block_lines(blocks: Sequence[SimulatedAllocation]) -> Iterator[str]:
    yield _BLOCKS
    _, totals = curve_of(blocks)
    for block, (came, went) in zip(blocks, totals, strict=True):
        begin, end, took = decimal(block.start_ns), "", ""
        if block.end_ns:
            end, took = decimal(block.end_ns), decimal(block.end_ns - block.start_ns)
        before, after = _mb(came), _mb(went) if block.end_ns else ""
        yield (
            f"{block.name},{block.size_bytes / 1024},{begin}\t,{end}\t,{end}\t,{took},{took},{before},,{before},"
            f"{after},,{after},{_STREAM},NPU:0"
        )


def _record_lines(blocks: Sequence[SimulatedAllocation]) -> Iterator[str]:
    yield _RECORD
    curve, _ = curve_of(blocks)
    for time, allocated, reserved in curve:
        used = _mb(allocated)
        yield f"MindSpore,{decimal(time)}\t,{used},{_mb(reserved)},{used},NPU:0"
    yield f"APP,{decimal(curve[-1][0])}\t,0.0,{_mb(curve[-1][2] + (512 << 20))},0.0,NPU:0"


# Trace ----------------------------------------------------------------------------------------------------------------------


def _trace(
    rank: int, pieces: Sequence[ComputingRow], kernels: Sequence[Kernel], communication: Sequence[CommunicationRow]
) -> Iterator[dict[str, Any]]:
    streams = {name: 100 + place for place, name in enumerate(dict.fromkeys(row.group.name for row in communication))}
    named = [(_HOST, _MAIN, "Python", f"Thread {1000 + rank}"), (_DEVICE, _STREAM, "Ascend Hardware", f"Stream {_STREAM}")]
    named += [(_COMMUNICATION, tid, "HCCL", f"Group {name} Communication") for name, tid in streams.items()]
    for pid, tid, process, thread in named:
        yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": process}}
        yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": thread}}
    yield from _host(pieces)
    for kernel in kernels:
        name = f"{kernel.operator.type}: {kernel.name.partition('/')[2]}"
        yield _slice(_DEVICE, _STREAM, name, kernel.start_ns, kernel.end_ns, {"step": kernel.step})
    for row in communication:
        end = row.start_ns + round(row.elapse_ns)
        yield _slice(_COMMUNICATION, streams[row.group.name], row.name, row.start_ns, end, {"size_bytes": row.size_bytes})


def _host(pieces: Sequence[ComputingRow]) -> Iterator[dict[str, Any]]:
    """Steps of the main thread: launches, a pause before one that came late, and the wait for the device at the end."""
    steps = sorted({row.step for row in pieces})
    begins = {step: min(row.launched_ns for row in pieces if row.step == step) - 2 * _LAUNCH_NS for step in steps}
    ends = {step: max(row.end_ns for row in pieces if row.step == step) for step in steps}
    for step in steps:
        after = begins.get(step + 1, ends[step] + _LAUNCH_NS)
        yield _slice(_HOST, _MAIN, f"ProfilerStep#{step}", begins[step], after - 1_000, {})
        free = begins[step]
        for number, row in enumerate(one for one in pieces if one.step == step):
            if row.launched_ns - free > _LATE_NS and number:
                yield _slice(_HOST, _MAIN, _CULPRIT, free, row.launched_ns - _LAUNCH_NS, {})
            yield _slice(_HOST, _MAIN, f"launch {row.kind}", row.launched_ns - _LAUNCH_NS, row.launched_ns, {})
            yield from _arrow(f"{step}.{number}", row)
            free = row.launched_ns + 1_000
        if after - 2_000 > free:
            yield _slice(_HOST, _MAIN, "AscendCL@aclrtSynchronizeStream", free, after - 2_000, {})


def _arrow(key: str, row: ComputingRow) -> Iterator[dict[str, Any]]:
    """From the launch to the first kernel of a piece."""
    common = {"name": "HostToDevice", "cat": "HostToDevice", "id": key}
    yield {**common, "ph": "s", "pid": _HOST, "tid": _MAIN, "ts": decimal(row.launched_ns - _LAUNCH_NS // 2)}
    yield {**common, "ph": "f", "bp": "e", "pid": _DEVICE, "tid": _STREAM, "ts": decimal(row.start_ns)}


def _slice(pid: int, tid: int, name: str, start: int, end: int, args: dict[str, Any]) -> dict[str, Any]:
    return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": decimal(start), "dur": (end - start) / 1e3, "args": args}
