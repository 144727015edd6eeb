"""A mirror of remote runs, as data health shows it: what is copied, what is not and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class MirrorFile:
    """A remote file that is not copied.

    state is "large", "removed" or "failed"; reason one of `layouts.shell.mirror_texts.REASONS`, "" unless it failed; code a
    short word of the server.
    """

    name: str
    size: int
    state: str
    reason: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class MirrorStatus:
    """A mirror. reason says why the last listing failed, "" if it did not; retry_at when it is tried again, 0 for never.

    counts: number of files by state ("copied", "growing", "waiting", "large", "removed", "failed"). requests and bytes are of
    this process. Times are in seconds since 1970. fetches: whether visitors may ask for large files.
    """

    address: str
    running: bool
    reason: str = ""
    code: str = ""
    retry_at: float = 0.0
    listed: float = 0.0
    requests: int = 0
    bytes: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    files: Sequence[MirrorFile] = ()
    fetches: bool = False
