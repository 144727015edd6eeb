"""Worker processes from the command's side: each computes rows of a surface and is replaced if it ends or takes too long."""

from __future__ import annotations

import contextlib
import json
import math
import os
import queue
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from app.landscapes.options import LandscapeError
from app.landscapes.planes import FILES, PlaneFiles
from layouts.kit.units import duration
from parsers.landscapes.points import Loss, Point

READY_S = 600.0
"""Seconds that the script's imports and its setup may take."""
ENDING_S = 0.5
"""Seconds in which a process whose pipe is closed ends."""
LOOK_S = 1.0
"""Seconds after which we look whether a process is still there."""
STARTS = 3
"""Of a process that ends before it is ready: somebody may have killed it."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class GridPlace(NamedTuple):
    """A place of a surface and its coordinates."""

    row: int
    column: int
    x: float
    y: float


class GridRow(NamedTuple):
    """Places of a surface that a worker computes one after the other."""

    surface: int
    places: tuple[GridPlace, ...]


class ScriptFailed(LandscapeError):
    """The user's script cannot be run."""


def setting_of(plane: PlaneFiles, script: str, function: str, base: str, path: Sequence[str]) -> dict[str, Any]:
    """Return what a worker is told first: script and function, the files of the plane, the checkpoints, and what varies."""
    return {
        "script": os.path.abspath(script), "function": function, "base": os.path.abspath(base),
        "checkpoints": [os.path.abspath(file) for file in path],
        "plane": [os.path.abspath(os.path.join(plane.folder, name)) for name in FILES],
        "tensors": [[one.name, list(one.shape), one.begin] for one in plane.tensors],
    }  # fmt: skip


class _Worker:
    """A process and its two pipes."""

    def __init__(self, setting: dict[str, Any], threads: int) -> None:
        take, self._give = os.pipe()
        self._answers, reply = os.pipe()
        environment = os.environ | dict.fromkeys(THREADS, str(threads))
        command = [sys.executable, "-m", "app.landscapes.process", str(take), str(reply)]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                command, pass_fds=(take, reply), stdin=subprocess.DEVNULL, env=environment, start_new_session=True
            )
        finally:
            os.close(take)
            os.close(reply)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._answers, selectors.EVENT_READ)
        self._buffer = b""
        self._send(setting)

    def begin(self) -> bool:
        """Wait until the script has been run; return whether the process is there. Raises ScriptFailed for what it raised."""
        return self._ready() is not None

    def names(self) -> list[str]:
        """Return the names of a process that was asked for them. Raises ScriptFailed."""
        answer = self._ready()
        if answer is None:
            raise ScriptFailed("the script ended its process before its names() returned")
        found: list[str] = answer[1]
        return found

    def _ready(self) -> list[Any] | None:
        answer = self._line(READY_S)
        if answer is not None and answer[0] == "script":
            raise ScriptFailed(f"the script failed: {answer[3]}")
        if answer is None and not self._ends():
            raise ScriptFailed(f"the script took more than {duration(READY_S)} to be ready")
        return answer

    def losses(self, places: Sequence[GridPlace], limit_s: float, take: Callable[[GridPlace, Loss], None]) -> GridPlace | None:
        """Compute places; return the one at which the process ended or was ended, None if all were answered."""
        self._send([list(one) for one in places])
        for place in places:
            answer = self._line(limit_s or None)
            if answer is None:
                return place
            value, reason = answer[2], answer[3]
            take(place, Loss(math.nan if value is None else float(value), reason))
        return None

    def why_ended(self, limit_s: float) -> str:
        """Return why a place has no answer, and end the process."""
        ends = self._ends()
        self.stop()
        if not ends:
            return f"it took more than {duration(limit_s)}"
        code = self._process.returncode
        return f"the process ended with {'signal ' + str(-code) if code < 0 else 'exit code ' + str(code)}"

    def _ends(self) -> bool:
        """Return whether the process, which no longer answers, ends by itself."""
        end = time.monotonic() + ENDING_S
        while not self._has_ended() and time.monotonic() < end:
            time.sleep(0.01)
        return self._has_ended()

    def _has_ended(self) -> bool:
        """Return whether the process has ended; its number stays its own until `stop`."""
        if self._process.returncode is not None:
            return True
        if not hasattr(os, "waitid"):  # macOS
            return self._process.poll() is not None
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def stop(self) -> None:
        """End the process, and those that the script has started."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._selector.close()
        for descriptor in (self._give, self._answers):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._give = self._answers = -1

    def _send(self, message: Any) -> None:
        data = json.dumps(message).encode() + b"\n"
        with contextlib.suppress(BrokenPipeError):  # seen when its answer is missing
            while data:
                data = data[os.write(self._give, data) :]

    def _line(self, limit_s: float | None) -> list[Any] | None:
        end = math.inf if limit_s is None else time.monotonic() + limit_s
        while b"\n" not in self._buffer:
            # What the script has forked may keep the pipe of a process that has ended.
            ended = self._has_ended()
            if not self._selector.select(0 if ended else max(min(end - time.monotonic(), LOOK_S), 0)):
                if ended or time.monotonic() >= end:
                    return None
                continue
            more = os.read(self._answers, 1 << 16)
            if not more:
                return None
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\n")
        try:
            found: list[Any] = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ScriptFailed(f"expected an answer of a worker, found {line[:80]!r}: the script wrote to its pipe") from error
        return found


def names_by_script(script: str, checkpoint: str) -> list[str]:
    """Return the weights of a checkpoint that the script's `names` chooses, in a process of its own. Raises ScriptFailed."""
    worker = _Worker({"script": os.path.abspath(script), "names": os.path.abspath(checkpoint)}, 1)
    try:
        return worker.names()
    finally:
        worker.stop()


