"""Calls of the runtime and the driver of a Kineto trace, by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from parsers.deferred import pandas as pd
from parsers.profile_frames import API
from parsers.profiler.frame_parts import frame_of
from parsers.profiler.kineto.events import CALL
from parsers.profiler.kineto.recording import KinetoRecording
from parsers.profiler.kineto.texts import coded


def api(recording: KinetoRecording, file: str) -> pd.DataFrame:
    """Return API: a row for each category and function, the longest first; calls within calls count for both."""
    host, trace = recording.host, recording.trace
    rows = np.flatnonzero(host.class_ == CALL)
    category = trace.slices.category[host.slice[rows]].astype(np.int64)
    key = host.name[rows].astype(np.int64) * (len(trace.categories) + 1) + category
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    duration = host.duration[rows]
    times = pd.Series(duration.astype(np.float64)).groupby(group)
    columns: dict[str, Any] = {
        "level": coded(category[first], trace.categories, _level), "name": coded(host.name[rows][first], trace.names),
        "count": times.count().to_numpy(np.float64), "total_ns": times.sum().to_numpy(), "mean_ns": times.mean().to_numpy(),
        "min_ns": times.min().to_numpy(), "max_ns": times.max().to_numpy(), "variance_ns2": times.var(ddof=0).to_numpy(),
    }  # fmt: skip
    frame = frame_of(API, len(first), columns, file)
    return frame.sort_values("total_ns", ascending=False, kind="stable", ignore_index=True)


def _level(category: str) -> str:
    return "driver" if category.endswith("_driver") else "runtime"
