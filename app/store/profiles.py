"""Frames of profiles for the pages: read in the background with progress, kept in memory within bounds and on disk.

One thread reads, the frame asked for last first, so that who looks at a page waits for nothing that nobody looks at any more.
It has a directory of the index of its own; a frame is kept there under what its files are, so a file that grew is read again.
"""

from __future__ import annotations

import logging
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from app.store.index import Index
from layouts.sources import ProfileFrame, ProfileRow
from parsers.errors import FormatError
from parsers.model import Problem
from parsers.profiler.access import Profile, Profiles
from parsers.profiler.progress import Cancelled, watched
from parsers.profiler.registry import FRAMES
from parsers.profiler.snapshot import dump, key_of, load

log = logging.getLogger(__name__)

MEMORY_BYTES = 512 << 20
"""Frames in memory; the one read last stays whatever its size."""
PATIENCE = 0.15
"""Seconds that a caller waits for a frame: what small files give comes with the first answer."""
SMALL_BYTES = 256 << 10
"""Frames of files of so many bytes are not worth a file of the index."""
MOST_JOBS = 64

Key = tuple[str, str]
"""What the files of a profile are, and the name of a frame."""
Kept = tuple[pd.DataFrame, tuple[Problem, ...]]


def mark_of(profile: Profile) -> str:
    """What the files of a profile are, as text: another one whenever any of them changes."""
    told = "\n".join(f"{file.path}\0{file.size}\0{file.mtime_ns}" for file in profile.files)
    return f"{zlib.crc32(told.encode('utf-8', 'surrogateescape')):08x}-{sum(file.size for file in profile.files):x}"


def row_of(profile: Profile) -> ProfileRow:
    """A profile as the pages list it."""
    files = profile.files
    return ProfileRow(
        profile.session, profile.rank, profile.device, tuple(file.name for file in files), sum(file.size for file in files),
        max((file.mtime_ns / 1e9 for file in files), default=0.0), tuple(name for name in FRAMES if profile.gives(name)),
        mark_of(profile),
    )  # fmt: skip


@dataclass(slots=True)
class _Job:
    """A frame being read, or that was not read to its end."""

    key: Key
    profile: Profile
    path: str
    told: Callable[[], None]
    total: int
    done: int = 0
    state: str = "waiting"
    text: str = ""
    cancelled: bool = False
    ended: threading.Event = field(default_factory=threading.Event)


