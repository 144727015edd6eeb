"""A search as data: what is varied, what is wanted, and when trials end."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from parsers.tuning.expressions import Constraint

Kind: TypeAlias = Literal["float", "int", "choice"]
Goal: TypeAlias = Literal["minimize", "maximize"]
Group: TypeAlias = Literal["system_defined", "metric", "scalar"]

SAMPLERS = ("gp", "tpe", "cmaes", "random", "grid", "qmc")
PRUNERS = ("median", "percentile", "halving", "hyperband", "patient", "threshold")
SYSTEM_PARAMETERS = ("learning_rate", "batch_size", "epoch")
"""Settings that MindSpore records by itself."""
SYSTEM_TARGETS = ("loss",)


@dataclass(frozen=True, slots=True)
class TunedParameter:
    """One setting that is varied.

    float and int have low and high (both included), choice has choices of any JSON type. step: only low + n * step.
    user_defined settings are passed to the script as custom lineage data as well. when: the setting exists only if each of
    these others has one of these values.
    """

    name: str
    kind: Kind
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    step: float | None = None
    choices: tuple[Any, ...] = ()
    user_defined: bool = True
    when: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def applies(self, settings: Mapping[str, Any]) -> bool:
        """Return whether this setting exists beside these."""
        return all(name in settings and any(same(settings[name], one) for one in wanted) for name, wanted in self.when.items())

    def fits(self, value: Any) -> bool:
        """Return whether a trial may have this value."""
        if self.kind == "choice":
            return any(same(value, one) for one in self.choices)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return self.low <= value <= self.high and (self.kind == "float" or float(value).is_integer())

    @property
    def values(self) -> Sequence[Any] | None:
        """All values, None if there are too many to count."""
        if self.kind == "choice":
            return self.choices
        if self.step is None and self.kind == "float":
            return None
        step = 1 if self.step is None else self.step
        count = int((self.high - self.low) / step * (1 + 1e-12)) + 1
        if count > MOST_VALUES:
            return None
        made = (self.low + number * step for number in range(count))
        return [int(one) for one in made] if self.kind == "int" else [min(round(one, 15), self.high) for one in made]


MOST_VALUES = 100_000
"""Values of one setting in a grid."""


@dataclass(frozen=True, slots=True)
class Target:
    """A value to make small or great.

    group: "metric" is a metric of an evaluation, else the scalar of this name; "system_defined" the loss in the lineage, else
    the scalar; "scalar" the scalar. best: the best value of the scalar, not the last one.
    """

    name: str
    group: Group
    goal: Goal
    best: bool = False

    @property
    def sign(self) -> int:
        """1 if smaller is better, -1 if greater is."""
        return 1 if self.goal == "minimize" else -1


@dataclass(frozen=True, slots=True)
class Pruning:
    """How trials that lag behind are found. tag is the scalar that is compared, by step; see docs/tuning.md for the others."""

    name: str
    tag: str
    goal: Goal
    startup_trials: int = 5
    warmup_steps: int = 0
    interval: int = 1
    percentile: float = 50.0
    patience: int = 0
    min_delta: float = 0.0
    min_resource: int = 1
    max_resource: int | None = None
    reduction_factor: int = 3
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True, slots=True)
class Tuning:
    """A search as its configuration file describes it; trials and hours are the budget of the whole study, None for none.

    time_limit is of one trial, in seconds. method is the acquisition function that the file names, "" for none.
    """

    path: str
    study: str
    summary_base_dir: str
    command: tuple[str, ...]
    sampler: str
    targets: tuple[Target, ...]
    parameters: tuple[TunedParameter, ...]
    method: str = ""
    startup_trials: int | None = None
    constraints: tuple[Constraint, ...] = ()
    pruning: Pruning | None = None
    end_on_nan: bool = False
    end_on_plateau: bool = False
    trials: int | None = None
    hours: float | None = None
    time_limit: float | None = None
    seed: int = 0
    import_runs: bool = True


def label(value: Any) -> Any:
    """Return a choice as Optuna stores it: lists and mappings as JSON text."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal and of one type, except that 1 and 1.0 are the same number."""
    if isinstance(one, bool) is not isinstance(other, bool):
        return False
    return bool(one == other)
