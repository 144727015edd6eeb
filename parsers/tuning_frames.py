"""The frames of a study of `mindscope tune`: trials, reported values, parameters, workers.

Times are seconds since 1970. NaN and "" stand for what is unknown or does not apply.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from parsers.deferred import pandas as pd
from parsers.schema import Column, Schema
from parsers.tuning import recording
from parsers.tuning.description import label
from parsers.tuning.hyper_config import DEVICE, VARIABLES
from parsers.tuning.journal import STATES, StudyState, TrialState

if TYPE_CHECKING:
    from pandas import DataFrame

SHOWN_STATES = (*STATES, "interrupted", "skipped")
"""Values of the column `state`."""

TUNING_TRIALS = Schema(
    "tuning_trials",
    "The trials of a study, by number.",
    (
        Column("trial", "int64", "", "number of the trial, from 0"),
        Column("state", "category", "", "waiting, running, complete, pruned, failed, interrupted (repeated later) or skipped"),
        Column("source", "category", "", "search, imported (an earlier run) or repeated (settings of an interrupted trial)"),
        Column("value", "float64", "", "value of the first target; NaN unless the trial is complete"),
        Column("feasible", "bool", "", "whether it meets all constraints"),
        Column("started", "float64", "s", "when it started"),
        Column("ended", "float64", "s", "when it ended; NaN while it runs"),
        Column("duration", "float64", "s", "from start to end; NaN while it runs, and for imported runs"),
        Column("cpu", "float64", "s", "processor time of its processes"),
        Column("step", "int64", "step", "the last step seen of the compared scalar; -1 for none"),
        Column("exit_code", "float64", "", "exit code of its command, negative for a signal; NaN if unknown"),
        Column("reason", "str", "", "why it failed, was pruned or was skipped"),
        Column("worker", "category", "", "worker that started it"),
        Column("device", "category", "", "device that was handed to it"),
        Column("run", "str", "", "directory of its run"),
        Column("log", "str", "", "file with its output, on the machine of its worker"),
        Column("repeats", "int64", "", "number of the interrupted trial that it repeats; -1 for none"),
    ),
    (
        Column("target/", "float64", "", "value of a target, NaN unless the trial is complete"),
        Column("parameter/", "", "", "setting of a trial; missing if it does not apply, lists and mappings as JSON text"),
    ),
)  # fmt: skip

TUNING_VALUES = Schema(
    "tuning_values",
    "Values of the compared scalar that were reported to the pruner, by trial and step. Steps from 128 on are rounded down.",
    (
        Column("trial", "int64", "", "number of the trial"),
        Column("step", "int64", "step", "step under which the value was reported"),
        Column("value", "float64", "", "value as it was recorded"),
    ),
)

TUNING_PARAMETERS = Schema(
    "tuning_parameters",
    "The parameters of a study, in the order of its configuration.",
    (
        Column("parameter", "str", "", "name"),
        Column("kind", "category", "", "float, int or choice"),
        Column("low", "float64", "", "lowest value; NaN for a choice"),
        Column("high", "float64", "", "highest value; NaN for a choice"),
        Column("log", "bool", "", "whether the scale is logarithmic"),
        Column("step", "float64", "", "distance of the values; NaN for none"),
        Column("choices", "str", "", "JSON list of the choices; empty for a number"),
        Column("when", "str", "", "JSON object: other parameter -> values for which this one exists; empty for always"),
    ),
)

TUNING_WORKERS = Schema(
    "tuning_workers",
    "The workers of a study, in the order they began.",
    (
        Column("worker", "str", "", "name of the worker"),
        Column("host", "str", "", "machine"),
        Column("pid", "int64", "", "process id"),
        Column("jobs", "int64", "", "trials at a time"),
        Column("began", "float64", "s", "when it began"),
        Column("seen", "float64", "s", "last sign of life, one each minute"),
        Column("ended", "float64", "s", "when it ended; NaN if it has not, or was killed"),
        Column("trials", "int64", "", "trials that it started"),
        Column("running", "int64", "", "those that still run"),
    ),
)

TUNING_FRAMES: Mapping[str, Schema] = {
    schema.name.removeprefix("tuning_"): schema
    for schema in (TUNING_TRIALS, TUNING_VALUES, TUNING_PARAMETERS, TUNING_WORKERS)
}
"""Frame -> its schema."""


def search_of(study: StudyState) -> Mapping[str, Any]:
    """Return what `mindscope tune` noted of its search (`parsers.tuning.recording.search_of`), empty for other studies."""
    found = study.attributes.get(recording.SEARCH)
    return found if isinstance(found, dict) else {}


def suggestion_of(study: StudyState) -> Mapping[str, Any]:
    """Return what a trial would get if it started now (`parsers.tuning.recording.NEXT`); only the sound part of it.

    Empty for studies of other programs, and once that trial has started.
    """
    noted = study.attributes.get(recording.NEXT)
    if not isinstance(noted, dict) or not isinstance(noted.get("settings"), dict):
        return {}
    if _whole(noted.get("trial")) != len(study.trials):
        return {}
    numbers = {name: _number(noted.get(name)) for name in ("mean", "low", "high", "at")}
    texts = {name: str(noted.get(name) or "") for name in ("sampler", "why")}
    return {"trial": len(study.trials), "settings": dict(noted["settings"]), **numbers, **texts}


def mirror_of(study: StudyState) -> tuple[str, float]:
    """Return the storage that a study was copied from and when, ("", NaN) if its journal is no copy."""
    noted = study.attributes.get(recording.MIRROR)
    return (str(noted.get("of") or ""), _number(noted.get("at"))) if isinstance(noted, dict) else ("", float("nan"))


def targets_of(study: StudyState) -> list[tuple[str, str]]:
    """Return name and goal of each target; studies of other programs have targets without names."""
    named = [one.get("name") for one in _mappings(search_of(study).get("targets"))]
    names = [str(one) for one in named] if len(named) == len(study.goals) else [f"target {n}" for n in range(len(study.goals))]
    return list(zip(names, study.goals, strict=True))


def shown_state(trial: TrialState) -> str:
    """Return the state of a trial, one of SHOWN_STATES."""
    if recording.SKIPPED in trial.attributes:
        return "skipped"
    return "interrupted" if trial.state == "failed" and _mapping(trial, recording.END).get("again") is True else trial.state


def _ended(trial: TrialState) -> float | None:
    """Return the time at which the trial's process ended, from its keeper; without one, the time of its final record."""
    noted = _mapping(trial, recording.END).get("ended")
    if not isinstance(noted, int | float) or isinstance(noted, bool) or trial.ended is None:
        return trial.ended
    return float(noted) if noted >= (trial.started or 0.0) else trial.ended


