"""The mirrors whose copies are served: their state files, and the wishes that the server writes for them.

Only files in the workspace are written: a mirror that was not started by this server is shown, and wishes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from app.mirror.state import FAILED, LARGE, REMOVED, MirrorFacts, is_running, read_facts, read_state
from app.mirror.wishes import MOST, Wishes, read_wishes, write_wishes
from layouts.runs.mirrors import MirrorFile, MirrorStatus
from parsers.names import printable

MOST_FILES = 500
"""Files that are not copied, of which pages get the names."""


class Mirrors:
    """The mirrors among directories of runs. wishes: directory -> the file in which its mirror looks for wishes."""

    def __init__(self, directories: Iterable[str | os.PathLike[str]], wishes: Mapping[str, str]) -> None:
        self._directories = [os.path.realpath(one) for one in directories]
        self._wishes = {os.path.realpath(one): path for one, path in wishes.items()}
        self._addresses: dict[str, str] = {}

    def problems(self) -> int:
        """Return how many files could not be copied, and of mirrors that do not run or cannot list."""
        found = [(one, facts) for one in self._directories if (facts := self._facts(one)) is not None]
        return sum(facts.counts.get(FAILED, 0) + bool(facts.reason or not is_running(one)) for one, facts in found)

    def _facts(self, directory: str) -> MirrorFacts | None:
        # One that was started just now has no state file yet.
        return read_facts(directory) or (MirrorFacts() if directory in self._wishes else None)

    def named(self, base: str) -> str:
        """Return the name of directories of runs with the addresses of those that are copies."""
        for directory in self._directories:
            if directory not in self._addresses and (facts := self._facts(directory)) is not None and facts.address:
                self._addresses[directory] = facts.address
        for directory, address in self._addresses.items():
            base = base.replace(printable(directory), address)
        return base

    def rows(self) -> list[MirrorStatus]:
        """Return the state of each mirror."""
        return [_status(one, one in self._wishes) for one in self._directories if self._facts(one) is not None]

    def want(self, paths: Iterable[str]) -> None:
        """Have the runs in these directories copied first, because they are on screen."""
        for directory, file in self._wishes.items():
            inside = [os.path.relpath(os.path.realpath(path), directory) for path in paths]
            screen = tuple("" if one == "." else one for one in inside if one.split(os.sep)[0] != "..")[:MOST]
            before = read_wishes(file)
            if before.screen != screen:
                write_wishes(file, Wishes(screen, before.fetch))

    def fetch(self, address: str, name: str) -> bool:
        """Have a large file copied; return False if no mirror that takes wishes has such a file."""
        for directory, file in self._wishes.items():
            state = read_state(directory)
            if state is None or state.facts.address != address:
                continue
            if any(printable(entry.name) == name and entry.state in (LARGE, FAILED) for entry in state.entries):
                before = read_wishes(file)
                write_wishes(file, Wishes(before.screen, (*(one for one in before.fetch if one != name), name)))
                return True
        return False


def _status(directory: str, fetches: bool) -> MirrorStatus:
    state = read_state(directory)
    if state is None:
        return MirrorStatus("", is_running(directory))
    facts = state.facts
    files = [
        MirrorFile(printable(one.name), one.wanted, one.state, one.reason, one.code)
        for one in state.entries if one.state in (LARGE, REMOVED, FAILED)
    ]  # fmt: skip
    order = {FAILED: 0, LARGE: 1, REMOVED: 2}
    files.sort(key=lambda one: (order[one.state], one.name))
    return MirrorStatus(
        facts.address, is_running(directory), facts.reason, facts.code, facts.retry_at, facts.listed, facts.requests,
        facts.bytes, facts.counts, files[:MOST_FILES], fetches,
    )  # fmt: skip
