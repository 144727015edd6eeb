"""Advice about memory of the device: close to its capacity, or growing from step to step."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from parsers.analysis.jobs.advice.model import MOST_ROWS, Advice, Frames, Told, Unchecked, frame_of
from parsers.analysis.jobs.held_memory import held_bytes
from parsers.analysis.profiles.memory.capacity import HOST_COMPONENT, memory_of_device
from parsers.analysis.profiles.memory.growth import MemoryGrowth, growth, step_spans
from parsers.analysis.profiles.memory.leaks import CRITICAL, FEWEST
from parsers.analysis.profiles.memory.recording import recording
from parsers.deferred import pandas as pd
from parsers.model import Ints
from parsers.profile_frames import MEMORY, OPERATOR_MEMORY

_FILES = ("memory_record", "database")
POOL_FREE = 0.07
"""Part of the device that a pool has free at its peak, from which on it is not judged whether the device is nearly full: pools
that are reserved when training begins have as much, and so have pools in pieces."""
_STEP_FILES = ("trace_view", "kernel_details", "database")


def close_to_capacity(frames: Frames, limit: float, *, capacity: int = 0) -> Advice | None:
    """At its peak a rank of the job holds more than this fraction of the memory of its device.

    The peak is that of the process of a rank, or of its pools where that is not recorded (`held_bytes`); of a profile without
    ranks, or of a static plan, that of its component. A rank whose pool has much free at its peak is not judged (`POOL_FREE`).
    capacity in bytes counts where no file has it; 0 for unknown.
    """
    plan, memory = frame_of(frames, "static_memory"), frame_of(frames, "memory")
    ranks = _of_ranks(frame_of(frames, "ranks"))
    held = _held(memory) if memory is not None else None
    if ranks.empty and not (_of_plan(plan, "peak") if held is None else len(held)):
        raise Unchecked(*_FILES, "memory_summary")
    of_ranks = int(ranks["capacity_bytes"].max() if len(ranks) else 0)
    whole = _of_plan(plan, "capacity") or of_ranks or capacity or memory_of_device(frame_of(frames, "hardware"))
    if not whole > 0:
        raise Unchecked("memory_summary", reason="no_capacity")
    if len(ranks):
        return _fullest(ranks.assign(capacity_bytes=ranks["capacity_bytes"].where(ranks["capacity_bytes"] > 0, whole)), limit)
    rows = _planned(plan) if held is None else _peaks(held)
    peak = int(rows["peak_bytes"].max())
    if not peak / whole > limit:
        return None
    shown = rows.sort_values("peak_bytes", ascending=False, kind="stable").assign(capacity_bytes=whole).head(MOST_ROWS)
    left: Told = {
        "component": str(shown["component"].iloc[0]), "peak_bytes": float(peak), "capacity_bytes": float(whole),
        "left_bytes": float(max(whole - peak, 0)),
    }  # fmt: skip
    return Advice("memory", peak / whole, limit, math.nan, shown, "memory", told=left)


def _of_ranks(ranks: pd.DataFrame | None) -> pd.DataFrame:
    """Return the highest memory of each rank of the job that is known, with the memory of its device, 0 for unknown."""
    names = ["rank", "peak_bytes", "allocated_bytes", "reserved_bytes", "capacity_bytes"]
    if ranks is None:
        return pd.DataFrame(columns=names)
    held = held_bytes(ranks)
    peaks = {"allocated_bytes": ranks["peak_allocated_bytes"], "reserved_bytes": ranks["peak_reserved_bytes"]}
    rows = ranks.assign(peak_bytes=held, **peaks)[held >= 0]
    return rows.assign(capacity_bytes=np.maximum(rows["capacity_bytes"].to_numpy(), 0))[names]


def _fullest(ranks: pd.DataFrame, limit: float) -> Advice | None:
    share = ranks["peak_bytes"] / ranks["capacity_bytes"]
    unused = np.where(ranks["reserved_bytes"] > 0, ranks["reserved_bytes"] - ranks["allocated_bytes"], 0)
    roomy = (ranks["allocated_bytes"] >= 0) & (unused > POOL_FREE * ranks["capacity_bytes"])
    above = ranks.assign(memory_share=share)[(share > limit).to_numpy() & ~roomy.to_numpy()]
    if above.empty:
        if (share > limit).any():
            raise Unchecked(reason="pool_free")
        return None
    shown = above.sort_values("memory_share", ascending=False, kind="stable").head(MOST_ROWS)
    first = shown.to_dict("records")[0]
    left = max(first["capacity_bytes"] - first["peak_bytes"], 0)
    told: Told = {
        "rank": str(first["rank"]), "peak_bytes": float(first["peak_bytes"]), "capacity_bytes": float(first["capacity_bytes"]),
        "left_bytes": float(left), "ranks": str(len(above)), "of": str(len(ranks)),
    }  # fmt: skip
    value = float(first["memory_share"])
    return Advice("memory", value, limit, math.nan, shown, "memory", variant="ranks", told=told)


def _held(memory: pd.DataFrame) -> pd.DataFrame:
    """Return the moments at which it is known what a component of the device holds, reserved where that is known."""
    held = np.maximum(memory["reserved_bytes"].to_numpy(), memory["allocated_bytes"].to_numpy())
    rows: pd.DataFrame = memory.assign(peak_bytes=held)[(held >= 0) & (memory["component"] != HOST_COMPONENT).to_numpy(bool)]
    return rows


def _peaks(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the highest memory that each component holds, of the moments that are known."""
    first = rows.groupby([rows["component"].astype("str"), rows["device"]], sort=False)["peak_bytes"].idxmax()
    return rows.loc[first, ["component", "peak_bytes", "allocated_bytes"]].astype({"component": "str"})


