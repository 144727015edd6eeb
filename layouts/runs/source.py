"""The interface between pages and the runs of the application."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from parsers import Problem

from layouts.runs.questions import Destinations
from layouts.runs.rows import RunChanges, RunFile, RunRow, SourceStatus

if TYPE_CHECKING:
    from layouts.runs.mirrors import MirrorStatus


class RunSource(Protocol):
    """Runs: the list, what a run holds, and what is wrong with it.

    Every method answers from memory within milliseconds.
    """

    def status(self) -> SourceStatus:
        """Return the status of the source."""
        ...

    def rows(self) -> Sequence[RunRow]:
        """Return all runs, newest first."""
        ...

    def changes(self, since: str) -> RunChanges:
        """Return what has changed in the list of runs since a mark of an earlier answer; any other text asks for all runs."""
        ...

    def colours(self, chosen: Sequence[str] = ()) -> Mapping[str, str]:
        """Return member run key -> colour, as #rrggbb, for every run (`layouts.runs.run_colours`).

        chosen are the runs that the state of the page names; hues are spread over them.
        """
        ...

    def member(self, run: str) -> RunRow | None:
        """Return the row of one member run; None for an unknown run. (`runs` has one row for all ranks of a job.)"""
        ...

    def tags(self, run: str, kind: str = "scalar") -> Sequence[str]:
        """Return the tags of one member run in order of first appearance; empty for an unknown run."""
        ...

    def files(self, run: str) -> Sequence[RunFile]:
        """Return the files of one member run, and its directories of profiles and dumps, by path; empty for an unknown run."""
        ...

    def version(self, run: str) -> int:
        """Return a number that changes whenever the data of a member run changes; 0 for an unknown run."""
        ...

    def problems(self, run: str | None = None) -> Sequence[tuple[str, Problem]]:
        """Return (run key, problem) for one run (for a job: its ranks) or for all."""
        ...

    def verified(self, run: str | None = None) -> tuple[int, int]:
        """Return (number of large values whose data CRC has been checked, number of large values)."""
        ...

    def places(self) -> Destinations:
        """Return the places that answer the questions of the start page best, if they are known (`layouts.runs.questions`)."""
        ...

    def mirrors(self) -> Sequence[MirrorStatus]:
        """Return the state of the mirrors that copy remote runs."""
        ...

    def fetch(self, address: str, name: str) -> bool:
        """Have the mirror of an address copy a file that is above its limit; return False if it has no such file."""
        ...

    def want(self, runs: Sequence[str]) -> None:
        """Load these runs before all others, because they are on screen."""
        ...

    def refresh(self) -> None:
        """Scan the disk now instead of after the interval; return at once."""
        ...
