"""A file that several programs replace in turn: no links are followed, a lock is held, and what is renamed is on the disk."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from typing import BinaryIO

from layouts.runs.notes import NotKept

PATIENCE = 5.0
"""Seconds to wait for another program that is changing the file."""
FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


def open_regular(path: str) -> BinaryIO:
    """Open a regular file for reading; OSError for anything else."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | FLAGS)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "expected a regular file")
    return os.fdopen(descriptor, "rb")


def copy_synced(path: str, to: str, most: int) -> None:
    """Copy up to `most` bytes of a file to a new one, synced to disk before this returns; FileExistsError if it exists."""
    created = os.O_WRONLY | os.O_CREAT | os.O_EXCL | FLAGS
    with open_regular(path) as source, os.fdopen(os.open(to, created, 0o600), "wb") as target:
        target.write(source.read(most))
        target.flush()
        os.fsync(target.fileno())


def make_later(path: str, than: int) -> None:
    """Set a later mtime: readers detect a new file by it, and file system clocks may advance in steps of milliseconds."""
    found = os.stat(path)
    if found.st_mtime_ns <= than:
        os.utime(path, ns=(found.st_atime_ns, than + 1000))


def sync_directory(path: str) -> None:
    """Have what was renamed in a directory on the disk when this returns."""
    if os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def wait_for_lock(descriptor: int, directory: str) -> None:
    """Lock an open file until it is closed; NotKept if another program holds it for PATIENCE, or if it cannot be locked."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            _lock(descriptor)
            return
        except OSError as error:
            if error.errno not in _BUSY:
                raise NotKept(f"{directory}: cannot be locked: {error.strerror}") from None
        if time.monotonic() > end:
            raise NotKept(f"{directory}: another program has been changing it for {PATIENCE:g} s; try again")
        time.sleep(0.01)


def _lock(descriptor: int) -> None:
    """Lock an open file until it is closed; OSError with an errno of _BUSY if another process holds the lock."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
