"""Has Optuna's evaluators say how important the settings of a study are: in a program of its own, when somebody asks.

An answer is kept until the study has a tenth more complete trials than it was computed from. One program runs at a time; it
ends after LONGEST seconds at the latest, and when the server stops.
"""

from __future__ import annotations

import json
import logging
import subprocess
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from app.programs import command, environment
from layouts.studies import Importances

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
        self._lock = threading.Lock()
        self._known: OrderedDict[Key, Importances] = OrderedDict()
        self._working: Key | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None
        self._stopped = False

    def fresh(self, key: Key, trials: int) -> Importances | None:
        """Return the answer that is known, if the number of complete trials has hardly changed."""
        with self._lock:
            found = self._known.get(key)
            if found is None or not found.trials <= trials < max(found.trials * GROWN, found.trials + 1):
                return None
            self._known.move_to_end(key)
            return found

    def ask(self, key: Key, trials: int, question: Mapping[str, Any]) -> None:
        """Compute an answer in the background, unless one is being computed."""
        with self._lock:
            if self._working is not None or self._stopped:
                return
            self._working = key
            self._thread = threading.Thread(
                target=self._compute, args=(key, trials, question), name="mindscope-importance", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """End the program that computes, and wait for its end."""
        with self._lock:
            self._stopped = True
            thread, process = self._thread, self._process
        if process is not None:
            process.kill()
        if thread is not None:
            thread.join()

    def _compute(self, key: Key, trials: int, question: Mapping[str, Any]) -> None:
        try:
            found = self._answer(question)
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            if not self._stopped:
                log.error("the importance of settings could not be computed: %s", error)
            found = {"reason": "failed", "detail": str(error)[:500]}
        shares = found.get("importance")
        answer = (
            Importances("ready", shares, trials) if isinstance(shares, dict)
            else Importances("failed", {}, trials, str(found.get("reason")), str(found.get("detail", "")))
        )  # fmt: skip
        with self._lock:
            self._working = self._process = None
            self._known[key] = answer
            self._known.move_to_end(key)
            while len(self._known) > MOST_KEPT:
                self._known.popitem(last=False)

    def _answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the program answers. OSError, ValueError or TimeoutExpired if it gives no answer."""
        process = subprocess.Popen(  # noqa: S603 - our own program
            command("app.tuning.importances"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=environment() | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        with self._lock:
            self._process = process
            if self._stopped:
                process.kill()
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
