"""Trials whose tuner is gone: those that still run or have ended meanwhile are taken over, by one tuner each."""

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
from app.tuning.processes import Kept
from app.tuning.settings import settings_of
from app.tuning.storages import Opened
from app.tuning.studies import ALIVE, LOST, living_workers
from app.tuning.trials import Active, Decision, follower_of
from parsers.tuning.description import Tuning
from parsers.tuning.recording import DECISION, PLACE, WORKER

_FINISHED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)


@dataclass(frozen=True, slots=True)
class Hands:
    """What the worker does with a trial: whether it has room for one, its directory, choosing, starting, following, failing."""

    free: Callable[[], bool]
    place: Callable[[int], str]
    prepare: Callable[[optuna.Trial, claims.Claim], None]
    start: Callable[[int, int, Mapping[str, Any], str, str, claims.Claim], None]
    take: Callable[[Active], None]
    fail: Callable[[int, int, str], None]


class Orphans:
    """Looks for trials without a tuner. directory is that of the study in the workspace."""

    def __init__(
        self, tuning: Tuning, study: optuna.Study, opened: Opened, directory: str, host: str, hands: Hands,
        say: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._tuning, self._study, self._opened, self._directory = tuning, study, opened, directory
        self._host, self._hands, self._say = host, hands, say

    def look(self, mine: set[int]) -> None:
        """Take over trials that run without a tuner, and give up those of machines that are gone. mine are ids of trials."""
        running = self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
        orphans = [one for one in running if one._trial_id not in mine]
        if not orphans:
            return
        living = set(living_workers(self._study)) if self._opened.shared else set()
        for frozen in orphans:
            place = frozen.user_attrs.get(PLACE)
            if not isinstance(place, dict):
                self._adopt_unplaced(frozen)
            elif (place.get("host"), place.get("user")) == (self._host, os.getuid()):
                self._adopt_placed(frozen, place)
            elif place.get("worker") not in living and self._gone(place):
                why = f"its worker {place.get('worker')} has given no sign for {duration_text(LOST)}"
                self._hands.fail(frozen.number, frozen._trial_id, why)

    def _gone(self, place: Mapping[str, Any]) -> bool:
        sign = self._study.user_attrs.get(f"{WORKER}{place.get('worker')}")
        seen = sign.get("seen") if isinstance(sign, dict) else None
        return not isinstance(seen, int | float) or time.time() - seen > LOST

    def _adopt_unplaced(self, frozen: FrozenTrial) -> None:
        """Take over a trial whose tuner was killed while it chose settings: choose them again."""
        if not self._hands.free():
            return
        begun = frozen.datetime_start
        if self._opened.shared and begun is not None and time.time() - begun.timestamp() < ALIVE:
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
        self, frozen: FrozenTrial, kept: Kept, settings: Mapping[str, Any], run: str, place: Mapping[str, Any],
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
