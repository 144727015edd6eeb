"""Chooses what reaches an address; each library is imported only for addresses that need it."""

from __future__ import annotations

import importlib

from app.mirror.addresses import Address
from app.mirror.remote import Remote, RemoteError


def remote_at(address: Address) -> Remote:
    """Return the remote place at an address, not connected yet. RemoteError "package" if its library is not installed."""
    module, name = {"s3": ("s3", "S3Remote"), "s3a": ("s3", "S3Remote")}.get(address.scheme, ("other", "OtherRemote"))
    if address.is_ssh:
        module, name = "ssh", "SshRemote"
    try:
        chosen = getattr(importlib.import_module(f"app.mirror.{module}"), name)
    except ImportError:
        raise RemoteError("package", {"s3": "mindscope[s3]", "ssh": "mindscope[ssh]"}.get(module, "fsspec")) from None
    made: Remote = chosen(address)
    return made
