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
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from app.programs import command, environment
from app.store.index import private_directory
from app.store.reading_jobs import next_job
from layouts.profiles import IdleTime, ProfileFrame
from parsers.errors import FormatError
from parsers.profiler.access import Profile
from parsers.profiler.trace import idle, pyramid, sources, storage
from parsers.profiler.trace.opened import OpenTrace
from parsers.profiler.trace.sources import TraceFiles

log = logging.getLogger(__name__)

LIMIT_BYTES = 8 << 30
"""Maximum size of all directories together; the one in use stays whatever its size."""
MOST_OPEN = 20
"""Traces kept open: more than a timeline shows together."""
PATIENCE = 0.15
"""Seconds a caller waits, so that small traces are returned with the first answer."""
WANTED = (
    "trace_view.json", "*.pt.trace.json", "ascend_pytorch_profiler_*.db", "ascend_timeline_display_*.json", "msprof_*.json",
)  # fmt: skip
"""Names of the files that can hold a trace, for messages to users."""


@dataclass(slots=True)
class _Job:
    """A trace being read, or one whose reading was cancelled or failed."""

    files: TraceFiles
    key: str
    total: int
    done: int = 0
    state: str = "waiting"
    text: str = ""
    cancelled: bool = False
    process: subprocess.Popen[str] | None = None
    ended: threading.Event = field(default_factory=threading.Event)


