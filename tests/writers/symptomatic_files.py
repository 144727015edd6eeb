"""Writes the runs of `symptomatic_runs` as files: event files and lineage with our own writers, profiles as their tools do.

Nothing of the rules, of the insights or of the advice is imported here, nor a reader: what a run holds is what its files say.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from parsers import Series
from parsers.graphs.graph import Graph
from parsers.lineage.datasets import DatasetNode
from parsers.payloads.values import HistogramValue, LandscapeValue
from parsers.recording import EventWriter
from parsers.recording.lineage import LineageLayout
from parsers.recording.values import CountedHistogram, Landscape, Surface, Tensor, Text, Value
from parsers.recording.wire import delimited, number, text
from tests.writers.symptomatic_runs import START_S, Made

WALL_S = 1.7e9
KERNEL_HEAD = (
    "Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Input Shapes,Input Data Types"
)
SESSION = "host_1_20261120233012998_ascend"


def write_run(folder: Path, made: Made) -> None:
    """Write a run, or a directory for each of its ranks. What has nothing at all holds a note, so that it is a run."""
    folder.mkdir(parents=True)
    for rank, one in enumerate(made.ranks):
        write_run(folder / f"rank_{rank}", one)
    if made.ranks:
        return
    _write_values(folder, made)
    if made.settings or made.pipeline is not None:
        _write_lineage(folder, made)
    if made.frames:
        _write_profile(folder / "profiler", made.frames)
    if not any(folder.iterdir()):
        with EventWriter(str(folder / "events.out.tfevents.1700000000.host"), "tensorboard", wall_time=WALL_S) as writer:
            writer.add(0, {"note": Text("nothing of it was recorded")}, wall_time=WALL_S)


# Event files ----------------------------------------------------------------------------------------------------------


def _write_values(folder: Path, made: Made) -> None:
    """Write scalars, large values and the graph: a file for each one that the scalars are in, in the order of its records."""
    files: dict[int, list[tuple[float, int, int, str, Value]]] = {}
    for tag, series in made.scalars.items():
        for place, (file, step, time, value) in enumerate(_points(series)):
            files.setdefault(file, []).append((time, place, step, tag, value))
    for tags in made.values.values():
        for tag, recorded in tags.items():
            for place, (step, value) in enumerate(recorded):
                file = sum(start <= place for start in made.starts)
                files.setdefault(file, []).append((WALL_S + step, place, step, tag, _writable(value)))
    if made.graph is not None:
        files.setdefault(0, [])
    for file, records in sorted(files.items()):
        # TensorBoard's files cannot hold a landscape.
        layout = "mindspore" if "landscape" in made.values else "tensorboard"
        name = f"summary.170000000{file}.0.host_MS" if layout == "mindspore" else f"170000000{file}.host"
        path = folder / (f"events.out.events.{name}" if layout == "mindspore" else f"events.out.tfevents.{name}")
        with EventWriter(str(path), layout, wall_time=WALL_S) as writer:
            if made.graph is not None and file == 0:
                writer.add_graph(_graph_def(made.graph), wall_time=WALL_S)
            for time, _, step, tag, value in sorted(records, key=lambda one: one[:2]):
                writer.add(step, {tag: value}, wall_time=time)


def _points(series: Series) -> Iterable[tuple[int, int, float, float]]:
    return zip(series.file.tolist(), series.step.tolist(), series.wall_time.tolist(), series.value.tolist(), strict=True)


def _writable(value: Any) -> Value:
    if isinstance(value, HistogramValue):
        limits = np.asarray(value.left) + np.asarray(value.width)
        return CountedHistogram(limits, value.count, value.min, value.max, float(value.total), value.sum, 0.0)
    if isinstance(value, LandscapeValue):
        path = Surface(value.path_x, value.path_y, value.path_z)
        end = value.convergence or (0.0, 0.0, 0.0)
        return Landscape(Surface(value.x, value.y, value.z), path, tuple(value.intervals.tolist()), end)
    return Tensor(value.data)


def _graph_def(graph: Graph) -> bytes:
    """A GraphDef of TensorFlow of the nodes of a graph, each with its type and what it takes."""
    names = graph.nodes["full_name"].astype("str").tolist()
    taken: dict[int, list[int]] = {}
    for source, target in zip(graph.edges["source"].tolist(), graph.edges["target"].tolist(), strict=True):
        taken.setdefault(target, []).append(source)
    nodes = [
        text(1, name) + text(2, str(kind)) + b"".join(text(3, names[source]) for source in taken.get(row, ())) + _typed(each)
        for row, (name, kind, each) in enumerate(zip(names, graph.nodes["type"], graph.nodes["output_type"], strict=True))
    ]
    return b"".join(delimited(1, node) for node in nodes)


def _typed(output: str) -> bytes:
    """The attribute T of a node: its DataType, 1 for float and 19 for half; nothing for an unknown type."""
    code = {"Tensor[Float32]": 1, "Tensor[Float16]": 19}.get(output, 0)
    return delimited(5, text(1, "T") + delimited(2, number(6, code))) if code else b""


# Lineage --------------------------------------------------------------------------------------------------------------


def _write_lineage(folder: Path, made: Made) -> None:
    for start, pipeline in enumerate((*made.earlier, made.pipeline)):
        layout, begun = LineageLayout(), int(WALL_S) + START_S * start
        records = layout.opening(begun)
        if made.settings:
            records += layout.settings(begun, dict(made.settings))
        if pipeline is not None:
            records += layout.pipeline(begun, _pipeline(pipeline.root))
        # MindSpore looks for lineage beside a summary file of the same number.
        (folder / f"events.out.events.summary.{begun}.0.host_MS").write_bytes(layout.opening(begun))
        (folder / f"events.out.events.summary.{begun}.0.host_lineage").write_bytes(records)


def _pipeline(node: DatasetNode) -> bytes:
    """A DatasetGraph of MindSpore's lineage.proto: children, parameters, operations."""
    texts = {"op_type": node.recorded}
    flags = {name: value for name, value in node.parameters.items() if isinstance(value, bool)}
    parameters = b"".join(delimited(1, text(1, name) + text(2, value)) for name, value in texts.items())
    parameters += b"".join(delimited(3, text(1, name) + number(2, int(value))) for name, value in flags.items())
    operations = b"".join(
        delimited(3, delimited(1, delimited(1, text(1, "tensor_op_name") + text(2, one.name)))) for one in node.operations
    )
    return b"".join(delimited(1, _pipeline(child)) for child in node.children) + delimited(2, parameters) + operations


