"""Runs one case within its limits, in a process of its own where it may hang, crash or take all memory.

A case fails if it raises what is not documented, takes more than CPU_S seconds of processor time, or more than MEMORY bytes.
What Python cannot stop (a loop in C) is killed by the system a little later.
"""

from __future__ import annotations

import mmap
import os
import resource
import select
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from types import FrameType

from tests.fuzz.mutated_texts import MOST
from tests.fuzz.promises import everything
from tests.fuzz.targets import Target

CPU_S = 1.0
MEMORY = 400 << 20
KILLED_S = 4.0
"""Seconds of processor time after which the system ends the process."""
STUCK_S = 60.0
"""Seconds without progress after which a process is ended that uses no processor time, such as one that waits for a pipe."""
_IN_A_LIBRARY = f"took more than {KILLED_S:g} s of processor time in a library"
_OURS = tuple(f"{os.sep}{name}{os.sep}" for name in ("parsers", "app", "layouts", "fuzz"))


class OutOfTime(BaseException):
    """A case took more than CPU_S; no reader catches it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that failed: target, bytes, what happened in one line (equal for the same fault), and the traceback."""

    target: str
    data: bytes
    what: str
    details: str = ""


def execute(target: Target, data: bytes, folder: str) -> Failure | None:
    """Run one case in this process, whose limits are those of `limited`; None if all is well."""
    begun = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, CPU_S)
    signal.setitimer(signal.ITIMER_VIRTUAL, KILLED_S)
    try:
        try:
            target.run(data, folder)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except target.refuses:
        pass
    except OutOfTime as error:
        return Failure(target.name, data, f"took more than {CPU_S:g} s of processor time", _trace(error))
    except Exception as error:
        return Failure(target.name, data, f"{type(error).__name__} at {_place(error)}", _trace(error))
    if time.process_time() - begun > CPU_S:
        return Failure(target.name, data, f"took more than {CPU_S:g} s of processor time")
    return None


