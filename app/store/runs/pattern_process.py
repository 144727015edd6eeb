"""Match a regular expression against names: a separate program, which `matching` starts and can kill.

Input: a line of JSON, [pattern, captures requested, names are lines, seconds], then the names, as lines or as JSON.
Output: JSON, [answer, error]. The answer is the indices of the names in which the pattern occurs, or with captures, for each
name the matched text or null. The program imports little because it is started for each pattern.
"""

from __future__ import annotations

import json
import re
import signal
import sys

LATE = -getattr(signal, "SIGPROF", 0)
"""Exit code of a process that exceeded its CPU time; 0 on systems without that limit."""
MEMORY = 512 << 20
"""Memory limit of the process in bytes."""
# After these, a capital letter has another meaning, or the escape stands for a letter that is not visible here.
_CASED = re.compile(r"\\[axuUN0-9]|\(\?(?![:=!]|<[=!])")
_RANGES = re.compile(r"a-z|A-Z|0-9")


def lowered(pattern: str) -> str | None:
    """Return a pattern that matches lower-case ASCII text as `(?i)` and this pattern match any case; None if unknown.

    Case-sensitive matching is several times as fast.
    """
    ranges = "[" in pattern and "-" in _RANGES.sub("", pattern)  # other ranges may include only one case of a letter
    if ranges or not pattern.isascii() or _CASED.search(pattern):
        return None
    return re.sub(r"\\.|[A-Z]", lambda found: found[0] if found[0][0] == "\\" else found[0].lower(), pattern, flags=re.DOTALL)


def _matching_indices(pattern: str, text: str, names: list[str] | None) -> list[int]:
    expression = re.compile(pattern)
    small = lowered(pattern[4:]) if pattern.startswith("(?i)") else None
    if small is not None and names is None and text.isascii():
        expression, text = re.compile(small), text.lower()
    search = expression.search
    return [place for place, name in enumerate(_each(text, names)) if search(name)]


def _each(text: str, names: list[str] | None) -> list[str]:
    return text.split("\n") if names is None else names


def _captured(match: re.Match[str] | None) -> str | None:
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
            answer: list[str | None] | list[int] = [_captured(expression.search(name)) for name in _each(text, names)]
        else:
            answer = _matching_indices(pattern, text, names)
    except (re.error, OverflowError, RecursionError) as error:
        json.dump([[], str(error)], sys.stdout)
        return
    json.dump([answer, ""], sys.stdout)


if __name__ == "__main__":
    _answer()