def _planned(plan: pd.DataFrame | None) -> pd.DataFrame:
    peak = _of_plan(plan, "peak")
    rows = [("plan", peak, -1)] if peak else []
    return pd.DataFrame(rows, columns=["component", "peak_bytes", "allocated_bytes"])


def _of_plan(plan: pd.DataFrame | None, kind: str) -> int:
    """Return the greatest size of a kind of rows of the static plan; 0 for none."""
    if plan is None:
        return 0
    sizes = plan["size_bytes"][plan["kind"].astype("str") == kind]
    return max(int(sizes.max()), 0) if len(sizes) else 0


def leaking(frames: Frames, limit: float) -> Advice | None:
    """The least memory of a step, or of a session, grows by more than this fraction.

    Component and rule are those of the page Device memory (`parsers.analysis.profiles.memory.growth`).
    """
    memory, blocks = frame_of(frames, "memory"), frame_of(frames, "operator_memory")
    if memory is None and blocks is None:
        raise Unchecked(*_FILES)
    spans, sessions = step_spans(frames), frame_of(frames, "memory_sessions")  # all that is read comes before what is computed
    found = recording(MEMORY.empty() if memory is None else memory, OPERATOR_MEMORY.empty() if blocks is None else blocks)
    if found is None:
        raise Unchecked(*_FILES)
    minima = None if sessions is None else sessions["least_bytes"].to_numpy(np.int64)
    said = growth(found, spans["start_ns"].to_numpy(np.int64), spans["end_ns"].to_numpy(np.int64), minima)
    if said.leak.verdict == "cannot tell":
        if not len(spans):
            raise Unchecked(*_STEP_FILES)
        raise Unchecked(reason="few_steps" if len(spans) < FEWEST else "no_step_times")
    if not (said.leak.z > CRITICAL and said.leak.share > limit):
        return None
    if said.over == "steps" or minima is None:
        return _leak(said, spans["step"].tolist(), said.least, found.component, limit)
    return _leak(said, [str(number) for number in range(1, len(minima) + 1)], minima, found.component, limit)


def _leak(said: MemoryGrowth, names: Sequence[str], least: Ints, component: str, limit: float) -> Advice:
    known = np.flatnonzero(least >= 0)
    places = known[np.unique(np.linspace(0, len(known) - 1, min(MOST_ROWS, len(known))).astype(np.int64))]
    shown = pd.DataFrame({"step": [names[place] for place in places], "component": component, "least_bytes": least[places]})
    told: Told = {
        "component": component, "slope_bytes": said.leak.slope, "low_bytes": said.leak.low, "high_bytes": said.leak.high,
        "growth_bytes": said.leak.growth, "growth_share": said.leak.share, "steps": str(said.leak.steps),
    }  # fmt: skip
    variant = "" if said.over == "steps" else "sessions"
    return Advice("leak", said.leak.share, limit, math.nan, shown, "memory", variant=variant, told=told)
