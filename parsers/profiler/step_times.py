"""Reads when each step began and ended: slices called ProfilerStep#N in trace_view.json, or STEP_TIME in a database.

MindSpore 2.3 and later and torch_npu mark steps so when the profiler has a schedule. Times are those of the clock of
memory_record and operator_memory. Of the trace nothing else is read: its bytes are searched for the name, and only the events
found are decoded. step_trace_time.csv has no times of steps.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from parsers.deferred import pandas as pd
from parsers.profile_frames import STEP_TIMES
from parsers.profiler.database import DATABASE_FILE, MSPROF_FILE, Database, read_part
from parsers.profiler.database import whole as whole_number
from parsers.profiler.frame_parts import FramePart, FrameReader, ProfileInput, frame_of
from parsers.profiler.lines import Complaints
from parsers.profiler.progress import report_read
from parsers.profiler.trace.bytes import TraceBytes
from parsers.profiler.trace.files import TRACE_VIEW

_MARK = b"ProfilerStep#"
_NAME = re.compile(r"ProfilerStep#(\d{1,18})")
_KEY = re.compile(rb'"name"\s{0,8}:\s{0,8}"$')
_WINDOW = 1 << 20
"""Bytes after which progress is reported, and reading may be cancelled."""
_BEFORE = 4 << 10
"""Bytes before the name within which its event begins."""
_SIZES = (16 << 10, 1 << 20)
"""Bytes after the name within which its event ends: a call stack is among its arguments."""
_BRACES = 24
"""Braces before the name that are tried as the begin of its event."""
MOST_STEPS = 100_000
MOST_FAILURES = 1_000
"""Failed attempts to decode an event after which a trace is not searched any further."""
_LATEST = Decimal(2**62)
_DECODER = json.JSONDecoder(parse_float=Decimal)


def from_trace(source: ProfileInput) -> FramePart:
    """trace_view.json: a row for each step, in order of time; of several slices of a step the first one counts."""
    complaints = Complaints(source.path)
    found: dict[int, tuple[int, int]] = {}
    try:
        with TraceBytes(source.path) as data:
            if not data.size:
                complaints.add("The file is empty.", "empty_file")
            _collect(data, found, complaints)
            head = data.read(0, _BEFORE).removeprefix(b"\xef\xbb\xbf").lstrip()
            if not found and head[:1] not in b"[{":
                shown = "zeros" if not head.strip(b"\x00") else repr(head[:40].decode("utf-8", "replace"))
                complaints.add(f"Expected an array of events, or an object with traceEvents, found {shown}; no step is read.")
            if data.damage:
                complaints.add(f"Expected a file compressed by gzip, found that {data.damage}; later steps are missing.")
    except OSError as error:
        complaints.add(f"The file cannot be read ({error.strerror or error}); what is in it is not shown.", "unreadable")
    return FramePart(_frame([(step, *times) for step, times in found.items()], source.name, complaints), complaints.all())


def _marks(data: TraceBytes) -> Iterator[int]:
    """Yield the places of the name in a trace."""
    offset = reported = 0
    while window := data.read(offset, _WINDOW):
        at = window.find(_MARK)
        while at >= 0:
            yield offset + at
            at = window.find(_MARK, at + len(_MARK))
        report_read(data.consumed - reported)
        reported = data.consumed
        if len(window) < _WINDOW:
            return
        offset = data.next_data(offset + _WINDOW - len(_MARK) + 1)


def _collect(data: TraceBytes, found: dict[int, tuple[int, int]], complaints: Complaints) -> None:
    """Add the steps of a trace, until it has MOST_STEPS of them or MOST_FAILURES places that look like steps and are none."""
    behind = failures = 0
    for place in _marks(data):
        if place < behind:
            continue  # within the event before
        event, end, failed = _event(data, place)
        behind = max(behind, end)
        failures += failed
        if failed:
            report_read(0)  # these take time, and reading may have been cancelled
        if failures >= MOST_FAILURES:
            complaints.add(f"Expected events of steps, found {failures:,} times text that is none; later steps are missing.")
            return
        step = None if event is None else _times(event)
        if step is not None:
            found.setdefault(step[0], step[1:])
            if len(found) >= MOST_STEPS:
                return


def _event(data: TraceBytes, place: int) -> tuple[dict[str, Any] | None, int, int]:
    """Return the event whose name is here (None for none), where in the trace it ends, and how often decoding failed."""
    begin, failed = max(place - _BEFORE, 0), 0
    for size in _SIZES:
        window = data.read(begin, place - begin + size)
        if not _KEY.search(window[max(place - begin - 40, 0) : place - begin]):
            return None, 0, failed  # a mention in a call stack or another argument
        before = window[: place - begin].decode("utf-8", "surrogateescape")
        text = before + window[place - begin :].decode("utf-8", "surrogateescape")
        at = len(before)
        for _ in range(_BRACES):
            at = text.rfind("{", 0, at)
            if at < 0:
                break
            try:
                event, end = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError):
                failed += 1
                continue
            if isinstance(event, dict) and end > len(before):
                length = len(text[len(before) : end].encode("utf-8", "surrogateescape"))
                return event, place + length, max(failed - 1, 0)  # one for a long event in the short window
        if len(window) < place - begin + size:
            break  # there is no more
    return None, 0, failed + 1


def _times(event: dict[str, Any]) -> tuple[int, int, int] | None:
    """Convert microseconds, as numbers or as text, to ns without rounding them to floats."""
    name = _NAME.fullmatch(str(event.get("name")))
    start, length = (_nanoseconds(event.get(key)) for key in ("ts", "dur"))
    if name is None or start is None or length is None or length < 0:
        return None
    return int(name[1]), start, start + length


def _nanoseconds(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal) or len(str(value)) > 60:
        return None
    try:
        found = Decimal(value) * 1_000
    except InvalidOperation:
        return None
    return int(found.to_integral_value()) if found.is_finite() and abs(found) < _LATEST else None


def from_database(source: ProfileInput) -> FramePart:
    """STEP_TIME: a row for each step, in order of time."""
    return read_part(source, STEP_TIMES, _from_database)


def _from_database(database: Database, source: ProfileInput, complaints: Complaints) -> pd.DataFrame:
    if not database.has("STEP_TIME", "id", "startNs", "endNs"):
        return STEP_TIMES.empty()  # written only if steps were marked
    found: dict[int, tuple[int, int]] = {}
    for rows in database.rows("SELECT id, startNs, endNs FROM STEP_TIME", "Table STEP_TIME", complaints):
        for row in rows:
            step, start, end = (whole_number(cell) for cell in row)
            if step is None or start is None or end is None:
                complaints.add(f"Table STEP_TIME: expected whole numbers, found {str(row)[:60]}; the row was skipped.")
            elif len(found) < MOST_STEPS:
                found.setdefault(step, (start, end))
    return _frame([(step, *times) for step, times in found.items()], source.name, complaints)


def _frame(rows: list[tuple[int, int, int]], file: str, complaints: Complaints) -> pd.DataFrame:
    kept = sorted((row for row in rows if row[1] <= row[2]), key=lambda row: row[1:])
    if len(kept) < len(rows):
        wrong = next(row for row in rows if row[1] > row[2])
        complaints.add(f"Step {wrong[0]}: expected an end after its begin, found {wrong[1] - wrong[2]:,} ns before it; "
                       f"{len(rows) - len(kept):,} steps were skipped.")  # fmt: skip
    columns = dict(zip(("step", "start_ns", "end_ns"), np.array(kept, np.int64).reshape(-1, 3).T, strict=True))
    return frame_of(STEP_TIMES, len(kept), columns, file)


# What is registered in `parsers.profiler.registry` ------------------------------------------------------------------

STEPS_OF_TRACE = FrameReader(STEP_TIMES, TRACE_VIEW, from_trace, unless=(DATABASE_FILE.name,))
STEPS_OF_PROFILER = FrameReader(STEP_TIMES, DATABASE_FILE, from_database)
STEPS_OF_MSPROF = FrameReader(STEP_TIMES, MSPROF_FILE, from_database, unless=(DATABASE_FILE.name, TRACE_VIEW.name))
