"""The profiles of a run by session and rank, each read when one of its frames is asked for."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from parsers.errors import FormatError
from parsers.frames import (
    API,
    CPU,
    FLOPS,
    FLOPS_SCOPES,
    HOST_MEMORY,
    KERNELS,
    OPERATOR_TYPES,
    OPERATORS,
    PIPELINE,
    QUEUES,
    REDUCES,
    STEPS,
)
from parsers.model import Problem, Source
from parsers.profiler.derived import operators_of, types_of
from parsers.profiler.documents import read_json
from parsers.profiler.parts import ProfileInput, constant, joined
from parsers.profiler.producers import PRODUCERS, givers, shown_name
from parsers.profiler.sessions import ProfileFile, Session, find_sessions
from parsers.schema import Schema

FRAMES: Mapping[str, Schema] = {
    schema.name: schema
    for schema in (OPERATORS, OPERATOR_TYPES, KERNELS, STEPS, REDUCES, PIPELINE, QUEUES, CPU, HOST_MEMORY, API, FLOPS,
                   FLOPS_SCOPES)
}


class Frames:
    """Frames of profiles by name; each matches its schema and may be shared: never write into one."""

    def frame(self, name: str) -> pd.DataFrame:
        """The frame of a name in FRAMES; KeyError for another name. Never raises for what is in files."""
        raise NotImplementedError

    @property
    def operators(self) -> pd.DataFrame:
        """What operators took (schema OPERATORS)."""
        return self.frame("operators")

    @property
    def operator_types(self) -> pd.DataFrame:
        """What operators took by type (schema OPERATOR_TYPES)."""
        return self.frame("operator_types")

    @property
    def kernels(self) -> pd.DataFrame:
        """Single executions (schema KERNELS)."""
        return self.frame("kernels")

    @property
    def steps(self) -> pd.DataFrame:
        """What steps are made of (schema STEPS)."""
        return self.frame("steps")

    @property
    def reduces(self) -> pd.DataFrame:
        """Gradient aggregation within legacy steps (schema REDUCES)."""
        return self.frame("reduces")

    @property
    def pipeline(self) -> pd.DataFrame:
        """Operations of the data set pipeline (schema PIPELINE)."""
        return self.frame("pipeline")

    @property
    def queues(self) -> pd.DataFrame:
        """Queues as data went through (schema QUEUES)."""
        return self.frame("queues")

    @property
    def cpu(self) -> pd.DataFrame:
        """Use of the CPU (schema CPU)."""
        return self.frame("cpu")

    @property
    def host_memory(self) -> pd.DataFrame:
        """Memory of the host (schema HOST_MEMORY)."""
        return self.frame("host_memory")

    @property
    def api(self) -> pd.DataFrame:
        """Calls of the host into the runtime (schema API)."""
        return self.frame("api")

    @property
    def flops(self) -> pd.DataFrame:
        """Floating point operations of a step by unit (schema FLOPS)."""
        return self.frame("flops")

    @property
    def flops_scopes(self) -> pd.DataFrame:
        """Floating point operations of scopes (schema FLOPS_SCOPES)."""
        return self.frame("flops_scopes")


class Profile(Frames):
    """What one rank left in one session. `files` are those known; `problems` the damage found in those read so far."""

    def __init__(self, session: str, rank: int, files: tuple[ProfileFile, ...]) -> None:
        self.session, self.rank, self.files = session, rank, files
        self._lock = threading.RLock()
        self._frames: dict[str, pd.DataFrame] = {}
        self._problems: dict[str, tuple[Problem, ...]] = {}

    def __repr__(self) -> str:
        return f"Profile({self.session!r}, rank={self.rank}, files={len(self.files)})"

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Damage in the files that have been read."""
        with self._lock:
            return tuple(dict.fromkeys(problem for found in self._problems.values() for problem in found))

    @property
    def device(self) -> str:
        """What it was collected on, by its files: Ascend, GPU or CPU; empty for unknown."""
        names = {file.what for file in self.files}
        if names & {"gpu_op_detail_info", "gpu_op_type_info", "gpu_activity_data"}:
            return "GPU"
        if any(what in names for what in _ASCEND):
            return "Ascend"
        return "CPU" if any(what.startswith("cpu_op") for what in names) else ""

    def frame(self, name: str) -> pd.DataFrame:
        """The frame of a name in FRAMES, read when it is first asked for. What has no file is empty."""
        schema = FRAMES[name]
        with self._lock:
            if name not in self._frames:
                self._frames[name] = schema.check(self._read(schema))
            return self._frames[name]

    def held(self) -> dict[str, tuple[pd.DataFrame, tuple[Problem, ...]]]:
        """The frames that have been read or put back, by name, each with the damage found in its files."""
        with self._lock:
            return {name: (frame, self._problems.get(name, ())) for name, frame in self._frames.items()}

    def put_back(self, name: str, frame: pd.DataFrame, problems: tuple[Problem, ...]) -> None:
        """Take a frame that was read before, for others are made from it."""
        with self._lock:
            self._frames[name], self._problems[name] = frame, problems

    def let_go(self) -> None:
        """Hold no frame any longer; the damage found stays known."""
        with self._lock:
            self._frames.clear()

    def wanted(self, name: str) -> tuple[str, ...]:
        """The files of which any gives the frame of a name, as users know them, the usual ones first."""
        return tuple(dict.fromkeys(shown_name(what) for what in givers(FRAMES[name])))

    def gives(self, name: str) -> bool:
        """Whether there is a file of which the frame of a name is made."""
        names = {file.what for file in self.files}
        return not names.isdisjoint(givers(FRAMES[name]))

    def extent(self, name: str) -> int:
        """Bytes of the files that the frame of a name is made of."""
        wanted = set(givers(FRAMES[name]))
        return sum(file.size for file in self.files if file.what in wanted)

    @property
    def step_points(self) -> Mapping[str, str]:
        """fp_start and bp_end: the operators at which forward begins and backward ends; empty for unknown."""
        return {name: value for name, value in self._object("step_trace_points").items() if isinstance(value, str)}

    @property
    def about(self) -> Mapping[str, Any]:
        """What profiler_info and profiler_metadata say: version, parallel mode, settings of the profiler, groups of ranks."""
        return {**self._object("profiler_metadata"), **self._object("profiler_info")}

    def _object(self, what: str) -> dict[str, Any]:
        file = next((one for one in self.files if one.what == what), None)
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
            self._problems[what] = (problem,)
        return {}

    def _read(self, schema: Schema) -> pd.DataFrame:
        names = {file.what for file in self.files}
        frames = []
        problems: dict[Problem, None] = {}
        for producer in PRODUCERS:
            if producer.schema is not schema or names.intersection(producer.unless):
                continue
            for file in (one for one in self.files if one.what == producer.what):
                part = producer.read(self._place(file))
                problems |= dict.fromkeys(part.problems)
                frames.append(part.frame)
        self._problems[schema.name] = tuple(problems)
        made = joined(schema, frames)
        if schema is OPERATORS:
            made = joined(schema, [made, operators_of(self.kernels, made)])
        elif schema is OPERATOR_TYPES:
            made = joined(schema, [made, types_of(self.operators, made)])
        else:
            return made
        # What is wrong where a frame is made from is wrong in it.
        problems |= dict.fromkeys(self._problems.get("kernels" if schema is OPERATORS else "operators", ()))
        self._problems[schema.name] = tuple(problems)
        return made

    def _place(self, file: ProfileFile) -> ProfileInput:
        beside = {one.what: ProfileInput(one.path, one.name, {}) for one in reversed(self.files)}
        return ProfileInput(file.path, file.name, beside)


