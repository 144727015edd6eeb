"""The runs of a directory as tasks for an engine, which reads them ahead of a server (`mindscope index`)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.engines import PIECE, Engine
from app.run_process import RunMessage, read_run
from app.store.runs.packs import Snapshots
from parsers.errors import FormatError
from parsers.model import Problem, Source
from parsers.payloads.cache import PayloadCache
from parsers.runs import Run
from parsers.snapshot import dump, files_in, key_of, load

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunTask:
    """One run to read; size is that of its files in bytes."""

    number: int
    source: Source
    size: int

    @property
    def paths(self) -> Sequence[str]:
        """See `app.engines.AnyTask`."""
        return [file.path for file in self.source.files]

    def do(self) -> bytes:
        """Return the snapshot of the run (`parsers.snapshot`); b"" if it cannot be kept in one."""
        return read_run(RunMessage.of(self.source))

    def asked(self) -> tuple[int, Any]:
        """See `app.engines.AnyTask`."""
        return self.size, RunMessage.of(self.source)

    def lost(self, why: str) -> Problem:
        """Return the problem that the run was not read."""
        return Problem(self.source.path, 0, 0, "unreadable", f"Reading the run ahead failed ({why}); a server will read it.")


@dataclass(slots=True)
class Ahead:
    """What came of reading ahead: runs that were known, that had grown, that were read, and that could not be kept."""

    known: int = 0
    grown: int = 0
    read: int = 0
    not_kept: int = 0


def read_ahead(
    runs: Iterable[Source], snapshots: Snapshots, engine: Engine, told: Callable[[int], None], is_cancelled: Callable[[], bool],
    ahead: Ahead,
) -> Iterator[Problem]:
    """Put runs into the index: those that are not there by the engine, of those that have grown only what is new.

    told is called with bytes that are done, of the sizes of all runs; ahead is counted up. What was read is in the index after
    each PIECE of input, so a killed program has little to do again. Yields problems of runs that were not read.
    """
    tasks = []
    keys: list[str] = []
    for number, source in enumerate(runs):
        keys.append(key_of(source.real_path))
        states = snapshots.load(keys[-1])
        if states is None:
            tasks.append(RunTask(number, source, sum(file.size for file in source.files)))
            continue
        told(sum(file.size for file in source.files))
        read = {state.file.path: state.cursor for state in states}
        run = Run(replace(source, profile_dirs=()), PayloadCache())  # profiles are read on their own
        run.restore(states)
        run.refresh(run.source)
        if {path: state.cursor for path, state in run.states.items()} == read:
            ahead.known += 1
            continue
        ahead.grown += 1
        ahead.not_kept += snapshots.save(keys[-1], list(run.states.values()), together=True) is False
    unwritten = 0
    for task, answer in engine.run(tasks, told, is_cancelled):
        if isinstance(answer, Problem):
            yield answer
            continue
        try:
            parts = checked(task.source, answer)
        except FormatError as error:
            yield task.lost(str(error))
            continue
        ahead.read += 1
        ahead.not_kept += not parts or snapshots.save_parts(keys[task.number], parts, together=True) is False
        unwritten += task.size
        if unwritten >= PIECE:
            unwritten = 0
            snapshots.flush()
    snapshots.flush()


def checked(source: Source, data: bytes) -> Sequence[bytes | memoryview]:
    """Return the parts of a snapshot that another program made of a run, empty for none; FormatError unless it is of this run.

    Numbers of devices differ between machines that see the same files; those of this machine are put in.
    """
    if not data:
        return ()
    devices = {file.path: file.device for file in source.files}
    moved = False
    for file, cursor in files_in(data):
        if file.path not in devices:
            raise FormatError(f"snapshot: expected files of {source.path}, found {file.path}")
        moved = moved or (cursor is not None and cursor.device != devices[file.path])
    if not moved:
        return [data]
    states = load(data)
    for state in states:
        if state.cursor is not None:
            state.cursor = replace(state.cursor, device=devices[state.file.path])
    return dump(states) or ()