class ProfileFrames:
    """Gives frames of profiles; one for a store."""

    def __init__(self, index_directory: str | None = None, *, memory: int = MEMORY_BYTES) -> None:
        self._index_directory = index_directory
        self._index: Index | None = None
        self._memory = memory
        self._kept: OrderedDict[Key, Kept] = OrderedDict()
        self._jobs: dict[Key, _Job] = {}
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None
        self._stopping = False

    def frame(
        self, profile: Profile, path: str, name: str, *, again: bool = False, told: Callable[[], None] = lambda: None
    ) -> ProfileFrame:
        """The frame of a name, or how far it is. path is the directory of the session; told is called when it was read."""
        if name not in FRAMES:
            raise KeyError(name)
        if not profile.gives(name):
            return ProfileFrame("missing", wanted=profile.wanted(name))
        key = (mark_of(profile), name)
        with self._lock:
            kept = self._known(key)
            if kept is not None:
                return ProfileFrame("ready", kept[0], problems=kept[1])
            job = self._jobs.get(key)
            if job is None or (again and job.ended.is_set()):
                self._forget_some()
                job = self._jobs[key] = _Job(key, profile, path, told, profile.extent(name))
            elif not job.ended.is_set():
                self._jobs[key] = self._jobs.pop(key)  # what was asked for last is read first
            self._start()
            self._wake.notify_all()
        job.ended.wait(PATIENCE)
        with self._lock:
            kept = self._known(key)
            if kept is not None:
                return ProfileFrame("ready", kept[0], problems=kept[1])
        return ProfileFrame(job.state, done=min(job.done, job.total), total=job.total, text=job.text)

    def cancel(self, profile: Profile, name: str) -> None:
        """Read no further what has been begun."""
        with self._lock:
            job = self._jobs.get((mark_of(profile), name))
            if job is not None and not job.ended.is_set():
                job.cancelled = True
                if job.state == "waiting":
                    job.state = "cancelled"
                    job.ended.set()

    def stop(self) -> None:
        """End the thread and wait for it."""
        with self._lock:
            self._stopping = True
            for job in self._jobs.values():
                job.cancelled = True
            self._wake.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=10)

    def _known(self, key: Key) -> Kept | None:
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
        return kept

    def _forget_some(self) -> None:
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
                log.warning("index: %s; going on without it", error)
        while (job := self._next()) is not None:
            self._try(job)
        if self._index is not None:
            self._index.close()

    def _next(self) -> _Job | None:
        with self._lock:
            while not self._stopping:
                waiting = [job for job in self._jobs.values() if not job.ended.is_set()]
                if waiting:
                    waiting[-1].state = "reading"
                    return waiting[-1]
                self._wake.wait()
        return None

    def _try(self, job: _Job) -> None:
        made: list[tuple[str, Kept]] = []
        try:
            with watched(lambda size: self._watch(job, size)):
                made = self._read(job)
            job.state = "ready"
        except Cancelled:
            job.state = "cancelled"
        # A fault of ours over one profile is logged and told on its page; the thread goes on to read all others.
        except Exception as error:
            log.exception("reading %s of %s failed", job.key[1], job.path)
            job.state, job.text = "failed", f"{type(error).__name__}: {error}"
        finally:
            job.profile.let_go()
            with self._lock:
                if job.state == "ready":
                    self._jobs.pop(job.key, None)
            job.ended.set()
            job.told()
        # Nobody waits for the index.
        for name, kept in made:
            self._to_index(job.profile, job.path, name, kept)

    def _watch(self, job: _Job, size: int) -> None:
        job.done += size
        if job.cancelled:
            raise Cancelled

    def _read(self, job: _Job) -> list[tuple[str, Kept]]:
        """Take the frame from the index, or read it and whatever it is made of; keep all of them. Gives what was read."""
        mark, name = job.key
        profile = job.profile
        found = self._from_index(profile, job.path, name)
        if found is not None:
            self._keep(job.key, found)
            return []
        for other in _MADE_OF.get(name, ()):
            with self._lock:
                known = self._known((mark, other))
            known = known or (self._from_index(profile, job.path, other) if profile.gives(other) else None)
            if known is not None:
                profile.put_back(other, *known)
        there = set(profile.held())
        profile.frame(name)
        fresh = [(made, kept) for made, kept in profile.held().items() if made not in there]
        for made, kept in fresh:
            self._keep((mark, made), kept, last=made == name)
        return fresh

    def _keep(self, key: Key, kept: Kept, *, last: bool = True) -> None:
        with self._lock:
            self._kept[key] = kept
            self._kept.move_to_end(key, last=last)
            total = sum(_size(frame) for frame, _ in self._kept.values())
            while total > self._memory and len(self._kept) > 1:
                _, (gone, _) = self._kept.popitem(last=False)
                total -= _size(gone)

    def _from_index(self, profile: Profile, path: str, name: str) -> Kept | None:
        if self._index is None or profile.extent(name) < SMALL_BYTES:
            return None
        data = self._index.read(key_of(path, profile.files, name))
        if data is None:
            return None
        try:
            return load(FRAMES[name], data)
        except FormatError as error:
            log.info("index: %s", error)
            return None

    def _to_index(self, profile: Profile, path: str, name: str, kept: Kept) -> None:
        if self._index is None or profile.extent(name) < SMALL_BYTES:
            return
        parts = dump(FRAMES[name], *kept)
        if parts is not None:
            self._index.write(key_of(path, profile.files, name), parts)


_MADE_OF: Mapping[str, tuple[str, ...]] = {"operators": ("kernels",), "operator_types": ("operators", "kernels")}


def _size(frame: pd.DataFrame) -> int:
    """Bytes of a frame, its texts guessed: to count them would take longer than to read some of them."""
    size = 0
    for name in frame.columns:
        values: Any = frame[name].array
        if isinstance(values, pd.Categorical):
            size += values.codes.nbytes + 80 * len(values.categories)
        else:
            size += values.nbytes
    return size


def profile_of(profiles: Profiles, session: str, rank: int) -> tuple[Profile, str] | None:
    """A profile and the directory of its session, None for one that is not there."""
    found = profiles.get((session, rank))
    if found is None:
        return None
    return found, next(one.path for one in profiles.sessions if one.name == session)
