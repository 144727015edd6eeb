"""Does tasks for `engines`: the part that programs with different tasks share.

A program takes tasks from its input and answers each on its output (`TaskMessage`, ANSWER). It ends when its input does, which
is the case when the server is killed, and after IDLE seconds without a task.
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
from collections.abc import Callable
from typing import BinaryIO

import msgspec

from parsers.profiler.progress import watched

log = logging.getLogger(__name__)

LENGTH = struct.Struct("<I")
"""Bytes of a list of tasks (`TaskMessage`, in MessagePack), before the list."""
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
SHORT = 64 << 10
"""Bytes of an answer up to which it is written at once with its header."""
PAUSE = 0.1
"""Seconds between two reports of progress."""
HELD_SECONDS, HELD_BYTES = 0.05, 1 << 20
"""How long short answers are held, and how many bytes of them, so that many are written together."""


class TaskMessage(msgspec.Struct, array_like=True):
    """One task: its number, the bytes of its files, and what it needs.

    at_once: no answer is held while it is done, and its own is written at once. If the program dies then, the first task
    without an answer is the one that killed it.
    """

    number: int
    size: int
    body: msgspec.Raw
    at_once: bool = False


Do = Callable[[msgspec.Raw], bytes]
"""Does a task, given what it needs."""


def serve(do: Do, *, most_read: int | None = None) -> None:
    """Answer tasks until there are none. most_read: bytes of input after which it ends, by default MOST_READ."""
    answers = _Answers(os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0))
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library may print is no answer
    _limit()
    waiting: queue.SimpleQueue[TaskMessage] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, waiting), daemon=True).start()
    answers.write(READY, 0)
    left = MOST_READ if most_read is None else most_read
    while left > 0:
        if waiting.empty():
            answers.flush()
        try:
            asked = waiting.get(timeout=IDLE)
        except queue.Empty:
            break
        left -= asked.size
        if asked.at_once:
            answers.flush()
        _do(do, answers, asked)
    answers.flush()
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


def _listen(asked: BinaryIO, waiting: queue.SimpleQueue[TaskMessage]) -> None:
    """Queue tasks as they come; end this process, whatever it does, when nobody can ask any more."""
    decoder = msgspec.msgpack.Decoder(list[TaskMessage])
    while len(head := asked.read(LENGTH.size)) == LENGTH.size:
        for one in decoder.decode(asked.read(LENGTH.unpack(head)[0])):
            waiting.put(one)
    os._exit(0)


class _Answers:
    """Writes answers in their order. This fails when nobody listens any more, which ends this process with its server.

    Each write wakes the server: short answers that need not be there at once are held for HELD_SECONDS, and written together.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._held: list[bytes] = []
        self._bytes = 0
        self._lock = threading.Lock()
        self._is_holding = threading.Event()
        threading.Thread(target=self._flush_in_time, daemon=True).start()

    def write(self, kind: int, number: int, data: bytes = b"", *, size: int = 0) -> None:
        """Write an answer, after those that are held."""
        with self._lock:
            self._write(ANSWER.pack(kind, number, size or len(data)), data)

    def hold(self, number: int, data: bytes) -> None:
        """Hold what a task made, unless it is long, or much is held."""
        head = ANSWER.pack(DONE, number, len(data))
        with self._lock:
            if len(data) > SHORT or self._bytes >= HELD_BYTES:
                self._write(head, data)
                return
            self._held += head, data
            self._bytes += len(data)
            self._is_holding.set()

    def flush(self) -> None:
        """Write what is held."""
        with self._lock:
            self._write()

    def _write(self, head: bytes = b"", data: bytes = b"") -> None:
        """Write what is held, then a header and its data, with the lock held."""
        held, self._held, self._bytes = self._held, [], 0
        self._is_holding.clear()
        parts = (b"".join((*held, head, data)),) if len(data) <= SHORT else (b"".join((*held, head)), data)
        for part in parts:
            left = memoryview(part)
            while left:
                left = left[self._stream.write(left) :]

    def _flush_in_time(self) -> None:
        """Write what has been held for long, also while a task takes long or hangs."""
        while True:
            self._is_holding.wait()
            time.sleep(HELD_SECONDS)
            with contextlib.suppress(OSError):  # the next answer fails, too
                self.flush()


def _do(do: Do, answers: _Answers, asked: TaskMessage) -> None:
    said, unsaid = time.monotonic(), 0

    def watch(size: int) -> None:
        nonlocal said, unsaid
        unsaid += size
        now = time.monotonic()
        if now - said >= PAUSE:
            answers.write(PROGRESS, asked.number, size=unsaid)
            said, unsaid = now, 0

    try:
        with watched(watch):
            data = do(asked.body)
    except Exception as error:  # the server must hear of any bug; if the process died, it would do the task again
        log.exception("task %d failed", asked.number)
        answers.write(FAILED, asked.number, f"{type(error).__name__}: {error}".encode("utf-8", "replace"))
        return
    if asked.at_once:
        answers.write(DONE, asked.number, data)
    else:
        answers.hold(asked.number, data)