class RowComputer:
    """Computes rows, one after the other, in a process that is replaced when it ends. `end` may be called by any thread."""

    def __init__(self, setting: dict[str, Any], limit_s: float, threads: int) -> None:
        """threads: how many the libraries of the script may use."""
        self._setting, self._limit, self._threads = setting, limit_s, threads
        self._found: _Worker | None = None
        self._lock = threading.Lock()
        self._ended = False

    def compute(self, row: GridRow, give: Callable[[Point, Loss], None]) -> None:
        """Compute a row; a place without a loss is tried once more alone. Raises ScriptFailed, and what `give` raises."""
        places = list(row.places)
        again: list[GridPlace] = []

        def take(place: GridPlace, loss: Loss) -> None:
            if math.isnan(loss.value):
                again.append(place)
            else:
                give(Point(row.surface, place.row, place.column), loss)

        while places and not self._ended:
            ended = self._worker().losses(places, self._limit, take)
            if ended is None:
                break
            self._drop()
            again.append(ended)
            places = places[places.index(ended) + 1 :]
        for place in again:
            if not self._ended:
                loss = self._once_more(place)
                if not self._ended:  # what was ended by us has no loss for that reason
                    give(Point(row.surface, place.row, place.column), loss)

    def end(self) -> None:
        """End the process; nothing is computed any more."""
        self._ended = True
        self._drop()

    def _once_more(self, place: GridPlace) -> Loss:
        found: list[Loss] = []
        worker = self._worker()
        if worker.losses([place], self._limit, lambda _, loss: found.append(loss)) is None:
            return found[0]
        reason = worker.why_ended(self._limit)
        self._drop()
        return Loss(math.nan, reason)

    def _worker(self) -> _Worker:
        if self._found is not None:
            return self._found
        for _ in range(STARTS):
            found = _Worker(self._setting, self._threads)
            with self._lock:
                self._found = found
            if found.begin():
                return found
            self._drop()
            if self._ended:
                break
        raise ScriptFailed("the script ended its process before it was ready")

    def _drop(self) -> None:
        with self._lock:
            found, self._found = self._found, None
        if found is not None:
            found.stop()


class WorkerPool:
    """Processes that share rows. `take` gets every finished point, from any thread; what it raises ends the work."""

    def __init__(self, jobs: int, limit_s: float, take: Callable[[Point, Loss], None]) -> None:
        self._jobs, self._limit, self._take = jobs, limit_s, take
        self._stopped = threading.Event()
        self._failed: list[BaseException] = []

    def run(self, rows: Sequence[GridRow], setting: dict[str, Any]) -> None:
        """Compute rows. Raises ScriptFailed, what `take` raised, or KeyboardInterrupt, once all processes have ended."""
        left: queue.SimpleQueue[GridRow] = queue.SimpleQueue()
        for row in rows:
            left.put(row)
        threads_each = max((os.cpu_count() or 1) // self._jobs, 1)
        computers = [RowComputer(setting, self._limit, threads_each) for _ in range(min(self._jobs, len(rows)))]
        threads = [threading.Thread(target=self._work, args=(one, left), daemon=True) for one in computers]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():  # a wait without a limit would not be interrupted by Ctrl-C
                    thread.join(0.1)
        except BaseException:
            self._stopped.set()
            for one in computers:
                one.end()
            raise
        if self._failed:
            raise self._failed[0]

    def _work(self, computer: RowComputer, left: queue.SimpleQueue[GridRow]) -> None:
        try:
            while not self._stopped.is_set():
                try:
                    row = left.get_nowait()
                except queue.Empty:
                    return
                computer.compute(row, self._take)
        except BaseException as error:  # noqa: BLE001 - raised again by `run`
            if not self._stopped.is_set():
                self._failed.append(error)
                self._stopped.set()
        finally:
            computer.end()
