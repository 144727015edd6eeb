"""What questions ask of dumps that no page does: a glance, what is near the first cause, and the difference of two dumps."""

from __future__ import annotations

import numpy as np
from parsers.analysis.dumps.first_cause import Causes
from parsers.analysis.dumps.two_dumps import TOLERANCE, Side, compare_pairs, first_iteration, pairs
from parsers.analysis.runs.probes.structure import near
from parsers.deferred import pandas as pd
from parsers.dump_frames import DUMP_DIFFERENCES

from layouts.dumps.open_dump import DumpReport, DumpView, DumpWork

MOST_GLANCED = 48
"""Tensors that a glance reads, the smallest ones: a loss is one of them, and bad values get to it."""
LARGEST_GLANCED = 1 << 16
"""Bytes of a tensor, at most, that a glance reads."""


def glance() -> DumpWork:
    """Return the work that says of every tensor whether it holds NaN or Inf (1, 0, or -1 for unknown): rank, iteration, order,
    name, non_finite.

    It knows what files state, and reads small outputs of the last iteration.
    """
    return DumpWork("guides.glance", None, _glance)


def _glance(dump: DumpView, report: DumpReport) -> pd.DataFrame:
    del report
    tensors = dump.tensors
    iteration, size = tensors["iteration"].to_numpy(), tensors["size_bytes"].to_numpy()
    is_output = (tensors["io"].astype("str") == "output").to_numpy(bool)
    small = np.flatnonzero(is_output & (iteration == iteration.max(initial=0)) & (size <= LARGEST_GLANCED))
    chosen = np.sort(small[np.argsort(size[small], kind="stable")[:MOST_GLANCED]])
    found: pd.DataFrame = tensors[["rank", "iteration", "order", "name"]].assign(non_finite=dump.measured(chosen).non_finite)
    return found


def nearby() -> DumpWork:
    """Return the work that lists the operators before that of the first cause, in its graph: see `structure.near`."""
    return DumpWork("guides.nearby", None, _nearby)


def _nearby(dump: DumpView, report: DumpReport) -> pd.DataFrame:
    report.measure(np.arange(len(dump.tensors)))
    causes = Causes(dump).frame()
    if not len(causes):
        return pd.DataFrame()
    row = causes.iloc[0]
    graph = dump.graphs.get((int(row["rank"]), int(row["graph"])))
    return pd.DataFrame() if graph is None else near(graph, str(row["name"]))


def differences(other: DumpView, key: str, mark: str) -> DumpWork:
    """Return the comparison of the first rank of two dumps in the first iteration that differs, or else the last of both.

    Its result is DUMP_DIFFERENCES with a column `iteration`.
    """

    def compare(dump: DumpView, report: DumpReport) -> pd.DataFrame:
        if not dump.ranks or not other.ranks:
            return DUMP_DIFFERENCES.empty().assign(iteration=0)
        rank, second = dump.ranks[0], other.ranks[0]
        step, _, _ = first_iteration(dump, rank, other, second, TOLERANCE, report)
        if step is None:
            shared = set(dump.tensors["iteration"].unique().tolist()) & set(other.tensors["iteration"].unique().tolist())
            step = max(shared, default=0)
        one, two = Side(dump, rank, step), Side(other, second, step)
        found = compare_pairs(one, two, pairs(one, two), lambda done, total, _: report(done, total))
        return found.assign(iteration=step)

    return DumpWork("guides.differences", (key, mark), compare)
