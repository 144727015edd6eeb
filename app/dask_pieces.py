"""Does pieces on a worker of a Dask cluster: bytes in, bytes out, so that no object of ours is pickled.

A worker reads the files itself. Those that it does not see, or sees in another state, are left to the program that asked.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable

import msgspec

import app
from app.engine_process import RankFilesMessage
from app.run_process import RunMessage
from app.run_process import read_run as snapshot_of
from app.tasks import TaskMessage
from parsers.profiler.ranks import columns_of
from parsers.profiler.sessions import ProfileFile

log = logging.getLogger(__name__)

DONE, FAILED, UNDONE = range(3)
"""Kinds of answers: what was made, what went wrong, or why a worker left it undone."""

Answers = list[tuple[int, int, bytes]]
"""Number of the task, kind, and what it made or a text."""
Do = Callable[[msgspec.Raw], bytes]
"""Does a task, given what it needs; raises Undone."""


class Undone(Exception):
    """This worker cannot do a task, another program may."""


def do_piece(do: Do, version: str, piece: bytes) -> bytes:
    """Do the tasks of a piece (a list of `TaskMessage` in MessagePack) and return `Answers` in MessagePack.

    version is that of the program that asks; a worker with another one does nothing.
    """
    asked = msgspec.msgpack.decode(piece, type=list[TaskMessage])
    if version != app.__version__:
        text = f"a worker has Mindscope {app.__version__}, this program is {version}".encode()
        return msgspec.msgpack.encode([(one.number, UNDONE, text) for one in asked])
    return msgspec.msgpack.encode([(one.number, *_answer(do, one)) for one in asked])


def _answer(do: Do, asked: TaskMessage) -> tuple[int, bytes]:
    try:
        return DONE, do(asked.body)
    except Undone as error:
        return UNDONE, str(error).encode("utf-8", "replace")
    except Exception as error:  # Dask would drop the answers of the whole piece for one task with a bug
        log.exception("task %d failed", asked.number)
        return FAILED, f"{type(error).__name__}: {error}".encode("utf-8", "replace")


def read_rank(body: msgspec.Raw) -> bytes:
    """Return the columns of a rank, whose files and frames are a `RankFilesMessage`."""
    asked = msgspec.msgpack.decode(body, type=RankFilesMessage)
    files = [ProfileFile(os.fsdecode(one.path), one.name, one.kind, one.rank, one.size, one.mtime_ns) for one in asked.files]
    for file in files:
        see(file.path, file.size)
    return columns_of(files, asked.what)


def read_run(body: msgspec.Raw) -> bytes:
    """Return the snapshot of a run, whose files are a `RunMessage`."""
    asked = msgspec.msgpack.decode(body, type=RunMessage)
    for file in asked.source.files:
        see(file.path, file.size)
    return snapshot_of(asked)


def see(path: str, size: int) -> None:
    """Raise Undone unless this worker sees a file, with this size in bytes."""
    try:
        found = os.stat(path).st_size
    except OSError as error:
        raise Undone(f"a worker cannot see {path}: {error.strerror}") from None
    if found != size:
        raise Undone(f"a worker sees {path} with {found:,} bytes, here it has {size:,}")