# Profiles -------------------------------------------------------------------------------------------------------------


def _write_profile(folder: Path, frames: Mapping[str, pd.DataFrame]) -> None:
    if "collectives" in frames or "cluster_steps" in frames:
        _write_job(folder, frames)
        return
    output = folder / f"{SESSION}_{'pt' if _is_of_host(frames) else 'ms'}" / "ASCEND_PROFILER_OUTPUT"
    for name, frame in frames.items():
        if name == "steps" and np.isfinite(frame["interval_ns"].to_numpy(np.float64)).all():
            _write(folder / "step_trace_raw_0_detail_time.csv", _raw_steps(frame))
        elif name == "shape_times":
            _write(folder / "dynamic_shape_info_0.json", json.dumps({"operator": _shapes(frame)}))
        elif name == "operator_memory":
            _write(folder / "rank_0" / "memory_block.csv", _blocks(frame))
        elif name == "operators" and _is_of_host(frames):
            _write(output / "operator_details.csv", _host_operators(frame))
        elif name == "operators":
            _write(output / "kernel_details.csv", _kernels(_as_kernels(frame)))
        else:
            stem, made = _OUTPUT[name]
            _write(output / f"{stem}.csv", made(frame))


def _is_of_host(frames: Mapping[str, pd.DataFrame]) -> bool:
    return "operators" in frames and bool((frames["operators"]["core"].astype("str") == "HOST_CPU").all())


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def _lines(head: str, rows: Iterable[Sequence[object]]) -> str:
    return "\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n"


def _us(ns: float) -> str:
    return f"{int(ns) // 1000}.{int(ns) % 1000:03d}"


def _raw_steps(frame: pd.DataFrame) -> str:
    """A legacy step trace in counts of 10 ns; the first step, which profilers leave out of the mean, is a copy."""
    head = "step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail"
    rows, start = [], 45_000_000_000
    for row in frame.itertuples(index=False):
        interval, forward, tail = (round(ns / 10) for ns in (row.interval_ns, row.forward_backward_ns, row.tail_ns))
        end = start + interval + forward + tail
        rows.append((row.step, start, end, end - start, start + interval, end - tail, interval, forward, tail))
        start = end
    return _lines(head, rows)


def _new_steps(frame: pd.DataFrame) -> str:
    head = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,Preparing"
    rows = (
        (row.step, *(_us(ns) for ns in (row.computing_ns, row.exposed_ns, 0.0, row.exposed_ns, row.free_ns, row.total_ns, 0.0)),
         0.0) for row in frame.itertuples(index=False)
    )  # fmt: skip
    return _lines(head, rows)


