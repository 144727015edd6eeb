"""Communication beside matrix multiplication: both want the memory's bandwidth, and the transfer may get less of it.

The communication page and the advice both follow this rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.links import LEAST_BYTES
from parsers.deferred import pandas as pd
from parsers.model import Ints

REFERENCE = 18e9
"""Usual bandwidth of SDMA in B/s."""
SHARE = 0.8
"""Share of it below which a transfer beside matrix multiplication is held up."""
LEAST_BESIDE = 0.1
"""Part of an operation that runs beside matrix multiplications from which on it counts as beside them."""
MULTIPLIES = "matmul"
CHIP = ("HCCS", "SDMA", "PCIE", "SIO")
"""Transports within a node, by SDMA."""


@dataclass(frozen=True, slots=True)
class Contention:
    """The operations of one rank beside matrix multiplications, those of LEAST_BYTES or more.

    operations: step, group, name, start_ns, elapse_ns, beside_ns (of it beside a multiplication), beside_share (that part of
    it), size_bytes, time_ns, bandwidth (B/s), held ("yes" below the limit and beside a multiplication). An operation is beside
    multiplications from LEAST_BESIDE of its time on; beside and apart are the bandwidth in B/s of all that are, and of the
    others; NaN for none. limit is the bandwidth below which an operation is held up. multiplications is their number.
    """

    operations: pd.DataFrame
    beside: float
    apart: float
    limit: float
    multiplications: int

    @property
    def near(self) -> pd.DataFrame:
        """The operations beside multiplications."""
        return self.operations[self.operations["beside_share"] >= LEAST_BESIDE]

    @property
    def held(self) -> int:
        """How many operations were held up."""
        return int((self.operations["held"] == "yes").sum())


def contention(
    collectives: pd.DataFrame, sent: pd.DataFrame, kernels: pd.DataFrame, *, limit: float = SHARE * REFERENCE
) -> Contention:
    """Return which operations of a rank ran beside matrix multiplications, and their bandwidth.

    Takes rows of one rank: schema COLLECTIVES, what `traffic.sent_of` returns, and schema KERNELS. Both clocks are those of the
    rank. Operations without a start are left out, as are those whose step, group and name is that of another one, and those
    with fewer than LEAST_BYTES on the chip's own transports: their bandwidth is that of starting. limit is in B/s.
    """
    starts, ends = multiplications(kernels)
    carried = sent[sent["transport"].isin(CHIP) & (sent["size_bytes"] > 0)]
    keys = ["step", "group", "name"]
    texts = {name: carried[name].astype("str") for name in ("group", "name")}
    sums = carried.assign(**texts).groupby(keys, sort=False)[["size_bytes", "time_ns"]].sum().reset_index()
    timed = collectives[(collectives["start_ns"] >= 0) & (collectives["elapse_ns"] > 0.0)]
    own = timed.assign(**{name: timed[name].astype("str") for name in ("group", "name")}).drop_duplicates(keys, keep=False)
    found = own[[*keys, "start_ns", "elapse_ns"]].merge(sums, on=keys)
    found = found[(found["size_bytes"] >= LEAST_BYTES) & (found["time_ns"] > 0.0)].reset_index(drop=True)
    begin = found["start_ns"].to_numpy(np.int64)
    found["beside_ns"] = _within(begin, begin + np.rint(found["elapse_ns"].to_numpy()).astype(np.int64), starts, ends)
    found["bandwidth"] = found["size_bytes"] / found["time_ns"] * 1e9
    found["beside_share"] = found["beside_ns"] / found["elapse_ns"]
    near = found["beside_share"] >= LEAST_BESIDE
    found["held"] = np.where(near & (found["bandwidth"] < limit), "yes", "no")
    rates = [_rate(found[one]) for one in (near, ~near)]
    order = ["step", "group", "name", "start_ns", "elapse_ns", "beside_ns", "beside_share", "size_bytes", "time_ns"]
    found = found[[*order, "bandwidth", "held"]]
    ordered = found.sort_values(["held", "bandwidth"], ascending=[False, True], kind="stable", ignore_index=True)
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
    """Return which kernels with a time multiply matrices, by their type, else by their name."""
    types, names = kernels["type"].cat, kernels["name"].cat
    typed, named = (_telling(one.categories)[one.codes.to_numpy()] for one in (types, names))
    nameless = np.append([kind == "" for kind in types.categories], True).astype(np.bool_)[types.codes.to_numpy()]
    timed = (kernels["start_ns"].to_numpy() >= 0) & (kernels["duration_ns"].to_numpy() > 0)
    found: NDArray[np.bool_] = (typed | (nameless & named)) & timed
    return found


def _telling(texts: pd.Index) -> NDArray[np.bool_]:
    """Return which texts tell of a multiplication, with a last one for an unknown text, which does not."""
    return np.append([MULTIPLIES in text.lower() for text in texts], False).astype(np.bool_)


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
