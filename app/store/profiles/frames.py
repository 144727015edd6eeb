"""Frames of profiles: read in the background with progress, cached in memory up to a limit and on disk.

They have an index directory of their own; the key of a frame there includes its files' sizes and times, so a changed file is
read again. Reading a frame does not give way to others: it holds locks of its profile, and half a frame takes memory. While it
waits for the process that reads a database, others are read.
"""

from __future__ import annotations

import logging
import threading
import zlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from app.background import Background, Task
from app.engines import ByAmount, Engine
from app.store.jobs.job_frames import LatestOfJobs, RankReader, key_of_job, may_be_kept
from app.store.profiles.origins import Origins
from app.store.runs.index import Index
from layouts.profiles.frames import BeingRead, ProfileFrame, ProfileRow
from parsers.caches import Cache
from parsers.cluster_frames import JOB_FRAMES
from parsers.deferred import pandas as pd
from parsers.errors import FormatError
from parsers.model import Problem
from parsers.profiler.access import Profile, Profiles
from parsers.profiler.job_access import NEEDS, Job
from parsers.profiler.progress import watched
from parsers.profiler.registry import FRAMES, kinds_giving
from parsers.profiler.snapshot import dump, key_of, load
from parsers.profiler.trace.files import SOURCES, TABLES

log = logging.getLogger(__name__)

MEMORY_BYTES = 512 << 20
"""Memory limit for cached frames. The most recent one, and those asked for within HELD, stay whatever their size."""
HELD = 10.0
"""Seconds for which a frame is not evicted: until a page has all its frames it asks for all of them again and again, and would
never have them if each one that is read evicted another."""
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
    return (*frames, *([] if kinds.isdisjoint((*SOURCES, *TABLES)) else [TRACE]))


def being_read(task: Task | None) -> BeingRead | None:
    """Return what a task reads, for those who wait for it."""
    if task is None:
        return None
    total = task.total or task.size
    return BeingRead(*task.about, min(task.done, total), total)


