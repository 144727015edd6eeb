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
MOST_TRANSPORTS = 8
"""Transports that are shown by name; a file may have any number of names."""


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
    without bytes are left out, and numbers beyond int64 are its highest. rows: those that count.
    """
    transport, each, count, time_ns = _columns(packets, rows)
    power = np.minimum(np.frexp(each.astype(np.float64))[1].astype(np.int64) - 1, 62)
    place, keys = pd.factorize(transport.astype(np.int64) * 64 + power)
    # Of as many transports as a file names, only those with packets take memory.
    bytes_of = each.astype(np.float64) * count
    packed, size, time = (np.bincount(place, one, minlength=len(keys)) for one in (count.astype(np.float64), bytes_of, time_ns))
    low = np.left_shift(np.int64(1), keys % 64)
    bandwidth = np.divide(size * 1e9, time, out=np.full(len(keys), np.nan), where=time > 0)
    found = pd.DataFrame({
        "transport": packets["transport"].cat.categories.to_numpy(object)[keys // 64], "from_bytes": low,
        "to_bytes": _whole(2.0 * low), "count": _whole(packed), "size_bytes": _whole(size),
        "time_ns": time, "bandwidth": bandwidth,
    })  # fmt: skip
    return found.sort_values(["transport", "from_bytes"], kind="stable", ignore_index=True)


def folded(found: pd.DataFrame, other: str, most: int = MOST_TRANSPORTS) -> pd.DataFrame:
    """Return what `histogram` returns with the transports that take most time, at most `most`, and the rest under one name."""
    times = found.groupby("transport", sort=True)["time_ns"].sum().sort_values(ascending=False, kind="stable")
    rest = found["transport"].isin(times.index[most:])
    if not rest.any():
        return found
    sums = found[rest].astype({"count": "float64", "size_bytes": "float64"})
    sums = sums.groupby(["from_bytes", "to_bytes"])[["count", "size_bytes", "time_ns"]].sum().reset_index()
    sums["bandwidth"] = (sums["size_bytes"] * 1e9 / sums["time_ns"]).where(sums["time_ns"] > 0)
    whole = {name: _whole(sums[name].to_numpy()) for name in ("count", "size_bytes")}
    sums = sums.assign(transport=other, **whole)
    return pd.concat([found[~rest], sums[found.columns.tolist()]], ignore_index=True)


def _whole(values: NDArray[Any]) -> Ints:
    """Return whole numbers, those beyond int64 as its highest."""
    found: Ints = np.minimum(values, np.nextafter(2.0**63, 0.0)).astype(np.int64)
    found[values >= 2.0**63] = np.iinfo(np.int64).max
    return found


def _columns(packets: pd.DataFrame, rows: Ints | None) -> tuple[NDArray[Any], Ints, Ints, Floats]:
    """Return code of the transport, bytes of one, count and ns of the rows that have packets with bytes."""
    chosen = np.arange(len(packets)) if rows is None else rows
    size, count, code = packets["size_bytes"].to_numpy(), packets["count"].to_numpy(), packets["transport"].cat.codes.to_numpy()
    chosen = chosen[(size[chosen] > 0) & (count[chosen] > 0) & (code[chosen] >= 0)]
    return code[chosen], size[chosen], count[chosen], np.nan_to_num(packets["time_ns"].to_numpy()[chosen])


def small_packets(packets: pd.DataFrame, rows: Ints | None = None, limits: Mapping[str, int] = SMALL) -> list[Small]:
    """Return how many packets of each transport are small, the transport with most time first (schema PACKETS)."""
    transport, size, count, time = _columns(packets, rows)
    names = packets["transport"].cat.categories.tolist()
    limit = np.array([limits.get(name, 0) for name in names], np.int64)
    small = size < limit[transport]
    sums = [np.bincount(transport, one, minlength=len(names)).tolist() for one in (count, count * small, time, time * small)]
    used = np.unique(transport).tolist()
    found = [
        Small(names[code], int(sums[0][code]), int(sums[1][code]), sums[2][code], sums[3][code], int(limit[code]))
        for code in used
    ]
    return sorted(found, key=lambda one: -one.time_ns)
