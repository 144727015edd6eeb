"""The names of files that hold a trace."""

from __future__ import annotations

import re

from parsers.profiler.frame_parts import ProfileFileKind
from parsers.profiler.trace.bytes import TraceBytes

DATABASE = b"SQLite format 3\0"
"""How a database begins."""
_HEAD = 1 << 20
_EVENT = re.compile(rb'"(?:ph|traceEvents)"\s*:')

TRACE_VIEW = ProfileFileKind(
    "trace_view", re.compile(r"trace_view(?:_(?P<rank>\d{1,9}))?\.json(?:\.gz)?"), marks_profile=True, shown="trace_view.json"
)
LEGACY_TRACE = ProfileFileKind(
    "timeline_display",
    re.compile(r"(?:(?:ascend|gpu|cpu)_)?timeline_display(?:_(?P<rank>\d{1,9}))?\.json(?:\.gz)?"),
    marks_profile=True,
    shown="ascend_timeline_display_*.json",
)
MSPROF_TRACE = ProfileFileKind(
    "msprof_trace",
    re.compile(r"msprof(?:_slice)?(?:_\d+)*\.json(?:\.gz)?"),
    marks_profile=True,
    device="Ascend",
    shown="msprof.json",
)
CHROME_TRACE = ProfileFileKind(
    "chrome_trace", re.compile(r"(?:.*\.)?trace\.json(?:\.gz)?"), marks_profile=True, shown="trace.json"
)
"""`<host>.<time>.pt.trace.json` of PyTorch, `<host>.trace.json.gz` of TensorBoard's profiler."""
TRACE_FILES: tuple[ProfileFileKind, ...] = (TRACE_VIEW, LEGACY_TRACE, MSPROF_TRACE, CHROME_TRACE)
SOURCES: tuple[str, ...] = ("trace_view", "chrome_trace", "database", "msprof", "timeline_display", "msprof_trace")
"""Kinds of files that hold a trace, the best first."""
TABLES: tuple[str, ...] = ("kernel_details", "communication")
"""Kinds of files that a trace is made of where a profile has none (`tables`)."""


def holds_trace(path: str) -> bool:
    """Return whether the beginning of a file looks like a trace, whatever its name is."""
    try:
        with TraceBytes(path) as source:
            head = source.read(0, _HEAD)
    except OSError:
        return False
    begin = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return head.startswith(DATABASE) or (begin in (b"[", b"{") and _EVENT.search(head) is not None)
