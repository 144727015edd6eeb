"""Finds irregularities in when a curve was recorded: missing steps, slower steps, pauses, a stalled run."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
_MANY = 100_000
"""Intervals from which on a bound of what rules could find is looked at first."""
_ROUNDING = 1e-9
_FEW_STANDING = 20
"""A clock is coarse if it stood still in more than one interval out of this many."""
_CHUNK = 1 << 15
"""Intervals looked at at a time, so that they stay in the cache."""
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
    if step.size < 5:
        return []
    limit = LEAST * RULES["gap"].limit
    # The median is no less than the least distance.
    least, most = _ends(step)
    if most < limit * max(least, 1.0):
        return []
    stride = np.diff(step).astype(np.float64)
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
        # Every n-th point is enough: the time from one to the next is that of all steps between them.
        found = slower(step[::every], wall_time[::every], restarts(step[::every]))
        return found and found._replace(first=found.first * every)
    ascending = not starts.size and _ascending(step, wall_time)
    if ascending and _even(step, wall_time):
        return None
    taken = np.diff(wall_time)
    steps = np.subtract(step[1:], step[:-1], out=np.empty(taken.size))
    valid = None if ascending else _valid(taken, steps, wall_time, starts)
    number = taken.size if valid is None else int(np.count_nonzero(valid))
    if number < 40:
        return None
    size = max(1, -(-number // _BLOCKS))
    if valid is not None and number < valid.size:
        taken, steps = taken[valid], steps[valid]
    at = np.arange(number) if valid is None else np.flatnonzero(valid)
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


def _ascending(step: Ints, wall_time: Floats) -> bool:
    """Return whether all intervals count, as they mostly do: it takes a look at their least, not one at each."""
    if step.size < 2 or not _ends(step)[0] > 0.0 or not _ends(wall_time)[0] >= 0.0:
        return False
    return bool(wall_time[0] > 0.0 and wall_time[-1] < _LATEST)


def _valid(taken: Floats, steps: Floats, wall_time: Floats, starts: Ints) -> NDArray[np.bool_]:
    """Return which intervals count: neither those across restarts, nor those without a time or a step."""
    found: NDArray[np.bool_] = (steps > 0) & (taken >= 0) & (wall_time[:-1] > 0) & (wall_time[1:] > 0)
    found &= wall_time[1:] < _LATEST
    if starts.size:
        found[starts - 1] = False
    return found


def _even(step: Ints, wall_time: Floats) -> bool:
    """Return True if the medians of the blocks are so near to each other that no rule about them can apply.

    Both want a pace that is this limit times another one. A median is within a range if less than half of its block is below,
    and less than half above it. All intervals count.
    """
    number = step.size - 1
    if number < _MANY:
        return False
    near = math.sqrt(LEAST * RULES["slower"].limit) * (1.0 - _ROUNDING)
    some = np.arange(0, number, number // 1000)
    middle = float(np.median((wall_time[some + 1] - wall_time[some]) / (step[some + 1] - step[some])))
    if middle <= 0.0 or _whole_seconds(np.diff(wall_time[:1001])):
        return False
    size = -(-number // _BLOCKS)
    whole = number // size * size
    least, most, standing = middle / near, middle * near, 0
    for at in range(0, number, width := max(1, _CHUNK // size) * size):
        taken, steps = (np.diff(one[at : min(at + width, number) + 1]) for one in (wall_time, step))
        standing += taken.size - int(np.count_nonzero(taken))
        if standing > number // _FEW_STANDING:
            return False
        inside = max(0, min(whole - at, width))
        rows, strides = taken[:inside].reshape(-1, size), steps[:inside].reshape(-1, size)
        for beyond in (rows < least * strides, rows > most * strides):
            if np.count_nonzero(beyond) >= size // 2 and max(map(np.count_nonzero, beyond)) >= size // 2:
                return False
    return True


def _coarse(taken: Floats) -> bool:
    """Return whether the clock is too coarse for medians."""
    return bool(np.count_nonzero(taken == 0) > taken.size // _FEW_STANDING) or _whole_seconds(taken[:1000])


def _whole_seconds(taken: Floats) -> bool:
    return bool((taken == np.floor(taken)).all())


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
    """Return seconds per step of each block of intervals: the median, or the mean where the clock is too coarse for one."""
    whole = taken.size // size
    rows, distances = taken[: whole * size].reshape(whole, size), steps[: whole * size].reshape(whole, size)
    if not _coarse(taken):
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
    # Take the middle of equally good places: running medians see a change only once it fills half of them.
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
    """Return the interval near a change from which on the new pace fits better than the old one."""
    middle = np.sqrt(before * after)
    slow = np.where(taken[near] / steps[near] > middle, 1.0, -1.0)
    total = np.concatenate(([0.0], np.cumsum(slow)))
    # Intervals before the place are fast, those after it slow: the least of the running sum.
    return int(near[min(int(total.argmin()), near.size - 1)])


def stall(wall_time: Floats, now: float) -> Stall | None:
    """Return the time since the last point if it is far beyond the usual interval; None otherwise, or if the run has ended.

    wall_time and now are in seconds, the former in the order written.
    """
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
    """Return the longest usual interval: not the longest of all, which may be a night between two sessions."""
    return max(3.0 * float(np.median(passed)), float(np.sort(passed)[-2]) / 2.0 if passed.size > 2 else 0.0)


def pause(step: Ints, wall_time: Floats, starts: Ints) -> Stall | None:
    """Return the longest time without a point within a run, between two that follow each other in one session.

    A pause that recurs, as of evaluations, is usual; one of more than two hours is taken for the time between two sessions.
    """
    if wall_time.size > 1 and _ends(wall_time)[1] < _PAUSE:
        return None
    passed = np.diff(wall_time)
    steps = np.diff(step)
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


def _ends(values: Floats | Ints) -> tuple[float, float]:
    """Return the least and the largest distance of neighbours, NaN if one is."""
    parts = (np.diff(values[at : at + _CHUNK + 1]) for at in range(0, values.size - 1, _CHUNK))
    least, most = zip(*((part.min(), part.max()) for part in parts), strict=True)
    return float(np.min(least)), float(np.max(most))
