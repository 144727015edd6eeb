"""Importance of settings for a result when all are considered together: permutation importance of small random forests.

A forest of extremely randomised trees (Geurts 2006) is grown on runs drawn with replacement and asked for those that were not
drawn; then each setting in turn is shuffled among these, and how much worse the forest guesses is that setting's importance
(Breiman 2001). It is given as half the growth of the mean squared error, divided by the variance of the result: for independent
settings and a forest that knows the function, Sobol's total index, the share of the variance that the setting has alone and
together with others; scikit-learn's `permutation_importance` scored by R^2 is twice that. Variance that a forest could not
learn is attributed to no setting, so with a poor fit all shares are small. This is repeated for every draw (a refit); the
value is the mean over refits, and its interval spans the middle 95 % of them.

Needs scikit-learn (pip install mindscope[importance]), which is imported by the first refit. Only the order of numbers
matters to trees. The categories of a text are ordered by their mean result among the runs drawn (Breiman et al. 1984,
section 4.2). Missing values go to the branch that fits best.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from parsers.analysis.lineage.settings import SettingColumn, confounded, is_text, level_text, numbers_of, setting_columns
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints

REFITS = 40
FEWEST_RUNS = 10
"""Minimum runs: with fewer, too few remain outside a draw to evaluate a forest."""
MOST_RUNS = 5_000
"""Maximum runs per draw."""
TREES = 40
_SHUFFLED = 100
"""Runs shuffled for a setting at each refit: of few left out several times."""
_LEAF = 2
_MOST_CELLS = 4_000_000
"""Maximum values predicted at a time."""


def available() -> bool:
    """Return whether scikit-learn is installed."""
    return find_spec("sklearn") is not None


@dataclass(frozen=True, slots=True)
class Forest:
    """Importance after some refits.

    importance is a frame of schema FOREST; fit the R^2 of guesses of runs that were not drawn, 1 for exact ones, 0 or less
    where they are no better than the mean result (NaN before any); reason "few" where the result has too few runs for a
    forest, "constant" where it does not vary, "settings" where no setting has more than one value, else empty.
    """

    importance: pd.DataFrame
    runs: int
    refits: int
    fit: float
    reason: str = ""


def forests(
    table: pd.DataFrame, target: str, settings: Sequence[str] | None = None, *, refits: int = REFITS, seed: int = 0
) -> Iterator[Forest]:
    """What is known after each refit, first of none; by default of all of `settings_of`. Equal arguments give equal numbers.

    A setting that never varies, has too few runs or a value of its own in almost every run has no number, as in `importance`;
    of settings that always change together the first stands for all. Who takes no further item of the iterator ends the work.
    KeyError and ValueError as of `importance`; ImportError at the first refit.
    """
    columns = setting_columns(table, target, settings)
    result = numbers_of(table[target])
    rows = np.flatnonzero(np.isfinite(result))
    others = confounded(columns, len(table))
    used = [one for one in columns if not one.reason and one.name not in others]
    y = result[rows]
    reason = "few" if len(rows) < FEWEST_RUNS else "constant" if y.min() == y.max() else "" if used else "settings"
    found = np.empty((0, len(used)))
    yield Forest(_frame(used, found), len(rows), 0, float("nan"), reason)
    if reason:
        return
    y = _scaled(y)
    features = [_Feature.of(table[one.name].iloc[rows]) for one in used]
    random = np.random.default_rng(seed)
    errors: list[float] = []
    for refit in range(refits):
        importances, error = _refit(features, y, random)
        found = np.vstack([found, importances])
        errors.append(error)
        yield Forest(_frame(used, found), len(rows), refit + 1, 1.0 - float(np.mean(errors)))


def _scaled(y: Floats) -> Floats:
    """Scale to mean 0 and variance 1 without overflow."""
    y = y / np.abs(y).max()
    y = y - y.mean()
    y = y / np.abs(y).max()
    return np.asarray(y / np.sqrt((y * y).mean()))


@dataclass(frozen=True, slots=True)
class _Feature:
    """A setting as input of trees: the level number of each run, -1 if missing."""

    codes: Ints
    levels: int
    ordered: bool

    @classmethod
    def of(cls, column: pd.Series[Any]) -> _Feature:
        """The column over the runs of the forest."""
        if is_text(column):
            codes, texts = pd.factorize(column.map(level_text, na_action="ignore"))
            return cls(np.asarray(codes, np.int64), len(texts), len(texts) < 3)
        codes, values = pd.factorize(numbers_of(column), sort=True)
        return cls(np.asarray(codes, np.int64), len(values), True)

    def numbers(self, drawn: Ints, y: Floats) -> Floats:
        """As float64 with NaN for what is missing; of categories what the runs drawn say of their levels."""
        if self.ordered:
            return np.where(self.codes < 0, np.nan, self.codes)
        codes = self.codes[drawn]
        there = codes >= 0
        counts = np.bincount(codes[there], minlength=self.levels)
        sums = np.bincount(codes[there], weights=y[drawn][there], minlength=self.levels)
        means = np.divide(sums, counts, out=np.zeros(self.levels), where=counts > 0)
        return np.where(self.codes < 0, np.nan, means[self.codes])


def _refit(features: Sequence[_Feature], y: Floats, random: np.random.Generator) -> tuple[Floats, float]:
    """Return the importance of each feature by one forest, and its mean squared error on runs that were not drawn."""
    from sklearn.ensemble import ExtraTreesRegressor

    n = len(y)
    while True:
        drawn = random.integers(0, n, min(n, MOST_RUNS))
        left = np.setdiff1d(np.arange(n), drawn)[:MOST_RUNS]
        if len(left) > 1 and np.ptp(y[drawn]) > 0:
            break
    x = np.stack([one.numbers(drawn, y) for one in features], axis=1).astype(np.float32)
    seed = int(random.integers(1 << 31))
    forest = ExtraTreesRegressor(TREES, min_samples_leaf=_LEAF, n_jobs=1, random_state=seed)
    forest.fit(x[drawn], y[drawn])
    kept, wanted = x[left], y[left]
    error = float(((forest.predict(kept) - wanted) ** 2).mean())
    shuffles = max(1, -(-_SHUFFLED // len(left)))
    at_once = max(1, _MOST_CELLS // (kept.size * shuffles))
    worse = np.empty(len(features))
    for begin in range(0, len(features), at_once):
        some = range(begin, min(begin + at_once, len(features)))
        asked = np.tile(kept, (len(some) * shuffles, 1)).reshape(len(some), shuffles, *kept.shape)
        for place, at in enumerate(some):
            for shuffle in range(shuffles):
                asked[place, shuffle, :, at] = random.permutation(kept[:, at])
        guesses = forest.predict(asked.reshape(-1, kept.shape[1])).reshape(asked.shape[:3])
        worse[begin : some.stop] = ((guesses - wanted) ** 2).mean(axis=(1, 2)) - error
    return worse / 2.0, error


def _frame(used: Sequence[SettingColumn], found: Floats) -> pd.DataFrame:
    nothing = np.full(len(used), np.nan)
    low, high = np.quantile(found, [0.025, 0.975], axis=0) if len(found) > 1 else (nothing, nothing)
    frame = pd.DataFrame(
        {
            "setting": pd.Series([one.name for one in used], dtype="str"),
            "importance": found.mean(0) if len(found) else nothing, "low": low, "high": high,
        }
    )  # fmt: skip
    return frame.sort_values("importance", ascending=False, kind="stable", ignore_index=True)
