"""Names that match a regular expression, found within a time limit.

Python cannot interrupt a running match, and some patterns take forever on some names. So patterns are matched in a separate
process (pattern_process.py), which can be killed; plain text needs none.
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
from typing import Any

from app.store.runs import pattern_process
from layouts.kit.patterns import PatternMatcher
from parsers.caches import Cache

LONGEST = 1000
"""Maximum number of characters in a pattern."""
WAITING = 4 if pattern_process.LATE else 1
"""Factor from CPU time to wall-clock time allowed: on a busy machine the process gets only part of a CPU."""


class PatternError(ValueError):
    """The pattern is not a regular expression, is too long, or took too long; the text says which."""


def matching(pattern: str, names: Sequence[str], seconds: float = 1.0) -> list[str]:
    """Return the names in which the pattern (Python syntax) occurs, in order. Raises PatternError."""
    if _plain(pattern):
        return [name for name in names if pattern in name]
    return [names[place] for place in _run_process(pattern, names, seconds, captures=False)]


def captured(pattern: str, names: Sequence[str], seconds: float = 1.0) -> list[str | None]:
    """Return what the pattern matches in each name: its first group, else the whole match, or None. Raises PatternError."""
    if _plain(pattern):
        return [pattern if pattern in name else None for name in names]
    return _run_process(pattern, names, seconds, captures=True)


def _plain(pattern: str) -> bool:
    if len(pattern) > LONGEST:
        raise PatternError(f"expected a pattern of at most {LONGEST} characters, found {len(pattern)}")
    return not re.search(r"[\\^$.|?*+()\[\]{}]", pattern)


def _run_process(pattern: str, names: Sequence[str], seconds: float, *, captures: bool) -> list[Any]:
    """Run the process on some names; pattern_process.py describes its input and output."""
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
        raise PatternError(f"expected a regular expression, found an error: {error}")
    return list(found)


class UserPatterns(PatternMatcher):
    """Patterns of users, matched in another process.

    `captured` has a cache of the latest results, and one pattern is matched at a time. A failure is retried after some
    seconds: a busy machine may have been the reason.
    """

    CACHED = 16
    RETRY_SECONDS = 10.0

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: Cache[tuple[str, tuple[str, ...]], list[str | None]] = Cache(self.CACHED)
        self._refused: Cache[tuple[str, tuple[str, ...]], tuple[float, str]] = Cache(self.CACHED)

    def matching(self, pattern: str, names: Sequence[str]) -> list[str]:
        """See `PatternMatcher`."""
        return matching(pattern, names)

    def captured(self, pattern: str, names: Sequence[str]) -> list[str | None]:
        """See `PatternMatcher`."""
        key = pattern, tuple(names)
        with self._lock:
            known = self._answers.get(key)
            if known is not None:
                return known
            asked, reason = self._refused.get(key) or (-math.inf, "")
            if time.monotonic() - asked < self.RETRY_SECONDS:
                raise PatternError(reason)
            try:
                answer = captured(pattern, names)
            except PatternError as error:
                self._refused.put(key, (time.monotonic(), str(error)))
                raise
            self._answers.put(key, answer)
            return answer
