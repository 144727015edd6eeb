"""Rows of the list of runs in the index: a run whose files are as they were is listed at once, its data read when asked for.

A record is the prefix of `parsers.headers` and a table (msgpack of the key of a run -> `KeptRow`). A row holds for the very
files that it was made of, and only undamaged runs without profiles, dumps and settings beside them have one: their row follows
from their files alone.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping

import msgspec

from app.store.runs.index import Index
from app.store.runs.packs import Snapshots, next_name
from app.store.runs.run_rows import unread_row
from layouts.runs.rows import RunRow
from parsers.errors import FormatError
from parsers.headers import Format
from parsers.model import Source
from parsers.runs import Run
from parsers.snapshot import FORMAT as SNAPSHOT

# The rows follow from what readers give, so a new version of snapshots makes them unknown, too. Increment `_OWN` when
# `KeptRow` changes, or what `app.store.runs.run_rows` makes of a run.
_OWN = 1
FORMAT = Format("rows", b"MSRW\0\0\0", SNAPSHOT.version * 16 + _OWN)
NAME = "rows-"
LEAST, SECONDS = 8, 60.0
"""Rows are written once there are this many, with this many seconds between two writes; at the end all are."""
MOST_RECORDS = 16
"""More records than these are joined into one."""


class KeptRow(msgspec.Struct, array_like=True, frozen=True):
    """What a row says of the contents of files. files is a hash of them, verified the number of large values, all verified."""

    files: bytes
    verified: int
    started: float | None
    steps: int
    points: int
    tags: dict[str, int]
    main_tag: str
    main_value: float | None
    main_step: int
    main_finite: float | None
    main_finite_step: int
    main_points: int

    def row(self, key: str, source: Source) -> RunRow:
        """Return the row of a run with these contents."""
        unread = unread_row(key, source)
        return RunRow(
            key=key, name=key, path=unread.path, real_path=unread.real_path, members=unread.members,
            started=unread.started or self.started, updated=unread.updated, size=unread.size, state="idle",
            steps=self.steps, points=self.points, tags=self.tags, main_tag=self.main_tag, main_value=self.main_value,
            main_step=self.main_step, main_finite=self.main_finite, main_finite_step=self.main_finite_step,
            main_points=self.main_points, version=VERSION,
        )  # fmt: skip


VERSION = 1
"""Of a run that was restored and has not changed since (`parsers.runs.Run.version`)."""


class KeptRows:
    """The rows by the key of a run (`parsers.snapshot.key_of`). Used by one thread; every failure is a miss, as in `Index`."""

    def __init__(self, index: Index, snapshots: Snapshots) -> None:
        """snapshots: those of the same index."""
        self._index, self._snapshots = index, snapshots
        self._records = sorted(key for key in list(index.keys()) if key.startswith(NAME))
        self._known: dict[str, KeptRow] = {}
        for name in self._records:
            self._known |= self._read(name)
        self._unwritten: dict[str, KeptRow] = {}
        self._written_at = time.monotonic()

    def find(self, key: str, source: Source) -> KeptRow | None:
        """Return the row of a run whose files are as they were."""
        found = self._known.get(key)
        return found if found is not None and is_plain(source) and found.files == mark_of(source) else None

    def keep(self, key: str, source: Source, run: Run, row: RunRow) -> None:
        """Keep the row of a run that has been read to its end, if it follows from the files of the run alone."""
        kept = _kept(source, run, row)
        if kept is not None and kept != self._known.get(key):
            self._known[key] = self._unwritten[key] = kept

    def write(self, *, force: bool) -> None:
        """Write the rows that are not written yet; without force only if they are many and it is time."""
        now = time.monotonic()
        if not self._unwritten or not (force or (len(self._unwritten) >= LEAST and now - self._written_at >= SECONDS)):
            return
        self._written_at = now
        joined = len(self._records) >= MOST_RECORDS
        rows, self._unwritten = self._unwritten, {}
        if joined:
            rows = {key: row for key, row in self._known.items() if key in self._snapshots}
        try:
            encoded = msgspec.msgpack.encode(rows)
        except (UnicodeEncodeError, OverflowError):
            return
        name = next_name(NAME, self._records[-1] if self._records else "")
        if not self._index.write(name, [FORMAT.prefix(encoded), encoded]):
            self._unwritten = rows | self._unwritten
            return
        if joined:
            for other in self._records:
                self._index.delete(other)
            self._records.clear()
        self._records.append(name)

    def _read(self, name: str) -> Mapping[str, KeptRow]:
        try:
            return FORMAT.header(self._index.read(name) or b"", dict[str, KeptRow])[0]
        except FormatError:
            return {}


def is_plain(source: Source) -> bool:
    """Return whether nothing but the files of a run decides what its row says."""
    return not (source.profile_dirs or source.dump_dirs or source.plan or source.problems or source.ranks)


def mark_of(source: Source) -> bytes:
    """Return a hash of the files of a run: their paths, kinds, sizes, times and identities."""
    told = "\n".join([
        f"{one.path}\0{one.kind}\0{one.size}\0{one.mtime!r}\0{one.stamp}\0{one.device}\0{one.inode}" for one in source.files
    ])  # fmt: skip
    return hashlib.blake2b(told.encode("utf-8", "surrogateescape"), digest_size=16).digest()


def _kept(source: Source, run: Run, row: RunRow) -> KeptRow | None:
    """Return what is kept of the row of a run; None if a later reading may say something else of the same files."""
    if not is_plain(source) or row.counts != (0, 0) or row.state not in ("idle", "live") or run.behind or run.waiting:
        return None
    if row.version != run.version or run.unverified or not _covered(source, run):
        return None
    return KeptRow(
        mark_of(source), run.large, run.started, row.steps, row.points, dict(row.tags), row.main_tag, row.main_value,
        row.main_step, row.main_finite, row.main_finite_step, row.main_points,
    )  # fmt: skip


def _covered(source: Source, run: Run) -> bool:
    """Return whether everything in the files of a run has been read, and nothing else."""
    states = run.states
    if len(states) != len(source.files):
        return False
    for file in source.files:
        state = states.get(file.path)
        if state is None or state.file != file or state.cursor is None or state.tail is not None:
            return False
        if (state.cursor.device, state.cursor.inode, state.cursor.size) != (file.device, file.inode, file.size):
            return False
    return True
