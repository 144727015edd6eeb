"""Pace: every interval, and medians of all. The slow reference of `parsers.analysis.curves.insights.pace`, which leaves out
what cannot change a result."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from parsers.analysis.curves.insights.levels import SIGMA, medians
from parsers.analysis.curves.insights.rules import LEAST, RULES
from parsers.analysis.curves.insights.speed import fall
from parsers.analysis.curves.segments import restarts
from parsers.model import Floats, Ints

_AROUND = 16
"""Number of distances on either side that a gap is compared with."""
_MOST_GAPS = 20
_MOST_POINTS = 1 << 20
_BLOCKS = 512
_WIDE = 12
"""Blocks on either side of a change of pace."""
_LEAST_SECONDS = 1e-3
"""Minimum change of pace in seconds per step."""
_SURE = 8.0
"""A change of pace must exceed this many standard deviations of block medians."""
_LATEST = 253_402_300_800.0  # the year 10,000
_ENDED = 7200.0
_STANDSTILL = 300.0
"""A run that has not grown for fewer seconds than this has not stalled: an evaluation or a checkpoint may take as long."""
_PAUSE = 60.0
"""The same for a pause after which a run went on."""
_PAUSES = 2
"""Pauses of half the length, or more, that make it usual."""
_ENDED_INTERVALS = 250.0
"""A run that has not grown for this many seconds, or usual intervals, whichever is longer, counts as ended."""


class Gap(NamedTuple):
    """after: index of the point before the gap; missing: steps in it; usual: the distance around; times: one over the other."""

    after: int
    missing: float
    usual: float
    times: float


class PaceChange(NamedTuple):
    """first: index of the first point at the new pace; before, after: seconds per step."""

    first: int
    before: float
    after: float


class Stall(NamedTuple):
    """Seconds without a point, and the longest usual interval. after: index of the point before, -1 for the last one."""

    seconds: float
    usual: float
    after: int = -1


def gaps(step: Ints) -> list[Gap]:
    """Return the gaps in ascending steps."""
    stride = np.diff(step).astype(np.float64)
    if stride.size < 4:
        return []
    limit = LEAST * RULES["gap"].limit
    # Cheap and necessary: larger than usual, and larger than what uneven distances reach now and then.
    rank = max(0, stride.size - 1 - max(3, stride.size // 1000))
    now_and_then = float(np.partition(stride, rank)[rank])
    at = np.flatnonzero(stride >= limit * max(float(np.median(stride)), now_and_then / 2.0, 1.0))
    found = []
    for place in at.tolist():
        before, after = stride[max(0, place - _AROUND) : place], stride[place + 1 : place + 1 + _AROUND]
        sides = [side for side in (before, after) if side.size >= 2]
        # At the end nothing says whether the distances go on growing.
        usual = max((float(np.median(side)) for side in sides), default=np.inf)
        if after.size < 2 and before.size:
            usual = float(before.max())
        others = max((float(side.max()) for side in sides), default=np.inf)
        # Of uneven distances the largest are usual too.
        if others >= 2.0 * usual:
            usual = max(usual, others / 2.0, now_and_then / 1.6)
        found.append(Gap(place, float(stride[place]), usual, float(stride[place]) / usual))
    kept = [gap for gap in found if gap.times >= limit]
    return sorted(sorted(kept, key=lambda gap: gap.times, reverse=True)[:_MOST_GAPS])


def slower(step: Ints, wall_time: Floats, starts: Ints) -> PaceChange | None:
    """Return where steps become permanently slower; pauses between steps and restarts are ignored."""
    every = -(-step.size // _MOST_POINTS)
    if every > 1:
        # So many at a time: what they take together tells as much.
        found = slower(step[::every], wall_time[::every], restarts(step[::every]))
        return found and found._replace(first=found.first * every)
    taken, steps = np.diff(wall_time), np.diff(step).astype(np.float64)
    valid = (steps > 0) & (taken >= 0) & (wall_time[1:] > 0) & (wall_time[:-1] > 0) & (wall_time[1:] < _LATEST)
    if starts.size:
        valid[starts - 1] = False
    at = np.flatnonzero(valid)
    if at.size < 40:
        return None
    taken, steps = taken[at], steps[at]
    size = max(1, -(-at.size // _BLOCKS))
    pace = _pace(taken, steps, size)
    wide = min(_WIDE, pace.size // 3)
    if wide < 5:
        return None
    change, gradual = _change(pace, wide), _little_by_little(pace, size, at)
    if change is None or (gradual is not None and change[2] < RULES["slower"].limit * change[1]):
        return gradual
    block, before, after = change
    place = _place(np.arange(max(0, (block - 2) * size), min(at.size, (block + 2) * size)), taken, steps, before, after)
    return PaceChange(int(at[place]) + 1, before, after)


def _little_by_little(pace: Floats, size: int, at: Ints) -> PaceChange | None:
    """Return where steps begin to become slower, a little each time; at are the indices of the intervals."""
    if not pace.min() > 0.0:
        return None
    found = fall(1.0 / pace)
    if found is None or found.before < LEAST * RULES["slower"].limit * found.after:
        return None
    before, after = 1.0 / found.before, 1.0 / found.after
    return PaceChange(int(at[found.first * size]) + 1, before, after) if after - before >= _LEAST_SECONDS else None


def _pace(taken: Floats, steps: Floats, size: int) -> Floats:
    """Seconds per step of each block of intervals: the median, or the mean where the clock is too coarse for that."""
    whole = taken.size // size
    rows, distances = taken[: whole * size].reshape(whole, size), steps[: whole * size].reshape(whole, size)
    coarse = np.count_nonzero(taken == 0) > taken.size // 20 or bool((taken[:1000] == np.floor(taken[:1000])).all())
    if not coarse:
        return medians(rows / distances)
    # A pause would distort a mean: each interval is capped at a few usual ones.
    most = 5.0 * max(float(np.median(taken)), 1.0)
    means: Floats = np.minimum(rows, most).sum(axis=1) / distances.sum(axis=1)
    return means


def _change(pace: Floats, wide: int) -> tuple[int, float, float] | None:
    """Return (block, pace before, pace after) of the largest lasting slowdown."""
    windows = medians(np.lib.stride_tricks.sliding_window_view(pace, wide))
    before, after = windows[:-wide], windows[wide:]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(before > 0, after / before, 0.0)
    place = int(ratio.argmax())
    best = float(ratio[place])
    # Of places alike the middle one: running medians do not see a change until it fills half of them.
    alike = np.flatnonzero(ratio >= min(best, 1.0 + 0.9 * (best - 1.0)))
    alike = alike[np.abs(alike - place) <= wide]
    block = int(alike.mean()) + wide
    old = float(np.median(pace[max(0, block - 4 * wide) : block - 1]))
    new = float(np.median(pace[block + 1 : block + 4 * wide]))
    if old <= 0.0 or new - old < _LEAST_SECONDS or new / old < LEAST * RULES["slower"].limit:
        return None
    # It lasts to the end, and does not happen all the time.
    rest = float(np.median(pace[block:]))
    earlier = float(np.quantile(pace[:block], 0.9))
    scatter = SIGMA * float(np.median(np.abs(pace[:block] - np.median(pace[:block]))))
    if rest / old < LEAST * RULES["slower"].limit or new < earlier or new - old < _SURE * scatter / wide**0.5:
        return None
    return block, old, new


def _place(near: Ints, taken: Floats, steps: Floats, before: float, after: float) -> int:
    """The interval, of those near a change, from which on the new pace fits better than the old one."""
    middle = np.sqrt(before * after)
    slow = np.where(taken[near] / steps[near] > middle, 1.0, -1.0)
    total = np.concatenate(([0.0], np.cumsum(slow)))
    # Intervals before the place are fast, those after it slow: the least of the running sum.
    return int(near[min(int(total.argmin()), near.size - 1)])


def stall(wall_time: Floats, now: float) -> Stall | None:
    """Return whether the last point is much older than the usual interval; wall_time in seconds, in the order written."""
    known = wall_time[(wall_time > 0) & (wall_time < _LATEST)]
    passed = np.diff(known)
    passed = passed[passed >= 0]
    if passed.size < RULES["stall"].fewest - 1:
        return None
    # The longest interval may be a night between two sessions; one that occurs twice in a hundred is usual.
    longest = max(float(np.quantile(passed, 0.98)) if passed.size >= 50 else float(passed.max()), _longest(passed))
    since = now - float(known.max())
    if since > max(_ENDED, _ENDED_INTERVALS * longest) or since < max(_STANDSTILL, LEAST * RULES["stall"].limit * longest):
        return None
    return Stall(since, longest)


def _longest(passed: Floats) -> float:
    """Longest usual interval of two or more: not the longest one, which may be a night between two sessions."""
    return max(3.0 * float(np.median(passed)), float(np.sort(passed)[-2]) / 2.0 if passed.size > 2 else 0.0)


def pause(step: Ints, wall_time: Floats, starts: Ints) -> Stall | None:
    """Return the longest time without a point within a run, between two that follow each other in one session.

    A pause that recurs, as of evaluations, is usual; one of more than two hours is taken for the time between two sessions.
    """
    passed, steps = np.diff(wall_time), np.diff(step)
    # Where steps are missing, training went on.
    valid = (passed >= 0) & (passed < _ENDED) & (wall_time[1:] < _LATEST) & (wall_time[:-1] > 0)
    valid &= steps <= 2.0 * np.median(steps) if steps.size else True
    valid[starts - 1] = False
    if np.count_nonzero(valid) < RULES["stall"].fewest - 1:
        return None
    known = np.where(valid, passed, 0.0)
    at = int(known.argmax())
    longest = float(known[at])
    if longest < _PAUSE or np.count_nonzero(known >= longest / 2.0) > _PAUSES:
        return None
    usual = max(_longest(known[valid]), float(np.quantile(known[valid], 0.98)) if known.size >= 100 else 0.0)
    return Stall(longest, usual, at) if longest >= LEAST * RULES["stall"].limit * usual else None
