"""The loop of a tuner: choose settings, start trials, follow them, take their results. One thread, one storage.

What a trial needs to be found again is in the storage before its process starts, and a decision to end one before it is ended:
at whatever moment the tuner is killed, the next one goes on from there.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import optuna
from optuna.trial import TrialState

from app.commands.processes import start_time
from app.tuning import claims, processes
from app.tuning.endings import Endings
from app.tuning.journal_file import FileLock
from app.tuning.lines import counted as counted_text
from app.tuning.lines import duration_text
from app.tuning.mirror import StudyMirror
from app.tuning.orphans import Hands, Orphans
from app.tuning.preview import Previews
from app.tuning.processes import TrialStartError
from app.tuning.samplers import CONSTRAINTS, GridByNumber, grid_points, is_given, place_of, seed_of
from app.tuning.settings import custom_lineage, drawn, feasibility, suggest, violations_of
from app.tuning.storages import OpenStorage, StorageError, failures
from app.tuning.studies import counted, identity_of, to_repeat
from app.tuning.trials import LOOK, Active, Decision, follower_of, looked
from parsers.tuning.description import Tuning, label
from parsers.tuning.recording import DECISION, END, NEXT, PLACE, PROCESS, RETRY_OF, SKIPPED, WORKER

HEARTBEAT = 60.0
ORPHANS = 5.0
"""Seconds between two searches for trials without a tuner."""
PAUSE = 1.0
"""Seconds before a storage that failed is tried again; twice as long after every further failure."""
PATIENCE = 600.0
"""Seconds to wait for a storage that fails before the tuner gives up."""
MOST_FAILURES = 10
"""Trials that fail before any is finished, after which the tuner ends."""
INFEASIBLE = "infeasible"
MOST_INFEASIBLE = 50
"""Suggestions in a row that violate a constraint, after which settings are drawn at random to find some that do not."""
MOST_DRAWS = 10_000
"""Draws of settings without one that meets the constraints, after which the tuner ends."""


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """What the command line adds to the configuration. iterations: trials to start in this call, None for the budget's."""

    jobs: int = 1
    devices: tuple[str, ...] = ()
    iterations: int | None = 1


