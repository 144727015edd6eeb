"""Has measures say how important the settings of a study are: in a program of its own, when somebody asks.

An answer is kept until the study has a tenth more complete trials than it was computed from. One program runs at a time; it
ends after LONGEST seconds at the latest, and when the server stops.
"""

from __future__ import annotations

import json
import logging
import subprocess
from collections.abc import Mapping
from typing import Any

from app.background import Background, Task
from app.programs import command, environment
from layouts.tuning.studies import Importances
from parsers.caches import Cache

log = logging.getLogger(__name__)

LONGEST = 120.0
MOST_KEPT = 32
GROWN = 1.1
"""An answer is computed anew when this many times the trials are complete."""

Key = tuple[str, str, str]
"""Study, target, method."""


class Evaluations:
    """Answers by study, target and method. Any thread may use it."""

    def __init__(self) -> None:
        self._known: Cache[Key, Importances] = Cache(MOST_KEPT)
        self._background = Background("mindscope-importance", slots=1)

    def fresh(self, key: Key, trials: int) -> Importances | None:
        """Return the answer that is known, if the number of complete trials has hardly changed."""
        found = self._known.get(key)
        return found if found is not None and found.trials <= trials < max(found.trials * GROWN, found.trials + 1) else None

    def ask(self, key: Key, trials: int, question: Mapping[str, Any]) -> None:
        """Compute an answer in the background, unless one is being computed: pages ask again, and abandoned ones do not."""
        if not self._background.is_busy:
            self._background.begin(key[0], lambda task: self._compute(task, key, trials, question))

    def stop(self) -> None:
        """End the program that computes, and wait for its end."""
        self._background.stop()

    def _compute(self, task: Task, key: Key, trials: int, question: Mapping[str, Any]) -> None:
        try:
            found = _answer(task, question)
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            task.check()
            log.error("the importance of settings could not be computed: %s", error)
            found = {"reason": "failed", "detail": str(error)[:500]}
        shares = found.get("importance")
        self._known.put(key, (
            _ready(found, shares, trials) if isinstance(shares, dict)
            else Importances("failed", {}, trials, str(found.get("reason")), str(found.get("detail", "")))
        ))  # fmt: skip


def _ready(found: Mapping[str, Any], shares: Mapping[str, float], trials: int) -> Importances:
    ends = {str(name): (float(low), float(high)) for name, (low, high) in found.get("ends", {}).items()}
    alone = found.get("alone")
    untried = {str(name): float(part) for name, part in found.get("untried", {}).items()}
    return Importances("ready", shares, trials, ends=ends, fit=float(found.get("fit", float("nan"))),
                       untried=untried, tied=tuple(map(str, found.get("tied", ()))),
                       alone=None if alone is None else tuple(map(str, alone)))  # fmt: skip


def _answer(task: Task, question: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the program answers. OSError, ValueError or TimeoutExpired if it gives no answer."""
    process = subprocess.Popen(  # noqa: S603 - our own program
        command("app.tuning.importances"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=environment() | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    task.when_cancelled(process.kill)
    try:
        text, _ = process.communicate(json.dumps(question).encode(), timeout=LONGEST)
    finally:
        process.kill()
        process.wait()
    if process.returncode:
        raise ValueError(f"the program ended with code {process.returncode}")
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("expected an object")
    return found
