"""Frames of profiles: read in the background with progress, cached in memory up to a limit and on disk.

One thread reads, the most recently requested frame first, so that the page on screen does not wait for one already left. It has
an index directory of its own; the key of a frame there includes its files' sizes and times, so a changed file is read again.
"""

from __future__ import annotations

import logging
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from app.engines import ByAmount, Engine
from app.store.index import Index
from app.store.job_frames import RankReader, key_of_job, may_be_kept
from app.store.reading_jobs import next_job
from layouts.profiles import ProfileFrame, ProfileRow
from parsers.cluster_frames import JOB_FRAMES
from parsers.deferred import pandas as pd
from parsers.errors import FormatError
from parsers.model import Problem
from parsers.profiler.access import Profile, Profiles
from parsers.profiler.job_access import NEEDS, Job
from parsers.profiler.progress import Cancelled, watched
from parsers.profiler.registry import FRAMES, kinds_giving
from parsers.profiler.snapshot import dump, key_of, load
from parsers.profiler.trace.files import SOURCES

log = logging.getLogger(__name__)

MEMORY_BYTES = 512 << 20
"""Memory limit for cached frames. The most recent one, and those asked for within HELD, stay whatever their size."""
HELD = 10.0
"""Seconds for which a frame is not evicted: until a page has all its frames it asks for all of them again and again, and would
never have them if each one that is read evicted another."""
PATIENCE = 0.15
"""Seconds a caller waits for a frame, so that small files are returned with the first answer."""
SMALL_BYTES = 256 << 10
"""Frames from files smaller than this many bytes are not written to the index."""
TRACE = "trace"
"""The name under which pages ask for a trace, beside those of frames."""
MOST_JOBS = 64

Key = tuple[str, str]
"""(mark of the profile, name of the frame)."""
CachedFrame = tuple["pd.DataFrame", tuple[Problem, ...]]


def mark_of(profile: Profile) -> str:
    """Return a text that changes whenever a file of the profile does."""
    text = "\n".join(f"{file.path}\0{file.size}\0{file.mtime_ns}" for file in profile.files)
    return f"{zlib.crc32(text.encode('utf-8', 'surrogateescape')):08x}-{sum(file.size for file in profile.files):x}"


def row_of(profile: Profile, of_job: Sequence[str] = ()) -> ProfileRow:
    """Return the row that lists a profile on the pages; of_job are the frames that its job gives."""
    files = profile.files
    return ProfileRow(
        profile.session, profile.rank, profile.device, tuple(file.name for file in files), sum(file.size for file in files),
        max((file.mtime_ns for file in files), default=0) / 1e9, (*_given(profile.kinds), *of_job), mark_of(profile),
    )  # fmt: skip


@lru_cache(maxsize=1 << 10)  # the ranks of a job have files of the same kinds
def _given(kinds: frozenset[str]) -> tuple[str, ...]:
    """Return the names of what files of these kinds give."""
    frames = (name for name, schema in FRAMES.items() if not kinds.isdisjoint(kinds_giving(schema)))
    return (*frames, *([] if kinds.isdisjoint(SOURCES) else [TRACE]))


@dataclass(slots=True)
class _Job:
    """A frame being read, or one whose reading was cancelled or failed."""

    key: Key
    profile: Profile | Job
    path: str
    on_end: Callable[[], None]
    total: int
    done: int = 0
    state: str = "waiting"
    text: str = ""
    cancelled: bool = False
    ended: threading.Event = field(default_factory=threading.Event)


