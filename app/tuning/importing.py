"""Takes runs with lineage as finished trials, so a search begins with what is known."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import optuna
from optuna.trial import TrialState

from app.tuning.results import RunResults, results_of
from app.tuning.samplers import distribution_of
from parsers import Run, SourceError, discover
from parsers.lineage.description import OTHER
from parsers.tuning.description import TunedParameter, Tuning, label
from parsers.tuning.recording import IMPORTED

MOST = 10_000
"""Runs that are looked at."""


@dataclass(slots=True)
class Imported:
    """How many runs became trials, and why others did not: reason -> number."""

    taken: int
    left: dict[str, int]


def import_runs(study: optuna.Study, tuning: Tuning, known: frozenset[str]) -> Imported:
    """Add the runs below the base directory that have the settings and targets of the search. known are runs of its trials."""
    result = Imported(0, {})
    try:
        sources = discover(tuning.summary_base_dir)
    except SourceError:
        return result
    here = os.path.realpath(tuning.summary_base_dir)
    imported = {one.user_attrs.get(IMPORTED) for one in study.get_trials(deepcopy=False)}
    for source in sorted(sources, key=lambda one: one.updated)[-MOST:]:
        path = os.path.realpath(source.path)
        inside = any(path == one or path.startswith(one + os.sep) for one in known)
        if inside or path in imported or path == here:
            continue
        run = Run(source)
        run.refresh()
        settings, why = settings_of(tuning.parameters, run.settings)
        values: Sequence[float] | None = None
        if settings is not None:
            results = results_of(RunResults([run]), tuning.targets)
            values, why = results.usable, "without the target" if results.usable is None else why
        if settings is None or values is None:
            result.left[why] = result.left.get(why, 0) + 1
            continue
        _add(study, tuning, path, settings, values)
        result.taken += 1
    return result


def settings_of(parameters: Sequence[TunedParameter], recorded: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """Return the settings of a run by name of parameter, or None and why it does not fit."""
    found: dict[str, Any] = {}
    for one in parameters:
        if not one.applies(found):
            continue
        names = (OTHER + one.name, one.name) if one.user_defined else (one.name, OTHER + one.name)
        value = next((recorded[name] for name in names if name in recorded), None)
        if value is None and not (one.kind == "choice" and None in one.choices):
            return None, f"without {one.name}"
        fitted = fitting(one, value)
        if fitted is _NONE:
            return None, f"with another {one.name} than the search has"
        found[one.name] = fitted
    return found, ""


_NONE = object()


def fitting(parameter: TunedParameter, value: Any) -> Any:
    """Return the value of a parameter that a recorded one stands for, _NONE if there is none. Float32 was written of floats."""
    if parameter.kind == "choice":
        return next((one for one in parameter.choices if _alike(one, value)), _NONE)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _NONE
    if parameter.kind == "int":
        fits = float(value).is_integer() and parameter.low <= value <= parameter.high
        step = int(parameter.step or 1)
        return int(value) if fits and (int(value) - int(parameter.low)) % step == 0 else _NONE
    low, high = parameter.low, parameter.high
    near = low if math.isclose(value, low, rel_tol=1e-6) else high if math.isclose(value, high, rel_tol=1e-6) else float(value)
    if not low <= near <= high:
        return _NONE
    if parameter.step is None:
        return near
    count = round((near - low) / parameter.step)
    at = low + count * parameter.step
    return at if math.isclose(at, near, rel_tol=1e-6, abs_tol=parameter.step * 1e-6) else _NONE


def _alike(choice: Any, value: Any) -> bool:
    if isinstance(choice, bool) or choice is None or isinstance(choice, list | dict):
        return str(choice) == str(value) or str(label(choice)) == str(value)
    if isinstance(choice, int | float) and isinstance(value, int | float) and not isinstance(value, bool):
        return math.isclose(choice, value, rel_tol=1e-6)
    return str(choice) == str(value)


def _add(study: optuna.Study, tuning: Tuning, path: str, settings: Mapping[str, Any], values: Sequence[float]) -> None:
    distributions = {one.name: distribution_of(one) for one in tuning.parameters if one.name in settings}
    trial = optuna.trial.create_trial(
        state=TrialState.COMPLETE, values=list(values), params={name: label(value) for name, value in settings.items()},
        distributions=distributions, user_attrs={IMPORTED: path},
    )  # fmt: skip
    study.add_trial(trial)
