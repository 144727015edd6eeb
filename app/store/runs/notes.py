"""Keep remarks, tags, views, marks, watchpoints, colours, boards and checks in a file of the workspace, apart from the index.

The file is text, one line per record (app/store/runs/notes_format.py).

Several programs of one user may have a workspace open. A writer locks a separate lock file, reads the content, changes
it and replaces the file; a reader needs no lock. Of a damaged file only the damaged lines are lost, the others stay in use,
and a copy of the damaged file is kept beside it and reported for as long as the copy exists.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, TypeVar

from app.store.runs.locked_file import FLAGS, copy_synced, make_later, open_regular, sync_directory, wait_for_lock
from app.store.runs.notes_format import (
    Content,
    Newer,
    RunNote,
    SavedBoard,
    SavedChecks,
    SavedColour,
    SavedMark,
    SavedView,
    SavedWatchList,
    decode,
    encode,
)  # fmt: skip
from layouts.dumps.watchpoints import WatchList
from layouts.kit.user_input import InvalidInput, view_name, view_place
from layouts.runs.boards import (
    MOST_BOARDS,
    Board,
    BoardCard,
    BoardChange,
    ChangedBoard,
    LostField,
    card_key,
    new_name,
    remembered,
)
from layouts.runs.checks import Checks, StepCheck
from layouts.runs.notes import (
    MOST_COLOURS,
    MOST_MARKS,
    MOST_VIEWS,
    HandColour,
    Mark,
    NamedView,
    Note,
    NotKept,
    Stale,
    colour_text,
    group_name,
    mark_times,
    rank_number,
    session_name,
)
from parsers import Problem

K = TypeVar("K")
V = TypeVar("V")

LARGEST = 64 << 20
"""Maximum size of the file in bytes."""
MOST_WATCHED = 1_000
"""Runs that have watchpoints."""
MOST_CHECKED = 5_000
"""Runs that have checks."""
_NAME, _LOCK, _NEW, _ASIDE = "notes.jsonl", "notes.lock", "notes.new", "notes-damaged-"


class Notes:
    """The notes and views in a directory of the workspace. Any thread may use it."""

    def __init__(self, directory: str) -> None:
        self.path = os.path.join(directory, _NAME)
        self._directory = directory
        self._disk = _own_disk(os.path.dirname(directory))
        self._lock = threading.Lock()
        self._seen: Any = None
        self._lost: dict[str, list[LostField]] = {}
        self._losses = count(1 + secrets.randbelow(1 << 48))  # others than those before a restart, whatever the clock says
        self._content = Content()
        self._why_not = ""
        self._problems: tuple[Problem, ...] = ()
        self.revision = 0

    def look(self) -> Content:
        """Return the current content; revision increases if it has changed. A damaged file is set aside."""
        with self._lock:
            if self._stamp() != self._seen:
                self._read()
            return self._content

    @property
    def why_not(self) -> str:
        """Why changes cannot be saved, as of the last `look`; "" if they can."""
        return self._why_not

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Problems of the file, as of the last `look`."""
        return self._problems

    def annotate(self, key: str, path: str, change: Callable[[Note], Note]) -> Note:
        """Change the note of a run and return it. Raises NotKept or whatever change raises; then nothing is written."""

        def changed(content: Content) -> Content:
            known = content.notes.get(key, RunNote(path, Note()))
            note = change(known.note)
            rest = {other: one for other, one in content.notes.items() if other != key}
            return replace(content, notes=rest | {key: RunNote(path, note)} if note != Note() else rest)

        found = self._change(changed).notes.get(key)
        return found.note if found else Note()

    def save_view(
        self, base: str, key: str, name: str, place: str, *, instead: str | None = None, by: str = ""
    ) -> NamedView:
        """Save a place as a named view of a base; instead is the version of the view of that name to replace, by who saves it.

        Raises Stale if a view of that name has another version, InvalidInput for an invalid name or place, or NotKept.
        """
        made = NamedView(key, view_name(name), view_place(place), by)

        def changed(content: Content) -> Content:
            known = _view_named(content, base, made.name)
            if known is not None and known.version != instead and known.place != made.place:
                raise Stale(known)
            views = dict(content.views) | {(known or made).key: SavedView(base, replace(made, key=(known or made).key))}
            if len(views) > max(MOST_VIEWS, len(content.views)):
                raise InvalidInput(f"views: expected at most {MOST_VIEWS}, found {len(views)}; delete some first")
            return replace(content, views=views)

        found = _view_named(self._change(changed), base, made.name)
        return found or made

    def rename_view(self, base: str, key: str, name: str, was: str) -> NamedView:
        """Rename the view with this key and version. Raises Stale if it has been changed since, or if the name is taken."""
        new_name = view_name(name)

        def changed(content: Content) -> Content:
            known = content.views.get(key)
            other = _view_named(content, base, new_name)
            if known is None:
                raise Stale(None)
            if known.base != base or (known.view.version != was and known.view.name != new_name):
                raise Stale(known.view)
            if other is not None and other.key != key:
                raise Stale(other)
            return replace(content, views=dict(content.views) | {key: SavedView(base, replace(known.view, name=new_name))})

        return self._change(changed).views[key].view

    def delete_view(self, base: str, key: str, was: str) -> None:
        """Delete the view with this key and version, if it still exists. Raises Stale if it has been changed since."""

        def changed(content: Content) -> Content:
            known = content.views.get(key)
            if known is None:
                return content
            if known.base != base or known.view.version != was:
                raise Stale(known.view)
            return replace(content, views={other: one for other, one in content.views.items() if other != key})

        self._change(changed)

    def save_mark(self, run: str, path: str, mark: Mark, *, instead: str | None = None) -> Mark:
        """Save a named mark on the timeline of a run; instead is the version of the mark of that name to replace.

        run is the key of the run's real path. Raises Stale if the profile has a mark of that name with another version,
        InvalidInput for an invalid name, session, rank or time, or NotKept.
        """
        made = replace(
            mark, name=view_name(mark.name), session=session_name(mark.session), rank=rank_number(mark.rank),
            times=mark_times(mark.times),
        )  # fmt: skip

        def changed(content: Content) -> Content:
            known = _mark_named(content, run, made)
            if known is not None and known.version != instead and known.times != made.times:
                raise Stale(known)
            key = (known or made).key
            marks = dict(content.marks) | {key: SavedMark(run, path, replace(made, key=key))}
            if len(marks) > max(MOST_MARKS, len(content.marks)):
                raise InvalidInput(f"marks: expected at most {MOST_MARKS}, found {len(marks)}; delete some first")
            return replace(content, marks=marks)

        return _mark_named(self._change(changed), run, made) or made

    def delete_mark(self, key: str, was: str) -> None:
        """Delete the mark with this key and version, if it still exists. Raises Stale if it has been changed since."""

        def changed(content: Content) -> Content:
            known = content.marks.get(key)
            if known is None:
                return content
            if known.mark.version != was:
                raise Stale(known.mark)
            return replace(content, marks={other: one for other, one in content.marks.items() if other != key})

        self._change(changed)

    def paint(self, run: str, path: str, colour: str) -> HandColour:
        """Set the colour of a run, "" to reset it; run is the key of its real path. Raises InvalidInput or NotKept."""
        made = colour_text(colour)

        def changed(content: Content) -> Content:
            rest = {key: one for key, one in content.colours.items() if key != run}
            return replace(content, colours=_bounded(rest | {run: SavedColour(path, made)} if made else rest))

        self._change(changed)
        return HandColour(made)

    def paint_group(self, by: str, label: str, colour: str) -> HandColour:
        """Set the colour of a group, "" to reset it. Raises InvalidInput or NotKept."""
        made, group = colour_text(colour), group_name(by, label)

        def changed(content: Content) -> Content:
            rest = {key: one for key, one in content.groups.items() if key != group}
            return replace(content, groups=_bounded(rest | {group: made} if made else rest))

        self._change(changed)
        return HandColour(made)

    def save_watchpoints(self, run: str, path: str, watched: WatchList, was: str) -> WatchList:
        """Replace the watchpoints for a run, of which was is the version; none deletes them.

        run is the key of the run's real path. Raises Stale if they have been changed since, InvalidInput, or NotKept.
        """
        made = watched.checked()

        def changed(content: Content) -> Content:
            known = content.watched[run].listed if run in content.watched else WatchList()
            if known.version not in (was, made.version):
                raise Stale(known)
            rest = {key: one for key, one in content.watched.items() if key != run}
            if made.watchpoints and len(rest) >= MOST_WATCHED:
                raise InvalidInput(f"watchpoints: expected at most {MOST_WATCHED:,} runs with watchpoints; delete some first")
            return replace(content, watched=rest | ({run: SavedWatchList(path, made)} if made.watchpoints else {}))

        found = self._change(changed).watched.get(run)
        return found.listed if found else WatchList()

    def tick(self, run: str, path: str, step: str, check: StepCheck, was: str) -> StepCheck:
        """Replace the check of a step, of which was is the version.

        run is the key of the run's real path. Raises Stale if it has been changed since, InvalidInput, or NotKept.
        """
        made = check.checked()

        def changed(content: Content) -> Content:
            known = content.checks[run].checks if run in content.checks else Checks()
            if known.of(step).version not in (was, made.version):
                raise Stale(known.of(step))
            rest = {key: one for key, one in content.checks.items() if key != run}
            if len(rest) >= MOST_CHECKED:
                raise InvalidInput(f"checks: expected at most {MOST_CHECKED:,} runs with checks; clear some first")
            found = known.changed(step, made)
            return replace(content, checks=rest | ({run: SavedChecks(path, found)} if found.by_step else {}))

        found = self._change(changed).checks.get(run)
        return found.checks.of(step) if found else StepCheck()

    def create_board(self, base: str, key: str, name: str, cards: Sequence[BoardCard], by: str = "") -> Board:
        """Create a board of a base, with a number after its name if that is taken; by is who does. Raises InvalidInput or
        NotKept.

        A board that has this key is replaced: a deleted one can be restored under its address.
        """
        made = Board(card_key(key), name, tuple(cards), by).checked()

        def changed(content: Content) -> Content:
            rest = {other: one for other, one in content.boards.items() if other != made.key}
            if len(rest) >= MOST_BOARDS:
                raise InvalidInput(f"boards: expected at most {MOST_BOARDS}; delete some first")
            taken = [one.board.name for one in rest.values() if one.base == base]
            return replace(content, boards=rest | {made.key: SavedBoard(base, replace(made, name=new_name(made.name, taken)))})

        return self._change(changed).boards[made.key].board

    def change_board(self, base: str, key: str, change: BoardChange) -> ChangedBoard:
        """Change cards and name of a board: the last change of a card wins, and what it overrides is returned.

        Raises Stale if the board was deleted, InvalidInput or NotKept.
        """
        before: list[Board] = []
        fresh: list[LostField] = []

        def changed(content: Content) -> Content:
            known = content.boards.get(key)
            if known is None or known.base != base:
                raise Stale(None)
            before[:] = [known.board]
            made = change.applied(known.board)
            # Before the change is seen: who then misses what it set looks for it here.
            fresh[:] = [
                LostField(key=card, name=name, value=value, number=next(self._losses))
                for card, name, value in change.lost(known.board)
            ]
            self._lost[key] = remembered((*self._lost.get(key, ()), *fresh))
            return replace(content, boards=dict(content.boards) | {key: SavedBoard(base, made)})

        try:
            board = self._change(changed).boards[key].board
        except NotKept:
            with self._lock:  # nothing was replaced
                self._lost[key] = [one for one in self._lost.get(key, ()) if one not in fresh]
            raise
        return ChangedBoard(board, change.overridden(before[0]))

    def lost_fields(self, key: str) -> list[LostField]:
        """Return what changes of a board that came to this process replaced without having seen it, oldest first."""
        with self._lock:
            return list(self._lost.get(key, ()))

    def delete_board(self, base: str, key: str) -> Board | None:
        """Delete a board and return it as it was, None if there was none. Raises NotKept."""
        found: list[Board] = []

        def changed(content: Content) -> Content:
            known = content.boards.get(key)
            if known is None or known.base != base:
                return content
            found[:] = [known.board]
            return replace(content, boards={other: one for other, one in content.boards.items() if other != key})

        self._change(changed)
        if found:
            with self._lock:
                self._lost.pop(key, None)
        return found[0] if found else None

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
                with self._locked():
                    content = self._load_whole()
            except NotKept as error:
                self._why_not = str(error)
        self._take(content)

    def _take(self, content: Content) -> None:
        problems = self._found_problems()
        if content != self._content or problems != self._problems:
            self._content, self._problems = content, problems
            self.revision += 1

    def _load_whole(self) -> Content:
        """Read the file; set a damaged one aside. The caller holds the lock."""
        content, whole = self._load()
        if not whole:
            self._set_aside(content)
        return content

    def _load(self) -> tuple[Content, bool]:
        """Return (content, whether the file is undamaged); set why_not if it cannot be read at all."""
        self._seen, self._why_not = self._stamp(), ""
        try:
            with open_regular(self.path) as stream:
                data = stream.read(LARGEST + 1)
            if len(data) > LARGEST:
                raise OSError(errno.EFBIG, f"expected at most {LARGEST >> 20} MiB, found more")
            return decode(data)
        except FileNotFoundError:
            return Content(), True
        except (OSError, Newer) as error:
            self._why_not = f"{self.path}: {getattr(error, 'strerror', None) or error}"
            return Content(), True

    def _found_problems(self) -> tuple[Problem, ...]:
        """Return the reason why the file cannot be read, if any, and the damaged copies that still exist."""
        unreadable = [Problem(self.path, 0, 0, "unreadable", _UNREADABLE.format(reason=self._why_not))] if self._why_not else []
        try:
            names = sorted(name for name in os.listdir(self._directory) if name.startswith(_ASIDE))
        except OSError:
            names = []
        return (*unreadable, *(Problem(os.path.join(self._directory, name), 0, 0, "bad_data", _SET_ASIDE) for name in names))

    # Changing ----------------------------------------------------------------------------------------------------------

    def _change(self, change: Callable[[Content], Content]) -> Content:
        """Apply change to the newest content, replace the file and return the result."""
        with self._lock, self._locked():
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
    def _locked(self) -> Iterator[None]:
        """Hold the lock, so that no other program changes the file. Raises NotKept if it is not released in time."""
        try:
            self._make_again()
            descriptor = os.open(os.path.join(self._directory, _LOCK), os.O_RDWR | os.O_CREAT | FLAGS, 0o600)
        except OSError as error:
            raise NotKept(f"{self._directory}: {error.strerror}") from None
        try:
            wait_for_lock(descriptor, self._directory)
            yield
        finally:
            os.close(descriptor)

    def _make_again(self) -> None:
        """Make the directory if it was deleted and its workspace is there, on the same disk: not below a mount point."""
        workspace = os.path.dirname(self._directory)
        if not os.path.isdir(self._directory) and self._disk is not None and _own_disk(workspace) == self._disk:
            with contextlib.suppress(FileExistsError):  # another server on this workspace was first
                os.mkdir(self._directory, 0o700)
            sync_directory(workspace)

    def _set_aside(self, content: Content) -> None:
        """Copy the damaged file to another name and replace it by its intact lines.

        If that fails, the damaged file stays as it is and no change is saved.
        """
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        number = 0
        while True:
            aside = os.path.join(self._directory, f"{_ASIDE}{stamp}{f'-{number}' if number else ''}.jsonl")
            try:
                copy_synced(self.path, aside, LARGEST)
                break
            except FileExistsError:
                number += 1
            except OSError as error:
                self._why_not = f"{self.path}: the file is damaged and cannot be copied: {error.strerror}"
                return
        try:
            self._write(content)
        except NotKept as error:
            self._why_not = str(error)

    def _write(self, content: Content) -> None:
        """Replace the file, synced to disk before this returns. Its mtime is later than that of the old file."""
        data = encode(content)
        if len(data) > LARGEST:
            raise NotKept(f"{self.path}: expected at most {LARGEST >> 20} MiB, found {len(data):,} bytes")
        new = os.path.join(self._directory, _NEW)
        try:
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | FLAGS, 0o600), "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            with contextlib.suppress(FileNotFoundError):
                make_later(new, os.stat(self.path).st_mtime_ns)
            os.replace(new, self.path)
            sync_directory(self._directory)
        except OSError as error:
            raise NotKept(f"{self.path}: {error.strerror}") from None
        self._seen = self._stamp()


