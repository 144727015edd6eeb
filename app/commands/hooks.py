"""Starts a command of the user for facts that arise: without a shell, one at a time, with the facts on its stdin."""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence

from app.commands.settings import SettingError
from app.commands.terminal import printable

LIMIT = 60.0
"""Seconds that a command may take; then it and its children are killed."""
MOST_WAITING = 100
_STDERR = 2


def arguments_of(text: str) -> list[str]:
    """Split a command as a shell would, of which nothing else is done. SettingError if there is no such program."""
    try:
        arguments = shlex.split(text)
    except ValueError as error:
        raise SettingError(f"--exec: expected a command, found {text!r}: {error}") from None
    if not arguments or shutil.which(arguments[0]) is None:
        raise SettingError(f"--exec: expected a program that can be started, found {text!r}")
    return arguments


class Hook:
    """A thread that starts the command for what it is given. Its failures are lines on stderr."""

    def __init__(self, arguments: Sequence[str], limit: float = LIMIT) -> None:
        self._arguments, self._limit = list(arguments), limit
        self._waiting: queue.Queue[bytes | None] = queue.Queue(MOST_WAITING)
        self._running: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="mindscope-exec", daemon=True)
        self._thread.start()

    def start(self, facts: bytes) -> None:
        """Start the command with facts on its stdin, after those that wait."""
        try:
            self._waiting.put_nowait(facts)
        except queue.Full:
            _say(f"not started, {MOST_WAITING} are waiting")

    def close(self) -> None:
        """Kill the command that runs, and start none of those that wait."""
        with self._lock:
            self._closed = True
            if self._running is not None:
                _kill(self._running)
        with contextlib.suppress(queue.Full):  # then the thread has something to wake up for
            self._waiting.put_nowait(None)

    def _work(self) -> None:
        while not self._closed and (facts := self._waiting.get()) is not None:
            self._start(facts)

    def _start(self, facts: bytes) -> None:
        with self._lock:
            if self._closed:
                return
            try:
                process = subprocess.Popen(  # noqa: S603  the user's own command, no text of files is in its arguments
                    self._arguments, stdin=subprocess.PIPE, stdout=_STDERR, start_new_session=True
                )
            except OSError as error:
                _say(f"could not be started: {error.strerror}")
                return
            self._running = process
        try:
            process.communicate(facts, timeout=self._limit)
        except subprocess.TimeoutExpired:
            _say(f"killed, as it took more than {self._limit:g} s")
            _kill(process)
            process.wait()
        else:
            if process.returncode and not self._closed:
                _say(f"ended with {process.returncode}")
        finally:
            with self._lock:
                self._running = None


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a command that runs, and what it started; once it has ended its number may be that of another."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def _say(text: str) -> None:
    sys.stderr.write(printable(f"mindscope: --exec: {text}") + "\n")
    sys.stderr.flush()
