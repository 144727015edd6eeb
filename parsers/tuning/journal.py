"""Reads Optuna's journal: JSON lines, each an operation on a study or a trial, as Optuna 4 and 5 write them.

`StudyFile.refresh()` reads what was appended and applies it as Optuna does; a damaged line is a problem and is skipped. Bounds:
LONGEST bytes per line and the values of `parsers.json_text`, MOST_TRIALS trials, MOST_REPORTED reported values of a trial.
"""

from __future__ import annotations

import codecs
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import IntEnum
from typing import Any

from parsers.files import RegularFile
from parsers.json_text import ManyValuesError, parse_json, require_few_values
from parsers.model import Problem

LONGEST = 16 << 20
"""Bytes of a line."""
CHUNK = 1 << 22
MOST_TRIALS = 200_000
MOST_REPORTED = 100_000
MOST_SEARCHED = 8
"""Places in a damaged line at which an intact record is sought: each costs as much as the rest of the line."""
STATES = ("running", "complete", "pruned", "failed", "waiting")
"""Names of the states, by their number in the journal."""
FINISHED = ("complete", "pruned", "failed")
_BEGIN = b'{"op_code":'
_CODE = b'"op_code"'
_KEYS: tuple[tuple[str, ...], ...] = (
    ("study_name", "directions"), ("study_id",), ("study_id", "user_attr"), ("study_id", "system_attr"),
    ("study_id", "datetime_start"), ("trial_id", "param_name", "param_value_internal", "distribution"),
    ("trial_id", "state", "values"), ("trial_id", "step", "intermediate_value"), ("trial_id", "user_attr"),
    ("trial_id", "system_attr"), (),
)  # fmt: skip


class JournalOperation(IntEnum):
    """What a record does, by its number in the journal."""

    CREATE_STUDY = 0
    DELETE_STUDY = 1
    STUDY_ATTRIBUTE = 2
    STUDY_SYSTEM = 3
    CREATE_TRIAL = 4
    PARAMETER = 5
    STATE = 6
    VALUE = 7
    ATTRIBUTE = 8
    SYSTEM = 9
    DISCARD = 10


class NewerError(ValueError):
    """A record is intact but of a kind that Optuna 4 and 5 do not write."""


def record_of(line: bytes) -> dict[str, Any]:
    """Return the record in a line. ValueError if it is damaged, NewerError if a newer Optuna has written it.

    ManyValuesError if it has more values than are read.
    """
    require_few_values(line)
    try:
        found = parse_json(line.removeprefix(codecs.BOM_UTF8).decode())  # from bytes, JSON takes unpaired surrogates
    except RecursionError as error:
        raise ValueError("too many levels") from error
    if not isinstance(found, dict) or not isinstance(found.get("op_code"), int) or "worker_id" not in found:
        raise ValueError("no record of a journal")
    code = found["op_code"]
    missing = [key for key in _KEYS[code] if key not in found] if 0 <= code < len(_KEYS) else []
    if missing or not 0 <= code < len(_KEYS):
        what = f"operation {code} without {', '.join(missing)}" if missing else f"operation {code}"
        raise NewerError(f"expected a journal of Optuna 4 or 5, found {what}; it is of another version of Optuna")
    return found


def damage_of(line: bytes) -> int:
    """Return how many bytes of a damaged line are lost: those before an intact record at its end, or all of them."""
    lost = end = len(line)
    for _ in range(MOST_SEARCHED):
        place = line.rfind(_BEGIN, 1, end)
        if place < 0:
            break
        end = place + len(_BEGIN) - 1
        try:
            record_of(line[place:])
            lost = place  # an earlier one may hold this one
        except NewerError:
            lost = place
        except ValueError:
            continue
    return lost


