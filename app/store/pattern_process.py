"""Tries a regular expression on names: a program of its own, which `matching` starts and can kill.

Input: a line of JSON, [pattern, whether captures are asked for, whether names are lines, seconds], then the names: as lines
or as JSON.
Output: JSON, [answer, error]. The answer is the places of the names in which the pattern occurs, or with captures for each
name what it finds, null for nothing. It imports little, as it is started anew for each pattern.
"""

from __future__ import annotations

import json
import re
import signal
import sys

LATE = -getattr(signal, "SIGPROF", 0)
"""The exit code of a process that needed too much processor time; 0 on systems that do not limit it."""
MEMORY = 512 << 20
"""The process may use so many bytes."""
# Letters after these say something else in capitals, or stand for letters that are not seen here.
_CASED = re.compile(r"\\[axuUN0-9]|\(\?(?![:=!]|<[=!])")
_RANGES = re.compile(r"a-z|A-Z|0-9")


def lowered(pattern: str) -> str | None:
    """A pattern that finds in small ASCII letters what `(?i)` and this one find in letters of any case; None for not known.

    Letters with no case to mind are found several times as fast.
    """
    ranges = "[" in pattern and "-" in _RANGES.sub("", pattern)  # of other ranges not all may have both cases of a letter
    if ranges or not pattern.isascii() or _CASED.search(pattern):
        return None
    return re.sub(r"\\.|[A-Z]", lambda found: found[0] if found[0][0] == "\\" else found[0].lower(), pattern, flags=re.DOTALL)


def _places(pattern: str, text: str, names: list[str] | None) -> list[int]:
    expression = re.compile(pattern)
    small = lowered(pattern[4:]) if pattern.startswith("(?i)") else None
    if small is not None and names is None and text.isascii():
        expression, text = re.compile(small), text.lower()
    search = expression.search
    return [place for place, name in enumerate(_each(text, names)) if search(name)]


def _each(text: str, names: list[str] | None) -> list[str]:
    return text.split("\n") if names is None else names


def _taken(match: re.Match[str] | None) -> str | None:
    if match is None:
        return None
    return match[1] if match.re.groups and match[1] is not None else match[0]


def _answer() -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        pass
    else:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    pattern, captures, lines, seconds = json.loads(sys.stdin.buffer.readline())
    text = sys.stdin.buffer.read().decode("utf-8", "surrogatepass")
    names = None if lines else json.loads(text)
    if LATE:
        signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        if captures:
            expression = re.compile(pattern)
            answer: list[str | None] | list[int] = [_taken(expression.search(name)) for name in _each(text, names)]
        else:
            answer = _places(pattern, text, names)
    except (re.error, OverflowError, RecursionError) as error:
        json.dump([[], str(error)], sys.stdout)
        return
    json.dump([answer, ""], sys.stdout)


if __name__ == "__main__":
    _answer()