def _kernels(frame: pd.DataFrame) -> str:
    counters = {name: frame[name].tolist() for name in frame if name.startswith("pmu/")}
    rows = (
        (row.step, 0, row.name, row.type, row.core, _us(row.start_ns), _us(row.duration_ns), 0, f'"{row.input_shapes}"',
         row.input_types, *(values[place] for values in counters.values()))
        for place, row in enumerate(frame[[name for name in frame if name not in counters]].itertuples(index=False))
    )  # fmt: skip
    return _lines(",".join((KERNEL_HEAD, *(name.removeprefix("pmu/") for name in counters))), rows)


def _as_kernels(operators: pd.DataFrame) -> pd.DataFrame:
    """A kernel for each operator."""
    n = len(operators)
    return operators.assign(step=1, start_ns=np.arange(n) * 10**8, duration_ns=operators["total_ns"], input_shapes="8,8",
                            input_types="FLOAT16")  # fmt: skip


def _host_operators(frame: pd.DataFrame) -> str:
    head = ("Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),Device Self Duration(us),"
            "Device Total Duration(us),Device Self Duration With AICore(us),Device Total Duration With AICore(us)")  # fmt: skip
    rows = ((row.name, "", f'"{row.stack}"', _us(row.self_ns), _us(row.total_ns), 0, 0, 0, 0)
            for row in frame.itertuples(index=False))  # fmt: skip
    return _lines(head, rows)


def _types(frame: pd.DataFrame) -> str:
    head = "OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)"
    rows = ((row.type, row.core, row.count_, *[_us(row.total_ns)] * 4, 1.0)
            for row in frame.rename(columns={"count": "count_"}).itertuples(index=False))  # fmt: skip
    return _lines(head, rows)


def _calls(frame: pd.DataFrame) -> str:
    head = "Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance"
    rows = []
    for row in frame.rename(columns={"count": "count_"}).itertuples(index=False):
        mean = row.total_ns / row.count_
        shortest, longest = (mean if math.isnan(ns) else ns for ns in (row.min_ns, row.max_ns))
        variance = 0.0 if math.isnan(row.variance_ns2) else row.variance_ns2 / 1e6
        times = [_us(ns) for ns in (mean, shortest, longest)]
        rows.append((row.level, row.name, _us(row.total_ns), int(row.count_), *times, variance))
    return _lines(head, rows)


def _shapes(frame: pd.DataFrame) -> Mapping[str, Any]:
    """Executions by step as MindSpore wrote them on GPU."""
    found: dict[str, list[Any]] = {}
    for row in frame.itertuples(index=False):
        shape = [int(size) for size in str(row.input_shapes).split(",")]
        found.setdefault(str(row.step), []).append({
            "step": int(row.step), "op_side": "gpu", "op_type": row.type, "op_name": row.name, "dur": row.duration_ns / 1000,
            "shape_info": [shape],
        })  # fmt: skip
    return found


def _blocks(frame: pd.DataFrame) -> str:
    """memory_block.csv of MindSpore's memory tracker."""
    head = (
        "start_time_stamp,end_time_stamp,device_addr,stream_id,pool_type,size,actual_used_memory,actual_peak_memory,file_name,"
        "line_num,type,producer_task,task_name,node_name,graph_name,user_tasks,last_user_task,python_stack,is_persistent,is_small,"
    )
    rows = (
        (row.allocated_ns, row.released_ns, hex(0x1000_0000 + row.address), 0, "Default", row.size_bytes, 0, 0, "net.py", 1,
         "PyNativeOutput", 1, "task", row.name, "graph", "{1-}", 1, "net.py:1 run", 0, 0, "")
        for row in frame.itertuples(index=False)
    )  # fmt: skip
    return _lines(head, rows)


_OUTPUT = {
    "steps": ("step_trace_time", _new_steps), "kernels": ("kernel_details", _kernels),
    "operator_types": ("op_statistic", _types), "api": ("api_statistic", _calls),
}  # fmt: skip
"""Frame -> (name of the file in ASCEND_PROFILER_OUTPUT, what makes its content)."""


# Jobs -----------------------------------------------------------------------------------------------------------------


