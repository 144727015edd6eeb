"""The command `check-dump`: watchpoints on the dumps below a directory, for scripts and continuous integration.

Exit codes: 0 no hit; 1 hits; 2 bad usage, or no dump there; 3 no hit, but some tensors could not be read.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from app.commands.settings import SettingError
from app.commands.terminal import ProgressBar, printable, problem_line
from app.store.dumps.measuring import Measuring
from parsers import FormatError, Run, SourceError, discover
from parsers.analysis.dumps.watchpoints import CONDITIONS, Watchpoint, read_watchpoints, recommended
from parsers.analysis.dumps.watchpoints.checking import NO_RECORDS, UNREADABLE, chosen_rows
from parsers.deferred import pandas as pd
from parsers.dumps.access import RunDump
from parsers.model import Ints

MOST_PROBLEMS = 20
"""Problems of a dump that are printed."""
UNREAD = 3
"""Exit code if there is no hit but some tensors could not be read."""
_MEASURED = 0.9
"""Share of the progress bar for the statistics."""
_FROM = {
    "here": "from inputs that are fine",
    "before": "from an input that was bad already",
    "rank": "from bad values of rank {rank}",
    "unknown": "from inputs that were not dumped",
}


def check_dump(options: argparse.Namespace) -> int:
    """Check the dumps below a directory, print hits, and return the exit code."""
    report = _CheckReport(_most(options.most))
    watchpoints = _watchpoints(options.watch)
    if not os.path.isdir(options.directory):
        raise SettingError(f"DIR: expected a directory with a dump, found {options.directory!r}")
    runs = [(source.name, Run(source).dump) for source in discover(options.directory)]
    dumps = [(name, dump) for name, dump in runs if dump]
    if not dumps:
        expected = "a dump there or below it (rank_0 with .dump_metadata, or step0 with dump.json)"
        raise SettingError(f"DIR: expected {expected}, found none in {options.directory!r}")
    if not any(len(dump.tensors) for _, dump in dumps):
        found = f"{_counted(len(dumps), 'dump')} without any in {options.directory!r}"
        raise SettingError(f"DIR: expected dumped tensors, found {found}")
    measuring = Measuring()
    try:
        for place, (name, dump) in enumerate(dumps):
            with ProgressBar(sys.stderr) as bar:
                hits, cause = _checked(dump, watchpoints, _CheckPart(bar, measuring, printable(name), place, len(dumps)))
            checks = sum(len(chosen_rows(dump.tensors, one)) for one in watchpoints)
            report.add(f"{printable(name)}: " if len(dumps) > 1 else "", dump, hits, cause, checks=checks)
    finally:
        measuring.stop()
    report.end(len(dumps), len(watchpoints))
    return report.code


def hits_in(name: str, dump: RunDump, watch: str | None) -> tuple[int, int]:
    """Return (hits of the watchpoints of a file, or of those recommended; number of tensors that could not be read).

    A dump without tensors has -1 unread. SettingError for a mistake in the file.
    """
    watchpoints = _watchpoints(watch)
    if not len(dump.tensors):
        return 0, -1
    measuring = Measuring()
    try:
        with ProgressBar(sys.stderr) as bar:
            found, _ = _checked(dump, watchpoints, _CheckPart(bar, measuring, printable(name), 0, 1))
    finally:
        measuring.stop()
    unread = (~found["hit"] & (found["why"].astype(str) == UNREADABLE)).to_numpy()
    return int(found["hit"].sum()), int(found["row"][unread].nunique())


def _most(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise SettingError(f"--most: expected a whole number from 0 to 999999999, found {text!r}")
    return int(text)


def _watchpoints(path: str | None) -> tuple[Watchpoint, ...]:
    if path is None:
        return recommended()
    try:
        return read_watchpoints(path)
    except (FormatError, SourceError) as error:
        raise SettingError(f"--watch: {printable(str(error))}") from None


class _CheckPart:
    """The part of the progress bar that one dump has, and what measures its tensors."""

    def __init__(self, bar: ProgressBar, measuring: Measuring, name: str, place: int, count: int) -> None:
        self._bar, self._measuring, self._name, self._place, self._count = bar, measuring, name, place, count

    def within(self, begin: float, end: float, text: str, *, scale: float = 1.0) -> Callable[[int, int], bool]:
        """Return a function of (done, total) that draws progress from begin to end, shares of this part.

        text has {done} and {total}, which are divided by scale.
        """

        def show(done: int, total: int) -> bool:
            share = begin + (end - begin) * done / max(total, 1)
            said = text.format(done=f"{done / scale:,.0f}", total=f"{total / scale:,.0f}")
            self._bar.show((self._place + share) / self._count, f"{self._name}: {said}")
            return True

        return show

    def measure(self, dump: RunDump, rows: Ints, begin: float, end: float) -> None:
        """Compute the statistics of rows that no file states: much in processes, little here."""
        missing, size = self._measuring.missing(dump, rows)
        if self._measuring.is_little(size):
            dump.measured(missing, progress=self.within(begin, end, "tensor {done} of {total}"))
        else:
            show = self.within(begin, end, "{done} of {total} MB", scale=1e6)
            self._measuring.measure(dump, missing, size, show, lambda: True)


def _checked(dump: RunDump, watchpoints: Sequence[Watchpoint], part: _CheckPart) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Return what the watchpoints find, and the causes if there is NaN or Inf.

    Statistics come first, since they take the time: progress is by tensors then, not by watchpoints.
    """
    tensors = dump.tensors
    wanted = np.zeros(len(tensors), np.bool_)
    for one in watchpoints:
        kind = CONDITIONS[one.condition]
        if not kind.previous and kind.name != "operator_overflow":
            wanted[chosen_rows(tensors, one)] = True
    part.measure(dump, np.flatnonzero(wanted), 0.0, _MEASURED)
    found = dump.check(watchpoints, progress=part.within(_MEASURED, 1.0, "watchpoint {done} of {total}"))
    if not any(not CONDITIONS[name].limits for name in found["condition"][found["hit"]].astype(str).unique()):
        return found, None
    part.measure(dump, np.arange(len(tensors)), _MEASURED, 1.0)
    causes = dump.first_cause()
    return found, causes[causes["kind"] == "non_finite"]


