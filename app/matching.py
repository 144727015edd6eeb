"""Names that match a regular expression, found within a time limit.

Python cannot stop a match once it runs, and some patterns take for ever on some names. So patterns are tried in a process
of their own, which is this file run as a program and which can be killed; a plain text needs none.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence

LONGEST = 1000
"""A pattern has at most so many characters."""
MEMORY = 512 << 20
"""The process may use so many bytes."""


class PatternError(ValueError):
    """The pattern is not a regular expression, is too long, or took too long; the text says which."""


def matching(pattern: str, names: Sequence[str], seconds: float = 1.0) -> list[str]:
    """The names in which the pattern (Python's syntax) occurs, in order. Raises PatternError."""
    if len(pattern) > LONGEST:
        raise PatternError(f"wanted a pattern of at most {LONGEST} characters, got {len(pattern)}")
    if not re.search(r"[\\^$.|?*+()\[\]{}]", pattern):
        return [name for name in names if pattern in name]
    question = json.dumps([pattern, list(names)]).encode()
    command = [sys.executable, "-I", "-S", __file__]
    try:
        answer = subprocess.run(command, input=question, capture_output=True, timeout=seconds, check=True)  # noqa: S603
        places, error = json.loads(answer.stdout)
    except subprocess.TimeoutExpired:
        raise PatternError(f"the pattern took longer than {seconds:g} s and was stopped: simplify it") from None
    except subprocess.CalledProcessError:
        raise PatternError("the pattern needs too much memory: simplify it") from None
    if error:
        raise PatternError(f"wanted a regular expression: {error}")
    return [names[place] for place in places]


def _answer() -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        pass
    else:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    pattern, names = json.load(sys.stdin.buffer)
    try:
        expression = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        json.dump([[], str(error)], sys.stdout)
        return
    json.dump([[place for place, name in enumerate(names) if expression.search(name)], ""], sys.stdout)


if __name__ == "__main__":
    _answer()