class ProfileFrames:
    """The frames of all profiles of a store."""

    def __init__(
        self, index_directory: str | None = None, *, memory: int = MEMORY_BYTES, engine: Engine | None = None
    ) -> None:
        """engine reads the ranks of jobs."""
        self._index_directory = index_directory
        self._engine = engine or ByAmount()
        self._index: Index | None = None
        self._memory = memory
        self._frames: OrderedDict[Key, CachedFrame] = OrderedDict()
        self._asked: dict[Key, float] = {}  # when, by the monotonic clock
        self._kept_of_jobs: dict[tuple[str, str, str], str] = {}
        self._jobs: dict[Key, _Job] = {}
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None
        self._stopping = False

    def frame(
        self, profile: Profile, path: str, name: str, *, again: bool = False, on_end: Callable[[], None] = lambda: None
    ) -> ProfileFrame:
        """Return a frame or the progress of reading it. path is the session's directory; on_end is called after reading."""
        if name not in FRAMES:
            raise KeyError(name)
        return self._frame(profile, path, (mark_of(profile), name), again=again, on_end=on_end)

    def frame_of_job(
        self, job: Job, mark: str, name: str, *, again: bool = False, on_end: Callable[[], None] = lambda: None
    ) -> ProfileFrame:
        """Return a frame of a job or the progress of reading it. mark changes whenever a file of the job does."""
        if name not in JOB_FRAMES:
            raise KeyError(name)
        return self._frame(job, "", (mark, name), again=again, on_end=on_end)

    def _frame(
        self, profile: Profile | Job, path: str, key: Key, *, again: bool, on_end: Callable[[], None]
    ) -> ProfileFrame:
        name = key[1]
        if not profile.gives(name):
            return ProfileFrame("missing", wanted=profile.wanted(name))
        with self._lock:
            self._asked[key] = time.monotonic()
            cached = self._cached(key)
            if cached is not None:
                return ProfileFrame("ready", cached[0], problems=cached[1])
            job = self._jobs.get(key)
            if job is None or (again and job.ended.is_set()):
                self._evict_jobs()
                job = self._jobs[key] = _Job(key, profile, path, on_end, profile.extent(name))
            elif not job.ended.is_set():
                self._jobs[key] = self._jobs.pop(key)  # the most recent request is read first
            self._start()
            self._wake.notify_all()
        job.ended.wait(PATIENCE)
        with self._lock:
            cached = self._cached(key)
            if cached is not None:
                return ProfileFrame("ready", cached[0], problems=cached[1])
        return ProfileFrame(job.state, done=min(job.done, job.total), total=job.total, text=job.text)

    def cancel(self, mark: str, name: str) -> None:
        """Cancel the reading of a frame of the profile or job that has this mark."""
        with self._lock:
            job = self._jobs.get((mark, name))
            if job is not None and not job.ended.is_set():
                job.cancelled = True
                if job.state == "waiting":
                    job.state = "cancelled"
                    job.ended.set()

    def stop(self) -> None:
        """Stop the thread and wait for it."""
        with self._lock:
            self._stopping = True
            for job in self._jobs.values():
                job.cancelled = True
            self._wake.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=10)

    def _cached(self, key: Key) -> CachedFrame | None:
        found = self._frames.get(key)
        if found is not None:
            self._frames.move_to_end(key)
        return found

    def _evict_jobs(self) -> None:
        for key in [key for key, job in self._jobs.items() if job.ended.is_set()][: max(0, len(self._jobs) - MOST_JOBS)]:
            del self._jobs[key]

    # The thread ----------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="mindscope-profiles", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        if self._index_directory is not None:
            try:
                self._index = Index(self._index_directory)
            except OSError as error:
                log.warning("index: %s; continuing without it", error)
        while (job := next_job(self._jobs, self._wake, lambda: self._stopping)) is not None:
            self._try(job)
        self._engine.close()
        if self._index is not None:
            self._index.close()

    def _try(self, job: _Job) -> None:
        made: list[tuple[str, CachedFrame]] = []
        try:
            with watched(lambda size: self._watch(job, size)):
                made = self._read(job)
            job.state = "ready"
        except Cancelled:
            job.state = "cancelled"
        except Exception as error:  # otherwise a bug that one profile triggers would end the thread that reads all of them
            log.exception("reading %s of %s failed", job.key[1], job.path)
            job.state, job.text = "failed", f"{type(error).__name__}: {error}"
        finally:
            job.profile.let_go()
            with self._lock:
                if job.state == "ready":
                    self._jobs.pop(job.key, None)
            job.ended.set()
            job.on_end()
        # Written last, as no page waits for the index.
        for name, frame in made:
            self._to_index(job.profile, job.path, name, frame)

    def _watch(self, job: _Job, size: int) -> None:
        job.done += size
        if job.cancelled:
            raise Cancelled

    def _read(self, job: _Job) -> list[tuple[str, CachedFrame]]:
        """Load the frame from the index, or read it and those it is derived from; cache them, return those read."""
        mark, name = job.key
        profile = job.profile

        def told(size: int) -> None:
            job.done += size

        found = self._from_index(profile, job.path, name)
        if found is not None:
            self._cache(job.key, found)
            return []
        for other in _MADE_WITH.get(name, ()):
            with self._lock:
                known = self._cached((mark, other))
            known = known or (self._from_index(profile, job.path, other) if profile.gives(other) else None)
            if known is not None:
                profile.put_back(other, *known)
        held_before = set(profile.held())
        if isinstance(profile, Job):
            if set(NEEDS.get(name, ())) - held_before:  # these are read together
                job.total += profile.extent(NEEDS[name][0])
            profile.frame(name, RankReader(self._index, self._engine, told, lambda: job.cancelled))
        else:
            profile.frame(name)
        fresh = [(made, frame) for made, frame in profile.held().items() if made not in held_before]
        for made, frame in fresh:
            self._cache((mark, made), frame, last=made == name)
        return fresh

    def _cache(self, key: Key, frame: CachedFrame, *, last: bool = True) -> None:
        with self._lock:
            self._frames[key] = frame
            self._frames.move_to_end(key, last=last)
            now = time.monotonic()
            self._asked = {asked: at for asked, at in self._asked.items() if now - at < HELD}
            total = sum(_size(table) for table, _ in self._frames.values())
            for old in list(self._frames)[:-1]:
                if total <= self._memory:
                    break
                if old not in self._asked:
                    total -= _size(self._frames.pop(old)[0])

    def _from_index(self, profile: Profile | Job, path: str, name: str) -> CachedFrame | None:
        if self._index is None or profile.extent(name) < SMALL_BYTES:
            return None
        data = self._index.read(_index_key(profile, path, name))
        if data is None:
            return None
        try:
            return load(_SCHEMAS[name], data)
        except FormatError as error:
            log.info("index: %s", error)
            return None

    def _to_index(self, profile: Profile | Job, path: str, name: str, frame: CachedFrame) -> None:
        if self._index is None or profile.extent(name) < SMALL_BYTES or not may_be_kept(frame[1]):
            return
        parts = dump(_SCHEMAS[name], *frame)
        if parts is None:
            return
        key = _index_key(profile, path, name)
        if isinstance(profile, Job):  # what was made of fewer ranks, or of older files, is of no use
            members = profile.files.members
            of = (profile.name, members[0].path if members else "", name)
            older = self._kept_of_jobs.get(of)
            if older is not None and older != key:
                self._index.delete(older)
            self._kept_of_jobs[of] = key
        self._index.write(key, parts)


_SCHEMAS = {**FRAMES, **JOB_FRAMES}
_MADE_WITH: Mapping[str, tuple[str, ...]] = {"operators": ("kernels",), "operator_types": ("operators", "kernels"), **NEEDS}


def _index_key(profile: Profile | Job, path: str, name: str) -> str:
    return key_of_job(profile, name) if isinstance(profile, Job) else key_of(path, profile.files, name)


def _size(frame: pd.DataFrame) -> int:
    """Estimate the bytes of a frame. Texts count 80 bytes each: measuring them takes longer than reading some frames."""
    size = 0
    for name in frame.columns:
        values: Any = frame[name].array
        if isinstance(values, pd.Categorical):
            size += values.codes.nbytes + 80 * len(values.categories)
        else:
            size += values.nbytes
    return size


def profile_of(profiles: Profiles, session: str, rank: int) -> tuple[Profile, str] | None:
    """Return a profile and the directory of its session, or None if there is no such profile."""
    found = profiles.get((session, rank))
    if found is None:
        return None
    return found, next(one.path for one in profiles.sessions if one.name == session)
