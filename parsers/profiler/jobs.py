"""Finds the jobs among the sessions of a run: the sessions and ranks that ran together.

A session with several ranks is one job (a legacy directory). Sessions of one rank belong together if their paths are equal
without rank, host, process and time (`rank_3`, `<host>_<pid>_<time>_ascend_ms`; `rank{r}_start{a}_stop{b}` keeps a and b) and
if they tell no different number of ranks. A rank that occurs several times was profiled several times: the k-th sessions of all
ranks, by their start, are one job. Groups of ranks that have other ids in one session than in another prove that these are two
jobs, so they are never joined. What `cluster_analysis_output` holds belongs to the job beside it; alone it is a job.

Only names and the small files profiler_info and profiler_metadata are read.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import google_crc32c
import msgspec

from parsers.caches import Cache
from parsers.files import RegularFile
from parsers.model import Problem
from parsers.names import CLUSTER_OUTPUT
from parsers.profiler.groups import MOST_RANKS
from parsers.profiler.job_files import CLUSTER_ANALYSE
from parsers.profiler.registry import INFO, METADATA
from parsers.profiler.sessions import OF_JOB, ProfileFile, Session
from parsers.profiler.trace.files import CHROME_TRACE
from parsers.trace_heads import head_of

_RANK = re.compile(r"(?<![a-zA-Z])((?:rank|device)[_-]?)\d{1,9}(?!\d)", re.IGNORECASE)
_STAMP = re.compile(r"(?:([^/]*)_)?(?<=_)\d+_(\d{14,20})(?=_ascend_(?:ms|pt)\b)|(?<!\d)(\d{14,20})(?=_ascend_(?:ms|pt)\b)")
_SIZE = re.compile(r"_\d+_(\d+)_\d+\.csv")
_LONGEST = 4 << 20
"""Bytes of a file about a session that is read to find jobs; a group of 10,000 ranks takes 60 kB."""
_FEW = 8
"""Ranks named in a sentence."""


@dataclass(frozen=True, slots=True)
class JobMember:
    """One rank of a job: name and directory of its session, rank, host ("" for unknown), its files."""

    session: str
    path: str
    rank: int
    host: str
    files: tuple[ProfileFile, ...]


@dataclass(frozen=True, slots=True)
class JobFiles:
    """The files of a job: a name unique in the run, members by rank, sessions about all ranks, what the user should know.

    size is the number of ranks that the files tell, at most MOST_RANKS; 0 for unknown. parallel is the size of each parallel
    dimension by its name in profiler_metadata: `tensor_model_parallel_size` ... schedule and micro_batches are pp_type and
    microbatch_num of pp_info there; "" and 0 where no file tells them, or not all the same.
    """

    name: str
    members: tuple[JobMember, ...]
    whole: tuple[Session, ...] = ()
    size: int = 0
    parallel: tuple[tuple[str, int], ...] = ()
    problems: tuple[Problem, ...] = ()
    schedule: str = ""
    micro_batches: int = 0

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that have files of their own."""
        return tuple(member.rank for member in self.members)

    @property
    def missing(self) -> tuple[int, ...]:
        """The ranks below `size` without files of their own; none where files of ranks beyond it show that it is wrong."""
        own = set(self.ranks)
        if any(rank >= self.size for rank in own):
            return ()
        return tuple(rank for rank in range(self.size) if rank not in own)


@dataclass(slots=True)
class _RankSession:
    """A session of one rank, and what it tells: number of ranks, start, ids of groups by (how they are named, their ranks)."""

    session: Session
    rank: int
    size: int = 0
    start: tuple[str, int] = ("", 0)
    groups: Mapping[tuple[str, bytes], frozenset[str]] = field(default_factory=dict)
    parallel: tuple[tuple[str, int], ...] = ()
    pipeline: tuple[str, int] = ("", 0)
    problems: list[Problem] = field(default_factory=list)


def find_jobs(sessions: Sequence[Session]) -> tuple[JobFiles, ...]:
    """Return the jobs of these sessions, in the order of their first session."""
    whole = [session for session in sessions if session.files and not session.ranks]
    found: list[JobFiles] = []
    by_path: dict[str, list[_RankSession]] = {}
    lists = _Lists()
    for session in sessions:
        if len(session.ranks) > 1:
            found.append(_legacy(session))
        elif session.ranks:
            by_path.setdefault(alike(session.path), []).append(_told(session, session.ranks[0], lists))
    for ones in by_path.values():
        found += _jobs_of(ones)
    found = [_with_whole(job, own) for job, own in zip(found, _placed(found, whole), strict=True)]
    taken = {id(session) for job in found for session in job.whole}
    found += [JobFiles(session.name, (), (session,)) for session in whole if id(session) not in taken]
    place = {session.name: number for number, session in enumerate(sessions)}
    return tuple(_named(sorted(found, key=lambda job: min(place[name] for name in _sessions_of(job)))))


