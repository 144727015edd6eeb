"""Decides whether runs are worse than a baseline in one number each: for continuous integration.

With LEAST_RUNS or more on each side the difference of the means has an interval by Welch (Biometrika 34, 1947): variances may
differ, and the degrees of freedom are Satterthwaite's. Robust is the same of means without the lowest and the highest quarter,
with winsorised variances (Yuen, Biometrika 61, 1974). Runs are worse if the one-sided interval of the difference, on the side
that is worse, lies beyond the margin. With fewer runs the margin alone decides.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from parsers.analysis.curves.final_values import last_value
from parsers.analysis.curves.segments import resolved
from parsers.analysis.curves.student import upper_quantile
from parsers.model import Floats, Series

LOWER, HIGHER = "lower", "higher"
NOT_WORSE, WORSE, CANNOT_TELL = "not worse", "worse", "cannot tell"
LEAST_RUNS = 3
"""With fewer runs on a side there is no interval."""
TRIMMED = 0.25
"""Share of the values that the robust mean leaves out at each end, rounded down."""
FINISHED = 0.95
"""A run is unfinished if it ended before this share of the usual last step of the baseline."""
MOST_VALUES = 10**9
_VALUE = re.compile(r"last|best|mean:([1-9][0-9]{0,8})|step:(-?[0-9]{1,18})")
_MARGIN = re.compile(r"([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*(%?)")


class Margin(NamedTuple):
    """How much worse is not worse: in the unit of the value, or as a share of the size of the baseline's mean."""

    size: float
    relative: bool = False

    def around(self, centre: float) -> float:
        """Return the margin in the unit of the value for a baseline with this mean."""
        return self.size * abs(centre) if self.relative else self.size


@dataclass(frozen=True, slots=True)
class Gate:
    """One number of a run, and when it is worse than that of a baseline.

    better is LOWER or HIGHER, alpha the probability, below 0.5, that runs alike are taken for worse. Without a margin (None) it
    is 0, and fewer than LEAST_RUNS runs on a side are refused.
    """

    better: str
    margin: Margin | None = None
    alpha: float = 0.05
    robust: bool = False


@dataclass(frozen=True, slots=True)
class RunValue:
    """The number of one run. missing says why there is none, "" if there is one; then value is NaN.

    last_step is that of the curve, -1 for numbers that have none; any step is compared with those of the baseline. bad is how
    many values of the curve are NaN or infinite, first_bad the step of the first one. incomplete: a file ends within a record.
    source is what it was measured by; numbers of different sources are not compared.
    """

    run: str
    value: float
    last_step: int = -1
    bad: int = 0
    first_bad: int = -1
    missing: str = ""
    incomplete: bool = False
    source: str = ""


class Interval(NamedTuple):
    """A difference of means, the ends of its interval with the level 1 - 2 alpha, and its degrees of freedom (inf if every
    value of a side is the same)."""

    difference: float
    low: float
    high: float
    freedom: float


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """What a gate found: state is NOT_WORSE, WORSE or CANNOT_TELL, reason a name in REASONS, about the run `run` ("" for all).

    candidate and baseline are the means, NaN if there is none; difference is candidate minus baseline. low and high are NaN
    without an interval. margin is in the unit of the value.
    """

    state: str
    reason: str
    candidate: float
    baseline: float
    runs: int
    baseline_runs: int
    margin: float
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    freedom: float = math.nan
    run: RunValue | None = None


REASONS = (
    "within", "beyond", "margin_within", "margin_beyond", "too_wide", "not_finite", "baseline_not_finite", "missing",
    "baseline_missing", "unfinished", "baseline_unfinished", "sources",
)  # fmt: skip


class TooFewRuns(ValueError):
    """Raised by `compare` for a gate without a margin if a side has fewer than LEAST_RUNS runs."""


def parse_margin(text: str) -> Margin:
    """Parse "0.02" or "2 %"; ValueError, with what was expected, for anything else."""
    found = _MARGIN.fullmatch(text.strip())
    size = float(found[1]) if found else math.inf
    if found is None or not math.isfinite(size):
        raise ValueError("a number from 0, in the unit of the value or in percent of the baseline (0.02, 2%)")
    return Margin(size / 100.0, True) if found[2] else Margin(size)


def check_value(text: str) -> str:
    """Return the text if it says which value of a curve counts; ValueError, with what was expected, for anything else."""
    if not _VALUE.fullmatch(text):
        raise ValueError("last, best, mean:N (of the last N points) or step:N")
    return text


def run_value(run: str, series: Series, value: str, better: str, *, incomplete: bool = False) -> RunValue:
    """Return the value of a curve that counts, by `check_value`, with restarts resolved as on pages; best is finite."""
    found = _VALUE.fullmatch(value)
    if found is None:
        raise ValueError(f"value: expected last, best, mean:N or step:N, found {value!r}")
    if not series.step.size:
        return RunValue(run, math.nan, missing="no values", incomplete=incomplete)
    kept = resolved(series)
    finite = np.isfinite(kept.value)
    bad = np.flatnonzero(~finite)
    first_bad = int(kept.step[bad[0]]) if bad.size else -1
    chosen, missing = math.nan, ""
    if value == "last":
        chosen = last_value(kept).value
    elif value == "best":
        known = kept.value[finite]
        chosen = float(known.min() if better == LOWER else known.max()) if known.size else math.nan
    elif found[1]:
        chosen = _mean(kept.value[-min(int(found[1]), MOST_VALUES) :])
    else:
        at = np.flatnonzero(kept.step == int(found[2]))
        chosen, missing = (float(kept.value[at[-1]]), "") if at.size else (math.nan, f"no value at step {int(found[2])}")
    last = -1 if found[2] else int(kept.step[-1])
    return RunValue(run, chosen, last, int(bad.size), first_bad, missing, incomplete)


