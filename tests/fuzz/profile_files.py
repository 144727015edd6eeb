"""How mutated files of profiles and traces are read, and what is checked of them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

import numpy as np

from parsers import open_run
from parsers.analysis.profiles import memory
from parsers.cluster_frames import JOB_FRAMES
from parsers.profiler.access import Profile
from parsers.profiler.frame_parts import FramePart, ProfileInput
from parsers.profiler.job_access import Job
from parsers.profiler.jobs import find_jobs
from parsers.profiler.ranks import KINDS as KINDS_OF_JOBS
from parsers.profiler.registry import FRAME_READERS, FRAMES
from parsers.profiler.sessions import ProfileFile, Session
from parsers.profiler.trace import sources, storage
from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.files import SOURCES
from tests.fuzz.corpus import Seeds
from tests.fuzz.promises import DERIVED_OF, Broken, check_problems, is_chosen, write_file

_TRACE_OF = 4
"""Of this many files that have a trace beside frames one is read as a trace, too."""
_MOST_GRAPHS = 6
"""Graphs of a static plan that are looked at."""


def read_profile(kind: str, name: str, seeds: Seeds, data: bytes, folder: str) -> None:
    """Read every frame that a kind of file gives, or helps to give: then the file it helps lies beside it, intact."""
    files = [_profile_file(folder, name, kind, data)]
    helped = {reader.file.name for reader in FRAME_READERS if kind in {also.name for also in reader.also_reads}}
    for other in sorted(helped - {kind}):
        intact, found = next(iter(seeds.profiles(other).values()))
        files.append(_profile_file(folder, intact, other, found[0]))
    derived = is_chosen(data, DERIVED_OF)
    if derived:
        profile = Profile("session", 0, tuple(files))
        for frame, schema in FRAMES.items():
            if profile.gives(frame):
                schema.check(profile.frame(frame))
        check_problems(profile.problems)
    else:
        beside = {file.kind: ProfileInput(file.path, file.name, {}) for file in files}
        together: dict[str, Mapping[str, FramePart]] = {}
        for file, reader in ((file, reader) for file in files for reader in FRAME_READERS if reader.file.name == file.kind):
            source = ProfileInput(file.path, file.name, beside)
            if reader.together is not None:
                together[file.path] = together.get(file.path) or reader.together(source)
            part = together[file.path][reader.schema.name] if reader.together is not None else reader.read(source)
            reader.schema.check(part.frame)
            check_problems(part.problems)
    # Files without frames of a profile are read for jobs, or as a trace, alone.
    alone = not any(reader.file.name == file.kind for file in files for reader in FRAME_READERS)
    if derived or alone:
        _read_of_job(tuple(files))
    profile = Profile("session", 0, tuple(files))
    if kind in SOURCES and (alone or is_chosen(data, _TRACE_OF)):
        _look_at_trace(profile.trace.columns)
        _ = profile.trace.slices, profile.trace.tracks, profile.trace.flows, profile.trace.counters
    if derived and any(profile.gives(frame) for frame in ("memory", "operator_memory", "static_memory", "module_memory")):
        _look_at_memory(profile)
    _ = profile.about, profile.step_points
    check_problems(profile.problems)
    if kind in ("profiler_info", "profiler_metadata"):
        check_problems(open_run(folder).problems)


def _look_at_memory(profile: Profile) -> None:
    """Check that blocks sum to the curve, and that the parts of a pool and of a plan are what they are said to be."""
    records, frame = profile.memory, profile.operator_memory
    for component in (*memory.components(records), "PTA"):
        series, blocks = memory.curve(records, component), memory.counted(records, frame, component)
        for time in (0, *series.time[:1].tolist(), *series.time[-1:].tolist()):
            found = memory.explain(frame, blocks, series, time)
            if found.before + int(found.groups["size_bytes"].sum()) != found.total:
                raise Broken("the blocks do not sum to the curve")
            memory.extremes(series, 0, time, 7)
        memory.peak(records, component)
    for clock in ("ns", "event"):
        blocks = memory.blocks_of(frame, clock=clock)
        pool = memory.pool_at(frame, blocks, int(blocks.start[0])) if len(blocks) else None
        if pool is not None and pool.used + pool.free != int(pool.map["size_bytes"].sum()):
            raise Broken("the parts of the pool do not sum to it")
    for graph in profile.static_memory["graph"].unique().tolist()[:_MOST_GRAPHS]:
        memory.plan(profile.static_memory, graph)
    memory.large_components(profile.module_memory)


def _read_of_job(files: tuple[ProfileFile, ...]) -> None:
    """Read the frames of a job of one rank with these files."""
    kinds = {file.kind for file in files}
    wanted = [name for name, giving in KINDS_OF_JOBS.items() if kinds.intersection(giving)]
    if not wanted:
        return
    session = Session("session", os.path.dirname(files[0].path), files)
    for found in find_jobs((session,)):
        job = Job(found)
        for name in wanted:
            JOB_FRAMES[name].check(job.frame(name))
        check_problems(job.problems)


def _profile_file(folder: str, name: str, kind: str, data: bytes) -> ProfileFile:
    path = write_file(folder, os.path.join("profiler", name), data)
    return ProfileFile(path, name, kind, 0, len(data), 0)


def read_trace(data: bytes, folder: str) -> None:
    """Read a trace of any form."""
    _look_at_trace(sources.read(write_file(folder, "trace.json", data)))


def _look_at_trace(trace: Trace) -> None:
    """Check what a trace promises, and ask for the arguments of some slices."""
    slices = trace.slices
    size = len(slices)
    if size and min(int(slices.start.min()), int(slices.duration.min()), int(slices.self.min())) < 0:
        raise Broken("a time of a slice is negative")
    if [(track.first, track.last) for track in trace.tracks if track.last > track.first] != [
        (int(rows[0]), int(rows[-1]) + 1)
        for rows in np.split(np.arange(size), np.flatnonzero(np.diff(slices.track)) + 1)
        if len(rows)
    ]:
        raise Broken("the slices are not in the order of their tracks")
    named = (slices.name, trace.names), (slices.category, trace.categories), (trace.counters.series, trace.series)
    for codes, texts in named:
        if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < len(texts):
            raise Broken("a number of a text that there is not")
    for ends in (trace.flows.source, trace.flows.target):
        if len(ends) and not 0 <= int(ends.min()) <= int(ends.max()) < size:
            raise Broken("an arrow to a slice that there is not")
    for row in {0, size - 1} if size else ():
        # A row that a damaged table lists may not be found by its number.
        with contextlib.suppress(*((LookupError,) if trace.path.endswith(".db") else ())):
            sources.arguments(trace, row)
    for text in (*trace.names, *trace.categories, *trace.series, *(track.process + track.thread for track in trace.tracks)):
        text.encode()
    check_problems(trace.problems)


def open_trace(data: bytes, folder: str) -> None:
    """Open a stored trace: the length of its header in four bytes, the header, the columns."""
    end = 4 + int.from_bytes(data[:4], "little")
    write_file(folder, storage.HEADER, data[4:end])
    write_file(folder, storage.COLUMNS, data[end:])
    trace = storage.open(folder)
    if len(trace.slices) != len(trace.slices.depth):
        raise Broken("columns of different lengths")
    list(trace.names)
