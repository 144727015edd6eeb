"""Remarks, tags and saved views in a file of the workspace: never below the runs, and never in the index, which may be lost.

The file is text, a line for every record (app/store/notes_format.py).

Several programs of one user may have a workspace open. Who changes the file holds a lock on another one beside it, reads what
is there, changes that, and puts a new file in its place; who reads needs no lock. A damaged file costs the lines that are
damaged: the rest goes on, and the file as it was is kept beside it and told of for as long as it is there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from app.store.notes_format import Content, Newer, RunNote, SavedView, decode, encode
from layouts.notes import (
    MOST_VIEWS,
    Note,
    NotKept,
    Stale,
    Unfit,
    View,
    view_name,
    view_place,
)  # fmt: skip
from parsers import Problem

LARGEST = 64 << 20
"""The file has at most so many bytes."""
PATIENCE = 5.0
"""Seconds to wait for another program that changes the file."""
_NAME, _LOCK, _NEW, _ASIDE = "notes.jsonl", "notes.lock", "notes.new", "notes-damaged-"
_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


class Notes:
    """The notes and views of a directory of the workspace. Any thread may use it."""

    def __init__(self, directory: str) -> None:
        self.path = os.path.join(directory, _NAME)
        self._directory = directory
        self._lock = threading.Lock()
        self._seen: Any = None
        self._content = Content()
        self._why_not = ""
        self._problems: tuple[Problem, ...] = ()
        self.revision = 0

    def look(self) -> Content:
        """What the file holds now; revision has grown if that is another than before. A damaged file is set aside."""
        with self._lock:
            if self._stamp() != self._seen:
                self._read()
            return self._content

    @property
    def why_not(self) -> str:
        """Why changes cannot be kept, as of the last look; "" where they can."""
        return self._why_not

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was wrong with the file, as of the last look."""
        return self._problems

    def annotate(self, key: str, path: str, change: Callable[[Note], Note]) -> Note:
        """Change the note on the run of this key; what change raises goes through, and nothing is written. NotKept."""

        def changed(content: Content) -> Content:
            known = content.notes.get(key, RunNote(path, Note()))
            note = change(known.note)
            rest = {other: one for other, one in content.notes.items() if other != key}
            return replace(content, notes=rest | {key: RunNote(path, note)} if note != Note() else rest)

        found = self._change(changed).notes.get(key)
        return found.note if found else Note()

    def save_view(self, base: str, key: str, name: str, place: str, *, instead: str | None = None) -> View:
        """Save a place under a name among the views of a base; instead is the version of the view of that name it replaces.

        Stale where there is a view of that name and of another version. NotKept, Unfit.
        """
        made = View(key, view_name(name), view_place(place))

        def changed(content: Content) -> Content:
            known = _named(content, base, made.name)
            if known is not None and known.version != instead and known.place != made.place:
                raise Stale(known)
            views = dict(content.views) | {(known or made).key: SavedView(base, replace(made, key=(known or made).key))}
            if len(views) > max(MOST_VIEWS, len(content.views)):
                raise Unfit(f"views: expected at most {MOST_VIEWS}; delete some first")
            return replace(content, views=views)

        found = _named(self._change(changed), base, made.name)
        return found or made

    def rename_view(self, base: str, key: str, name: str, was: str) -> View:
        """Give the view of this key and version another name. Stale where it was changed meanwhile, or the name is taken."""
        wanted = view_name(name)

        def changed(content: Content) -> Content:
            known = content.views.get(key)
            other = _named(content, base, wanted)
            if known is None:
                raise Stale(None)
            if known.base != base or (known.view.version != was and known.view.name != wanted):
                raise Stale(known.view)
            if other is not None and other.key != key:
                raise Stale(other)
            return replace(content, views=dict(content.views) | {key: SavedView(base, replace(known.view, name=wanted))})

        return self._change(changed).views[key].view

    def delete_view(self, base: str, key: str, was: str) -> None:
        """Delete the view of this key and version, if it is still there; Stale where it was changed meanwhile."""

        def changed(content: Content) -> Content:
            known = content.views.get(key)
            if known is None:
                return content
            if known.base != base or known.view.version != was:
                raise Stale(known.view)
            return replace(content, views={other: one for other, one in content.views.items() if other != key})

        self._change(changed)

    # Reading -----------------------------------------------------------------------------------------------------------

    def _stamp(self) -> Any:
        try:
            found = os.stat(self.path)
        except OSError as error:
            return error.errno
        return found.st_ino, found.st_size, found.st_mtime_ns

    def _read(self) -> None:
        content, whole = self._load()
        if not whole:
            try:
                with self._alone():
                    content = self._load_whole()
            except NotKept as error:
                self._why_not = str(error)
        self._take(content)

    def _take(self, content: Content) -> None:
        problems = self._told()
        if content != self._content or problems != self._problems:
            self._content, self._problems = content, problems
            self.revision += 1

    def _load_whole(self) -> Content:
        """What the file holds; a damaged one is set aside. Nobody else changes it meanwhile."""
        content, whole = self._load()
        if not whole:
            self._set_aside(content)
        return content

    def _load(self) -> tuple[Content, bool]:
        """(what the file holds, whether none of it is damaged); says in why_not where it cannot be read at all."""
        self._seen, self._why_not = self._stamp(), ""
        try:
            with _open(self.path) as stream:
                data = stream.read(LARGEST + 1)
            if len(data) > LARGEST:
                raise OSError(errno.EFBIG, f"expected at most {LARGEST >> 20} MiB")
            return decode(data)
        except FileNotFoundError:
            return Content(), True
        except (OSError, Newer) as error:
            self._why_not = f"{self.path}: {getattr(error, 'strerror', None) or error}"
            return Content(), True

    def _told(self) -> tuple[Problem, ...]:
        """The trouble there is, and the damaged files that were set aside and are still there."""
        told = [Problem(self.path, 0, 0, "unreadable", _UNREADABLE.format(reason=self._why_not))] if self._why_not else []
        try:
            names = sorted(name for name in os.listdir(self._directory) if name.startswith(_ASIDE))
        except OSError:
            names = []
        return (*told, *(Problem(os.path.join(self._directory, name), 0, 0, "bad_data", _SET_ASIDE) for name in names))

    # Changing ----------------------------------------------------------------------------------------------------------

    def _change(self, change: Callable[[Content], Content]) -> Content:
        """Put what change makes of the newest content in the place of the file."""
        with self._lock, self._alone():
            content = self._load_whole()
            self._take(content)
            if self._why_not:
                raise NotKept(self._why_not)
            changed = change(content)
            if changed != content:
                self._write(changed)
                self._take(changed)
            return changed

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """No other program, and no other thread, changes the file meanwhile. NotKept if one does not let go of it."""
        try:
            descriptor = os.open(os.path.join(self._directory, _LOCK), os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
        except OSError as error:
            raise NotKept(f"{self._directory}: {error.strerror}") from None
        try:
            _wait_for_lock(descriptor, self._directory)
            yield
        finally:
            os.close(descriptor)

    def _set_aside(self, content: Content) -> None:
        """Keep the damaged file under another name and put what can be read of it in its place.

        Where that cannot be done the damaged file stays as it is, and no change is kept.
        """
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        number = 0
        while True:
            aside = os.path.join(self._directory, f"{_ASIDE}{stamp}{f'-{number}' if number else ''}.jsonl")
            try:
                _copy(self.path, aside)
                break
            except FileExistsError:
                number += 1
            except OSError as error:
                self._why_not = f"{self.path}: it is damaged, and no copy of it can be made: {error.strerror}"
                return
        try:
            self._write(content)
        except NotKept as error:
            self._why_not = str(error)

    def _write(self, content: Content) -> None:
        """Put a new file in the place of the old one, on disk before this returns. Its time is later than the old one's."""
        data = encode(content)
        if len(data) > LARGEST:
            raise NotKept(f"{self.path}: expected at most {LARGEST >> 20} MiB, found {len(data):,} bytes")
        new = os.path.join(self._directory, _NEW)
        try:
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _FLAGS, 0o600), "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            with contextlib.suppress(FileNotFoundError):
                _make_later(new, os.stat(self.path).st_mtime_ns)
            os.replace(new, self.path)
            _sync_directory(self._directory)
        except OSError as error:
            raise NotKept(f"{self.path}: {error.strerror}") from None
        self._seen = self._stamp()


