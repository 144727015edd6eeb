"""The profiles of a run by session and rank; each frame is read on demand."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from parsers.deferred import pandas as pd
from parsers.errors import FormatError
from parsers.model import Problem, Source
from parsers.profiler.frame_parts import FramePart, FrameReader, ProfileFileKind, ProfileInput, constant, joined
from parsers.profiler.job_access import Job
from parsers.profiler.jobs import find_jobs
from parsers.profiler.json_files import read_json
from parsers.profiler.registry import (
    DERIVED,
    FILE_KINDS,
    FRAME_READERS,
    FRAMES,
    INFO,
    METADATA,
    STEP_POINTS,
    display_name,
    kinds_giving,
)
from parsers.profiler.sessions import OF_JOB, ProfileFile, Session, find_sessions
from parsers.profiler.trace import sources
from parsers.profiler.trace.frames import TraceFrames
from parsers.schema import Schema


class FramesByName:
    """Frames of profiles by name: `frame("operators")`, or as an attribute: `operators`. FRAMES lists them.

    Each matches its schema and may be shared: never write into one.
    """

    def frame(self, name: str) -> pd.DataFrame:
        """Return a frame by its name in FRAMES; KeyError for another name. Never raises for the content of files."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> pd.DataFrame:
        if name in FRAMES:
            return self.frame(name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}; its frames are {', '.join(FRAMES)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *FRAMES]


_TRACE = "trace"


class Profile(FramesByName):
    """The profile of one rank in one session. `files` are those known; `problems` the damage found in those read so far."""

    def __init__(self, session: str, rank: int, files: tuple[ProfileFile, ...]) -> None:
        self.session, self.rank, self.files = session, rank, files
        self._lock = threading.RLock()
        self._frames: dict[str, pd.DataFrame] = {}
        self._problems: dict[str, tuple[Problem, ...]] = {}
        self._together: dict[str, dict[str, FramePart]] = {}
        self._trace: TraceFrames | None = None

    def __repr__(self) -> str:
        return f"Profile({self.session!r}, rank={self.rank}, files={len(self.files)})"

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Damage in the files that have been read."""
        with self._lock:
            return tuple(dict.fromkeys(problem for found in self._problems.values() for problem in found))

    @property
    def device(self) -> str:
        """The device it was taken on, judged by its files: Ascend, GPU or CPU; empty for unknown."""
        found = {FILE_KINDS[kind].device for kind in self.kinds}
        return next((device for device in ("GPU", "Ascend", "CPU") if device in found), "")

    def frame(self, name: str) -> pd.DataFrame:
        """Return a frame by its name in FRAMES, read on first use. A frame without a file is empty."""
        schema = FRAMES[name]
        with self._lock:
            if name not in self._frames:
                self._frames[name] = schema.check(self._read(schema))
                self._add_read_together()
            return self._frames[name]

    def held(self) -> dict[str, tuple[pd.DataFrame, tuple[Problem, ...]]]:
        """Return the frames in memory by name, each with the damage found in its files."""
        with self._lock:
            return {name: (frame, self._problems.get(name, ())) for name, frame in self._frames.items()}

    def put_back(self, name: str, frame: pd.DataFrame, problems: tuple[Problem, ...]) -> None:
        """Set a frame that was read before, as other frames are derived from it."""
        with self._lock:
            self._frames[name], self._problems[name] = frame, problems

    def let_go(self) -> None:
        """Drop all frames; the damage found is kept."""
        with self._lock:
            self._frames.clear()
            self._together.clear()
            self._trace = None

    @property
    def traces(self) -> tuple[str, ...]:
        """Paths of the files that hold a trace of this rank, the best one first."""
        return sources.find(self)

    @property
    def trace(self) -> TraceFrames:
        """What ran when: the best trace of this rank, read on first use. Without one it is empty."""
        with self._lock:
            if self._trace is None:
                files = sources.grouped(self)
                found = sources.read_all(files[0]) if files else sources.empty("")
                self._problems[_TRACE] = found.problems
                self._trace = TraceFrames(found)
            return self._trace

    def wanted(self, name: str) -> tuple[str, ...]:
        """Return the names of the files any of which gives a frame, the usual ones first."""
        return tuple(dict.fromkeys(display_name(kind) for kind in kinds_giving(FRAMES[name])))

    def gives(self, name: str) -> bool:
        """Return whether there is a file that gives a frame."""
        return not self.kinds.isdisjoint(kinds_giving(FRAMES[name]))

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of its files."""
        return frozenset(file.kind for file in self.files)

    def extent(self, name: str) -> int:
        """Return the size in bytes of the files that give a frame."""
        wanted = set(kinds_giving(FRAMES[name]))
        return sum(file.size for file in self.files if file.kind in wanted)

    @property
    def step_points(self) -> Mapping[str, str]:
        """fp_start and bp_end: the operators at which forward begins and backward ends; empty for unknown."""
        return {name: value for name, value in self._object(STEP_POINTS).items() if isinstance(value, str)}

    @property
    def about(self) -> Mapping[str, Any]:
        """Contents of profiler_info and profiler_metadata: version, parallel mode, profiler settings, groups of ranks."""
        return {**self._object(METADATA), **self._object(INFO)}

    def _object(self, kind: ProfileFileKind) -> dict[str, Any]:
        file = next((one for one in self.files if one.kind == kind.name), None)
        if file is None:
            return {}
        try:
            found = read_json(file.path)
        except OSError as error:
            problem = Problem(file.path, 0, 0, "unreadable", f"The file cannot be read ({error.strerror or error}).")
        except FormatError as error:
            problem = Problem(file.path, 0, 0, "bad_table", f"Nothing is taken from the file: {error}.")
        else:
            return found if isinstance(found, dict) else {}
        with self._lock:
            self._problems[kind.name] = (problem,)
        return {}

    def _read(self, schema: Schema) -> pd.DataFrame:
        frames = []
        problems: dict[Problem, None] = {}
        for reader in FRAME_READERS:
            if reader.schema is not schema or self.kinds.intersection(reader.unless):
                continue
            for file in (file for file in self.files if file.kind == reader.file.name):
                part = self._part(reader, file)
                problems |= dict.fromkeys(part.problems)
                frames.append(part.frame)
        self._problems[schema.name] = tuple(problems)
        rows = joined(schema, frames)
        derived = DERIVED.get(schema.name)
        if derived is None:
            return rows
        rows = joined(schema, [rows, derived.compute(self.frame(derived.source.name), rows)])
        # Damage in the frame that rows are derived from concerns them too.
        problems |= dict.fromkeys(self._problems.get(derived.source.name, ()))
        self._problems[schema.name] = tuple(problems)
        return rows

    def _part(self, reader: FrameReader, file: ProfileFile) -> FramePart:
        """Read the rows of a file; of a file that is read for several frames at once, those of the others are kept."""
        if reader.together is None:
            return reader.read(self._input(file))
        known = self._together.get(file.path, {})
        if reader.schema.name not in known:
            known = self._together[file.path] = dict(reader.together(self._input(file)))
        return known.pop(reader.schema.name)

    def _add_read_together(self) -> None:
        """Make the frames that were read beside the one that was asked for, so that the file is not read again for them."""
        names = {name for parts in self._together.values() for name in parts}
        for name in names - self._frames.keys():
            self._frames[name] = FRAMES[name].check(self._read(FRAMES[name]))
        self._together.clear()

    def _input(self, file: ProfileFile) -> ProfileInput:
        beside = {one.kind: ProfileInput(one.path, one.name, {}) for one in reversed(self.files)}
        return ProfileInput(file.path, file.name, beside)


