"""The state file of a mirror: what is copied, what is not and why. The mirror writes it, the server shows it.

It is a hidden file in the directory of copies: two lines, each with its CRC32C before it, the facts about the mirror and a list
of all files. It has no secret, since neither addresses nor reasons can have one. A damaged one is thrown away: copies of the
right size and time are then known again, all others are compared or fetched.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator

import google_crc32c
import msgspec

from app.mirror import LOCK, OWN, STATE

LARGEST = 64 << 20
COPIED, GROWING, WAITING, LARGE, REMOVED, FAILED = "copied", "growing", "waiting", "large", "removed", "failed"


class RemoteEntry(msgspec.Struct, array_like=True):
    """A remote file. size, mtime and tag are those it was copied with, wanted those it has now.

    state: COPIED, GROWING (copied, and changed within ten minutes), WAITING (for its turn), LARGE (above the limit for one
    file), REMOVED (beyond the limit for all), FAILED with a reason (`app.mirror.remote.REASONS`) and a code. viewed is when its
    run was on screen last, in seconds since 1970, 0 for never; chosen whether a visitor asked for it though it is large.
    """

    name: str
    size: int
    mtime: float
    tag: str = ""
    wanted: int = 0
    state: str = WAITING
    reason: str = ""
    code: str = ""
    viewed: float = 0.0
    chosen: bool = False


class MirrorFacts(msgspec.Struct):
    """The mirror as a whole. reason and code say why the last listing failed, "" if it did not; retry_at when it is tried
    again, 0 for never. Times are in seconds since 1970, sizes in bytes; requests and bytes count those of this process."""

    address: str = ""
    started: float = 0.0
    listed: float = 0.0
    requests: int = 0
    bytes: int = 0
    most: int = 0
    largest: int = 0
    every: float = 0.0
    reason: str = ""
    code: str = ""
    retry_at: float = 0.0
    wishes: bool = False
    """Whether it reads wishes of a server: runs on screen, large files to fetch."""
    counts: dict[str, int] = {}
    """Number of files by state."""


class State(msgspec.Struct):
    """What the state file has."""

    facts: MirrorFacts
    entries: list[RemoteEntry]


def read_state(directory: str) -> State | None:
    """Return the state in a directory of copies; None if there is none, or it is damaged."""
    try:
        with open(os.path.join(directory, STATE), "rb") as stream:
            first, _, second = stream.read(LARGEST).partition(b"\n")
    except OSError:
        return None
    try:
        return State(
            msgspec.json.decode(_checked(first), type=MirrorFacts),
            msgspec.json.decode(_checked(second.removesuffix(b"\n")), type=list[RemoteEntry]),
        )
    except (ValueError, msgspec.DecodeError, RecursionError):
        return None


def read_facts(directory: str) -> MirrorFacts | None:
    """Return the facts in a state file, without its files; None if there is none, or they are damaged."""
    try:
        with open(os.path.join(directory, STATE), "rb") as stream:
            return msgspec.json.decode(_checked(stream.readline(1 << 20).removesuffix(b"\n")), type=MirrorFacts)
    except (OSError, ValueError, msgspec.DecodeError, RecursionError):
        return None


def write_state(directory: str, state: State) -> None:
    """Replace the state file."""
    lines = (msgspec.json.encode(state.facts), msgspec.json.encode(state.entries))
    replace_file(os.path.join(directory, STATE), b"".join(_checksum(line) + b" " + line + b"\n" for line in lines))


def replace_file(path: str, content: bytes) -> None:
    """Write a file that is complete or the one before it, readable by this user only."""
    descriptor, part = tempfile.mkstemp(prefix=f"{OWN}part-", dir=os.path.dirname(path))
    try:
        with open(descriptor, "wb") as stream:
            stream.write(content)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def _checksum(line: bytes) -> bytes:
    return b"%08x" % google_crc32c.value(line)


def _checked(line: bytes) -> bytes:
    if _checksum(line[9:]) + b" " != line[:9]:
        raise ValueError("expected a line with its checksum")
    return line[9:]


@contextlib.contextmanager
def locked(directory: str) -> Iterator[bool]:
    """Hold the lock of a directory of copies as long as this process lives; False if another mirror has it."""
    import fcntl

    with open(os.path.join(directory, LOCK), "ab") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def is_running(directory: str) -> bool:
    """Return whether a mirror works on a directory of copies: whether its lock is held, which ends with the process."""
    import fcntl

    try:
        stream = open(os.path.join(directory, LOCK), "rb")  # noqa: SIM115  closed below
    except OSError:
        return False
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False
