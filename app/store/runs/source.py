"""The list of runs as pages see it."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.mirror import STATE
from app.store.runs.entries import RunEntry
from app.store.runs.following import RunFollower
from app.store.runs.notes import Notes
from app.store.runs.run_rows import dated_row
from layouts.runs.questions import Destinations
from layouts.runs.rows import RunChanges, RunFile, RunRow, SourceStatus
from layouts.runs.source import RunSource
from parsers import Problem
from parsers.names import printable
from parsers.snapshot import key_of

if TYPE_CHECKING:
    from app.store.runs.mirrors import Mirrors
    from layouts.runs.mirrors import MirrorStatus


class StoredRuns(RunSource):
    """Runs that a `RunFollower` reads, with what users wrote about them. See `layouts.runs.source`."""

    def __init__(
        self, runs: RunFollower, notes: Notes | None, look: Callable[[], int], places: Destinations | None = None,
        bases: Sequence[str] = (), wishes: Mapping[str, str] | None = None,
        expected: Callable[[], Collection[str]] | None = None,
    ) -> None:
        """bases are the directories of runs, wishes the files for those that mirrors copy to (`app.store.runs.mirrors`).

        look looks at what is read elsewhere and returns a number that changes whenever that has changed.
        expected tells the keys of runs that another program is about to write.
        """
        self._runs, self._notes, self._look, self._places = runs, notes, look, places or {}
        self._bases, self._wishes = bases, wishes or {}
        self._expected: Callable[[], Collection[str]] = expected or tuple
        self._known_mirrors: Mirrors | None = None
        self._counted: tuple[tuple[RunRow, ...], int, int] = (), 0, 0
        self._painted: tuple[Any, Any] = None, None

    def status(self) -> SourceStatus:
        self._runs.asked()
        elsewhere = self._look()
        mirrors = self._mirrors()
        rows, version, read_at = self._runs.snapshot()
        problems = 0
        loaded, damage = self._counts(rows)
        if self._notes is not None:
            self._notes.look()
            version, problems = version + self._notes.revision, len(self._notes.problems)
        return SourceStatus(
            base=mirrors.named(self._runs.base) if mirrors else self._runs.base,
            read_at=read_at,
            interval=self._runs.interval,
            total=len(rows),
            loaded=loaded,
            problems=damage + len(self._runs.base_problems) + problems + (mirrors.problems() if mirrors else 0),
            version=version + elsewhere,
            failed=self._runs.failed,
            age=self._runs.age(),
            missing=self._runs.missing,
            names=self._runs.names,
            coming=self._coming(rows),
        )

    def _coming(self, rows: tuple[RunRow, ...]) -> int:
        """Return how many of the runs that are expected are not there yet."""
        keys = self._expected()
        return len(set(keys).difference(row.key for row in rows)) if keys else 0

    def _counts(self, rows: tuple[RunRow, ...]) -> tuple[int, int]:
        """Return the numbers of loaded runs and of problems, counted once for these rows."""
        of, loaded, problems = self._counted
        if of is not rows:
            loaded = sum(row.state not in ("waiting", "loading") for row in rows)
            problems = sum(row.problems for row in rows)
            self._counted = rows, loaded, problems
        return loaded, problems

    def rows(self) -> Sequence[RunRow]:
        return self._runs.rows

    def changes(self, since: str) -> RunChanges:
        self._paint()
        return self._runs.changes(since)

    def colours(self, chosen: Sequence[str] = ()) -> Mapping[str, str]:
        self._paint()
        return self._runs.colours.of(chosen)

    def _paint(self) -> None:
        """Apply the colours set by hand, which belong to directories, to the runs there are now."""
        if self._notes is None:
            return
        known = self._notes.look().colours
        now = known, self._runs.rows if known else None
        if now[0] is self._painted[0] and now[1] is self._painted[1]:
            return
        paths = self._runs.real_paths() if known else {}
        self._runs.paint({key: known[place].colour for key, path in paths.items() if (place := key_of(path)) in known})
        self._painted = now

    def member(self, run: str) -> RunRow | None:
        entry = self._runs.entries.get(run)
        return dated_row(entry.row, entry.source, time.time()) if entry else None

    def tags(self, run: str, kind: str = "scalar") -> Sequence[str]:
        entry = self._runs.entries.get(run)
        return entry.run.tags(kind) if entry else ()

    def files(self, run: str) -> Sequence[RunFile]:
        entry = self._runs.entries.get(run)
        return _files(entry) if entry else ()

    def version(self, run: str) -> int:
        entry = self._runs.entries.get(run)
        return entry.version if entry else 0

    def problems(self, run: str | None = None) -> Sequence[tuple[str, Problem]]:
        found = [(entry.key, _encodable(problem)) for entry in self._runs.members(run) for problem in entry.problems]
        if run is not None:
            return found
        noted = self._notes.problems if self._notes is not None else ()
        return [*self._runs.base_problems, *(("", _encodable(problem)) for problem in noted), *found]

    def verified(self, run: str | None = None) -> tuple[int, int]:
        counts = [entry.verified for entry in self._runs.members(run)]
        return sum(done for done, _ in counts), sum(large for _, large in counts)

    def places(self) -> Destinations:
        return self._places

    def want(self, runs: Sequence[str]) -> None:
        self._runs.want(runs)
        entries = self._runs.entries
        if (mirrors := self._mirrors()) is not None:
            mirrors.want([entries[run].source.path for run in runs if run in entries])

    def mirrors(self) -> Sequence[MirrorStatus]:
        mirrors = self._mirrors()
        return mirrors.rows() if mirrors else ()

    def fetch(self, address: str, name: str) -> bool:
        mirrors = self._mirrors()
        return mirrors is not None and mirrors.fetch(address, name)

    def _mirrors(self) -> Mirrors | None:
        """Return the mirrors, None before there are any: most servers have none, and import nothing for them."""
        begun = self._known_mirrors is None
        if begun and (self._wishes or any(os.path.exists(os.path.join(one, STATE)) for one in self._bases)):
            from app.store.runs.mirrors import Mirrors

            self._known_mirrors = Mirrors(self._bases, self._wishes)
        return self._known_mirrors

    def refresh(self) -> None:
        self._runs.refresh()


def _files(entry: RunEntry) -> list[RunFile]:
    source = entry.source
    damaged = Counter(problem.path for problem in entry.problems)

    def placed(path: str, kind: str, size: int | None, changed: float | None) -> RunFile:
        inside = os.path.join(path, "")
        problems = sum(count for name, count in damaged.items() if name == path or name.startswith(inside))
        return RunFile(printable(os.path.relpath(path, source.path)), kind, size, changed, problems)

    found = [placed(one.path, one.kind, one.size, one.mtime) for one in source.files]
    alone = len(source.profile_dirs) == 1
    measured = (source.profile_size, source.profile_updated) if alone else (None, None)
    found += [placed(path, "profile", *measured) for path in source.profile_dirs]
    dumped = source.dump_updated if len(source.dump_dirs) == 1 else None
    found += [placed(path, "dump", None, dumped) for path in source.dump_dirs]
    return sorted(found, key=lambda one: one.path)


def _encodable(problem: Problem) -> Problem:
    """Return the problem with a path that can be encoded as UTF-8."""
    return problem if problem.path.isascii() else replace(problem, path=printable(problem.path))