class Profiles(FramesByName, Mapping[tuple[str, int], Profile]):
    """(session, rank) -> profile, by session and then rank. The joined frames begin with columns session and rank."""

    def __init__(self, sessions: tuple[Session, ...], problems: tuple[Problem, ...] = ()) -> None:
        self.sessions = sessions
        self._found = problems
        self._lock = threading.RLock()
        self._jobs: tuple[Job, ...] | None = None
        self._profiles: dict[tuple[str, int], Profile] = {}
        for session in sessions:
            files: dict[int, list[ProfileFile]] = {rank: [] for rank in session.ranks}
            for file in session.files:
                if file.kind not in OF_JOB:
                    files[file.rank].append(file)
            self._profiles |= {(session.name, rank): Profile(session.name, rank, tuple(own)) for rank, own in files.items()}

    def __repr__(self) -> str:
        return f"Profiles({', '.join(map(repr, self._profiles))})"

    def __len__(self) -> int:
        return len(self._profiles)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return iter(self._profiles)

    def __getitem__(self, key: tuple[str, int]) -> Profile:
        return self._profiles[key]

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs: sessions and ranks that ran together, in the order of their first session."""
        with self._lock:
            if self._jobs is None:
                self._jobs = tuple(map(Job, find_jobs(self.sessions)))
            return self._jobs

    def keep_jobs(self, old: Profiles) -> None:
        """Take over the jobs of the same files from an earlier look, with the frames they hold."""
        with self._lock, old._lock:
            if old._jobs:
                known = {job.files: job for job in old._jobs}
                self._jobs = tuple(known.get(job.files, job) for job in self.jobs)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Files and directories that could not be accessed, and damage in the files that have been read."""
        return self._found + tuple(problem for profile in self._profiles.values() for problem in profile.problems)

    def frame(self, name: str) -> pd.DataFrame:
        """Return the rows of all profiles, with columns session and rank in front."""
        schema = FRAMES[name]
        frames = [_marked(profile.frame(name), *key) for key, profile in self._profiles.items()]
        return joined(schema, frames or [_marked(schema.empty(), "", 0)])


def _marked(frame: pd.DataFrame, session: str, rank: int) -> pd.DataFrame:
    marks = {"session": constant(session, len(frame)), "rank": np.full(len(frame), rank, np.int64)}
    return pd.DataFrame(marks | {name: frame[name].array for name in frame.columns}, copy=False)


class RunProfiles:
    """Finds the profiles of one run. `current` are those known; their frames are read on demand."""

    def __init__(self) -> None:
        self.current = Profiles(())

    def refresh(self, source: Source) -> bool:
        """Look for the files of profiles; return whether any came, went or changed. Unchanged profiles keep their frames."""
        directories = dict.fromkeys(path for each in (source, *source.ranks) for path in each.profile_dirs)
        sessions, problems = find_sessions(source.path, tuple(directories)) if directories else ((), ())
        old = self.current
        if sessions == old.sessions and problems == old._found:
            return False
        new = Profiles(sessions, problems)
        for key, profile in new._profiles.items():
            known = old._profiles.get(key)
            if known is not None and known.files == profile.files:
                new._profiles[key] = known
        new.keep_jobs(old)
        self.current = new
        return True
