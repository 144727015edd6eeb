"""Finds the traces of a profile, and reads any of them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import msgspec
import numpy as np

from parsers.files import RegularFile
from parsers.model import Problem
from parsers.profiler.trace import chrome, databases, joining, tables
from parsers.profiler.trace.building import clock_of
from parsers.profiler.trace.chrome import Progress
from parsers.profiler.trace.columns import CounterValues, Flows, Slices, Trace
from parsers.profiler.trace.files import DATABASE, SOURCES, TABLES
from parsers.profiler.trace.queues import with_queues
from parsers.profiler.trace.times import nanoseconds


class HasKind(Protocol):
    """A file of a profile."""

    @property
    def path(self) -> str:
        """Its path."""

    @property
    def kind(self) -> str:
        """The name of its kind in FILE_KINDS."""

    @property
    def name(self) -> str:
        """Its name below its session."""


class HasFiles(Protocol):
    """A profile: anything with files."""

    @property
    def files(self) -> Sequence[HasKind]:
        """The files, each with path and kind."""


@dataclass(frozen=True, slots=True)
class TraceFiles:
    """A trace of a profile: a file, or the files of one recording, each of which has a part of it."""

    name: str
    """Of the file below its session; `*` stands for what the names of several differ in."""
    paths: tuple[str, ...]


def find(profile: HasFiles) -> tuple[str, ...]:
    """Return the paths of all files with traces of a profile, the best one first."""
    return tuple(path for one in grouped(profile) for path in one.paths)


def grouped(profile: HasFiles) -> tuple[TraceFiles, ...]:
    """Return the traces of a profile, the best one first. Files of one recording are one of them, in order of their numbers.

    A profile without a trace has one that is made of its tables, if it has such.
    """
    found = [file for file in profile.files if file.kind in SOURCES]
    if len(found) == 1:
        return (TraceFiles(found[0].name, (found[0].path,)),)
    if not found:
        of_tables = sorted((file for file in profile.files if file.kind in TABLES), key=lambda file: TABLES.index(file.kind))
        return (TraceFiles(of_tables[0].name, tuple(file.path for file in of_tables)),) if of_tables else ()
    groups: dict[str, list[HasKind]] = {}
    for file in sorted(found, key=lambda file: (SOURCES.index(file.kind), _natural(file.path))):
        groups.setdefault(_PART.sub(r"\1*\2", file.name) if file.kind == "msprof_trace" else file.name, []).append(file)
    return tuple(
        TraceFiles(name if len(files) > 1 else files[0].name, tuple(file.path for file in files))
        for name, files in groups.items()
    )


def read(path: str, *, progress: Progress | None = None) -> Trace:
    """Read a trace of any form; what cannot be read is in its problems.

    progress is called with the bytes read so far and those of the file. It runs in the thread of the caller, and whatever it
    raises ends the reading, as does `parsers.profiler.progress.Cancelled` from a `watched` block.
    """
    try:
        with RegularFile(path) as file:
            head = file.read(0, len(DATABASE))
        if head == DATABASE:
            return databases.read(path, progress)
        if tables.kind_of(path):
            return tables.read(path)
        return _shifted(chrome.read(path, progress))
    except OSError as error:
        text = f"The file cannot be read ({error.strerror or error})."
        return empty(path, Problem(path, 0, 0, "unreadable", text))


def read_all(files: TraceFiles, *, progress: Progress | None = None) -> Trace:
    """Read a trace that one or several files have, as `read` does, with the launch queues of streams; progress is about all."""
    if len(files.paths) == 1:
        return with_queues(read(files.paths[0], progress=progress))
    sizes = [os.path.getsize(path) if os.path.exists(path) else 0 for path in files.paths]
    parts: list[Trace] = []

    def say(done: int, _: int) -> None:
        if progress is not None:
            progress(sum(sizes[: len(parts)]) + done, sum(sizes))

    for path in files.paths:
        parts.append(read(path, progress=say))  # noqa: PERF401 - `say` counts the parts
    return joining.joined(os.path.join(os.path.dirname(files.paths[0]), os.path.basename(files.name)), parts)


def arguments(trace: Trace, row: int) -> dict[str, Any]:
    """Return the arguments of a slice by its row, read from the file; keys and values are as they are there.

    OSError if the file cannot be read any more, LookupError if it has other content now.
    """
    if trace.files:
        path, event = joining.of_file(trace, row)
        columns = {name: getattr(trace.slices, name)[row : row + 1] for name in Slices.__dataclass_fields__}
        alone = Slices(**columns | {"event": np.array([event])})
        return arguments(replace(trace, path=path, files=(), slices=alone), 0)
    with RegularFile(trace.path) as file:
        head = file.read(0, len(DATABASE))
    if tables.kind_of(trace.path):
        return tables.arguments(trace, row)
    return databases.arguments(trace, row) if head == DATABASE else chrome.arguments(trace, row)


def empty(path: str, *problems: Problem) -> Trace:
    """Return a trace without anything."""
    ints, longs = np.empty(0, np.int32), np.empty(0, np.int64)
    slices = Slices(ints, longs, longs, ints, ints, np.empty(0, np.uint8), longs, ints, longs)
    flows, counters = Flows(longs, longs, ints), CounterValues(ints, ints, longs, np.empty(0, np.float64))
    return Trace(path, 0, "relative", (), (), (), (), (), slices, flows, counters, problems)


LONGEST_INFO = 16 << 20
"""Maximum bytes of a profiler_info file."""
_PART = re.compile(r"(msprof(?:_slice_|(?:_\d{1,9})*_\d{1,9}_))\d{1,9}((?:_\d{10,20})?\.json(?:\.gz)?)$")
"""Files of one recording: `msprof_<device>_<model>_<iteration>.json`, `msprof_slice_<n>_<time>.json`."""
_PROFILER_INFO = re.compile(r"profiler_info(?:_(\d{1,9}))?\.json")
_DEVICE = re.compile(r"device_(\d{1,9})")


def _shifted(trace: Trace) -> Trace:
    """Move a trace of msprof to the clock of MindSpore's other files by `diff_time` (us) of profiler_info beside PROF_*."""
    parts = os.path.abspath(trace.path).split(os.sep)
    place = next((place for place, part in enumerate(parts) if part.startswith("PROF_")), 0)
    if not place:
        return trace
    folder = os.sep.join(parts[:place]) or os.sep
    try:
        infos = {match[1]: name for name in sorted(os.listdir(folder)) if (match := _PROFILER_INFO.fullmatch(name))}
        device = next((match[1] for part in parts[place:] if (match := _DEVICE.fullmatch(part))), None)
        name = infos.get(device) or (next(iter(infos.values())) if len(infos) == 1 else "")
        if not name:
            return trace
        with RegularFile(os.path.join(folder, name)) as file:
            info = msgspec.json.decode(file.read(0, LONGEST_INFO), type=dict[str, msgspec.Raw])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return trace
    shift, valid = nanoseconds([info.get("diff_time", msgspec.Raw())])
    if not valid[0] or not shift[0]:
        return trace
    origin = trace.origin_ns - int(shift[0])
    return replace(trace, origin_ns=origin, clock=clock_of(origin))


def _natural(path: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() and len(part) < 20 else (-1, part) for part in re.split(r"(\d+)", path)]
