"""Names that match a regular expression, found within a time limit.

Python cannot stop a match once it runs, and some patterns take for ever on some names. So patterns are tried in a process
of their own, which is pattern_process.py and can be killed; a plain text needs none.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any, TypeVar

from app.store import pattern_process

K = TypeVar("K")
V = TypeVar("V")

LONGEST = 1000
"""A pattern has at most so many characters."""
WAITING = 4 if pattern_process.LATE else 1
"""Where its processor time is limited, the process may take so many times as long: on a busy machine it gets a part of it."""


class PatternError(ValueError):
    """The pattern is not a regular expression, is too long, or took too long; the text says which."""


def matching(pattern: str, names: Sequence[str], seconds: float = 1.0) -> list[str]:
    """The names in which the pattern (Python's syntax) occurs, in order. Raises PatternError."""
    if _plain(pattern):
        return [name for name in names if pattern in name]
    return [names[place] for place in _tried(pattern, names, seconds, captures=False)]


def captured(pattern: str, names: Sequence[str], seconds: float = 1.0) -> list[str | None]:
    """What the pattern finds in each name: its first group, else all; None where it finds nothing. Raises PatternError."""
    if _plain(pattern):
        return [pattern if pattern in name else None for name in names]
    return _tried(pattern, names, seconds, captures=True)


def _plain(pattern: str) -> bool:
    if len(pattern) > LONGEST:
        raise PatternError(f"expected a pattern of at most {LONGEST} characters, found {len(pattern)}")
    return not re.search(r"[\\^$.|?*+()\[\]{}]", pattern)


def _tried(pattern: str, names: Sequence[str], seconds: float, *, captures: bool) -> list[Any]:
    """The answer of the process for some names, whose input and output pattern_process.py tells of."""
    text = "\n".join(names)
    lines = text.count("\n") == len(names) - 1
    head = json.dumps([pattern, captures, lines, seconds])
    question = f"{head}\n{text if lines else json.dumps(list(names))}".encode("utf-8", "surrogatepass")
    command = [sys.executable, "-I", "-S", pattern_process.__file__]
    try:
        answer = subprocess.run(command, input=question, capture_output=True, timeout=WAITING * seconds, check=True)  # noqa: S603
        found, error = json.loads(answer.stdout)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as stopped:
        if isinstance(stopped, subprocess.TimeoutExpired) or stopped.returncode == pattern_process.LATE:
            raise PatternError(f"the pattern took longer than {seconds:g} s and was stopped: simplify it") from None
        raise PatternError("the pattern needs too much memory: simplify it") from None
    if error:
        raise PatternError(f"expected a regular expression: {error}")
    return list(found)


class Captures:
    """`captured` for those who ask the same again: each of the last questions is tried once, one at a time.

    What could not be answered is tried again after some seconds: a busy machine may have been the reason.
    """

    KEPT = 16
    PATIENCE = 10.0

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[tuple[str, tuple[str, ...]], list[str | None]] = {}
        self._refused: dict[tuple[str, tuple[str, ...]], tuple[float, str]] = {}

    def __call__(self, pattern: str, names: Sequence[str]) -> list[str | None]:
        """What `captured` says."""
        question = pattern, tuple(names)
        with self._lock:
            if question in self._answers:
                return self._answers[question]
            asked, reason = self._refused.get(question, (-math.inf, ""))
            if time.monotonic() - asked < self.PATIENCE:
                raise PatternError(reason)
            try:
                answer = captured(pattern, names)
            except PatternError as error:
                _keep(self._refused, question, (time.monotonic(), str(error)), self.KEPT)
                raise
            _keep(self._answers, question, answer, self.KEPT)
            return answer


def _keep(answers: dict[K, V], question: K, answer: V, most: int) -> None:
    answers.pop(question, None)
    answers[question] = answer
    if len(answers) > most:
        del answers[next(iter(answers))]
