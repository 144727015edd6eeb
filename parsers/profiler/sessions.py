"""Finds the sessions in profiler directories and their files, from names alone; ranks also from small JSON files.

A session is a directory with files of a profiler: `profiler/` itself, `<host>_<pid>_<time>_ascend_ms` with its
ASCEND_PROFILER_OUTPUT and FRAMEWORK, or any directory that holds only the files. Files in those subdirectories, and in those
of CANN's `PROF_*/device_<n>/...` at any depth, belong to the session. Other directories below are separate sessions:
`profiler/rank-0_<time>_ascend_ms`, `rank0_start1_stop2/...`.

The rank of a file is the number at the end of its name (`kernel_details_3.csv`, `cpu_op_type_info_0.csv`). A file below
`PROF_*/device_<n>` has rank n if other files of its session have it. A file without one has the rank of its session: that of
profiler_info_<rank>.json, else of profiler_metadata.json, else of a directory named rank_<n> or rank<n> above, else 0.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import zip_longest

from parsers.errors import FormatError
from parsers.model import Problem
from parsers.names import CLUSTER_OUTPUT, PROFILE_NAME, printable
from parsers.profiler.json_files import read_json
from parsers.profiler.memory.snapshots import MEMORY_SNAPSHOT
from parsers.profiler.registry import FILE_KINDS, INFO, METADATA, classify
from parsers.profiler.trace.files import CHROME_TRACE
from parsers.snapshot_heads import ENDINGS, rank_of
from parsers.trace_heads import head_of

PARTS = re.compile(r"ASCEND_PROFILER_OUTPUT|FRAMEWORK|PROF_.*|mindstudio_profiler_output|mindstudio_profiler_log")
_BELOW = re.compile(rf"{PARTS.pattern}|{CLUSTER_OUTPUT}|device_\d+|rank[_-]?\d+.*")
_WITHIN = re.compile(r"(?:^|[\\/])PROF_[^\\/]*[\\/]")
_DEVICE = re.compile(r"(?:^|[\\/])PROF_[^\\/]*[\\/](?:.*[\\/])?device_(\d{1,9})[\\/]")
DEEPEST = 6
MOST_FILES = 400_000
"""Maximum profiler files of one run: 40 of each of 10,000 ranks."""
_ENDINGS = re.compile(r"(?:\.pt)?(?:\.trace)?\.json(?:\.gz)?$|\.(?:pickle|pkl)$")
_RANK = re.compile(r"(?:^|[^a-z])rank[_-]?(\d{1,9})(?:$|[^\d])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ProfileFile:
    """A file of a session: path, name below the session, kind (a name in FILE_KINDS), rank, size in bytes and mtime in ns."""

    path: str
    name: str
    kind: str
    rank: int
    size: int
    mtime_ns: int


def files_below(directories: Sequence[str]) -> Iterator[str]:
    """Yield the paths of all files of profiler directories, of any kind; linked directories are not followed."""
    return (path for directory in directories for _, path in _files(directory, []))


def extent(directories: Sequence[str]) -> tuple[int, float]:
    """Return bytes and newest mtime in seconds of the profiler files in these directories; (0, 0.0) if there are none."""
    size, newest, left = 0, 0.0, MOST_FILES
    named = frozenset(directories)
    for path in files_below(directories):
        if _classified(path, named) is None:
            continue
        left -= 1
        if left < 0:
            break
        try:
            status = os.stat(path)
        except OSError:
            continue
        size, newest = size + status.st_size, max(newest, status.st_mtime)
    return size, newest


@dataclass(frozen=True, slots=True)
class Session:
    """A session: name below the run's directory ("." for it), path, files."""

    name: str
    path: str
    files: tuple[ProfileFile, ...]

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks of its files; files about all ranks of a job have none."""
        return tuple(sorted({file.rank for file in self.files if file.kind not in OF_JOB}))


def find_sessions(run: str, directories: Sequence[str]) -> tuple[tuple[Session, ...], tuple[Problem, ...]]:
    """Return the sessions in profiler directories of a run by name, and what could not be accessed."""
    found: dict[str, list[tuple[str, str, int | None, os.stat_result]]] = {}
    problems: list[Problem] = []
    left = MOST_FILES
    named = frozenset(directories)
    for directory in directories:
        for session, path in _files(directory, problems):
            known = _classified(path, named)
            if known is None:
                continue
            left -= 1
            if left < 0:
                text = f"There are more than {MOST_FILES:,} profiler files; the others are not shown."
                problems.append(Problem(directory, 0, 0, "bad_table", text))
                break
            try:
                status = os.stat(path)
            except OSError as error:
                problems.append(Problem(path, 0, 0, "unreadable", f"The file cannot be accessed ({error.strerror})."))
                continue
            found.setdefault(session, []).append((path, *known, status))
    sessions = []
    for path, entries in found.items():
        ranks = {entry[2] for entry in entries} - {None}
        rank = _rank_of(path, [(entry[1], entry[0]) for entry in entries], ranks)
        above = len(os.path.join(path, ""))
        files = tuple(
            ProfileFile(
                file,
                _shown(file[above:]),
                kind,
                own if own is not None else _device_of(file[above:], ranks, rank),
                status.st_size,
                status.st_mtime_ns,
            )
            for file, kind, own, status in sorted(entries, key=lambda entry: entry[0])
        )
        sessions += _by_recording(Session(_shown(os.path.relpath(path, run)), path, files))
    shown = [session for session in sessions if any(file.kind not in ABOUT for file in session.files)]
    return tuple(sorted(shown, key=lambda session: session.name)), tuple(problems)


def _by_recording(session: Session) -> list[Session]:
    """Return a session, or of traces and snapshots alone of which several are of one rank a session for each recording.

    torch writes a trace for each cycle of its schedule, and people keep traces of several programs in one directory. Those of
    one rank each, which have other ranks, stay together.
    """
    traces = [file for file in session.files if file.kind in (CHROME_TRACE.name, MEMORY_SNAPSHOT.name)]
    if len(traces) < len(session.files) or len({(file.kind, file.rank) for file in traces}) == len(traces):
        return [session]
    in_time = sorted(traces, key=lambda file: (file.mtime_ns, file.name))
    by_rank: dict[int, list[ProfileFile]] = {}
    for file in in_time:
        by_rank.setdefault(file.rank, []).append(file)
    if len(by_rank) > 1:
        groups = zip_longest(*by_rank.values())
        recordings = [tuple(file for file in group if file is not None) for group in groups]
        return [Session(f"{session.name} ({number})", session.path, own) for number, own in enumerate(recordings, 1)]
    short = [_ENDINGS.sub("", file.name) or file.name for file in in_time]
    names = [name if short.count(name) == 1 else file.name for name, file in zip(short, in_time, strict=True)]
    above = "" if session.name == "." else f"{session.name}/"
    return [Session(f"{above}{name}", file.path, (file,)) for name, file in zip(names, in_time, strict=True)]


def _classified(path: str, directories: Set[str]) -> tuple[str, int | None] | None:
    """Return kind and rank of a file by its name. A file that stands in place of a directory is a trace or a snapshot of
    any name; a trace that states its rank has that."""
    known = classify(os.path.basename(path))
    snapshot = path.endswith(ENDINGS)
    if known is None and path in directories and not snapshot:
        known = CHROME_TRACE.name, None
    if snapshot and (path in directories or known is not None):
        return MEMORY_SNAPSHOT.name, rank_of(path)
    if known == (CHROME_TRACE.name, None):
        return CHROME_TRACE.name, head_of(path).rank
    return known


def _shown(path: str) -> str:
    return printable(path).replace(os.sep, "/")


ABOUT = (INFO.name, METADATA.name)
"""Kinds of files that describe a session and hold no data."""
OF_JOB = frozenset(kind.name for kind in FILE_KINDS.values() if kind.of_job)
"""Kinds of files about all ranks of a job."""


def _files(directory: str, problems: list[Problem]) -> Iterator[tuple[str, str]]:
    """Yield (directory of the session, path) of every file, also of nested sessions; linked directories are not followed.

    A directory with the name of a profiler directory is searched completely, any other only for profiler output. A file in
    place of a directory is the only one of its session.
    """
    if os.path.isfile(directory):
        yield os.path.dirname(directory), directory
        return
    anything = PROFILE_NAME.fullmatch(os.path.basename(directory)) is not None
    pending = [(directory, directory, 0)]
    while pending:
        path, session, depth = pending.pop()
        try:
            with os.scandir(path) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError as error:
            text = f"The directory cannot be listed ({error.strerror}); its contents are not shown."
            problems.append(Problem(path, 0, 0, "unreadable", text))
            continue
        for entry in entries:
            try:
                below = entry.is_dir(follow_symlinks=False)
            except OSError:
                continue
            if not below:
                yield session, entry.path
            elif depth < DEEPEST and (anything or _BELOW.fullmatch(entry.name) or PROFILE_NAME.fullmatch(entry.name)):
                part = PARTS.fullmatch(entry.name) or _WITHIN.search(os.path.relpath(path, session) + os.sep)
                pending.append((entry.path, session if part else entry.path, depth + 1))


def _rank_of(path: str, files: Sequence[tuple[str, str]], named: set[int | None]) -> int:
    """Return the rank of those files of a session that have none in their names."""
    if len(named) == 1:
        return next(iter(named)) or 0
    for kind, file in files:
        if kind == METADATA.name:
            stated = _stated_rank(file)
            if stated is not None:
                return stated
    for part in reversed(path.split(os.sep)):
        match = _RANK.search(part)
        if match is not None:
            return int(match[1])
    return min((rank for rank in named if rank is not None), default=0)


def _device_of(name: str, named: set[int | None], otherwise: int) -> int:
    """Return the number of the device below whose directory a file is, if other files have it as their rank."""
    device = _DEVICE.search(name)
    return int(device[1]) if device is not None and int(device[1]) in named else otherwise


def _stated_rank(path: str) -> int | None:
    try:
        content = read_json(path)
    except (OSError, FormatError):
        return None
    arguments = content.get("distributed_args") if isinstance(content, dict) else None
    rank = arguments.get("rank") if isinstance(arguments, dict) else None
    return rank if isinstance(rank, int) and 0 <= rank < 10**9 else None
