"""Known functions of the settings of training, and searches that try them: what each setting is worth is computed exactly.

A setting is drawn from its range evenly (in the logarithm, where it is a rate). The value is a loss: less is better. Shares are
those of Sobol (2001), of the variance of the value over the whole range: `main` of a setting alone, `total` with all its
interactions, by evaluating the function at every combination of levels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[np.float64]
Places = Mapping[str, Array]
"""Setting -> places in its range, each from 0 to 1."""
LEVELS = 32
"""Levels of a continuous setting in the brute force."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: continuous from low to high, whole numbers, or one of some choices."""

    name: str
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    whole: bool = False
    choices: tuple[str | bool, ...] = ()
    only_with: tuple[str, int] | None = None
    """(setting, place among its choices) with which alone it is recorded and has an effect."""

    def levels(self) -> Array:
        """Places that stand for equal parts of the range."""
        count = len(self.choices) or (int(self.high - self.low) + 1 if self.whole else LEVELS)
        return (np.arange(count) + 0.5) / count

    def index(self, place: Array) -> NDArray[np.int64]:
        """Which of the choices, or of the whole numbers, lies at a place."""
        count = len(self.levels())
        return np.minimum((np.asarray(place) * count).astype(np.int64), count - 1)

    def value(self, place: float) -> float | str | bool | int:
        """The value at a place."""
        if self.choices:
            return self.choices[int(self.index(np.array(place)))]
        if self.whole:
            return int(self.low) + int(self.index(np.array(place)))
        if self.log:
            return float(math.exp(math.log(self.low) + place * math.log(self.high / self.low)))
        return float(self.low + place * (self.high - self.low))