class _CheckReport:
    """Prints what is found, and counts it."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._conditions: Counter[str] = Counter()
        self._hits = self._tensors = self._unread = self._checked = 0

    @property
    def code(self) -> int:
        """The exit code."""
        return 1 if self._hits else UNREAD if self._unread else 0

    def add(self, name: str, dump: RunDump, found: pd.DataFrame, causes: pd.DataFrame | None, *, checks: int) -> None:
        """Print one dump; name is put before each line. checks is how many tensors the watchpoints are about, all together."""
        hits = found[found["hit"]].sort_values(["iteration", "row", "watchpoint"], kind="stable")
        for one in hits.head(self._left).to_dict("records"):
            print(name + printable(_line(one)))
        more = len(hits) - self._left
        if more > 0:
            print(f"{name}... and {_counted(more, 'more hit')}")
        self._left = max(-more, 0)
        self._hits += len(hits)
        self._checked += checks - int((~found["hit"]).sum())
        self._conditions.update(hits["condition"].astype(str).tolist())
        self._tensors += len(dump.tensors)
        for one in causes.head(1).to_dict("records") if causes is not None else ():
            print(name + printable(_cause_line(one)))
        self._say_unchecked(name, found[~found["hit"]])
        for problem in dump.problems[:MOST_PROBLEMS]:
            print(problem_line(problem), file=sys.stderr)
        if len(dump.problems) > MOST_PROBLEMS:
            print(f"... and {_counted(len(dump.problems) - MOST_PROBLEMS, 'more problem')}", file=sys.stderr)

    def _say_unchecked(self, name: str, left: pd.DataFrame) -> None:
        """Print how many tensors could not be checked for what, and why: that they were not hit says nothing."""
        for (condition, why), rows in left.groupby(["condition", "why"], observed=True)["row"]:
            count = rows.nunique()
            told = "" if why == NO_RECORDS else f"{_counted(count, 'tensor')}: "
            print(f"{name}not checked: {condition}: {told}{why}")
            self._unread += count if why == UNREADABLE else 0

    def end(self, dumps: int, watchpoints: int) -> None:
        """Print the sums."""
        parts = ", ".join(f"{name} {count:,}" for name, count in self._conditions.most_common())
        none = "no hit" if self._checked else "nothing could be checked"
        hits = f"{_counted(self._hits, 'hit')} ({parts})" if self._hits else none
        looked = f"{_counted(dumps, 'dump')}, {_counted(self._tensors, 'tensor')}, {_counted(watchpoints, 'watchpoint')}"
        print(f"{looked}: {hits}")
        if self._unread:
            print(f"mindscope: could not be read, see above: {self._unread:,}", file=sys.stderr)


def _line(hit: Mapping[Any, Any]) -> str:
    """Return a hit as one line: where, which condition, which tensor, what was measured."""
    tensor = f"{hit['name']} {hit['io']} {hit['slot']}"
    actual, excluded = float(hit["actual"]), int(hit["excluded"])
    if hit["condition"] == "operator_overflow":
        found = f"the device reported an overflow, status {actual:.0f}"
    elif not hit["parameter"]:
        found = "NaN or Inf" if math.isnan(actual) else f"{actual:,.0f} NaN or Inf"
    else:
        found = f"{hit['parameter']} {hit['wanted']:.4g}, found {actual:.4g}"
        found += f" ({excluded:,} NaN or Inf left out)" if excluded > 0 else ""
    return f"{_place(hit)}: {hit['condition']}: {tensor}: {found}"


def _cause_line(cause: Mapping[Any, Any]) -> str:
    """Return the first cause as one sentence."""
    source = _FROM[cause["origin"]].format(rank=cause["from_rank"])
    name = f" ({cause['from_name']})" if cause["from_name"] else ""
    line = f", {cause['source']}" if cause["source"] else ""
    return f"first cause: {_place(cause)}: {cause['name']} made NaN or Inf {source}{name}{line}"


def _place(row: Mapping[Any, Any]) -> str:
    graph = f", graph {row['graph']}" if row["graph"] >= 0 else ""
    return f"rank {row['rank']}, iteration {row['iteration']}{graph}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + "s" * (count != 1)
