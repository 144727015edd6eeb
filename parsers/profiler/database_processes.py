"""Processes that read the databases of others: how they are started, asked, given limits of time, and killed.

A file can make SQLite compute for minutes within one instruction, which nothing in its own process can stop. A process is used
for one database at a time and waits for the next one for some seconds, since a start takes 0.1 s of processor time.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from parsers.caches import Cache
from parsers.errors import FormatError
from parsers.profiler import database_process as program
from parsers.profiler.progress import report_read, waiting

QUIET_S = 20.0
"""Maximum seconds without a sign of life: within one instruction, or while the disk does not answer."""
LONGEST_S = 120.0
"""Maximum seconds that are spent waiting for one query of the largest databases."""
SHORTEST_S = 15.0
"""Seconds for one query of the smallest ones. Statistics in a file can mislead SQLite into comparing each row with each."""
BYTES_PER_SECOND = 1 << 20
"""Bytes of a database for which there is one more second."""
MOST_IDLE = 2
"""Processes that wait for another database."""
PATIENCE = 0.05
"""Seconds after which others may compute while this one waits."""
LOOK = 0.1
"""Seconds between two looks whether the caller has cancelled."""
MOST_GIVEN_UP = 64

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TextColumn:
    """A column of texts: the place of each among the distinct ones."""

    places: NDArray[np.int32]
    distinct: Sequence[str]

    def __len__(self) -> int:
        return len(self.places)

    def tolist(self) -> list[str]:
        """Return the texts."""
        return [self.distinct[place] for place in self.places]


@dataclass(frozen=True, slots=True, eq=False)
class MixedColumn:
    """A column of several types, or with NULL."""

    values: list[Any]

    def __len__(self) -> int:
        return len(self.values)

    def tolist(self) -> list[Any]:
        """Return the values."""
        return self.values


Column: TypeAlias = NDArray[np.int64] | NDArray[np.float64] | TextColumn | MixedColumn
_CHUNKS = msgspec.msgpack.Decoder(list[list[Row]])
_COLUMNS = msgspec.msgpack.Decoder(list[list[tuple[str, bytes, list[Any]]]])
_OPENED = msgspec.msgpack.Decoder(tuple[dict[str, list[str]], dict[str, str]])
_encode = msgspec.msgpack.Encoder().encode


class GivenUpError(FormatError):
    """A database whose process was killed because it took too long, or died."""


class DatabaseProcess:
    """A process that reads one database at a time. Used by one thread at a time."""

    def __init__(self) -> None:
        """OSError if it cannot be started."""
        where = os.path.dirname(os.path.dirname(os.path.abspath(msgspec.__file__)))
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-I", "-S", os.path.abspath(program.__file__), where],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
        )  # fmt: skip
        self._number = self._unanswered = 0
        self._kept: dict[int, list[tuple[int, bytes]]] = {}
        self._waited, self._longest = 0.0, LONGEST_S

    @property
    def id(self) -> int:
        """Its id in the system."""
        return self._process.pid

    @property
    def is_free(self) -> bool:
        """Whether it runs, no query is open and none computes."""
        return not self._kept and not self._unanswered and self._process.poll() is None

    def open(self, uri: str, size: int, longest: int) -> tuple[dict[str, list[str]], dict[str, str]]:
        """Open a database of a size, whose values have up to `longest` bytes.

        Returns its tables with their columns, and what is refused of it by name. FormatError if it cannot be opened.
        """
        self._longest = min(LONGEST_S, SHORTEST_S + size / BYTES_PER_SECOND)
        number = self._ask("open", uri, longest)
        try:
            return _OPENED.decode(self._receive(number)[1])
        finally:
            self._kept.pop(number, None)

    def has_open(self, device: int, inode: int) -> bool:
        """Return whether it has this file open; True where the system does not tell."""
        places = f"/proc/{self.id}/fd"
        try:
            opened = os.listdir(places)
        except OSError:
            return True
        for name in opened:
            with contextlib.suppress(OSError):  # closed meanwhile
                status = os.stat(f"{places}/{name}")
                if (status.st_dev, status.st_ino) == (device, inode):
                    return True
        return False

    def rows(self, query: str, values: Sequence[Any], most: int) -> Iterator[tuple[list[Row], int]]:
        """Yield up to `most` rows of a query at a time, and their bytes; the next ones are read meanwhile."""
        for data in self._answers("rows", query, values, most):
            rows = [row for chunk in _CHUNKS.decode(data) for row in chunk]
            if rows:
                yield rows, len(data)

    def columns(self, query: str, values: Sequence[Any], most: int) -> Iterator[tuple[list[Column], int]]:
        """Yield some rows of a query at a time as columns, and their bytes: a third of the processor time of `rows`.

        most is the number of rows in an answer. A text or blob of more than program.LONGEST_CELL bytes is a FormatError.
        """
        for data in self._answers("columns", query, values, most):
            chunks = _COLUMNS.decode(data)
            for chunk in chunks:
                yield [_column(*one) for one in chunk], len(data) // len(chunks)

    def _answers(self, what: str, query: str, values: Sequence[Any], most: int) -> Iterator[bytes]:
        """Yield the answers to a query; the next one is made meanwhile."""
        number = self._ask(what, query, tuple(values), most)
        kind = program.MORE
        try:
            while kind == program.MORE:
                kind, data = self._receive(number)
                if kind == program.MORE:
                    self._send("more", number)
                    self._unanswered += 1
                yield data
        finally:
            self._kept.pop(number, None)
            if kind == program.MORE:
                self._send("drop", number)

    def close_database(self) -> None:
        """Close the database."""
        self._send("close", 0)

    def kill(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # it waits for a disk that does not answer
            self._process.wait(1.0)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def _ask(self, what: str, *rest: Any) -> int:
        self._number += 1
        self._kept[self._number] = []
        self._waited = 0.0
        self._unanswered += 1
        self._send(what, self._number, *rest)
        return self._number

    def _send(self, what: str, number: int, *rest: Any) -> None:
        data = _encode((what, number, *rest))
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # it has ended, which is said when its answer is read
            self._process.stdin.write(program.REQUEST.pack(len(data)) + data)

    def _receive(self, number: int) -> tuple[int, bytes]:
        """Return kind and bytes of the next answer to a request; those to others are kept."""
        while not self._kept[number]:
            kind, of, size = program.ANSWER.unpack(self._read(program.ANSWER.size))
            data = self._read(size)
            self._unanswered -= kind != program.ALIVE
            if kind != program.ALIVE and of in self._kept:
                self._kept[of].append((kind, data))
        kind, data = self._kept[number].pop(0)
        if kind == program.FAILED:
            raise FormatError(data.decode("utf-8", "replace"))
        return kind, data

    def _read(self, size: int) -> bytes:
        assert self._process.stdout is not None
        whole = bytearray(size)
        left = memoryview(whole)
        while left:
            self._wait()
            try:
                got = self._process.stdout.readinto(left)  # type: ignore[attr-defined]  # without a buffer it is a file
            except ValueError:
                got = 0  # closed
            if not got:
                raise GivenUpError("the process that read it ended")
            left = left[got:]
        return bytes(whole)

    def _wait(self) -> None:
        """Wait for bytes; Cancelled if the caller cancels, GivenUpError after the limits of time."""
        if self._is_readable(0.0):
            return
        began = time.monotonic()
        try:
            if self._is_readable(PATIENCE):
                return
            with waiting():
                while not self._is_readable(LOOK):
                    report_read(0)
                    took = time.monotonic() - began
                    if took > QUIET_S or self._waited + took > self._longest:
                        self.kill()
                        raise GivenUpError(f"reading it was given up after {self._waited + took:.0f} s")
        finally:
            self._waited += time.monotonic() - began

    def _is_readable(self, seconds: float) -> bool:
        if not hasattr(select, "poll"):
            return True  # the read waits, and cannot be given up
        poll = select.poll()
        assert self._process.stdout is not None
        try:
            poll.register(self._process.stdout, select.POLLIN)
        except ValueError:
            return True  # closed, which the read says
        return bool(poll.poll(seconds * 1000))


def _column(code: str, data: bytes, values: list[Any]) -> Column:
    if not code:
        return MixedColumn(values)
    found: NDArray[Any] = np.frombuffer(data, code)
    return TextColumn(found, values) if code == "i" else found


class DatabaseProcesses:
    """Gives out processes. Any thread may use it."""

    def __init__(self) -> None:
        self._idle: list[DatabaseProcess] = []
        self._given_up: Cache[Hashable, str] = Cache(MOST_GIVEN_UP)
        self._owner = os.getpid()
        self._lock = threading.Lock()

    def open(
        self, uri: str, size: int, longest: int, key: Hashable
    ) -> tuple[DatabaseProcess, dict[str, list[str]], dict[str, str]]:
        """Open a database in a process (`DatabaseProcess.open`); key is what it is known by as long as it is unchanged.

        FormatError if it cannot be opened, GivenUpError also if it was given up before, OSError if no process starts.
        """
        why = self._given_up.get(key)
        if why is not None:
            raise GivenUpError(why)
        while True:
            process, is_new = self._take()
            try:
                return process, *process.open(uri, size, longest)
            except GivenUpError as error:
                process.kill()
                if is_new:
                    self.give_up(key, str(error))
                    raise
            except FormatError:
                self.put_back(process)
                raise
            except BaseException:
                process.kill()
                raise

    def put_back(self, process: DatabaseProcess) -> None:
        """Close the database of a process and keep it for another one, or kill it if it is at work."""
        process.close_database()
        with self._lock:
            if process.is_free and len(self._idle) < MOST_IDLE and self._owner == os.getpid():
                self._idle.append(process)
                return
        process.kill()

    def give_up(self, key: Hashable, why: str) -> None:
        """Note that a database is not to be read again while it is unchanged, and why."""
        self._given_up.put(key, why)

    def close(self) -> None:
        """End the processes that wait."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.kill()

    def _take(self) -> tuple[DatabaseProcess, bool]:
        """Return a process, and whether it is new."""
        with self._lock:
            if self._owner != os.getpid():  # these belong to the process that this one was forked from
                self._idle, self._owner = [], os.getpid()
            while self._idle:
                process = self._idle.pop()
                if process.is_free:
                    return process, False
                process.kill()
        return DatabaseProcess(), True


PROCESSES = DatabaseProcesses()
"""Those of this program. They end with it, and when they have had nothing to do."""
