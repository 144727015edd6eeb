"""Chooses settings: Optuna's samplers, seeded by the number of a trial so that any number of workers never repeat each other.

Optuna's GridSampler stops the study from within (which fails outside of `optimize`) and lets workers choose the same point;
its QMCSampler numbers points by reading and then writing a counter. Here both go by the number of the trial, which the
storage gives out once.
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, CmaEsSampler, GPSampler, RandomSampler, TPESampler
from optuna.trial import FrozenTrial, TrialState

from parsers.errors import FormatError
from parsers.tuning.description import TunedParameter, Tuning, label
from parsers.tuning.recording import IMPORTED, RETRY_OF

_MAJOR = int(optuna.__version__.partition(".")[0])
CONSTRAINTS = "constraints"
"""System attribute of a trial with the violations, as Optuna 4 writes it and Optuna 5 reads it."""


def distribution_of(parameter: TunedParameter) -> BaseDistribution:
    """Return the values that a setting may have, as Optuna describes them."""
    if parameter.kind == "choice":
        return CategoricalDistribution([label(one) for one in parameter.choices])
    if parameter.kind == "int":
        step = 1 if parameter.step is None else int(parameter.step)
        return IntDistribution(int(parameter.low), int(parameter.high), log=parameter.log, step=step)
    return FloatDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step)


def sampler_of(tuning: Tuning) -> tuple[BaseSampler, str]:
    """Return a sampler, and a sentence if it is not the one that the configuration names, else "".

    FormatError if what it needs is not installed.
    """
    startup = {} if tuning.startup_trials is None else {"n_startup_trials": tuning.startup_trials}
    if tuning.sampler == "grid":
        return GridByNumber(tuning), ""
    if tuning.sampler == "qmc":
        return HaltonByNumber(tuning), ""
    if tuning.sampler == "random":
        return Seeded(tuning.seed, RandomSampler), ""
    if tuning.sampler == "cmaes":
        _need("cmaes", "cmaes")
        return Seeded(tuning.seed, lambda seed: CmaEsSampler(seed=seed, warn_independent_sampling=False, **startup)), ""
    said = ""
    if tuning.sampler == "gp":
        missing = [name for name in ("torch", "scipy") if importlib.util.find_spec(name) is None]
        if not missing:
            if tuning.method in ("ucb", "pi"):
                said = f"tuner.args.method: {tuning.method} is taken for ei, the acquisition function of Optuna's gp"
            more = _constraints_argument(tuning)
            return Seeded(tuning.seed, lambda seed: GPSampler(seed=seed, **startup, **more)), said
        said = f"tuner.name: gp needs {' and '.join(missing)}, which is not installed; tpe is used instead"
    return Seeded(tuning.seed, lambda seed: _tpe(tuning, seed, startup)), said


def _tpe(tuning: Tuning, seed: int, startup: Mapping[str, int]) -> BaseSampler:
    return TPESampler(
        seed=seed, multivariate=True, group=True, constant_liar=True, warn_independent_sampling=False, **startup,
        **_constraints_argument(tuning),
    )  # fmt: skip


def _constraints_argument(tuning: Tuning) -> dict[str, Any]:
    """Optuna 4 looks at constraints only if it is given a function; Optuna 5 finds them and warns of the function."""
    if not tuning.constraints or _MAJOR >= 5:
        return {}
    return {"constraints_func": lambda trial: trial.system_attrs.get(CONSTRAINTS, ())}


def _need(module: str, package: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise FormatError(f"tuner.name: {module} needs the package {package}: expected it installed, found none")


class Seeded(BaseSampler):  # type: ignore[misc]
    """Makes a sampler of its own for each trial, with a seed made of the seed of the study and the number of the trial."""

    def __init__(self, seed: int, make: Callable[[int], BaseSampler]) -> None:
        self._seed, self._make = seed, make
        self._inner = self._for(0)

    def _for(self, number: int) -> BaseSampler:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is experimental in Optuna
            return self._make(seed_of(self._seed, number))

    def before_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        """See `BaseSampler`."""
        self._inner = self._for(trial.number)
        self._inner.before_trial(study, trial)

    def infer_relative_search_space(self, study: optuna.Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """See `BaseSampler`."""
        found: dict[str, BaseDistribution] = self._inner.infer_relative_search_space(study, trial)
        return found

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """See `BaseSampler`."""
        found: dict[str, Any] = self._inner.sample_relative(study, trial, search_space)
        return found

    def sample_independent(
        self, study: optuna.Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """See `BaseSampler`."""
        return self._inner.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(self, study: optuna.Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """See `BaseSampler`."""
        self._inner.after_trial(study, trial, state, values)


def seed_of(seed: int, number: int) -> int:
    """Return the seed of a trial: equal for equal input, otherwise unrelated."""
    return int.from_bytes(hashlib.blake2b(f"{seed} {number}".encode(), digest_size=4).digest(), "big")


def place_of(study: optuna.Study, number: int) -> int:
    """Return how many trials with a smaller number chose their settings by the sampler.

    Imported runs and retries are known by attributes that they are created with, so all workers count alike.
    """
    trials = study.get_trials(deepcopy=False)
    return sum(one.number < number and not is_given(one) for one in trials)


def is_given(trial: FrozenTrial) -> bool:
    """Return whether the settings of a trial were given, not chosen by a sampler."""
    return IMPORTED in trial.user_attrs or RETRY_OF in trial.user_attrs


class ByNumber(BaseSampler):  # type: ignore[misc]
    """A sampler whose settings depend on the place of a trial only."""

    def __init__(self) -> None:
        self._place = -1

    def before_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        """Look up the place of the trial."""
        self._place = place_of(study, trial.number)

    def infer_relative_search_space(self, study: optuna.Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return none: each setting is chosen by itself."""
        return {}

    def sample_relative(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        search_space: dict[str, BaseDistribution],
    ) -> dict[str, Any]:
        """Return none, see above."""
        return {}