class ProfileFrames:
    """The frames of all profiles of a store."""

    def __init__(
        self, index_directory: str | None = None, *, memory: int = MEMORY_BYTES, engine: Engine | None = None
    ) -> None:
        """engine reads the ranks of jobs."""
        self._index_directory = index_directory
        self._engine = engine or ByAmount()
        self._index: Index | None = None
        self._is_open = False
        self._frames: Cache[Key, CachedFrame] = Cache(limit=memory, cost=lambda frame: _size(frame[0]), held=HELD)
        self._origins = Origins()
        self._of_jobs = LatestOfJobs()
        self._opening = threading.Lock()
        self._background = Background("mindscope-profiles", most=MOST_JOBS, plain=())

    def frame(
        self, profile: Profile, path: str, name: str, *, run: str = "", again: bool = False,
        on_end: Callable[[], None] = lambda: None,
    ) -> ProfileFrame:  # fmt: skip
        """Return a frame or the progress of reading it. path is the session's directory; on_end is called after reading.

        run is named to those who wait for it.
        """
        if name not in FRAMES:
            raise KeyError(name)
        return self._frame(profile, path, (mark_of(profile), name), run=run, again=again, on_end=on_end)

    def frame_of_job(
        self, job: Job, mark: str, name: str, *, run: str = "", again: bool = False, on_end: Callable[[], None] = lambda: None
    ) -> ProfileFrame:
        """Return a frame of a job or the progress of reading it. mark changes whenever a file of the job does."""
        if name not in JOB_FRAMES:
            raise KeyError(name)
        return self._frame(job, "", (mark, name), run=run, again=again, on_end=on_end)

    def _frame(
        self, profile: Profile | Job, path: str, key: Key, *, run: str, again: bool, on_end: Callable[[], None]
    ) -> ProfileFrame:
        name = key[1]
        if not profile.gives(name):
            return ProfileFrame("missing", wanted=profile.wanted(name))
        cached = self._frames.get(key)
        if cached is None:
            # Frames of a profile are made of each other, and all jobs share the engine: neither is used by two threads.
            lane = "jobs" if isinstance(profile, Job) else key[0]
            going_on = self._background.find(key)
            size = profile.extent(name) if going_on is None else going_on.size  # of all ranks of a job: not at every question
            task = self._background.result(
                path or key[0], key, "", lambda task: self._try(task, profile, path, key, on_end), again=again, lane=lane,
                size=size, kept=False, about=(name, run),
            )  # fmt: skip
            cached = self._frames.get(key)
            if cached is None:
                total = task.total or task.size
                state = {"working": "reading", "ready": "waiting"}.get(task.state, task.state)
                ahead = being_read(self._background.ahead(task)) if state == "waiting" else None
                return ProfileFrame(state, done=min(task.done, total), total=total, text=task.text, ahead=ahead)
        return ProfileFrame("ready", cached[0], problems=cached[1])

    def cancel(self, mark: str, name: str) -> None:
        """Cancel the reading of a frame of the profile or job that has this mark."""
        self._background.cancel((mark, name))

    def stop(self) -> None:
        """Stop reading and wait for its end."""
        self._background.stop()
        self._engine.close()
        if self._index is not None:
            self._index.close()

    # In the background ---------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        """Open the index, the first time."""
        with self._opening:
            if self._is_open or self._index_directory is None:
                return
            self._is_open = True
            try:
                self._index = Index(self._index_directory)
            except OSError as error:
                log.warning("index: %s; continuing without it", error)

    def _try(self, task: Task, profile: Profile | Job, path: str, key: Key, on_end: Callable[[], None]) -> None:
        """Read a frame; the index gets it last, as no page waits for that."""
        made: list[tuple[str, CachedFrame]] = []

        def end() -> None:
            on_end()
            for name, frame in made:
                self._to_index(profile, path, name, frame)

        def watch(size: int) -> None:
            task.done += size
            task.check()

        task.after = end
        task.total = task.size
        self._open()
        self._drop_outdated(profile, path, key[0])
        try:
            with watched(watch, task.aside):
                made = self._read(task, profile, path, key)
        finally:
            profile.let_go()

    def _drop_outdated(self, profile: Profile | Job, path: str, mark: str) -> None:
        """Drop the frames of profiles that are gone, and of this one as it was before."""
        if isinstance(profile, Job):
            paths = [*(one.path for one in profile.files.members), *(one.path for one in profile.files.whole)]
            place = paths[0] if paths else ""
            what: Hashable = ("job", profile.name, place)
        else:
            place, what = path, ("profile", path, profile.session, profile.rank)
        outdated = self._origins.outdated(mark, what, place)
        for known in self._frames if outdated else ():
            if known[0] in outdated:
                self._frames.pop(known)

    def _read(self, task: Task, profile: Profile | Job, path: str, key: Key) -> list[tuple[str, CachedFrame]]:
        """Load the frame from the index, or read it and those it is derived from; cache them, return those read."""
        mark, name = key

        def told(size: int) -> None:
            task.done += size

        if key in self._frames:  # made with another frame while this one waited for its turn
            return []
        found = self._from_index(profile, path, name)
        if found is not None:
            self._frames.put(key, found)
            return []
        for other in _MADE_WITH.get(name, ()):
            known = self._frames.get((mark, other))
            if known is None and profile.gives(other):
                known = self._from_index(profile, path, other)
            if known is not None:
                profile.put_back(other, *known)
        held_before = set(profile.held())
        if isinstance(profile, Job):
            if set(NEEDS.get(name, ())) - held_before:  # these are read together
                task.total += profile.extent(NEEDS[name][0])
            keep = partial(self._of_jobs.write, self._index, profile) if self._index is not None else None
            profile.frame(name, RankReader(self._index, self._engine, told, lambda: task.cancelled, keep=keep))
        else:
            profile.frame(name)
        fresh = [(made, frame) for made, frame in profile.held().items() if made not in held_before]
        for made, frame in fresh:
            self._frames.put((mark, made), frame, asked=made == name)
        return fresh

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
        if isinstance(profile, Job):
            self._of_jobs.write(self._index, profile, name, key, parts)
        else:
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
