"""The settings that a trial would get if it started now, and what the sampler predicts for them.

They are chosen on a copy of the study in memory: nothing is stored, and no trial begins. A sampler whose seed follows from the
number of the trial chooses the same again when that trial starts, unless results come in between. Of Optuna's samplers only
the Gaussian process predicts a value: mean and 95 % interval of the target without noise, by its posterior.
"""

from __future__ import annotations

import importlib
import math
import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import optuna
from optuna.samplers import BaseSampler, GPSampler

from app.tuning.samplers import Seeded, sampler_of
from app.tuning.settings import suggest
from parsers.tuning.description import Tuning

SECONDS = 10.0
"""Least time between two previews of a worker."""
SHARE = 50.0
"""A preview waits this many times as long as the last one took, so it takes 2 % of the time at most."""
_Z = 1.959964
"""Quantile of the normal distribution for 97.5 %."""


class Previews:
    """Decides when a preview is due: while trials run, after some have ended."""

    def __init__(self) -> None:
        self._due = 0.0
        self._seen: tuple[int, int] | None = None

    def due(self, study: optuna.Study) -> bool:
        """Return whether to make one now."""
        if time.monotonic() < self._due:
            return False
        trials = study.get_trials(deepcopy=False)
        seen = len(trials), sum(one.state.is_finished() for one in trials)
        if seen == self._seen:
            self._due = time.monotonic() + SECONDS
            return False
        self._seen = seen
        return True

    def make(self, study: optuna.Study, tuning: Tuning) -> dict[str, Any]:
        """Return a preview, and wait before the next one."""
        begin = time.thread_time()
        try:
            return preview(study, tuning)
        finally:
            self._due = time.monotonic() + max(SECONDS, SHARE * (time.thread_time() - begin))


def preview(study: optuna.Study, tuning: Tuning) -> dict[str, Any]:
    """Return what `parsers.tuning.recording.NEXT` describes."""
    sampler, _ = sampler_of(tuning)
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is experimental in Optuna
            copy = optuna.create_study(directions=study.directions, sampler=sampler)
            copy.add_trials(study.get_trials(deepcopy=False))
            trial = copy.ask()
            settings = suggest(trial, tuning.parameters)
    finally:
        optuna.logging.set_verbosity(verbosity)
    inner = sampler._inner if isinstance(sampler, Seeded) else sampler
    found = predicted(inner, copy, trial.params)
    why = "" if found else "start" if isinstance(inner, GPSampler) and len(study.directions) == 1 else "sampler"
    return {
        "trial": trial.number, "settings": settings, "sampler": _name(inner, tuning), "why": why, "at": time.time(), **found,
    }  # fmt: skip


def _name(inner: BaseSampler, tuning: Tuning) -> str:
    """Return the name of the sampler as configurations have it: tpe where gp was asked for but torch is missing."""
    return "tpe" if tuning.sampler == "gp" and not isinstance(inner, GPSampler) else tuning.sampler


def predicted(sampler: BaseSampler, study: optuna.Study, settings: Mapping[str, Any]) -> dict[str, float]:
    """Return mean, low and high of the target; empty if the sampler has no model (yet), or for several targets.

    Optuna keeps the model of GPSampler to itself: if another version of it lacks what is read here, nothing is predicted.
    """
    if not isinstance(sampler, GPSampler) or len(study.directions) != 1:
        return {}
    models = getattr(sampler, "_gprs_cache_list", None)
    if not models:
        return {}
    try:
        torch = importlib.import_module("torch")
        from optuna._gp.search_space import SearchSpace
        from optuna.samplers._gp.sampler import _standardize_values

        states = (optuna.trial.TrialState.COMPLETE,)
        trials = study.get_trials(deepcopy=False, states=states)
        space = {name: one for name, one in sampler.infer_relative_search_space(study, trials[-1]).items() if name in settings}
        sign = 1.0 if study.directions[0] == optuna.study.StudyDirection.MAXIMIZE else -1.0
        values = np.array([[sign * one.values[0]] for one in trials])
        _, means, deviations = _standardize_values(values)
        place = SearchSpace(space).get_normalized_params(trials[-1:], [dict(settings)])
        mean, variance = models[0].posterior(torch.from_numpy(place[0]))
    except (AttributeError, ImportError, IndexError, TypeError, ValueError, AssertionError):
        return {}
    centre = sign * (float(mean) * float(deviations[0]) + float(means[0]))
    reach = _Z * math.sqrt(max(float(variance), 0.0)) * float(deviations[0])
    if not math.isfinite(centre) or not math.isfinite(reach):
        return {}
    return {"mean": centre, "low": centre - reach, "high": centre + reach}