class GridByNumber(ByNumber):
    """Every combination of values once, in an order that the seed shuffles; conditional settings where they apply."""

    def __init__(self, tuning: Tuning) -> None:
        super().__init__()
        self._points = grid_points(tuning.parameters)
        self._order = np.random.default_rng(seed_of(tuning.seed, -1)).permutation(len(self._points))

    def __len__(self) -> int:
        return len(self._points)

    def sample_independent(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Return the value of this grid point; beyond the last one, of the last one."""
        point = self._points[self._order[min(self._place, len(self._points) - 1)]]
        return label(point[param_name])


def grid_points(parameters: Sequence[TunedParameter]) -> list[dict[str, Any]]:
    """Return every combination of values; a setting that does not apply is missing."""
    points: list[dict[str, Any]] = [{}]
    for one in parameters:
        values = one.values or ()
        points = [
            point | more
            for point in points
            for more in ([{one.name: value} for value in values] if one.applies(point) else [{}])
        ]
    return points


class HaltonByNumber(ByNumber):
    """A scrambled Halton sequence: points that fill the space evenly, whatever their number.

    Digits are permuted at random per dimension, as in Owen, A randomized Halton algorithm in R (2017).
    """

    def __init__(self, tuning: Tuning) -> None:
        super().__init__()
        self._seed = tuning.seed
        self._bases = dict(zip([one.name for one in tuning.parameters], primes(len(tuning.parameters)), strict=True))

    def sample_independent(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Return the value of this setting."""
        share = halton(self._place, self._bases[param_name], seed_of(self._seed, self._bases[param_name]))
        return value_at(share, param_distribution)


def halton(place: int, base: int, seed: int) -> float:
    """Return number `place` of the scrambled sequence of a base, from 0 to below 1."""
    random = np.random.default_rng(seed)
    found, weight = 0.0, 1.0 / base
    while weight > 1e-17:
        found += float(random.permutation(base)[place % base]) * weight
        place, weight = place // base, weight / base
    return min(found, math.nextafter(1.0, 0.0))


def primes(count: int) -> list[int]:
    """Return the first prime numbers."""
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % one for one in found):
            found.append(number)
        number += 1
    return found


def value_at(share: float, distribution: BaseDistribution) -> Any:
    """Return the value of a distribution at a share from 0 to below 1."""
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices[int(share * len(distribution.choices))]
    low, high = distribution.low, distribution.high
    if isinstance(distribution, IntDistribution):
        if distribution.log:
            return min(int(math.exp(math.log(low) + share * (math.log(high + 1) - math.log(low)))), high)
        return low + int(share * ((high - low) // distribution.step + 1)) * distribution.step
    if distribution.step is not None:
        return min(round(low + int(share * (round((high - low) / distribution.step) + 1)) * distribution.step, 15), high)
    if distribution.log:
        return min(max(math.exp(math.log(low) + share * (math.log(high) - math.log(low))), low), high)
    return low + share * (high - low)
