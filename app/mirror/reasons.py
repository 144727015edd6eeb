"""Why something is not copied, in words for the terminal. Pages have texts of their own (`layouts.shell.mirror_texts`)."""

from __future__ import annotations

from app.mirror.remote import RemoteError

_REASONS = {
    "refused": "access was refused: check the credentials",
    "host_key": "the key of the host is not known: connect once with ssh and confirm it",
    "missing": "there is no such bucket or directory",
    "busy": "the server is busy",
    "broken": "the server failed",
    "unreachable": "the server cannot be reached",
    "slow": "the server did not answer in time",
    "short": "fewer bytes came than the file has",
    "full": "the disk is full",
    "unwritable": "the copy cannot be written",
    "name": "a file of this name cannot be written",
    "case": "the name differs from another one in case only, which this disk ignores",
    "link": "a link, which is not followed",
    "package": "a package is missing",
    "changed": "the file changed while it was read",
    "unknown": "an error",
}


def sentence(error: RemoteError) -> str:
    """Return the reason of a failure in English."""
    return _REASONS[error.reason] + (f" ({error.code})" if error.code else "")
