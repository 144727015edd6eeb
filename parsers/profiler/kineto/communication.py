"""Collectives of a Kineto trace: one row for each, whether the file has it as kernels, as an event of the host, or as both.

torch writes `record_param_comms` on the host with kind, group, type and number of elements of a collective, and launches its
kernels within. Older files have kernels alone, whose names tell the kind; with gloo there is only the host.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.model import Ints
from parsers.profile_frames import COMMUNICATION
from parsers.profiler.frame_parts import categorical, frame_of
from parsers.profiler.kineto.around import nearest
from parsers.profiler.kineto.events import ANNOTATION, ON_DEVICE, OPERATOR
from parsers.profiler.kineto.kernels import communicates, kernel_type
from parsers.profiler.kineto.recording import ArgumentsOfSlices, KinetoRecording
from parsers.profiler.kineto.texts import plain
from parsers.profiler.tables import NONE

RECORD = "record_param_comms"
_NO_COLLECTIVES = frozenset(("wait", "init", "end_coalescing", "start_coalescing"))
BETWEEN_TWO = frozenset(("send", "recv", "isend", "irecv"))
_OF_LIBRARY = re.compile(r"(?:nccl|rccl|msccl|oneccl|hccl)(?:Dev)?Kernel_?(?:SendRecv|([A-Za-z]+))", re.IGNORECASE)
BYTES = {
    "Byte": 1, "Char": 1, "Bool": 1, "Short": 2, "Int": 4, "Long": 8, "Half": 2, "BFloat16": 2, "Float": 4, "Double": 8,
    "ComplexFloat": 8, "ComplexDouble": 16, "ComplexHalf": 4, "QInt8": 1, "QUInt8": 1, "QInt32": 4, "UInt16": 2, "UInt32": 4,
    "UInt64": 8, "Float8_e4m3fn": 1, "Float8_e5m2": 1, "Float8_e4m3fnuz": 1, "Float8_e5m2fnuz": 1, "Float8_e8m0fnu": 1,
}  # fmt: skip
"""Bytes of one element by the name of its type in torch (c10/core/ScalarType.h)."""


class Collectives(NamedTuple):
    """The collectives of a trace in the order of their begin, ns since the origin; all columns have one length."""

    kind: list[str]
    """Collective name as torch has it: allreduce, _allgather_base ...; of the kernel's name where nothing else tells."""
    group: list[str]
    """Name of the process group; empty for unknown."""
    start: Ints
    duration: Ints
    step: Ints
    """Number of the step it was launched in; NONE for none."""
    element: list[str]
    """Type of an element; empty for unknown."""
    elements_in: Ints
    elements_out: Ints
    group_size: Ints


def collectives(recording: KinetoRecording) -> Collectives:
    """Return the collectives: kernels of one operator are one, and an operator without kernels is one by itself."""
    rows = _of_kernels(recording) + _of_host(recording)
    rows.sort(key=lambda row: (row[2], row[3]))
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(Collectives._fields)
    whole = {2, 3, 4, 6, 7, 8}
    return Collectives(*(  # type: ignore[arg-type]
        np.array(column, np.int64) if place in whole else list(column) for place, column in enumerate(columns)
    ))  # fmt: skip


def communication(recording: KinetoRecording, file: str) -> pd.DataFrame:
    """Return COMMUNICATION: name is the kind with its number within step and group, so that it is the same on all ranks."""
    found = collectives(recording)
    counts: dict[tuple[Any, ...], int] = {}
    names = []
    for key in zip(found.kind, found.group, found.step.tolist(), strict=True):
        counts[key] = counts.get(key, 0) + 1
        names.append(f"{key[0]}_{counts[key]}")
    columns: dict[str, Any] = {
        "step": found.step, "kind": categorical(["p2p" if kind in BETWEEN_TWO else "collective" for kind in found.kind]),
        "name": categorical(names), "group": categorical(found.group), "start_ns": found.start + recording.trace.origin_ns,
        "duration_ns": found.duration.astype(np.float64),
    }  # fmt: skip
    return frame_of(COMMUNICATION, len(names), columns, file)