def _sessions_of(job: JobFiles) -> list[str]:
    return [member.session for member in job.members] or [session.name for session in job.whole]


def _named(jobs: list[JobFiles]) -> Iterable[JobFiles]:
    """Give jobs of one name numbers."""
    seen: dict[str, int] = {}
    for job in jobs:
        seen[job.name] = number = seen.get(job.name, 0) + 1
        yield job if number == 1 else replace(job, name=f"{job.name} ({number})")


def alike(path: str) -> str:
    """Return what the paths of all ranks of a job share: `*` in place of rank, host, process and time."""
    return _STAMP.sub("*", _RANK.sub(r"\1*", path))


def _legacy(session: Session) -> JobFiles:
    by_rank: dict[int, list[ProfileFile]] = {rank: [] for rank in session.ranks}
    for file in session.files:
        if file.kind not in OF_JOB:
            by_rank[file.rank].append(file)
    members = tuple(JobMember(session.name, session.path, rank, "", tuple(files)) for rank, files in by_rank.items())
    problems: list[Problem] = []
    told = (size(files, problems) for files in by_rank.values() for size in (_size_in_names, _size_in_traces))
    size = max(told, default=0)
    own = (session,) if any(file.kind in OF_JOB for file in session.files) else ()
    return JobFiles(session.name, members, own, size, problems=(*problems[:_FEW], *_beyond(session.path, members, size)))


def _size_in_names(files: Iterable[ProfileFile], problems: list[Problem]) -> int:
    found = ((file.path, _SIZE.search(file.name)) for file in files if file.kind == CLUSTER_ANALYSE.name)
    return max((_size_told(match[1], path, problems) for path, match in found if match is not None), default=0)


def _size_in_traces(files: Iterable[ProfileFile], problems: list[Problem]) -> int:
    """Return the number of ranks that traces of torch state at their beginning, which was read to find them."""
    stated = ((file.path, head_of(file.path).ranks) for file in files if file.kind == CHROME_TRACE.name)
    return max((_size_told(ranks, path, problems) for path, ranks in stated), default=0)


def _size_told(value: Any, path: str, problems: list[Problem]) -> int:
    """Return the number of ranks that a file tells; 0 for none and for one above MOST_RANKS, which is reported."""
    size = _whole(value)
    if size <= MOST_RANKS:
        return size
    text = f"Expected a job of at most {MOST_RANKS:,} ranks, found {str(value)[:40]}; the number of ranks is taken as unknown."
    problems.append(Problem(path, 0, 0, "bad_table", text))
    return 0


def _beyond(path: str, members: Sequence[JobMember], size: int) -> tuple[Problem, ...]:
    """Report ranks that a job of this size cannot have."""
    beyond = [member.rank for member in members if size and member.rank >= size]
    if not beyond:
        return ()
    told = "1 rank" if size == 1 else f"{size:,} ranks"
    text = f"The files tell of {told}, yet there are files of rank {_listed(beyond)}; all of them are shown."
    return (Problem(path, 0, 0, "bad_table", text),)


def _listed(ranks: Sequence[int]) -> str:
    shown = ", ".join(map(str, ranks[:_FEW]))
    return f"{shown} and {len(ranks) - _FEW:,} more" if len(ranks) > _FEW else shown


# What a session tells --------------------------------------------------------------------------------------------------------


class _SessionGroup(msgspec.Struct):
    group_name: str = ""
    global_ranks: msgspec.Raw = msgspec.Raw(b"")


class _JobMetadata(msgspec.Struct):
    distributed_args: dict[str, Any] = {}
    parallel_group_info: dict[str, _SessionGroup] = {}
    pp_info: Any = None


class _Info(msgspec.Struct):
    rank_size: Any = None
    profiling_start_time: Any = None
    end_info: dict[str, Any] = {}


