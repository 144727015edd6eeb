"""The running servers of this user: record them, list them and stop them.

Each server keeps a record, `<cache>/servers/<machine>@<address>@<port>.json`, while it runs. A record identifies a process by
its id and start time, so a process that reuses the id is never mistaken for a server and never signalled. Several machines may
share the directory: each reads only its own records.
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
"""Name of the directory of records inside the cache directory."""


@dataclass(frozen=True, slots=True)
class ServerRecord:
    """A running server.

    started is an opaque text that distinguishes two processes with the same id; since is the start time in seconds since 1970.
    address and port are those it listens on.
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
    """Return the directory of records without creating it. --workspace does not change it, so `status` finds every server."""
    return os.path.join(workspace.cache_directory(), RECORDS)


def file_stem(address: str, port: int) -> str:
    """Return machine, address and port as a file name without suffix; no two running servers share it."""
    return f"{_machine()}@{re.sub(r'[^A-Za-z0-9_.-]', '_', address)}@{port}"


def _machine() -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", socket.gethostname().lower())


def start_time(pid: int) -> str | None:
    """Return a text that differs for a later process with the same id, or None if there is no such process."""
    if os.path.isdir("/proc/self"):
        return _start_time_in_proc(pid)
    listed = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)  # noqa: S603, S607
    return listed.stdout.strip() or None


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


def own_record(*, url: str, address: str, port: int, base: str, directory: str, log: str) -> ServerRecord:
    """Return the record of this process."""
    pid = os.getpid()
    return ServerRecord(pid, start_time(pid) or "", url, address, port, base, directory, log, time.time())


def is_running(record: ServerRecord) -> bool:
    """Return whether the recorded process, and not one that reuses its id, still runs as this user."""
    if start_time(record.pid) != record.started:
        return False
    try:
        os.kill(record.pid, 0)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def recorded(record: ServerRecord, directory: str) -> Iterator[None]:
    """Keep the record in the directory ("": nowhere) while the body runs.

    If it cannot be written, only `status` and `stop` are affected; a warning is logged.
    """
    if not directory:
        yield
        return
    path = os.path.join(directory, file_stem(record.address, record.port) + ".json")
    new = f"{path}.{record.pid}"
    try:
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
            stream.write(msgspec.json.encode(record))
        os.replace(new, path)
    except OSError as error:
        _log.warning("status and stop will not find this server: %s", error)
    try:
        yield
    finally:
        if _read(path) == record:
            with contextlib.suppress(OSError):
                os.unlink(path)


def running(directory: str | None = None) -> list[ServerRecord]:
    """Return this user's running servers on this machine, sorted by port; remove the records of servers that have ended.

    directory overrides `records_directory()`.
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


def at_port(port: int) -> list[ServerRecord]:
    """Return this user's servers on a port: at most one for each address of this machine."""
    return [record for record in running() if record.port == port]


def _read(path: str) -> ServerRecord | None:
    try:
        with open(path, "rb") as stream:
            if hasattr(os, "getuid") and os.fstat(stream.fileno()).st_uid != os.getuid():
                return None
            return msgspec.json.decode(stream.read(65536), type=ServerRecord)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def stop(record: ServerRecord, patience: float = 15.0) -> bool:
    """Stop the server with SIGTERM, and with SIGKILL after patience seconds; return whether it has ended."""
    for number, seconds in ((signal.SIGTERM, patience), (signal.SIGKILL, 2.0)):
        with contextlib.suppress(ProcessLookupError):
            _send(record, number)
        if _ends(record, seconds):
            return True
    return False


def _send(record: ServerRecord, number: signal.Signals) -> None:
    """Signal the recorded process, never one that reuses its id."""
    if not hasattr(os, "pidfd_open"):
        if is_running(record):
            os.kill(record.pid, number)
        return
    handle = os.pidfd_open(record.pid)
    try:
        # Checked after the handle was opened: the handle stays with its process even if the id is reused.
        if is_running(record):
            signal.pidfd_send_signal(handle, number)
    finally:
        os.close(handle)


def _ends(record: ServerRecord, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while is_running(record):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def listener(port: int) -> str | None:
    """Return this user's process that listens on a TCP port, as "name (pid 123)", or None if it cannot be found."""
    sockets = {f"socket:[{inode}]" for inode in _listening_inodes(port)}
    if not sockets:
        return None
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if any(os.readlink(entry.path) in sockets for entry in os.scandir(f"/proc/{pid}/fd")):
                with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as stream:
                    return f"{stream.read().strip()} (pid {pid})"
        except OSError:
            continue  # owned by another user, or ended
    return None


def _listening_inodes(port: int) -> Iterator[str]:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table, encoding="ascii") as stream:
                rows = [line.split() for line in stream][1:]
        except OSError:
            continue
        yield from (row[9] for row in rows if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port)
