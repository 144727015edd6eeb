"""Runs at any other address that fsspec has a package for (`gs://`, `abfs://`, `hdfs://`, ...), configured by `FSSPEC_*`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

import fsspec

from app.mirror.addresses import Address
from app.mirror.remote import RemoteError, RemoteFile, RemoteFiles, TransferCounts

PIECE = 4 << 20
_TIMES = ("mtime", "LastModified", "last_modified", "updated", "modified", "modificationTime", "created")
_TAGS = ("ETag", "etag", "md5Hash", "content_md5")

T = TypeVar("T")


class OtherRemote:
    """The files below an address, asked for by threads: most packages of fsspec wait."""

    def __init__(self, address: Address) -> None:
        self.counts = TransferCounts()
        self._address = address
        self._files: Any = None
        self._base = ""

    async def open(self) -> None:
        """Make the file system."""
        options = {"use_listings_cache": False, "skip_instance_cache": True}
        self._files, base = await self._asked(lambda: fsspec.core.url_to_fs(self._address.text, **options))
        self._base = base.rstrip("/")

    async def close(self) -> None:
        """Do nothing: file systems of fsspec close themselves."""

    async def listing(self, directory: str, *, below: bool) -> RemoteFiles:
        """Return the files of a directory."""
        place = f"{self._base}/{directory}" if directory else self._base
        found = await self._asked(lambda: self._find(place, below=below))
        return RemoteFiles([self._file(path, info) for path, info in found.items() if info.get("type") == "file"])

    def _find(self, place: str, *, below: bool) -> dict[str, dict[str, Any]]:
        self._files.invalidate_cache()
        if below:
            if not self._files.exists(place):
                raise FileNotFoundError(place)
            found: dict[str, dict[str, Any]] = self._files.find(place, detail=True)
            return found
        return {info["name"]: info for info in self._files.ls(place, detail=True)}

    def _file(self, path: str, info: dict[str, Any]) -> RemoteFile:
        times = (info[name] for name in _TIMES if info.get(name) is not None)
        tag = next((str(info[name]) for name in _TAGS if info.get(name)), "")
        return RemoteFile(path[len(self._base) :].lstrip("/"), int(info.get("size") or 0), _seconds(next(times, 0.0)), tag)

    async def read(self, file: RemoteFile, begin: int) -> AsyncGenerator[bytes, None]:
        """Yield the bytes of a file from a position on. A file of several pieces is several requests."""
        at, path = begin, f"{self._base}/{file.name}"
        while at < file.size:
            end = min(at + PIECE, file.size)
            piece: bytes = await self._asked(partial(self._files.cat_file, path, start=at, end=end))
            self.counts.bytes += len(piece)
            if len(piece) != end - at:
                yield piece[: end - at]
                raise RemoteError("short" if len(piece) < end - at else "broken")
            at = end
            yield piece

    async def _asked(self, ask: Callable[[], T]) -> T:
        self.counts.requests += 1
        try:
            return await asyncio.to_thread(ask)
        except Exception as error:  # noqa: BLE001  each package has its own errors; users see the kind, as the text may hold secrets
            raise _failure(error) from None


def _seconds(value: Any) -> float:
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).timestamp()
        except ValueError:
            return 0.0
    return float(value) if isinstance(value, (int, float)) else 0.0


def _failure(error: Exception) -> RemoteError:
    kinds: tuple[tuple[type[Exception], str], ...] = (
        (ImportError, "package"), (FileNotFoundError, "missing"), (PermissionError, "refused"), (TimeoutError, "slow"),
        (OSError, "unreachable"),
    )  # fmt: skip
    reason = next((reason for kind, reason in kinds if isinstance(error, kind)), "unknown")
    unknown = isinstance(error, ValueError) and "Protocol not known" in str(error)
    return RemoteError("package" if unknown else reason, type(error).__name__)
