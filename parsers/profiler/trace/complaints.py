"""Counts what is wrong with the events of a trace, with the first place of each kind, and makes problems of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from parsers.model import Problem

MOST_KINDS = 60
"""Maximum problems of one file; more kinds are counted together."""


@dataclass(slots=True)
class _CountedComplaint:
    number: int
    offset: int
    length: int
    text: str
    found: str
    kind: str


@dataclass(slots=True)
class TraceComplaints:
    """The problems of one trace."""

    path: str
    kinds: dict[str, _CountedComplaint] = field(default_factory=dict)
    others: int = 0
    plain: list[Problem] = field(default_factory=list)

    def count(
        self, text: str, offset: int = 0, length: int = 0, *, number: int = 1, found: str = "", kind: str = "bad_trace"
    ) -> None:
        """Count events with the same fault. `text` contains {n} for their number; `found` describes the first one."""
        known = self.kinds.get(text)
        if known is not None:
            known.number += number
        elif len(self.kinds) < MOST_KINDS:
            self.kinds[text] = _CountedComplaint(number, offset, length, text, found, kind)
        else:
            self.others += number

    def add(self, kind: str, text: str, offset: int = 0) -> None:
        """Add a problem that there is once."""
        self.plain.append(Problem(self.path, offset, 0, kind, text))

    def all(self) -> tuple[Problem, ...]:
        """Return the problems, damage of the whole file first."""
        found = list(self.plain)
        for each in self.kinds.values():
            text = each.text.replace("{n}", f"{each.number:,} event{'' if each.number == 1 else 's'}")
            first = f"; the first is at byte {each.offset:,}" if each.number > 1 and each.offset else ""
            found_there = f": {each.found}" if each.found else ""
            length = each.length if each.number == 1 else 0
            found.append(Problem(self.path, each.offset, length, each.kind, f"{text}{first}{found_there}."))
        if self.others:
            text = f"{self.others:,} more events with other faults were dropped."
            found.append(Problem(self.path, 0, 0, "bad_trace", text))
        return tuple(found)
