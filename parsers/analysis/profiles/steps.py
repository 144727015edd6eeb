"""Breaks steps of a profile down into parts, with their average and the outliers.

Two kinds of profile take a step apart in two ways (`form`):

- "legacy" (step_trace_raw of MindSpore 1.x to 2.2): `interval` (fp_point - end of the step before: waiting for data),
  `forward_backward` (bp_point - fp_point), `tail` (end - bp_point: gradients gathered, parameters updated). They add up to the
  whole step. A trace of inference has no tail, and its second part is called `forward`.
- "new" (step_trace_time of MindSpore 2.3 and later, and of torch_npu): `computing` (of which nothing overlaps communication:
  the file's Computing - Overlapped), `overlapped`, `exposed` (Communication(Not Overlapped)), `free` and `preparing` (begin of
  the step on the host to its first task on the device). The whole step is their sum, as MindStudio Insight adds them up. Files
  before CANN 8 have no Preparing.

`other` is what a legacy file counts in the whole step and in no part. Times are whole nanoseconds, so that the parts of a step
add up to it exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints

LEGACY = ("interval", "forward_backward", "forward", "tail", "other")
NEW = ("preparing", "computing", "overlapped", "exposed", "free")
"""Parts in the order in which a bar stacks them."""
FORMS = ("legacy", "new")
IDLE = ("interval", "free", "preparing")
"""Parts in which the device neither computes nor communicates."""

LEAST_STEPS = 5
"""Minimum steps for outliers."""
SCORE = 3.5
"""A modified z-score above this is an outlier (Iglewicz and Hoaglin 1993)."""
LEAST_CHANGE = 0.02
"""A step that differs from the usual one by less than this fraction is no outlier, however even the others are."""
_LONGEST = 2.0**62
"""Longer times, in ns, count as damage: their sums would not fit int64."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Breakdown:
    """The steps of one form and device, in the order of the file.

    step: number of each, -1 where the file has none. start_ns: -1 for unknown. parts: names of the columns of time_ns, shape
    (steps, parts), int64 ns. whole_ns: the sum of each row. sound: rows whose parts are all known, none negative, and not more
    than the whole; in other rows unknown parts are 0. judged: the sound rows used for the average: without the first
    of a legacy trace, which begins with its forward pass and so has no interval, unless it is the only one.
    written_ns: the average as the writer of the file computed it, by part; None where the file has none that adds up.
    copies_ns and fetching_ns: the part of `free` in which memory was copied, and the time in which the host fetched data, a row
    per step; NaN for unknown. cut: numbers of the steps within which the recording ended, which are none of its rows.
    """

    form: str
    device: int
    step: Ints
    start_ns: Ints
    parts: tuple[str, ...]
    time_ns: Ints
    sound: Flags
    judged: Flags
    written_ns: Floats | None
    copies_ns: Floats
    fetching_ns: Floats
    cut: tuple[int, ...]
    whole_ns: Ints = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "whole_ns", self.time_ns.sum(axis=1, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.step)

    def place(self, step: int) -> int | None:
        """The row of a step by its number; of several the first, None for none."""
        found = np.flatnonzero(self.step == step)
        return int(found[0]) if found.size else None

    def column(self, part: str) -> Ints:
        """Times of one part, int64 ns, a row per step. ValueError for a part it does not have."""
        times: Ints = self.time_ns[:, self.parts.index(part)]
        return times


@dataclass(frozen=True, slots=True)
class Average:
    """The usual step: time of each part and of all of them in ns, their shares, and what it is the mean of.

    written: as the writer of the file computed it; steps: how many rows it is the mean of otherwise.
    """

    parts: tuple[str, ...]
    time_ns: tuple[float, ...]
    whole_ns: float
    written: bool
    steps: int

    @property
    def shares(self) -> tuple[float, ...]:
        """Part / whole, 0 to 1; zeros for an empty step."""
        return tuple(time / self.whole_ns if self.whole_ns > 0.0 else 0.0 for time in self.time_ns)

    @property
    def idle(self) -> float:
        """The share of the parts in IDLE."""
        return sum(share for part, share in zip(self.parts, self.shares, strict=True) if part in IDLE)

    @property
    def on_device_ns(self) -> float:
        """The step without preparing, which lies before it: what pages about jobs call a step."""
        return self.whole_ns - self.time_of("preparing")

    def time_of(self, part: str) -> float:
        """ns of one part; 0 for one it does not have."""
        return self.time_ns[self.parts.index(part)] if part in self.parts else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Outliers:
    """Steps that stand out, in the order of the file: row, modified z-score (negative for short steps), the part that differs
    most from its median, and by how many ns. median_ns is the usual whole step."""

    row: Ints
    score: Floats
    part: tuple[str, ...]
    change_ns: Floats
    median_ns: float