_ASCEND = (
    "kernel_details", "op_statistic", "step_trace_time", "aicore_detail", "aicore_type", "framework_raw", "database", "msprof",
    "step_trace_raw",
)  # fmt: skip


class Profiles(Frames, Mapping[tuple[str, int], Profile]):
    """(session, rank) -> profile, by session and then rank. Frames of all together begin with columns session and rank."""

    def __init__(self, sessions: tuple[Session, ...], problems: tuple[Problem, ...] = ()) -> None:
        self.sessions = sessions
        self._found = problems
        self._profiles = {
            (session.name, rank): Profile(session.name, rank, tuple(file for file in session.files if file.rank == rank))
            for session in sessions
            for rank in session.ranks
        }

    def __repr__(self) -> str:
        return f"Profiles({', '.join(map(repr, self._profiles))})"

    def __len__(self) -> int:
        return len(self._profiles)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return iter(self._profiles)

    def __getitem__(self, key: tuple[str, int]) -> Profile:
        return self._profiles[key]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be looked at, and damage in the files that have been read."""
        return self._found + tuple(problem for profile in self._profiles.values() for problem in profile.problems)

    def frame(self, name: str) -> pd.DataFrame:
        """The rows of all profiles; of a run with a single one its frame as it is, but for session and rank before it."""
        schema = FRAMES[name]
        frames = [_marked(profile.frame(name), *key) for key, profile in self._profiles.items()]
        return joined(schema, frames or [_marked(schema.empty(), "", 0)])


def _marked(frame: pd.DataFrame, session: str, rank: int) -> pd.DataFrame:
    marks = {"session": constant(session, len(frame)), "rank": np.full(len(frame), rank, np.int64)}
    return pd.DataFrame(marks | {name: frame[name].array for name in frame.columns}, copy=False)


class Profiled:
    """The part of a Run that knows its profiles."""

    source: Source

    def __init__(self) -> None:
        self._profiles: Profiles = Profiles(())
        self._profiled = 0
        super().__init__()

    @property
    def profile(self) -> Profiles:
        """The profiles of this run and, of a job, of its ranks; nothing is read until a frame is asked for."""
        return self._profiles

    def _find_profiles(self) -> bool:
        """Look for profiles; whether any file of them came, went or changed. Those that did not keep what was read."""
        directories = dict.fromkeys(path for one in (self.source, *self.source.ranks) for path in one.profile_dirs)
        sessions, problems = find_sessions(self.source.path, tuple(directories)) if directories else ((), ())
        old = self._profiles
        if sessions == old.sessions and problems == old._found:
            return False
        made = Profiles(sessions, problems)
        for key, profile in made._profiles.items():
            known = old._profiles.get(key)
            if known is not None and known.files == profile.files:
                made._profiles[key] = known
        self._profiles = made
        return True