def compare(gate: Gate, runs: Sequence[RunValue], baseline: Sequence[RunValue], *, shorter: bool = False) -> GateVerdict:
    """Decide whether runs are worse than a baseline; each has one or more. shorter: runs that ended earlier are compared, too.
    TooFewRuns if there is no interval and no margin.
    """
    nothing = all(one.missing for one in baseline)  # such as a saved baseline without the metric
    if gate.margin is None and min(len(runs), len(baseline)) < LEAST_RUNS and not nothing:
        raise TooFewRuns(f"expected a margin, or {LEAST_RUNS} runs on each side; found {len(runs)} and {len(baseline)}")
    margin = gate.margin or Margin(0.0)
    mine, theirs = (np.array([one.value for one in side], np.float64) for side in (runs, baseline))
    centres = _centre(mine, robust=gate.robust), _centre(theirs, robust=gate.robust)
    size = margin.around(centres[1])
    found = _unusable(runs, baseline, shorter=shorter)
    if found is not None:
        state, reason, run = found
        return GateVerdict(state, reason, *centres, len(runs), len(baseline), size, run=run)
    sign = 1.0 if gate.better == LOWER else -1.0
    difference = _scaled_difference(*centres)
    if min(len(runs), len(baseline)) < LEAST_RUNS:
        state, reason = (WORSE, "margin_beyond") if sign * difference > size else (NOT_WORSE, "margin_within")
        return GateVerdict(state, reason, *centres, len(runs), len(baseline), size, difference)
    interval = difference_interval(mine, theirs, gate.alpha, robust=gate.robust)
    near, far = sorted((sign * interval.low, sign * interval.high))
    if near > size:
        state, reason = WORSE, "beyond"
    elif size > 0.0 and near < -size and far > size:
        state, reason = CANNOT_TELL, "too_wide"
    else:
        state, reason = NOT_WORSE, "within"
    return GateVerdict(state, reason, *centres, len(runs), len(baseline), size, *interval)


def difference_interval(values: Floats, others: Floats, alpha: float, *, robust: bool = False) -> Interval:
    """Return mean(values) - mean(others) with the interval of level 1 - 2 alpha, so that each end is one-sided at 1 - alpha.

    Welch's, or with robust Yuen's; both sides have two finite values or more.
    """
    scale = max(float(np.abs(values).max()), float(np.abs(others).max())) or 1.0
    (first, error, freedom), (second, other_error, other_freedom) = (
        _moments(side / scale, robust=robust) for side in (values, others)
    )
    whole = error + other_error
    difference = first - second
    if whole <= 0.0:
        return Interval(difference * scale, difference * scale, difference * scale, math.inf)
    shares = error / whole, other_error / whole
    degrees = 1.0 / (shares[0] ** 2 / freedom + shares[1] ** 2 / other_freedom)
    half = upper_quantile(alpha, degrees) * math.sqrt(whole)
    return Interval(difference * scale, (difference - half) * scale, (difference + half) * scale, degrees)


def _moments(values: Floats, *, robust: bool) -> tuple[float, float, int]:
    """Return (mean, square of its standard error, degrees of freedom)."""
    n = values.size
    cut = int(TRIMMED * n) if robust else 0
    left = n - 2 * cut
    ordered = np.sort(values)
    pulled = np.clip(ordered, ordered[cut], ordered[n - cut - 1])
    spread = float(pulled.var(ddof=1)) if ordered[cut] < ordered[n - cut - 1] else 0.0
    return float(ordered[cut : n - cut].mean()), (n - 1) * spread / (left * (left - 1)), left - 1


def _centre(values: Floats, *, robust: bool) -> float:
    """Return the mean, with robust that of the middle half; not finite if a value is not."""
    if not values.size:
        return math.nan
    cut = int(TRIMMED * values.size) if robust and bool(np.isfinite(values).all()) else 0
    return _mean(np.sort(values)[cut : values.size - cut])


def _mean(values: Floats) -> float:
    """Return a mean that does not overflow; NaN or infinite if a value is."""
    size = float(np.abs(values).max(initial=0.0))
    if not math.isfinite(size) or size == 0.0:
        with np.errstate(invalid="ignore"):
            return float(values.mean())
    return float((values / size).mean()) * size


def _scaled_difference(value: float, other: float) -> float:
    return value - other if math.isfinite(value) and math.isfinite(other) else math.nan


def _unusable(
    runs: Sequence[RunValue], baseline: Sequence[RunValue], *, shorter: bool
) -> tuple[str, str, RunValue] | None:  # fmt: skip
    """Return (state, reason, run) if values alone do not decide."""
    for one in baseline:
        if one.missing:
            return CANNOT_TELL, "baseline_missing", one
        if not math.isfinite(one.value):
            return CANNOT_TELL, "baseline_not_finite", one
    usual = not any(one.bad for one in baseline)
    for one in runs:
        if (usual and one.bad) or (not one.missing and not math.isfinite(one.value)):
            return WORSE, "not_finite", one
    for one in runs:
        if one.missing:
            return CANNOT_TELL, "missing", one
        if one.source != baseline[0].source:
            return CANNOT_TELL, "sources", one
    if shorter:
        return None
    return _unfinished(runs, baseline)


def _unfinished(runs: Sequence[RunValue], baseline: Sequence[RunValue]) -> tuple[str, str, RunValue] | None:
    known = [one.last_step for one in baseline if one.last_step >= 0]
    usual = FINISHED * float(np.median(known)) if known else -1.0
    for reason, side in (("baseline_unfinished", baseline), ("unfinished", runs)):
        for one in side:
            if one.incomplete or 0 <= one.last_step < usual:
                return CANNOT_TELL, reason, one
    return None
