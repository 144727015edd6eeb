"""Finds the journals of studies and follows them while tuners write to them. Optuna is never imported, and nothing is written
to journals. What Optuna's evaluators say is computed by a program of its own (`app.store.tuning.evaluations`).

A thread reads what is new when somebody asks; answers are what has been read. Frames are made of a study that a page shows,
once for each change.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.background import Background, Task
from app.store.first_use import made_once
from parsers.discovery.studies import journals

if TYPE_CHECKING:
    from app.store.tuning.evaluations import Evaluations
    from layouts.tuning.studies import Importances, OpenStudy, StudyRow
    from parsers.tuning.journal import StudyFile, StudyState

FIND_SECONDS = 10.0
"""Seconds between two looks for new journals."""
PATIENCE = 0.1
"""Seconds an answer waits for a thread that reads."""


@dataclass(slots=True)
class _FollowedStudy:
    """A journal. failed is why it cannot be read now, "" if it can."""

    file: StudyFile
    failed: str = ""


def _followed(path: str) -> _FollowedStudy:
    from parsers.tuning.journal import StudyFile  # few servers have journals

    return _FollowedStudy(StudyFile(path))


class Studies:
    """The studies of a server. Any thread may use it."""

    def __init__(
        self, bases: Sequence[str | os.PathLike[str]], directory: str | None, *, interval: float, stay_inside: bool = False
    ) -> None:
        """directory is that of the workspace with the studies of this machine; bases are those of runs."""
        self._places = [(os.path.abspath(os.fspath(base)), stay_inside) for base in bases]
        self._places += [(directory, False)] if directory else []
        self._interval = interval or 1.0
        self._lock = threading.Lock()
        self._reading = threading.Lock()
        self._background = Background("mindscope-studies", slots=1)
        self._reads: Task | None = None
        self._followed: dict[str, _FollowedStudy] = {}
        self._rows: tuple[StudyRow, ...] = ()
        self._opened: dict[str, OpenStudy] = {}
        self._looked = self._found = float("-inf")
        self._mark = secrets.token_hex(4)
        self._read_once = self._awaited = False
        self.version = 0
        """Changes whenever a study does, and when the first look has ended if a page waits for it."""

    def look(self) -> None:
        """Have what is new read in the background, if it is time for that."""
        now = time.monotonic()
        with self._lock:
            if now - self._looked < self._interval or not self._places or self._background.is_busy:
                return
            self._looked = now
            self._reads = self._background.begin("", self._read)

    def stop(self) -> None:
        """Stop reading and wait for its end."""
        self._background.stop()
        if "_evaluations" in vars(self):
            self._evaluations.stop()

    @made_once
    def _evaluations(self) -> Evaluations:
        from app.store.tuning.evaluations import Evaluations

        return Evaluations()

    def wait(self) -> None:
        """Read what is new now. A read that is going on may have begun before it was written."""
        if self._reads is not None:
            self._reads.ended.wait()
        self._looked = float("-inf")
        self.look()
        if self._reads is not None:
            self._reads.ended.wait()

    def rows(self) -> tuple[StudyRow, ...]:
        """Return all studies, by name."""
        self.look()
        return self._rows

    def open(self, key: str) -> OpenStudy:
        """Return a study, as it is now or, while its journal is being read, as it was."""
        from layouts.tuning.studies import OpenStudy

        self.look()
        before = self._opened.get(key)
        if before is not None and before.mark == self._mark_now():
            return before
        if not self._reading.acquire(timeout=PATIENCE):
            self._awaited = True
            return before or OpenStudy("reading")
        try:
            found = self._make(key)
            self._opened = {key: found} if found.state == "ready" else {}
            return found
        finally:
            self._reading.release()

    def importances(self, key: str, target: str, method: str) -> Importances:
        """Return what an evaluator says of a study, or "working" while that is computed or the journal is being read."""
        from layouts.tuning.studies import Importances
        from parsers import tuning_frames
        from parsers.tuning.importances import question

        self.look()
        if not self._reading.acquire(timeout=PATIENCE):
            return Importances("working")
        try:
            found = self._listed().get(key)
            if found is None:
                return Importances("failed", reason="failed", detail=key) if self._read_once else Importances("working")
            study = found[1]
            trials = sum(one.state == "complete" for one in study.trials)
            known = self._evaluations.fresh((key, target, method), trials)
            if known is not None:
                return known
            names = [name for name, _ in tuning_frames.targets_of(study)]
            asked = question(study, names.index(target) if target in names else 0, method)
        finally:
            self._reading.release()
        self._evaluations.ask((key, target, method), trials, asked)
        return Importances("working")

    def _mark_now(self) -> str:
        return f"{self._mark}.{self.version:x}"

    def _read(self, task: Task) -> None:
        with self._reading:
            changed = False
            now = time.monotonic()
            if now - self._found >= FIND_SECONDS:
                self._found = now
                changed = self._find()
            for path, one in self._followed.items():
                task.check()
                changed = _refresh(path, one) or changed
            self._read_once = True
            if changed or self._awaited:
                self._awaited = False
                self._rows = tuple(row for row, _ in self._listed().values())
                self.version += 1

    def _find(self) -> bool:
        paths = {os.path.realpath(path): path for base, inside in self._places for path in journals(base, stay_inside=inside)}
        kept = {path: one for path, one in self._followed.items() if path in paths}
        new = {path: _followed(shown) for path, shown in paths.items() if path not in kept}
        changed = bool(new) or len(kept) < len(self._followed)
        self._followed = kept | new
        return changed

    def _listed(self) -> Mapping[str, tuple[StudyRow, StudyState]]:
        """Return all studies by key: the name, with a number after it if several journals have one of this name."""
        if not self._followed:
            return {}
        from layouts.tuning.studies import StudyRow
        from parsers import tuning_frames

        found: dict[str, tuple[StudyRow, StudyState]] = {}
        for _, one in sorted(self._followed.items()):
            for study in one.file.studies:
                key, number = study.name, 1
                while key in found:
                    number += 1
                    key = f"{study.name}~{number}"
                running = sum(trial.state == "running" for trial in study.trials)
                storage, copied = tuning_frames.mirror_of(study)
                row = StudyRow(key, study.name, one.file.path, len(study.trials), running, storage, copied)
                found[key] = row, study
        return dict(sorted(found.items()))

    def _make(self, key: str) -> OpenStudy:
        from layouts.tuning.studies import OpenStudy, StudyFrames
        from parsers import tuning_frames

        if key not in (listed := self._listed()):
            self._awaited = not self._read_once
            return OpenStudy("missing" if self._read_once else "reading")
        row, study = listed[key]
        followed = next(one for one in self._followed.values() if one.file.path == row.path)
        frames = StudyFrames(
            row, tuple(tuning_frames.targets_of(study)), dict(tuning_frames.search_of(study)),
            tuning_frames.trials_frame(study), tuning_frames.values_frame(study), tuning_frames.parameters_frame(study),
            tuning_frames.workers_frame(study), tuning_frames.suggestion_of(study),
        )  # fmt: skip
        return OpenStudy("ready", frames, self._mark_now(), followed.failed, followed.file.problems)


def _refresh(path: str, one: _FollowedStudy) -> bool:
    """Read what is new of a journal; return whether anything changed."""
    before, one.failed = one.failed, ""
    try:
        return one.file.refresh() or bool(before)
    except OSError as error:
        one.failed = f"{path}: {error.strerror or error}"
        return one.failed != before
