"""Names what Nsight Systems wrote (nsys): its reports, and the databases that it exports. Neither is read.

A report has a name of its own. A database is one of SQLite with the tables of CUPTI or NVTX, which nsys names in the first kB
(exporter's documentation, "SQLite Schema Reference").
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from parsers.caches import Cache
from parsers.file_reading import read_whole
from parsers.files import RegularFile
from parsers.model import NOTE, Batch, Cursor, Problem, Reader

_HEAD = 64 << 10
_TABLES = re.compile(rb"CREATE TABLE (?:CUPTI_ACTIVITY_KIND_|NVTX_EVENTS|TARGET_INFO_SESSION_START_TIME)")
_REPORTS = (".nsys-rep", ".qdrep")
ENDINGS = (*_REPORTS, ".sqlite")
"""How the names of the files end."""
_MOST_KNOWN = 10_000
_TEXT = (
    "The file is a profile of Nsight Systems, which is not read. The profiler of torch records the same calls and kernels in a "
    "form that is read here (`torch.profiler.profile` with `export_chrome_trace`)."
)
_known: Cache[str, tuple[int, int, bool]] = Cache(_MOST_KNOWN)


def is_nsys(path: str) -> bool:
    """Return whether a file whose name ends with one of ENDINGS is a profile of Nsight Systems; False if it cannot be read."""
    if path.endswith(_REPORTS):
        return True
    try:
        status = os.stat(path)
        known = _known.get(path)
        if known is None or known[:2] != (status.st_size, status.st_mtime_ns):
            with RegularFile(path) as file:
                head = file.read(0, _HEAD)
            known = status.st_size, status.st_mtime_ns, head.startswith(b"SQLite format 3\0") and bool(_TABLES.search(head))
            _known.put(path, known)
    except OSError:
        return False
    return known[2]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NsysReader(Reader):
    """Says of a profile of Nsight Systems that it is one."""

    def read(self, path: str, cursor: Cursor | None = None, limit: int | None = None) -> Batch:  # noqa: ARG002  one piece
        """Return a note; nothing of the file is read."""
        return read_whole(path, cursor, _note)


def _note(file: RegularFile, now: Cursor) -> Batch:
    return Batch(now, problems=[Problem(file.path, 0, 0, NOTE, _TEXT)], bytes_read=file.size)


NSYS = NsysReader(name="nsys", pattern=re.compile(r"(?!)"))
"""A database of any program may have such a name, so discovery looks into it."""
