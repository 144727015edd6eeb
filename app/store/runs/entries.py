"""One run of the store: what was read of it, what is due, and which runs a row of the list has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from app.store.runs.run_rows import kinds_of, unread_row
from layouts.runs.rows import RunRow
from parsers import PayloadCache, Problem, Source
from parsers.runs import Run


@dataclass(frozen=True, slots=True)
class Asleep:
    """What the index says of a run whose files are as they were: its row, and the number of its large values, all verified.

    wake gives an entry its run, restored from the index, when it is first asked for; any thread may call it.
    """

    row: RunRow
    verified: int
    wake: Callable[[RunEntry], Run]


class RunEntry:
    """One leaf run of the store. job is the key of its row in the list of runs, its own unless it is a rank."""

    def __init__(self, key: str, job: str, source: Source, cache: PayloadCache, asleep: Asleep | None = None) -> None:
        self.key = key
        self.job = job
        self.awake = None if asleep else Run(source, cache)
        """The run, None as long as the row from the index is all that anybody wanted."""
        self._asleep = asleep
        self.source = source
        self.row = asleep.row if asleep else unread_row(key, source)
        self.verified = (asleep.verified, asleep.verified) if asleep else (0, 0)
        self.verifying = False
        self.failure: tuple[Problem, ...] = ()
        self.dump_problems: tuple[Problem, ...] = ()
        self.explanation_problems: tuple[Problem, ...] = ()
        self.dump_changes = 0
        self.loaded = asleep is not None
        self.due = asleep is None
        self.restored = asleep is not None
        self.indexed = self.content if asleep else (0, 0)
        self.indexed_at = 0.0

    @property
    def run(self) -> Run:
        """The run, with everything that was read of it."""
        if self.awake is not None:
            return self.awake
        assert self._asleep is not None
        return self._asleep.wake(self)

    @property
    def behind(self) -> bool:
        """Whether there is more to read of it than one slice."""
        return self.awake is not None and self.awake.behind

    @property
    def version(self) -> int:
        """A number that grows with every change of what the run shows."""
        return (self.row.version if self.awake is None else self.awake.version) + self.dump_changes

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Damage in the files of the run, its dump and its explanations, and the error that stopped reading it."""
        own = self.awake.problems if self.awake is not None else ()  # a damaged run is never asleep
        return own + self.failure + self.dump_problems + self.explanation_problems

    @property
    def counts(self) -> tuple[int, int]:
        """The numbers of problems that are damage, and of notes."""
        found = self.problems
        notes = sum(problem.is_note for problem in found)
        return len(found) - notes, notes

    @property
    def content(self) -> tuple[int, int]:
        """The version of the run and the number of its verified values: what the index is compared with."""
        return (self.row.version if self.awake is None else self.awake.version), self.verified[0]

    def count_verified(self) -> None:
        """Update the numbers of verified and of all large values."""
        large = self.run.large
        self.verified = (large - self.run.unverified if large else 0, large)

    def take(self, source: Source) -> None:
        """Update the entry from the newest scan; it becomes due for reading if any of its files changed."""
        self.due = self.due or _signature(source) != _signature(self.source)
        if self.loaded and source.plan != self.source.plan:
            self.row = replace(self.row, tags=kinds_of(self.run, source))
        self.source = source

    def undecided(self) -> bool:
        """Return whether the run may change without its files doing so: one cannot be opened, or ends within a record."""
        return bool(self.loaded and (self._waiting() or self._unreadable()))

    def decide(self) -> None:
        """Make the run due if a file could not be opened, or if one that ends within a record has become idle."""
        self.due = self.due or self._unreadable() or (self._waiting() and self.counts != self.row.counts)

    def _waiting(self) -> bool:
        return self.awake is not None and self.awake.waiting

    def _unreadable(self) -> bool:
        """Return whether a file could not be opened; those of dumps are opened only when they are asked for."""
        own = self.awake.problems if self.awake is not None else ()
        return any(problem.kind == "unreadable" for problem in own + self.failure)


def _signature(source: Source) -> tuple[object, ...]:
    """The properties of a run that a scan compares."""
    return source.files, source.profile_dirs, source.profile_size, source.profile_updated, source.dump_dirs