class Traces:
    """The traces of all profiles of a store."""

    def __init__(self, directory: str | None = None, *, limit: int = LIMIT_BYTES) -> None:
        """directory: where to keep them; None for a temporary one that is deleted by `stop`."""
        self._wanted, self._limit = directory, limit
        self._directory: Path | None = None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._open: OrderedDict[str, OpenTrace] = OrderedDict()
        self._jobs: dict[str, _Job] = {}
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None
        self._stopping = False

    def frame(self, profile: Profile, which: str = "", *, again: bool = False) -> ProfileFrame:
        """Return whether a trace of a profile is ready (without a frame), or the progress of reading it.

        which is the name of a trace (`sources.grouped`), "" for the best one. A trace that is ready but has no pyramid yet has
        the progress of building it: done of total slices.
        """
        files = files_of(profile, which)
        if files is None:
            return ProfileFrame("missing", wanted=WANTED)
        found = self._look(files, again=again)
        if isinstance(found, OpenTrace):
            with self._lock:
                job = self._jobs.get(_key(files) or "") if found.pyramid is None else None
            done, total = (0, 0) if job is None else (min(job.done, job.total), job.total)
            return ProfileFrame("ready", done=done, total=total, problems=found.trace.problems)
        return ProfileFrame(found.state, done=min(found.done, found.total), total=found.total, text=found.text)

    def open(self, profile: Profile, which: str = "") -> OpenTrace | None:
        """Return a trace of a profile if its columns have been written; else None, and it is being read."""
        files = files_of(profile, which)
        found = None if files is None else self._look(files)
        return found if isinstance(found, OpenTrace) else None

    def idle_time(self, profile: Profile) -> IdleTime:
        """Return the idle time of the trace of a profile by cause, if the trace has been read."""
        files = files_of(profile)
        key = None if files is None else _key(files)
        if key is None:
            return IdleTime("missing")
        directory = self._directory or (None if self._wanted is None else Path(self._wanted))
        try:
            found = None if directory is None else idle.read(str(directory / key))
        except (FormatError, OSError):  # or not as it was written: it is read again when the trace is opened
            with self._lock:
                job = self._jobs.get(key)
                return IdleTime("unread" if job is None or job.ended.is_set() else "reading")
        return IdleTime("unread" if directory is None else "none" if found is None else "ready", found)

    def cancel(self, profile: Profile) -> None:
        """Stop reading the best trace of a profile."""
        files = files_of(profile)
        if files is None:
            return
        with self._lock:
            job = self._jobs.get(_key(files) or "")
            if job is not None and not job.ended.is_set():
                _stop(job)

    def stop(self) -> None:
        """Stop reading and wait for that."""
        with self._lock:
            self._stopping = True
            for job in self._jobs.values():
                _stop(job)
            self._wake.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=10)
        self._open.clear()
        if self._temporary is not None:
            self._temporary.cleanup()

    def _look(self, files: TraceFiles, *, again: bool = False) -> OpenTrace | _Job:
        key = _key(files)
        if key is None:
            return _Job(files, "", 0, state="failed", text="the file cannot be read")
        with self._lock:
            opened = self._opened(key)
            if opened is not None:
                return opened
            job = self._jobs.get(key)
            if job is None or (again and job.ended.is_set()):
                job = self._jobs[key] = _Job(files, key, _size(files))
            elif not job.ended.is_set():
                self._jobs[key] = self._jobs.pop(key)  # the most recent request is read first
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="mindscope-traces", daemon=True)
                self._thread.start()
            self._wake.notify_all()
        job.ended.wait(PATIENCE)
        with self._lock:
            return self._opened(key) or job

    def _opened(self, key: str) -> OpenTrace | None:
        found = self._open.get(key)
        if found is not None:
            self._open.move_to_end(key)
        return found

    # The thread ----------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            self._directory = self._make_directory()
        except OSError as error:
            log.warning("index of traces: %s; keeping them in a temporary directory", error)
            self._wanted = None
            self._directory = self._make_directory()
        while (job := next_job(self._jobs, self._wake, lambda: self._stopping)) is not None:
            try:
                self._read(job)
            except Exception as error:  # otherwise a bug that one trace triggers would end the thread that reads all of them
                log.exception("reading %s failed", job.files.name)
                job.state, job.text = "failed", f"{type(error).__name__}: {error}"
            finally:
                with self._lock:
                    if job.state == "ready":
                        self._jobs.pop(job.key, None)
                    else:  # its columns alone are not kept
                        self._open.pop(job.key, None)
                job.ended.set()

    def _make_directory(self) -> Path:
        if self._wanted is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="mindscope-traces-", ignore_cleanup_errors=True)
            return Path(self._temporary.name)
        private_directory(self._wanted)
        path = Path(self._wanted)
        for part in path.glob("*.part"):
            shutil.rmtree(part, ignore_errors=True)
        return path

    def _read(self, job: _Job) -> None:
        assert self._directory is not None
        place = self._directory / job.key
        opened = _opened_from(place)
        if opened is None:
            if not self._make(job, place):
                return
            opened = self._completed(job.key, place)
        with contextlib.suppress(OSError):
            os.utime(place)
        kept = self._keep(job.key, opened)
        job.state = "ready"
        self._tidy(kept)

    def _complete(self, key: str, place: Path) -> None:
        """Give the columns that are open their pyramid."""
        with self._lock:
            early = self._open.get(key)
        if early is not None:
            early.pyramid = pyramid.open(str(place))

    def _completed(self, key: str, place: Path) -> OpenTrace:
        """Return the trace whose pyramid has just been built; if its columns are in use already, they get it."""
        with self._lock:
            early = self._open.get(key)
        if early is not None and early.pyramid is not None:
            return early
        opened = _opened_from(place)
        if opened is None:
            raise FormatError("what was written cannot be read back")
        return opened

    def _keep(self, key: str, opened: OpenTrace) -> set[str]:
        """Keep a trace open; return the keys of all that are."""
        with self._lock:
            self._open[key] = opened
            self._open.move_to_end(key)
            while len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)
            return set(self._open)

    def _make(self, job: _Job, place: Path) -> bool:
        """Run the process; return whether the directory has been written."""
        part = place.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
            process = subprocess.Popen(  # noqa: S603 - our own program
                [*command("app.store.trace_process"), str(part), job.files.name, *job.files.paths],
                stdout=subprocess.PIPE, stderr=said, stdin=subprocess.DEVNULL, text=True, env=environment(),
            )  # fmt: skip
            with self._lock:
                job.process = process
                if job.cancelled:
                    process.kill()
            assert process.stdout is not None
            for line in process.stdout:
                done, _, total = line.strip().partition(" ")
                if done.isdecimal() and total.isdecimal():
                    job.done, job.total = int(done), int(total)
                else:
                    job.done = job.total
                    if line.strip() == "columns" and not job.cancelled:
                        # This machine wrote them a moment ago: they are not verified.
                        columns = storage.open(str(part), verify=False)
                        job.done, job.total = 0, len(columns.slices)
                        self._keep(job.key, OpenTrace(columns))
                    elif line.strip() == "pyramid" and not job.cancelled:
                        self._complete(job.key, part)
            code = process.wait()
            process.stdout.close()
            said.seek(0)
            complaint = said.read()
        if code == 0:
            shutil.rmtree(place, ignore_errors=True)
            part.rename(place)
            return True
        shutil.rmtree(part, ignore_errors=True)
        if job.cancelled:
            job.state = "cancelled"
        else:
            log.error("reading %s failed: %s", job.files.name, complaint)
            job.state, job.text = "failed", (complaint.strip().splitlines() or [f"exit code {code}"])[-1][:500]
        return False

    def _tidy(self, kept: set[str]) -> None:
        """Delete the directories not used for longest until all others fit."""
        assert self._directory is not None
        found = []
        for path in self._directory.iterdir():
            with contextlib.suppress(OSError):
                found.append((path.stat().st_mtime, sum(one.stat().st_size for one in path.rglob("*")), path))
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= self._limit:
                break
            if path.name not in kept:
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


def _stop(job: _Job) -> None:
    """Stop a job; the lock is held."""
    job.cancelled = True
    if job.process is not None and job.process.poll() is None:
        job.process.kill()
    elif job.state == "waiting":
        job.state = "cancelled"
        job.ended.set()


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
