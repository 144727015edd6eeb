"""Keeps one trial: starts its command, writes its output to a bounded file, and notes how it ended. A program of its own.

It outlives the tuner, so a trial that ends while no tuner runs is not lost. It imports nothing but the standard library and
takes one argument: a JSON file with command, status, log, time_limit (seconds or null), grace (seconds between asking
processes to end and killing them), head and tail (bytes of output that are kept).

The status file is one JSON object padded to SIZE bytes, created once (a second keeper of the same trial finds it and leaves)
and overwritten in place: that needs no room on a disk that is full meanwhile.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
import time
from typing import Any

SIZE = 2048
TAKEN = 75
"""Exit code if another keeper has the trial."""
NO_ROOM = 74
"""Exit code if the status file cannot be made, as on a full disk."""
_SUBREAPER = 36
_CHUNK = 1 << 16
_DRAIN = 1.0
"""Seconds to read what is still in the pipe after the last process has ended."""


class Status:
    """The status file."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.pwrite(self._file, b" " * SIZE, 0)  # the room that it takes
        except OSError:
            os.unlink(path)
            raise

    def write(self, **content: Any) -> None:
        """Replace the content."""
        data = json.dumps(content).encode()
        if len(data) > SIZE:
            data = json.dumps({**content, "error": str(content.get("error", ""))[:200]}).encode()
        os.pwrite(self._file, data[:SIZE].ljust(SIZE), 0)


class TrialOutput:
    """Writes what the command prints: the first bytes at once, of more only the last ones, at most once a second."""

    def __init__(self, path: str, head: int, tail: int) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self._head, self._most = head, tail
        self._tail = bytearray()
        self._written = self._omitted = 0
        self._flushed = 0.0
        self._dirty = False

    def add(self, data: bytes) -> None:
        """Take output; a full disk loses it and nothing else."""
        room = self._head - self._written
        if room > 0:
            self._write(data[:room], self._written)
            self._written += len(data[:room])
            data = data[room:]
        if data:
            self._tail += data
            self._dirty = True
            if len(self._tail) > 2 * self._most:
                self._shorten()
            if time.monotonic() - self._flushed > 1.0:
                self.flush()

    def _shorten(self) -> None:
        extra = len(self._tail) - self._most
        if extra > 0:
            del self._tail[:extra]
            self._omitted += extra

    def flush(self) -> None:
        """Write the last bytes after the first ones."""
        if not self._dirty:
            return
        self._shorten()
        self._flushed, self._dirty = time.monotonic(), False
        note = f"\n[... {self._omitted:,} bytes are left out here ...]\n".encode() if self._omitted else b""
        data = note + bytes(self._tail)
        self._write(data, self._written)
        try:
            os.ftruncate(self._file, self._written + len(data))
        except OSError:
            pass

    def _write(self, data: bytes, offset: int) -> None:
        view = memoryview(data)
        try:
            while view:
                count = os.pwrite(self._file, view, offset)
                view, offset = view[count:], offset + count
        except OSError:
            pass


