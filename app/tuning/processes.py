"""The processes of trials: start them, find them again after a crash of the tuner, ask how they ended, end them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.commands.processes import start_time
from app.tuning import keeper
from parsers.tuning.hyper_config import DEVICE, LONGEST, VARIABLES
from parsers.tuning.recording import hyper_config

TRIAL = "MINDSCOPE_TRIAL"
"""Environment variable of all processes of a trial: the directory of its run."""
SECRET = "MINDSCOPE_STORAGE"  # noqa: S105  the name of a variable
HEAD = TAIL = 1 << 20
"""Bytes of output that are kept of the beginning and of the end."""
GRACE = 10.0
"""Seconds between asking processes to end and killing them."""
LINES = 20
_LONGEST_OUTPUT = 4_000
_STATUS, _LOG, _ASKED = "status.json", "output.log", "start.json"


def machine() -> str:
    """Return what process ids are unique in: this start of the machine, and within it this container. "" if unknown."""
    with contextlib.suppress(OSError), open("/proc/sys/kernel/random/boot_id", encoding="ascii") as stream:
        return f"{stream.read().strip()} {os.readlink('/proc/self/ns/pid')}"
    return ""


class TrialStartError(Exception):
    """A trial cannot be started; the text says why."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a trial ended.

    exit is the exit code (negative: the signal), None if unknown. why: exit, time_limit, ended (asked to), not_started, lost
    (its keeper was killed), not_kept (the keeper could not write to the workspace, so nothing was started). left is the
    number of processes it left behind, which were killed. ended is when it ended; of a lost one without processes, when it last
    wrote anything. cpu_s is its processor time.
    """

    exit: int | None
    why: str
    error: str = ""
    left: int = 0
    began: float | None = None
    ended: float | None = None
    cpu_s: float | None = None


def environment_of(
    settings: Mapping[str, Any], run: str, custom: Mapping[str, Any], device: str, base: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return the environment of a trial. TrialStartError if the settings are longer than scripts may be given."""
    text = hyper_config(settings, run, custom)
    if len(text) > LONGEST:
        raise TrialStartError(f"the settings take {len(text):,} characters of JSON; expected at most {LONGEST:,}")
    made = {name: value for name, value in base.items() if name != SECRET}
    made |= dict.fromkeys(VARIABLES, text)
    made[TRIAL] = run
    if device:
        made |= dict.fromkeys(DEVICE, device) | {"DEVICE_ID": "0"}
    return made