def trials_frame(study: StudyState) -> DataFrame:
    """Return the trials (schema TUNING_TRIALS)."""
    trials = study.trials
    columns: dict[str, Any] = {
        "trial": np.array([one.number for one in trials], np.int64),
        "state": _category([shown_state(one) for one in trials]),
        "source": _category([_source(one) for one in trials]),
        "value": np.array([_values(one)[0] if _values(one) else np.nan for one in trials], np.float64),
        "feasible": np.array([is_feasible(one) for one in trials], np.bool_),
        "started": _floats(one.started for one in trials),
        "ended": _floats(_ended(one) for one in trials),
    }
    columns["duration"] = columns["ended"] - columns["started"]
    columns["duration"][[recording.IMPORTED in one.attributes for one in trials]] = np.nan
    ends = [_mapping(one, recording.END) for one in trials]
    places = [_mapping(one, recording.PLACE) for one in trials]
    columns |= {
        "cpu": _floats(one.get("cpu_s") for one in ends),
        "step": np.array([_step(one, end) for one, end in zip(trials, ends, strict=True)], np.int64),
        "exit_code": _floats(one.get("exit") for one in ends),
        "reason": _texts([str(one.attributes.get(recording.SKIPPED) or end.get("reason") or "")
                          for one, end in zip(trials, ends, strict=True)]),
        "worker": _category([str(one.get("worker") or "") for one in places]),
        "device": _category([str(one.get("device") or "") for one in places]),
        "run": _texts([str(place.get("run") or one.attributes.get(recording.IMPORTED) or "")
                       for one, place in zip(trials, places, strict=True)]),
        "log": _texts([f"{one['directory']}/output.log" if one.get("directory") else "" for one in places]),
        "repeats": np.array([_whole(one.attributes.get(recording.RETRY_OF)) for one in trials], np.int64),
    }  # fmt: skip
    for number, (name, _) in enumerate(targets_of(study)):
        found = [_values(one) for one in trials]
        columns[f"target/{name}"] = np.array([one[number] if number < len(one) else np.nan for one in found], np.float64)
    for name in _parameter_names(study):
        columns[f"parameter/{name}"] = pd.Series([one.parameters.get(name) for one in trials])
    return TUNING_TRIALS.check(pd.DataFrame(columns))


