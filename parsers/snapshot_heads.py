"""Tells by its beginning whether a file is a memory snapshot of torch, and keeps the answer with its size and time."""

from __future__ import annotations

import os
import re

from parsers.caches import Cache
from parsers.files import RegularFile

ENDINGS = (".pickle", ".pkl")
"""How the names of files end whose beginning is looked at."""
_HEAD = 4 << 10
_MOST_KNOWN = 100_000
_RANK = re.compile(r"(?:^|[^a-zA-Z])rank[_-]?(\d{1,9})(?:$|[^\d])", re.IGNORECASE)
_known: Cache[str, tuple[int, int, bool]] = Cache(_MOST_KNOWN)


def is_snapshot(path: str) -> bool:
    """Return whether a file is a snapshot, by 4 kB of it; one that cannot be read, or is no regular file, is none."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    known = _known.get(path)
    if known is None or known[:2] != (status.st_size, status.st_mtime_ns):
        from parsers.memory_snapshots import is_memory_snapshot  # few directories have such files

        try:
            with RegularFile(path) as file:
                known = status.st_size, status.st_mtime_ns, is_memory_snapshot(file.read(0, _HEAD))
        except OSError:
            return False
        _known.put(path, known)
    return known[2]


def rank_of(path: str) -> int | None:
    """Return the rank in the name of a snapshot, None for none; the content does not tell it."""
    named = _RANK.search(os.path.basename(path))
    return int(named[1]) if named is not None else None
