"""The settings of a trial: chosen by Optuna, as scripts see them, and as lineage records them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import optuna
from optuna.trial import FrozenTrial

from parsers.tuning.description import Parameter, Tuning, label
from parsers.tuning.recording import plain


def suggest(trial: optuna.Trial, parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Choose the settings of a trial; those that do not apply are missing."""
    settings: dict[str, Any] = {}
    for one in parameters:
        if not one.applies(settings):
            continue
        if one.kind == "choice":
            labels = [label(value) for value in one.choices]
            settings[one.name] = one.choices[labels.index(trial.suggest_categorical(one.name, labels))]
        elif one.kind == "int":
            step = 1 if one.step is None else int(one.step)
            settings[one.name] = trial.suggest_int(one.name, int(one.low), int(one.high), step=step, log=one.log)
        else:
            settings[one.name] = trial.suggest_float(one.name, one.low, one.high, step=one.step, log=one.log)
    return settings


def settings_of(frozen: FrozenTrial, parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Return the settings of a trial as scripts see them."""
    found = {}
    for one in parameters:
        if one.name in frozen.params:
            value = frozen.params[one.name]
            if one.kind == "choice":
                value = next((choice for choice in one.choices if label(choice) == value), value)
            found[one.name] = value
    return found


def custom_lineage(tuning: Tuning, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that scripts pass on as custom lineage data."""
    names = [one.name for one in tuning.parameters if one.user_defined and one.name in settings]
    return {name: plain(settings[name]) for name in names}


def violations_of(tuning: Tuning, settings: Mapping[str, Any], *, known: set[str]) -> list[float] | None:
    """Return by how much constraints whose names are all known are violated; None if there is none of them.

    A constraint on a conditional setting that does not apply is met.
    """
    names = {one.name for one in tuning.parameters}
    found = []
    for constraint in tuning.constraints:
        if any(name in names and name not in settings for name in constraint.names):
            found.append(0.0)
        elif set(constraint.names) <= known:
            found.append(constraint.violation(settings))
    return found or None
