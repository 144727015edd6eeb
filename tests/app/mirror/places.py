"""A remote place for tests: a directory that is read like a server, which can fail in the ways servers do."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from app.mirror.copies import Copies
from app.mirror.following import Mirror
from app.mirror.planning import CopyLimits
from app.mirror.remote import RemoteError, RemoteFile, RemoteFiles, TransferCounts
from app.mirror.state import MirrorFacts

T = TypeVar("T")
EVENTS = "events.out.tfevents.1700000000.here"


class Directory:
    """The files below a directory. fail is asked before each answer: it may raise, or return how many bytes to leave out."""

    def __init__(self, base: Path, fail: Callable[[str, str], int | None] = lambda what, name: None) -> None:
        self.base, self.fail, self.counts = base, fail, TransferCounts()
        self.asked: list[tuple[str, str]] = []
        self.tags: dict[str, str] = {}

    async def open(self) -> None:
        self._ask("open", "")

    async def close(self) -> None:
        pass

    def _ask(self, what: str, name: str) -> int:
        self.counts.requests += 1
        self.asked.append((what, name))
        return self.fail(what, name) or 0

    async def listing(self, directory: str, *, below: bool) -> RemoteFiles:
        self._ask("list", directory)
        place = self.base / directory
        found = sorted(path for path in (place.rglob("*") if below else place.glob("*")) if path.is_file())
        return RemoteFiles([self._file(path) for path in found])

    def _file(self, path: Path) -> RemoteFile:
        status, name = path.stat(), path.relative_to(self.base).as_posix()
        return RemoteFile(name, status.st_size, status.st_mtime, self.tags.get(name, str(status.st_mtime_ns)))

    async def read(self, file: RemoteFile, begin: int) -> AsyncGenerator[bytes, None]:
        missing = self._ask("read", file.name)
        data = (self.base / file.name).read_bytes()[begin : file.size]
        data = data[: len(data) - missing]
        for at in range(0, len(data), 1000):
            await asyncio.sleep(0)
            self.counts.bytes += len(data[at : at + 1000])
            yield data[at : at + 1000]
        if missing or begin + len(data) < file.size:
            raise RemoteError("short")


USUAL = CopyLimits()


def mirror_of(remote: object, directory: Path, limits: CopyLimits = USUAL, wishes: str = "", every: float = 0.1) -> Mirror:
    directory.mkdir(exist_ok=True)
    facts = MirrorFacts(address="file:///there", most=limits.most, largest=limits.largest, every=every)
    return Mirror(remote, Copies(str(directory)), facts, limits, wishes)  # type: ignore[arg-type]


def finished(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end, in a thread of its own: that of tests in browsers has a loop already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def copy_once(remote: object, directory: Path, **options: object) -> int:
    async def work() -> int:
        return await mirror_of(remote, directory, **options).run(once=True)  # type: ignore[arg-type]

    return finished(work())


def contents(directory: Path) -> dict[str, bytes]:
    found = (path for path in directory.rglob("*") if path.is_file() and not path.name.startswith(".mindscope-"))
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in found}


def write(path: Path, data: bytes, mtime: float = 1_700_000_000.0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (mtime, mtime))
