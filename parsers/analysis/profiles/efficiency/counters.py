"""The counters of a device (PMU) in the frame `kernels`: which there are and what they say.

Counters are columns `pmu/<name>` under the names that CANN's op_summary gives them. A run collects one set of them: with
ArithmeticUtilization operations (aic_cube_fops, aiv_vector_fops), with PipeUtilization the shares of cycles in which pipes were
busy (aic_mac_ratio, aic_mte2_ratio), with MemoryAccess the data moved to and from main memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from parsers.deferred import pandas as pd

PREFIX = "pmu/"
_PREFIXES = ("aic_", "aiv_", "")
"""Of cores with a cube unit, of vector cores, and of devices that have only one kind of cores."""


def _on_cores(*names: str) -> tuple[str, ...]:
    return tuple(prefix + name for prefix in _PREFIXES for name in names)


OPERATIONS = _on_cores("cube_fops", "vector_fops")
"""Counters of operations."""
COMPUTE = _on_cores(
    "mac_ratio", "vec_ratio", "mac_fp16_ratio", "mac_int8_ratio", "vec_fp32_ratio", "vec_fp16_ratio", "vec_int32_ratio",
    "vec_misc_ratio",
)  # fmt: skip
"""Shares of cycles in which a unit computed."""
MEMORY = _on_cores("mte2_ratio", "mte3_ratio", "fixpipe_ratio")
"""Shares of cycles in which main memory was read (mte2) or written (mte3, fixpipe)."""
TRAFFIC_KB = _on_cores("read_main_memory_datas(KB)", "write_main_memory_datas(KB)")
"""Data read from and written to main memory, in KB of 1,000 bytes."""
_MEANS = (("_ratio", 1.0), ("_rate", 1.0), ("(%)", 100.0))
_SUMS = ("_fops", "(KB)")


@dataclass(frozen=True, slots=True)
class HardwareCounters:
    """Which counters a profile has: names of those of operations, of computing, of memory, and of data moved."""

    operations: tuple[str, ...]
    compute: tuple[str, ...]
    memory: tuple[str, ...]
    traffic: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.operations or self.compute or self.memory or self.traffic)


def counters_of(kernels: pd.DataFrame) -> HardwareCounters:
    """Return the counters in a frame `kernels`; a column that is text has none."""
    there = set(numbers(kernels))

    def found(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name in there)

    return HardwareCounters(found(OPERATIONS), found(COMPUTE), found(MEMORY), found(TRAFFIC_KB))


def numbers(kernels: pd.DataFrame) -> list[str]:
    """Return the names of all counters that are numbers, in the order of the file."""
    names = (str(name) for name in kernels.columns if str(name).startswith(PREFIX))
    return [name.removeprefix(PREFIX) for name in names if kernels[name].dtype == np.float64]


def most_of(name: str) -> float:
    """Return what a share or percentage is at most (1 or 100); NaN for a counter that is none."""
    return next((most for end, most in _MEANS if name.endswith(end)), np.nan)


def adds_up(name: str) -> bool:
    """Return whether the sum of a counter over kernels means something: operations and data moved."""
    return name.endswith(_SUMS)
