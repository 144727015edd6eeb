"""What the Kineto trace of one rank tells of its job: groups, collectives, steps, the device, and when it computed.

Groups are those of `pg_config` in `distributedInfo`; the name of a group says its ranks too, since torch numbers the groups of
each process, and the same number may stand for other ranks elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from parsers.analysis.jobs.spans import joined_within
from parsers.cluster_frames import CLUSTER_STEPS, COLLECTIVES, DEVICE_TIMES, GROUPS, RANKS
from parsers.json_text import encodable
from parsers.profiler.columns import FileRows
from parsers.profiler.device_times import kind_between
from parsers.profiler.groups import hash_of, ranks_in, text_of
from parsers.profiler.kineto import devices, memory, steps
from parsers.profiler.kineto.communication import BETWEEN_TWO, BYTES, collectives
from parsers.profiler.kineto.events import KERNEL
from parsers.profiler.kineto.kernels import communicates
from parsers.profiler.kineto.recording import KinetoRecording
from parsers.profiler.tables import NONE

_NAN = float("nan")
_LONGEST = 40
"""Characters of a list of ranks that stand in the name of a group; of a longer one its hash does."""
_KINDS = (
    (r"default_pg", "default_group"), (r"tensor|mesh_tp|\btp\b", "tp"), (r"pipeline|mesh_pp|\bpp\b", "pp"),
    (r"context|mesh_cp|\bcp\b", "cp"), (r"expert|mesh_ep|\bep\b", "ep"), (r"data|mesh_dp|\bdp\b|fsdp", "dp"),
)  # fmt: skip
_UNKNOWN = {"category": "", "int64": NONE, "float64": _NAN}


def rows_of(recording: KinetoRecording, what: Collection[str], file: str) -> list[FileRows]:
    """Return the rows of frames of jobs by their names, those that a trace gives."""
    makers: Mapping[str, Callable[[KinetoRecording, str], FileRows]] = {
        GROUPS.name: _groups, COLLECTIVES.name: _collectives, CLUSTER_STEPS.name: _steps, RANKS.name: _rank,
        DEVICE_TIMES.name: _device_times,
    }  # fmt: skip
    return [make(recording, file) for name, make in makers.items() if name in what]


def _configured(recording: KinetoRecording) -> dict[str, tuple[str, str, tuple[int, ...]]]:
    """Return (name here, what it is for, ranks) of the groups in `distributedInfo`, by their name in torch."""
    found = {}
    listed = recording.distributed.get("pg_config")
    for one in listed if isinstance(listed, list) else ():
        if not isinstance(one, dict):
            continue
        name, about = (encodable(str(one.get(key) or "")) for key in ("pg_name", "pg_desc"))
        ranks = _ranks(one.get("ranks"))
        found[name] = (_name(name, ranks), _kind(about), ranks)
    return found


def _ranks(value: Any) -> tuple[int, ...]:
    """Return the ranks in a list, or in the text of one; none for a text that was cut."""
    if isinstance(value, str):
        value = [int(digits) for digits in re.findall(r"\d{1,9}", value)] if value.endswith("]") else None
    return ranks_in(value) or ()


def _name(name: str, ranks: tuple[int, ...]) -> str:
    text = text_of(ranks)
    return f"{name}@{text if len(text) <= _LONGEST else hash_of(text)}" if ranks else name


def _kind(about: str) -> str:
    return next((kind for pattern, kind in _KINDS if re.search(pattern, about, re.IGNORECASE)), "")


def _groups(recording: KinetoRecording, file: str) -> FileRows:
    rows = FileRows(GROUPS, ("group", "name", "kind", "ranks", "size", "told"), file)
    configured = _configured(recording)
    for name, (group, kind, ranks) in configured.items():
        if ranks:
            if len(configured) == 1 and not BETWEEN_TWO.intersection(collectives(recording).kind):
                kind = "dp"  # one group that reduces and sends nothing from rank to rank: all ranks do the same
            rows.add(group=group, name=name, kind=kind, ranks=text_of(ranks), size=len(ranks), told="yes")
    return rows


def _collectives(recording: KinetoRecording, file: str) -> FileRows:
    """A row for each collective, with the name that it has on all its ranks: kind, and number within step and group."""
    names = ("step", "group", "name", "section", "start_ns", "elapse_ns", "transit_ns", "wait_ns", "synchronisation_ns",
             "idle_ns", "size_bytes")  # fmt: skip
    rows = FileRows(COLLECTIVES, names, file)
    found, groups = collectives(recording), _configured(recording)
    counts: dict[tuple[Any, ...], int] = {}
    columns = zip(*(column if isinstance(column, list) else column.tolist() for column in found), strict=True)
    for kind, group, start, duration, step, element, elements_in, elements_out, _ in columns:
        counts[kind, group, step] = number = counts.get((kind, group, step), 0) + 1
        most = max(elements_in, elements_out)
        rows.add(
            step=step, group=groups[group][0] if group in groups else group, name=f"{kind}_{number}",
            section="p2p" if kind in BETWEEN_TWO else "collective", start_ns=start + recording.trace.origin_ns,
            elapse_ns=float(duration), transit_ns=_NAN, wait_ns=_NAN, synchronisation_ns=_NAN, idle_ns=_NAN,
            size_bytes=most * BYTES[element] if most >= 0 and element in BYTES else NONE,
        )  # fmt: skip
    return rows


def _steps(recording: KinetoRecording, file: str) -> FileRows:
    """The whole steps of the rank."""
    times = [name for name in CLUSTER_STEPS.names if name.endswith("_ns")]
    rows = FileRows(CLUSTER_STEPS, ("step", "kind", "device", *times), file)
    frame = steps.steps(recording, file)
    for row in frame[(frame["kind"] == "step") & frame["computing_ns"].notna()].to_dict("records"):
        told = {name: float(row[name]) if name in row else _NAN for name in times}
        rows.add(step=int(row["step"]), kind="rank", device=int(row["device"]), **told)
    return rows


def _rank(recording: KinetoRecording, file: str) -> FileRows:
    dtypes = {column.name: column.dtype for column in RANKS.columns if column.name not in ("rank", "file")}
    rows = FileRows(RANKS, tuple(dtypes), file)
    found: dict[str, Any] = {name: _UNKNOWN[dtype] for name, dtype in dtypes.items()}
    hardware = devices.hardware(recording, file)
    if len(hardware) == 1:
        found |= {"device": int(hardware["device"].iloc[0]), "chip": str(hardware["chip"].iloc[0]),
                  "capacity_bytes": int(hardware["memory_bytes"].iloc[0])}  # fmt: skip
    held = memory.memory(recording, file)
    held = held[held["component"] != "CPU"]
    if len(held):
        found["peak_allocated_bytes"] = int(held["allocated_bytes"].max())
        found["peak_reserved_bytes"] = int(held["reserved_bytes"].max())
    device = recording.device
    computes = (device.class_ == KERNEL) & ~communicates(recording)
    if computes.any():
        found["operators_ns"] = float(device.duration[computes].sum())
    if any(value != _UNKNOWN[dtypes[name]] and value == value for name, value in found.items()):
        rows.add(**found)
    return rows


def _device_times(recording: KinetoRecording, file: str) -> FileRows:
    rows = FileRows(DEVICE_TIMES, ("step", "kind", "start_ns", "end_ns", "operations"), file)
    device, origin = recording.device, recording.trace.origin_ns
    number = np.append(recording.steps.number, NONE)
    computes = (device.class_ == KERNEL) & ~communicates(recording)
    of_step = np.where(recording.step_of_device >= 0, recording.step_of_device, len(recording.steps.number))
    step, start, end, count = joined_within(of_step[computes], device.start[computes], device.end[computes])
    for one, begin, stop, kernels in zip(number[step].tolist(), start.tolist(), end.tolist(), count.tolist(), strict=True):
        rows.add(step=one, kind="computing", operations=kernels, start_ns=begin + origin, end_ns=stop + origin)
    found = collectives(recording)
    columns = zip(found.kind, found.start.tolist(), found.duration.tolist(), found.step.tolist(), strict=True)
    for kind, begin, duration, step in columns if len(device) else ():
        rows.add(step=step, kind=kind_between(kind), start_ns=begin + origin, end_ns=begin + duration + origin, operations=1)
    return rows
