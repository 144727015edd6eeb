"""The running servers of this user: who serves which directory at which port, and how one is stopped.

Each server keeps a record, `<cache>/servers/<machine>@<address>@<port>.json`, while it runs. A record names a process by its
id and the time it started, so that an id the system has given to another process since is never taken for a server and never
signalled. Machines may share the directory: each looks at its own records only.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from app.store import workspace

_log = logging.getLogger(__name__)

RECORDS = "servers"
"""The directory of the records, in the cache."""


@dataclass(frozen=True, slots=True)
class Record:
    """A running server. started is opaque text that tells two processes of one id apart; since is seconds since 1970.

    address and port are those it listens at.
    """

    pid: int
    started: str
    url: str
    address: str
    port: int
    base: str
    workspace: str
    log: str
    since: float


def records_directory() -> str:
    """Where the records are, whatever --workspace says, so that `status` finds every server; nothing is made."""
    return os.path.join(workspace.cache_directory(), RECORDS)


def place(address: str, port: int) -> str:
    """Machine, address and port as the beginning of a file name: what no two running servers share."""
    return f"{_machine()}@{re.sub(r'[^A-Za-z0-9_.-]', '_', address)}@{port}"


def _machine() -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", socket.gethostname().lower())


def start_time(pid: int) -> str | None:
    """A text that differs between two processes which have the same id one after the other; None: there is no such process."""
    if os.path.isdir("/proc/self"):
        return _start_time_in_proc(pid)
    shown = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)  # noqa: S603, S607
    return shown.stdout.strip() or None


def _start_time_in_proc(pid: int) -> str | None:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stream:
            fields = stream.read().rpartition(")")[2].split()
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as stream:
            boot = stream.read().strip()
    except OSError:
        return None
    state, ticks = fields[0], fields[19]
    return None if state in "ZX" else f"{boot} {ticks}"


def own_record(*, url: str, address: str, port: int, base: str, directory: str, log: str) -> Record:
    """The record of this process."""
    pid = os.getpid()
    return Record(pid, start_time(pid) or "", url, address, port, base, directory, log, time.time())


def is_running(record: Record) -> bool:
    """Whether the very process of the record still runs, as this user."""
    if start_time(record.pid) != record.started:
        return False
    try:
        os.kill(record.pid, 0)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def recorded(record: Record, directory: str) -> Iterator[None]:
    """Keep the record in the directory ("": nowhere) while the body runs. A full disk costs `status` and `stop`, no more."""
    if not directory:
        yield
        return
    path = os.path.join(directory, place(record.address, record.port) + ".json")
    new = f"{path}.{record.pid}"
    try:
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
            stream.write(msgspec.json.encode(record))
        os.replace(new, path)
    except OSError as error:
        _log.warning("status and stop will not know this server: %s", error)
    try:
        yield
    finally:
        if _read(path) == record:
            with contextlib.suppress(OSError):
                os.unlink(path)


def running(directory: str | None = None) -> list[Record]:
    """The servers of this user that run now on this machine, by port. Records of servers that were killed are removed.

    directory is that of the records, where it is not `records_directory()`.
    """
    directory = directory or records_directory()
    own = f"{_machine()}@"
    try:
        names = [name for name in os.listdir(directory) if name.startswith(own) and name.endswith(".json")]
    except OSError:
        return []
    found = []
    for path in (os.path.join(directory, name) for name in names):
        record = _read(path)
        if record is not None and is_running(record):
            found.append(record)
        else:
            with contextlib.suppress(OSError):
                os.unlink(path)
    return sorted(found, key=lambda record: (record.port, record.address))


def at_port(port: int) -> list[Record]:
    """The servers of this user at a port: at most one for each address of this machine."""
    return [record for record in running() if record.port == port]


def _read(path: str) -> Record | None:
    try:
        with open(path, "rb") as stream:
            if hasattr(os, "getuid") and os.fstat(stream.fileno()).st_uid != os.getuid():
                return None
            return msgspec.json.decode(stream.read(65536), type=Record)
    except (OSError, msgspec.DecodeError):
        return None


def stop(record: Record, patience: float = 15.0) -> bool:
    """End the server: SIGTERM, and SIGKILL after patience seconds. Returns whether it has ended."""
    for number, seconds in ((signal.SIGTERM, patience), (signal.SIGKILL, 2.0)):
        with contextlib.suppress(ProcessLookupError):
            _send(record, number)
        if _ends(record, seconds):
            return True
    return False


def _send(record: Record, number: signal.Signals) -> None:
    """Signal the very process of the record."""
    if not hasattr(os, "pidfd_open"):
        if is_running(record):
            os.kill(record.pid, number)
        return
    handle = os.pidfd_open(record.pid)
    try:
        # Looked at after the handle was taken, which a reused id cannot deceive.
        if is_running(record):
            signal.pidfd_send_signal(handle, number)
    finally:
        os.close(handle)


def _ends(record: Record, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while is_running(record):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def listener(port: int) -> str | None:
    """Which process of this user listens at a TCP port, as "name (pid 123)"; None if it cannot be told."""
    sockets = {f"socket:[{inode}]" for inode in _listening_inodes(port)}
    if not sockets:
        return None
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if any(os.readlink(entry.path) in sockets for entry in os.scandir(f"/proc/{pid}/fd")):
                with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as stream:
                    return f"{stream.read().strip()} (pid {pid})"
        except OSError:
            continue  # of another user, or gone
    return None


def _listening_inodes(port: int) -> Iterator[str]:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table, encoding="ascii") as stream:
                rows = [line.split() for line in stream][1:]
        except OSError:
            continue
        yield from (row[9] for row in rows if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port)
