"""Databases with rows in a write-ahead log (`-wal`), which SQLite cannot read without writing a file beside them.

They are read from a copy in a temporary directory. If the copy would be too large, or the writer does not leave the two files
alone long enough to copy them, the database is read without the log, which is reported.
"""

from __future__ import annotations

import os
import tempfile
import urllib.parse

from parsers.files import RegularFile
from parsers.profiler.progress import report_read

MOST_COPIED = 256 << 20
"""Maximum bytes of a database and its log that are copied."""
TRIES = 3
"""How often files that change while they are copied are copied again."""
PIECE = 4 << 20
Stamp = tuple[int, int, int, int]
"""Device, inode, size and time of a file."""


def stamp(path: str) -> Stamp:
    """Return what tells versions of a regular file apart. OSError if it is none or cannot be opened."""
    with RegularFile(path) as file:
        status = file.status
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def uri_of(path: str, *, copied: bool = False) -> str:
    """Return the address of a database for SQLite: for reading only, and as a file that nobody changes unless it is a copy."""
    where = urllib.parse.quote(os.fsencode(os.path.abspath(path)))
    return f"file:{where}?mode=ro" if copied else f"file:{where}?mode=ro&immutable=1"


def log_of(path: str) -> Stamp | None:
    """Return the stamp of the log beside a database; None if there are no rows in one."""
    try:
        found = stamp(f"{path}-wal")
    except OSError:
        return None
    return found if found[2] else None


def copied(path: str) -> tempfile.TemporaryDirectory[str] | None:
    """Return a directory with a copy of a database and its log under the name of `copy_in`; None if they cannot be copied."""
    directory = tempfile.TemporaryDirectory(prefix="mindscope-database-", ignore_cleanup_errors=True)
    try:
        for _ in range(TRIES):
            before = (stamp(path), log_of(path))
            if before[1] is None or before[0][2] + before[1][2] > MOST_COPIED:
                break
            target = copy_in(directory.name)
            _copy(f"{path}-wal", f"{target}-wal", before[1][2])
            _copy(path, target, before[0][2])
            if (stamp(path), log_of(path)) == before:
                return directory
    except BaseException as error:
        directory.cleanup()
        if isinstance(error, OSError):
            return None
        raise
    directory.cleanup()
    return None


def copy_in(directory: str) -> str:
    """Return the path of the copy in its directory."""
    return os.path.join(directory, "copy.db")


def _copy(path: str, target: str, size: int) -> None:
    """Copy at most that many bytes: a file may have become much larger since its size was compared with the limit."""
    with RegularFile(path) as source, open(target, "wb") as copy:
        offset = 0
        while piece := source.read(offset, min(PIECE, size - offset)):
            report_read(0)
            copy.write(piece)
            offset += len(piece)
