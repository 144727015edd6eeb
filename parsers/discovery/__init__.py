"""Finds the runs below a base directory, from names and stat alone.

No file is opened but `mlflow.db`, which holds many runs, and the beginning of JSON that its name does not explain: it may be a
trace (`parsers.trace_heads`).

A directory is a run if it directly holds a file of a kind in `parsers.registry`:

* ``summary.<seconds>`` anywhere in the name: MindSpore events, or those kinds if it ends in ``_lineage`` or ``_explain``;
* ``tfevents`` in the name: TensorBoard events;
* ``*.pb`` except ``memory_usage_<n>.pb``, ``*.ir``, ``*.dot``, ``*.onnx``, ``trace_code_graph_<n>``: a graph; those in
  ``actor_set`` and ``verbose_ir_files`` belong to the run of the parent directory;

* the names of other loggers (`parsers.tables`, `parsers.wandb`, `parsers.mlflow`) and of reports of conversions;

or if it contains a profiler directory (``profiler``, ``*_ascend_ms``, ``*_ascend_pt``, ``cluster_analysis_output``, or
``profiler_*`` with profiler output), or if it holds profiler files or traces itself, or if it is a dump
(`parsers.dumps.places`): of a rank (``rank_<n>/.dump_metadata``), of an Ascend device, or of msprobe
(``step<n>/<rank>/dump.json``).
Runs below ``rank_<n>`` or ``rank<n>`` are ranks of one job; a directory
``profile`` beside ``summary`` (MindFormers) belongs to the run in ``summary``.

``config.json``, ``params.json``, ``hparams.json``, ``*.yaml`` and ``*.yml`` in the directory of a run are its settings; they
make no run.

Symbolic links are followed, also out of the base. A directory is visited once, by device and inode: real directories
first, links after them, so cycles end and no run is listed twice. A scanner that is to stay inside the base shows a link that
leads out of it as a problem and reads nothing there. A broken link, or one to a directory that may not be
entered, is skipped unless its name is that of an event file.
"""

from __future__ import annotations

import os
from dataclasses import replace

from parsers.discovery.listing import Directory, classify, file_order, list_directory, measured, source_at, source_file
from parsers.discovery.scanner import Scanner
from parsers.errors import SourceError
from parsers.mlflow.database import database_of, sources_in
from parsers.model import Source
from parsers.registry import READERS


def opens_alone(path: str) -> bool:
    """Return whether a file is opened by itself: an event file, by its name, or a trace, by its content."""
    return os.path.isfile(path) and (classify(os.path.basename(path)) is not None or _holds_trace(path))


def _holds_trace(path: str) -> bool:
    from parsers.profiler.trace.files import holds_trace  # for files that are given by their own

    return holds_trace(path)


def discover(base: str | os.PathLike[str]) -> list[Source]:
    """Return every run at or below a directory, newest first; SourceError if there is no such directory.

    An event file or a trace is a run of its own. A directory that may not be listed is a Source without files whose problems
    say so.
    """
    text = os.fspath(base)
    if os.path.isfile(text) and database_of(text) == text:
        return sorted(sources_in(os.path.abspath(text), os.path.basename(text)), key=lambda one: (-one.updated, one.name))
    return [source_of(text)] if opens_alone(text) else Scanner(text).scan()


def source_of(path: str | os.PathLike[str]) -> Source:
    """Return the run in one directory (with its ranks), or of a single event file or trace; SourceError if there is none."""
    text = os.fspath(path)
    database = database_of(os.path.abspath(text))
    if database:
        runs = sources_in(database, os.path.basename(database))
        chosen = [run for run in runs if run.path == os.path.abspath(text)] or runs
        if len(chosen) == 1:
            return chosen[0]
        raise SourceError(f"{text}: expected one run, found {len(chosen)} runs in it; open one of them, or use discover()")
    if os.path.isfile(text):
        directory, name = os.path.split(os.path.abspath(text))
        if classify(name) is None and _holds_trace(text):
            return measured(Source(directory, os.path.realpath(directory), name, (), profile_dirs=(os.path.abspath(text),)))
        kind, stamp = classify(name) or (READERS[0].name, None)
        return Source(directory, os.path.realpath(directory), name, (source_file(text, kind, stamp),))
    found = discover(text)
    here = next((source for source in found if source.name == "."), None)
    if here is not None:
        return here
    if len(found) == 1:
        return found[0]
    if found:
        raise SourceError(f"{text}: expected one run, found {len(found)} runs below it; open one of them, or use discover()")
    raise SourceError(f"{text}: expected a run, found a directory without event, graph, profiler or dump files")


def rescan(source: Source) -> Source:
    """Return the same run as it is on disk now: its directory and those of its ranks are listed again, no others below.

    A run of a single event file or trace stays that file.
    """
    database = database_of(source.path)
    if database:
        name = source.name.rpartition("/")[0].rpartition("/")[0] or os.path.basename(database)
        return next((run for run in sources_in(database, name) if run.path == source.path), source)
    if not source.files and [os.path.basename(path) for path in source.profile_dirs] == [source.name]:
        alone = source.profile_dirs[0]
        if not os.path.isdir(alone):
            return measured(source)
    if len(source.files) == 1 and source.name == os.path.basename(source.files[0].path):
        file = source.files[0]
        return replace(source, files=(source_file(file.path, file.kind, file.stamp),)) if os.path.exists(file.path) else source
    found = source_at(Directory(source.path, source.real_path, source.name), list_directory(source.path, 0), "")
    beside = {os.path.dirname(file.path) for file in source.files} - {source.path}
    parts = [path for path in sorted(beside) if os.path.isdir(path)]
    listed = [source_at(Directory(path, path, source.name), list_directory(path, 0), "") for path in parts]
    files = tuple(sorted((file for one in (found, *listed) for file in one.files), key=file_order))
    elsewhere = [path for path in source.profile_dirs if os.path.isdir(path)]
    profiles = tuple(dict.fromkeys((*found.profile_dirs, *elsewhere)))
    dumps = tuple(dict.fromkeys((*found.dump_dirs, *(path for path in source.dump_dirs if os.path.isdir(path)))))
    fresh = replace(source, files=files, profile_dirs=profiles, dump_dirs=dumps, plan=found.plan, problems=found.problems)
    return measured(replace(fresh, ranks=tuple(rescan(rank) for rank in source.ranks)))
