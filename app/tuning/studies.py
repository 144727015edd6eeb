"""Creates, joins and resumes studies, and refuses a configuration that does not belong to one."""

from __future__ import annotations

import json
import math
import time
import uuid
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState

from app.tuning.samplers import CONSTRAINTS
from app.tuning.storages import OpenStorage
from parsers.tuning.description import Tuning
from parsers.tuning.journal import StudyState
from parsers.tuning.journal import TrialState as ReadTrial
from parsers.tuning.recording import END, IMPORTED, RETRY_OF, SEARCH, SKIPPED, WORKER, search_of

ALIVE = 180.0
"""Seconds since its last sign after which a worker counts as gone; it gives one each minute."""
LOST = 600.0
"""The same, before its trials are given up on other machines."""
_WAIT = 2.0


class StudyError(Exception):
    """The study is not one for this configuration, or may not be continued; the text says why."""


def open_study(tuning: Tuning, opened: OpenStorage, *, resume: bool) -> tuple[optuna.Study, str]:
    """Return the study and how it was opened: "created", "joined" or "resumed". StudyError if it may not be used.

    Sampler and pruner are still to be set.
    """
    directions = [one.goal for one in tuning.targets]
    try:
        study = optuna.create_study(study_name=tuning.study, storage=opened.storage, directions=directions)
    except optuna.exceptions.DuplicatedStudyError:
        study = optuna.load_study(study_name=tuning.study, storage=opened.storage)
        if _search(study) is not None:  # else whoever created it was killed at once
            check(tuning, study.user_attrs[SEARCH])
            return study, _continued(tuning, study, resume)
    study.set_user_attr(SEARCH, search_of(tuning) | {"id": uuid.uuid4().hex})
    return study, "created"


def identity_of(study: optuna.Study) -> str:
    """Return what tells a study from an earlier one of its name, and from those of its name in other storages."""
    search = study.user_attrs.get(SEARCH)
    return str(search.get("id", "")) if isinstance(search, dict) else ""


def _search(study: optuna.Study) -> Mapping[str, Any] | None:
    """Return the search of a study; another worker may be just about to note it. None if there is neither it nor a trial."""
    until = time.monotonic() + _WAIT
    while True:
        found = study.user_attrs.get(SEARCH)
        if found is not None or time.monotonic() > until:
            break
        time.sleep(0.05)
    if found is None and not study.get_trials(deepcopy=False):
        return None
    if not isinstance(found, dict):
        raise StudyError(f"study {study.study_name}: expected one of 'mindscope tune', found one of another program")
    return found


def _continued(tuning: Tuning, study: optuna.Study, resume: bool) -> str:
    trials = study.get_trials(deepcopy=False)
    if resume:
        return "resumed"
    if not trials or any(living_workers(study)):
        return "joined"
    text = f"study {tuning.study} exists, with {len(trials)} trial{'s' * (len(trials) != 1)}"
    raise StudyError(f"{text}: --resume continues it, --study NAME begins another")


def living_workers(study: optuna.Study) -> Iterator[str]:
    """Yield the ids of workers that gave a sign lately, not in the future, and have not said that they end."""
    for name, value in study.user_attrs.items():
        if name.startswith(WORKER) and isinstance(value, dict) and value.get("ended") is None:
            seen = value.get("seen")
            if isinstance(seen, int | float) and abs(time.time() - seen) < ALIVE:
                yield name.removeprefix(WORKER)


