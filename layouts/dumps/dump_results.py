"""What is worked out of a dump, as the work that computes it: for plain routes, and for pages that show the same.

Each result is a frame of `parsers.dump_frames`. A rank or an iteration is one of the dump, checked by `named_part`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from parsers.analysis.dumps.first_cause import Causes
from parsers.analysis.dumps.watchpoints import Watchpoint
from parsers.analysis.dumps.watchpoints.checking import check
from parsers.deferred import pandas as pd

from layouts.dumps.open_dump import DumpReport, DumpView, DumpWork

LISTED = ("tensors", "executions", "overflows")
"""Frames that are known once a dump is listed."""
WORKED = ("statistics", "causes", "departures", "spread", "hits")
"""Frames that take reading tensors."""


def work_for(name: str, *, rank: int = 0, step: int = 0, watchpoints: Sequence[Watchpoint] = ()) -> DumpWork:
    """Return the work that makes a frame of WORKED: "spread" is of one rank and iteration, "hits" of some watchpoints."""
    if name == "spread":
        return DumpWork("frame spread", (rank, step), lambda dump, report: _spread(dump, report, rank, step))
    if name == "hits":
        key = tuple((one.condition, tuple(sorted(one.limits.items())), one.names, one.pattern) for one in watchpoints)
        return DumpWork("frame hits", key, lambda dump, report: _hits(dump, report, watchpoints))
    made = {"statistics": _statistics, "causes": _causes, "departures": _departures}
    return DumpWork(f"frame {name}", None, made[name])


def _every(dump: DumpView) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.arange(len(dump.tensors))


def _statistics(dump: DumpView, report: DumpReport) -> pd.DataFrame:
    report.measure(_every(dump))
    return dump.statistics_of()


def _causes(dump: DumpView, report: DumpReport) -> pd.DataFrame:
    report.measure(_every(dump))
    return Causes(dump).frame()


def _departures(dump: DumpView, report: DumpReport) -> pd.DataFrame:
    report.measure(_every(dump))
    return Causes(dump).departed(None)


def _spread(dump: DumpView, report: DumpReport, rank: int, step: int) -> pd.DataFrame:
    tensors = dump.tensors
    report.measure(np.flatnonzero((tensors["rank"].to_numpy() == rank) & (tensors["iteration"].to_numpy() == step)))
    return Causes(dump).spread(rank, step)


def _hits(dump: DumpView, report: DumpReport, watchpoints: Sequence[Watchpoint]) -> pd.DataFrame:
    report.measure(_every(dump))

    def progress(done: int, total: int) -> bool:
        report(done, total)
        return True

    return check(dump, watchpoints, progress=progress)
