"""What every reader does before it reads: open the file, compare it with the cursor, and resume or start again.

`read_growing` is for formats that are appended to, `read_whole` for those that are written once and then replaced.
Neither raises for the state of the file: what is wrong with it is a `Problem` in the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from parsers.files import RegularFile
from parsers.model import Batch, Cursor, Problem

START = Cursor(0, 0, 0, 0, 0)
"""The cursor of a file of which nothing has been read."""

Read = Callable[[RegularFile, Cursor], Batch]


def read_growing(path: str, cursor: Cursor | None, read: Read) -> Batch:
    """Read what was appended after the cursor; the whole file if there is no cursor or the file was cut or replaced.

    read is called with the open file and the cursor to continue from: the one given here, or START. Its batch is returned,
    marked as `restarted` if it replaces what was read before. It is not called for an empty file.
    """
    try:
        with RegularFile(path) as file:
            problems: list[Problem] = []
            resumed = START
            if cursor is not None and cursor.offset:
                if file.continues(cursor):
                    resumed = cursor
                else:
                    problems.append(_replaced(file, cursor))
            restarted = bool(problems)
            if not file.size:
                return Batch(file.cursor(0, 0), problems=[*problems, _empty(path)], restarted=restarted)
            batch = read(file, resumed)
            return replace(batch, problems=[*problems, *batch.problems], restarted=True) if restarted else batch
    except OSError as error:
        return Batch(cursor or START, problems=(unreadable(path, error),))


def read_whole(path: str, cursor: Cursor | None, read: Read) -> Batch:
    """Read the whole file, unless it is unchanged since the cursor: then the batch is empty.

    read is called with the open file and the cursor to return. It is not called for an empty file.
    """
    try:
        with RegularFile(path) as file:
            size, mtime = file.size, file.status.st_mtime
            if cursor is not None and cursor.size == size and cursor.mtime == mtime and file.continues(cursor):
                return Batch(cursor)
            now = replace(file.cursor(size, size), mtime=mtime)
            batch = read(file, now) if size else Batch(now, problems=[_empty(path)])
            return replace(batch, restarted=cursor is not None and cursor.size > 0)
    except OSError as error:
        return Batch(cursor or START, problems=(unreadable(path, error),))


def unreadable(path: str, error: OSError) -> Problem:
    """The problem of a file that cannot be opened or read."""
    reason = error.strerror or str(error)
    if isinstance(error, PermissionError):
        reason = f"{reason}: it belongs to another user, or its mode forbids reading"
    text = f"The file cannot be read ({reason}); what was read from it before is still shown."
    return Problem(path, 0, 0, "unreadable", text)


def _empty(path: str) -> Problem:
    return Problem(path, 0, 0, "empty_file", "The file is empty; it is read as soon as it grows.")


def _replaced(file: RegularFile, cursor: Cursor) -> Problem:
    change = f"was cut to {file.size:,} bytes" if file.size < cursor.size else "was replaced by another one"
    text = f"The file {change}; it was read again from its start, which replaces what was shown."
    return Problem(file.path, 0, 0, "replaced", text)
