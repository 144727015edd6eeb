"""What becomes of a trial that has ended: its targets, why it failed or was pruned, whether it is to be repeated."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import optuna
from optuna.trial import TrialState

from app.tuning.lines import duration_text, settings_text, values_text
from app.tuning.processes import Ending
from app.tuning.results import RunResults, numbers_of, results_of
from app.tuning.samplers import CONSTRAINTS
from app.tuning.settings import violations_of
from app.tuning.storages import OpenStorage
from app.tuning.studies import best_of
from app.tuning.trials import Active, Decision, failure_of
from parsers.tuning.description import Tuning
from parsers.tuning.recording import END


class Endings:
    """Tells a study how its trials ended, and prints a line for each. states counts the trials of this call by state."""

    def __init__(self, tuning: Tuning, study: optuna.Study, opened: OpenStorage, say: Callable[[str], None]) -> None:
        self._tuning, self._study, self._opened, self._say = tuning, study, opened, say
        self.states: Counter[str] = Counter()

    def finish(self, active: Active, ending: Ending) -> None:
        """Take the result of a trial that has ended."""
        failure = failure_of(ending, self._tuning.command, self._tuning.time_limit)
        decision = active.decision
        if not failure:  # also if it ended before it could be asked to
            self._take(active, ending, "")
        elif decision is not None:
            self._ended_early(active, decision, ending)
        elif ending.why == "not_kept" or (ending.why in ("lost", "ended") and active.adopted):
            self._ended_early(active, Decision("interrupted", failure, active.last_step), ending)
        else:
            self.fail(active.number, active.trial_id, failure, active.kept.last_lines(), ending, active.last_step)

    def _ended_early(self, active: Active, decision: Decision, ending: Ending) -> None:
        if decision.state == "plateau":
            self._take(active, ending, decision.reason)
        elif decision.state == "pruned":
            end = self._end(ending, decision.reason, "", decision.step)
            violations = violations_of(self._tuning, active.settings, known=set(active.settings))
            self._tell(active.number, active.trial_id, TrialState.PRUNED, None, end, violations)
            self._print(active.number, "pruned", decision.reason, active.began, active.settings, ending.ended)
        else:
            end = self._end(ending, decision.reason, "", decision.step)
            self._tell(active.number, active.trial_id, TrialState.FAIL, None, end | {"again": True}, None)
            text = f"{decision.reason}; --resume repeats it"
            self._print(active.number, "interrupted", text, active.began, active.settings, ending.ended)

    def _take(self, active: Active, ending: Ending, reason: str) -> None:
        """Tell the targets that a trial recorded, or that it failed to record them."""
        recorded = RunResults.below(active.run)
        results = results_of(recorded, self._tuning.targets)
        values = results.usable
        if values is None and reason:
            end = self._end(ending, reason, "", active.last_step)
            self._tell(active.number, active.trial_id, TrialState.PRUNED, None, end, None)
            self._print(active.number, "pruned", reason, active.began, active.settings, ending.ended)
            return
        if values is None:
            self.fail(active.number, active.trial_id, results.why, active.kept.last_lines(), ending, active.last_step)
            return
        names = [name for constraint in self._tuning.constraints for name in constraint.names]
        numbers = numbers_of(recorded, names, active.settings)
        missing = sorted({name for name in names if name not in numbers} - {one.name for one in self._tuning.parameters})
        if missing:
            why = f"expected {', '.join(missing)} of the constraints in the files of the run, found none"
            self.fail(active.number, active.trial_id, why, active.kept.last_lines(), ending, active.last_step)
            return
        violations = violations_of(self._tuning, numbers, known=set(numbers))
        end = self._end(ending, reason, "", active.last_step)
        self._tell(active.number, active.trial_id, TrialState.COMPLETE, values, end, violations)
        unmet = " (violates a constraint)" if violations and any(one > 0 for one in violations) else ""
        text = values_text(self._tuning.targets, values) + unmet + (f" ({reason})" if reason else "")
        if len(self._tuning.targets) == 1:
            best = best_of(self._study, self._tuning)
            text += f" (best {best.values[0]:.6g}, trial {best.number})" if best is not None else ""
        self._print(active.number, "complete", text, active.began, active.settings, ending.ended)

    def fail(
        self, number: int, trial_id: int, reason: str, output: str = "", ending: Ending | None = None, step: int = -1
    ) -> None:
        """Note that a trial failed."""
        self._tell(number, trial_id, TrialState.FAIL, None, self._end(ending, reason, output, step), None)
        last = output.rpartition("\n")[2]
        self._say(f"trial {number} failed: {reason}" + (f" | {last[:200]}" if last else ""))

    def _end(self, ending: Ending | None, reason: str, output: str, step: int) -> dict[str, Any]:
        return {
            "exit": ending.exit if ending else None, "reason": reason, "output": output, "step": step,
            "cpu_s": ending.cpu_s if ending else None, "left": ending.left if ending else 0,
            "ended": ending.ended if ending else None,
        }  # fmt: skip

    def _tell(
        self, number: int, trial_id: int, state: TrialState, values: Sequence[float] | None, end: Mapping[str, Any],
        violations: Sequence[float] | None,
    ) -> None:  # fmt: skip
        """Finish a trial in the storage."""
        storage = self._opened.storage
        try:
            with self._opened.batch():
                storage.set_trial_user_attr(trial_id, END, dict(end))
                self._study.sampler.after_trial(self._study, storage.get_trial(trial_id), state, values)
                if violations is not None:  # in this order: Optuna 4 notes constraints, too
                    storage.set_trial_system_attr(trial_id, CONSTRAINTS, list(violations))
                storage.set_trial_state_values(trial_id, state, values)
            storage.get_trial(trial_id)
        except (optuna.exceptions.UpdateFinishedTrialError, KeyError, ValueError) as error:
            self._opened.catch_up()
            if storage.get_trial(trial_id).user_attrs.get(END) != end:  # else the storage failed just after it had taken it
                self._say(f"trial {number}: its result was not taken: {error}")
                return
        names = {TrialState.COMPLETE: "complete", TrialState.PRUNED: "pruned"}
        self.states["interrupted" if end.get("again") else names.get(state, "failed")] += 1

    def _print(
        self, number: int, state: str, text: str, began: float, settings: Mapping[str, Any], ended: float | None
    ) -> None:
        took = duration_text(max((time.time() if ended is None else ended) - began, 0.0))
        self._say(f"trial {number} {state}: {text}, {took}, {settings_text(settings)}")
