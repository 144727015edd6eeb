"""Runs a mirror: it lists remote files, plans which to copy, copies them, and keeps its state in a file until it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from app.mirror.copies import Copies
from app.mirror.planning import (
    CopyLimits,
    CopyPlan,
    busy_directories,
    directory_of,
    plan,
    seconds_between,
    seconds_to_wait,
    state_of_copy,
)
from app.mirror.remote import Remote, RemoteError, RemoteFile, RemoteFiles
from app.mirror.state import (
    COPIED,
    FAILED,
    GROWING,
    LARGE,
    REMOVED,
    WAITING,
    MirrorFacts,
    RemoteEntry,
    State,
    read_state,
    write_state,
)
from app.mirror.wishes import Wishes, read_wishes

AT_ONCE = 32
"""Requests at a time."""
FINAL = ("refused", "host_key", "package")
"""Reasons for which nothing is tried again: the user has to change something first."""
_WRITE_SECONDS = 1.0


@dataclass(slots=True)
class Mirror:
    """Copies what is below a remote place into a directory. say receives a line whenever something has changed.

    Only `run` may be called, once.
    """

    remote: Remote
    copies: Copies
    facts: MirrorFacts
    limits: CopyLimits
    wishes_path: str = ""
    say: Callable[[str], None] = lambda _: None
    _files: dict[str, RemoteFile] = field(default_factory=dict)
    _problems: dict[str, str] = field(default_factory=dict)
    _entries: dict[str, RemoteEntry] = field(default_factory=dict)
    _queue: list[RemoteFile] = field(default_factory=list)
    _running: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _failures: Counter[str] = field(default_factory=Counter)
    _retry_at: dict[str, float] = field(default_factory=dict)
    _written_at: float = 0.0
    _full_at: float = float("-inf")
    _opened: bool = False
    _said: str = ""
    _changed: dict[str, float] = field(default_factory=dict)
    _cleared: set[str] = field(default_factory=set)

    async def run(self, *, once: bool) -> int:
        """Follow until cancelled, or with once until everything is copied. Return how many files could not be copied.

        Raises RemoteError if the remote place refuses, or with once if it cannot be listed.
        """
        before = read_state(self.copies.directory)
        self._entries = {entry.name: entry for entry in before.entries} if before else {}
        self.copies.clean()
        self.facts.started = time.time()
        self._write()
        failures = 0
        try:
            while True:
                try:
                    await self._turn()
                    failures, self.facts.reason, self.facts.code, self.facts.retry_at = 0, "", "", 0.0
                    pause = self.facts.every
                except RemoteError as error:
                    failures += 1
                    pause = seconds_to_wait(failures)
                    final = error.reason in FINAL or once
                    self.facts.reason, self.facts.code = error.reason, error.code
                    self.facts.retry_at = 0.0 if final else time.time() + pause
                    self._write()
                    if final:
                        raise
                    self.say(f"listing failed: {error}; next try in {round(pause):,} s")
                if once:
                    await self._finish()
                    return self._counted()[FAILED]
                await self._wait(pause)
        finally:
            self._queue = []
            running = list(self._running.values())
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            self._write()

    async def _turn(self) -> None:
        """List what is due, plan, and start to copy."""
        if not self._opened:
            await self.remote.open()
            self._opened = True
        now = time.monotonic()
        if now >= self._full_at:
            await self._list_all()
        else:
            await self._list_busy()
        self._plan()
        self._fill()
        self._write()

    async def _list_all(self) -> None:
        begun, cpu = time.monotonic(), time.process_time()
        listed = await self.remote.listing("", below=True)
        took, cpu = time.monotonic() - begun, time.process_time() - cpu
        # A turn begins a little after `every` seconds.
        self._full_at = begun + seconds_between(self.facts.every, took, cpu) - 0.01
        self._take({file.name: file for file in listed.files}, first=not self.facts.listed)
        self._problems = dict(listed.problems)
        self.facts.listed = time.time()

    async def _list_busy(self) -> None:
        places = busy_directories(self._changed, time.monotonic())
        gate = asyncio.Semaphore(AT_ONCE)

        async def list_one(place: str) -> tuple[str, RemoteFiles]:
            async with gate:
                return place, await self.remote.listing(place, below=False)

        found = {name: file for name, file in self._files.items() if directory_of(name) not in set(places)}
        for _, listed in await asyncio.gather(*map(list_one, places)):
            found |= {file.name: file for file in listed.files}
            self._problems |= dict(listed.problems)
        self._take(found)

    def _take(self, found: dict[str, RemoteFile], *, first: bool = False) -> None:
        """Replace the listing. A change counts from when it was seen, as clocks of other machines may be wrong; those before
        the first listing from the times of the files."""
        now, clock = time.monotonic(), time.time()
        for name, file in found.items():
            if first:
                self._changed[name] = now - max(clock - file.mtime, 0.0)
            elif self._files.get(name) != file:
                self._changed[name] = now
        self._changed = {name: when for name, when in self._changed.items() if name in found}
        self._files = found

    def _plan(self) -> None:
        wishes = read_wishes(self.wishes_path)
        names = {*self._files, *self._entries}
        made: CopyPlan = plan(
            list(self._files.values()), self._entries, {name: self.copies.state(name) for name in names}, wishes,
            self.limits, time.time(), problems=self._problems, ignores_case=self.copies.ignores_case,
        )  # fmt: skip
        self._forget_failures(wishes)
        for name in made.remove:
            if name not in self._running:
                with contextlib.suppress(RemoteError):  # a name that is refused was never written
                    self.copies.remove(name)
        self._entries = made.entries
        now = time.monotonic()
        self._queue = [file for file in made.bring if self._retry_at.get(file.name, 0.0) <= now][::-1]

    def _forget_failures(self, wishes: Wishes) -> None:
        """Try at once what a visitor asks for."""
        for name in set(wishes.fetch) - self._cleared:
            self._retry_at.pop(name, None)
        self._cleared = set(wishes.fetch)

    def _fill(self) -> None:
        while self._queue and len(self._running) < AT_ONCE:
            file = self._queue.pop()
            if file.name not in self._running:
                self._running[file.name] = asyncio.create_task(self._bring(file))

    async def _bring(self, file: RemoteFile) -> None:
        entry = self._entries[file.name]
        try:
            await self.copies.bring(self.remote, file)
        except RemoteError as error:
            self._failures[file.name] += 1
            self._retry_at[file.name] = time.monotonic() + (
                float("inf") if error.reason in FINAL else seconds_to_wait(self._failures[file.name])
            )
            entry.state, entry.reason, entry.code = FAILED, error.reason, error.code
            self.say(f"{file.name}: {error}")
        else:
            self._failures.pop(file.name, None)
            self._retry_at.pop(file.name, None)
            entry.size, entry.mtime, entry.tag, entry.reason, entry.code = file.size, file.mtime, file.tag, "", ""
            entry.state = state_of_copy(file, time.time())
        finally:
            # The plan may have been renewed meanwhile, with another object for this file.
            now = self._entries.get(file.name)
            if now is not None and now is not entry:
                now.size, now.mtime, now.tag = entry.size, entry.mtime, entry.tag
                now.state, now.reason, now.code = entry.state, entry.reason, entry.code
            self._running.pop(file.name, None)
            self._fill()
            if time.monotonic() - self._written_at > _WRITE_SECONDS:
                self._write()

    async def _wait(self, seconds: float) -> None:
        """Wait for the next turn, which comes at once if a visitor looks at something else."""
        end = time.monotonic() + seconds
        wishes = read_wishes(self.wishes_path)
        while (left := end - time.monotonic()) > 0:
            await asyncio.sleep(min(left, 1.0))
            if read_wishes(self.wishes_path) != wishes:
                self._plan()
                self._fill()
                wishes = read_wishes(self.wishes_path)

    async def _finish(self) -> None:
        while self._running:
            await asyncio.wait(list(self._running.values()), return_when=asyncio.FIRST_COMPLETED)
        self._write()

    def _counted(self) -> Counter[str]:
        return Counter(entry.state for entry in self._entries.values())

    def _write(self) -> None:
        self.facts.requests, self.facts.bytes = self.remote.counts.requests, self.remote.counts.bytes
        self._written_at = time.monotonic()
        counted = self._counted()
        self.facts.counts = dict(counted)
        try:
            write_state(self.copies.directory, State(self.facts, list(self._entries.values())))
        except OSError as error:  # a full disk: files may become smaller, so this goes on
            self.say(f"the state file could not be written: {error.strerror}")
        parts = [f"{counted[one]:,} {one}" for one in (COPIED, GROWING, WAITING, LARGE, REMOVED, FAILED) if counted[one]]
        if parts and (said := ", ".join(parts)) != self._said:
            self._said = said
            self.say(f"{said}; {self.facts.requests:,} requests, {self.facts.bytes:,} bytes")
