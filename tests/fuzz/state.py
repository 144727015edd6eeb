"""How many cases each target has had in all sessions: a file that is committed, so that the next one begins with the fewest.

A line is the name of a target and its cases, in the order of the names, so that changes of two targets merge. A line that is
none is told and left out; of a name that is there twice, as after a merge, the larger number counts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

STATE = Path(__file__).resolve().parent / "cases.txt"
_LINE = re.compile(r"(\S{1,200}) (\d{1,15})")


@dataclass(frozen=True, slots=True)
class State:
    """Cases by the name of their target, and what was wrong with the file, in one line each."""

    cases: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


class Count:
    """The cases of one session, which are added to a state file while it goes on; other sessions may add to the file, too."""

    def __init__(self, path: Path, known: Collection[str]) -> None:
        self._path, self._known = path, known
        self._added: Mapping[str, int] = {}

    def update(self, run: Mapping[str, int]) -> None:
        """Add what is new in run, the cases of this session so far by the name of their target."""
        add(self._path, {name: cases - self._added.get(name, 0) for name, cases in run.items()}, self._known)
        self._added = dict(run)


def load(path: Path) -> State:
    """Read a state file. One that is not there has no cases; OSError if it cannot be read."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return State()
    cases: dict[str, int] = {}
    damaged = 0
    for line in filter(None, lines):
        found = _LINE.fullmatch(line)
        if found is None:
            damaged += 1
            continue
        cases[found[1]] = max(int(found[2]), cases.get(found[1], 0))
    return State(cases, (f"{path}: {damaged} of {len(lines)} lines are none and were left out",) if damaged else ())


def add(path: Path, run: Mapping[str, int], known: Collection[str]) -> None:
    """Add the cases of a session to what the file holds by now; names that are no longer known are left out."""
    before = load(path).cases
    lines = [f"{name} {before.get(name, 0) + run.get(name, 0)}\n" for name in sorted(known)]
    written = path.with_name(f"{path.name}.{os.getpid()}")
    written.write_text("".join(lines), "utf-8")
    written.replace(path)
