"""A job of a run: its frames, read from the files of all its ranks on first use."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from parsers.cluster_frames import (
    CLUSTER_STEPS,
    COLLECTIVES,
    DEVICE_TIMES,
    GROUPS,
    JOB_FRAMES,
    LINKS,
    PACKETS,
    RANKS,
    STAGES,
)
from parsers.deferred import pandas as pd
from parsers.model import Problem
from parsers.profiler import job_merge
from parsers.profiler.columns import unpacked
from parsers.profiler.job_merge import Parts, RankPiece
from parsers.profiler.jobs import JobFiles, JobMember
from parsers.profiler.ranks import KINDS, KINDS_READ, columns_of, extent, kinds_read
from parsers.profiler.registry import display_name
from parsers.profiler.sessions import OF_JOB, ProfileFile
from parsers.profiler.step_parts import stages_named
from parsers.profiler.tables import NONE
from parsers.profiler.trace.files import CHROME_TRACE

Files = tuple[ProfileFile, ...]
Read = Callable[[Sequence[JobMember], tuple[str, ...]], Iterable[RankPiece]]
"""Reads files of ranks (rank -1: of all), and gives the columns in the same order: `columns_of`, here or in other processes."""
_TOGETHER = (GROUPS.name, COLLECTIVES.name, PACKETS.name)
"""Frames that are read from the same files, at once."""
OF_TRACE = (GROUPS.name, COLLECTIVES.name, PACKETS.name, CLUSTER_STEPS.name, RANKS.name, DEVICE_TIMES.name)
"""Frames that are made at once where traces of torch are all that ranks have, in an order in which each finds what it needs."""
NEEDS: Mapping[str, tuple[str, ...]] = {LINKS.name: (GROUPS.name,), CLUSTER_STEPS.name: (GROUPS.name, COLLECTIVES.name)}
"""Frame -> frames that it is made with."""


def read_here(members: Sequence[JobMember], what: tuple[str, ...]) -> Iterator[RankPiece]:
    """Read rank after rank in this thread."""
    return (RankPiece.of(one, unpacked(columns_of(one.files, what))) for one in members)


def told_of(files: Files) -> bytes:
    """Return names, sizes and mtimes of files that have a say in frames of jobs, for digests."""
    told = [f"\n{file.path}\0{file.name}\0{file.size}\0{file.mtime_ns}" for file in files if file.kind in KINDS_READ]
    return "".join(told).encode("utf-8", "surrogateescape")


def of_kinds(files: Files, kinds: Collection[str]) -> Files:
    """Return those of the files of a rank that are of these kinds."""
    return tuple(file for file in files if file.kind in kinds)


class Job:
    """The sessions and ranks that ran together. Its frames are those in JOB_FRAMES, also as attributes; never write into one.

    files says of which sessions and ranks it is; problems is what the user should know, and damage in the files read so far.
    """

    def __init__(self, files: JobFiles) -> None:
        self.files = files
        self._lock = threading.RLock()
        self._frames: dict[str, pd.DataFrame] = {}
        self._problems: dict[str, tuple[Problem, ...]] = {}
        self._traced: Parts | None = None
        self._extents: dict[tuple[str, ...], int] = {}

    def __repr__(self) -> str:
        return f"Job({self.files.name!r}, ranks={len(self.files.members)})"

    def __getattr__(self, name: str) -> pd.DataFrame:
        if name in JOB_FRAMES:
            return self.frame(name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}; its frames are {', '.join(JOB_FRAMES)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *JOB_FRAMES]

    @property
    def name(self) -> str:
        """A name, unique among the jobs of the run."""
        return self.files.name

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that have files of their own."""
        return self.files.ranks

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that directories are named after."""
        return tuple(sorted({member.host for member in self.files.members if member.host}))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the job, and damage in the files that have been read."""
        with self._lock:
            found = (problem for problems in self._problems.values() for problem in problems)
            return tuple(dict.fromkeys((*self.files.problems, *found)))

    def gives(self, name: str) -> bool:
        """Return whether there is a file that gives a frame (a name in JOB_FRAMES)."""
        return not self._kinds.isdisjoint(KINDS[name])

    @cached_property
    def _kinds(self) -> frozenset[str]:
        return frozenset(file.kind for files in self._files() for file in files)

    def wanted(self, name: str) -> tuple[str, ...]:
        """Return the names of the files any of which gives a frame, the usual ones first."""
        return tuple(dict.fromkeys(map(display_name, KINDS[name])))

    def without(self, name: str) -> tuple[int, ...]:
        """Return the ranks that have no file of their own that gives a frame."""
        wanted = set(KINDS[name])
        return tuple(one.rank for one in self.files.members if not any(file.kind in wanted for file in one.files))

    def extent(self, name: str) -> int:
        """Return the size in bytes of the files that are read for a frame, frames that it is made with left out."""
        names = _TOGETHER if name in _TOGETHER else (name,)
        if names not in self._extents:
            wanted = kinds_read(names, self._files())
            self._extents[names] = sum(extent(of_kinds(files, wanted), names) for files in self._files())
        return self._extents[names]

    @cached_property
    def digest(self) -> bytes:
        """A digest that changes with any rank, session or file that has a say in frames."""
        key = hashlib.blake2b(str(self.files.parallel).encode(), digest_size=20)
        for member in self.files.members:
            key.update(f"\n{member.session}\0{member.rank}".encode("utf-8", "surrogateescape"))
            key.update(told_of(member.files))
        for session in self.files.whole:
            key.update(f"\n{session.name}".encode("utf-8", "surrogateescape"))
            key.update(told_of(session.files))
        return key.digest()

    def frame(self, name: str, read: Read = read_here) -> pd.DataFrame:
        """Return a frame by its name in JOB_FRAMES, read on first use by `read`; KeyError for another name.

        Never raises for the content of files. Frames that are read together are kept together.
        """
        schema = JOB_FRAMES[name]
        with self._lock:
            if name not in self._frames:
                at_once = OF_TRACE if self._is_traced and name in OF_TRACE else (name,)
                for one in at_once:
                    if one not in self._frames:
                        self._make(one, read)
                self._traced = None
            return schema.check(self._frames[name])

    def held(self) -> dict[str, tuple[pd.DataFrame, tuple[Problem, ...]]]:
        """Return the frames in memory by name, each with the damage found in its files."""
        with self._lock:
            return {name: (JOB_FRAMES[name].check(frame), self._problems.get(name, ())) for name, frame in self._frames.items()}

    def put_back(self, name: str, frame: pd.DataFrame, problems: tuple[Problem, ...]) -> None:
        """Set a frame that was read before, as other frames are made with it."""
        with self._lock:
            self._frames[name], self._problems[name] = frame, problems

    def let_go(self) -> None:
        """Drop all frames; the damage found is kept."""
        with self._lock:
            self._frames.clear()
            self._traced = None

    def _make(self, name: str, read: Read) -> None:
        if name in _TOGETHER:
            parts = self._parts(_TOGETHER, read)
            frames, problems = job_merge.communication(parts)
            self._frames |= frames
            self._problems |= dict.fromkeys(frames, tuple(dict.fromkeys(problems)))
        elif name == LINKS.name:
            groups = self.frame(GROUPS.name, read)
            parts = self._parts((name,), read)
            self._frames[name], problems = job_merge.links(parts, groups, self._stage_starts())
        elif name == RANKS.name:
            hosts = {member.rank: member.host for member in self.files.members}
            self._frames[name], problems = job_merge.ranks(self._parts((name,), read), hosts)
        elif name == DEVICE_TIMES.name:
            self._frames[name], problems = job_merge.device_times(self._parts((name,), read))
        elif name == STAGES.name:
            parts = self._parts((name,), read)
            self._frames[name], problems = parts.own[name], parts.problems
        else:
            groups, collectives = self.frame(GROUPS.name, read), self.frame(COLLECTIVES.name, read)
            parts = self._parts((CLUSTER_STEPS.name,), read)
            self._frames[name], problems = job_merge.steps(parts, groups, collectives, dict(self.files.parallel))
        self._problems[name] = tuple(dict.fromkeys(problems))

    def _files(self) -> list[Files]:
        return [one.files for one in (*self.files.members, *self._whole)]

    @cached_property
    def _whole(self) -> tuple[JobMember, ...]:
        """The files about all ranks, as those of rank -1."""
        return tuple(JobMember(one.name, one.path, NONE, "", of_kinds(one.files, OF_JOB)) for one in self.files.whole)

    @cached_property
    def _is_traced(self) -> bool:
        """Whether traces of torch are all that its ranks have."""
        return self._kinds == {CHROME_TRACE.name}

    def _parts(self, names: tuple[str, ...], read: Read) -> Parts:
        if not (self._is_traced and set(names) <= {*OF_TRACE}):
            return self._read(names, read)
        if self._traced is None:
            self._traced = self._read(OF_TRACE, read)
        return self._traced

    def _read(self, names: tuple[str, ...], read: Read) -> Parts:
        wanted = kinds_read(names, self._files())
        members = [replace(one, files=of_kinds(one.files, wanted)) for one in (*self.files.members, *self._whole)]
        return job_merge.joined_parts(read(members, names), [JOB_FRAMES[name] for name in names])

    def _stage_starts(self) -> dict[int, int]:
        """Return the first rank of the stage of each rank, as far as names of legacy cluster files tell."""
        found = {}
        for member in self.files.members:
            named = next((told for file in member.files if (told := stages_named(file.name)) is not None), None)
            if named is not None and named[0] > 0 and named[1] >= named[0]:
                size = named[1] // named[0]
                found[member.rank] = member.rank // size * size
        return found
