"""Share of a result's variance that goes with each setting when all are considered together: Sobol's total index of a fit.

A Gaussian process (`parsers.analysis.lineage.process`) is fitted to four fifths of the runs. It predicts the result at places
where each setting has, by itself, any of its values: those of the range that a search drew from, evenly, or those of the runs,
as often as they have them. The importance of a setting is how much predictions differ when it alone is drawn again: half the
mean squared difference, divided by the variance of the result over these places (Jansen, Computer Physics Communications 117,
1999): the share of the variance that the setting has alone and together with others. That the trials of a search lie densely
in some part of the range does not count. What the process predicts wrongly of the runs that were held out counts as variance
of no setting, so with a poor fit all shares are small. This is done again for other fifths (a refit); the value is the mean
over refits, and its 95 % interval that of Nadeau and Bengio (Machine Learning 52, 2003), whose variance allows for the runs
that refits share.

Nothing tells what a setting does where it was never tried. A search that crowds near its best trials may leave a third of a
range empty, in which the process can only go on as it was; such a setting has no rank. Of two settings the order is sure if
the interval of the difference of their shares, refit by refit, excludes 0; otherwise they are tied.

Positive numbers that span a factor of 100 count by their logarithm. What is missing counts as the middle, and whether it is
missing as a category of the setting, unless a category of another setting says so, as of a momentum only one optimizer has.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.curves.student import student
from parsers.analysis.lineage.process import NO_RELEVANCE, Process, fitted
from parsers.analysis.lineage.settings import SettingColumn, confounded, is_text, level_text, numbers_of, setting_columns
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints

REFITS = 40
FEWEST_RUNS = 10
"""Minimum runs: with fewer, too few remain outside a fit to evaluate it."""
MOST_RUNS = 150
"""Maximum runs of a fit, whose time grows with their cube, and of those that it is evaluated on."""
NONE = 0.005
"""A share whose interval reaches below this is not told from none: it is shown as 0 %."""
NEGLIGIBLE = 0.05
"""A setting can be left alone if the whole interval of its share is below this ..."""
LEAST_FIT = 0.05
"""R^2 of predictions of held-out runs up to which they are no better than the mean result, so that shares say nothing."""
EXPLAINS = 0.3
"""... and the process explains at least this share of the variance."""
UNTRIED = 1.0 / 3.0
"""Largest part of its range that a setting with a rank may have without a run in it. Of 20 even draws 1 in 100 leave that."""
_HELD_OUT = 5
"""One of so many runs is held out."""
_DRAWN = 1_000
"""Places at which a fit predicts."""
_DECADES = 100.0
_MIDDLE = 0.5
"""Place of a number that is missing."""


class Range(NamedTuple):
    """Numbers from which a search drew a setting, in the logarithm or not; step is their distance, 0 if any may be drawn."""

    low: float
    high: float
    log: bool = False
    step: float = 0.0


@dataclass(frozen=True, slots=True)
class _Columns:
    """What the columns of places are: apart those of categories, owner the setting of each.

    values are those of each column, as often as they count; None for all from 0 to 1 evenly. silent has (a number, a category
    of another setting, its codes with which the number is never recorded), as of a momentum that only one optimizer has.
    """

    apart: NDArray[np.bool_]
    owner: Ints
    settings: int
    values: Sequence[Floats | None]
    silent: Sequence[tuple[int, int, Ints]]


@dataclass(frozen=True, slots=True)
class Shares:
    """Importance after some refits.

    importance is a frame of schema SHARES; fit the R^2 of predictions of runs that were held out, 1 for exact ones, 0 or less
    where they are no better than the mean result (NaN before any); reason "few" where the result has too few runs, "constant"
    where it does not vary, "settings" where no setting has more than one value, else empty.
    """

    importance: pd.DataFrame
    runs: int
    refits: int
    fit: float
    reason: str = ""

    @property
    def judged(self) -> bool:
        """Whether the fit is good enough for its shares to say something."""
        return self.fit > LEAST_FIT


def variance_shares(
    table: pd.DataFrame, target: str, settings: Sequence[str] | None = None, *, refits: int = REFITS, seed: int = 0,
    ranges: Mapping[str, Range] | None = None,
) -> Iterator[Shares]:  # fmt: skip
    """What is known after each refit, first of none; by default of all of `settings_of`. Equal arguments give equal numbers.

    ranges: those that a search drew numbers from; categories are then even, too. Without any, values count as often as the runs
    have them, and nothing is untried.

    A setting that never varies, has too few runs or a value of its own in almost every run has no number, as in `importance`;
    of settings that always change together the first stands for all. Who takes no further item of the iterator ends the work.
    KeyError and ValueError as of `importance`.
    """
    known = setting_columns(table, target, settings)
    result = numbers_of(table[target])
    rows = np.flatnonzero(np.isfinite(result))
    others = confounded(known, len(table))
    used = [one for one in known if not one.reason and one.name not in others]
    y = result[rows]
    reason = "few" if len(rows) < FEWEST_RUNS else "constant" if y.min() == y.max() else "" if used else "settings"
    found = np.empty((0, len(used)))
    untried = [_untried(table[one.name].iloc[rows], (ranges or {}).get(one.name)) for one in used]
    yield Shares(_frame(used, found, untried), len(rows), 0, float("nan"), reason)
    if reason:
        return
    y = _scaled(y)
    places, columns = _places([table[one.name].iloc[rows] for one in used], ranges or {})
    generator = np.random.default_rng(seed)
    chosen = generator.permutation(len(y))[:MOST_RUNS]
    whole = fitted(places[chosen], y[chosen], columns.apart)
    errors: list[float] = []
    for refit in range(refits):
        importances, error = _refit(places, y, columns, whole, generator)
        found = np.vstack([found, importances])
        errors.append(error)
        yield Shares(_frame(used, found, untried), len(rows), refit + 1, 1.0 - float(np.mean(errors)))


def _scaled(y: Floats) -> Floats:
    """Scale to mean 0 and variance 1 without overflow."""
    y = y / np.abs(y).max()
    y = y - y.mean()
    y = y / np.abs(y).max()
    return np.asarray(y / np.sqrt((y * y).mean()))


def stoppable(importance: pd.DataFrame, fit: float) -> tuple[list[str], list[str]] | None:
    """Return (settings that can be left alone, settings of which that is not known) by a frame of schema SHARES.

    None where the process explains too little of the result to say so of any, or before the second refit.
    """
    if not fit >= EXPLAINS or not np.isfinite(importance["high"]).all():
        return None
    low, high = importance["low"].to_numpy(np.float64), importance["high"].to_numpy(np.float64)
    names = importance["setting"].to_numpy()
    untried = (importance["reason"] == "untried").to_numpy(np.bool_)
    unknown = ((high >= NEGLIGIBLE) & (low < NONE)) | untried
    return [str(one) for one in names[(high < NEGLIGIBLE) & ~untried]], [str(one) for one in names[unknown]]


def _places(columns: Sequence[pd.Series[Any]], ranges: Mapping[str, Range]) -> tuple[Floats, _Columns]:
    """Return (places of runs, what their columns are)."""
    numbers = [None if is_text(one) else numbers_of(one) for one in columns]
    texts = [np.asarray(pd.factorize(one.map(level_text, na_action="ignore"))[0], np.int64) if is_text(one) else None
             for one in columns]  # fmt: skip
    made: list[Floats] = []
    owner: list[int] = []
    apart: list[bool] = []
    column_of: dict[int, int] = {}
    tellers: list[tuple[int, int, Ints]] = []
    values: list[Floats | None] = []
    for at, (number, text) in enumerate(zip(numbers, texts, strict=True)):
        column_of[at] = len(made)
        if text is not None:
            parts = [text.astype(np.float64)]
            values.append(np.unique(parts[0]) if ranges else parts[0])
        else:
            assert number is not None
            missing = ~np.isfinite(number)
            teller = next((place for place, other in enumerate(texts) if other is not None and _tells(other, missing)), None)
            if teller is not None and missing.any():
                tellers.append((at, teller, np.unique(texts[teller][missing])))  # type: ignore[index]  # a teller is a text
            known = ranges.get(str(columns[at].name))
            parts = [_number(number, known), *([missing.astype(np.float64)] if missing.any() and teller is None else [])]
            values += [parts[0][~missing] if known is None else None, *parts[1:]]
        made += parts
        owner += [at] * len(parts)
        apart += [text is not None, True][: len(parts)]
    silent = [(column_of[number], column_of[teller], codes) for number, teller, codes in tellers]
    return np.stack(made, axis=1), _Columns(np.array(apart), np.array(owner, np.int64), len(columns), values, silent)


def _tells(codes: Ints, missing: NDArray[np.bool_]) -> bool:
    """Return whether the category of a run says whether its number is missing."""
    counts = np.bincount(codes + 1)
    lost = np.bincount(codes + 1, weights=missing)
    return bool(((lost == 0) | (lost == counts)).all()) and len(counts) < len(codes) // 2


def _number(values: Floats, of: Range | None) -> Floats:
    """Numbers from 0 to 1, by their logarithm if they span decades, by their ranks if they span more than float64 can."""
    finite = np.isfinite(values)
    known = values[finite]
    ends = np.array(of[:2] if of is not None else (known.min(), known.max()) if known.size else (0.0, 0.0), np.float64)
    decades = ends[0] > 0.0 and ends[1] / 2.0 >= _DECADES / 2.0 * ends[0]
    if (decades if of is None else of.log and ends[0] > 0.0) and (known > 0.0).all():
        known, ends = np.log(known), np.log(ends)
    with np.errstate(over="ignore"):
        span = float(ends[1] - ends[0])
    if not math.isfinite(span):
        known = np.unique(known, return_inverse=True)[1].astype(np.float64)
        ends = np.array([0.0, known.max()])
        span = float(ends[1])
    found = np.full(len(values), _MIDDLE)
    if span > 0.0:
        found[finite] = np.clip((known - ends[0]) / span, 0.0, 1.0)
    return found


def _refit(
    places: Floats, y: Floats, columns: _Columns, whole: Process, generator: np.random.Generator
) -> tuple[Floats, float]:
    """Return the importance of each setting by one fit, and its mean squared error on runs that were held out."""
    order = generator.permutation(len(y))
    held = max(2, len(y) // _HELD_OUT)
    left, drawn = order[:held][:MOST_RUNS], order[held:][:MOST_RUNS]
    process = fitted(places[drawn], y[drawn], columns.apart, whole)
    error = float(((process.predict(places[left]) - y[left]) ** 2).mean())
    here, others = _draw(columns, generator), _draw(columns, generator)
    result = process.predict(_recorded(here, columns))
    differs = np.zeros(columns.settings)
    for setting in range(columns.settings):
        mine = columns.owner == setting
        if (process.relevance[mine] > NO_RELEVANCE).any():
            other = process.predict(_recorded(np.where(mine, others, here), columns))
            differs[setting] = float(((other - result) ** 2).mean())
    return differs / 2.0 / (float(result.var()) + error), error


def _draw(columns: _Columns, generator: np.random.Generator) -> Floats:
    """Return places, of shape (_DRAWN, columns), at which each column has by itself any of its values."""
    drawn = [generator.random(_DRAWN) if one is None else generator.choice(one, _DRAWN) for one in columns.values]
    return np.stack(drawn, axis=1)


def _recorded(places: Floats, columns: _Columns) -> Floats:
    """Return places with the middle for numbers that are never recorded with the category there, as of the runs."""
    found = places.copy()
    for number, teller, codes in columns.silent:
        found[np.isin(places[:, teller], codes), number] = _MIDDLE
    return found


def _untried(column: pd.Series[Any], of: Range | None) -> float:
    """Return the largest part of a range without a run; 0 of categories, without a range, and of a setting of one value."""
    values = np.empty(0) if of is None or is_text(column) else np.unique(numbers_of(column))
    values = values[np.isfinite(values)]
    if of is None or not values.size or not of.low < of.high:
        return 0.0
    # A value that was tried stands for what is nearer to it than to the next one that can be drawn.
    half = of.step / 2.0
    low, high = of.low - half, of.high + half
    begins, ends = np.concatenate(([low], values + half)), np.concatenate((values - half, [high]))
    if of.log and low > 0.0 and (values > half).all():
        begins, ends, low, high = np.log(begins), np.log(ends), math.log(low), math.log(high)
    found = float((ends / (high - low) - begins / (high - low)).max())
    return min(max(found, 0.0), 1.0) if math.isfinite(found) else 0.0


def _frame(used: Sequence[SettingColumn], found: Floats, untried: Sequence[float]) -> pd.DataFrame:
    nothing = np.full(len(used), np.nan)
    mean, half = (found.mean(axis=0) if len(found) else nothing), nothing
    if len(found) > 1:
        half = _half(found)
    known = np.asarray(untried, np.float64)
    none = ~(mean - half >= NONE) if len(found) > 1 else np.zeros(len(used), np.bool_)
    reason = np.where(none, "none", np.where(known > UNTRIED, "untried", ""))
    # A share whose interval reaches 0, or of which too little was tried, has no rank: it follows those that have one.
    order = np.lexsort((-mean, reason != ""))
    ranked = order[reason[order] == ""]
    tied = np.zeros(len(used), np.bool_)
    if len(found) > 1:
        for one, following in zip(ranked[:-1].tolist(), ranked[1:].tolist(), strict=True):
            apart = found[:, one] - found[:, following]
            tied[one] = float(apart.mean()) <= float(_half(apart[:, None])[0])
    frame = pd.DataFrame(
        {
            "setting": pd.Series([one.name for one in used], dtype="str"),
            "importance": mean, "low": mean - half, "high": mean + half, "untried": known,
            "reason": pd.Categorical(reason, ["", "none", "untried"]), "tied": tied,
        }
    )  # fmt: skip
    return frame.iloc[order].reset_index(drop=True)


def _half(found: Floats) -> Floats:
    """Return half the width of the 95 % interval of the mean over refits, shape (refits, settings)."""
    wide: Floats = found.std(axis=0, ddof=1) * math.sqrt(1.0 / len(found) + 1.0 / (_HELD_OUT - 1))
    return student(len(found) - 1) * wide
