"""The worst files of each format, of about one size, and an intact one of that size to compare them with.

Each format is a path below a run, the bytes of an intact file, and the worst ones by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

SIZE = 4 << 20
"""Bytes of a file, about."""
ASCEND = "host_1_2_ascend_ms/ASCEND_PROFILER_OUTPUT"
_KERNELS = b"Name,Start Time(us),Duration(us),Accelerator Core,Step Id,Input Shapes\n"
_EVENT = b'{"name": "%d", "ph": "X", "pid": 1, "tid": 1, "ts": %d, "dur": 5, "args": {"a": 1}}'
_STUDY = b'{"op_code": 0, "worker_id": "1", "study_name": "s", "directions": [1]}\n'
Make = Callable[[], bytes]


@dataclass(frozen=True)
class Format:
    """path: of the file below its run. worst: what makes the bytes of the worst files, by name. beside: other files."""

    path: str
    intact: Make
    worst: Mapping[str, Make]
    beside: Mapping[str, bytes] = field(default_factory=dict)


def filled(piece: bytes, before: bytes = b"", after: bytes = b"") -> bytes:
    """Return the piece repeated to SIZE, between two texts."""
    return before + piece * (SIZE // len(piece)) + after


def counted(line: bytes, before: bytes = b"", after: bytes = b"", between: bytes = b"") -> bytes:
    """Return lines with their number wherever they have %d, to SIZE, between two texts."""
    places = line.count(b"%d")
    length = len(line % ((10_000,) * places)) + len(between)
    return before + between.join(line % ((number,) * places) for number in range(SIZE // length)) + after


def _kernels() -> bytes:
    return counted(b"op%d,%d.5,10.25,AI_CORE,0,N/A\n", _KERNELS)


def _trace() -> bytes:
    return counted(_EVENT, b"[", b"]", b",")


def _bandwidth(name: bytes) -> bytes:
    return b'"' + name + b'": {"Communication Time Info": {"Start Timestamp(us)": 1.5, "Elapse Time(ms)": 2.0}}'


def _communication() -> bytes:
    return counted(_bandwidth(b"hcom_allReduce__%d"), b'{"step1": {"p2p": {}, "collective": {', b"}}}", b", ")


def _links() -> bytes:
    link = b'"%d-1": {"Transport Type": "HCCS", "Transit Time(ms)": 1.0, "Transit Size(MB)": 2.0, "Bandwidth(GB/s)": 2.0}'
    return counted(link, b'{"step1": {"p2p": {}, "collective": {"hcom_allReduce__1": {', b"}}}}", b", ")


def json_values(before: bytes, after: bytes) -> dict[str, Make]:
    """Return the worst values where a value may stand between two texts."""
    return {
        "string": lambda: filled(b"x", before + b'"', b'"' + after),
        "open_string": lambda: filled(b"x", before + b'"'),
        "array": lambda: filled(b"1,", before + b"[", b"1]" + after),
        "short_strings": lambda: filled(b'"ab",', before + b"[", b"1]" + after),
        "wide_string": lambda: filled(b"x", before + b'"\xf0\x9f\x98\x80', b'"' + after),
        "empty_arrays": lambda: filled(b"[],", before + b"[", b"1]" + after),
        "nesting": lambda: before + b"[" * (SIZE // 2) + b"]" * (SIZE // 2) + after,
        "open_nesting": lambda: filled(b'{"a":', before),
        "key": lambda: filled(b"k", before + b'{"', b'": 1}' + after),
        "number": lambda: filled(b"1", before, after),
        "escapes": lambda: filled(b"\\", before + b'"', b'"' + after),
    }


_CSV: dict[str, Make] = {
    "open_quote": lambda: b'"' + _kernels(),
    "open_quote_in_a_row": lambda: counted(b"op%d,%d.5,10.25,AI_CORE,0,N/A\n", _KERNELS + b'"'),
    "line": lambda: filled(b"1,", _KERNELS),
    "name": lambda: filled(b"x", _KERNELS, b",1.5,10.25,AI_CORE,0,N/A\n"),
    "columns": lambda: b",".join(b"c%d" % at for at in range(100_000)) + b"\n" + filled(b"1," * 99_999 + b"1\n"),
    "quotes": lambda: filled(b'"', _KERNELS),
    "quotes_as_header": lambda: filled(b'"'),
    "line_ends": lambda: filled(b"\n", _KERNELS),
    "steps": lambda: counted(b"op,%d.5,1.25,AI_CORE,%d,\n", _KERNELS),
    "reopened_quotes": lambda: counted(b'op%d",1,2,AI,0,"A\n', _KERNELS),
    "short_lines_after_quotes": lambda: counted(b'op%d",1,2,AI,0,"A\n' + b"a\n" * 20, _KERNELS),
    "broad_rows": lambda: (
        _KERNELS[:-1]
        + b","
        + b",".join(b"c%d" % at for at in range(130_000))
        + b"\n"
        + filled(b"op,1,2,AI,0,N/A," + b"1," * 129_999 + b"1\n")
    ),
}
_RECORDS = b"Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB)\nPTA,99999999.5,1,2\n"
_KINETO = (
    b'{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "A100"}], "distributedInfo": {"rank": 0, "world_size": 2},'
    b'"traceEvents": ['
)
_OPERATOR = b'{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": %d, "dur": 5}'
_KERNEL = b'"ph": "X", "cat": "kernel", "pid": 0, "ts": %d, "dur": 5, "args": {"stream": 7, "device": 0'
_REDUCES = b', "Collective name": "allreduce", "Process Group Name": "%d", "dtype": "Float", "In msg nelems": 1'


def _kineto(event: bytes) -> bytes:
    return counted(event, _KINETO, b"]}", b",")


def _nested(*events: bytes) -> bytes:
    """Return events of which each lies within the one before."""
    lines, size = [], 0
    while size < SIZE:
        place = len(lines)
        event = events[place % len(events)] % place
        lines.append(event[:-1] + b', "pid": 1, "tid": 1, "ts": %d, "dur": %d}' % (place, 10_000_000 - 2 * place))
        size += len(lines[-1]) + 1
    return _KINETO + b",".join(lines) + b"]}"


_METRICS = b"step,loss\n"
FORMATS: dict[str, Format] = {
    "kernels": Format(f"{ASCEND}/kernel_details.csv", _kernels, _CSV),
    "memory": Format(
        f"{ASCEND}/memory_record.csv",
        lambda: counted(b"PTA,%d.5,1.25,2.5\n", _RECORDS),
        {"components": lambda: counted(b"c%d,%d.5,1,2\n", _RECORDS)},
    ),
    "trace": Format(
        f"{ASCEND}/trace_view.json",
        _trace,
        json_values(b'[{"name": "a", "ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 5, "args": {"a": ', b"}}]"),
    ),
    "kineto": Format(
        "host_1.1770000000000000000.pt.trace.json",
        lambda: _kineto(_OPERATOR),
        {
            "nested": lambda: _nested(b'{"ph": "X", "cat": "cpu_op", "name": "a%d"}'),
            "functions": lambda: _nested(
                b'{"ph": "X", "cat": "python_function", "name": "a_file_of_the_model.py(1): function_%d"}',
                b'{"ph": "X", "cat": "cpu_op", "name": "a%d"}',
            ),
            "collectives": lambda: _kineto(b'{"name": "ncclDevKernel_AllReduce", "tid": 7, ' + _KERNEL + _REDUCES + b"}}"),
            "threads": lambda: _kineto(_OPERATOR.replace(b'"tid": 1', b'"tid": %d')),
            "streams": lambda: _kineto(b'{"name": "a%d", "tid": %d, ' + _KERNEL + b"}}"),
            "counters": lambda: _kineto(b'{"ph": "C", "name": "c%d", "pid": 1, "ts": %d, "args": {"v": 1}}'),
        },
    ),
    "communication": Format(f"{ASCEND}/communication.json", _communication, json_values(b'{"step1": {"collective": ', b"}}")),
    "matrix": Format(f"{ASCEND}/communication_matrix.json", _links, json_values(b'{"step1": {"collective": ', b"}}")),
    "metrics_csv": Format(
        "metrics.csv",
        lambda: counted(b"%d,%d.5\n", _METRICS),
        {
            "open_quote": lambda: counted(b"%d,%d.5\n", _METRICS + b'"'),
            "line": lambda: filled(b"1,", _METRICS),
            "columns": lambda: (
                b"step," + b",".join(b"c%d" % at for at in range(100_000)) + b"\n" + filled(b"1," * 100_000 + b"1\n")
            ),
            "quotes": lambda: filled(b'"', _METRICS),
            "header": lambda: filled(b"x", b"step,", b"\n1,1\n"),
            "tiny_lines": lambda: filled(b"1\n", _METRICS),
            "uneven_lines": lambda: filled(b"1,2\n1\n", _METRICS),
            "quoted_cells": lambda: filled(b'"1",2\n', _METRICS),
            "some_quoted_cells": lambda: filled(b'1,2\n"1",2\n', _METRICS),
            "reopened_quotes": lambda: counted(b'%d",%d,"5\n', _METRICS),
            "short_lines_after_quotes": lambda: filled(b'"\n' + b"1\n" * 99, _METRICS),
            "zeros_in_cells": lambda: filled(b"1\0,1\n", _METRICS),
        },
    ),
    "metrics_jsonl": Format(
        "metrics.jsonl",
        lambda: counted(b'{"step": %d, "loss": %d.5}\n'),
        json_values(b'{"step": 1, "loss": ', b"}\n")
        | {
            "tiny_lines": lambda: filled(b"1\n"),
            "tiny_records": lambda: filled(b"{}\n"),
            "names": lambda: counted(b'{"a%d":1}\n'),
        },
    ),
    "journal": Format(
        "journal.log",
        lambda: counted(b'{"op_code": 8, "worker_id": "1", "trial_id": 0, "user_attr": {"a": %d}}\n', _STUDY),
        json_values(_STUDY + b'{"op_code": 2, "worker_id": "1", "study_id": 0, "user_attr": {"a": ', b"}}\n")
        | {
            "begins": lambda: filled(b'{"op_code":', _STUDY, b"\n"),
            "tiny_lines": lambda: filled(b"1\n", _STUDY),
            "tiny_records": lambda: filled(b'{"op_code":10,"worker_id":0}\n', _STUDY),
        },
    ),
}
