"""Reads SQLite databases of others, one after the other: a separate program that `database_processes` starts and may kill.

    python -I -S database_process.py DIRECTORY

DIRECTORY is where msgspec is installed. Requests and answers are MessagePack after a header; nothing of ours is imported. Only
plain tables are read, by our own queries: an authorizer refuses everything else that a schema could have SQLite do.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import sqlite3
import struct
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO

REQUEST = struct.Struct("<I")
"""Header of a request: its bytes."""
ANSWER = struct.Struct("<BII")
"""Header of an answer: its kind, the number of the query, the bytes that follow."""
ALIVE, OPENED, MORE, LAST, FAILED = range(5)
"""Kinds of answers: it computes; tables and what is refused; rows, and there are more; the last rows; an error."""
IDLE = 10.0
"""Seconds without a request after which it ends."""
MEMORY = 1 << 30
"""Maximum address space in bytes, where the system has such a limit."""
HEAP = 256 << 20
"""Maximum bytes that SQLite takes."""
CHUNK = 16
"""Rows fetched at a time. A value, and a row of a table, has at most 1 MB: these are held beyond what an answer may have."""
COLUMN_CHUNK = 1_000
"""Rows fetched at a time as columns, whose values have at most LONGEST_CELL bytes."""
LONGEST_CELL = 64 << 10
LONGEST_ANSWER = 256 << 10
"""Bytes from which no more rows are put into an answer."""
MOST_TABLES = 4096
INSTRUCTIONS = 100_000
"""Instructions of SQLite between two looks at the clock."""
PAUSE = 0.5
"""Seconds between two signs of life."""
FUNCTIONS = frozenset(("count", "max", "min", "coalesce", "like"))
"""Functions that our queries use."""
Packed = tuple[str, bytes, list[Any]]
"""A column (`packed`)."""
_TABLE = "CREATE TABLE "
"""How SQLite stores the text of every plain table. A virtual one, or a view, does not begin so whatever a file has in it."""
_COMPUTED = (2, 3)
"""What `table_xinfo` says of generated columns."""


class OpenedDatabase:
    """An open database: its plain tables with their stored columns, and what is refused: its name -> what it is."""

    def __init__(self, uri: str, longest: int, alive: Any) -> None:
        self.columns: dict[str, list[str]] = {}
        self.refused: dict[str, str] = {}
        self._is_read = False
        self._connection = sqlite3.connect(uri, uri=True, timeout=2.0, isolation_level=None)
        self._longest = longest
        self.fetch(as_columns=False)
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        self._connection.set_progress_handler(alive, INSTRUCTIONS)
        try:
            for pragma in ("trusted_schema=OFF", "cell_size_check=ON", f"hard_heap_limit={HEAP}"):
                self._connection.execute(f"PRAGMA {pragma}")
            self._connection.set_authorizer(self._may)
            self._look()
        except BaseException:
            self._connection.close()
            raise

    def rows(self, query: str, values: Iterable[Any]) -> sqlite3.Cursor:
        """Return the cursor of a query."""
        return self._connection.execute(query, tuple(values))

    def fetch(self, *, as_columns: bool) -> None:
        """Fetch rows with texts from now on; as_columns: with the bytes of short texts, of which each is decoded once."""
        self._connection.text_factory = bytes if as_columns else _decoded
        longest = min(LONGEST_CELL, self._longest) if as_columns else self._longest
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)

    def close(self) -> None:
        """Close it."""
        self._connection.close()

    def _look(self) -> None:
        """Note the plain tables and what is refused."""
        listed = self._connection.execute("SELECT type, name, sql FROM sqlite_master WHERE type IN ('table', 'view')")
        for kind, name, sql in listed.fetchmany(MOST_TABLES):
            if str(name).startswith("sqlite_"):
                continue
            if kind == "table" and str(sql).startswith(_TABLE):
                self.columns[str(name)] = []
            else:
                self.refused[str(name)] = "a view" if kind == "view" else "a virtual table"
        for name, columns in self.columns.items():
            quoted = '"' + name.replace('"', '""') + '"'
            for _, column, _, _, _, _, hidden in self._connection.execute(f"PRAGMA table_xinfo({quoted})").fetchall():
                if hidden in _COMPUTED:
                    self.refused[f"{name}.{column}"] = "a generated column"
                elif not hidden:
                    columns.append(str(column))
        self._is_read = True

    def _may(self, action: int, first: str | None, second: str | None, _database: str | None, within: str | None) -> int:
        """Allow reading stored columns of plain tables, and few functions; `within` is the view or trigger that wants it."""
        if within is not None:
            return sqlite3.SQLITE_DENY
        allowed = action == sqlite3.SQLITE_SELECT
        if action == sqlite3.SQLITE_READ and self._is_read:
            allowed = first in self.columns and (second in self.columns[first] or second in ("", "ROWID"))
        elif action == sqlite3.SQLITE_READ:
            allowed = first == "sqlite_master"
        elif action == sqlite3.SQLITE_FUNCTION:
            allowed = str(second).lower() in FUNCTIONS
        elif action == sqlite3.SQLITE_PRAGMA:
            allowed = not self._is_read and first == "table_xinfo"
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


class _Places(dict[bytes, int]):
    """Gives each text a number when it is first asked for."""

    def __missing__(self, text: bytes) -> int:
        self[text] = place = len(self)
        return place


def columns_of(rows: Sequence[tuple[Any, ...]]) -> list[Packed]:
    """Return the columns of rows, packed. A list of all cells takes half the time of zip."""
    cells, width = [*itertools.chain.from_iterable(rows)], len(rows[0])
    return [packed(cells[place::width]) for place in range(width)]


def packed(cells: Sequence[Any]) -> Packed:
    """Return a column as the type code of an array, the array, and values.

    Numbers, whole (q) or not (d), are in the array alone; of texts (i) it has the places among the values, which are distinct.
    A column with other cells, or of numbers and texts, is values without an array. Blobs are texts.
    """
    for code in ("q", "d"):
        with contextlib.suppress(struct.error):  # the first cell says most often what they are
            return code, struct.pack(f"{len(cells)}{code}", *cells), []
    places = _Places()
    numbers = struct.pack(f"{len(cells)}i", *map(places.__getitem__, cells))
    if {*map(type, places)} == {bytes}:
        return "i", numbers, [*map(_decoded, places)]
    return "", b"", [_decoded(cell) if isinstance(cell, bytes) else cell for cell in cells]


class Answering:
    """Does what is asked about one database at a time."""

    def __init__(self, answers: BinaryIO, codec: Any) -> None:
        self._answers, self._codec = answers, codec
        self._encode = codec.Encoder().encode
        self._opened: OpenedDatabase | None = None
        self._cursors: dict[int, tuple[sqlite3.Cursor, int, bool]] = {}
        self._number, self._said = 0, 0.0

    def do(self, request: list[Any]) -> None:
        """Do one request and answer it."""
        what, self._number, *rest = request
        try:
            if what == "open":
                self._open(*rest)
            elif what in ("rows", "columns"):
                query, values, most = rest
                assert self._opened is not None
                self._cursors[self._number] = (self._opened.rows(query, values), most, what == "columns")
                self._give()
            elif what == "more":
                self._give()
            elif what == "drop":
                self._drop()
            elif what == "close":
                self._close()
        except Exception as error:  # noqa: BLE001  whoever asks hears of any, and makes a problem of it
            self._drop()
            self._say(FAILED, str(error).encode("utf-8", "replace")[:2000] or type(error).__name__.encode())

    def _open(self, uri: str, longest: int) -> None:
        self._close()
        self._opened = OpenedDatabase(uri, longest, self._alive)
        self._say(OPENED, self._encode((self._opened.columns, self._opened.refused)))

    def _close(self) -> None:
        self._cursors.clear()
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _drop(self) -> None:
        cursor = self._cursors.pop(self._number, (None, 0, False))[0]
        if cursor is not None:
            cursor.close()

    def _give(self) -> None:
        """Answer with the next rows of a query, up to CHUNK or COLUMN_CHUNK of them in each entry of a list."""
        cursor, most, as_columns = self._cursors[self._number]
        assert self._opened is not None
        self._opened.fetch(as_columns=as_columns)
        chunks: list[bytes] = []
        size = rows = 0
        while rows < most and size < LONGEST_ANSWER:
            found = cursor.fetchmany(min(COLUMN_CHUNK if as_columns else CHUNK, most - rows))
            if not found:
                self._drop()
                break
            rows += len(found)
            chunks.append(self._encode(columns_of(found) if as_columns else found))
            size += len(chunks[-1])
        kind = MORE if self._number in self._cursors else LAST
        self._say(kind, b"\xdd" + struct.pack(">I", len(chunks)) + b"".join(chunks))  # the header of a list in MessagePack

    def _alive(self) -> int:
        now = time.monotonic()
        if now - self._said >= PAUSE:
            self._say(ALIVE, b"")
        return 0

    def _say(self, kind: int, data: bytes) -> None:
        """Write an answer. This fails when nobody listens any more, which ends this process."""
        self._said = time.monotonic()
        left = memoryview(ANSWER.pack(kind, self._number, len(data)) + data)
        while left:
            left = left[self._answers.write(left) :]


def _requests(source: BinaryIO, codec: Any) -> Iterator[list[Any]]:
    """Yield what is asked. The process ends when nobody can ask any more, whatever SQLite does then, and when it is idle."""
    waiting: queue.SimpleQueue[list[Any]] = queue.SimpleQueue()

    def listen() -> None:
        while len(head := source.read(REQUEST.size)) == REQUEST.size:
            waiting.put(codec.decode(source.read(REQUEST.unpack(head)[0])))
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    with contextlib.suppress(queue.Empty):
        while True:
            yield waiting.get(timeout=IDLE)


def _limit() -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    with contextlib.suppress(OSError, ValueError):  # a lower limit is in force
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main(directory: str) -> None:
    """Answer until nobody asks."""
    sys.path.append(directory)
    from msgspec import msgpack

    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _limit()
    answering = Answering(answers, msgpack)
    for request in _requests(sys.stdin.buffer, msgpack):
        answering.do(request)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