_UNREADABLE = (
    "Remarks, tags, saved views, marks, watchpoints, boards and checks cannot be read, so none are shown and changes are not "
    "saved: {reason}"
)
_SET_ASIDE = (
    "The file of remarks, tags, saved views, marks, watchpoints, boards and checks was damaged. This is a copy of it; its "
    "intact lines are still in use. Delete the copy when you no longer need it."
)


def _own_disk(path: str) -> int | None:
    """Return the number of the disk of a directory in which nobody else may write; None if there is none."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    is_own = os.name != "posix" or (status.st_uid == os.getuid() and not status.st_mode & 0o022)
    return status.st_dev if is_own and stat.S_ISDIR(status.st_mode) else None


def _view_named(content: Content, base: str, name: str) -> NamedView | None:
    return next((one.view for one in content.views.values() if one.base == base and one.view.name == name), None)


def _mark_named(content: Content, run: str, like: Mark) -> Mark | None:
    """The mark of the same profile and name."""
    wanted = like.session, like.rank, like.name
    every = (one.mark for one in content.marks.values() if one.run == run)
    return next((mark for mark in every if (mark.session, mark.rank, mark.name) == wanted), None)


def _bounded(colours: dict[K, V]) -> dict[K, V]:
    if len(colours) > MOST_COLOURS:
        raise InvalidInput(f"colours: expected at most {MOST_COLOURS:,}, found {len(colours):,}; reset some first")
    return colours
