"""Communication beside matrix multiplication: both want the memory's bandwidth, and the transfer may get less of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.model import Ints

REFERENCE = 18e9
"""Usual bandwidth of SDMA in B/s."""
SHARE = 0.8
"""Share of it below which a transfer beside matrix multiplication is held up."""
MULTIPLIES = "matmul"
CHIP = ("HCCS", "SDMA", "PCIE", "SIO")
"""Transports of SDMA."""


@dataclass(frozen=True, slots=True)
class Contention:
    """The operations of one rank beside matrix multiplications.

    operations: step, group, name, start_ns, elapse_ns, beside_ns (of it beside a multiplication), size_bytes, time_ns,
    bandwidth (B/s), held ("yes" below the limit and beside a multiplication). beside and apart are the bandwidth in B/s of all
    operations that any multiplication ran beside, and of the others; NaN for none. limit is the bandwidth below which an
    operation is held up. multiplications is their number.
    """

    operations: pd.DataFrame
    beside: float
    apart: float
    limit: float
    multiplications: int

    @property
    def held(self) -> int:
        """How many operations were held up."""
        return int((self.operations["held"] == "yes").sum())


def contention(
    collectives: pd.DataFrame, sent: pd.DataFrame, kernels: pd.DataFrame, *, reference: float = REFERENCE, share: float = SHARE
) -> Contention:
    """Return which operations of a rank ran beside matrix multiplications, and their bandwidth.

    Takes rows of one rank: schema COLLECTIVES, what `traffic.sent_of` returns, and schema KERNELS. Operations without a start
    or without bytes on the chip's own transports are left out: nothing can be said of them. Both clocks are those of the rank.
    """
    starts, ends = multiplications(kernels)
    carried = sent[sent["transport"].isin(CHIP)]
    keys = ["step", "group", "name"]
    texts = {name: carried[name].astype("str") for name in ("group", "name")}
    sums = carried.assign(**texts).groupby(keys, sort=False)[["size_bytes", "time_ns"]].sum().reset_index()
    timed = collectives[(collectives["start_ns"] >= 0) & (collectives["elapse_ns"] > 0.0)]
    own = timed.assign(**{name: timed[name].astype("str") for name in ("group", "name")})
    found = own[[*keys, "start_ns", "elapse_ns"]].merge(sums, on=keys)
    found = found[(found["size_bytes"] > 0) & (found["time_ns"] > 0.0)].reset_index(drop=True)
    begin = found["start_ns"].to_numpy(np.int64)
    found["beside_ns"] = _within(begin, begin + np.rint(found["elapse_ns"].to_numpy()).astype(np.int64), starts, ends)
    found["bandwidth"] = found["size_bytes"] / found["time_ns"] * 1e9
    limit = share * reference
    near = found["beside_ns"] > 0
    found["held"] = np.where(near & (found["bandwidth"] < limit), "yes", "no")
    rates = [_rate(found[one]) for one in (near, ~near)]
    order = ["step", "group", "name", "start_ns", "elapse_ns", "beside_ns", "size_bytes", "time_ns", "bandwidth", "held"]
    ordered = found[order].sort_values(["held", "bandwidth"], ascending=[False, True], kind="stable", ignore_index=True)
    return Contention(ordered, rates[0], rates[1], limit, int(_multiplies(kernels).sum()))


def multiplications(kernels: pd.DataFrame) -> tuple[Ints, Ints]:
    """Return begin and end in ns of the times in which matrix multiplications ran, joined where they overlap."""
    part = kernels[_multiplies(kernels)]
    start = part["start_ns"].to_numpy()
    end = start + part["duration_ns"].to_numpy()
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order]) if len(end) else end
    begins = np.flatnonzero(np.r_[True, start[1:] > end[:-1]]) if len(start) else np.empty(0, np.int64)
    return start[begins], end[np.append(begins[1:] - 1, len(end) - 1)] if len(start) else end


def _multiplies(kernels: pd.DataFrame) -> NDArray[np.bool_]:
    types = kernels["type"].cat
    named = np.append([MULTIPLIES in kind.lower() for kind in types.categories], False).astype(np.bool_)
    timed = (kernels["start_ns"].to_numpy() >= 0) & (kernels["duration_ns"].to_numpy() > 0)
    found: NDArray[np.bool_] = named[types.codes.to_numpy()] & timed
    return found


def _within(begin: Ints, end: Ints, starts: Ints, ends: Ints) -> Ints:
    """Return how much of each interval lies in intervals that are apart from each other and in order."""
    if not len(starts):
        return np.zeros(len(begin), np.int64)
    before = np.concatenate(([0], np.cumsum(ends - starts)))

    def until(time: Ints) -> Ints:
        place = np.searchsorted(starts, time, side="right")
        last = np.maximum(place - 1, 0)
        inside = np.clip(time - starts[last], 0, ends[last] - starts[last])
        found: Ints = np.where(place > 0, before[last] + inside, 0)
        return found

    return until(end) - until(begin)


def _rate(rows: pd.DataFrame) -> float:
    time = float(rows["time_ns"].sum())
    return float(rows["size_bytes"].sum()) / time * 1e9 if time > 0 else float("nan")
