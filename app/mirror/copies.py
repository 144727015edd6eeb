"""The copies on disk: appended to when the remote file has grown, otherwise fetched under a hidden name and renamed.

At every moment a copy is all of a version of the remote file or the beginning of one, never parts of two: a process that is
killed leaves hidden files at most, which the next one removes.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import tempfile
from collections.abc import Iterator

from app.mirror import OWN
from app.mirror.names import is_safe
from app.mirror.remote import Remote, RemoteError, RemoteFile
from parsers.files import TAIL

_PART = f"{OWN}part-"


class Copies:
    """The files below one directory. ignores_case: whether names that differ in case only are one file there."""

    def __init__(self, directory: str) -> None:
        self.directory = os.path.realpath(directory)
        self.ignores_case = _ignores_case(self.directory)

    def path(self, name: str) -> str:
        """Return the path of a copy. Raises RemoteError for a name that leads outside, also by a link on this disk."""
        if not is_safe(name):
            raise RemoteError("name")
        path = os.path.join(self.directory, *name.split("/"))
        parent = os.path.realpath(os.path.dirname(path))
        if parent != os.path.dirname(path) or os.path.islink(path):
            raise RemoteError("name")
        return path

    def state(self, name: str) -> tuple[int, float] | None:
        """Return (size, mtime) of a copy, None if there is none."""
        try:
            status = os.lstat(os.path.join(self.directory, *name.split("/")))
        except (OSError, ValueError):
            return None
        return status.st_size, status.st_mtime

    def clean(self) -> None:
        """Remove what a process that was killed has left."""
        for parent, _, names in os.walk(self.directory):
            for name in names:
                if name.startswith(_PART):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(os.path.join(parent, name))

    def remove(self, name: str) -> None:
        """Remove a copy and the directories that are empty without it."""
        path = self.path(name)
        with _writing(), contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        parent = os.path.dirname(path)
        with contextlib.suppress(OSError):
            while parent != self.directory:
                os.rmdir(parent)
                parent = os.path.dirname(parent)

    async def bring(self, remote: Remote, file: RemoteFile) -> None:
        """Make the copy of a file what the remote file was when it was listed. Raises RemoteError."""
        path = self.path(file.name)
        there = self.state(file.name)
        if not (there and 0 < there[0] < file.size and await self._append(remote, file, path, there[0])):
            await self._fetch(remote, file, path)
        if (self.state(file.name) or (0, 0.0))[0] < file.size:
            raise RemoteError("short")
        with _writing():
            os.utime(path, (file.mtime, file.mtime))

    async def _append(self, remote: Remote, file: RemoteFile, path: str, size: int) -> bool:
        """Append what the remote file has grown by; return False, with nothing written, if it is not the same file."""
        with _writing():
            stream = open(path, "r+b", buffering=0)  # noqa: SIM115  closed below
        with stream:
            begin = max(size - TAIL, 0)
            stream.seek(begin)
            tail = stream.read(size - begin) or b""
            head = b""
            pieces = remote.read(file, begin)
            async with contextlib.aclosing(pieces):
                async for piece in pieces:
                    if len(head) < len(tail):
                        head += piece
                        if head[: len(tail)] != tail[: len(head)]:
                            return False
                        piece = head[len(tail) :]
                    if piece:
                        _write(stream.fileno(), piece)
        return len(head) >= len(tail)

    async def _fetch(self, remote: Remote, file: RemoteFile, path: str) -> None:
        with _writing():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            descriptor, part = tempfile.mkstemp(prefix=_PART, dir=os.path.dirname(path))
        try:
            with open(descriptor, "wb", buffering=0) as stream:
                written = 0
                pieces = remote.read(file, 0)
                async with contextlib.aclosing(pieces):
                    async for piece in pieces:
                        _write(stream.fileno(), piece)
                        written += len(piece)
            if written != file.size:
                raise RemoteError("short")
            with _writing():
                os.utime(part, (file.mtime, file.mtime))
                os.replace(part, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(part)
            raise


def _write(descriptor: int, piece: bytes) -> None:
    left = memoryview(piece)
    with _writing():
        while left:
            left = left[os.write(descriptor, left) :]


@contextlib.contextmanager
def _writing() -> Iterator[None]:
    """Turn what the disk refuses into a RemoteError."""
    try:
        yield
    except FileNotFoundError:
        raise RemoteError("changed") from None
    except (IsADirectoryError, NotADirectoryError, FileExistsError):
        raise RemoteError("name") from None
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise RemoteError("full" if full else "unwritable", errno.errorcode.get(error.errno or 0, "")) from None


def _ignores_case(directory: str) -> bool:
    name = f"{OWN}case-{hashlib.sha256(directory.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"
    path = os.path.join(directory, name)
    with open(path, "wb"):
        pass
    try:
        return os.path.exists(os.path.join(directory, name.upper()))
    finally:
        os.unlink(path)
