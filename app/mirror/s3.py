"""Runs in an object store that speaks S3, by s3fs: endpoint and credentials come from the user's own configuration.

s3fs sets up the client (`AWS_*`, `~/.aws`, `FSSPEC_S3_*`, roles and their renewal); the requests are sent by that client. No
listing is cached, and nothing is retried by the library, whose retries would hide from users what is wrong.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import aiohttp
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    IncompleteReadError,
    NoCredentialsError,
    ReadTimeoutError,
    ResponseStreamingError,
)
from s3fs import S3FileSystem

from app.mirror.addresses import Address
from app.mirror.remote import RemoteError, RemoteFile, RemoteFiles, TransferCounts

PIECE = 1 << 20
_REFUSED = (
    "AccessDenied", "AllAccessDisabled", "AuthorizationHeaderMalformed", "ExpiredToken", "InvalidAccessKeyId", "InvalidToken",
    "RequestTimeTooSkewed", "SignatureDoesNotMatch", "TokenRefreshRequired", "UnauthorizedAccess",
)  # fmt: skip
_OPTIONS = {"retries": {"total_max_attempts": 1}, "connect_timeout": 10, "read_timeout": 60, "max_pool_connections": 32}


class S3Remote:
    """The objects of a bucket below a path."""

    def __init__(self, address: Address) -> None:
        self.counts = TransferCounts()
        self._bucket = address.host
        self._prefix = f"{address.path}/" if address.path else ""
        self._files: Any = None
        self._client: Any = None

    async def open(self) -> None:
        """Set up the client."""
        try:
            self._files = S3FileSystem(
                asynchronous=True, use_listings_cache=False, skip_instance_cache=True, config_kwargs=_OPTIONS
            )
            self._client = await self._files.set_session()
        except (BotoCoreError, ValueError) as error:
            raise _failure(error) from None

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()

    async def listing(self, directory: str, *, below: bool) -> RemoteFiles:
        """Return the objects of a prefix; one request for a thousand."""
        prefix = self._prefix + (f"{directory}/" if directory else "")
        asked: dict[str, Any] = {"Bucket": self._bucket, "Prefix": prefix} | ({} if below else {"Delimiter": "/"})
        found, cut = [], len(self._prefix)
        while True:
            self.counts.requests += 1
            try:
                page = await self._client.list_objects_v2(**asked)
            except (BotoCoreError, ClientError, aiohttp.ClientError, OSError) as error:
                raise _failure(error) from None
            found += [
                RemoteFile(one["Key"][cut:], one["Size"], one["LastModified"].timestamp(), one.get("ETag", ""))
                for one in page.get("Contents", ()) if not one["Key"].endswith("/")
            ]  # fmt: skip
            if not page.get("IsTruncated"):
                return RemoteFiles(found)
            asked["ContinuationToken"] = page["NextContinuationToken"]

    async def read(self, file: RemoteFile, begin: int) -> AsyncGenerator[bytes, None]:
        """Yield the bytes of an object from a position on, of one version of it: they are one answer."""
        left = file.size - begin
        if left <= 0:
            return
        self.counts.requests += 1
        try:
            asked = f"bytes={begin}-{file.size - 1}"
            answer = await self._client.get_object(Bucket=self._bucket, Key=self._prefix + file.name, Range=asked)
            async with answer["Body"] as body:
                if not str(answer.get("ContentRange", "")).startswith(f"bytes {begin}-") and begin:
                    raise RemoteError("broken", "Range")
                while left and (piece := await body.read(min(PIECE, left))):
                    self.counts.bytes += len(piece)
                    left -= len(piece)
                    yield piece
        except (BotoCoreError, ClientError, aiohttp.ClientError, OSError) as error:
            raise _failure(error) from None
        if left:
            raise RemoteError("short")


def _failure(error: Exception) -> RemoteError:
    """Return what failed, in words of our own: messages of the library may quote what it was given."""
    if isinstance(error, ClientError):
        return _answered(error)
    if isinstance(error, NoCredentialsError):
        return RemoteError("refused", "NoCredentials")
    if isinstance(error, (ConnectTimeoutError, ReadTimeoutError, TimeoutError)):
        return RemoteError("slow")
    if isinstance(error, (aiohttp.ClientPayloadError, ResponseStreamingError, IncompleteReadError)):
        return RemoteError("short")
    if isinstance(error, (aiohttp.ClientError, OSError)) or "Connection" in type(error).__name__:
        return RemoteError("unreachable", type(error).__name__)
    if "Credential" in type(error).__name__ or "Token" in type(error).__name__ or "Profile" in type(error).__name__:
        return RemoteError("refused", type(error).__name__)
    return RemoteError("unknown", type(error).__name__)


def _answered(error: ClientError) -> RemoteError:
    code = str(error.response.get("Error", {}).get("Code", ""))
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    shown = code if code.isalnum() and len(code) <= 40 else str(status)
    if code in _REFUSED or status in (401, 403):
        return RemoteError("refused", shown)
    if code in ("NoSuchKey", "InvalidRange") or status == 416:
        return RemoteError("changed", shown)
    if status == 404:
        return RemoteError("missing", shown)
    if status in (429, 503):
        return RemoteError("busy", shown)
    return RemoteError("broken" if status >= 500 else "unknown", shown)
