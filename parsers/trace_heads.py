"""Tells by its beginning whether a JSON file is a trace, whatever its name, and of which rank.

Traces in the form of Chrome are an object with `traceEvents`, or an array of events, each with a phase `ph`. torch writes user
metadata before the events, in some files 23 kB of them, so 64 kB are read where 4 kB give no answer. `distributedInfo` has the
rank where torch.distributed was in use. What is known of a file is kept with its size and time: nothing is opened twice.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from parsers.ages import age_of
from parsers.caches import Cache
from parsers.files import RegularFile

HEADS = (4 << 10, 64 << 10)
"""Bytes read of a file, and the second time if the first gave no answer; of what they decompress to, the latter at most."""
MOST_KNOWN = 200_000
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_EVENTS = re.compile(rb'"traceEvents"\s*:\s*\[')
_PHASE = re.compile(rb'\[\s*\{(?:[^{}]|\{[^{}]*\})*?"ph"\s*:\s*"')
_RANK = re.compile(rb'"distributedInfo"\s*:\s*\{[^{}]*?"rank"\s*:\s*(\d{1,9})\b')
_SIZE = re.compile(rb'"distributedInfo"\s*:\s*\{[^{}]*?"world_size"\s*:\s*(\d{1,9})\b')
_NAMED_RANK = re.compile(r"(?:^|[^a-zA-Z])rank[_-]?(\d{1,9})(?:$|[^\d])", re.IGNORECASE)


class TraceHead(NamedTuple):
    """Whether a file is a trace, its rank (None for unknown), whether that stays so, whatever is appended, and the number of
    ranks of its job (0 for unknown)."""

    is_trace: bool
    rank: int | None = None
    is_final: bool = True
    ranks: int = 0


_NO_TRACE = TraceHead(False)
_QUIET_S = 60.0
"""A file that has not changed for so long is not being written."""
_known: Cache[str, tuple[int, int, TraceHead]] = Cache(MOST_KNOWN)


def head_of(path: str) -> TraceHead:
    """Return what the beginning of a file tells. A file that cannot be read, or is none, is no trace."""
    try:
        status = os.stat(path)
    except OSError:
        return _NO_TRACE
    known = _known.get(path)
    if known is None or known[:2] != (status.st_size, status.st_mtime_ns):
        try:
            with RegularFile(path) as file:
                known = status.st_size, status.st_mtime_ns, _told(file)
        except OSError:
            return _NO_TRACE
        _known.put(path, known)
    found = known[2]
    return found if found.is_final else found._replace(is_final=age_of(status.st_mtime) > _QUIET_S)


def _told(file: RegularFile) -> TraceHead:
    for head in _heads(file):
        begin = head.removeprefix(_BOM).lstrip()
        if begin[:1] == b"{" and _EVENTS.search(begin):
            return TraceHead(True, _rank_in(begin, file.path), ranks=_ranks_in(begin))
        if begin[:1] == b"[" and _PHASE.match(begin):
            return TraceHead(True, _rank_in(b"", file.path))
        if begin[:1] not in (b"{", b""):
            return _NO_TRACE
    return TraceHead(False, is_final=file.size > HEADS[-1])


def _heads(file: RegularFile) -> Iterator[bytes]:
    """Yield the beginning of a file, and a longer one, decompressed."""
    for size in HEADS:
        head = file.read(0, size)
        if head.startswith(_GZIP):
            try:
                head = zlib.decompressobj(31).decompress(head, HEADS[-1])
            except zlib.error:
                return
        yield head
        if file.size <= size:
            return


def _rank_in(head: bytes, path: str) -> int | None:
    """Return the rank that a trace states, else that in its name; numbers of devices are none."""
    stated = _RANK.search(head)
    named = _NAMED_RANK.search(os.path.basename(path))
    return int(stated[1]) if stated is not None else int(named[1]) if named is not None else None


def _ranks_in(head: bytes) -> int:
    """Return the number of ranks of the job that a trace states; 0 for none."""
    stated = _SIZE.search(head)
    return int(stated[1]) if stated is not None else 0
