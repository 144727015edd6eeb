"""l2_cache.csv: how often tasks on the device found their data in the second-level cache.

Written into ASCEND_PROFILER_OUTPUT by MindSpore 2.3 and later and by torch_npu, when `l2_cache` is set. Every column is read.
"""

from __future__ import annotations

from parsers.profile_frames import FILE
from parsers.profiler.frame_parts import FramePart, FrameReader, ProfileFileKind, ProfileInput, frame_of, stamped
from parsers.profiler.tables import TableField, read_table
from parsers.schema import Column, Schema

CACHE_HITS = Schema(
    "cache_hits",
    "Use of the second-level cache by tasks on the device.",
    (
        Column("name", "category", "", "operator of the task"),
        Column("stream", "int64", "", "stream; -1 for unknown"),
        Column("task", "int64", "", "task; -1 for unknown"),
        Column("hits", "float64", "", "part of the reads that found their data: 0 to 1; NaN for unknown"),
        Column("victims", "float64", "", "part of the lines that were evicted: 0 to 1; NaN for unknown"),
        FILE,
    ),
)
_FIELDS = (
    TableField("name", ("Op Name",), "text", required=True),
    TableField("stream", ("Stream Id",), "whole"),
    TableField("task", ("Task Id",), "whole"),
    TableField("hits", ("Hit Rate",)),
    TableField("victims", ("Victim Rate",)),
)


def cache_hits(file: ProfileInput) -> FramePart:
    """Read the table; `N/A` becomes a missing value."""
    table = read_table(file.path, _FIELDS)
    return FramePart(frame_of(CACHE_HITS, table.rows, table.columns, file.name), table.problems)


L2_CACHE = FrameReader(CACHE_HITS, ProfileFileKind("l2_cache", stamped("l2_cache")), cache_hits)