class Keeper:
    """Runs the command of one trial to its end."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self._asked = asked
        self._why = "exit"
        self._code: int | None = None
        self._child = 0
        self._killing = 0.0
        self._status = Status(asked["status"])
        self._wake, self._waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def run(self) -> None:
        """Start the command, wait for its end, and note it."""
        begun, began = time.monotonic(), time.time()
        self._status.write(state="starting", keeper=os.getpid(), began=began)
        output = TrialOutput(self._asked["log"], self._asked["head"], self._asked["tail"])
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, lambda *_: self._end("ended"))
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for ignored in (signal.SIGINT, signal.SIGHUP):
            signal.signal(ignored, signal.SIG_IGN)
        _adopt_orphans()
        reading, writing = os.pipe2(os.O_CLOEXEC)
        try:
            self._child = self._spawn(writing)
        except (OSError, ValueError) as error:
            os.close(writing)
            text = getattr(error, "strerror", "") or str(error)
            self._status.write(state="ended", keeper=os.getpid(), exit=None, why="not_started", error=text, began=began,
                               ended=time.time(), left=0, cpu=0.0)  # fmt: skip
            return
        os.close(writing)
        self._status.write(state="running", keeper=os.getpid(), child=self._child, began=began)
        limit = self._asked["time_limit"]
        self._follow(reading, output, None if limit is None else begun + limit)
        left = _kill_descendants(self._child)
        self._drain(reading, output)
        output.flush()
        used = os.times()
        self._status.write(
            state="ended", keeper=os.getpid(), child=self._child, exit=self._code, why=self._why, began=began,
            ended=time.time(), left=left, cpu=round(used.children_user + used.children_system, 3),
        )  # fmt: skip

    def _spawn(self, output: int) -> int:
        command = self._asked["command"]
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, output, 1),
            (os.POSIX_SPAWN_DUP2, output, 2),
        ]  # fmt: skip
        plain = [signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE]
        return os.posix_spawnp(command[0], command, os.environ, file_actions=actions, setpgroup=0, setsigdef=plain)

    def _follow(self, reading: int, output: TrialOutput, limit: float | None) -> None:
        """Read output until the command has ended."""
        os.set_blocking(reading, False)
        watched = [reading, self._wake]
        while not self._reaped():
            now = time.monotonic()
            if limit is not None and now >= limit:
                limit = None
                self._end("time_limit")
            if self._killing and now >= self._killing:
                _signal_group(self._child, signal.SIGKILL)
                self._killing = now + 1.0
            wait = min([1.0, *([limit - now] if limit else []), *([self._killing - now] if self._killing else [])])
            ready = select.select(watched, [], [], max(wait, 0.0))[0]
            if self._wake in ready:
                _emptied(self._wake)
            if reading in ready:
                data = _emptied(reading)
                if data:
                    output.add(data)
                elif data is not None:
                    watched = [self._wake]
            else:
                output.flush()

    def _drain(self, reading: int, output: TrialOutput) -> None:
        until = time.monotonic() + _DRAIN
        while time.monotonic() < until and select.select([reading], [], [], 0.05)[0]:
            data = _emptied(reading)
            if not data:
                break
            output.add(data)

    def _end(self, why: str) -> None:
        """Ask the processes to end; they are killed after the grace period."""
        if not self._killing and self._code is None and self._child:
            self._why = why
            self._killing = time.monotonic() + self._asked["grace"]
            _signal_group(self._child, signal.SIGTERM)

    def _reaped(self) -> bool:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if not pid:
                return self._code is not None
            if pid == self._child:
                self._code = os.waitstatus_to_exitcode(status)


def _emptied(descriptor: int) -> bytes | None:
    """Return what can be read at once, b"" at the end, None if there is nothing."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _signal_group(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except OSError:
        pass


def _adopt_orphans() -> None:
    """Become the parent of descendants whose own parents end, so that none escapes (Linux)."""
    try:
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    except (OSError, AttributeError):
        pass


def _kill_descendants(group: int) -> int:
    """Kill what the command has left behind; return how many processes."""
    _signal_group(group, signal.SIGKILL)
    killed: set[int] = set()
    until = time.monotonic() + 5.0
    while time.monotonic() < until:
        try:
            while pid := os.waitpid(-1, os.WNOHANG)[0]:
                killed.add(pid)
        except ChildProcessError:
            return len(killed)
        for pid in _children():
            killed.add(pid)
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.01)
    return len(killed)


def _children() -> list[int]:
    found = []
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    for name in names:
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat", "rb") as stream:
                    if int(stream.read().rpartition(b")")[2].split()[1]) == os.getpid():
                        found.append(int(name))
            except (OSError, ValueError, IndexError):
                pass
    return found


def main() -> int:
    """Read what is asked and keep the trial."""
    with open(sys.argv[1], encoding="utf-8") as stream:
        asked = json.load(stream)
    try:
        keeper = Keeper(asked)
    except FileExistsError:
        return TAKEN
    except OSError:
        return NO_ROOM
    keeper.run()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
