"""Step traces as profilers write them, and as frames, from times in ns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from parsers import REDUCES, STEPS
from parsers.profiler.frame_parts import categorical

LEGACY = ("interval_ns", "forward_backward_ns", "tail_ns")
NEW = ("preparing_ns", "computing_ns", "overlapped_ns", "exposed_ns", "free_ns")


def frame(rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    """A frame of STEPS; what a row does not name is unknown."""
    made = {}
    for column in STEPS.columns:
        if column.dtype == "category":
            text = {"kind": "step", "file": "x.csv"}[column.name]
            made[column.name] = categorical([str(row.get(column.name, text)) for row in rows])
        else:
            missing = -1 if column.dtype == "int64" else math.nan
            made[column.name] = np.array([row.get(column.name, missing) for row in rows], column.dtype)
    return STEPS.check(pd.DataFrame(made))


def legacy(step: int, interval: float, forward: float, tail: float, **more: object) -> dict[str, object]:
    """A row of a legacy trace whose parts add up."""
    parts = dict(zip(LEGACY, (interval, forward, tail), strict=True))
    return {"step": step, **parts, "total_ns": interval + forward + tail} | more


def reduces(rows: Sequence[tuple[int, int, str, int, int]]) -> pd.DataFrame:
    """A frame of REDUCES of (step, stream, name, start, duration)."""
    columns = {
        "step": np.array([row[0] for row in rows], np.int64), "stream": np.array([row[1] for row in rows], np.int64),
        "number": np.arange(len(rows), dtype=np.int64), "name": categorical([row[2] for row in rows]),
        "start_ns": np.array([row[3] for row in rows], np.int64), "duration_ns": np.array([row[4] for row in rows], np.int64),
        "file": categorical(["x.csv"] * len(rows)),
    }  # fmt: skip
    return REDUCES.check(pd.DataFrame(columns))


def step_trace_raw(steps: Sequence[tuple[int, int, int]], first: int = 1) -> str:
    """step_trace_raw_<rank>_detail_time.csv of (interval, forward and backward, tail) in counts of 10 ns, with the average of
    all but the first step behind them, and an AllReduce on stream 11 in each tail."""
    name = "stream_11_0_AllReduce-op9"
    head = "step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail"
    lines = [f"{head},{name},{name}_start_point,{name}_end_point"]
    start = 45_000_000_000
    for number, (interval, forward, tail) in enumerate(steps, start=first):
        fp, bp, end = start + interval, start + interval + forward, start + interval + forward + tail
        reduce = f"{tail // 2},{bp},{bp + tail // 2}"
        lines.append(f"{number},{start},{end},{end - start},{fp},{bp},{interval},{forward},{tail},{reduce}")
        start = end
    if steps:
        counted = steps[1:] or steps
        mean = [round(sum(row[part] for row in counted) / len(counted)) for part in range(3)]
        lines.append(f"-,0,0,{sum(mean)},0,0,{mean[0]},{mean[1]},{mean[2]},0,0,0")
    return "\n".join(lines) + "\n"


def step_trace_time(steps: Sequence[tuple[int, float, float, float, float, float]]) -> str:
    """step_trace_time.csv of (step, preparing, computing, overlapped, exposed, free) in us."""
    head = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble"
    lines = [f"{head},Communication(Not Overlapped and Exclude Receive),Preparing"]
    for step, preparing, computing, overlapped, exposed, free in steps:
        lines.append(f"{step},{computing},{exposed},{overlapped},{overlapped + exposed},{free},0,0,{exposed},{preparing}")
    return "\n".join(lines) + "\n"