def values_frame(study: StudyState) -> DataFrame:
    """Return the reported values (schema TUNING_VALUES), with the sign that they were recorded with."""
    pruning = search_of(study).get("pruning")
    opposite = isinstance(pruning, dict) and bool(study.goals) and pruning.get("goal") not in (study.goals[0], None)
    counts = [len(one.reported) for one in study.trials]
    every = sum(counts)
    trial = np.repeat(np.array([one.number for one in study.trials], np.int64), counts)
    step = np.fromiter((step for one in study.trials for step in one.reported), np.int64, every)
    value = np.fromiter((value for one in study.trials for value in one.reported.values()), np.float64, every)
    order = np.lexsort((step, trial))
    columns = {"trial": trial[order], "step": step[order], "value": value[order] * (-1 if opposite else 1)}
    return TUNING_VALUES.check(pd.DataFrame(columns))


def parameters_frame(study: StudyState) -> DataFrame:
    """Return the parameters (schema TUNING_PARAMETERS), of a study of another program those of its trials."""
    rows = [_parameter_row(one) for one in _described(study)]
    if not rows:
        return TUNING_PARAMETERS.empty()
    frame = pd.DataFrame(rows, columns=list(TUNING_PARAMETERS.names))
    return TUNING_PARAMETERS.check(frame.astype({one.name: one.dtype for one in TUNING_PARAMETERS.columns}))


def workers_frame(study: StudyState) -> DataFrame:
    """Return the workers (schema TUNING_WORKERS)."""
    started: dict[str, list[str]] = {}
    for one in study.trials:
        started.setdefault(str(_mapping(one, recording.PLACE).get("worker") or ""), []).append(one.state)
    rows = []
    for name, value in study.attributes.items():
        if name.startswith(recording.WORKER) and isinstance(value, dict):
            worker = name.removeprefix(recording.WORKER)
            states = started.get(worker, [])
            numbers = [_number(value.get(key)) for key in ("began", "seen", "ended")]
            rows.append((worker, str(value.get("host") or ""), _whole(value.get("pid")), _whole(value.get("jobs")), *numbers,
                         len(states), states.count("running")))  # fmt: skip
    if not rows:
        return TUNING_WORKERS.empty()
    frame = pd.DataFrame(rows, columns=list(TUNING_WORKERS.names)).sort_values("began", kind="stable", ignore_index=True)
    return TUNING_WORKERS.check(frame.astype({one.name: one.dtype for one in TUNING_WORKERS.columns}))


