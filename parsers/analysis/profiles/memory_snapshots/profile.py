"""The frames of a profile about memory, made from a snapshot: operator_memory, memory and step_times.

Times of a snapshot are whole microseconds, and many entries share one: each is at least 1 ns after the one before, so that
their order remains. Without times blocks have numbers of entries, from 1; 0 stands for before the recording.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.profiles.memory_snapshots.lifetimes import NONE, Frames, Lifetimes, lifetimes, of_device
from parsers.analysis.profiles.memory_snapshots.totals import totals
from parsers.deferred import pandas as pd
from parsers.model import Ints
from parsers.profile_frames import MEMORY, OPERATOR_MEMORY, STEP_TIMES

COMPONENT = "torch"
MOST_SHOWN = 64
"""Lines of a stack that its text has, innermost first."""
_STEP = re.compile(r"ProfilerStep#(\d{1,18})")
_LIBRARY = re.compile(r"[/\\](?:torch|torch_npu|site-packages[/\\]triton)[/\\]|^<")


def operator_memory(frames: Frames, device: int, file: str = "", found: Lifetimes | None = None) -> pd.DataFrame:
    """Return the blocks of a device as the frame operator_memory, in the order of allocation.

    Those that are neither allocated nor released while recording have no times; the curve of `memory` holds them.
    """
    lives = lifetimes(frames, device) if found is None else found
    times = _times(of_device(frames, device))
    timed = len(times) > 0 and bool((times >= 0).any())
    names = ("allocated", "requested", "completed")
    moments = {name: _at(times, getattr(lives, name)) if timed else getattr(lives, name) + 1 for name in names}
    columns: dict[str, Any] = {column.name: np.full(len(lives), NONE, np.int64) for column in OPERATOR_MEMORY.columns}
    columns |= {"size_bytes": lives.size, "address": lives.address, "stream": lives.stream}
    columns["device"] = np.full(len(lives), device, np.int64)
    if timed:
        columns |= {"allocated_ns": moments["allocated"], "released_ns": moments["requested"]}
        columns["active_released_ns"] = moments["completed"]
    else:
        gone = np.where(moments["requested"] > 0, moments["requested"], moments["completed"])
        columns |= {"allocated_event": moments["allocated"], "released_event": np.where(gone > 0, gone, NONE)}
    texts = _stack_texts(frames["snapshot_frames"])
    codes = lives.stack.astype(np.int32)
    for column in OPERATOR_MEMORY.columns:
        if column.dtype == "category":
            known = {"component": COMPONENT, "file": file}.get(column.name, "")
            columns[column.name] = texts[column.name].take(codes) if column.name in texts else _constant(known, len(lives))
    return OPERATOR_MEMORY.check(pd.DataFrame(columns, copy=False))


def memory(frames: Frames, device: int, file: str = "", found: Lifetimes | None = None) -> pd.DataFrame:
    """Return the totals of a device over time as the frame memory: a row for each entry that has a time."""
    sums = totals(frames, device, lifetimes(frames, device) if found is None else found)
    events = of_device(frames, device)
    times = _times(events)
    there = times >= 0
    columns = {
        "component": _constant(COMPONENT, int(there.sum())),
        "stream": events["stream"].to_numpy(np.int64)[there],
        "device": np.full(int(there.sum()), device, np.int64),
        "time_ns": times[there],
        "allocated_bytes": sums.allocated[there],
        "reserved_bytes": sums.reserved[there],
        "active_bytes": sums.active[there],
        "file": _constant(file, int(there.sum())),
    }
    return MEMORY.check(pd.DataFrame(columns, copy=False))


def step_times(frames: Frames, file: str = "") -> pd.DataFrame:
    """Return the steps that annotations named ProfilerStep# mark, in order of time; a step needs its begin and its end."""
    marks = frames["snapshot_annotations"]
    opened: dict[tuple[str, int], int] = {}
    rows = []
    for name, stage, device, time in zip(*(marks[key].tolist() for key in ("name", "stage", "device", "time_ns")), strict=True):
        step = _STEP.fullmatch(name)
        if step is None or time < 0:
            continue
        if stage == "START":
            opened[(name, device)] = time
        elif stage == "END" and (begin := opened.pop((name, device), NONE)) >= 0 and time >= begin:
            rows.append((begin, int(step[1]), time))
    rows.sort()
    steps = [np.array([row[part] for row in rows], np.int64) for part in (1, 0, 2)]
    made = {"step": steps[0], "start_ns": steps[1], "end_ns": steps[2], "file": _constant(file, len(rows))}
    return STEP_TIMES.check(pd.DataFrame(made)).drop_duplicates("step", ignore_index=True)


def _times(events: pd.DataFrame) -> Ints:
    """Return a time for each entry that grows from entry to entry; -1 for all if none has one."""
    times = events["time_ns"].to_numpy()
    if not (times >= 0).any():
        return np.full(len(times), NONE, np.int64)
    place = np.arange(len(times))
    grown: Ints = np.maximum.accumulate(np.where(times < 0, 0, times) - place) + place
    return grown


def _at(times: Ints, rows: Ints) -> Ints:
    return np.where(rows >= 0, times[rows], NONE)


def _constant(text: str, rows: int) -> pd.Categorical:
    return pd.Categorical.from_codes(np.zeros(rows, np.int8), categories=pd.Index([text], dtype="str"))


def _stack_texts(lines: pd.DataFrame) -> dict[str, Any]:
    """Return name, source and stack by number of the stack, with the empty text as the last of each, for -1.

    name is the innermost function of Python, source the innermost line outside of torch.
    """
    number = int(lines["stack"].max()) + 1 if len(lines) else 0
    kept = lines[(lines["depth"] < MOST_SHOWN).to_numpy()]
    python = lines[(lines["source"] != "??").to_numpy()]
    library = np.array([_LIBRARY.search(one) is not None for one in python["source"].cat.categories], np.bool_)
    own = python[~np.append(library, False)[python["source"].cat.codes]]
    places = own.groupby("stack", sort=False).head(1)
    functions = python.groupby("stack", sort=False).head(1)
    return {
        "name": _categories(functions["stack"].to_numpy(), functions["name"].tolist(), number),
        "source": _categories(places["stack"].to_numpy(), _place(places), number),
        "stack": _categories(np.arange(number), _joined(kept, number), number),
    }


def _place(lines: pd.DataFrame) -> list[str]:
    return [f"{source}:{line}" for source, line in zip(lines["source"].tolist(), lines["line"].tolist(), strict=True)]


def _joined(lines: pd.DataFrame, number: int) -> list[str]:
    texts: list[list[str]] = [[] for _ in range(number)]
    for stack, name, place in zip(lines["stack"].tolist(), lines["name"].tolist(), _place(lines), strict=True):
        texts[stack].append(f"{place} {name}")
    return ["\n".join(one) for one in texts]


def _categories(stacks: NDArray[Any], texts: list[str], number: int) -> pd.Categorical:
    values = np.full(number + 1, "", object)
    values[stacks] = texts
    codes, known = pd.factorize(values)
    return pd.Categorical.from_codes(codes, categories=pd.Index(known, dtype="str"))
