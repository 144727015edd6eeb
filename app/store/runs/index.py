"""An on-disk cache of parsed columns, so that the next start reads only new bytes. It may be deleted at any time.

Built on diskcache for its bookkeeping (SQLite, size limit, several processes), with a `Disk` that neither writes nor
reads pickle: the stock one runs any pickle planted in the directory (CVE-2025-69872), and through the file name column
of its table it reads and deletes files elsewhere. Here a key is a string and a value is a file named by diskcache; anything
else is rejected and the index is discarded. Its directory belongs to this user and is closed to others (0700).
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import re
import shutil
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, BinaryIO, Concatenate, ParamSpec, TypeVar

import diskcache
from diskcache.core import MODE_BINARY, UNKNOWN

from parsers.errors import FormatError
from parsers.file_states import FileState
from parsers.snapshot import dump, load

log = logging.getLogger(__name__)
P = ParamSpec("P")
R = TypeVar("R")

SIZE_LIMIT = 4 << 30
LOCK_SECONDS = 1.0
RETRY_SECONDS = 10.0
"""Seconds until an index that could not be opened, as on a full disk, is tried again."""
_FILE_NAME = re.compile(r"[0-9a-f]{2}[/\\][0-9a-f]{2}[/\\][0-9a-f]{28}\.val")

# Observed from diskcache and sqlite3 on a damaged table or settings row, a full disk, a locked database.
_FAILURES = (sqlite3.Error, ValueError, TypeError, AttributeError, KeyError, OverflowError, OSError, diskcache.Timeout)
# What SQLite says when the disk, not the database, is the reason.
_OF_THE_DISK = ("locked", "disk is full", "disk I/O error", "unable to open", "readonly database", "out of memory")


class Rejected(Exception):
    """The index contains something this program never writes."""


class PlainDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache has no types, so its base class is Any to mypy
    """Keys are strings, values are files named by diskcache; nothing else is written, read or deleted.

    stored is the name of the file written last, "" for none.
    """

    stored = ""

    def put(self, key: object) -> tuple[str, bool]:
        """Encode a key for the table."""
        if type(key) is not str:
            raise Rejected(f"key: expected a string, found {type(key).__name__}")
        return key, True

    def get(self, key: object, raw: object) -> str:
        """Decode a key from the table."""
        if type(key) is not str or raw != 1:
            raise Rejected(f"key: expected a raw string, found {type(key).__name__} (raw={raw!r})")
        return key

    def store(self, value: Any, read: bool, key: object = UNKNOWN) -> tuple[int, int, str, None]:
        """Write the parts of a value to a new file."""
        if not read:
            raise Rejected(f"value: expected a stream of bytes, found {type(value).__name__}")
        name, path = self.filename(key, value)
        try:
            size = self._write(path, iter(lambda: value.read(1 << 22), b""), "xb")
        except OSError:
            with contextlib.suppress(OSError):
                os.remove(path)
            raise
        self.stored = name
        return size, MODE_BINARY, name, None

    def fetch(self, mode: object, filename: object, value: object, read: bool) -> Any:
        """Return the bytes of a value, or an open file if read is true."""
        if mode != MODE_BINARY or value is not None:
            raise Rejected(f"value: expected a file (mode {MODE_BINARY}), found mode {mode!r}")
        opened = self._open(filename)
        if read:
            return opened
        with opened:
            return opened.read()

    def remove(self, file_path: object) -> None:
        """Delete the file of a value."""
        super().remove(self._checked(file_path))

    def _checked(self, name: object) -> str:
        if type(name) is not str or not _FILE_NAME.fullmatch(name):
            raise Rejected(f"file: expected a name of this index, found {name!r}")
        path = self._directory
        for part in re.split(r"[/\\]", name):  # the name has no "..", so only a link could lead out
            path = os.path.join(path, part)
            if os.path.islink(path):
                raise Rejected(f"file: expected a path inside the index, found {name!r}, which leads out of it")
        return name

    def _open(self, name: object) -> BinaryIO:
        path = os.path.join(self._directory, self._checked(name))
        return os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)), "rb")


class _SnapshotStream:
    """The parts of a snapshot as the file object diskcache reads from. Empty parts are skipped: one would mean end of file."""

    def __init__(self, parts: Sequence[bytes | memoryview]) -> None:
        self._parts = iter([part for part in parts if len(part)])

    def read(self, size: int) -> bytes | memoryview:  # noqa: ARG002  each part is written whole
        return next(self._parts, b"")


def private_directory(path: str) -> None:
    """Create a directory of mode 0700, or check that the existing one belongs to this user; PermissionError otherwise."""
    os.makedirs(path, mode=0o700, exist_ok=True)
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise PermissionError(f"{path}: expected a directory, found something else")
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        raise PermissionError(f"{path}: expected a directory owned by this user, found one of user {status.st_uid}")
    if status.st_mode & 0o077:
        os.chmod(path, 0o700)


def _is_damage(error: Exception) -> bool:
    """Return whether an error comes from the content of the index, rather than from the disk or another process."""
    if isinstance(error, (OSError, diskcache.Timeout)):
        return False
    return not (isinstance(error, sqlite3.Error) and any(text in str(error) for text in _OF_THE_DISK))


def _in_turn(method: Callable[Concatenate[Index, P], R]) -> Callable[Concatenate[Index, P], R]:
    """Have a method called by one thread at a time."""

    @wraps(method)
    def called(self: Index, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._lock:
            return method(self, *args, **kwargs)

    return called


class Index:
    """Snapshots by key. Every failure is a miss. Any thread may use it; they take turns, as recovery replaces the database.

    Damage empties the index; a full disk, a directory that cannot be written to or a locked database leave it as it is.
    """

    def __init__(self, directory: str, *, size_limit: int = SIZE_LIMIT) -> None:
        self.directory = directory
        self._size_limit = size_limit
        self._cache: diskcache.Cache | None = None
        self._complained = False
        self._retry_at = math.inf
        self._lock = threading.RLock()
        open_to_others = os.path.isdir(directory) and bool(os.lstat(directory).st_mode & 0o022)
        private_directory(directory)
        if open_to_others:
            self._discard("other users could write to it")
        self._open()

    def load(self, key: str) -> list[FileState] | None:
        """Return the cached states of a run, or None."""
        data = self.read(key)
        if data is None:
            return None
        try:
            return load(data)
        except FormatError as error:
            log.info("index: %s", error)
            return None

    def save(self, key: str, states: Sequence[FileState]) -> bool:
        """Cache the states of a run; return False if that failed and may succeed later."""
        if not self._is_open():
            return self._retry_at == math.inf
        parts = dump(states)
        return parts is None or self.write(key, parts)

    @_in_turn
    def read(self, key: str) -> bytes | None:
        """Return the cached bytes, or None."""
        opened = self.open(key)
        if opened is None:
            return None
        try:
            with opened:
                return bytes(opened.read())
        except OSError as error:
            self._recover(error)
            return None

    @_in_turn
    def open(self, key: str) -> BinaryIO | None:
        """Return the open file of the cached bytes, or None."""
        if self._cache is None:
            return None
        try:
            opened: BinaryIO | None = self._cache.get(key, read=True)
        except (Rejected, *_FAILURES) as error:
            self._recover(error)
            return None
        return opened

    @_in_turn
    def __contains__(self, key: str) -> bool:
        """Return whether something is cached under a key."""
        if self._cache is None:
            return False
        try:
            return key in self._cache
        except (Rejected, *_FAILURES) as error:
            self._recover(error)
            return False

    @_in_turn
    def keys(self) -> list[str]:
        """Return the keys of everything cached, in no order."""
        if self._cache is None:
            return []
        try:
            return list(self._cache)
        except (Rejected, *_FAILURES) as error:
            self._recover(error)
            return []

    @_in_turn
    def delete(self, key: str) -> None:
        """Drop what is cached under a key."""
        if self._cache is None:
            return
        try:
            self._cache.delete(key)
        except (Rejected, *_FAILURES) as error:
            self._recover(error)

    @_in_turn
    def write(self, key: str, parts: Sequence[bytes | memoryview]) -> bool:
        """Cache the concatenated parts; return False if that failed and may succeed later."""
        if not self._is_open() or self._cache is None:
            return self._retry_at == math.inf
        disk = self._cache.disk
        disk.stored = ""
        try:
            self._cache.set(key, _SnapshotStream(parts), read=True)
        except (Rejected, *_FAILURES) as error:
            if disk.stored:  # the table does not name this file
                with contextlib.suppress(OSError):
                    disk.remove(disk.stored)
            self._recover(error)
            return False
        self._complained = False
        return True

    @_in_turn
    def close(self) -> None:
        """Close the database."""
        self._retry_at = math.inf
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    @_in_turn
    def _is_open(self) -> bool:
        """Return whether the database is open; one that a full disk kept from being opened is tried again at times."""
        if self._cache is None and time.monotonic() >= self._retry_at:
            self._open()
        return self._cache is not None

    def _open(self) -> None:
        for attempt in range(2):
            try:
                self._probe()
                self._cache = diskcache.Cache(
                    self.directory, timeout=LOCK_SECONDS, disk=PlainDisk, size_limit=self._size_limit, sqlite_mmap_size=0,
                    disk_min_file_size=0, disk_pickle_protocol=0, eviction_policy="least-recently-stored", tag_index=0,
                    statistics=0, cull_limit=10,
                )  # fmt: skip
            except (Rejected, *_FAILURES) as error:
                if not _is_damage(error):
                    if self._retry_at == math.inf:
                        log.warning("index: %s cannot be opened (%s); continuing without it", self.directory, error)
                    self._retry_at = time.monotonic() + RETRY_SECONDS
                    return
                self._discard(str(error))
                if attempt:
                    log.warning("index: %s cannot be used (%s); continuing without it", self.directory, error)
            else:
                self._retry_at = math.inf
                return

    def _probe(self) -> None:
        # While opening, diskcache retries a locked database for a minute; this detects the lock within a second.
        connection = sqlite3.connect(os.path.join(self.directory, "cache.db"), timeout=LOCK_SECONDS)
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.rollback()
        finally:
            connection.close()

    def _recover(self, error: Exception) -> None:
        if not _is_damage(error):
            if not self._complained:
                log.warning("index: %s cannot be used now (%s); what it holds is kept", self.directory, error)
            self._complained = True
            return
        self.close()
        self._discard(str(error))
        self._open()

    def _discard(self, reason: str) -> None:
        log.warning("index: %s is discarded (%s)", self.directory, reason)
        shutil.rmtree(self.directory, ignore_errors=True)
        private_directory(self.directory)
