"""What the page computes of a dump, in the background: causes, their spread in one iteration, norms over iterations."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from parsers import SourceLine
from parsers.analysis.dumps.departures import departures
from parsers.analysis.dumps.first_cause import NON_FINITE, BadPlace, Causes, first_bad
from parsers.analysis.dumps.operators import latest_rows
from parsers.deferred import pandas as pd
from parsers.model import Ints

from layouts.dumps.open_dump import DumpReport, DumpView, DumpWork

PARTS = 50
"""Parts of the iterations after which what was found so far may be told."""
TELL_SECONDS, TELL_COST = 0.7, 8.0
"""Seconds between two of these, and how many times as long as finding causes takes."""
MOST_COUNTED = 2_000
"""Bad tensors that are read to count NaN and Inf where a file states only extremes."""
MOST_ROWS = 200
"""Rows of a table on the page; its file has all."""
Stacks = Mapping[int, tuple[SourceLine, ...]]
"""Row of a tensor -> lines of the program of its operator, outermost call first."""


@dataclass(frozen=True, slots=True, eq=False)
class FoundCauses:
    """Where values went bad: a frame (DUMP_CAUSES) and the stacks of its first rows. unknown: tensors that cannot be checked.

    place is the first value that is not finite of the first of them, None without values. causes computes more of them; it is
    not changed by that.
    """

    causes: Causes
    frame: pd.DataFrame
    stacks: Stacks
    tensors: int
    iterations: int
    unknown: int
    place: BadPlace | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BadOperators:
    """The operators with bad values in one iteration (DUMP_SPREAD), stacks of the first ones, and how many operators ran.

    kind is that of the values. norm and usual are the L2 norm of each output and its median before; NaN for unknown.
    """

    kind: str
    frame: pd.DataFrame
    stacks: Stacks
    operators: int
    norm: np.ndarray
    usual: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Norms:
    """The L2 norm of one tensor by iteration, of the finite part: with the median of its history (NaN without one), the number
    of values that are not finite (-1 for unknown), and 1 or -1 where it explodes or vanishes."""

    name: str
    iteration: Ints
    norm: np.ndarray
    usual: np.ndarray
    bad: Ints
    sign: np.ndarray


def find_causes() -> DumpWork:
    """Return the search for causes; its result is Found, and what is found so far is told iteration by iteration."""
    return DumpWork("first_cause", (), _find)


def _find(dump: DumpView, report: DumpReport) -> FoundCauses:
    iteration = dump.tensors["iteration"].to_numpy()
    order = np.argsort(iteration, kind="stable")
    # Whole iterations, so that what is told of them is final.
    borders = np.flatnonzero(np.diff(iteration[order]) != 0) + 1
    wanted = np.searchsorted(borders, np.linspace(0, len(order), PARTS + 1)[1:-1])
    ends = sorted({int(borders[place]) for place in wanted.tolist() if place < len(borders)})
    pieces = np.split(order, ends)
    due, done = time.monotonic() + TELL_SECONDS, 0
    for rows in pieces:
        report.measure(rows)  # which tells its own progress until this does
        done += len(rows)
        begin = time.monotonic()
        if begin > due and done < len(order):
            report(done, len(order), _found(dump, Causes(dump, known=True), int(iteration[rows].max())))
            due = time.monotonic() + max(TELL_SECONDS, TELL_COST * (time.monotonic() - begin))
        elif len(pieces) > 1:
            report(done, len(order))
    causes = Causes(dump)
    rows = _uncounted(causes)
    if len(rows):
        report.measure(rows, computed=True)
        causes = Causes(dump, known=True, computed=True)
    return _found(dump, causes)


def _uncounted(causes: Causes) -> Ints:
    """Return bad tensors whose values were dumped but whose file states no number of NaN and Inf, the earliest first."""
    uncounted = causes.bad & (causes.statistics.column("nan") < 0)
    files, iteration = causes.tensors["file"].array, causes.tensors["iteration"].to_numpy()
    rows = np.array([row for row in np.flatnonzero(uncounted).tolist() if files[row]], np.int64)
    return rows[np.argsort(iteration[rows], kind="stable")][:MOST_COUNTED]


def _found(dump: DumpView, causes: Causes, last: int | None = None) -> FoundCauses:
    """Return what was found up to an iteration. Later ones may be known in part, which tells nothing."""
    frame = causes.frame()
    if last is not None:
        frame = frame[frame["iteration"] <= last].reset_index(drop=True)
    tensors = dump.tensors
    iteration = tensors["iteration"].to_numpy()
    known = last is None and len(frame) > 0 and frame["kind"].iloc[0] == NON_FINITE
    place = first_bad(dump, int(frame["row"].iloc[0])) if known else None
    return FoundCauses(
        causes, frame, stacks_of(dump, frame["row"].head(MOST_ROWS).tolist()), len(tensors),
        len(np.unique(iteration[iteration >= 0])), int(np.count_nonzero(~causes.known)), place,
    )  # fmt: skip


def find_spread(causes: Causes, rank: int, iteration: int, kind: str) -> DumpWork:
    """Return the search for operators with bad values in one iteration; its result is a Spread."""

    def find(dump: DumpView, report: DumpReport) -> BadOperators:
        del report
        frame = causes.spread(rank, iteration, kind=kind)
        operators = [len(found) for (own, _, step), found in causes.operators.items() if (own, step) == (rank, iteration)]
        rows = frame["row"].to_numpy()
        stacks = stacks_of(dump, rows[:MOST_ROWS].tolist())
        norm, usual = causes.statistics.column("l2")[rows], causes.usual[rows]
        return BadOperators(kind, frame, stacks, max(operators, default=0), norm, usual)

    return DumpWork("spread", (rank, iteration, kind), find)


def find_departures(causes: Causes, loss: Mapping[int, float]) -> DumpWork:
    """Return the search for tensors whose norm left its history; loss is that of the run by iteration, {} for none."""

    def find(dump: DumpView, report: DumpReport) -> pd.DataFrame:
        del dump, report
        return causes.departed(loss)

    return DumpWork("departures", tuple(loss.items()), find)


def norms_of(causes: Causes, row: int) -> Norms:
    """Return the norms of the tensor of a row over the iterations; of several in an iteration the last one counts."""
    tensors, series = causes.tensors, causes.dump.series
    rows = np.flatnonzero(series == series[row])
    iteration = tensors["iteration"].to_numpy()
    rows = rows[latest_rows(series[rows], iteration[rows])]
    norm = causes.statistics.column("l2")[rows]
    sign, usual = departures(series[rows], iteration[rows], np.where(causes.bad[rows], np.nan, norm))
    counts = [causes.statistics.column(name)[rows] for name in ("nan", "positive_inf", "negative_inf")]
    bad = np.where(np.minimum.reduce(counts) >= 0, sum(counts), np.where(causes.statistics.non_finite[rows] == 1, -1, 0))
    return Norms(str(tensors["name"].array[row]), iteration[rows], norm, usual, bad, sign)


def row_of(tensors: pd.DataFrame, rank: int, node: str, io: str) -> int | None:
    """Return the last row of a tensor by operator and "output.0"; None if there is none."""
    kind, _, slot = io.partition(".")
    mask = (tensors["rank"].to_numpy() == rank) & _is(tensors, "name", node) & _is(tensors, "io", kind or "output")
    mask &= tensors["slot"].to_numpy() == (int(slot) if slot.isdecimal() and len(slot) < 9 else 0)
    rows = np.flatnonzero(mask)
    return int(rows[-1]) if len(rows) else None


def _is(tensors: pd.DataFrame, column: str, value: str) -> np.ndarray:
    texts = tensors[column].array
    code = texts.categories.get_indexer([value])[0]
    found: np.ndarray = texts.codes == code
    return found if code >= 0 else np.zeros(len(tensors), np.bool_)


def stacks_of(dump: DumpView, rows: list[int]) -> Stacks:
    """Return the stacks of rows that have one."""
    found = {row: dump.stack(row) for row in rows}
    return {row: lines for row, lines in found.items() if lines}
