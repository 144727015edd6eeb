"""Packets of communication operations by size: many small ones waste the bandwidth of a link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints

SMALL: Mapping[str, int] = {"RDMA": 1_000_000, "HCCS": 16_000_000, "PCIE": 16_000_000, "SIO": 16_000_000, "SDMA": 16_000_000}
"""Bytes below which a packet is small, by transport."""
SHARE = 0.2
"""Share of small packets from which there are many."""


@dataclass(frozen=True, slots=True)
class Small:
    """The packets of a transport: how many, how many are small, and their ns. limit is the size in bytes below which."""

    transport: str
    count: int
    small: int
    time_ns: float
    small_ns: float
    limit: int

    @property
    def share(self) -> float:
        """Small packets / packets."""
        return self.small / self.count if self.count else 0.0


def histogram(packets: pd.DataFrame, rows: Ints | None = None) -> pd.DataFrame:
    """Return transport, from_bytes, to_bytes, count, size_bytes, time_ns and bandwidth (B/s) by powers of two of the size.

    A row counts the packets of one transport from from_bytes up to, but not including, to_bytes (schema PACKETS). Packets
    without bytes are left out. rows: those that count.
    """
    transport, each, count, time_ns = _columns(packets, rows)
    power = np.frexp(each.astype(np.float64))[1].astype(np.int64) - 1
    key = transport.astype(np.int64) * 64 + power
    packed, size, time = (np.bincount(key, one) for one in (count, each * count, time_ns))
    keys = np.flatnonzero(packed)
    packed, size, time = packed[keys], size[keys], time[keys]
    low = np.left_shift(np.int64(1), keys % 64)
    bandwidth = np.divide(size * 1e9, time, out=np.full(len(keys), np.nan), where=time > 0)
    found = pd.DataFrame({
        "transport": packets["transport"].cat.categories.to_numpy(object)[keys // 64], "from_bytes": low, "to_bytes": 2 * low,
        "count": packed.astype(np.int64), "size_bytes": size.astype(np.int64), "time_ns": time, "bandwidth": bandwidth,
    })  # fmt: skip
    return found.sort_values(["transport", "from_bytes"], kind="stable", ignore_index=True)


def _columns(packets: pd.DataFrame, rows: Ints | None) -> tuple[NDArray[Any], Ints, Ints, Floats]:
    """Return code of the transport, bytes of one, count and ns of the rows that have packets with bytes."""
    chosen = np.arange(len(packets)) if rows is None else rows
    size, count, code = packets["size_bytes"].to_numpy(), packets["count"].to_numpy(), packets["transport"].cat.codes.to_numpy()
    chosen = chosen[(size[chosen] > 0) & (count[chosen] > 0) & (code[chosen] >= 0)]
    return code[chosen], size[chosen], count[chosen], np.nan_to_num(packets["time_ns"].to_numpy()[chosen])


def small_packets(packets: pd.DataFrame, rows: Ints | None = None, limits: Mapping[str, int] = SMALL) -> list[Small]:
    """Return how many packets of each transport are small, the transport with most time first (schema PACKETS)."""
    transport, size, count, time = _columns(packets, rows)
    found = []
    for code, name in enumerate(packets["transport"].cat.categories.tolist()):
        own = transport == code
        if own.any():
            limit = limits.get(name, 0)
            small = own & (size < limit)
            sums = int(count[own].sum()), int(count[small].sum()), float(time[own].sum()), float(time[small].sum())
            found.append(Small(name, *sums, limit))
    return sorted(found, key=lambda one: -one.time_ns)
