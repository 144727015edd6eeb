"""Runs on a machine that is reached by ssh, by SFTP, with asyncssh.

sshfs of fsspec is a layer over asyncssh that hides which request failed and turns its errors into others; what a mirror needs
is three calls of asyncssh itself.

Host, user, keys and jump hosts come from `~/.ssh/config` and the agent. The key of the host must be in `known_hosts`; nothing
is asked for: a key with a passphrase works through the agent only. Links are not followed: they could lead anywhere there.
"""

from __future__ import annotations

import asyncio
import stat
from collections.abc import AsyncGenerator
from typing import Any

import asyncssh

from app.mirror.addresses import Address, split_host
from app.mirror.remote import RemoteError, RemoteFile, RemoteFiles, TransferCounts

PIECE = 1 << 20
_SECONDS = 20
_DEEPEST = 64
_FAILURES = (asyncssh.Error, OSError, ValueError, asyncio.IncompleteReadError)


class SshRemote:
    """The files below a directory of another machine. `ssh://host/path` is the path `/path`, `ssh://host/~/path` below home."""

    def __init__(self, address: Address) -> None:
        self.counts = TransferCounts()
        self._user, self._host, self._port = split_host(address.host)
        path = "/" + address.path
        self._base = path.removeprefix("/~/") if path.startswith("/~/") else "." if path == "/~" else path
        self._connection: Any = None
        self._session: Any = None
        self._turn = asyncio.Lock()

    async def open(self) -> None:
        """Connect."""
        await self._sftp()

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            await self._connection.wait_closed()

    async def _sftp(self) -> Any:
        """Return the session, a new one if the connection was lost."""
        async with self._turn:
            if self._connection is None or self._connection.is_closed():
                options: dict[str, Any] = {"connect_timeout": _SECONDS, "keepalive_interval": 15, "login_timeout": _SECONDS}
                options |= ({"username": self._user} if self._user else {}) | ({"port": self._port} if self._port else {})
                self.counts.requests += 1
                try:
                    self._connection = await asyncssh.connect(self._host, **options)
                    self._session = await self._connection.start_sftp_client()
                except _FAILURES as error:
                    raise _failure(error) from None
            return self._session

    async def listing(self, directory: str, *, below: bool) -> RemoteFiles:
        """Return the files of a directory; one request for a directory (and one more for each hundred names in it)."""
        sftp = await self._sftp()
        files: list[RemoteFile] = []
        problems: list[tuple[str, str]] = []
        pending = [directory]
        depth = 0
        while pending and depth < _DEEPEST:
            found = []
            for begin in range(0, len(pending), 32):
                found += await asyncio.gather(*(self._listed(sftp, place) for place in pending[begin : begin + 32]))
            pending = [name for directories, *_ in found for name in directories] if below else []
            depth += 1
            for _, own, refused in found:
                files += own
                problems += refused
        return RemoteFiles(files, problems)

    async def _listed(self, sftp: Any, place: str) -> tuple[list[str], list[RemoteFile], list[tuple[str, str]]]:
        directories, files, problems = [], [], []
        self.counts.requests += 1
        try:
            async for entry in sftp.scandir(self._path(place)):
                own = entry.filename
                own = own if isinstance(own, str) else own.decode("utf-8", "surrogateescape")
                if own in (".", ".."):
                    continue
                name, mode = f"{place}/{own}" if place else own, entry.attrs.permissions or 0
                if "/" in own or stat.S_ISLNK(mode):
                    problems.append((name, "link" if stat.S_ISLNK(mode) else "name"))
                elif stat.S_ISDIR(mode):
                    directories.append(name)
                elif stat.S_ISREG(mode):
                    files.append(RemoteFile(name, entry.attrs.size or 0, float(entry.attrs.mtime or 0)))
        except asyncssh.SFTPNoSuchFile as error:
            if not place:
                raise _failure(error) from None
        except asyncssh.SFTPPermissionDenied as error:
            if not place:
                raise _failure(error) from None
            problems.append((place, "refused"))
        except _FAILURES as error:
            raise _failure(error) from None
        return directories, files, problems

    async def read(self, file: RemoteFile, begin: int) -> AsyncGenerator[bytes, None]:
        """Yield the bytes of a file from a position on, all of the file that was opened."""
        left, at = file.size - begin, begin
        if left <= 0:
            return
        sftp = await self._sftp()
        self.counts.requests += 1
        try:
            async with sftp.open(self._path(file.name), "rb") as stream:
                while left and (piece := await stream.read(min(PIECE, left), at)):
                    self.counts.bytes += len(piece)
                    left, at = left - len(piece), at + len(piece)
                    yield piece
        except _FAILURES as error:
            raise _failure(error) from None
        if left:
            raise RemoteError("short")

    def _path(self, name: str) -> bytes:
        text = f"{self._base.rstrip('/')}/{name}" if name else self._base
        return (text or "/").encode("utf-8", "surrogateescape")


def _failure(error: Exception) -> RemoteError:
    """Return what failed, in words of our own."""
    name = type(error).__name__
    if isinstance(error, (asyncssh.HostKeyNotVerifiable, asyncssh.KeyExchangeFailed)):
        return RemoteError("host_key", name)
    if isinstance(error, (asyncssh.PermissionDenied, asyncssh.SFTPPermissionDenied, asyncssh.KeyImportError, PermissionError)):
        return RemoteError("refused", name)
    if isinstance(error, (asyncssh.SFTPNoSuchFile, FileNotFoundError)):
        return RemoteError("missing", name)
    if isinstance(error, TimeoutError):
        return RemoteError("slow")
    if isinstance(error, (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection, asyncssh.DisconnectError, OSError)):
        return RemoteError("unreachable", name)
    return RemoteError("unknown", name)
