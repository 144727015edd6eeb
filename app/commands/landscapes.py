"""The command `landscape`: loss landscapes from checkpoints, by a function of the user. The server computes none.

Exit codes: 0 done; 1 nothing could be computed or written; 2 bad options; 3 done except for places without a loss and what is
left out; 130 interrupted, and the same command goes on.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import time

from app.commands.settings import SettingError
from app.commands.terminal import ProgressBar, printable
from app.landscapes import ComputedLandscapes, LandscapeOptions, compute
from app.landscapes.options import SIZES, LandscapeError
from layouts.kit.units import duration, percent
from parsers.analysis.values.drawn_landscapes import LITTLE_SHOWN
from parsers.landscapes.points import ON_PATH

MOST_LISTED = 10
"""Places without a loss of which the reason is said."""


def landscape(options: argparse.Namespace) -> int:
    """Compute landscapes and return the exit code."""
    wanted = _options(options)
    with ProgressBar(sys.stderr) as bar:
        pace = _Pace()

        def show(done: int, of: int) -> None:
            left = pace.left(done, of)
            bar.show(done / max(of, 1), f"{done:,} of {of:,} points" + (f", {duration(left)} left" if left is not None else ""))

        try:
            found = compute(wanted, lambda text: bar.say(f"mindscope: {printable(text)}"), show)
        except LandscapeError as error:
            print(f"mindscope: {printable(str(error))}", file=sys.stderr)
            return 1
        except OSError as error:
            print(f"mindscope: {printable(_not_written(error))}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("mindscope: interrupted; the same command goes on with the points that are finished", file=sys.stderr)
            return 130
    return _said(found)


class _Pace:
    """The time that is left, by the points since the first one: a computation that goes on begins with many."""

    def __init__(self) -> None:
        self._first: tuple[int, float] | None = None

    def left(self, done: int, of: int) -> float | None:
        """Return seconds, None before there are two points."""
        now = time.monotonic()
        if self._first is None:
            self._first = done, now
        first, began = self._first
        return (now - began) / (done - first) * (of - done) if done > first else None


def _said(found: ComputedLandscapes) -> int:
    """Print what was computed; return the exit code."""
    failed = 0
    for one in found.landscapes:
        facts = [f"{one.z.shape[1]:,} x {one.z.shape[0]:,} points"]
        if not math.isnan(one.sharpness):
            facts.append(f"sharpness {one.sharpness:.4g}")
        if not math.isnan(one.shown):
            facts.append(f"{percent(one.shown)} of the path is in the plane")
        print(f"{one.tag}: {', '.join(facts)}")
        if one.shown < LITTLE_SHOWN:
            print("  the picture shows only a part of the path: its other directions are left out")
        for place, reason in one.failed[:MOST_LISTED]:
            where = f"row {place.row}, column {place.column}" if place.row != ON_PATH else f"step {one.steps[place.column]}"
            print(f"  no loss at {where}: {printable(reason)}")
        if len(one.failed) > MOST_LISTED:
            print(f"  and at {len(one.failed) - MOST_LISTED:,} other places")
        failed += len(one.failed)
    print(f"written to {printable(found.file)}")
    return 3 if failed or found.problems else 0


def _not_written(error: OSError) -> str:
    return (
        f"{error.filename or 'a file'}: expected to read and write it, found: {error.strerror}; finished points are kept, and "
        "the same command goes on"
    )


def _options(options: argparse.Namespace) -> LandscapeOptions:
    return LandscapeOptions(
        run=options.run, script=options.script, out=options.out, function=options.function,
        kinds=tuple(one for one in options.kind.split(",") if one), intervals=_intervals(options.intervals),
        size=_whole("--size", options.size, *SIZES), seed=_whole("--seed", options.seed, 0, 2**63 - 1),
        jobs=_whole("--jobs", options.jobs, 1, 1024), checkpoints=options.checkpoints, against=options.against,
        scale=options.scale, limit_s=_whole("--limit", options.limit, 0, 10**6),
        dask=options.dask, dask_trust=options.dask_trust,
    )  # fmt: skip


def _intervals(text: str) -> tuple[tuple[int, int], ...]:
    found = []
    for part in filter(None, text.split(",")):
        ends = re.fullmatch(r"(\d{1,18})-(\d{1,18})", part)
        if ends is None or int(ends[1]) > int(ends[2]):
            raise SettingError(f"--intervals: expected FIRST-LAST, separated by commas, found {part[:80]!r}")
        found.append((int(ends[1]), int(ends[2])))
    return tuple(found)


def _whole(name: str, text: str, low: int, high: int) -> int:
    if not re.fullmatch(r"\d{1,19}", text) or not low <= int(text) <= high:
        raise SettingError(f"{name}: expected a whole number from {low:,} to {high:,}, found {text[:80]!r}")
    return int(text)
