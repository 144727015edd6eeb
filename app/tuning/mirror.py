"""Copies a study that lives in a database to a journal in the workspace, which the page shows: the server has no credentials.

One tuner of a workspace writes it at a time; when that ends, another one goes on. It compares the copy with the database and
appends what is missing, in the records of Optuna's journal. The copy has the address of the database without user and password.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import optuna
from optuna.distributions import distribution_to_json
from optuna.trial import FrozenTrial, TrialState

from app.tuning import claims
from app.tuning.journal_file import JournalFile
from app.tuning.studies import identity_of
from parsers.errors import FormatError
from parsers.tuning import journal
from parsers.tuning.journal import JournalOperation, StudyFile, StudyState
from parsers.tuning.recording import MIRROR, SEARCH

SECONDS = 2.0
"""Least time between two copies."""
SHARE = 50.0
"""A copy waits this many times as long as the last one took, so it takes 2 % of the time at most."""
NOTED = 60.0
"""Seconds after which the time of the copy is noted anew though nothing has changed."""
_STUDY = 0


def place_of(directory: str, label: str) -> str:
    """Return the path of what shows the page a study that is elsewhere. directory is that of the study in the workspace."""
    mark = hashlib.sha256(label.encode()).hexdigest()[:8]
    return f"{directory}@{mark}.log"  # no study has an @ in its name


def link(directory: str, path: str) -> None:
    """Let the page find a journal outside of the workspace, by a link. OSError if none can be made."""
    place, real = place_of(directory, path), os.path.realpath(path)
    if os.path.realpath(place) != real and os.path.dirname(real) != os.path.realpath(directory):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place)
        os.symlink(path, place)


class StudyMirror:
    """The copy of a study. label is the address of its database without credentials; say is called when the copy fails."""

    def __init__(self, directory: str, label: str, say: Callable[[str], None]) -> None:
        self._path, self._label, self._say = place_of(directory, label), label, say
        self._claim: claims.Claim | None = None
        self._file: StudyFile | None = None
        self._journal: JournalFile | None = None
        self._due = self._noted = 0.0
        self._failed = False

    @property
    def due(self) -> float:
        """When the next copy is due, as `time.monotonic` has it."""
        return self._due

    def copy(self, study: optuna.Study) -> None:
        """Append what is new, unless another tuner does. A copy that cannot be written is reported once and tried again."""
        begin = time.thread_time()
        try:
            if self._claim is None:
                self._claim = claims.hold(f"{self._path}.writer")
            if self._claim is not None:
                self._write(study)
                self._failed = False
        except (OSError, FormatError) as error:
            self._file = None
            if not self._failed:
                self._failed = True
                why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
                self._say(f"the page cannot show this study for now: {self._path}: {why}")
        finally:
            self._due = time.monotonic() + max(SECONDS, SHARE * (time.thread_time() - begin))

    def close(self) -> None:
        """Leave the copy to other tuners."""
        if self._claim is not None:
            self._claim.release()
        self._claim = self._file = None

    def _write(self, study: optuna.Study) -> None:
        attributes, trials = study.user_attrs, study.get_trials(deepcopy=False)
        if self._file is None or self._journal is None:
            self._journal = JournalFile(self._path, _quietly)
            self._file = StudyFile(self._path)
            self._file.refresh()
        whole = len(self._file.studies) == 1 and not self._file.problems
        before = self._file.studies[0] if whole else None
        if before is None or not _continues(before, identity_of(study), len(trials)):
            os.unlink(self._path)  # empty, damaged, or of another study
            self._journal, self._file, before = JournalFile(self._path, _quietly), StudyFile(self._path), None
        directions = [int(one) for one in study.directions]
        records = list(records_between(before, study.study_name, directions, attributes, trials))
        now = time.time()
        if records or abs(now - self._noted) > NOTED:
            noted = {"of": self._label, "at": now}
            records.append(_record(JournalOperation.STUDY_ATTRIBUTE, study_id=_STUDY, user_attr={MIRROR: noted}))
            self._journal.append_logs(records)
            self._noted = now
            self._file.refresh()


def _quietly(text: str) -> None:
    """Repairs of a copy lose nothing: what is missing is copied again."""


def _continues(before: StudyState, identity: str, trials: int) -> bool:
    """Return whether a copy is an earlier state of a study, not one of another study that was in its place."""
    search = before.attributes.get(SEARCH)
    known = str(search.get("id", "")) if isinstance(search, dict) else ""
    return known == identity and len(before.trials) <= trials


def records_between(
    before: StudyState | None, name: str, directions: list[int], attributes: Mapping[str, Any], trials: list[FrozenTrial]
) -> Iterator[dict[str, Any]]:
    """Yield the records that make a study out of an earlier state of it, None for nothing.

    They are those of Optuna 5, so Optuna itself can open the copy. Trials that were finished before do not change.
    """
    if before is None:
        yield _record(JournalOperation.CREATE_STUDY, study_name=name, directions=directions)
        before = StudyState(name, ())
    for key, value in attributes.items():
        if key not in before.attributes or before.attributes[key] != value:
            yield _record(JournalOperation.STUDY_ATTRIBUTE, study_id=_STUDY, user_attr={key: value})
    for trial in trials:
        known = before.trials[trial.number] if trial.number < len(before.trials) else None
        if known is None:
            yield _created(trial)
        elif known.state not in journal.FINISHED:
            yield from _changed(trial, known)


def _record(operation: JournalOperation, **content: Any) -> dict[str, Any]:
    return {"op_code": int(operation), "worker_id": "mirror", **content}


def _created(trial: FrozenTrial) -> dict[str, Any]:
    values, end = trial.values or [], _text(trial.datetime_complete)
    return _record(
        JournalOperation.CREATE_TRIAL, study_id=_STUDY, state=int(trial.state), datetime_start=_text(trial.datetime_start),
        **({"datetime_complete": end} if end else {}), value=values[0] if len(values) == 1 else None,
        values=values if len(values) > 1 else None,
        distributions={name: distribution_to_json(one) for name, one in trial.distributions.items()},
        params={name: trial.distributions[name].to_internal_repr(value) for name, value in trial.params.items()},
        user_attrs=trial.user_attrs, system_attrs=trial.system_attrs, intermediate_values=trial.intermediate_values,
    )  # fmt: skip


def _changed(trial: FrozenTrial, known: journal.TrialState) -> Iterator[dict[str, Any]]:
    number = trial.number  # the journal has one study, so numbers are ids
    if known.state == "waiting" and trial.state != TrialState.WAITING:
        start = _text(trial.datetime_start)
        yield _record(JournalOperation.STATE, trial_id=number, state=int(TrialState.RUNNING), values=None, datetime_start=start)
    for name, value in trial.params.items():
        if name not in known.parameters:
            distribution = trial.distributions[name]
            yield _record(
                JournalOperation.PARAMETER, trial_id=number, param_name=name,
                param_value_internal=distribution.to_internal_repr(value), distribution=distribution_to_json(distribution),
            )  # fmt: skip
    for step, value in trial.intermediate_values.items():
        if step not in known.reported:
            yield _record(JournalOperation.VALUE, trial_id=number, step=step, intermediate_value=value)
    for operation, key, new, old in (
        (JournalOperation.ATTRIBUTE, "user_attr", trial.user_attrs, known.attributes),
        (JournalOperation.SYSTEM, "system_attr", trial.system_attrs, known.system),
    ):
        for name, value in new.items():
            if name not in old or not _same(old[name], value):
                yield _record(operation, trial_id=number, **{key: {name: value}})
    if trial.state.is_finished():
        end = _text(trial.datetime_complete)
        state = int(trial.state)
        yield _record(JournalOperation.STATE, trial_id=number, state=state, values=trial.values, datetime_complete=end)


def _same(old: Any, new: Any) -> bool:
    """Return whether two values have the same JSON: NaN is the same as NaN."""
    return bool(old == new) or json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="microseconds")
