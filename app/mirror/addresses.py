"""Addresses of remote runs: `s3://bucket/path`, `ssh://host/path`, and those of other packages of fsspec."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from urllib.parse import unquote

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]{0,30})://(.*)", re.DOTALL)
_SSH = ("ssh", "sftp")


class AddressError(ValueError):
    """An address cannot be mirrored. The text is what was expected; it has nothing of the address, which may hold a secret."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of remote runs. In `s3://bucket/path` the scheme is `s3` and the rest is `bucket/path`."""

    scheme: str
    rest: str

    @property
    def is_ssh(self) -> bool:
        """Return whether it is reached by ssh."""
        return self.scheme in _SSH

    @property
    def text(self) -> str:
        """Return the address as users write it."""
        return f"{self.scheme}://{self.rest}"

    @property
    def mark(self) -> str:
        """Return 16 hexadecimal digits that no other address has."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    @property
    def host(self) -> str:
        """Return the bucket, or the host with its user and port: `bucket` of `s3://bucket/path`."""
        return self.rest.partition("/")[0]

    @property
    def path(self) -> str:
        """Return the path within the bucket or on the host, without a slash at either end."""
        return self.rest.partition("/")[2].strip("/")


def is_address(text: str) -> bool:
    """Return whether a text has the form of an address, of whatever scheme."""
    return _SCHEME.match(text) is not None


def parse_address(text: str) -> Address:
    """Return the address that a text is. Raises AddressError.

    A password or a query with a signature is refused: process lists would show it.
    """
    found = _SCHEME.fullmatch(text)
    if found is None or "\0" in text:
        raise AddressError("an address such as s3://bucket/path or ssh://host/path")
    scheme, rest = found[1], found[2].rstrip("/")
    host = rest.partition("/")[0]
    if "@" in host and ":" in host.rpartition("@")[0]:
        raise AddressError("an address without a password: name it in the configuration of the library or of ssh")
    if scheme in ("http", "https") and "?" in rest:
        raise AddressError("an address without a query, which may hold a signature that process lists would show")
    if not host and scheme not in ("file", "local", "memory"):
        raise AddressError("an address with a bucket or host, such as s3://bucket/path or ssh://host/path")
    return Address(scheme, rest)


def split_host(host: str) -> tuple[str, str, int | None]:
    """Return (user, host, port) of `user@host:port`; "" and None where they are not given. Raises AddressError."""
    user, _, name = host.rpartition("@")
    found = re.fullmatch(r"(\[[0-9a-fA-F:.%]+\]|[^:\[\]]+)(?::(\d{1,5}))?", name)
    if found is None:
        raise AddressError("a host such as user@machine:22")
    return unquote(user), found[1].strip("[]"), int(found[2]) if found[2] else None
