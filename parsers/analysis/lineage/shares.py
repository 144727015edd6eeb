"""Share of a result's variance that goes with each setting when all are considered together: held-out permutation importance.

A Gaussian process (`parsers.analysis.lineage.process`) is fitted to four fifths of the runs and predicts the others; then each
setting is replaced there by that of other runs, and how much worse the prediction gets is that setting's importance (Breiman
2001). It is given as half the growth of the mean squared error, divided by the variance of the result: for independent settings
and a process that knows the function, Sobol's total index, the share of the variance that the setting has alone and together
with others. Variance that was not learned is attributed to no setting, so with a poor fit all shares are small. This is done
again for other fifths (a refit); the value is the mean over refits, and its 95 % interval that of Nadeau and Bengio (Machine
Learning 52, 2003), whose variance allows for the runs that refits share.

Positive numbers that span a factor of 100 count by their logarithm. What is missing counts as the middle, and whether it is
missing as a category of the setting, unless a category of another setting says so, as of a momentum only one optimizer has.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.curves.seeds import student
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
EXPLAINS = 0.3
"""... and the process explains at least this share of the variance."""
_HELD_OUT = 5
"""One of so many runs is held out."""
_REPLACED = 16
"""Other runs whose setting a held-out one is given at each refit."""
_DECADES = 100.0


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


def variance_shares(
    table: pd.DataFrame, target: str, settings: Sequence[str] | None = None, *, refits: int = REFITS, seed: int = 0
) -> Iterator[Shares]:
    """What is known after each refit, first of none; by default of all of `settings_of`. Equal arguments give equal numbers.

    A setting that never varies, has too few runs or a value of its own in almost every run has no number, as in `importance`;
    of settings that always change together the first stands for all. Who takes no further item of the iterator ends the work.
    KeyError and ValueError as of `importance`.
    """
    columns = setting_columns(table, target, settings)
    result = numbers_of(table[target])
    rows = np.flatnonzero(np.isfinite(result))
    others = confounded(columns, len(table))
    used = [one for one in columns if not one.reason and one.name not in others]
    y = result[rows]
    reason = "few" if len(rows) < FEWEST_RUNS else "constant" if y.min() == y.max() else "" if used else "settings"
    found = np.empty((0, len(used)))
    yield Shares(_frame(used, found), len(rows), 0, float("nan"), reason)
    if reason:
        return
    y = _scaled(y)
    places, apart, owner = _places([table[one.name].iloc[rows] for one in used])
    random = np.random.default_rng(seed)
    chosen = random.permutation(len(y))[:MOST_RUNS]
    whole = fitted(places[chosen], y[chosen], apart)
    errors: list[float] = []
    for refit in range(refits):
        importances, error = _refit(places, y, (apart, owner, len(used)), whole, random)
        found = np.vstack([found, importances])
        errors.append(error)
        yield Shares(_frame(used, found), len(rows), refit + 1, 1.0 - float(np.mean(errors)))


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
    unknown = (high >= NEGLIGIBLE) & (low < NONE)
    return [str(one) for one in names[high < NEGLIGIBLE]], [str(one) for one in names[unknown]]


def _places(columns: Sequence[pd.Series[Any]]) -> tuple[Floats, NDArray[np.bool_], Ints]:
    """(places of runs, which columns are categories, the setting of each column)."""
    numbers = [None if is_text(one) else numbers_of(one) for one in columns]
    texts = [np.asarray(pd.factorize(one.map(level_text, na_action="ignore"))[0], np.int64) if is_text(one) else None
             for one in columns]  # fmt: skip
    made: list[Floats] = []
    owner: list[int] = []
    apart: list[bool] = []
    for at, (number, text) in enumerate(zip(numbers, texts, strict=True)):
        if text is not None:
            parts = [text.astype(np.float64)]
        else:
            assert number is not None
            missing = ~np.isfinite(number)
            told = any(other is not None and _tells(other, missing) for other in texts)
            parts = [_number(number), *([missing.astype(np.float64)] if missing.any() and not told else [])]
        made += parts
        owner += [at] * len(parts)
        apart += [text is not None, True][: len(parts)]
    return np.stack(made, axis=1), np.array(apart), np.array(owner, np.int64)


def _tells(codes: Ints, missing: NDArray[np.bool_]) -> bool:
    """Return whether the category of a run says whether its number is missing."""
    counts = np.bincount(codes + 1)
    lost = np.bincount(codes + 1, weights=missing)
    return bool(((lost == 0) | (lost == counts)).all()) and len(counts) < len(codes) // 2


def _number(values: Floats) -> Floats:
    """Numbers from 0 to 1, by their logarithm if they span decades, by their ranks if they span more than float64 can."""
    finite = np.isfinite(values)
    known = values[finite]
    if known.size and known.min() > 0.0 and known.max() / 2.0 >= _DECADES / 2.0 * known.min():
        known = np.log(known)
    with np.errstate(over="ignore"):
        span = float(np.ptp(known)) if known.size else 0.0
    if not math.isfinite(span):
        known = np.unique(known, return_inverse=True)[1].astype(np.float64)
        span = float(known.max())
    found = np.full(len(values), 0.5)
    if span > 0.0:
        found[finite] = (known - known.min()) / span
    return found


def _refit(
    places: Floats, y: Floats, columns: tuple[NDArray[np.bool_], Ints, int], whole: Process, random: np.random.Generator
) -> tuple[Floats, float]:
    """Return the importance of each setting by one fit, and its mean squared error on runs that were held out."""
    apart, owner, settings = columns
    order = random.permutation(len(y))
    held = max(2, len(y) // _HELD_OUT)
    left, drawn = order[:held][:MOST_RUNS], order[held:][:MOST_RUNS]
    process = fitted(places[drawn], y[drawn], apart, whole)
    wanted = np.tile(y[left], _REPLACED)
    whole_distance = process.distances(places[left], range(places.shape[1]))
    error = float(((process.expected(whole_distance) - y[left]) ** 2).mean())
    worse = np.zeros(settings)
    for setting in range(settings):
        mine = np.flatnonzero(owner == setting).tolist()
        if (process.relevance[mine] > NO_RELEVANCE).any():
            others = places[random.integers(0, len(y), _REPLACED * len(left))]
            rest = np.tile(whole_distance - process.distances(places[left], mine), (_REPLACED, 1))
            guesses = process.expected(rest + process.distances(others, mine))
            worse[setting] = float(((guesses - wanted) ** 2).mean()) - error
    return worse / 2.0, error


def _frame(used: Sequence[SettingColumn], found: Floats) -> pd.DataFrame:
    nothing = np.full(len(used), np.nan)
    mean, half = (found.mean(axis=0) if len(found) else nothing), nothing
    if len(found) > 1:
        half = student(len(found) - 1) * found.std(axis=0, ddof=1) * math.sqrt(1.0 / len(found) + 1.0 / (_HELD_OUT - 1))
    frame = pd.DataFrame(
        {
            "setting": pd.Series([one.name for one in used], dtype="str"),
            "importance": mean, "low": mean - half, "high": mean + half,
        }
    )  # fmt: skip
    # A share whose interval reaches 0 has no rank: it follows those that have one.
    frame["ranked"] = frame["low"] >= NONE if len(found) > 1 else True
    frame = frame.sort_values(["ranked", "importance"], ascending=False, kind="stable", ignore_index=True)
    return frame.drop(columns="ranked")
