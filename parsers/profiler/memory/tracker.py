"""Reads memory_block.csv and task.csv of MindSpore's memory tracker: blocks of device memory with owner, address and stack.

They are written by MindSpore 2.4 and later with `MS_ALLOC_CONF=memory_tracker:True`, into rank_<r>/, or the output directory
itself, when the process ends: a row for each block of device memory with its address, owner and Python stack, and a row for
each task. Their times are a count of events (allocation, release, task), not times; -1 and 2^64-1 stand for never. Blocks
without a first event lie inside a block that has one. Blocks on the CPU are left out by MindSpore. The set of columns varies
by version, and every line ends in a comma. No file of a device is public; these are read by their documented columns.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.model import Problem
from parsers.profile_frames import OPERATOR_MEMORY
from parsers.profiler.frame_parts import FramePart, FrameReader, ProfileFileKind, ProfileInput, categorical, frame_of
from parsers.profiler.memory import checks
from parsers.profiler.memory.records import taken
from parsers.profiler.tables import NONE, FileTable, TableField, read_table

Ints = NDArray[np.int64]
NEVER = 2**62
"""Events from here on are the largest numbers of C++ types, which stand for never."""
_FIELDS = (
    TableField("allocated_event", ("start_time_stamp",), "number", required=True),
    TableField("released_event", ("end_time_stamp",), "number"),
    TableField("address", ("device_addr",), "text"),
    TableField("stream", ("stream_id",), "number"),
    TableField("component", ("pool_type", "pool_name"), "text"),
    TableField("size_bytes", ("size",), "number", "b", required=True),
    TableField("total_allocated_bytes", ("actual_used_memory",), "number", "b"),
    TableField("file_name", ("file_name",), "text"),
    TableField("line_num", ("line_num",), "text"),
    TableField("kind", ("type",), "text"),
    TableField("producer_task", ("producer_task",), "whole"),
    TableField("task_name", ("task_name",), "text"),
    TableField("name", ("node_name",), "text"),
    TableField("graph_name", ("graph_name",), "text"),
    TableField("last_used_event", ("last_user_task",), "whole"),
    TableField("user_tasks", ("user_tasks",), "text"),
    TableField("stack", ("python_stack",), "text"),
)
_TASKS = (
    TableField("event", ("time_stamp",), "whole", required=True),
    TableField("task_name", ("task_name",), "text"),
    TableField("name", ("node_name",), "text"),
    TableField("graph_name", ("graph_name",), "text"),
    TableField("file_name", ("file_name",), "text"),
    TableField("line_num", ("line_num",), "text"),
    TableField("stack", ("python_stack",), "text"),
)
_FILLED = ("task_name", "name", "graph_name", "stack")


def blocks(source: ProfileInput) -> FramePart:
    """memory_block.csv: a row for each block, in the order of allocation; what it lacks of its task is taken from task.csv."""
    table = read_table(source.path, _FIELDS, numbered=True)
    columns = table.columns
    rows = checks.CheckedRows(source.path, table.lines)
    problems: tuple[Problem, ...] = ()
    beside = source.beside.get(_TASK_FILE.name)
    if beside is not None:
        tasks = read_table(beside.path, _TASKS)
        _fill(columns, tasks)
        problems = tasks.problems
    columns["size_bytes"] = checks.sizes(rows, "column size", columns["size_bytes"])
    columns["total_allocated_bytes"] = checks.sizes(rows, "column actual_used_memory", columns["total_allocated_bytes"])
    start, end = (_events(columns[name]) for name in ("allocated_event", "released_event"))
    rows.report(
        (end != NONE) & (end < start),
        lambda row: f"expected a release after the allocation (event {start[row]}), found event {end[row]}; "
        "the block counts at no time",
    )
    rows.report(
        (start == NONE) & (end != NONE),
        lambda row: f"expected an allocation before the release (event {end[row]}), found none; the block counts at no time",
    )
    columns["allocated_event"], columns["released_event"] = start, end
    columns["last_used_event"] = np.maximum(columns["last_used_event"], _last_users(columns["user_tasks"]))
    columns["stream"] = _events(columns["stream"])
    columns["address"] = _addresses(columns["address"])
    columns["source"] = _pairs(columns["file_name"], columns["line_num"], ":")
    columns["owner"] = _pairs(columns["graph_name"], columns["task_name"], " ")
    columns["scope"] = checks.scopes(columns["name"])
    columns = {name: values for name, values in columns.items() if name in OPERATOR_MEMORY.names}
    order = checks.in_order(rows, start, columns["component"], "column start_time_stamp")
    if order is not None:
        columns = taken(columns, order)
    frame = frame_of(OPERATOR_MEMORY, table.rows, columns, source.name)
    return FramePart(frame, (*table.problems, *problems, *rows.complaints.all()))


def _events(numbers: NDArray[np.float64]) -> Ints:
    """Return events as whole numbers; NONE for missing ones and those that stand for never."""
    known = (numbers >= 0) & (numbers < NEVER)
    return np.where(known, np.where(known, numbers, 0.0), NONE).astype(np.int64)


def _fill(columns: dict[str, Any], tasks: FileTable) -> None:
    """Take what blocks lack of their tasks from the tasks, by the event of the task that produced them."""
    if not tasks.rows:
        return
    events = tasks.columns["event"]
    order = np.argsort(events, kind="stable")
    place = np.minimum(np.searchsorted(events[order], columns["producer_task"]), len(order) - 1)
    found = order[place]
    known = (events[found] == columns["producer_task"]) & (columns["producer_task"] != NONE)
    for name in _FILLED:
        own, other = columns[name], tasks.columns[name]
        lacking = known & ~np.array([*(bool(text) for text in own.categories), False], np.bool_)[own.codes]
        if lacking.any():
            texts = np.asarray(own, object)
            texts[lacking] = np.asarray(other, object)[found[lacking]]
            columns[name] = categorical(texts.tolist())


_TASK = re.compile(r"\d{1,18}")


def _last_users(texts: pd.Categorical) -> Ints:
    """Return the last of the events in texts such as {1-2-3-}; NONE for none."""
    known = [max((int(digits) for digits in _TASK.findall(str(text))), default=NONE) for text in texts.categories]
    made: Ints = np.array([*known, NONE], np.int64)[texts.codes]
    return made


def _addresses(texts: pd.Categorical) -> Ints:
    """Return addresses, in hexadecimal digits after 0x, else decimal ones; NONE for other texts."""
    known = [_address(str(text)) for text in texts.categories]
    made: Ints = np.array([*known, NONE], np.int64)[texts.codes]
    return made


def _address(text: str) -> int:
    try:
        number = int(text, 16 if text.startswith("0x") else 10)
    except ValueError:
        return NONE
    return number if 0 < number < 2**62 else NONE


def _pairs(first: pd.Categorical, second: pd.Categorical, between: str) -> pd.Categorical:
    """Join two texts of each row; one of them alone where the other is empty."""
    width = len(second.categories) + 1
    codes, pairs = pd.factorize(first.codes.astype(np.int64) * width + second.codes)
    left, right = [*map(str, first.categories), ""], [*map(str, second.categories), ""]
    texts = []
    for pair in pairs.tolist():
        one, other = left[pair // width], right[pair % width]
        texts.append(f"{one}{between}{other}" if one and other else one or (other if between == " " else ""))
    made = categorical(texts)
    return pd.Categorical.from_codes(made.codes[codes] if len(texts) else codes, categories=made.categories)


# What is registered in `parsers.profiler.registry` ------------------------------------------------------------------

_BLOCK_FILE = ProfileFileKind("memory_block", re.compile(r"memory_block\.csv"), marks_profile=True, device="Ascend")
_TASK_FILE = ProfileFileKind("memory_task", re.compile(r"task\.csv"))
MEMORY_BLOCKS = FrameReader(OPERATOR_MEMORY, _BLOCK_FILE, blocks, also_reads=(_TASK_FILE,))
