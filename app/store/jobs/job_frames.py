"""Frames of jobs in the index, and the reading of ranks through it: a rank that is known is not read again.

The columns of each rank are kept, those of some ranks joined, and the frames that were made of all of them. So a new rank costs
only itself, and opening a known job is one read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from app.engines import Engine, Here, RankTask
from app.store.runs.index import Index
from parsers.caches import Cache
from parsers.cluster_frames import JOB_FRAMES
from parsers.errors import FormatError
from parsers.model import Problem
from parsers.profiler import columns, job_merge, snapshot
from parsers.profiler.columns import RankColumns, unpacked
from parsers.profiler.job_access import Files, Job, told_of
from parsers.profiler.job_merge import RankPiece
from parsers.profiler.jobs import JobMember
from parsers.profiler.progress import Cancelled
from parsers.profiler.ranks import columns_of, extent

SMALL_BYTES = 256
"""The columns of ranks with less input are not kept: reading it takes as long."""
TOGETHER = 32
"""Ranks 0 to 31, 32 to 63 and so on are a stretch, whose columns are also kept joined."""
LEAST_JOINED = 4
"""Columns of fewer ranks than this are not joined."""
MOST_JOINED = 64 << 20
"""Nor are those of a stretch with more bytes of input: reading it costs more than joining, and all would be in memory."""
MOST_KNOWN = 1 << 14
"""Records of the index that are known to be the latest; a job of 10,000 ranks has 1,000."""


def key_of_job(job: Job, name: str) -> str:
    """Return the key of a frame of a job; it changes with any file that has a say in frames of jobs."""
    what = f"job {snapshot.FORMAT.version} {columns.FORMAT.version} {name} ".encode()
    return hashlib.blake2b(what + job.digest, digest_size=20).hexdigest()


def key_of_rank(files: Files, what: tuple[str, ...]) -> str:
    """Return the key of the columns of a rank; it changes with the name, size or mtime of any file."""
    head = f"rank {columns.FORMAT.version} {' '.join(what)}".encode()
    return hashlib.blake2b(head + told_of(files), digest_size=20).hexdigest()


def may_be_kept(problems: Sequence[Problem]) -> bool:
    """Return whether what was read may go to the index: the next look may find more where a file could not be read."""
    return not any(problem.kind == "unreadable" for problem in problems)


class LatestOfJobs:
    """What the index has of jobs. What was made of fewer ranks, or of older files, is of no use and is dropped.

    Of MOST_KNOWN records, so that jobs that come and go leave little here; the index drops those of others at its limit.
    """

    def __init__(self) -> None:
        self._keys: Cache[tuple[str, str, str], str] = Cache(MOST_KNOWN)

    def write(self, index: Index, job: Job, what: str, key: str, parts: Sequence[bytes | memoryview]) -> None:
        """Keep something of a job; what names it among all that is kept of the job."""
        members = job.files.members
        of = (job.name, members[0].path if members else "", what)
        older = self._keys.get(of)
        if older is not None and older != key:
            index.delete(older)
        self._keys.put(of, key)
        index.write(key, parts)


Keep = Callable[[str, str, Sequence[bytes | memoryview]], None]
"""Keeps the joined columns of a stretch of ranks: its name in the job, key, parts of the bytes."""


@dataclass(frozen=True, slots=True)
class _WantedRank:
    """A rank whose columns are wanted, the work of reading them, and their key in the index; "" for never kept."""

    member: JobMember
    task: RankTask
    key: str

    def piece(self, found: RankColumns) -> RankPiece:
        return RankPiece.of(self.member, found)


class _Stretch:
    """Ranks of a stretch (see TOGETHER), and the key of their joined columns in the index; "" for never joined."""

    def __init__(self, ranks: Sequence[_WantedRank], what: tuple[str, ...]) -> None:
        self.ranks, self.what = ranks, what
        self.size = sum(one.task.size for one in ranks)
        first = ranks[0].member.rank
        self.name = f"{' '.join(what)} {first // TOGETHER}"
        joinable = first >= 0 and len(ranks) >= LEAST_JOINED and SMALL_BYTES <= self.size <= MOST_JOINED
        self.key = self._key() if joinable else ""

    def _key(self) -> str:
        key = hashlib.blake2b(digest_size=20)
        key.update(f"ranks {columns.FORMAT.version} {' '.join(self.what)}".encode())
        for one in self.ranks:
            key.update(f"\n{one.member.session}\0{one.member.rank}".encode("utf-8", "surrogateescape"))
            key.update(one.key.encode() if one.key else key_of_rank(one.task.files, self.what).encode())
        return key.hexdigest()


@dataclass(frozen=True, slots=True)
class _WhereRanksAre:
    """Where the columns of each rank come from.

    joined are the keys of stretches whose joined columns are in the index, kept the numbers of other ranks whose own columns
    are there, unread the ranks whose files must be read.
    """

    stretches: Sequence[_Stretch]
    joined: frozenset[str]
    kept: frozenset[int]
    unread: Sequence[_WantedRank]


def _where_ranks_are(
    members: Sequence[JobMember], what: tuple[str, ...], is_joined: Callable[[str], bool], is_kept: Callable[[str], bool]
) -> _WhereRanksAre:
    """Return what can be had from the index, and what has to be read. Both questions get keys of the index."""
    stretches = [_Stretch(ranks, what) for ranks in _in_stretches(members, what)]
    joined = frozenset(one.key for one in stretches if is_joined(one.key))
    others = [rank for one in stretches if one.key not in joined for rank in one.ranks]
    kept = frozenset(rank.task.number for rank in others if is_kept(rank.key))
    unread = [rank for rank in others if rank.task.files and rank.task.number not in kept]
    return _WhereRanksAre(stretches, joined, kept, unread)


def _in_stretches(members: Sequence[JobMember], what: tuple[str, ...]) -> Iterator[list[_WantedRank]]:
    number = 0
    for _, together in groupby(members, lambda one: one.rank // TOGETHER):
        ranks = []
        for one in together:
            size = extent(one.files, what)
            key = key_of_rank(one.files, what) if size >= SMALL_BYTES else ""
            ranks.append(_WantedRank(one, RankTask(number, one.files, what, size), key))
            number += 1
        yield ranks


class _InTurn:
    """Columns of ranks in the order in which they are asked for; they come in any."""

    def __init__(self, arriving: Iterator[tuple[int, RankColumns]]) -> None:
        """arriving yields the columns with the number of the task."""
        self._arriving = arriving
        self._held: dict[int, RankColumns] = {}

    def columns(self, number: int) -> RankColumns:
        """Return the columns of a task, once."""
        while number not in self._held:
            arrived, found = next(self._arriving)
            self._held[arrived] = found
        return self._held.pop(number)


class RankReader:
    """Reads ranks for frames of jobs (`job_access.Read`): from the index, or by an engine. Used by one thread.

    Of jobs of many small ranks the index has the joined columns of stretches as well, so that one more of 1,000 ranks takes
    0.6 to 0.75 times as long.
    """

    def __init__(
        self, index: Index | None, engine: Engine, told: Callable[[int], None], is_cancelled: Callable[[], bool], *,
        keep: Keep | None = None,
    ) -> None:  # fmt: skip
        """told is called with the bytes read since the last call; Cancelled is raised once is_cancelled() is true.

        Without keep, ranks are not joined.
        """
        self._index, self._engine = index, engine
        self._told, self._is_cancelled = told, is_cancelled
        self._keep = keep if index is not None else None

    def __call__(self, members: Sequence[JobMember], what: tuple[str, ...]) -> Iterator[RankPiece]:
        """Yield the columns of each rank in the order of members, some joined; of one that could not be read, the reason."""
        where = _where_ranks_are(members, what, self._has_joined, self._has)
        arriving = _InTurn(self._read(where.unread))
        nothing = unpacked(columns_of((), what))

        def read(rank: _WantedRank, *, is_kept: bool) -> RankPiece:
            if not rank.task.files:
                return rank.piece(nothing)
            if is_kept:
                return rank.piece(self._kept(rank))
            return rank.piece(arriving.columns(rank.task.number))

        for stretch in where.stretches:
            is_joined = stretch.key in where.joined
            joined = self._kept_joined(stretch) if is_joined else None
            if joined is None:  # also if the index lost it since: the engine was not asked for its ranks then
                pieces = (read(rank, is_kept=is_joined or rank.task.number in where.kept) for rank in stretch.ranks)
                if self._keep is None or not stretch.key:
                    yield from pieces
                    continue
                joined = self._joined(stretch, pieces, self._keep)
            yield stretch.ranks[0].piece(joined)

    def _read(self, ranks: Sequence[_WantedRank]) -> Iterator[tuple[int, RankColumns]]:
        """Have the engine read ranks, and keep each as it arrives, so that cancelling loses none of these."""
        by_number = {rank.task.number: rank for rank in ranks}
        for task, answer in self._engine.run([rank.task for rank in ranks], self._told, self._is_cancelled):
            yield task.number, self._taken(by_number[task.number], answer)

    def _has_joined(self, key: str) -> bool:
        return self._keep is not None and self._has(key)

    def _has(self, key: str) -> bool:
        return self._index is not None and bool(key) and key in self._index

    def _taken(self, rank: _WantedRank, answer: bytes | Problem) -> RankColumns:
        """Return the columns in an answer, and keep them; an answer that is not valid is the problem of its rank."""
        if isinstance(answer, Problem):
            return RankColumns({}, (answer,))
        try:
            found = unpacked(answer)
        except FormatError as error:
            return RankColumns({}, (rank.task.lost(str(error)),))
        if rank.key and self._index is not None and may_be_kept(found.problems):
            self._index.write(rank.key, [answer])
        return found

    def _kept(self, rank: _WantedRank) -> RankColumns:
        """Return the columns of a rank in the index; if they are gone or damaged meanwhile, it is read."""
        found = self._from_index(rank.key)
        if found is not None:
            self._told(rank.task.size)
            return found
        _, answer = next(Here().run([rank.task], self._told, self._is_cancelled))
        return self._taken(rank, answer)

    def _kept_joined(self, stretch: _Stretch) -> RankColumns | None:
        found = self._from_index(stretch.key)
        if found is not None:
            self._told(stretch.size)
        return found

    def _from_index(self, key: str) -> RankColumns | None:
        """Return what the index has; None, and it is dropped, if it is damaged."""
        if self._is_cancelled():
            raise Cancelled
        data = self._index.read(key) if self._index is not None and key else None
        if data is None:
            return None
        try:
            return unpacked(data)
        except FormatError:
            assert self._index is not None
            self._index.delete(key)
            return None

    @staticmethod
    def _joined(stretch: _Stretch, pieces: Iterable[RankPiece], keep: Keep) -> RankColumns:
        """Join the columns of a stretch and keep them, unless the next look may find more."""
        data, problems = job_merge.packed_pieces(pieces, [JOB_FRAMES[name] for name in stretch.what])
        if may_be_kept(problems):
            keep(stretch.name, stretch.key, [data])
        return unpacked(data)