_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
_UNREADABLE = "Remarks, tags and saved views cannot be read, so none are shown and no change is kept: {reason}"
_SET_ASIDE = (
    "The file of remarks, tags and saved views was damaged. It is kept here as it was; every line of it that is intact is "
    "still in use. Delete it when you have no need of it."
)


def _named(content: Content, base: str, name: str) -> View | None:
    return next((one.view for one in content.views.values() if one.base == base and one.view.name == name), None)


def _open(path: str) -> BinaryIO:
    """A plain file to read from; OSError for anything else."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _FLAGS)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "expected a plain file")
    return os.fdopen(descriptor, "rb")


def _copy(path: str, to: str) -> None:
    """Copy a file to a new one, on disk before this returns; FileExistsError if there is one."""
    with _open(path) as source, os.fdopen(os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600), "wb") as target:
        target.write(source.read(LARGEST))
        target.flush()
        os.fsync(target.fileno())


def _make_later(path: str, than: int) -> None:
    """Readers know a new file by its time, and the clock of a file system may stand for milliseconds."""
    found = os.stat(path)
    if found.st_mtime_ns <= than:
        os.utime(path, ns=(found.st_atime_ns, than + 1000))


def _sync_directory(path: str) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _wait_for_lock(descriptor: int, directory: str) -> None:
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
    """Lock an open file until it is closed; OSError with one of _BUSY if somebody else has."""
    try:
        import fcntl
    except ImportError:
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]  # Windows only; types are checked elsewhere
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
