"""How many cases each target has had in all sessions: a file that is committed, so that the next one begins with the fewest.

A line is the name of a target, its cases, and the number of guided cases since one reached new code, in the order of the names,
so that changes of two targets merge. A line that is none is reported and left out; of a name that is there twice, as after a
merge, the line with more cases counts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

STATE = Path(__file__).resolve().parent / "cases.txt"
ENOUGH = 50_000
"""Cases that each target should have."""
SATURATED = 10_000
"""Guided cases in a row without new code after which a target is saturated: more cases of this kind would find little."""
_LINE = re.compile(r"(\S{1,200}) (\d{1,15})(?: (\d{1,15}))?")


@dataclass(frozen=True, slots=True)
class State:
    """Cases, and guided cases since new code, by the name of their target; what was wrong with the file, in one line each."""

    cases: Mapping[str, int] = field(default_factory=dict)
    since: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ran:
    """Cases that one target had in a session: of all, of guided ones, and the number of the guided one that last reached new
    code, from 1 on."""

    cases: int = 0
    guided: int = 0
    newest: int = 0

    def after(self, earlier: Ran) -> Ran:
        """Return what ran since earlier, an earlier state of the same session."""
        newest = self.newest - earlier.guided if self.newest > earlier.newest else 0
        return Ran(self.cases - earlier.cases, self.guided - earlier.guided, newest)


class Count:
    """The cases of one session, which are added to a state file while it goes on; other sessions may add to the file, too."""

    def __init__(self, path: Path, known: Collection[str]) -> None:
        self._path, self._known = path, known
        self._added: Mapping[str, Ran] = {}

    def update(self, run: Mapping[str, Ran]) -> None:
        """Add what is new in run, the cases of this session so far by the name of their target."""
        add(self._path, {name: ran.after(self._added.get(name, Ran())) for name, ran in run.items()}, self._known)
        self._added = dict(run)


def load(path: Path) -> State:
    """Read a state file. One that is not there has no cases; OSError if it cannot be read."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return State()
    cases: dict[str, int] = {}
    since: dict[str, int] = {}
    damaged = 0
    for line in filter(None, lines):
        found = _LINE.fullmatch(line)
        if found is None:
            damaged += 1
            continue
        if int(found[2]) >= cases.get(found[1], 0):
            cases[found[1]], since[found[1]] = int(found[2]), int(found[3] or 0)
    return State(cases, since, (f"{path}: {damaged} of {len(lines)} lines are none and were left out",) if damaged else ())


def add(path: Path, run: Mapping[str, Ran], known: Collection[str]) -> None:
    """Add the cases of a session to what the file holds by now; names that are no longer known are left out."""
    before = load(path)
    lines = []
    for name in sorted(known):
        ran = run.get(name, Ran())
        since = ran.guided - ran.newest if ran.newest else before.since.get(name, 0) + ran.guided
        lines.append(f"{name} {before.cases.get(name, 0) + ran.cases} {since}\n")
    written = path.with_name(f"{path.name}.{os.getpid()}")
    written.write_text("".join(lines), "utf-8")
    written.replace(path)


def summary(state: State) -> str:
    """Return what is to be done yet, in a few lines: targets with too few cases, and which of those are saturated."""
    few = {name for name, cases in state.cases.items() if cases < ENOUGH}
    full = sorted(name for name in few if state.since.get(name, 0) >= SATURATED)
    left = sorted(few.difference(full), key=lambda name: (state.cases[name], name))
    total, targets = sum(state.cases.values()), len(state.cases)
    said = [f"In all sessions: {total:,} cases; {targets - len(few)} of {targets} targets have {ENOUGH:,}."]
    if full:
        said.append(f"Saturated before that, without new code in {SATURATED:,} guided cases: {', '.join(full)}.")
    if left:
        said.append(f"Neither: {len(left)}, the fewest cases {state.cases[left[0]]:,} ({left[0]}).")
    return "\n".join(said)
