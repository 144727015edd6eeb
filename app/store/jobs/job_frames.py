"""Frames of jobs in the index, and the reading of ranks through it: a rank that is known is not read again.

The columns of each rank are kept, and the frames that were made of all of them. So a new rank costs only itself, and opening a
known job is one read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence

from app.engines import Engine, Here, RankTask
from app.store.runs.index import Index
from parsers.errors import FormatError
from parsers.model import Problem
from parsers.profiler import columns, snapshot
from parsers.profiler.columns import RankColumns, unpacked
from parsers.profiler.job_access import Files, Job
from parsers.profiler.progress import Cancelled
from parsers.profiler.ranks import BESIDE, KINDS, columns_of, extent

SMALL_BYTES = 256
"""The columns of ranks with less input are not kept: reading it takes as long."""
_BESIDE = (together for kinds in BESIDE.values() for together in kinds)
_KINDS = frozenset(kind for kinds in (*KINDS.values(), *_BESIDE) for kind in kinds)


def key_of_job(job: Job, name: str) -> str:
    """Return the key of a frame of a job; it changes with any file that has a say in frames of jobs."""
    told = job.files
    key = hashlib.blake2b(digest_size=20)
    key.update(f"job {snapshot.FORMAT.version} {columns.FORMAT.version} {name} {told.parallel}".encode())
    for member in told.members:
        key.update(f"\n{member.session}\0{member.rank}".encode("utf-8", "surrogateescape"))
        _add(key, member.files)
    for session in told.whole:
        key.update(f"\n{session.name}".encode("utf-8", "surrogateescape"))
        _add(key, session.files)
    return key.hexdigest()


def key_of_rank(files: Files, what: tuple[str, ...]) -> str:
    """Return the key of the columns of a rank; it changes with the name, size or mtime of any file."""
    key = hashlib.blake2b(digest_size=20)
    key.update(f"rank {columns.FORMAT.version} {' '.join(what)}".encode())
    _add(key, files)
    return key.hexdigest()


def _add(key: hashlib.blake2b, files: Files) -> None:
    for file in files:
        if file.kind in _KINDS:
            told = f"\n{file.path}\0{file.name}\0{file.size}\0{file.mtime_ns}"
            key.update(told.encode("utf-8", "surrogateescape"))


def may_be_kept(problems: Sequence[Problem]) -> bool:
    """Return whether what was read may go to the index: the next look may find more where a file could not be read."""
    return not any(problem.kind == "unreadable" for problem in problems)


class RankReader:
    """Reads ranks for frames of jobs (`job_access.Read`): from the index, or by an engine. Used by one thread."""

    def __init__(
        self, index: Index | None, engine: Engine, told: Callable[[int], None], is_cancelled: Callable[[], bool]
    ) -> None:
        """told is called with the bytes read since the last call; Cancelled is raised once is_cancelled() is true."""
        self._index, self._engine = index, engine
        self._told, self._is_cancelled = told, is_cancelled

    def __call__(self, files: Sequence[Files], what: tuple[str, ...]) -> Iterator[RankColumns]:
        """Yield the columns of each rank in the order of files; of one that could not be read, the reason."""
        sizes = [extent(one, what) for one in files]
        keys = [key_of_rank(one, what) if size >= SMALL_BYTES else "" for one, size in zip(files, sizes, strict=True)]
        known = [self._index is not None and key in self._index for key in keys]
        tasks = [
            RankTask(number, one, what, size)
            for number, (one, size) in enumerate(zip(files, sizes, strict=True))
            if one and not known[number]
        ]
        run = self._engine.run(tasks, self._told, self._is_cancelled)
        held: dict[int, RankColumns] = {}
        nothing = unpacked(columns_of((), what))
        for number, one in enumerate(files):
            if known[number]:
                yield self._kept(keys[number], RankTask(number, one, what, sizes[number]))
            elif not one:
                yield nothing
            else:
                while number not in held:
                    task, answer = next(run)
                    held[task.number] = self._taken(keys[task.number], task, answer)
                yield held.pop(number)

    def _taken(self, key: str, task: RankTask, answer: bytes | Problem) -> RankColumns:
        """Return the columns in an answer, and keep them; an answer that is not valid is the problem of its rank."""
        if isinstance(answer, Problem):
            return RankColumns({}, (answer,))
        try:
            found = unpacked(answer)
        except FormatError as error:
            return RankColumns({}, (task.lost(str(error)),))
        if key and self._index is not None and may_be_kept(found.problems):
            self._index.write(key, [answer])
        return found

    def _kept(self, key: str, task: RankTask) -> RankColumns:
        """Return the columns of a rank in the index; if they are gone or damaged meanwhile, it is read."""
        assert self._index is not None
        if self._is_cancelled():
            raise Cancelled
        data = self._index.read(key)
        if data is not None:
            try:
                found = unpacked(data)
            except FormatError:
                self._index.delete(key)
            else:
                self._told(task.size)
                return found
        _, answer = next(Here().run([task], self._told, self._is_cancelled))
        return self._taken(key, task, answer)
