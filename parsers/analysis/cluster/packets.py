"""Packets of communication operations by size: many small ones waste the bandwidth of a link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from parsers.deferred import pandas as pd
from parsers.model import Ints

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
    part = packets if rows is None else packets.iloc[rows]
    part = part[(part["size_bytes"] > 0) & (part["count"] > 0)]
    each, count = part["size_bytes"].to_numpy(), part["count"].to_numpy()
    power = np.frexp(each.astype(np.float64))[1].astype(np.int64) - 1
    transports = part["transport"].cat
    keys, code = np.unique(transports.codes.to_numpy().astype(np.int64) * 64 + power, return_inverse=True)
    packed, size, time = (np.bincount(code, one, len(keys)) for one in (count, each * count, part["time_ns"].to_numpy()))
    low = np.left_shift(np.int64(1), keys % 64)
    bandwidth = np.divide(size * 1e9, time, out=np.full(len(keys), np.nan), where=time > 0)
    names = np.append(transports.categories.to_numpy(object), "")[keys // 64]
    found = pd.DataFrame({
        "transport": names, "from_bytes": low, "to_bytes": 2 * low, "count": packed.astype(np.int64),
        "size_bytes": size.astype(np.int64), "time_ns": time, "bandwidth": bandwidth,
    })  # fmt: skip
    return found.sort_values(["transport", "from_bytes"], kind="stable", ignore_index=True)


def small_packets(packets: pd.DataFrame, rows: Ints | None = None, limits: Mapping[str, int] = SMALL) -> list[Small]:
    """Return how many packets of each transport are small, the transport with most time first (schema PACKETS)."""
    part = packets if rows is None else packets.iloc[rows]
    part = part[(part["size_bytes"] > 0) & (part["count"] > 0)]
    found = []
    for transport, own in part.groupby("transport", observed=True, sort=True):
        limit = limits.get(str(transport), 0)
        small = own[own["size_bytes"] < limit]
        counts = int(own["count"].sum()), int(small["count"].sum())
        found.append(Small(str(transport), *counts, float(own["time_ns"].sum()), float(small["time_ns"].sum()), limit))
    return sorted(found, key=lambda one: -one.time_ns)
