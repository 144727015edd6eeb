"""How much memory a device has, as files tell."""

from __future__ import annotations

from parsers.deferred import pandas as pd

HOST_COMPONENT = "CPU"
"""The component of memory of the host, which torch records beside that of devices."""


def memory_of_device(hardware: pd.DataFrame | None) -> int:
    """Return the memory of the device in bytes (schema HARDWARE), of several the least; 0 for unknown."""
    known = [] if hardware is None else [size for size in hardware["memory_bytes"].tolist() if size > 0]
    return min(known, default=0)