class TrialProcess:
    """The process of one trial, started here or found again. directory is its own in the workspace."""

    def __init__(self, directory: str, process: subprocess.Popen[bytes] | None = None) -> None:
        self.directory = directory
        self._process = process
        self._identity: tuple[int, str | None] | None = None
        if process is not None:
            self._identity = (process.pid, start_time(process.pid))
        self._asked_to_end = 0.0

    @property
    def log(self) -> str:
        """The file with its output."""
        return os.path.join(self.directory, _LOG)

    @property
    def identity(self) -> list[Any]:
        """Id and start time of its keeper, as JSON values."""
        return list(self._identity or (0, None))

    def _status(self) -> Mapping[str, Any]:
        return status_in(self.directory)

    def poll(self) -> Ending | None:
        """Return how it ended, None while it runs."""
        status = self._status()
        if status.get("state") == "ended":
            if self._process is not None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(5)
            return Ending(status.get("exit"), str(status.get("why")), str(status.get("error", "")), int(status.get("left", 0)),
                          status.get("began"), status.get("ended"), status.get("cpu"))  # fmt: skip
        if self._alive(status):
            if self._asked_to_end and time.monotonic() > self._asked_to_end + GRACE + 10:
                self.kill()
            return None
        again = self._status()
        if again.get("state") == "ended":
            return self.poll()
        if not again:
            return Ending(None, "not_kept")
        left = kill_all(self.directory, status)
        ended = time.time() if left else last_sign(self.directory)
        return Ending(None, "lost", left=left, began=status.get("began"), ended=ended)

    def _alive(self, status: Mapping[str, Any]) -> bool:
        if self._process is not None:
            code = self._process.poll()
            if code != keeper.TAKEN:
                return code is None
            self._process = self._identity = None  # a tuner that was killed has just started it, too
        if self._identity is None:
            pid = status.get("keeper", 0)
            found = start_time(pid) if isinstance(pid, int) and pid > 1 else None
            if found is None or not _is_keeper(pid, self.directory):
                return False
            self._identity = (pid, found)
        pid, started = self._identity
        return started is not None and start_time(pid) == started

    def end(self) -> None:
        """Ask its processes to end; they are killed GRACE seconds later."""
        if not self._asked_to_end:
            self._asked_to_end = time.monotonic()
            self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill all of its processes."""
        status = self._status()
        self._signal(signal.SIGKILL)
        kill_all(self.directory, status)

    def _signal(self, number: int) -> None:
        if self._alive(self._status()) and self._identity is not None:
            with contextlib.suppress(OSError):
                os.kill(self._identity[0], number)

    def last_lines(self) -> str:
        """Return the last lines of its output."""
        return last_lines(self.log)


def start(directory: str, command: Sequence[str], environment: Mapping[str, str], *, time_limit: float | None) -> TrialProcess:
    """Start a trial in a session of its own. TrialStartError if its keeper cannot be started."""
    asked = os.path.join(directory, _ASKED)
    spec = {
        "command": list(command), "status": os.path.join(directory, _STATUS), "log": os.path.join(directory, _LOG),
        "time_limit": time_limit, "grace": GRACE, "head": HEAD, "tail": TAIL,
    }  # fmt: skip
    try:
        with open(os.open(asked, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as stream:
            json.dump(spec, stream)
        process = subprocess.Popen(  # noqa: S603  the command of the user's own configuration
            [sys.executable, "-I", "-S", str(keeper.__file__), asked], env=dict(environment), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise TrialStartError(f"{command[0]}: {error.strerror or error}") from None
    return TrialProcess(directory, process)


def found_again(directory: str) -> TrialProcess | None:
    """Return the trial that a former tuner has started here, None if it did not."""
    return TrialProcess(directory) if status_in(directory) else None


def status_in(directory: str) -> Mapping[str, Any]:
    """Return what the keeper of a trial has noted, empty if it has not begun."""
    for _ in range(3):
        try:
            with open(os.path.join(directory, _STATUS), "rb") as stream:
                found = json.loads(stream.read(keeper.SIZE))
            return found if isinstance(found, dict) else {}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            time.sleep(0.01)  # it is being written
    return {"state": "unreadable"}


def processes_of(run: str) -> Iterator[int]:
    """Yield the ids of this user's processes that belong to the trial of a run (Linux)."""
    wanted = f"{TRIAL}={run}".encode()
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    for name in names:
        if name.isdecimal() and int(name) != os.getpid():
            with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as stream:
                if wanted in stream.read().split(b"\0"):
                    yield int(name)


def kill_all(directory: str, status: Mapping[str, Any]) -> int:
    """Kill what is left of a trial whose keeper is gone; return how many processes."""
    run = _run_of(directory)
    killed = 0
    for pid in list(processes_of(run)) if run else []:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
            killed += 1
    child = status.get("child")
    if not killed and isinstance(child, int) and child > 1 and not os.path.isdir("/proc/self"):
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)
            killed += 1
    return killed


def last_sign(directory: str) -> float | None:
    """Return when a trial last wrote anything: its output, its state, or a file of its run; None if there is nothing."""
    places = [os.path.join(directory, name) for name in (_LOG, _STATUS)]
    run = _run_of(directory)
    for parent, _, names in os.walk(run) if run else ():
        places += [os.path.join(parent, name) for name in names]
    signs = []
    for place in places:
        with contextlib.suppress(OSError):
            signs.append(os.stat(place).st_mtime)
    return max(signs, default=None)


def note_run(directory: str, run: str) -> None:
    """Note the directory of the run, by which processes are found."""
    with open(os.open(os.path.join(directory, "run"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
        stream.write(run)


def _run_of(directory: str) -> str:
    try:
        with open(os.path.join(directory, "run"), encoding="utf-8") as stream:
            return stream.read()
    except (OSError, ValueError):
        return ""


def _is_keeper(pid: int, directory: str) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as stream:
            return os.fsencode(os.path.join(directory, _ASKED)) in stream.read().split(b"\0")
    except FileNotFoundError:
        return not os.path.isdir("/proc/self")
    except OSError:
        return False


def last_lines(path: str) -> str:
    """Return the last LINES lines of a file, at most 4,000 characters; control characters other than tabs are removed."""
    try:
        with open(path, "rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(size - 4 * _LONGEST_OUTPUT, 0))
            text = stream.read().decode("utf-8", "replace")
    except OSError:
        return ""
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")[-LINES:]
    shown = [line.rpartition("\r")[2] if "\r" in line.rstrip("\r") else line.rstrip("\r") for line in lines]
    clean = "\n".join("".join(c for c in line if c.isprintable() or c == "\t") for line in shown)
    return clean[-_LONGEST_OUTPUT:]
