"""The settings of a trial: chosen by Optuna, as scripts see them, and as lineage records them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import optuna
from optuna.trial import FrozenTrial

from app.tuning.samplers import distribution_of, value_at
from parsers.tuning.description import TunedParameter, Tuning, label
from parsers.tuning.expressions import Constraint
from parsers.tuning.recording import plain


def suggest(trial: optuna.Trial, parameters: Sequence[TunedParameter]) -> dict[str, Any]:
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


def settings_of(frozen: FrozenTrial, parameters: Sequence[TunedParameter]) -> dict[str, Any]:
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
    found = [violation for _, violation in _decided(tuning, settings, known)]
    return found or None


def _decided(tuning: Tuning, settings: Mapping[str, Any], known: set[str]) -> Iterator[tuple[Constraint, float]]:
    names = {one.name for one in tuning.parameters}
    for constraint in tuning.constraints:
        if any(name in names and name not in settings for name in constraint.names):
            yield constraint, 0.0
        elif set(constraint.names) <= known:
            yield constraint, constraint.violation(settings)


def drawn(parameters: Sequence[TunedParameter], generator: np.random.Generator) -> dict[str, Any]:
    """Return settings drawn at random, each value as likely as any other; those that do not apply are missing."""
    settings: dict[str, Any] = {}
    for one in parameters:
        if one.applies(settings):
            value = value_at(float(generator.random()), distribution_of(one))
            settings[one.name] = next(each for each in one.choices if label(each) == value) if one.kind == "choice" else value
    return settings


@dataclass(frozen=True, slots=True)
class Feasibility:
    """What `draws` of settings say of the constraints on settings.

    settings meet all of them, None if none of the draws do; unmet are the texts of constraints that no draw met.
    """

    draws: int
    settings: dict[str, Any] | None
    unmet: tuple[str, ...]

    @property
    def said(self) -> str:
        """Why the search cannot go on, if settings is None."""
        which = "never met: " + ", ".join(self.unmet) if self.unmet else "each is met at times, all of them together never"
        return f"no setting of {self.draws:,} draws meets the constraints; {which}"


def feasibility(tuning: Tuning, draws: Iterable[dict[str, Any]]) -> Feasibility:
    """Look at draws of settings until one meets all constraints on settings."""
    met: set[str] = set()
    every: dict[str, None] = {}
    draw = 0
    for draw, settings in enumerate(draws, start=1):
        violations = list(_decided(tuning, settings, set(settings)))
        if all(violation <= 0 for _, violation in violations):
            return Feasibility(draw, settings, ())
        every |= dict.fromkeys(constraint.text for constraint, _ in violations)
        met |= {constraint.text for constraint, violation in violations if violation <= 0}
    return Feasibility(draw, None, tuple(text for text in every if text not in met))
