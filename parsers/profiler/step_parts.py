"""Reads what steps are made of for jobs: step_trace_time.csv, cluster_step_trace_time.csv, StepTraceTime, legacy cluster files.

New files have microseconds. `<device>_cluster_analyse_<mode>_<stages>_<ranks>_<rank>.csv` has a row per step and then the mean
as its writer computed it: in units of 10 ns for data-parallel, in ms otherwise; intervals are those of step_trace_raw.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from parsers.cluster_frames import CLUSTER_STEPS
from parsers.files import RegularFile
from parsers.profiler import legacy_ascend
from parsers.profiler.columns import FileRows
from parsers.profiler.communication_json import step_number, step_told
from parsers.profiler.communication_tables import table_rows
from parsers.profiler.database import Database
from parsers.profiler.frame_parts import ProfileInput
from parsers.profiler.groups import ranks_named, text_of
from parsers.profiler.json_entries import number
from parsers.profiler.lines import Complaints
from parsers.profiler.progress import report_read
from parsers.profiler.tables import NONE, plain

LONGEST = 256 << 20
"""Bytes of a table of steps; 10,000 ranks of 100 steps take 200 MB."""
_NAN = float("nan")
_US, _MS, _TICK = 1e3, 1e6, 10.0
_PARTS = {
    "computing_ns": "computing", "exposed_ns": "communication(notoverlapped)", "overlapped_ns": "overlapped",
    "communication_ns": "communication", "free_ns": "free", "stage_ns": "stage", "bubble_ns": "bubble",
    "exposed_without_receive_ns": "communication(notoverlappedandexcludereceive)", "preparing_ns": "preparing",
}  # fmt: skip
_COLUMNS = {
    "computing_ns": "computing", "exposed_ns": "communication_not_overlapped", "overlapped_ns": "overlapped",
    "communication_ns": "communication", "free_ns": "free", "stage_ns": "stage", "bubble_ns": "bubble",
    "exposed_without_receive_ns": "communication_not_overlapped_and_exclude_receive", "preparing_ns": "preparing",
}  # fmt: skip
_LEGACY = {
    "computing_ns": ("computationtime", "computation"),
    "exposed_ns": ("communicationalonetime", "communicationalone"),
    "stage_ns": ("stagetime", "stage"),
    "receive_ns": ("receivealonetime", "receivealone"),
    "collective_ns": ("collectivecommunicationalonetime", "collectivecommunicationtime", "collectivecommunicationalone"),
    "interval_ns": ("iterationinterval",),
    "forward_backward_ns": ("fpandbp",),
    "tail_ns": ("tail",),
}
_TIMES = tuple(name for name in CLUSTER_STEPS.names if name.endswith("_ns"))
_PLACES = ("dp", "pp", "tp")
_MODE = re.compile(r"cluster_analyse_([a-z-]+)_(\d+)_(\d+)_\d+\.csv")
Cells = Mapping[str, str]


def new_rows(*, ranks: bool = False) -> FileRows:
    """Return rows to be filled; with `ranks`, each row says which rank or stage it is of."""
    own = ("rank", "ranks", *_PLACES) if ranks else ()
    return FileRows(CLUSTER_STEPS, ("step", "kind", "device", *own, *_TIMES))


def _add(rows: FileRows, step: int, kind: str, parts: Mapping[str, float], **cells: Any) -> None:
    if "total_ns" not in parts:
        parts = {**parts, "total_ns": sum(parts.get(name, _NAN) for name in ("computing_ns", "exposed_ns", "free_ns"))}
    times = {name: parts.get(name, _NAN) for name in _TIMES}
    rows.add(step=step, kind=kind, device=cells.pop("device", NONE), **cells, **times)


# Text ------------------------------------------------------------------------------------------------------------------------


def _table(path: str, wanted: str, complaints: Complaints) -> Iterator[Cells]:
    """Yield the rows of a small table as cells by plain name; a file without the wanted column has none."""
    try:
        with RegularFile(path) as file:
            if file.size > LONGEST:
                text = f"Expected a table of steps of at most {LONGEST >> 20} MB, found {file.size >> 20:,} MB"
                complaints.add(f"{text}; it was skipped.")
                return
            data = file.read(0, file.size)
    except OSError as error:
        complaints.add(f"The file cannot be read ({error.strerror or error}); what is in it is not shown.", "unreadable")
        return
    report_read(len(data))
    if not data:
        complaints.add("The file is empty.", "empty_file")
        return
    lines = csv.reader(data.decode("utf-8-sig", "replace").replace("\0", "\ufffd").splitlines())
    try:
        header = [plain(name) for name in next(lines, [])]
        if wanted not in header:
            found = ", ".join(header[:20]) or "none"
            complaints.add(f"Line 1: expected a column {wanted}, found {found}; nothing is taken from the file.")
            return
        rows = False
        for cells in lines:
            rows = True
            if not cells:
                continue
            if len(cells) != len(header):
                text = f"expected {len(header)} cells, found {len(cells)}; the line was skipped"
                complaints.add(f"Line {lines.line_num}: {text}.")
                continue
            yield dict(zip(header, (cell.strip() for cell in cells), strict=True))
        if not rows:
            complaints.add("Line 1: expected rows below the names of columns, found none.")
    except csv.Error as error:
        complaints.add(f"Line {lines.line_num}: expected a table, found: {error}; the rest was skipped.")


def _parts(cells: Cells, columns: Mapping[str, str], scale: float, complaints: Complaints) -> dict[str, float]:
    found = {}
    for name, column in columns.items():
        text = cells.get(column, "")
        value = number(text) if text not in ("", "N/A", "NA", "-") else _NAN
        if value != value and text not in ("", "N/A", "NA", "-", "nan", "NaN"):
            complaints.add(f"Column {column}: expected a number, found {text[:60]!r}.")
        found[name] = value * scale
    _tell_negative(found, complaints)
    return found


def _tell_negative(parts: Mapping[str, float], complaints: Complaints) -> None:
    """Report times below zero, which are shown as the file has them."""
    for name, value in parts.items():
        if value < 0:
            complaints.add(f"{name.removesuffix('_ns')}: expected a time of at least 0, found {value:,.0f} ns; it is shown so.")


def read_step_trace_time(path: str, rows: FileRows, complaints: Complaints) -> None:
    """step_trace_time.csv of one rank."""
    for cells in _table(path, "computing", complaints):
        device = cells.get("deviceid", "")
        known = int(device) if device.isdecimal() and len(device) < 10 else NONE
        _add(rows, step_told(cells.get("step"), complaints), "rank", _parts(cells, _PARTS, _US, complaints), device=known)


def read_cluster_steps(path: str, rows: FileRows, complaints: Complaints) -> None:
    """cluster_step_trace_time.csv: rows of ranks and of stages."""
    for cells in _table(path, "computing", complaints):
        parts = _parts(cells, _PARTS, _US, complaints)
        places = [step_number(cells.get(f"{name}index")) for name in _PLACES]
        _cluster_row(rows, (cells.get("step"), cells.get("type", ""), cells.get("index", "")), parts, places, complaints)


def _cluster_row(
    rows: FileRows, key: Sequence[Any], parts: Mapping[str, float], places: Sequence[int], complaints: Complaints
) -> None:
    step, kind, index = key
    where = dict(zip(_PLACES, places, strict=True))
    text = str(index).removesuffix(".0").strip('"')
    if kind == "rank" and text.isdecimal() and len(text) < 10:
        _add(rows, step_told(step, complaints), "rank", parts, rank=int(text), ranks="", **where)
    elif kind == "stage" and (ranks := ranks_named(text) or (ranks_named(f"({text})") if text else None)):
        _add(rows, step_told(step, complaints), "stage", parts, rank=NONE, ranks=text_of(ranks), **where)
    else:
        told = f"found type {str(kind)[:20]!r} and index {text[:60]!r}"
        complaints.add(f"Expected a row of a rank or stage, {told}; it was skipped.")


# Databases -------------------------------------------------------------------------------------------------------------------


def read_steps_of_analysis(database: Database, rows: FileRows, complaints: Complaints) -> bool:
    """StepTraceTime of analysis.db; False if there is no such table."""
    if not database.has("StepTraceTime", "step", "computing"):
        return False
    devices = set()
    for step, device, *cells in table_rows(database, "StepTraceTime", ("step", "deviceId", *_COLUMNS.values()), complaints):
        parts = {name: number(cell) * _US for name, cell in zip(_COLUMNS, cells, strict=True)}
        _tell_negative(parts, complaints)
        _add(rows, step_told(step, complaints), "rank", parts, device=device if isinstance(device, int) else NONE)
        devices.add(device)
    if len(devices) > 1:
        text = f"Table StepTraceTime: expected one device, found {len(devices)}; which rank each of them is, no file tells"
        complaints.add(f"{text}. Their rows are shown under the rank of the directory.")
    return True


def read_steps_of_cluster(database: Database, rows: FileRows, complaints: Complaints) -> bool:
    """ClusterStepTraceTime of cluster_analysis.db; False if there is no such table."""
    table = "ClusterStepTraceTime"
    if not database.has(table, "step", "type", "index"):
        return False
    names = ("step", "type", "index", *(f"{name}_index" for name in _PLACES), *_COLUMNS.values())
    for row in table_rows(database, table, names, complaints):
        parts = {name: number(cell) * _US for name, cell in zip(_COLUMNS, row[6:], strict=True)}
        _tell_negative(parts, complaints)
        _cluster_row(rows, row[:3], parts, [step_number(cell) for cell in row[3:6]], complaints)
    return True


# Legacy ----------------------------------------------------------------------------------------------------------------------


def stages_named(name: str) -> tuple[int, int] | None:
    """Return numbers of stages and of ranks in the name of a legacy cluster file."""
    match = _MODE.search(name)
    return (int(match[2]), int(match[3])) if match is not None else None


def read_cluster_analyse(path: str, trace: str, rows: FileRows, complaints: Complaints) -> None:
    """Legacy cluster file of one rank; trace is the path of its step_trace_raw, for the intervals, "" for none."""
    match = _MODE.search(path)
    mode = match[1] if match is not None else ""
    scale = _TICK if mode == "data-parallel" else _MS
    wanted = "fpandbp" if mode == "data-parallel" else ""
    header = _header(path)
    columns = {name: next((alias for alias in aliases if alias in header), aliases[0]) for name, aliases in _LEGACY.items()}
    cells_of = _table(path, wanted or columns["computing_ns"], complaints)
    found = [_parts(cells, columns, scale, complaints) for cells in cells_of]
    intervals = _intervals(trace) if trace else {}
    for place, parts in enumerate(found):
        mean = place == len(found) - 1 and len(found) > 1
        step = NONE if mean else place + 1
        if parts["interval_ns"] != parts["interval_ns"]:
            parts["interval_ns"] = intervals.get(step, _NAN)
        parts["total_ns"] = _legacy_total(parts)
        _add(rows, step, "mean" if mean else "rank", parts)


def _legacy_total(parts: Mapping[str, float]) -> float:
    """Return interval + forward and backward + tail, else computing + exposed communication."""
    if parts["forward_backward_ns"] == parts["forward_backward_ns"]:
        return parts["interval_ns"] + parts["forward_backward_ns"] + parts["tail_ns"]
    return parts["computing_ns"] + parts["exposed_ns"]


def read_step_trace_raw(path: str, name: str, rows: FileRows, complaints: Complaints) -> None:
    """Legacy step trace of one rank without a cluster file: interval, forward and backward, tail."""
    part = legacy_ascend.STEP_TRACE.read(ProfileInput(path, name, {}))
    complaints.problems += [problem for problem in part.problems if problem not in complaints.problems]
    names = ("step", "kind", "device", "total_ns", "interval_ns", "forward_backward_ns", "tail_ns")
    for step, kind, device, *times in zip(*(part.frame[column].tolist() for column in names), strict=True):
        _add(rows, step, "mean" if kind == "average" else "rank", dict(zip(names[3:], times, strict=True)), device=device)


def _intervals(path: str) -> dict[int, float]:
    """Return the iteration intervals in ns by step; under NONE their mean as the file has it."""
    frame = legacy_ascend.STEP_TRACE.read(ProfileInput(path, path, {})).frame
    steps: Iterable[int] = frame["step"].where(frame["kind"] != "average", NONE).tolist()
    return dict(zip(steps, frame["interval_ns"].tolist(), strict=True))


def _header(path: str) -> list[str]:
    try:
        with RegularFile(path) as file:
            line = file.read(0, 1 << 16).partition(b"\n")[0]
    except OSError:
        return []
    return [plain(name) for name in line.decode("utf-8-sig", "replace").split(",")]

