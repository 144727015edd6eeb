"""Reads the files of ranks into columns: a separate program, which `engines` starts several times and may kill.

    python -m app.engine_process

It takes tasks from its input and answers each on its output (`Asked`, ANSWER). It imports readers and nothing of the server. It
ends when its input does, which is the case when the server is killed, and after IDLE seconds without a task.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import struct
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import BinaryIO

import msgspec

from parsers.profiler.progress import watched
from parsers.profiler.ranks import columns_of
from parsers.profiler.sessions import ProfileFile

log = logging.getLogger(__name__)

LENGTH = struct.Struct("<I")
"""Bytes of a list of tasks (`Asked`, in MessagePack), before the list."""
ANSWER = struct.Struct("<BQQ")
"""Header of an answer: its kind, the task number, and the bytes that follow (PROGRESS: bytes read since the last answer)."""
READY, PROGRESS, DONE, FAILED = range(4)
RETIRED = 75
"""Exit code of a process that ended between two tasks; those that it did not answer are to be asked of another one."""
IDLE = 20.0
"""Seconds without a task after which a process ends."""
MOST_READ = 1 << 30
"""Bytes of input after which a process ends, so that what the allocator keeps does not grow."""
MEMORY = 4 << 30
"""Maximum address space in bytes, where the system has such a limit."""
PAUSE = 0.1
"""Seconds between two reports of progress."""
Read = Callable[[Sequence[ProfileFile], Sequence[str]], bytes]


class AskedFile(msgspec.Struct, array_like=True):
    """A `ProfileFile`, whose path need not be text."""

    path: bytes
    name: str
    kind: str
    rank: int
    size: int
    mtime_ns: int


class Asked(msgspec.Struct, array_like=True):
    """One task: its number, the files, and names of frames."""

    number: int
    files: list[AskedFile]
    what: tuple[str, ...]


def main(read: Read = columns_of) -> None:
    """Answer tasks until there are none."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library may print is no answer
    _limit()
    waiting: queue.SimpleQueue[Asked] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, waiting), daemon=True).start()
    _answer(answers, READY, 0)
    left = MOST_READ
    while left > 0:
        try:
            asked = waiting.get(timeout=IDLE)
        except queue.Empty:
            break
        files = [
            ProfileFile(os.fsdecode(one.path), one.name, one.kind, one.rank, one.size, one.mtime_ns) for one in asked.files
        ]
        left -= sum(file.size for file in files)
        _do(read, answers, asked, files)
    os._exit(RETIRED)


def _limit() -> None:
    if hasattr(os, "nice"):
        os.nice(5)
    try:
        import resource
    except ImportError:  # not on Windows
        return
    with contextlib.suppress(OSError, ValueError):  # a lower limit is in force
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _listen(asked: BinaryIO, waiting: queue.SimpleQueue[Asked]) -> None:
    """Queue tasks as they come; end this process, whatever it does, when nobody can ask any more."""
    decoder = msgspec.msgpack.Decoder(list[Asked])
    while len(head := asked.read(LENGTH.size)) == LENGTH.size:
        for one in decoder.decode(asked.read(LENGTH.unpack(head)[0])):
            waiting.put(one)
    os._exit(0)


def _do(read: Read, answers: BinaryIO, asked: Asked, files: Sequence[ProfileFile]) -> None:
    said, unsaid = time.monotonic(), 0

    def watch(size: int) -> None:
        nonlocal said, unsaid
        unsaid += size
        now = time.monotonic()
        if now - said >= PAUSE:
            _answer(answers, PROGRESS, asked.number, size=unsaid)
            said, unsaid = now, 0

    try:
        with watched(watch):
            data = read(files, asked.what)
    except Exception as error:  # any fault of one rank is reported for that rank; the process goes on with the others
        log.exception("reading %s failed", [file.path for file in files])
        _answer(answers, FAILED, asked.number, f"{type(error).__name__}: {error}".encode("utf-8", "replace"))
    else:
        _answer(answers, DONE, asked.number, data)


def _answer(answers: BinaryIO, kind: int, number: int, data: bytes = b"", *, size: int = 0) -> None:
    """Write an answer. This fails when nobody listens any more, which ends this process with its server."""
    for part in (ANSWER.pack(kind, number, size or len(data)), data):
        left = memoryview(part)
        while left:
            left = left[answers.write(left) :]


if __name__ == "__main__":
    main()
