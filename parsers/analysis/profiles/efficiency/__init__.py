"""How far a training uses its hardware: peaks of devices, use of units by kernels, roofline.

Three figures are kept apart: operations per second that counters of the device measured, their share of the device's peak, and
MFU, which divides the operations that a model needs (from the user) by what the devices could have done in the time of a step.
"""

from __future__ import annotations

from parsers.analysis.profiles.efficiency.counters import HardwareCounters, counters_of
from parsers.analysis.profiles.efficiency.kernels import BOUND_FROM, EFFICIENCY, OUTLIERS, DeviceUse, efficiency, slow_kernels
from parsers.analysis.profiles.efficiency.measured import (
    Achieved,
    KernelUse,
    above_peak,
    achieved,
    bound_times,
    measured,
    of_peak,
)
from parsers.analysis.profiles.efficiency.peaks import (
    KNOWN,
    DevicePeak,
    KnownDevice,
    device_peak,
    model_flops_share,
    transformer_flops,
)
from parsers.analysis.profiles.efficiency.roofline import ROOFLINE, JoinedRoofline, roofline

__all__ = [
    "BOUND_FROM",
    "EFFICIENCY",
    "KNOWN",
    "OUTLIERS",
    "ROOFLINE",
    "Achieved",
    "DevicePeak",
    "DeviceUse",
    "HardwareCounters",
    "JoinedRoofline",
    "KernelUse",
    "KnownDevice",
    "above_peak",
    "achieved",
    "bound_times",
    "counters_of",
    "device_peak",
    "efficiency",
    "measured",
    "model_flops_share",
    "of_peak",
    "roofline",
    "slow_kernels",
    "transformer_flops",
]  # fmt: skip