def _told(session: Session, rank: int, lists: _Lists) -> _RankSession:
    one = _RankSession(session, rank)
    kinds = {file.kind: file for file in reversed(session.files)}
    sizes = [_size_in_names(session.files, one.problems), _size_in_traces(session.files, one.problems)]
    start = 0
    if METADATA.name in kinds:
        about = _decoded(kinds[METADATA.name].path, _JobMetadata)
        if about is not None:
            sizes.append(_size_told(about.distributed_args.get("world_size"), kinds[METADATA.name].path, one.problems))
            one.groups = _ids(about.parallel_group_info, lists)
            named = about.distributed_args.items()
            one.pipeline = _pipeline(about.pp_info)
            one.parallel = tuple((name, value) for name, value in named if name.endswith("_parallel_size") and _count(value))
    if INFO.name in kinds:
        info = _decoded(kinds[INFO.name].path, _Info)
        if info is not None:
            sizes.append(_size_told(info.rank_size, kinds[INFO.name].path, one.problems))
            start = _count(info.profiling_start_time) or _count(info.end_info.get("collectionTimeEnd"))
    one.size = max(sizes)
    stamp = _STAMP.search(session.path)
    written = min((file.mtime_ns for file in session.files), default=0)
    one.start = ((stamp[2] or stamp[3]) if stamp is not None else "", start or written)
    return one


_LONGEST_SCHEDULE = 40
_T = TypeVar("_T")


def _pipeline(told: Any) -> tuple[str, int]:
    """Return schedule and number of micro batches of pp_info, which may be written as text in JSON."""
    if isinstance(told, str):
        try:
            told = msgspec.json.decode(told.encode("utf-8", "replace"))
        except (msgspec.DecodeError, RecursionError):
            return "", 0
    if not isinstance(told, dict):
        return "", 0
    schedule = told.get("pp_type")
    return str(schedule)[:_LONGEST_SCHEDULE] if isinstance(schedule, str) else "", _count(told.get("microbatch_num"))


def _decoded(path: str, kind: type[_T]) -> _T | None:
    """Decode a small JSON file; None for one that cannot be read, which its frames report."""
    try:
        with RegularFile(path) as file:
            data = file.read(0, min(file.size, _LONGEST))
        return msgspec.json.decode(data, type=kind, strict=False)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _count(value: Any) -> int:
    number = _whole(value)
    return number if number < 2**63 else 0


def _whole(value: Any) -> int:
    """Return a whole number above 0; 0 for anything else."""
    try:
        return max(int(value), 0)
    except (TypeError, ValueError, OverflowError):
        return 0


class _Lists:
    """Hashes of lists of ranks, as written. Every rank of a large job has the same long ones, which are hashed once."""

    LONG = 1 << 12
    MOST = 16

    def __init__(self) -> None:
        self._known: Cache[int, tuple[bytes, bytes]] = Cache(self.MOST)

    def hashed(self, ranks: bytes) -> bytes:
        """Return the hash of a list."""
        if len(ranks) < self.LONG:
            return hashlib.blake2b(ranks, digest_size=16).digest()
        mark = google_crc32c.value(ranks)
        known = self._known.get(mark)
        if known is None or known[0] != ranks:
            known = ranks, hashlib.blake2b(ranks, digest_size=16).digest()
            self._known.put(mark, known)
        return known[1]


def _ids(groups: Mapping[str, _SessionGroup], lists: _Lists) -> Mapping[tuple[str, bytes], frozenset[str]]:
    """Return the names of groups by what they are: kind and hash of the ranks. Groups of one rank prove nothing."""
    found: dict[tuple[str, bytes], set[str]] = {}
    for name, group in groups.items():
        ranks = bytes(group.global_ranks)
        if b"," in ranks:
            found.setdefault((group.group_name, lists.hashed(ranks)), set()).add(name)
    return {what: frozenset(names) for what, names in found.items()}


# Sessions of one rank each ---------------------------------------------------------------------------------------------------


def _jobs_of(ones: list[_RankSession]) -> list[JobFiles]:
    """Return the jobs of sessions whose paths are alike."""
    sizes = sorted({one.size for one in ones if one.size})
    if len(sizes) > 1:
        unknown = [one for one in ones if not one.size]
        sets = [[one for one in ones if one.size == size] for size in sizes] + ([unknown] if unknown else [])
    else:
        sets = [ones]
    parts = [part for each in sets for part in _proven_apart(each)]
    reason = "groups of ranks with other ids" if len(parts) > len(sets) else "other numbers of ranks"
    jobs = [job for part in parts for job in _captures(part)]
    if len(parts) > 1:
        text = f"The sessions here are of {len(parts)} jobs, since their files tell {reason}; they are shown apart."
        told = Problem(_above([one.session.path for one in ones]), 0, 0, "bad_table", text)
        jobs[0] = replace(jobs[0], problems=(*jobs[0].problems, told))
    return jobs


