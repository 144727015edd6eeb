"""The jobs of the list of runs: the sessions and ranks that ran together, also if ranks are runs of their own."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from app.store.profiles.frames import row_of
from layouts.profiles.frames import ProfileRow
from parsers import Source
from parsers.caches import Cache
from parsers.cluster_frames import JOB_FRAMES
from parsers.profiler.access import Profile, Profiles
from parsers.profiler.job_access import Job
from parsers.profiler.jobs import JobFiles, alike, find_jobs
from parsers.profiler.sessions import Session

MOST_KEPT = 256
"""Sets of runs whose jobs are kept."""
WHOLE = -1
"""The rank of a profile of files about all ranks."""

Name = tuple[str, str, int]
"""(member run, session, rank)."""
Rows = WeakKeyDictionary[Profile, tuple[tuple[str, ...], ProfileRow | None]]
"""Profile -> (frames of its job, row)."""


@dataclass(frozen=True, slots=True)
class FoundJob:
    """A job, its ranks as (run, session, rank), the names of frames it gives, and a mark that changes whenever a file does."""

    job: Job
    members: tuple[Name, ...]
    frames: tuple[str, ...]
    mark: str


@dataclass(frozen=True, slots=True)
class _FoundJobs:
    """The jobs of runs that were looked at together: what they were found in, by profile, and the rows of profiles by run."""

    of: Mapping[str, Profiles]
    jobs: Mapping[Name, FoundJob]
    profiles: Mapping[str, tuple[ProfileRow, ...]]


class RunJobs:
    """Finds jobs when they are asked for, and keeps them until the profiles change in which they were found.

    The runs of several rows may be ranks of one job (`test_rank_0`, `test_rank_1`) if their paths are alike.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: Cache[str, _FoundJobs] = Cache(MOST_KEPT)
        self._row_of: dict[str, str] = {}
        self._rows: Rows = WeakKeyDictionary()
        self._alike: tuple[Mapping[str, Source], Mapping[str, list[str]]] = {}, {}
        self._members: tuple[int, dict[str, Mapping[str, Profiles]]] = -1, {}

    def members(
        self, row: str, sources: Mapping[str, Source], version: int, profiles: Callable[[str], Mapping[str, Profiles]]
    ) -> Mapping[str, Profiles]:
        """Return the runs in which ranks of the jobs of a row may be, with what they have; the row itself included.

        sources are all rows, version changes whenever a row does, profiles returns what the runs of a row have.
        """
        with self._lock:
            if self._alike[0] is not sources:
                rows: dict[str, list[str]] = {}
                for key, source in sources.items():
                    if source.profile_dirs or any(rank.profile_dirs for rank in source.ranks):
                        rows.setdefault(alike(source.path), []).append(key)
                self._alike = sources, rows
                self._forget_deleted(sources)
            if self._members[0] != version:
                self._members = version, {}
            together = self._alike[1].get(alike(sources[row].path), [row]) if row in sources else [row]
            known = self._members[1].get(together[0])
            if known is None:
                known = self._members[1][together[0]] = {run: one for key in together for run, one in profiles(key).items()}
                if known:
                    self._row_of[next(iter(known))] = together[0]
            return known

    def _forget_deleted(self, sources: Mapping[str, Source]) -> None:
        """Forget the jobs of rows that are gone: with their frames they would stay until as many others have been found."""
        for run in [run for run, row in self._row_of.items() if row not in sources]:
            del self._row_of[run]
            self._found.pop(run)

    def profiles(self, members: Mapping[str, Profiles], run: str) -> Sequence[ProfileRow]:
        """Return the profiles of a run; members are the runs in which ranks of its jobs may be, with what they have."""
        return self._look(members).profiles.get(run, ())

    def job(self, members: Mapping[str, Profiles], name: Name) -> FoundJob | None:
        """Return the job to which a profile belongs; None for an unknown one."""
        return self._look(members).jobs.get(name)

    def _look(self, members: Mapping[str, Profiles]) -> _FoundJobs:
        if not members:
            return _FoundJobs({}, {}, {})
        first = next(iter(members))
        with self._lock:
            known = self._found.get(first)
            if known is None or (known.of is not members and not _same(known.of, members)):
                known = _find(members, self._rows)
                self._found.put(first, known)
            return known


def _same(known: Mapping[str, Profiles], members: Mapping[str, Profiles]) -> bool:
    return known.keys() == members.keys() and all(known[run] is profiles for run, profiles in members.items())


def _find(members: Mapping[str, Profiles], known: Rows) -> _FoundJobs:
    if len(members) == 1:
        (run, profiles) = next(iter(members.items()))
        names = {session.name: (run, session.name) for session in profiles.sessions}
        jobs: Iterable[Job] = profiles.jobs
    else:
        sessions: list[Session] = []
        names = {}
        for run, profiles in members.items():
            for session in profiles.sessions:
                name = run if session.name == "." else f"{run}/{session.name}"
                names[name] = (run, session.name)
                sessions.append(replace(session, name=name))
        jobs = map(Job, find_jobs(sorted(sessions, key=lambda session: session.name)))
    found: dict[Name, FoundJob] = {}
    alone: dict[str, list[ProfileRow]] = {}
    for job in jobs:
        one = _found_job(job, names)
        found |= dict.fromkeys(one.members, one)
        for session in job.files.whole:
            run, of = names[session.name]
            found[run, of, WHOLE] = one
            if not one.members:
                alone.setdefault(run, []).append(_row_of_whole(of, session, one))
    rows = {}
    for run, profiles in members.items():
        own = [_row_of(profile, found[run, *key].frames, known) for key, profile in profiles.items()]
        rows[run] = tuple(sorted((*own, *alone.get(run, ())), key=lambda row: (row.session, row.rank)))
    return _FoundJobs(members, found, rows)


def _row_of(profile: Profile, frames: tuple[str, ...], known: Rows) -> ProfileRow:
    """Return the row of a profile, which is the same until its files or its job change."""
    of, row = known.get(profile, ((), None))
    if row is None or of != frames:
        row = row_of(profile, frames)
        known[profile] = frames, row
    return row


def _found_job(job: Job, names: Mapping[str, tuple[str, str]]) -> FoundJob:
    members = tuple((*names[member.session], member.rank) for member in job.files.members)
    return FoundJob(job, members, tuple(name for name in JOB_FRAMES if job.gives(name)), _mark_of(job.files))


def _mark_of(files: JobFiles) -> str:
    mark = hashlib.blake2b(digest_size=16)
    for some in (*(member.files for member in files.members), *(session.files for session in files.whole)):
        told = "".join([f"{one.path}\0{one.size}\0{one.mtime_ns}\n" for one in some])
        mark.update(told.encode("utf-8", "surrogateescape"))
    return mark.hexdigest()


def _row_of_whole(name: str, session: Session, found: FoundJob) -> ProfileRow:
    files = session.files
    newest = max((file.mtime_ns / 1e9 for file in files), default=0.0)
    size = sum(file.size for file in files)
    return ProfileRow(name, WHOLE, "", tuple(file.name for file in files), size, newest, found.frames, found.mark)