@dataclass(frozen=True, slots=True)
class Function:
    """A function of settings; `formula` takes their places. Settings that it does not use are inert."""

    name: str
    settings: tuple[Setting, ...]
    formula: Callable[[Places], Array]
    used: tuple[str, ...]
    """Settings that have an effect."""
    best: Mapping[str, float] = field(default_factory=dict)
    """The place of the least value, for the settings that have one."""
    noise: float = 0.1
    """Deviation of results of equal settings, as a share of that of the function: the usual one of a search."""

    def setting(self, name: str) -> Setting:
        """The setting of this name."""
        return next(one for one in self.settings if one.name == name)


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of the variance; `main` and `total` by setting, `groups` by the settings that act together."""

    main: Mapping[str, float]
    total: Mapping[str, float]
    groups: Mapping[tuple[str, ...], float]


@cache
def shares(name: str) -> Shares:
    """The true shares of a function of FUNCTIONS, by its values at all combinations of levels."""
    function = FUNCTIONS[name]
    if not function.used:
        nothing = dict.fromkeys((one.name for one in function.settings), 0.0)
        return Shares(nothing, nothing, {})
    levels = [function.setting(one).levels() for one in function.used]
    grid = dict(zip(function.used, np.meshgrid(*levels, indexing="ij"), strict=True))
    value = np.asarray(function.formula(grid), np.float64)
    centred, effects = value - value.mean(), {}
    parts: dict[tuple[str, ...], Array] = {}
    for size in range(1, len(function.used) + 1):
        for group in combinations(range(len(function.used)), size):
            others = tuple(axis for axis in range(len(function.used)) if axis not in group)
            part = centred.mean(axis=others, keepdims=True)
            for below, known in parts.items():
                if set(below) < {function.used[axis] for axis in group}:
                    part = part - known
            names = tuple(function.used[axis] for axis in group)
            parts[names], effects[names] = part, float((part**2).mean() / (centred**2).mean())
    main = {one.name: effects.get((one.name,), 0.0) for one in function.settings}
    total = {one.name: sum(share for group, share in effects.items() if one.name in group) for one in function.settings}
    return Shares(main, total, effects)


# Functions --------------------------------------------------------------------------------------------------------------------

_RATE = Setting("learning_rate", 1e-5, 1e-1, log=True)
_DROPOUT = Setting("dropout", 0.0, 0.6)
_WIDTH = Setting("width", 1, 8, whole=True)
_SEED = Setting("seed", 0, 9, whole=True)
_MOMENTUM = Setting("momentum", 0.8, 0.99)
_OPTIMIZER = Setting("optimizer", choices=("sgd", "momentum", "adam", "lamb"))
_NORM, _SKIP = Setting("norm", choices=(False, True)), Setting("skip", choices=(False, True))
_SCHEDULE = Setting("schedule", choices=("cosine", "linear", "step"))
_INERT = (_SEED, _MOMENTUM)


def _log_quadratic(at: Places) -> Array:
    return 0.4 + 4.0 * (at["learning_rate"] - 0.6) ** 2


def _u_shape(at: Places) -> Array:
    return np.asarray(0.5 + np.abs(at["dropout"] - 0.35) ** 1.5 + 0.05 * at["width"], np.float64)


def _exclusive(at: Places) -> Array:
    return np.asarray(1.0 - 0.5 * ((at["norm"] > 0.5) ^ (at["skip"] > 0.5)), np.float64)


def _categorical(at: Places) -> Array:
    worth = np.array([0.9, 0.6, 0.3, 0.45])
    return np.asarray(worth[_OPTIMIZER.index(at["optimizer"])] + 0.1 * (at["dropout"] - 0.5))


def _conditional(at: Places) -> Array:
    adam = at["optimizer"] > 0.5
    return np.where(adam, 0.3 + 1.5 * (at["beta"] - 0.8) ** 2, 0.8) + 0.2 * at["dropout"]


def _interacting(at: Places) -> Array:
    """The best learning rate is proportional to the batch size: a valley along the diagonal."""
    return 0.3 + 3.0 * (at["learning_rate"] - 0.2 - 0.6 * at["batch_size"]) ** 2


def _steep(at: Places) -> Array:
    """Above a learning rate training diverges: a cliff."""
    return np.where(at["learning_rate"] > 0.75, 5.0, 1.0 - at["learning_rate"]) + 0.2 * at["width"]


def _many(at: Places) -> Array:
    adam = _OPTIMIZER.index(at["optimizer"]) == 2
    return np.asarray(0.5 + 2.0 * (at["learning_rate"] - 0.5) ** 2 + 0.3 * at["dropout"] * at["width"] - 0.1 * adam, np.float64)


def _training(at: Places) -> Array:
    """Of the variance of results 0.71 goes with the rate, 0.09, 0.009 and 0.0007 with the others, and 0.19 is noise."""
    worth = np.array([-1.0, -0.5, 1.0, 0.5])
    return np.asarray(
        0.4 + 4.0 * (at["learning_rate"] - 0.6) ** 2 + 0.4651 * at["weight_decay"]
        + 0.0537 * worth[_OPTIMIZER.index(at["optimizer"])] + 0.0413 * at["width"]
    )  # fmt: skip


def _nothing(at: Places) -> Array:
    return np.full(np.shape(at["learning_rate"]), 0.7)


FUNCTIONS: dict[str, Function] = {
    one.name: one for one in (
        Function("log_quadratic", (_RATE, *_INERT), _log_quadratic, ("learning_rate",), {"learning_rate": 0.6}),
        Function("u_shape", (_DROPOUT, _WIDTH, *_INERT), _u_shape, ("dropout", "width"), {"dropout": 0.35}),
        Function("exclusive", (_NORM, _SKIP, *_INERT), _exclusive, ("norm", "skip")),
        Function("categorical", (_OPTIMIZER, _DROPOUT, _SEED), _categorical, ("optimizer", "dropout"), {"optimizer": 0.625}),
        Function(
            "conditional",
            (Setting("optimizer", choices=("sgd", "adam")), Setting("beta", 0.5, 0.999, only_with=("optimizer", 1)), _DROPOUT,
             _SEED),
            _conditional, ("optimizer", "beta", "dropout"), {"optimizer": 0.75, "beta": 0.8, "dropout": 0.0},
        ),
        Function(
            "interacting", (_RATE, Setting("batch_size", 16, 1024, log=True), *_INERT), _interacting,
            ("learning_rate", "batch_size"),
        ),
        Function("steep", (_RATE, _WIDTH, *_INERT), _steep, ("learning_rate", "width"), {"learning_rate": 0.75}),
        Function(
            "many", (_RATE, _DROPOUT, _WIDTH, _OPTIMIZER, *_INERT), _many,
            ("learning_rate", "dropout", "width", "optimizer"), {"learning_rate": 0.5},
        ),
        Function(
            "training", (_RATE, Setting("weight_decay", 1e-6, 1e-2, log=True), _OPTIMIZER, _WIDTH, _SCHEDULE), _training,
            ("learning_rate", "weight_decay", "optimizer", "width"), {"learning_rate": 0.6, "weight_decay": 0.0},
            noise=0.484,
        ),
        Function("nothing", (_RATE, _DROPOUT, *_INERT), _nothing, ()),
    )
}  # fmt: skip
"""By name. "nothing" depends on no setting: whatever is found in its trials is noise."""


# Searches ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Trials:
    """Trials of a search in their order. `places` has a row a trial and a column a setting; values include noise."""

    function: Function
    places: Array
    values: Array

    def frame(self) -> pd.DataFrame:
        """A row a trial: settings by name (missing where they have no effect), and `value`."""
        made: dict[str, list[object]] = {}
        for column, one in enumerate(self.function.settings):
            made[one.name] = [one.value(place) if self._active(one, row) else None
                              for row, place in enumerate(self.places[:, column])]  # fmt: skip
        return pd.DataFrame({**made, "value": self.values})

    def _active(self, setting: Setting, row: int) -> bool:
        if setting.only_with is None:
            return True
        name, choice = setting.only_with
        column = [one.name for one in self.function.settings].index(name)
        return int(self.function.settings[column].index(self.places[row, column])) == choice


def _evaluated(random: np.random.Generator, function: Function, place: Array, noise: float) -> float:
    at = {one.name: place[column : column + 1] for column, one in enumerate(function.settings)}
    return float(function.formula(at)[0]) + noise * _spread(function.name) * random.standard_normal()


@cache
def _spread(name: str) -> float:
    """Standard deviation of a function over its range; 1 for one that is constant."""
    function = FUNCTIONS[name]
    random = np.random.default_rng(0)
    places = {one.name: random.random(4096) for one in function.settings}
    spread = float(np.std(function.formula(places)))
    return spread if spread > 1e-9 else 1.0


def random_search(random: np.random.Generator, name: str, trials: int = 40, noise: float = 0.0) -> Trials:
    """Try settings drawn evenly. noise: standard deviation of values of one setting, as a share of that of the function."""
    function = FUNCTIONS[name]
    places = random.random((trials, len(function.settings)))
    values = np.array([_evaluated(random, function, place, noise) for place in places])
    return Trials(function, places, values)


def tpe_search(random: np.random.Generator, name: str, trials: int = 40, noise: float = 0.0) -> Trials:
    """Try settings as a tree-structured Parzen estimator (Bergstra et al. 2011): 10 drawn evenly, then each setting by itself
    near the best quarter and away from the others. Trials crowd where the value is low."""
    function = FUNCTIONS[name]
    places = random.random((min(trials, 10), len(function.settings)))
    values = [_evaluated(random, function, place, noise) for place in places]
    while len(values) < trials:
        order = np.argsort(values, kind="stable")
        best = order[: max(len(values) // 4, 2)]
        found = np.array([_suggest(random, places[best, column], places[order[len(best) :], column], one)
                          for column, one in enumerate(function.settings)])  # fmt: skip
        places = np.vstack([places, found])
        values.append(_evaluated(random, function, found, noise))
    return Trials(function, places, np.array(values))


def _suggest(random: np.random.Generator, good: Array, bad: Array, setting: Setting, candidates: int = 24) -> float:
    """The candidate near good places at which they are densest in comparison with the bad ones."""
    if setting.choices:
        weights = [(np.bincount(setting.index(one), minlength=len(setting.choices)) + 1.0) / (len(one) + len(setting.choices))
                   for one in (good, bad)]  # fmt: skip
        drawn = random.choice(len(setting.choices), candidates, p=weights[0] / weights[0].sum())
        return float((drawn[np.argmax(weights[0][drawn] / weights[1][drawn])] + 0.5) / len(setting.choices))
    width = 1.0 / math.sqrt(len(good) + 1)
    tried = np.concatenate(
        [random.choice(good, candidates - 4) + width * random.standard_normal(candidates - 4), random.random(4)]
    )
    tried = tried[(tried >= 0.0) & (tried < 1.0)]
    density = [np.exp(-0.5 * ((tried[:, None] - one[None, :]) / width) ** 2).mean(axis=1) + 1e-3 for one in (good, bad)]
    return float(tried[np.argmax(density[0] / density[1])])
