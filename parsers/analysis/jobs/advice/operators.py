"""Advice about operators of the device."""

from __future__ import annotations

import math

from parsers.analysis.jobs.advice.model import MOST_ROWS, Advice, Frames, Unchecked, frame_of, needed

FEEDING = ("InitData", "GetNext", "EndOfSequence")
"""Operators that feed data and always run on the AI CPU."""
NOT_COMPUTING = ("HOST_CPU", "COMMUNICATION", "HCCL", "COPY", "")
"""Cores whose time is no computing of the device."""
_WITHOUT = ("GPU", "GPU_KERNEL")
"""Cores of devices that have no AI CPU."""
_DEVICE_FILES = ("kernel_details", "aicore_detail", "database")


def ai_cpu(frames: Frames, limit: float) -> Advice | None:
    """Operators on the AI CPU take more than this fraction of all device time; evidence are the longest ones."""
    operators = needed(frames, "operators", *_DEVICE_FILES)
    operators = operators[~operators["type"].astype(str).isin(FEEDING)]
    core = operators["core"].astype(str)
    device, slow = operators[~core.isin(NOT_COMPUTING)], operators[core == "AI_CPU"]
    # Legacy files have only the time of one execution.
    whole, spent = (float(some["total_ns"].fillna(some["mean_ns"]).sum()) for some in (device, slow))
    if not whole > 0 or device["core"].isin(_WITHOUT).all():
        raise Unchecked(*_DEVICE_FILES)
    if not spent / whole > limit:
        if slow.empty and operators["file"].astype(str).str.contains("aicore_intermediate").any():
            raise Unchecked("aicpu")  # which has these operators alone
        return None
    shown = slow.sort_values("total_ns", ascending=False)[["name", "type", "count", "total_ns", "mean_ns"]].head(MOST_ROWS)
    steps = frame_of(frames, "steps")
    told = steps["step"][steps["kind"] == "step"].nunique() if steps is not None else 0
    new = operators["file"].astype(str).str.contains("kernel_details|operator_details|op_statistic|\\.db")
    cost = spent / told if told and new.any() else (math.nan if new.any() else spent)
    types = tuple(dict.fromkeys(shown["type"].astype(str).head(3)))
    return Advice("ai_cpu", spent / whole, limit, cost, shown, "operators", types)