def breakdowns(steps: pd.DataFrame) -> tuple[Breakdown, ...]:
    """The breakdowns in a frame of STEPS, the one of most steps first; empty for a frame without any."""
    rows, cut = (steps["kind"].to_numpy() == kind for kind in ("step", "cut"))
    device = steps["device"].to_numpy()
    legacy = ~np.isnan(_columns(steps, ("interval_ns", "forward_backward_ns", "tail_ns"))).all(axis=1)
    new = ~np.isnan(_columns(steps, ("computing_ns", "exposed_ns", "free_ns"))).all(axis=1)
    found = []
    for form, has, make in (("legacy", legacy, _legacy), ("new", new & ~legacy, _new)):
        whole = has & ~cut if form == "legacy" else has & rows
        for number in np.unique(device[whole]).tolist():
            mine = has & (device == number)
            made = make(steps[mine & rows], steps[mine & ~rows & ~cut], form, int(number))
            # A step that was cut before it launched anything is of no device.
            lost = has & cut & ((device == number) | ~np.isin(device, device[whole]))
            found.append(replace(made, cut=tuple(steps["step"][lost].tolist())))
    return tuple(sorted(found, key=lambda one: -len(one)))


def _columns(frame: pd.DataFrame, names: tuple[str, ...]) -> Floats:
    values: Floats = frame[list(names)].to_numpy(np.float64)
    return values


def _legacy(rows: pd.DataFrame, averages: pd.DataFrame, form: str, device: int) -> Breakdown:
    names = {"interval": "interval_ns", "forward_backward": "forward_backward_ns", "tail": "tail_ns"}
    if rows["tail_ns"].isna().all() and averages["tail_ns"].isna().all():
        names = {"interval": "interval_ns", "forward": "forward_backward_ns"}
    times, sound = _whole(_columns(rows, tuple(names.values())))
    total, known = _whole(_columns(rows, ("total_ns",)))
    # Without a total the step is the sum of its parts; if a part is missing too, nothing is known of it.
    other = np.where(known & sound, total[:, 0] - times.sum(axis=1), 0)
    sound &= other >= 0
    parts = tuple(names)
    if (other > 0).any():
        parts, times = (*parts, "other"), np.column_stack((times, np.maximum(other, 0)))
    judged = sound.copy()
    if len(rows) > 1 and times[0, 0] == 0:
        judged[0] = False
    if not judged.any():
        judged = sound
    return _breakdown(form, device, rows, parts, times, sound, judged, _written(averages, names, parts))


def _new(rows: pd.DataFrame, averages: pd.DataFrame, form: str, device: int) -> Breakdown:
    del averages  # no writer of this form computes one
    computing, overlapped, exposed, free, preparing = _columns(
        rows, ("computing_ns", "overlapped_ns", "exposed_ns", "free_ns", "preparing_ns")
    ).T
    columns = {"preparing": preparing, "computing": computing, "overlapped": overlapped, "exposed": exposed, "free": free}
    # What no row of a file tells is no part of it; of an older file all computing counts, whatever it overlaps.
    parts = tuple(name for name in NEW if not np.isnan(columns[name]).all())
    times, sound = _whole(np.column_stack([columns[name] for name in parts]))
    if "overlapped" in parts and "computing" in parts:
        at = parts.index("computing")
        alone = times[:, at] - times[:, parts.index("overlapped")]
        sound &= alone >= 0
        times[:, at] = np.maximum(alone, 0)
    return _breakdown(form, device, rows, parts, times, sound, sound, None)


def _whole(values: Floats) -> tuple[Ints, Flags]:
    """Times as whole ns, 0 where there is none, and the rows that are complete."""
    with np.errstate(invalid="ignore"):
        good = (values >= 0.0) & (values < _LONGEST / max(values.shape[1], 1))
    return np.rint(np.where(good, values, 0.0)).astype(np.int64), good.all(axis=1)


def _written(averages: pd.DataFrame, names: dict[str, str], parts: tuple[str, ...]) -> Floats | None:
    """The average in a file by part, where it adds up: to the whole step, but for what rounding leaves."""
    if averages.empty:
        return None
    row = averages.iloc[-1]
    told = np.array([float(row[column]) for column in names.values()])
    total = float(row["total_ns"])
    left = total - float(told.sum())
    if not np.isfinite(told).all() or (told < 0.0).any() or not 0.0 < total < _LONGEST:
        return None
    if abs(left) <= _ROUNDED_NS:
        left = 0.0
    if left < 0.0 or (left > 0.0 and "other" not in parts):
        return None
    return np.append(told, left) if "other" in parts else told


_ROUNDED_NS = 40.0
"""The writer rounds each of four numbers to its unit of 10 ns."""


def _breakdown(
    form: str, device: int, rows: pd.DataFrame, parts: tuple[str, ...], times: Ints, sound: Flags, judged: Flags,
    written: Floats | None,
) -> Breakdown:  # fmt: skip
    step, start = rows["step"].to_numpy(np.int64), rows["start_ns"].to_numpy(np.int64)
    copies, fetching = _columns(rows, ("copies_ns", "fetching_ns")).T
    return Breakdown(form, device, step, start, parts, times, sound, judged, written, copies, fetching, ())