def _place(error: BaseException) -> str:
    """Return file and function, of our own code, that raised an error."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if any(part in frame.filename for part in _OURS)]
    ours = frames[-1] if frames else None
    return f"{os.path.basename(ours.filename)}:{ours.name}" if ours else "an unknown place"


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error, limit=-12))[-4000:]


def _out_of_time(_number: int, _frame: FrameType | None) -> None:
    raise OutOfTime


def limit() -> None:
    """Limit this process for the rest of its life; it is one made for cases."""
    signal.signal(signal.SIGPROF, _out_of_time)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform.startswith("linux"):
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


class Slot:
    """Memory shared with a process that runs cases: turns and cases of each target, and what is running."""

    _HEAD = struct.Struct("<QQ")

    def __init__(self, targets: int) -> None:
        self._counts = struct.Struct(f"<{targets}Q")
        self._turns = self._counts.size + self._HEAD.size + MOST
        self._steps = self._turns + self._counts.size
        self._shared = mmap.mmap(-1, self._steps + 8)

    def turns(self) -> tuple[int, ...]:
        """Return how many turns each target has had."""
        return self._counts.unpack_from(self._shared, self._turns)

    def take_turn(self, number: int) -> None:
        """Note that a target (its number) has its turn; a process that ends during it does not have it again."""
        at = self._turns + number * 8
        struct.pack_into("<Q", self._shared, at, struct.unpack_from("<Q", self._shared, at)[0] + 1)

    def begin(self, number: int, data: bytes, *, again: bool = False) -> None:
        """Note the target (its number) and the bytes of the case that runs next, and count it unless it runs again."""
        at = number * 8
        count = struct.unpack_from("<Q", self._shared, at)[0]
        struct.pack_into("<Q", self._shared, self._steps, self.steps() + 1)
        begin = self._counts.size
        self._HEAD.pack_into(self._shared, begin, number + 1, len(data))
        self._shared[begin + self._HEAD.size : begin + self._HEAD.size + len(data)] = data
        struct.pack_into("<Q", self._shared, at, count + (not again))

    def end(self) -> None:
        """Note that no case is running."""
        self._HEAD.pack_into(self._shared, self._counts.size, 0, 0)

    def running(self) -> tuple[int, bytes] | None:
        """Return target and bytes of the case that is running, or during which the process ended."""
        number, size = self._HEAD.unpack_from(self._shared, self._counts.size)
        begin = self._counts.size + self._HEAD.size
        return (number - 1, self._shared[begin : begin + size]) if number else None

    def steps(self) -> int:
        """Return how often a case has begun, those that ran again included: it grows as long as there is progress."""
        return int(struct.unpack_from("<Q", self._shared, self._steps)[0])

    def counts(self) -> tuple[int, ...]:
        """Return the number of cases run of each target."""
        return self._counts.unpack_from(self._shared)


Work = Callable[[Callable[[Failure], None]], None]
"""What a process does; it calls what it is given with each failure."""


def in_process(work: Work, slot: Slot, names: list[str], said: str = "") -> Iterator[Failure]:
    """Do work in a limited process that is a copy of this one, and yield its failures, the one that ended it last.

    RuntimeError if it ends with a status outside of any case: a fault of the fuzzer. Its file `said` is quoted.
    """
    receiving, sending = Pipe(duplex=False)
    sys.stdout.flush()
    process = os.fork()
    if not process:
        _child(work, sending)
    sending.close()
    try:
        status = yield from _followed(process, receiving, slot)
    except BaseException:  # this process is to end: its copy would go on
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        raise
    finally:
        receiving.close()
    running = slot.running()
    if running is None:
        if status:
            raise RuntimeError(f"the process that runs cases ended with status {status}, outside of any case{_quoted(said)}")
        return
    slot.end()
    if status:
        number = os.WTERMSIG(status)
        killed: dict[int, str] = {signal.SIGVTALRM: _IN_A_LIBRARY, signal.SIGKILL: "hung"}
        what = killed.get(number, f"ended the process with signal {number}") if os.WIFSIGNALED(status) else "ended the process"
        yield Failure(names[running[0]], running[1], what)


def _quoted(path: str) -> str:
    if not os.path.exists(path):
        return ""
    with open(path, "rb") as file:
        file.seek(max(os.path.getsize(path) - 4000, 0))
        return f":\n{file.read().decode(errors='replace')}"


def _child(work: Work, sending: Connection) -> None:
    code = 1
    try:
        work(sending.send)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _followed(process: int, receiving: Connection, slot: Slot) -> Generator[Failure, None, int]:
    """Yield what a process sends until it ends; return its status. One that makes no progress is ended."""
    seen, since = slot.steps(), time.monotonic()
    while True:
        ready, _, _ = select.select([receiving], [], [], 1.0)
        if ready:
            try:
                yield receiving.recv()
            except EOFError:
                return os.waitpid(process, 0)[1]
        if slot.steps() != seen:
            seen, since = slot.steps(), time.monotonic()
        elif time.monotonic() - since > STUCK_S:
            os.kill(process, signal.SIGKILL)


@contextmanager
def scratch() -> Iterator[str]:
    """Yield a directory in memory for the files of cases, and remove it afterwards.

    Until then it is also where readers put their temporary files: the copies of databases with a log, for instance.
    """
    memory, usual = "/dev/shm", tempfile.tempdir
    folder = tempfile.mkdtemp(prefix="mindscope-fuzz-", dir=memory if os.path.isdir(memory) else None)
    tempfile.tempdir = os.path.join(folder, "temporary")
    os.mkdir(tempfile.tempdir)
    try:
        yield folder
    finally:
        tempfile.tempdir = usual
        shutil.rmtree(folder, ignore_errors=True)


def attempt(target: Target, data: bytes, folder: str) -> Failure | None:
    """Run one case in a process of its own, and check all that is promised of it."""
    slot = Slot(1)

    def work(report: Callable[[Failure], None]) -> None:
        limit()
        slot.begin(0, data)
        with everything():
            failure = execute(target, data, folder)
        slot.end()
        if failure is not None:
            report(failure)

    return next(in_process(work, slot, [target.name]), None)
