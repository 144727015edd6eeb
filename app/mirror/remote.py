"""The interface of a store of remote files, and the errors of failed requests, which quote nothing that could be secret."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

REASONS = (
    "refused", "host_key", "missing", "busy", "broken", "unreachable", "slow", "short", "full", "unwritable", "name", "case",
    "link", "package", "changed", "unknown",
)  # fmt: skip
"""Why something failed. Pages and terminal have a sentence for each; libraries' own messages, which may quote what they were
given, are shown nowhere."""


class RemoteError(Exception):
    """A request failed. reason is one of REASONS; code is the short word of the server or the error's class, "" for none."""

    def __init__(self, reason: str, code: str = "") -> None:
        super().__init__(f"{reason} ({code})" if code else reason)
        self.reason, self.code = reason, code


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A remote file. name is its path below the address, with "/"; tag is its ETag or "", mtime is in seconds since 1970."""

    name: str
    size: int
    mtime: float
    tag: str = ""


@dataclass(slots=True)
class TransferCounts:
    """Requests sent and bytes of files received."""

    requests: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class RemoteFiles:
    """Files below a prefix, and names that cannot be copied with the reason."""

    files: Sequence[RemoteFile]
    problems: Sequence[tuple[str, str]] = field(default=())


class Remote(Protocol):
    """A place with remote files. Every method raises RemoteError only."""

    counts: TransferCounts

    async def open(self) -> None:
        """Connect."""
        ...

    async def close(self) -> None:
        """End all connections."""
        ...

    async def listing(self, directory: str, *, below: bool) -> RemoteFiles:
        """Return the files of a directory ("" for the address itself), with below also those of all directories in it."""
        ...

    def read(self, file: RemoteFile, begin: int) -> AsyncGenerator[bytes, None]:
        """Yield the bytes of a file from `begin` to its listed size, of one version of it, in pieces of at most a few MiB.

        Fewer bytes than that are a RemoteError, after those that came.
        """
        ...