def _proven_apart(ones: list[_RankSession]) -> list[list[_RankSession]]:
    """Split sessions by the ids of groups: two that know a group of the same ranks by other ids are of two jobs."""
    parts: list[tuple[dict[tuple[str, bytes], frozenset[str]], list[_RankSession]]] = []
    unknown: list[_RankSession] = []
    for one in sorted(ones, key=lambda one: (one.start, one.session.name)):
        if not one.groups:
            unknown.append(one)
            continue
        for known, members in parts:
            shared = one.groups.keys() & known.keys()
            if all(one.groups[what] & known[what] for what in shared):
                known.update(one.groups)
                members.append(one)
                break
        else:
            parts.append((dict(one.groups), [one]))
    found = [members for _, members in parts]
    if not found:
        return [unknown]
    found[0] += unknown
    return found


def _captures(ones: list[_RankSession]) -> list[JobFiles]:
    """Return the k-th session of each rank as one job."""
    by_rank: dict[int, list[_RankSession]] = {}
    for one in sorted(ones, key=lambda one: (one.rank, one.start, one.session.name)):
        by_rank.setdefault(one.rank, []).append(one)
    number = max(map(len, by_rank.values()))
    jobs = []
    for place in range(number):
        members = [mine[place] for mine in by_rank.values() if place < len(mine)]
        size = max(one.size for one in members)
        made = tuple(map(_member, members))
        name = made[0].session if len(made) == 1 else alike(made[0].session)
        whole = tuple(one.session for one in members if any(file.kind in OF_JOB for file in one.session.files))
        path = _above([member.path for member in made])
        parallel = next((one.parallel for one in members if one.parallel), ())
        refused = [problem for one in members for problem in one.problems][:_FEW]
        schedule, micro_batches, differ = _told_pipeline(members)
        problems = (*refused, *_beyond(path, made, size), *differ)
        jobs.append(JobFiles(name, made, whole, size, parallel, problems, schedule, micro_batches))
    twice = [rank for rank, mine in by_rank.items() if len(mine) > 1]
    if twice:
        subject = f"Rank {twice[0]} occurs" if len(twice) == 1 else f"Ranks {_listed(twice)} occur"
        text = f"{subject} up to {number} times in this directory; they are shown as {number} jobs, in the order of time."
        told = Problem(_above([one.session.path for one in ones]), 0, 0, "bad_table", text)
        jobs[0] = replace(jobs[0], problems=(*jobs[0].problems, told))
    return jobs


def _told_pipeline(members: Sequence[_RankSession]) -> tuple[str, int, tuple[Problem, ...]]:
    """Return schedule, number of micro batches, and what is wrong if ranks tell different ones."""
    told = {one.pipeline: one for one in members if one.pipeline != ("", 0)}
    if len(told) < 2:
        return *next(iter(told), ("", 0)), ()
    (first, of), (second, other) = list(told.items())[:2]
    found = f"{first[0] or 'no pp_type'} with {first[1]} micro batches (rank {of.rank})"
    found += f" and {second[0] or 'no pp_type'} with {second[1]} (rank {other.rank})"
    text = f"Expected the same pp_info in all ranks, found {found}; none of them is used."
    return "", 0, (Problem(_above([one.session.path for one in members]), 0, 0, "bad_table", text),)


def _member(one: _RankSession) -> JobMember:
    return JobMember(one.session.name, one.session.path, one.rank, _host(one.session), _own(one.session))


def _own(session: Session) -> tuple[ProfileFile, ...]:
    return tuple(file for file in session.files if file.kind not in OF_JOB)


def _host(session: Session) -> str:
    """Return the host in the name of a directory; "" for another name."""
    stamp = _STAMP.search(session.path)
    return (stamp[1] or "") if stamp is not None else ""


def _above(paths: Sequence[str]) -> str:
    if len(paths) == 1:
        return paths[0]
    try:
        return os.path.commonpath(paths)
    except ValueError:
        return paths[0]


# Files about all ranks -------------------------------------------------------------------------------------------------------


def _placed(jobs: Sequence[JobFiles], whole: Sequence[Session]) -> list[tuple[Session, ...]]:
    """Return for each job the sessions about all ranks beside it; of several jobs in one place the first one."""
    tops = [_above([member.path for member in job.members]) for job in jobs]
    own: list[list[Session]] = [[] for _ in jobs]
    for session in whole:
        beside = os.path.dirname(session.path) if os.path.basename(session.path) == CLUSTER_OUTPUT else session.path
        inside = os.path.join(beside, "")
        place = next((number for number, top in enumerate(tops) if top == beside or top.startswith(inside)), None)
        if place is not None:
            own[place].append(session)
    return [tuple(mine) for mine in own]


def _with_whole(job: JobFiles, own: tuple[Session, ...]) -> JobFiles:
    return replace(job, whole=(*job.whole, *own)) if own else job