def _write_job(folder: Path, frames: Mapping[str, pd.DataFrame]) -> None:
    """Write a directory for each rank as torch_npu does: metadata, steps, operations, links, and kernels of experts."""
    groups, ranks = frames.get("groups"), frames.get("ranks")
    steps, collectives, links = (frames.get(name) for name in ("cluster_steps", "collectives", "links"))
    known = collectives if collectives is not None else steps
    assert known is not None
    numbers = sorted(known["rank"].unique().tolist())
    told = {} if groups is None else {
        str(row.name): (str(row.kind), [int(one) for one in _numbers(str(row.ranks))]) for row in groups.itertuples(index=False)
    }  # fmt: skip
    for rank in numbers:
        base = folder / f"rank_{rank}_ascend_pt"
        output = base / "ASCEND_PROFILER_OUTPUT"
        own = {name: {"group_name": kind, "global_ranks": of} for name, (kind, of) in told.items() if rank in of}
        about = {"distributed_args": {"rank": rank, "world_size": len(numbers)}, "parallel_group_info": own}
        _write(base / "profiler_metadata.json", json.dumps(about))
        _write(base / f"profiler_info_{rank}.json", json.dumps({"rank_id": rank}))
        if steps is not None:
            _write(output / "step_trace_time.csv", _new_steps(steps[steps["rank"] == rank]))
        if collectives is not None:
            _write(output / "communication.json", json.dumps(_operations(collectives[collectives["rank"] == rank])))
        if links is not None:
            group = next(iter(_groups_of(collectives, rank)), "")
            _write(output / "communication_matrix.json", json.dumps(_matrix(links[links["source"] == rank], group, told, rank)))
        if ranks is not None:
            rows = int(ranks.loc[ranks["rank"] == rank, "expert_rows"].iloc[0])
            _write(output / "kernel_details.csv", _experts(rows))
            _write(output / "op_statistic.csv", _EXPERT_TYPES)


def _numbers(ranks: str) -> list[str]:
    """The ranks of a text such as "0-7" or "0,2,4"."""
    found: list[str] = []
    for part in ranks.replace(" ", "").split(","):
        first, dash, last = part.partition("-")
        found += [str(one) for one in range(int(first), int(last) + 1)] if dash else [part]
    return found


def _groups_of(collectives: pd.DataFrame | None, rank: int) -> list[str]:
    return [] if collectives is None else collectives.loc[collectives["rank"] == rank, "group"].astype("str").unique().tolist()


def _operations(rows: pd.DataFrame) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for row in rows.itertuples(index=False):
        entries = found.setdefault(f"step{row.step}", {"p2p": {}, "collective": {}})["collective"]
        elapse, start = row.elapse_ns / 1e6, row.start_ns if row.start_ns > 0 else 1_764_246_877_147_674_500
        entries[f"{row.name}@{row.group}"] = {
            "Communication Time Info": {
                "Start Timestamp(us)": start / 1e3, "Elapse Time(ms)": elapse, "Transit Time(ms)": elapse,
                "Wait Time(ms)": 0.0, "Synchronization Time(ms)": 0.0, "Idle Time(ms)": 0.0,
            },
            "Communication Bandwidth Info": {},
        }  # fmt: skip
    return found


def _matrix(rows: pd.DataFrame, group: str, told: Mapping[str, tuple[str, list[int]]], rank: int) -> Mapping[str, Any]:
    """Links of a rank; places in a matrix are those within the group."""
    members = next((of for _, of in told.values() if rank in of), [])
    found: dict[str, Any] = {}
    for row in rows.itertuples(index=False):
        if row.target not in members:
            continue
        entry = {
            "Transport Type": str(row.transport), "Transit Size(MB)": row.size_bytes / 1e6,
            "Transit Time(ms)": row.time_ns / 1e6, "Bandwidth(GB/s)": row.size_bytes / row.time_ns,
            "Op Name": "hcom_allReduce__1",
        }  # fmt: skip
        name = f"allreduce-total@{group}"
        step = found.setdefault(f"step{row.step}", {"p2p": {}, "collective": {name: {}}})["collective"]
        step[name][f"{members.index(rank)}-{members.index(row.target)}"] = entry
    return found


_EXPERT_TYPES = "OP Type,Core Type,Count,Total Time(us)\nGroupedMatmul,AI_CORE,1,100\n"


def _experts(rows: int) -> str:
    shapes = f'"{rows},64;8,64,128"'
    row = (1, 0, "GroupedMatmul_1", "GroupedMatmul", "AI_CORE", "1000.0", "100.0", 0, shapes, "FLOAT16;FLOAT16")
    return _lines(KERNEL_HEAD, [row])