def check(tuning: Tuning, known: Mapping[str, Any]) -> None:
    """Raise StudyError if the study has other targets, or values of a parameter that cannot be mixed with these."""
    new = search_of(tuning)
    name = f"study {tuning.study}"
    advice = "change it back, or begin another study with --study NAME"
    if [(one["name"], one["goal"]) for one in known["targets"]] != [(one["name"], one["goal"]) for one in new["targets"]]:
        was = ", ".join(f"{one['goal']} {one['name']}" for one in known["targets"])
        now = ", ".join(f"{one['goal']} {one['name']}" for one in new["targets"])
        raise StudyError(f"{name}: expected the targets it has ({was}), found {now}; {advice}")
    before = {one["name"]: one for one in known["parameters"]}
    after = {one["name"]: one for one in new["parameters"]}
    if set(before) != set(after):
        text = f"{name}: expected its parameters ({', '.join(before)}), found {', '.join(after)}"
        raise StudyError(f"{text}; {advice}")
    for parameter, one in after.items():
        for key, what in (("kind", "type"), ("log", "log scale"), ("choices", "choices"), ("when", "when")):
            if before[parameter][key] != one[key]:
                text = f"{name}, parameter {parameter}: expected {what} {before[parameter][key]!r}, found {one[key]!r}"
                raise StudyError(f"{text}; {advice}")
        if tuning.sampler in ("grid", "qmc") and any(before[parameter][key] != one[key] for key in ("low", "high", "step")):
            text = f"{name}, parameter {parameter}: expected the bounds it has, since {tuning.sampler} counts its points"
            raise StudyError(f"{text}; {advice}")


def counted(study: optuna.Study) -> list[FrozenTrial]:
    """Return the trials that count for a budget: not imported, not skipped, not waiting, and repeated ones once."""
    trials = study.get_trials(deepcopy=False)
    repeated = {one.user_attrs.get(RETRY_OF) for one in trials}
    return [
        one for one in trials
        if one.state != TrialState.WAITING and IMPORTED not in one.user_attrs and SKIPPED not in one.user_attrs
        and one.number not in repeated and not _again(one)
    ]  # fmt: skip


def _again(trial: FrozenTrial) -> bool:
    """Return whether a trial was interrupted and is to be repeated."""
    end = trial.user_attrs.get(END)
    return isinstance(end, dict) and end.get("again") is True


def to_repeat(study: optuna.Study) -> list[tuple[int, dict[str, Any]]]:
    """Return number and settings of trials that were interrupted and that no other trial repeats."""
    trials = study.get_trials(deepcopy=False)
    repeated = {one.user_attrs.get(RETRY_OF) for one in trials}
    return [(one.number, one.params) for one in trials if _again(one) and one.number not in repeated]


def is_feasible(trial: FrozenTrial) -> bool:
    """Return whether a trial meets all constraints."""
    return all(isinstance(one, int | float) and one <= 0 for one in trial.system_attrs.get(CONSTRAINTS) or ())


def best_of(study: optuna.Study, tuning: Tuning) -> FrozenTrial | None:
    """Return the best finished trial that meets the constraints, for one target; None if there is none."""
    sign = tuning.targets[0].sign
    found = [
        one for one in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        if is_feasible(one) and one.values and not math.isnan(one.values[0])
    ]  # fmt: skip
    return min(found, key=lambda one: (sign * one.values[0], one.number), default=None)


def state_of(study: optuna.Study) -> StudyState:
    """Return a study of any storage in the form that journals are read to (`parsers.tuning.journal`), for its frames."""
    goals = tuple("maximize" if one == optuna.study.StudyDirection.MAXIMIZE else "minimize" for one in study.directions)
    names = {TrialState.RUNNING: "running", TrialState.COMPLETE: "complete", TrialState.PRUNED: "pruned",
             TrialState.FAIL: "failed", TrialState.WAITING: "waiting"}  # fmt: skip
    trials = [
        ReadTrial(
            one.number, names[one.state], _seconds(one.datetime_start), _seconds(one.datetime_complete),
            tuple(one.values or ()), dict(one.params), {name: _described(each) for name, each in one.distributions.items()},
            dict(one.intermediate_values), dict(one.user_attrs), dict(one.system_attrs),
        )
        for one in study.get_trials(deepcopy=False)
    ]  # fmt: skip
    return StudyState(study.study_name, goals, dict(study.user_attrs), trials)


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()


def _described(distribution: optuna.distributions.BaseDistribution) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(optuna.distributions.distribution_to_json(distribution))
    return found
