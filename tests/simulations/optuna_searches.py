"""Searches over known functions by Optuna's TPE, as it comes and as the tuner sets it. Knows no rule of the product."""

from __future__ import annotations

import numpy as np
import optuna

from app.tuning.samplers import sampler_of
from parsers.tuning.description import Target, Tuning
from tests.simulations.functions import FUNCTIONS, Setting, Trials, _evaluated

optuna.logging.set_verbosity(optuna.logging.WARNING)
BELOW_ONE = float(np.nextafter(1.0, 0.0))


def optuna_search(random: np.random.Generator, name: str, trials: int = 40, noise: float = 0.0) -> Trials:
    """Try settings as Optuna does by default; a setting that is recorded only with another one is drawn only with it."""
    return _searched(random, optuna.samplers.TPESampler(seed=int(random.integers(2**31))), name, trials, noise)


def tuner_search(random: np.random.Generator, name: str, trials: int = 40, noise: float = 0.0) -> Trials:
    """Try settings as the tuner does with the sampler `tpe`: at once all those that exist together."""
    tuning = Tuning("", name, "", (), "tpe", (Target("loss", "metric", "minimize"),), (), seed=int(random.integers(2**31)))
    return _searched(random, sampler_of(tuning)[0], name, trials, noise)


def _searched(
    random: np.random.Generator, sampler: optuna.samplers.BaseSampler, name: str, trials: int, noise: float
) -> Trials:  # fmt: skip
    function = FUNCTIONS[name]
    study = optuna.create_study(sampler=sampler)
    places, values = np.empty((trials, len(function.settings))), np.empty(trials)
    for row in range(trials):
        trial = study.ask()
        drawn: dict[str, int] = {}
        for column, one in enumerate(function.settings):
            if one.only_with is not None and drawn[one.only_with[0]] != one.only_with[1]:
                places[row, column] = random.random()  # not asked for: the function does not use it
            else:
                places[row, column] = _place(trial, one, drawn)
        values[row] = _evaluated(random, function, places[row], noise)
        study.tell(trial, float(values[row]))
    return Trials(function, places, values)


def _place(trial: optuna.Trial, one: Setting, drawn: dict[str, int]) -> float:
    levels = len(one.levels())
    if one.choices:
        drawn[one.name] = trial.suggest_categorical(one.name, list(range(levels)))
        return float((drawn[one.name] + 0.5) / levels)
    if one.whole:
        return float((trial.suggest_int(one.name, 0, levels - 1) + 0.5) / levels)
    return min(trial.suggest_float(one.name, 0.0, 1.0), BELOW_ONE)