def command_of(study: StudyState, trial: TrialState, run: str) -> str:
    """Return the line that repeats a trial in a shell, recording to the directory run; "" for studies of other programs."""
    search = search_of(study)
    command = search.get("command")
    described = {str(one.get("name")): one for one in _mappings(search.get("parameters"))}
    if not isinstance(command, list) or not command:
        return ""
    settings = {name: _choice(described.get(name, {}), value) for name, value in trial.parameters.items()}
    custom = {name: recording.plain(value) for name, value in settings.items() if described.get(name, {}).get("user_defined")}
    text = recording.hyper_config(settings, run, custom)
    device = str(_mapping(trial, recording.PLACE).get("device") or "")
    devices = dict.fromkeys(DEVICE, device) | {"DEVICE_ID": "0"} if device else {}
    given = [f"{name}={shlex.quote(value)}" for name, value in devices.items()]
    line = " ".join([f'{VARIABLES[1]}="${VARIABLES[0]}"', *given, shlex.join(str(word) for word in command)])
    return f"(export {VARIABLES[0]}={shlex.quote(text)}; {line})"


def _choice(described: Mapping[str, Any], value: Any) -> Any:
    """Return a list or mapping of which the journal has JSON text."""
    choices = described.get("choices")
    return next((one for one in choices if label(one) == value), value) if isinstance(choices, list) else value


def is_feasible(trial: TrialState) -> bool:
    """Return whether a trial meets all constraints, as Optuna 4 and 5 note them."""
    noted = trial.system.get("constraints") or ()
    single = [value for name, value in trial.system.items() if name.startswith("constraints:")]
    several = list(noted) if isinstance(noted, list) else []
    return all(isinstance(one, int | float) and one <= 0 for one in (*several, *single))


def _described(study: StudyState) -> list[Mapping[str, Any]]:
    noted = _mappings(search_of(study).get("parameters"))
    if noted:
        return noted
    found: dict[str, Mapping[str, Any]] = {}
    for trial in study.trials:
        for name, distribution in trial.distributions.items():
            attributes = distribution["attributes"]
            kind = "choice" if "choices" in attributes else "int" if "Int" in distribution["name"] else "float"
            log = bool(attributes.get("log")) or "LogUniform" in distribution["name"]
            found.setdefault(name, {**attributes, "name": name, "kind": kind, "log": log})
    return list(found.values())


def _parameter_row(one: Mapping[str, Any]) -> tuple[Any, ...]:
    choice = one.get("kind") == "choice"
    numbers = (np.nan, np.nan) if choice else (_number(one.get("low")), _number(one.get("high")))
    step = np.nan if choice else _number(one.get("step", one.get("q")))
    choices = json.dumps(one.get("choices"), ensure_ascii=False) if choice else ""
    when = json.dumps(one["when"], ensure_ascii=False) if one.get("when") else ""
    return (str(one.get("name")), str(one.get("kind")), *numbers, bool(one.get("log")), step, choices, when)


def _parameter_names(study: StudyState) -> list[str]:
    named = [str(one.get("name")) for one in _described(study)]
    return list(dict.fromkeys([*named, *(name for trial in study.trials for name in trial.parameters)]))


def _source(trial: TrialState) -> str:
    if recording.IMPORTED in trial.attributes:
        return "imported"
    return "repeated" if recording.RETRY_OF in trial.attributes else "search"


def _values(trial: TrialState) -> Sequence[float]:
    return trial.values if trial.state == "complete" else ()


def _step(trial: TrialState, end: Mapping[str, Any]) -> int:
    return max(_whole(end.get("step")), max(trial.reported, default=-1))


def _mapping(trial: TrialState, name: str) -> Mapping[str, Any]:
    found = trial.attributes.get(name)
    return found if isinstance(found, dict) else {}


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else float("nan")


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 62 else -1


def _floats(values: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([_number(one) for one in values], np.float64)


def _category(values: Sequence[str]) -> Any:
    return pd.Series(list(values), dtype="str").astype("category")


def _texts(values: Sequence[str]) -> Any:
    return pd.Series(list(values), dtype="str")