@dataclass(slots=True)
class TrialState:
    """One trial as the journal has it. Times are seconds since 1970, None if unknown; values and steps as reported."""

    number: int
    state: str
    started: float | None = None
    ended: float | None = None
    values: Sequence[float] = ()
    parameters: dict[str, Any] = field(default_factory=dict)
    distributions: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    reported: dict[int, float] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    system: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class StudyState:
    """One study of a journal. goals are "minimize" or "maximize", one per target."""

    name: str
    goals: tuple[str, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    trials: list[TrialState] = field(default_factory=list)


class StudyFile:
    """The studies in a journal, followed while it grows. One thread may use it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._clear()

    def _clear(self) -> None:
        self._offset = 0
        self._identity: tuple[int, int] | None = None
        self._studies: dict[int, StudyState] = {}
        self._made = 0
        self._trials: list[tuple[int, TrialState]] = []
        self._problems: list[Problem] = []
        self.version = 0

    @property
    def studies(self) -> tuple[StudyState, ...]:
        """All studies that were not deleted."""
        return tuple(self._studies.values())

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Damage found so far."""
        return tuple(self._problems)

    def refresh(self) -> bool:
        """Read what was appended, or everything if the file was replaced; return whether anything changed.

        OSError if the file cannot be read.
        """
        before = self.version
        with RegularFile(self.path) as file:
            identity = (file.status.st_dev, file.status.st_ino)
            if self._identity != identity or file.size < self._offset:
                self._clear()
                self._identity, self.version = identity, before + 1
            for offset, line in self._lines(file):
                self._take(offset, line)
        return self.version != before

    def _lines(self, file: RegularFile) -> Iterator[tuple[int, bytes]]:
        kept, begin = b"", self._offset
        position = begin
        while position < file.size:
            chunk = file.read(position, CHUNK)
            if not chunk:
                return
            position += len(chunk)
            kept += chunk
            *lines, kept = kept.split(b"\n")
            for line in lines:
                yield begin, line
                begin += len(line) + 1
                self._offset = begin
            if len(kept) > LONGEST:
                self._report(begin, 0, f"a line of at most {LONGEST:,} bytes", "a longer one")
                position = file.next_data(position)  # a hole has no end of the line
                kept, begin = b"", position
                self._offset = begin

    def _report(self, offset: int, length: int, expected: str, found: str) -> None:
        self.version += 1
        if len(self._problems) < 100:
            text = f"Expected {expected}, found {found}; it is skipped, the others are shown."
            self._problems.append(Problem(self.path, offset, length, "bad_message", text))

    def _take(self, offset: int, line: bytes) -> None:
        if _CODE not in line:
            self._report(offset, len(line), "a record of a journal", "a damaged line")
            return
        try:
            record = record_of(line)
        except NewerError as error:
            self._report(offset, len(line), "a record of Optuna 4 or 5", str(error).rpartition("found ")[2].partition(";")[0])
            return
        except ValueError as error:
            lost = damage_of(line)
            found = str(error) if isinstance(error, ManyValuesError) else "a damaged line"
            self._report(offset, lost, "a record of a journal", found)
            if lost < len(line):
                self._take(offset + lost, line[lost:])
            return
        self.version += 1
        try:
            self._apply(record)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            self._report(offset, len(line), "a record of Optuna 4 or 5", f"one that differs ({type(error).__name__})")

    def _apply(self, record: Mapping[str, Any]) -> None:
        code = record["op_code"]
        if code == JournalOperation.CREATE_STUDY:
            if all(one.name != record["study_name"] for one in self._studies.values()):
                goals = tuple("maximize" if int(one) == 2 else "minimize" for one in record["directions"])
                self._studies[self._made] = StudyState(str(record["study_name"]), goals)
                self._made += 1
        elif code == JournalOperation.DELETE_STUDY:
            self._studies.pop(record["study_id"], None)
        elif code == JournalOperation.STUDY_ATTRIBUTE:
            if record["study_id"] in self._studies:
                self._studies[record["study_id"]].attributes.update(_safe(record["user_attr"]))
        elif code == JournalOperation.CREATE_TRIAL:
            self._create(record)
        elif code in _OF_A_TRIAL:
            number = record["trial_id"]
            if isinstance(number, int) and 0 <= number < len(self._trials):
                trial = self._trials[number][1]
                if trial.state not in FINISHED:
                    _OF_A_TRIAL[code](trial, record)

    def _create(self, record: Mapping[str, Any]) -> None:
        study = self._studies.get(record["study_id"])
        if study is None:
            return
        if len(self._trials) >= MOST_TRIALS:
            raise ValueError("too many trials")
        trial = TrialState(len(study.trials), STATES[int(record.get("state", 0))], _time(record["datetime_start"]))
        trial.ended = _time(record.get("datetime_complete"))
        for name, text in (record.get("distributions") or {}).items():
            trial.distributions[name] = _distribution(text)
        for name, value in (record.get("params") or {}).items():
            trial.parameters[name] = external(value, trial.distributions[name])
        values = record.get("values")
        value = record.get("value")
        trial.values = _numbers(values if values is not None else [] if value is None else [value])
        for step, one in (record.get("intermediate_values") or {}).items():
            trial.reported[_step(step)] = float(one)
        trial.attributes.update(_safe(record.get("user_attrs") or {}))
        trial.system.update(_safe(record.get("system_attrs") or {}))
        study.trials.append(trial)
        self._trials.append((record["study_id"], trial))


def _parameter(trial: TrialState, record: Mapping[str, Any]) -> None:
    name = str(record["param_name"])
    distribution = _distribution(record["distribution"])
    trial.parameters[name] = external(record["param_value_internal"], distribution)
    trial.distributions[name] = distribution


def _state(trial: TrialState, record: Mapping[str, Any]) -> None:
    state = STATES[int(record["state"])]
    if state == "running" and trial.state == "running":
        return
    if state == "running":
        trial.started = _time(record.get("datetime_start"))
    if state in FINISHED:
        trial.ended = _time(record.get("datetime_complete"))
    trial.state = state
    if record["values"] is not None:
        trial.values = _numbers(record["values"])


def _value(trial: TrialState, record: Mapping[str, Any]) -> None:
    if len(trial.reported) >= MOST_REPORTED:
        raise ValueError("too many values")
    trial.reported[_step(record["step"])] = float(record["intermediate_value"])


def _step(value: Any) -> int:
    step = int(value)
    if not -1 << 62 < step < 1 << 62:
        raise ValueError("a step beyond 63 bits")
    return step


def _attribute(trial: TrialState, record: Mapping[str, Any]) -> None:
    trial.attributes.update(_safe(record["user_attr"]))


def _system(trial: TrialState, record: Mapping[str, Any]) -> None:
    trial.system.update(_safe(record["system_attr"]))


_OF_A_TRIAL: Mapping[int, Callable[[TrialState, Mapping[str, Any]], None]] = {
    JournalOperation.PARAMETER: _parameter, JournalOperation.STATE: _state, JournalOperation.VALUE: _value,
    JournalOperation.ATTRIBUTE: _attribute,
    JournalOperation.SYSTEM: _system,
}  # fmt: skip


def external(value: Any, distribution: Mapping[str, Any]) -> Any:
    """Return a value as a script sees it; the journal has the number of a choice."""
    attributes = distribution["attributes"]
    if "choices" in attributes:
        return attributes["choices"][int(value)]
    return int(value) if "Int" in distribution["name"] else float(value)


def _distribution(text: str) -> Mapping[str, Any]:
    found = parse_json(text)
    if not isinstance(found["name"], str) or not isinstance(found["attributes"], dict):
        raise ValueError("no distribution")
    return dict(found)


def _numbers(values: Sequence[Any]) -> Sequence[float]:
    return tuple(float(one) for one in values)


def _safe(values: Any) -> dict[str, Any]:
    return dict(values)


def _time(text: Any) -> float | None:
    if text is None:
        return None
    moment = datetime.fromisoformat(text)
    found = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return found if math.isfinite(found) else None


def is_journal(path: str) -> bool:
    """Return whether a file begins like a journal of Optuna."""
    try:
        with RegularFile(path) as file:
            head = file.read(0, 4096)
    except OSError:
        return False
    return head.lstrip(b" ").startswith(_BEGIN) and os.path.isfile(path)