class Worker:
    """Looks after the trials of one study. directory is that of the study in the workspace; say prints a line."""

    def __init__(
        self, tuning: Tuning, study: optuna.Study, opened: OpenStorage, directory: str, options: WorkerOptions,
        say: Callable[[str], None]
    ) -> None:
        self._tuning, self._study, self._opened = tuning, study, opened
        self._directory, self._options, self._say = directory, options, say
        self._host = socket.gethostname()
        self.id = f"{self._host}-{os.getpid()}-{uuid.uuid4().hex[:6]}"
        self._active: dict[int, Active] = {}
        self._started = self._infeasible = 0
        self._began, self._began_at = time.time(), time.monotonic()
        self._heartbeat = self._orphans = 0.0
        self._signals = 0
        self._full = ""
        self._previews = Previews()
        self._mirror = StudyMirror(directory, opened.label, say) if opened.journal is None else None
        self._wake, self._waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._endings = Endings(tuning, study, opened, say)
        self._identity = identity_of(study)[:8]
        hands = Hands(self._free, self._path, self._place, self._prepare, self._start, self._take, self._endings.fail)
        self._finder = Orphans(tuning, study, opened, directory, self._host, hands, say)

    @property
    def states(self) -> Counter[str]:
        """Trials of this call by state."""
        return self._endings.states

    # The loop --------------------------------------------------------------------------------------------------------

    def run(self) -> bool:
        """Work until the budget is used; return False if it was interrupted. StorageError if the storage fails for long."""
        with self._handlers():
            self._patiently(lambda: self._sign(ended=False))
            self._patiently(self._repeat)
            while True:
                if not self._patiently(self._round):
                    break
                self._pause()
            self._patiently(lambda: self._sign(ended=True))
            self._patiently(lambda: self._copy(last=True))
        return not self._signals

    def _copy(self, *, last: bool = False) -> None:
        """Copy the study to where the page finds it, if it is in a database and that is due."""
        if self._mirror is not None and (last or time.monotonic() >= self._mirror.due):
            self._mirror.copy(self._study)
            if last:
                self._mirror.close()

    def _round(self) -> bool:
        """Do what is due; return whether there is more to do."""
        now = time.monotonic()
        self._copy()
        if now >= self._heartbeat:
            self._sign(ended=False)
        for active in list(self._active.values()):
            try:
                self._tend(active, now)
            except optuna.exceptions.UpdateFinishedTrialError:
                self._drop(active)
        if self._signals:
            self._interrupt()
            return bool(self._active)
        if now >= self._orphans:
            self._orphans = now + ORPHANS
            self._finder.look({one.trial_id for one in self._active.values()})
        while self._free() and not self._signals and self._more():
            self._begin()
        if self._active and not self._free() and not self._signals and self._previews.due(self._study):
            self._study.set_user_attr(NEXT, self._previews.make(self._study, self._tuning))
        if self._active or self._more() or self._signals:
            return bool(self._active) or not self._signals
        self._finder.look(set())  # a storage that failed may have left a trial that was begun and not started
        return bool(self._active) or (self._finder.waiting and self._options.iterations is None)

    def _patiently(self, work: Callable[[], Any]) -> Any:
        """Do work; while the storage fails, wait and try again."""
        until, pause = 0.0, PAUSE
        while True:
            try:
                found = work()
            except failures() as error:
                now = time.monotonic()
                if not until:
                    until = now + PATIENCE
                    self._say(f"{self._opened.failure(error)}; trying again for {duration_text(PATIENCE)}, trials go on")
                if now >= until or self._signals > 1:
                    running = counted_text(len(self._active), "trial")
                    text = f"{running} of this tuner may still run; --resume takes them over"
                    raise StorageError(f"{self._opened.failure(error)}; given up. {text}") from None
                self._wait(pause)
                pause = min(2 * pause, 30.0)
                continue
            if until:
                self._say(f"{self._opened.label}: works again")
            return found

    def _pause(self) -> None:
        """Wait until a process ends, or the next look is due."""
        due = [self._heartbeat, self._orphans]
        due += [self._mirror.due] if self._mirror is not None else []
        due += [one.next_look if one.follower or one.adopted else self._heartbeat for one in self._active.values()]
        ending = any(one.decision for one in self._active.values())
        wait = min(due) - time.monotonic() if self._active or self._finder.waiting else 0.0
        self._wait(min(max(wait, 0.0), 0.2 if ending else 5.0))

    def _wait(self, seconds: float) -> None:
        if select.select([self._wake], [], [], seconds)[0]:
            with contextlib.suppress(BlockingIOError):
                os.read(self._wake, 4096)

    @contextlib.contextmanager
    def _handlers(self) -> Iterator[None]:
        """Count requests to end, and wake up when a process ends."""

        def requested(*_: object) -> None:
            self._signals += 1

        wanted = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {one: signal.signal(one, requested) for one in wanted if signal.getsignal(one) != signal.SIG_IGN}  # nohup
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
        former = signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(former)
            for number, handler in before.items():
                signal.signal(number, handler)

    def _sign(self, *, ended: bool) -> None:
        """Give a sign of life."""
        now = time.time()
        sign = {
            "host": self._host, "pid": os.getpid(), "start": start_time(os.getpid()), "began": self._began, "seen": now,
            "ended": now if ended else None, "jobs": self._options.jobs,
        }  # fmt: skip
        self._study.set_user_attr(WORKER + self.id, sign)
        self._heartbeat = time.monotonic() + HEARTBEAT

    def _repeat(self) -> None:
        """Let trials that were interrupted be tried again, once for all workers."""
        beside = self._opened.journal.path if self._opened.journal is not None else os.path.join(self._directory, "study")
        with FileLock(f"{beside}.repeat").held():
            for number, settings in to_repeat(self._study):
                self._study.enqueue_trial(settings, user_attrs={RETRY_OF: number})

    # Beginning -------------------------------------------------------------------------------------------------------

    def _more(self) -> bool:
        """Return whether another trial may be started."""
        if self._full:
            return False
        asked, hours = self._options.iterations, self._tuning.hours
        if asked is not None and self._started - self.states["interrupted"] >= asked:
            return False
        failed = self.states["failed"]
        if failed >= MOST_FAILURES and not self.states["complete"] + self.states["pruned"]:
            self._full = f"{MOST_FAILURES} trials failed and none succeeded"
        elif hours is not None and time.monotonic() - self._began_at >= hours * 3600:
            self._full = f"{hours:g} h are over"
        elif self._tuning.trials is not None and len(counted(self._study)) >= self._tuning.trials:
            self._full = f"the study has its {counted_text(self._tuning.trials, 'trial')}"
        elif isinstance(self._study.sampler, GridByNumber) and self._grid_done():
            self._full = "every point of the grid was tried"
        if self._full:
            self._say(f"No more trials: {self._full}")
        return not self._full

    def _grid_done(self) -> bool:
        trials = self._study.get_trials(deepcopy=False)
        waiting = any(one.state == TrialState.WAITING for one in trials)
        return not waiting and sum(not is_given(one) for one in trials) >= len(self._study.sampler)

    def _free(self) -> bool:
        return len(self._active) < self._options.jobs

    def _take(self, active: Active) -> None:
        """Look after a trial that a former tuner has started."""
        self._active[active.number] = active
        self._started += 1

    def _begin(self) -> None:
        """Choose settings and start a trial with them."""
        with claims.asking(self._directory):
            trial = self._study.ask()
            held = claims.claim(self._place(trial.number))
        if held is None:  # another tuner has taken it over, since this one waited for its storage
            return
        self._prepare(trial, held)

    def _prepare(self, trial: optuna.Trial, held: claims.Claim) -> None:
        """Note the settings of a trial and start it, unless it is not to be."""
        device = self._device()
        run = os.path.join(self._tuning.summary_base_dir, f"train_{uuid.uuid1()}")
        try:
            with self._opened.batch():
                settings = suggest(trial, self._tuning.parameters)
                why = self._unfit(trial, settings)
                if not why:
                    place = {
                        "run": run, "directory": self._place(trial.number), "worker": self.id, "host": self._host,
                        "user": os.getuid(), "machine": processes.machine(), "device": device,
                    }  # fmt: skip
                    trial.set_user_attr(PLACE, place)
        except failures():
            held.release()  # the trial is found again as one without a tuner
            raise
        if why:
            held.release()
            if why == INFEASIBLE and self._infeasible % MOST_INFEASIBLE == 0:
                self._look_for_feasible()
            return
        self._start(trial.number, trial._trial_id, settings, run, device, held)

    def _unfit(self, trial: optuna.Trial, settings: Mapping[str, Any]) -> str:
        """End a trial that is not to be started; return why, "" if it is."""
        violations = violations_of(self._tuning, settings, known=set(settings))
        if violations is not None and any(one > 0 for one in violations):
            self._infeasible += 1
            self._skip(trial._trial_id, "it violates a constraint", TrialState.PRUNED, violations)
            return INFEASIBLE
        self._infeasible = 0
        place = place_of(self._study, trial.number)
        given = is_given(self._study.get_trials(deepcopy=False)[trial.number])
        if isinstance(self._study.sampler, GridByNumber) and not given and place >= len(self._study.sampler):
            self._skip(trial._trial_id, "the grid has no more points", TrialState.FAIL, None)
            return "beyond the grid"
        limit = self._tuning.trials
        if limit is not None and sum(one.number < trial.number for one in counted(self._study)) >= limit:
            again = isinstance(self._study.sampler, GridByNumber)
            self._skip(trial._trial_id, "the budget is used", TrialState.FAIL, None, again=again)
            return "beyond the budget"
        return ""

    def _look_for_feasible(self) -> None:
        """Let settings that meet the constraints be tried next; end the search if there seem to be none."""
        grid = isinstance(self._study.sampler, GridByNumber)
        random = np.random.default_rng(seed_of(self._tuning.seed, self._infeasible))
        found = feasibility(self._tuning, (
            grid_points(self._tuning.parameters)[:MOST_DRAWS] if grid
            else (drawn(self._tuning.parameters, random) for _ in range(MOST_DRAWS))
        ))  # fmt: skip
        if found.settings is None:
            self._full = found.said
            self._say(f"No more trials: {self._full}")
            return
        if grid:
            return  # it has all of its points tried
        labels = {one.name: label(found.settings[one.name]) if one.kind == "choice" else found.settings[one.name]
                  for one in self._tuning.parameters if one.name in found.settings}  # fmt: skip
        self._study.enqueue_trial(labels)

    def _skip(
        self, trial_id: int, why: str, state: TrialState, violations: Sequence[float] | None, *, again: bool = False
    ) -> None:
        storage = self._opened.storage
        with self._opened.batch():
            storage.set_trial_user_attr(trial_id, SKIPPED, why)
            if again:
                storage.set_trial_user_attr(trial_id, END, {"again": True})
            if violations is not None:
                storage.set_trial_system_attr(trial_id, CONSTRAINTS, list(violations))
            storage.set_trial_state_values(trial_id, state, None)
        self.states["skipped"] += 1

    def _start(
        self, number: int, trial_id: int, settings: Mapping[str, Any], run: str, device: str, held: claims.Claim
    ) -> None:
        self._started += 1
        directory = self._place(number)
        try:
            processes.note_run(directory, run)
            environment = processes.environment_of(settings, run, custom_lineage(self._tuning, settings), device)
            kept = processes.start(directory, self._tuning.command, environment, time_limit=self._tuning.time_limit)
        except TrialStartError as error:
            held.release()
            self._endings.fail(number, trial_id, f"the trial could not be started: {error}")
            return
        except OSError:
            held.release()
            raise
        follower = follower_of(self._tuning, run)
        self._active[number] = Active(
            number, trial_id, settings, run, device, kept, held, time.time(), follower=follower
        )
        self._opened.storage.set_trial_user_attr(trial_id, PROCESS, kept.identity)

    def _path(self, number: int) -> str:
        """Return the directory of a trial. Studies of one name, in other storages or begun again, have others."""
        name = f"{number}-{self._identity}" if self._identity else str(number)
        return os.path.join(self._directory, "trials", name)

    def _place(self, number: int) -> str:
        path = self._path(number)
        os.makedirs(path, mode=0o700, exist_ok=True)
        return path

    def _device(self) -> str:
        """Return the device with the fewest trials of this tuner, "" if there are none to hand out."""
        used = Counter(one.device for one in self._active.values())
        return min(self._options.devices, key=lambda one: used[one], default="")

    # Watching --------------------------------------------------------------------------------------------------------

    def _tend(self, active: Active, now: float) -> None:
        """Look at one trial: has it ended, is it to end?"""
        if active.next_look <= now or not active.adopted:
            ending = active.kept.poll()
            if ending is not None:
                self._look(active, decide=False)
                self._endings.finish(active, ending)
                self._active.pop(active.number, None)
                active.claim.release()
                return
        if active.next_look <= now:
            active.next_look = now + LOOK
            if active.decision is None:
                self._look(active)

    def _drop(self, active: Active) -> None:
        """End a trial that another tuner has finished, as it does when this one gave no sign for long."""
        self._opened.catch_up()
        self._say(f"trial {active.number}: another tuner has given it up; it is ended here, too")
        active.kept.kill()
        self._active.pop(active.number, None)
        active.claim.release()

    def _look(self, active: Active, *, decide: bool = True) -> None:
        """Report what the trial has recorded, and with decide end it if it lags behind."""
        reports, decision = looked(active, self._tuning)
        pruning = self._tuning.pruning
        if pruning is not None and reports:
            sign = 1 if pruning.goal == self._tuning.targets[0].goal else -1
            storage = self._opened.storage
            with self._opened.batch():
                for step, value in reports:
                    storage.set_trial_intermediate_value(active.trial_id, step, sign * value)
            frozen = storage.get_trial(active.trial_id)
            if decide and decision is None and self._study.pruner.prune(self._study, frozen):
                step, value = reports[-1]
                text = f"{pruning.name}: {active.follower.tag if active.follower else ''} {value:.6g} at step {step}"
                decision = Decision("pruned", text, active.last_step)
        if decide and decision is not None:
            self._decide(active, decision)

    def _decide(self, active: Active, decision: Decision) -> None:
        """Note why a trial is to end, then end it."""
        noted = {"state": decision.state, "reason": decision.reason, "step": decision.step}
        self._opened.storage.set_trial_user_attr(active.trial_id, DECISION, noted)
        active.decision = decision
        active.kept.end()

    def _interrupt(self) -> None:
        """End all trials, on the second request at once."""
        for active in self._active.values():
            if active.decision is None:
                self._decide(active, Decision("interrupted", "the tuner was asked to end", active.last_step))
            if self._signals > 1:
                active.kept.kill()