def _of_kernels(recording: KinetoRecording) -> list[tuple[Any, ...]]:
    """Return a row for the kernels of each operator, and for each kernel without one."""
    device = recording.device
    rows = np.flatnonzero(communicates(recording))
    if not len(rows):
        return []
    record = _records(recording)
    owner = device.owner[rows]
    key = np.where(owner >= 0, record[np.maximum(owner, 0)] if len(record) else -1, -1)
    key = np.where(key >= 0, key, -1 - np.arange(len(rows)))
    told = recording.arguments_of(device.slice[rows], *ON_DEVICE)
    steps = np.append(recording.steps.number, NONE)[recording.step_of_device[rows]]
    made = []
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    last = np.full(len(first), np.iinfo(np.int64).min)
    begin = np.full(len(first), np.iinfo(np.int64).max)
    np.maximum.at(last, group.reshape(-1), device.end[rows])
    np.minimum.at(begin, group.reshape(-1), device.start[rows])
    of_host = _told_of(recording, key[first])
    for place, at in enumerate(first.tolist()):
        own = _row_of(recording, told, at)
        known = own if own[0] else of_host[place]
        kind = known[0] or _kind_of(recording.trace.names[int(device.name[rows[at]])])
        made.append((kind, known[1], int(begin[place]), int(last[place] - begin[place]), int(steps[at]), *known[2:]))
    return made


def _of_host(recording: KinetoRecording) -> list[tuple[Any, ...]]:
    """Return a row for each collective that the host recorded and no device ran."""
    host = recording.host
    named = [code for code in np.unique(host.name).tolist() if recording.trace.names[code] == RECORD]
    rows = np.flatnonzero(np.isin(host.name, named) & (host.class_ == OPERATOR))
    if not len(rows):
        return []
    owner = recording.device.owner[communicates(recording)]
    ran = _records(recording)[owner[owner >= 0]] if len(owner) else np.zeros(0, np.int64)
    rows = rows[~np.isin(rows, ran)]
    told = recording.arguments_of(host.slice[rows], OPERATOR, ANNOTATION)
    steps = np.append(recording.steps.number, NONE)[recording.steps.at(host.start[rows])]
    made = []
    for at, row in enumerate(rows.tolist()):
        known = _row_of(recording, told, at)
        if known[0] and known[0] not in _NO_COLLECTIVES and not len(recording.device):
            made.append((known[0], known[1], int(host.start[row]), int(host.duration[row]), int(steps[at]), *known[2:]))
    return made


def _records(recording: KinetoRecording) -> NDArray[np.int32]:
    """Return the innermost `record_param_comms` around each row of the host, itself included; -1 for none."""
    host = recording.host
    named = [code for code in np.unique(host.name).tolist() if recording.trace.names[code] == RECORD]
    return nearest(host.around, np.isin(host.name, named))


def _told_of(recording: KinetoRecording, rows: Ints) -> list[tuple[Any, ...]]:
    """Return what the host told of each row (negative: nothing), as `_row_of` does."""
    known = np.flatnonzero(rows >= 0)
    told = recording.arguments_of(recording.host.slice[rows[known]], OPERATOR, ANNOTATION)
    found: list[tuple[Any, ...]] = [_NOTHING] * len(rows)
    for at, place in enumerate(known.tolist()):
        found[place] = _row_of(recording, told, at)
    return found


_NOTHING = ("", "", "", NONE, NONE, NONE)


def _row_of(recording: KinetoRecording, told: ArgumentsOfSlices, at: int) -> tuple[Any, ...]:
    """Return kind, group, type of an element, elements in and out, and size of the group of one row of arguments."""
    kind, group, element = (
        plain(recording.texts(name)[int(told[name][at])]) for name in ("collective", "group", "dtype")
    )
    return kind, group, element, int(told["elements_in"][at]), int(told["elements_out"][at]), int(told["group_size"][at])


def _kind_of(kernel: str) -> str:
    """Return the kind that the name of a kernel tells, else its function."""
    match = _OF_LIBRARY.search(kernel)
    if match is not None:
        return (match[1] or "SendRecv").split("_")[0].lower()
    return kernel_type(kernel).rsplit("::", 1)[-1]
