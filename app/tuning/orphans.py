"""Trials whose tuner is gone: those that still run or have ended meanwhile are taken over, by one tuner each.

On this machine a lock says whether a tuner is gone. Of other machines only the signs of their workers are known, and clocks of
machines differ: a worker counts as gone when no new sign has been seen from here for a while.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState

from app.tuning import claims, processes
from app.tuning.lines import duration_text
from app.tuning.processes import TrialProcess
from app.tuning.settings import settings_of
from app.tuning.storages import OpenStorage
from app.tuning.studies import ALIVE, LOST
from app.tuning.trials import Active, Decision, follower_of
from parsers.tuning.description import Tuning
from parsers.tuning.recording import DECISION, PLACE, WORKER

_FINISHED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)


@dataclass(frozen=True, slots=True)
class Hands:
    """What the worker does with a trial: whether it has room for one, its directory (path: without making it), choosing,
    starting, following, failing."""

    free: Callable[[], bool]
    path: Callable[[int], str]
    place: Callable[[int], str]
    prepare: Callable[[optuna.Trial, claims.Claim], None]
    start: Callable[[int, int, Mapping[str, Any], str, str, claims.Claim], None]
    take: Callable[[Active], None]
    fail: Callable[[int, int, str], None]


class Silence:
    """How long others have given no sign, by the clock of this process."""

    def __init__(self) -> None:
        self._noted: dict[object, tuple[object, float]] = {}

    def seconds(self, key: object, sign: object = None) -> float:
        """Return for how long the sign has been the same, as seen from here: 0 the first time."""
        now = time.monotonic()
        noted = self._noted.get(key)
        if noted is None or noted[0] != sign:
            noted = self._noted[key] = sign, now
        return now - noted[1]


class Orphans:
    """Looks for trials without a tuner. directory is that of the study in the workspace.

    waiting: some are of workers that seem to be gone, and will be taken over or given up unless there is a sign.
    """

    def __init__(
        self, tuning: Tuning, study: optuna.Study, opened: OpenStorage, directory: str, host: str, hands: Hands,
        say: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._tuning, self._study, self._opened, self._directory = tuning, study, opened, directory
        self._host, self._hands, self._say = host, hands, say
        self._machine = processes.machine()
        self._silence = Silence()
        self._said: set[str] = set()
        self.waiting = False

    def look(self, mine: set[int]) -> None:
        """Take over trials that run without a tuner, and give up those of machines that are gone. mine are ids of trials."""
        running = self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
        self.waiting = False
        for frozen in running:
            if frozen._trial_id in mine:
                continue
            place = frozen.user_attrs.get(PLACE)
            if not isinstance(place, dict):
                self._adopt_unplaced(frozen)
            elif self._is_here(place):
                self._adopt_placed(frozen, place)
            elif self._gone(str(place.get("worker"))):
                self._give_up(frozen, place)

    def _is_here(self, place: Mapping[str, Any]) -> bool:
        """Return whether this machine has the processes of a trial. Two machines may have one name, as containers often do."""
        same = (place.get("host"), place.get("user")) == (self._host, os.getuid())
        return same and (not self._opened.shared or place.get("machine", self._machine) == self._machine)

    def _gone(self, worker: str) -> bool:
        """Return whether a worker of another machine is gone: silent for LOST seconds, of which ALIVE were seen from here."""
        sign = self._study.user_attrs.get(WORKER + worker)
        seen = sign.get("seen") if isinstance(sign, dict) else None
        silent = self._silence.seconds(worker, seen)
        late = not isinstance(seen, int | float) or time.time() - seen >= LOST
        if silent >= LOST or (late and silent >= ALIVE):
            return True
        if late:
            self.waiting = True
            if worker not in self._said:
                self._said.add(worker)
                self._say(f"worker {worker} seems to be gone; its trials are given up unless it gives a sign within "
                          f"{duration_text(ALIVE)}")  # fmt: skip
        return False

    def _give_up(self, frozen: FrozenTrial, place: Mapping[str, Any]) -> None:
        """Take the result of a trial of a machine that is gone, if its directory is in a workspace in common, else fail it."""
        if place.get("user") == os.getuid() and os.path.isdir(str(place.get("directory"))):
            self._adopt_placed(frozen, place)
            return
        why = f"its worker {place.get('worker')} has given no sign for {duration_text(LOST)}"
        self._hands.fail(frozen.number, frozen._trial_id, why)

    def _adopt_unplaced(self, frozen: FrozenTrial) -> None:
        """Take over a trial whose tuner was killed while it chose settings: choose them again."""
        if not self._hands.free():
            return
        ours = not self._opened.shared or os.path.isdir(self._hands.path(frozen.number))
        if not ours and self._silence.seconds(frozen._trial_id) < ALIVE:
            self.waiting = True
            return  # a worker on another machine may be choosing
        with claims.nobody_asks(self._directory) as alone:
            if not alone or self._opened.storage.get_trial(frozen._trial_id).user_attrs.get(PLACE):
                return
            held = claims.claim(self._hands.place(frozen.number))
            if held is None:
                return
            trial = optuna.trial.Trial(self._study, frozen._trial_id)
        self._say(f"trial {frozen.number}: its tuner was killed while it chose settings; they are chosen again")
        self._hands.prepare(trial, held)

    def _adopt_placed(self, frozen: FrozenTrial, place: Mapping[str, Any]) -> None:
        directory, run = str(place.get("directory")), str(place.get("run"))
        if not os.path.isdir(directory):
            self._hands.fail(frozen.number, frozen._trial_id, f"{directory} is gone, from which it is looked after")
            return
        held = claims.claim(directory)
        if held is None:
            return
        current = self._opened.storage.get_trial(frozen._trial_id)
        if current.state in _FINISHED:
            held.release()
            return
        settings = settings_of(current, self._tuning.parameters)
        kept = processes.found_again(directory)
        if kept is None:
            if not self._hands.free():
                held.release()
                return
            self._say(f"trial {frozen.number}: its tuner was killed before it started; it is started now")
            self._hands.start(frozen.number, frozen._trial_id, settings, run, str(place.get("device", "")), held)
            return
        self._take_over(current, kept, settings, run, place, held)

    def _take_over(
        self, frozen: FrozenTrial, kept: TrialProcess, settings: Mapping[str, Any], run: str, place: Mapping[str, Any],
        held: claims.Claim,
    ) -> None:  # fmt: skip
        began = frozen.datetime_start.timestamp() if frozen.datetime_start is not None else time.time()
        active = Active(frozen.number, frozen._trial_id, settings, run, str(place.get("device", "")), kept, held, began, True)
        noted = frozen.user_attrs.get(DECISION)
        if isinstance(noted, dict):
            active.decision = Decision(str(noted.get("state")), str(noted.get("reason")), int(noted.get("step", -1)))
            kept.end()
        active.follower = follower_of(self._tuning, run)
        active.reports = type(active.reports)(list(frozen.intermediate_values))
        self._hands.take(active)
        state = "has ended meanwhile" if kept.poll() is not None else "still runs"
        self._say(f"trial {frozen.number}: taken over from a tuner that is gone; it {state}")
