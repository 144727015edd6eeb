"""Reading profiles ahead for the command `index`: frames and traces, unless the index has all of them."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.commands.serving import cluster_engine
from app.commands.settings import Settings
from app.commands.terminal import ProgressBar, printable
from app.engines import ByAmount
from app.store.runs.index import Index
from parsers.model import Problem, Source

if TYPE_CHECKING:
    from layouts.profiles.frames import ProfileFrame
    from layouts.sources import Sources

POLL_S = 0.05
TRACE = "trace"
"""The name under which a store gives traces."""
_READERS = Path(__file__).resolve().parents[2] / "parsers" / "profiler"
_SEPARATOR = "\0"
_KEPT = "kept-"


def index_profiles(sources: Sequence[Source], place: str, settings: Settings, bar: ProgressBar) -> Iterator[Problem]:
    """Read the frames and traces of profiles; yield the reasons why some could not be read."""
    profiled = [source for source in sources if any(part.profile_dirs for part in (source, *source.ranks))]
    if not profiled:
        return
    kept = _Kept(place, profiled)
    known = kept.known()
    if known:
        bar.say(f"{known:,} frames and traces of profiles were in the index")
        return
    from app.store.store import Store  # with all that a server needs, which takes as long as reading a thousand small runs

    cluster = cluster_engine(settings.dask, trust=settings.dask_trust)
    store = Store(
        sources=profiled, interval=0, index_directory=place, engine=cluster and ByAmount(processes=cluster)
    ).start()  # fmt: skip
    failed, asked = False, []
    try:
        while not store.wait(POLL_S):
            bar.show(0.0, "profiles")
        asked = list(_asked(store))
        for number, (run, session, rank, name) in enumerate(asked):
            what = printable(f"{run} {name} of rank {rank}")
            frame = _waited(store, (run, session, rank, name), lambda share, at=number, what=what: bar.show(
                (at + share) / len(asked), f"{at + 1:,} of {len(asked):,} frames: {what}"
            ))
            if frame.state == "failed":
                failed = True
                yield Problem(run, 0, 0, "unreadable", f"{session}, rank {rank}, {name}: {frame.text}")
        bar.say(f"{len(asked):,} frames and traces of profiles")
    finally:
        store.stop()
    if asked and not failed:
        kept.keep(len(asked))


class _Kept:
    """What the index has of profiles, as a mark of their files and the names of all that was written for them.

    While files and readers are as they were, and everything named is still there, nothing has to be read again.
    """

    def __init__(self, place: str, profiled: Sequence[Source]) -> None:
        self._frames, self._traces = f"{place}-profiles", f"{place}-traces"
        parts = [part for source in profiled for part in (source, *source.ranks)]
        self._key = _KEPT + hashlib.blake2b(repr([part.path for part in parts]).encode(), digest_size=16).hexdigest()
        roots = [(part.name, path) for part in parts for path in part.profile_dirs]
        self._mark = _mark(roots)

    def known(self) -> int:
        """Return how many frames and traces there are in the index, if it has all of them; else 0."""
        data = self._named() if self._mark else None
        if data is None:
            return 0
        mark, count, *names = data.decode("utf-8", "replace").split(_SEPARATOR)
        # Frames that are read in no time are not kept, so there may be no names.
        same = mark == self._mark and count.isdecimal() and self._there().issuperset(names)
        return int(count) if same else 0

    def keep(self, count: int) -> None:
        """Note that everything has been read."""
        if not self._mark:
            return
        text = _SEPARATOR.join([self._mark, str(count), *sorted(self._there())])
        index = Index(self._frames)
        try:
            index.write(self._key, [text.encode()])
        finally:
            index.close()

    def _named(self) -> bytes | None:
        if not os.path.isdir(self._frames):
            return None
        index = Index(self._frames)
        try:
            return index.read(self._key)
        finally:
            index.close()

    def _there(self) -> set[str]:
        """Return the names of all frames and traces in the index."""
        index = Index(self._frames)
        try:
            keys = index.keys()
        finally:
            index.close()
        frames = {f"frame {key}" for key in keys if not key.startswith(_KEPT)}
        if not os.path.isdir(self._traces):
            return frames
        return frames | {f"trace {name}" for name in os.listdir(self._traces)}


def _mark(roots: Sequence[tuple[str, str]]) -> str:
    """Return a mark of the readers and of all files below the directories of profiles; "" where a link leads elsewhere."""
    digest = hashlib.blake2b(digest_size=16)
    for run, path in (("", str(_READERS)), *roots):
        digest.update(b"\1" + os.fsencode(run) + b"\0" + os.fsencode(os.path.realpath(path)))
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in (*folders, *sorted(names)):
                try:
                    status = os.lstat(os.path.join(folder, name))
                except OSError:
                    return ""
                if stat.S_ISLNK(status.st_mode):
                    return ""
                told = "" if stat.S_ISDIR(status.st_mode) else f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"
                digest.update(b"\0" + os.fsencode(os.path.join(folder, name)) + told.encode())
    return digest.hexdigest()


def _asked(store: Sources) -> Iterator[tuple[str, str, int, str]]:
    """Yield run, session, rank and name of each frame and trace; those of a job once."""
    from parsers.cluster_frames import JOB_FRAMES

    done: set[tuple[Any, str]] = set()
    for run in [member for row in store.runs.rows() for member in row.members]:
        for profile in store.profiles.rows(run):
            for name in profile.frames:
                if name in JOB_FRAMES:
                    job = tuple(store.profiles.members(run, profile.session, profile.rank))
                    if (job, name) in done:
                        continue
                    done.add((job, name))
                yield run, profile.session, profile.rank, name


def _waited(store: Sources, asked: tuple[str, str, int, str], show: Any) -> ProfileFrame:
    """Wait until a frame is read, or a trace with what makes its views cost what they show."""
    while True:
        frame = store.profiles.frame(*asked)
        if frame.state not in ("waiting", "reading") and not (asked[3] == TRACE and frame.done < frame.total):
            return frame
        show(frame.done / max(frame.total, 1))
        time.sleep(POLL_S)
