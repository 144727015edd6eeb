"""The traces of profiles: read by a process in the background, kept as columns in the index, mapped into memory.

A trace is read once. Its directory in the index is named after the file, its size and time, so a changed file is read again.
The directories that were not used for longest are deleted when all together exceed a limit. A trace can be looked at as soon as
its columns are written; its pyramid comes later.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

from app.background import Background, Task
from app.programs import command, environment
from app.store.profiles.origins import Origins
from app.store.runs.index import private_directory
from layouts.profiles.frames import IdleTime, ProfileFrame
from parsers.caches import Cache
from parsers.errors import FormatError
from parsers.profiler.access import Profile
from parsers.profiler.trace import idle, pyramid, sources, storage, tables
from parsers.profiler.trace.opened import OpenTrace
from parsers.profiler.trace.sources import TraceFiles

log = logging.getLogger(__name__)

LIMIT_BYTES = 8 << 30
"""Maximum size of all directories together; the one in use stays whatever its size."""
MOST_OPEN = 20
"""Traces kept open: more than a timeline shows together."""
WANTED = (
    "trace_view.json", "*.pt.trace.json", "ascend_pytorch_profiler_*.db", "ascend_timeline_display_*.json", "msprof_*.json",
    "kernel_details.csv", "communication.json",
)  # fmt: skip
"""Names of the files that can hold a trace, for messages to users."""


class UnreadableTraceError(Exception):
    """A trace cannot be read; the text says why."""


class Traces:
    """The traces of all profiles of a store."""

    def __init__(self, directory: str | None = None, *, limit: int = LIMIT_BYTES) -> None:
        """directory: where to keep them; None for a temporary one that is deleted by `stop`."""
        self._wanted, self._limit = directory, limit
        self._directory: Path | None = None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._open: Cache[str, OpenTrace] = Cache(MOST_OPEN)
        self._origins = Origins()
        self._at_work: set[str] = set()
        self._opening = threading.Lock()
        self._background = Background("mindscope-traces", plain=(UnreadableTraceError,))

    def frame(self, profile: Profile, which: str = "", *, again: bool = False) -> ProfileFrame:
        """Return whether a trace of a profile is ready (without a frame), or the progress of reading it.

        which is the name of a trace (`sources.grouped`), "" for the best one. A trace that is ready but has no pyramid yet has
        the progress of building it: done of total slices.
        """
        files = files_of(profile, which)
        if files is None:
            return ProfileFrame("missing", wanted=WANTED)
        key = _key(files)
        if key is None:
            return ProfileFrame("failed", text="the file cannot be read")
        found, task = self._look(files, key, again=again)
        done, total = (0, 0) if task is None else (min(task.done, task.total), task.total)
        if found is not None:
            return ProfileFrame("ready", done=done, total=total, problems=found.trace.problems)
        assert task is not None
        state = {"working": "reading", "ready": "waiting"}.get(task.state, task.state)
        return ProfileFrame(state, done=done, total=total or task.size, text=task.text)

    def open(self, profile: Profile, which: str = "") -> OpenTrace | None:
        """Return a trace of a profile if its columns have been written; else None, and it is being read."""
        files = files_of(profile, which)
        key = None if files is None else _key(files)
        return None if files is None or key is None else self._look(files, key)[0]

    def idle_time(self, profile: Profile) -> IdleTime:
        """Return the idle time of the trace of a profile by cause, if the trace has been read.

        One that is made of tables has no host, so that it tells no causes: that is as if there were none.
        """
        files = files_of(profile)
        key = None if files is None or tables.kind_of(files.paths[0]) else _key(files)
        if files is None or key is None:
            return IdleTime("missing")
        directory = self._directory or (None if self._wanted is None else Path(self._wanted))
        try:
            found = None if directory is None else idle.read(str(directory / key))
        except (FormatError, OSError):  # or not as it was written: it is read again when the trace is opened
            task = self._background.find(key)
            return IdleTime("unread", size=_size(files)) if task is None or task.ended.is_set() else IdleTime("reading")
        if directory is None:
            return IdleTime("unread", size=_size(files))
        return IdleTime("none" if found is None else "ready", found)

    def cancel(self, profile: Profile) -> None:
        """Stop reading the best trace of a profile."""
        files = files_of(profile)
        if files is None:
            return
        self._background.cancel(_key(files))

    def stop(self) -> None:
        """Stop reading and wait for that."""
        self._background.stop()
        self._open.clear()
        if self._temporary is not None:
            self._temporary.cleanup()

    def _look(self, files: TraceFiles, key: str, *, again: bool = False) -> tuple[OpenTrace | None, Task | None]:
        """Return a trace if it is open, and the work on it: to read it, or to complete it."""
        opened = self._open.get(key)
        if opened is not None:
            return opened, self._background.find(key) if opened.pyramid is None else None
        size = _size(files)
        task = self._background.result(
            os.path.dirname(files.paths[0]), key, "", lambda task: self._try(task, files, key), again=again, size=size,
            kept=False,
        )  # fmt: skip
        opened = self._open.get(key)
        return opened, None if opened is not None and opened.pyramid is not None else task

    # In the background ---------------------------------------------------------------------------------------------------

    def _try(self, task: Task, files: TraceFiles, key: str) -> None:
        task.total = task.size
        with self._opening:
            if self._directory is None:
                self._directory = self._opened_directory()
            self._at_work.add(key)
        for outdated in self._origins.outdated(key, (files.name, *files.paths), files.paths[0]):
            self._open.pop(outdated)
        try:
            self._read(task, files, key, self._directory / key)
        except BaseException:
            self._open.pop(key)  # its columns alone are not kept
            raise
        finally:
            with self._opening:
                self._at_work.discard(key)

    def _opened_directory(self) -> Path:
        try:
            return self._make_directory()
        except OSError as error:
            log.warning("index of traces: %s; keeping them in a temporary directory", error)
            self._wanted = None
            return self._make_directory()

    def _make_directory(self) -> Path:
        if self._wanted is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="mindscope-traces-", ignore_cleanup_errors=True)
            return Path(self._temporary.name)
        private_directory(self._wanted)
        path = Path(self._wanted)
        for part in path.glob("*.part"):
            shutil.rmtree(part, ignore_errors=True)
        return path

    def _read(self, task: Task, files: TraceFiles, key: str, place: Path) -> None:
        opened = _opened_from(place)
        if opened is None:
            self._make(task, files, key, place)
            opened = self._completed(key, place)
        with contextlib.suppress(OSError):
            os.utime(place)
        self._open.put(key, opened)
        if not self._origins.holds(key):
            self._open.pop(key)  # it went while its last part was read
        self._tidy(place.parent)

    def _complete(self, key: str, place: Path) -> None:
        """Give the columns that are open their pyramid."""
        early = self._open.get(key)
        if early is not None:
            early.pyramid = pyramid.open(str(place))

    def _completed(self, key: str, place: Path) -> OpenTrace:
        """Return the trace whose pyramid has just been built; if its columns are in use already, they get it."""
        early = self._open.get(key)
        if early is not None and early.pyramid is not None:
            return early
        opened = _opened_from(place)
        if opened is None:
            raise FormatError("what was written cannot be read back")
        return opened

    def _make(self, task: Task, files: TraceFiles, key: str, place: Path) -> None:
        """Run the process, which writes the directory. Raises UnreadableTraceError if it fails, Cancelled."""
        part = place.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
            process = subprocess.Popen(  # noqa: S603 - our own program
                [*command("app.store.profiles.trace_process"), str(part), files.name, *files.paths],
                stdout=subprocess.PIPE, stderr=said, stdin=subprocess.DEVNULL, text=True, env=environment(),
            )  # fmt: skip
            task.when_cancelled(process.kill)
            assert process.stdout is not None
            for line in process.stdout:
                done, _, total = line.strip().partition(" ")
                if done.isdecimal() and total.isdecimal():
                    task.done, task.total = int(done), int(total)
                else:
                    task.done = task.total
                    if line.strip() == "columns" and not task.cancelled:
                        # This machine wrote them a moment ago: they are not verified.
                        columns = storage.open(str(part), verify=False)
                        task.done, task.total = 0, len(columns.slices)
                        self._open.put(key, OpenTrace(columns))
                    elif line.strip() == "pyramid" and not task.cancelled:
                        self._complete(key, part)
            code = process.wait()
            process.stdout.close()
            said.seek(0)
            complaint = said.read()
        if code == 0:
            shutil.rmtree(place, ignore_errors=True)
            part.rename(place)
            return
        shutil.rmtree(part, ignore_errors=True)
        task.check()
        log.error("reading %s failed: %s", files.name, complaint)
        raise UnreadableTraceError((complaint.strip().splitlines() or [f"exit code {code}"])[-1][:500])

    def _tidy(self, directory: Path) -> None:
        """Delete the directories not used for longest until all others fit; those in use stay."""
        found = []
        for path in directory.iterdir():
            with contextlib.suppress(OSError):
                found.append((path.stat().st_mtime, sum(one.stat().st_size for one in path.rglob("*")), path))
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= self._limit:
                break
            if path.name not in self._open and path.stem not in self._at_work:
                shutil.rmtree(path, ignore_errors=True)
                total -= size


def files_of(profile: Profile, which: str = "") -> TraceFiles | None:
    """Return the trace of a profile with a name, the best one for ""; None if there is none."""
    return next((one for one in sources.grouped(profile) if which in ("", one.name)), None)


def _opened_from(place: Path) -> OpenTrace | None:
    if not place.is_dir():
        return None
    try:
        idle.read(str(place))  # written last: what has none is incomplete, or of an older version
        return OpenTrace(storage.open(str(place)), pyramid.open(str(place)))
    except (FormatError, OSError) as error:
        log.info("index of traces: %s; reading the trace again", error)
        shutil.rmtree(place, ignore_errors=True)
        return None


def _key(files: TraceFiles) -> str | None:
    """Return the name of the directory of a trace; None if a file cannot be read."""
    try:
        return storage.key_of(*files.paths)
    except OSError:
        return None


def _size(files: TraceFiles) -> int:
    with contextlib.suppress(OSError):
        return sum(os.stat(path).st_size for path in files.paths)
    return 0
