"""Worker processes from the command's side: each computes rows of a surface and is replaced if it ends or takes too long."""

from __future__ import annotations

import contextlib
import json
import math
import os
import queue
import selectors
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from app.landscapes.options import LandscapeError
from app.landscapes.planes import FILES, PlaneFiles
from layouts.kit.units import duration
from parsers.landscapes.points import Loss, Point

READY_S = 600.0
"""Seconds that the script's imports and its setup may take."""
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
        answer = self._line(READY_S)
        if answer is not None and answer[0] == "script":
            raise ScriptFailed(f"the script failed: {answer[3]}")
        return answer is not None

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
        try:
            code = self._process.wait(0.5)
        except subprocess.TimeoutExpired:
            self.stop()
            return f"it took more than {duration(limit_s)}"
        return f"the process ended with {'signal ' + str(-code) if code < 0 else 'exit code ' + str(code)}"

    def stop(self) -> None:
        """End the process."""
        if self._process.poll() is None:
            self._process.kill()
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
        while b"\n" not in self._buffer:
            if not self._selector.select(limit_s):
                return None
            more = os.read(self._answers, 1 << 16)
            if not more:
                return None
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\n")
        found: list[Any] = json.loads(line)
        return found


class WorkerPool:
    """Workers that share rows. `take` gets every finished point, from any thread; what it raises ends the work."""

    def __init__(self, jobs: int, limit_s: float, take: Callable[[Point, Loss], None]) -> None:
        self._jobs, self._limit, self._take = jobs, limit_s, take
        self._stopped = threading.Event()
        self._failed: list[BaseException] = []
        self._workers: dict[int, _Worker] = {}
        self._lock = threading.Lock()
        self._threads_each = max((os.cpu_count() or 1) // jobs, 1)

    def run(self, rows: Sequence[GridRow], setting: dict[str, Any]) -> None:
        """Compute rows. Raises ScriptFailed, what `take` raised, or KeyboardInterrupt, once all workers have ended."""
        left: queue.SimpleQueue[GridRow] = queue.SimpleQueue()
        for row in rows:
            left.put(row)
        threads = [
            threading.Thread(target=self._work, args=(number, left, setting), daemon=True)
            for number in range(min(self._jobs, len(rows)))
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():  # a wait without a limit would not be interrupted by Ctrl-C
                    thread.join(0.1)
        except BaseException:
            self._end()
            raise
        if self._failed:
            raise self._failed[0]

    def _end(self) -> None:
        self._stopped.set()
        with self._lock:
            for worker in self._workers.values():
                worker.stop()

    def _work(self, number: int, left: queue.SimpleQueue[GridRow], setting: dict[str, Any]) -> None:
        try:
            while not self._stopped.is_set():
                try:
                    row = left.get_nowait()
                except queue.Empty:
                    return
                self._row(number, row, setting)
        except BaseException as error:  # noqa: BLE001 - raised again by `run`
            if not self._stopped.is_set():
                self._failed.append(error)
                self._stopped.set()
        finally:
            self._drop(number)

    def _row(self, number: int, row: GridRow, setting: dict[str, Any]) -> None:
        """Compute a row; a place without a loss is tried once more alone."""
        places = list(row.places)
        again: list[GridPlace] = []

        def take(place: GridPlace, loss: Loss) -> None:
            if math.isnan(loss.value):
                again.append(place)
            else:
                self._take(Point(row.surface, place.row, place.column), loss)

        while places and not self._stopped.is_set():
            ended = self._worker(number, setting).losses(places, self._limit, take)
            if ended is None:
                break
            self._drop(number)
            again.append(ended)
            places = places[places.index(ended) + 1 :]
        for place in again:
            if not self._stopped.is_set():
                self._take(Point(row.surface, place.row, place.column), self._once_more(number, place, setting))

    def _once_more(self, number: int, place: GridPlace, setting: dict[str, Any]) -> Loss:
        found: list[Loss] = []
        worker = self._worker(number, setting)
        if worker.losses([place], self._limit, lambda _, loss: found.append(loss)) is None:
            return found[0]
        reason = worker.why_ended(self._limit)
        self._drop(number)
        return Loss(math.nan, reason)

    def _worker(self, number: int, setting: dict[str, Any]) -> _Worker:
        found = self._workers.get(number)
        if found is not None:
            return found
        for _ in range(STARTS):
            found = _Worker(setting, self._threads_each)
            with self._lock:
                self._workers[number] = found
            if found.begin():
                return found
            self._drop(number)
            if self._stopped.is_set():
                break
        raise ScriptFailed(f"the script ended its process or took more than {duration(READY_S)} to be ready")

    def _drop(self, number: int) -> None:
        with self._lock:
            found = self._workers.pop(number, None)
        if found is not None:
            found.stop()
