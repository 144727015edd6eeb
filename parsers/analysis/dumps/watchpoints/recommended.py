"""The watchpoints that MindInsight recommends for any training."""

from __future__ import annotations

import math

from parsers.analysis.dumps.watchpoints.conditions import Watchpoint


def recommended() -> tuple[Watchpoint, ...]:
    """Return them: weights that begin as zeros or change by more than all of themselves, gradients that vanish, overflows,
    tensors that are all zero, and activations that are saturated or dead.

    Whether weights stay the same is not among them, as frozen weights do.
    """
    tanh, sigmoid = math.tanh(8.8), 1.0 / (1.0 + math.exp(-16.2))
    return (
        Watchpoint("weight_initialization", {"zero_percentage_ge": 100.0}),
        Watchpoint("weight_change_too_large", {"abs_mean_update_ratio_gt": 1.0}),
        Watchpoint("gradient_vanishing", {"abs_mean_lt": 1e-9}),
        Watchpoint("operator_overflow"),
        Watchpoint("tensor_overflow"),
        Watchpoint("tensor_all_zero", {"zero_percentage_ge": 100.0}),
        _range("(?i)tanh", "range_percentage_lt", 0.1, -tanh, tanh),
        _range("(?i)sigmoid", "range_percentage_lt", 0.1, 1.0 - sigmoid, sigmoid),
        _range("(?i)relu", "range_percentage_gt", 99.9, -1.0, 0.0),
    )


def _range(kind: str, limit: str, percent: float, start: float, end: float) -> Watchpoint:
    limits = {limit: percent, "range_start_inclusive": start, "range_end_inclusive": end}
    return Watchpoint("activation_range", limits, pattern=kind)