def average(breakdown: Breakdown) -> Average | None:
    """The average step: the file's own where it adds up, else the mean of the judged rows; None where there is neither.

    MindInsight shows the file's own, which the profiler takes over all steps but the first. Shares are of sums: part / whole.
    """
    if breakdown.written_ns is not None:
        times = tuple(float(time) for time in breakdown.written_ns)
        return Average(breakdown.parts, times, sum(times), True, 0)
    count = int(np.count_nonzero(breakdown.judged))
    if not count:
        return None
    sums = breakdown.time_ns[breakdown.judged].sum(axis=0, dtype=np.float64)
    times = tuple(float(time) / count for time in sums)
    return Average(breakdown.parts, times, sum(times), False, count)


def copies_and_fetching(breakdown: Breakdown, row: int | None = None) -> tuple[float, float]:
    """Return the ns of free time in which memory was copied, and those in which the host fetched data: the means of the judged
    steps, or those of one row. NaN for unknown."""
    rows: Any = breakdown.judged if row is None else [row]
    copies, fetching = (
        float(known.mean()) if known.size else float("nan")
        for times in (breakdown.copies_ns[rows], breakdown.fetching_ns[rows])
        for known in (times[np.isfinite(times)],)
    )
    return copies, fetching


def one_step(breakdown: Breakdown, row: int) -> Average:
    """A single step in the form of an average."""
    times = tuple(float(time) for time in breakdown.time_ns[row])
    return Average(breakdown.parts, times, float(breakdown.whole_ns[row]), False, 1)


def shares(breakdown: Breakdown) -> Floats:
    """Part / whole of every step, shape (steps, parts); NaN for a step of no length."""
    whole = breakdown.whole_ns.astype(np.float64)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0.0, breakdown.time_ns / whole, np.nan)


def outliers(breakdown: Breakdown) -> Outliers:
    """The judged steps whose whole time stands out.

    The rule is that of B. Iglewicz and D. Hoaglin, How to Detect and Handle Outliers (ASQC 1993): the modified z-score
    0.6745 (x - median) / MAD is beyond SCORE, MAD being the median distance from the median; where more than half of the steps
    are equal and MAD is 0, (x - median) / (1.2533 mean distance) instead. A step within LEAST_CHANGE of the median is none.
    """
    at = np.flatnonzero(breakdown.judged)
    whole = breakdown.whole_ns[at].astype(np.float64)
    median = float(np.median(whole)) if at.size else float("nan")
    if at.size < LEAST_STEPS:
        return Outliers(np.empty(0, np.int64), np.empty(0), (), np.empty(0), median)
    away = whole - median
    scale = float(np.median(np.abs(away))) / 0.6745 or float(np.abs(away).mean()) * 1.2533
    score = away / scale if scale > 0.0 else np.zeros(at.size)
    out = (np.abs(score) > SCORE) & (np.abs(away) > LEAST_CHANGE * median)
    rows = at[out]
    usual = np.median(breakdown.time_ns[at], axis=0)
    change = breakdown.time_ns[rows] - usual
    # The part that went the way the whole step went.
    worst = np.argmax(change * np.sign(away[out])[:, None], axis=1) if rows.size else np.empty(0, np.int64)
    names = tuple(breakdown.parts[part] for part in worst.tolist())
    return Outliers(rows, score[out], names, change[np.arange(rows.size), worst], median)


def drift(times: Any) -> float:
    """How much the last third of a history differs from the first, as a part of the first: medians, so that single steps do
    not count. NaN for fewer than 6 times or a first third of 0."""
    values = np.asarray(times, np.float64)
    third = values.size // 3
    if third < 2:
        return float("nan")
    first, last = float(np.median(values[:third])), float(np.median(values[-third:]))
    return last / first - 1.0 if first > 0.0 else float("nan")


def merged_boxes(begin: Floats, end: Floats, pixel: float, most: int) -> list[tuple[int, int]]:
    """Return ranges of boxes, ordered by start, that are drawn as one box.

    Boxes of less than two pixels are merged if less than a pixel is between them. While there are more than `most` boxes, wider
    gaps are merged too.
    """
    gap = pixel
    while True:
        groups: list[tuple[int, int]] = []
        reach, small = -np.inf, False
        for at in range(begin.size):
            tiny = bool(end[at] - begin[at] < 2.0 * gap)
            if groups and tiny and small and begin[at] - reach < gap:
                groups[-1] = (groups[-1][0], at + 1)
            else:
                groups.append((at, at + 1))
            small = tiny
            reach = max(reach if groups[-1][0] != at else -np.inf, float(end[at]))
        if len(groups) <= most:
            return groups
        gap = gap * 2.0 or 1.0
