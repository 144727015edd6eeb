"""The commands that inspect files without a server: list and check."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import msgspec

from app.commands.terminal import printable, problem_line, width
from parsers import Problem, Run, Source, discover
from parsers.dumps.access import RunDump
from parsers.model import UNREAD
from parsers.names import printable as encodable
from parsers.profiler.access import Profile, RunProfiles
from parsers.profiler.registry import FRAMES
from parsers.profiler.trace.sources import find as find_traces
from parsers.profiler.trace.sources import grouped, read_all
from parsers.registry import reader_of_file


def list_runs(options: argparse.Namespace) -> int:
    """Print the runs below a directory, newest first, reading only file names and headers."""
    sources = discover(options.directory)
    _print_problems(sources)
    if options.json:
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode([_as_json(source) for source in sources])) + b"\n")
        return 0
    rows = [("RUN", "UPDATED", "SIZE", "FILES"), *map(_as_row, sources)]
    widths = [max(width(row[column]) for row in rows) for column in range(3)]
    for name, updated, size, files in rows:
        padding = widths[0] - width(name)
        print(f"{name}{' ' * padding}  {updated:<{widths[1]}}  {size:>{widths[2]}}  {files}")
    if not sources:
        print(f"No runs below {options.directory}", file=sys.stderr)
    return 0


def _print_problems(sources: Sequence[Source]) -> None:
    """Print the directories that could not be listed."""
    problems = [problem for source in sources for part in (source, *source.ranks) for problem in part.problems]
    for problem in problems:
        print(problem_line(problem), file=sys.stderr)
    if problems:
        print(_counted(len(problems)), file=sys.stderr)


def _counted(number: int, noun: str = "problem") -> str:
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def _profiles(source: Source) -> list[Profile]:
    """The profiles of a run, ranks not included, by the names of their files."""
    found = RunProfiles()
    found.refresh(replace(source, ranks=()))
    return list(found.current.values())


def _as_row(source: Source) -> tuple[str, str, str, str]:
    kinds = Counter(file.kind for leaf in source.leaves for file in leaf.files)
    for part in (source, *source.ranks):
        for profile in _profiles(part):
            traces = len(find_traces(profile))
            kinds += Counter(trace=traces, profile=len(profile.files) - traces)
    dumps = sum(len(part.dump_dirs) for part in (source, *source.ranks))
    kinds += Counter(dump=dumps)
    files = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    ranks = f" ({len(source.ranks)} {'rank' if len(source.ranks) == 1 else 'ranks'})" if source.ranks else ""
    size = "-" if dumps and not source.size else f"{source.size:,} B"  # the files of dumps are not measured
    updated = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(source.updated)) if source.updated else "-"
    return printable(source.name) + ranks, updated, size, files


def _as_json(source: Source) -> dict[str, Any]:
    profiled = [
        {"path": encodable(file.path), "kind": file.kind, "size_bytes": file.size, "mtime": file.mtime_ns / 1e9}
        for profile in _profiles(source) for file in profile.files
    ]  # fmt: skip
    files = [{"path": encodable(f.path), "kind": f.kind, "size_bytes": f.size, "mtime": f.mtime} for f in source.files]
    return {
        "name": source.name, "path": encodable(source.path), "real_path": encodable(source.real_path),
        "updated": source.updated, "size_bytes": source.size, "ranks": [_as_json(rank) for rank in source.ranks],
        "files": files, "profile_dirs": list(map(encodable, source.profile_dirs)),
        "profile_files": profiled, "dump_dirs": list(map(encodable, source.dump_dirs)),
    }  # fmt: skip


def check(options: argparse.Namespace) -> int:
    """Read every file, trace, table of profiles and dumped tensor, verify every CRC, decode every message, print each Problem;
    return 1 if one of them is damage, else 0. Notes, of which nothing is lost, are printed and counted apart, as on the pages.
    """
    runs = files = size = tensors = found = notes = 0
    for source in discover(options.directory):
        runs += 1  # as on the pages: a job of ranks is one
        size += source.size
        parts = (source, *source.ranks)
        profiles = [_profiles(part) for part in parts]
        files += sum(len(part.files) for part in parts) + sum(len(find_traces(one)) for of in profiles for one in of)
        dump = _dump(parts)
        tensors += len(dump.tensors) if dump else 0
        for problem in chain(*map(_problems, parts), *map(_trace_problems, profiles), _dump_problems(dump)):
            notes += problem.is_note
            found += not problem.is_note
            print(problem_line(problem), flush=True)
    result = _counted(found) if found else "no damage"
    result += f", {_counted(notes, 'note')}" if notes else ""
    read = f"{_counted(runs, 'run')}, {_counted(files, 'file')}, {_counted(size, 'byte')}"
    read += f", {_counted(tensors, 'dumped tensor')}" if tensors else ""
    print(f"{read}: {result}")
    return 1 if found else 0


def _problems(source: Source) -> Iterator[Problem]:
    found = dict.fromkeys(source.problems)
    yield from found
    for file in source.files:
        if file.kind not in UNREAD:
            problems = reader_of_file(file).verify(file.path)
            found |= dict.fromkeys(problems)
            yield from problems
    described = replace(source, files=tuple(file for file in source.files if file.kind in ("lineage", "config")), ranks=())
    run = Run(described)
    run.refresh(described)  # some problems of lineage and configuration files appear only when the files are combined
    yield from (problem for problem in run.problems if problem not in found)


def _dump(parts: Sequence[Source]) -> RunDump | None:
    """The dump of a run and of its ranks, which are one, as on the pages."""
    directories = tuple(path for part in parts for path in part.dump_dirs)
    return RunDump(os.path.commonpath([part.path for part in parts]), directories) if directories else None


def _dump_problems(dump: RunDump | None) -> Iterator[Problem]:
    """Damage in the files of a dump, each tensor read whole."""
    if dump is not None:
        dump.statistics_of(computed=True)
        yield from dump.problems


def _trace_problems(profiles: Sequence[Profile]) -> Iterator[Problem]:
    """Damage in the traces and tables of profiles, each read whole."""
    for profile in profiles:
        found = dict.fromkeys(problem for files in grouped(profile) for problem in read_all(files).problems)
        for name in FRAMES:
            if profile.gives(name):
                profile.frame(name)
        yield from found | dict.fromkeys(profile.problems)
