"""The data passed between discovery, readers, runs and the application, and the base class of readers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Values = NDArray[np.float64] | NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Problem:
    """Damage a user can see.

    path is the file, offset and length the bytes concerned (length 0: unknown), kind one of KINDS, text an English
    sentence that says what was expected, what was found, what is lost and what is still shown.
    """

    path: str
    offset: int
    length: int
    kind: str
    text: str

    @property
    def is_note(self) -> bool:
        """Return whether nothing is lost: a note is no damage, and is counted and shown apart."""
        return self.kind == NOTE


NOTE = "note"
KINDS = (
    NOTE,  # nothing is lost: times that were sorted, arrows of a trace with one end, a graph that was not recorded
    "bad_length",  # the length field of a record fails its CRC, or claims more bytes than the file has
    "truncated",  # the file ends within a record and has stopped growing
    "bad_data",  # the data of a record fails its CRC
    "bad_message",  # the CRC is correct but the bytes are not a message of this format
    "empty_file",  # zero bytes
    "unreadable",  # the file cannot be opened or read: permission, I/O error
    "outside",  # a link that leads out of the directory of runs, which the reader was told not to follow
    "replaced",  # the file was cut or replaced while followed; it was read again from its start
    "bad_graph",  # a part of a graph is damaged or contradicts the rest of it; what can be read is shown
    "no_graph",  # a file with the name of a graph holds none
    "bad_conversion",  # the report of a model conversion was cut, or has values of another kind
    "no_conversion",  # a file with the name of such a report is none
    "bad_table",  # a line, column or cell of a table, or a table of a database, is not in its documented form
    "bad_trace",  # an event of a trace is damaged, lacks what places it in time, or contradicts the others
    "bad_dump",  # a file of a dump is damaged, or contradicts the others: two dumps in one directory, another net's graph
    "bad_value",  # one value in an intact record cannot be shown (unknown dtype, empty, not a number)
)


CONFIG = "config"
"""The kind of settings files beside the files of a run; they make no run and no `Reader` reads them."""
COMPUTED_LANDSCAPES = "computed_landscapes"
UNREAD = frozenset((CONFIG, COMPUTED_LANDSCAPES))
"""Kinds of files of a run that no `Reader` reads, and whose changes are none of the training."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a run, from its name and stat alone.

    kind is the name of its `FileKind` in `parsers.registry`: "events", "lineage", "explain", "tensorboard", "graph" ... or
    CONFIG. stamp: the seconds in its name, or None. mtime in seconds, size in bytes.
    """

    path: str
    kind: str
    size: int
    mtime: float
    stamp: int | None
    device: int
    inode: int


@dataclass(frozen=True, slots=True)
class Source:
    """A run on disk, or a job of several ranks.

    path is the directory as reached from the base (of a run in a database, the file and the run's id in it), real_path
    after resolving links, name the path relative to the base
    with "/" ("." for the base itself): unique among the sources of one base. A job has ranks (each a Source with its
    own files) and no files of its own, or both. plan is the path of the file about collected checkpoints, or ""
    (`parsers.checkpoints`). updated is the newest mtime of its files (ranks included). profile_size and profile_updated are the
    bytes and the newest mtime in seconds of the files in profile_dirs, 0 for none. dump_dirs are the directories of its dumps,
    dump_updated when one of them last changed, in seconds.
    """

    path: str
    real_path: str
    name: str
    files: tuple[SourceFile, ...]
    ranks: tuple[Source, ...] = ()
    profile_dirs: tuple[str, ...] = ()
    dump_dirs: tuple[str, ...] = ()
    plan: str = ""
    problems: tuple[Problem, ...] = ()
    profile_size: int = 0
    profile_updated: float = 0.0
    dump_updated: float = 0.0

    @property
    def updated(self) -> float:
        """Newest mtime in seconds of files, profiles and dumps of this run and its ranks, except UNREAD ones; 0.0 for none."""
        own = max((f.mtime for f in self.files if f.kind not in UNREAD), default=0.0)
        return max([own, self.profile_updated, self.dump_updated, *(rank.updated for rank in self.ranks)])

    @property
    def size(self) -> int:
        """Bytes of all files and profiles of this run and its ranks."""
        return sum(f.size for f in self.files) + self.profile_size + sum(rank.size for rank in self.ranks)

    @property
    def leaves(self) -> tuple[Source, ...]:
        """The sources that hold files: this one, or its ranks, or both."""
        own = (self,) if self.files or not self.ranks else ()
        return own + self.ranks


@dataclass(frozen=True, slots=True)
class Search:
    """An unfinished search for the next record after damage.

    begin is the first damaged byte, at the position from which the search continues, detail what was found at begin.
    unfinished is the first header passed whose record ends beyond the file, -1 for none.
    """

    begin: int
    at: int
    detail: str
    unfinished: int = -1


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where to continue reading one file.

    offset is the first byte not yet consumed. device, inode and size are those of stat when it was read (a smaller
    size or another inode means: read again from the start); tail_crc is the CRC32C of the last up to 4,096 bytes
    before offset, which detects a file rewritten in place unless just these bytes are unchanged. plugins holds
    what a reader must know again, as pairs of texts: of TensorBoard tag and plugin of the tags that are no scalars, which only
    their first event tells; of tables the number of the next row.
    mtime is set for files that are read whole, in seconds; 0.0 for those that grow. search is set if the bytes at the offset
    are damaged and no intact record has been found after them yet.
    """

    offset: int
    device: int
    inode: int
    size: int
    tail_crc: int
    plugins: tuple[tuple[str, str], ...] = ()
    mtime: float = 0.0
    search: Search | None = None


class Series(NamedTuple):
    """One scalar tag of one run, in the order it was written (by file, then offset). Arrays have equal length and may
    be shared between series: never write into them."""

    step: Ints
    wall_time: Floats
    value: Floats
    file: NDArray[np.int32]
    order: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Rounds:
    """Scalars of k tags written in turn, n times, each in a record of its own: those of one round have the same step.

    step and begin have shape (n,), wall_time, within and value (k, n), all in file order. The byte offset of a record is begin,
    which is that of its round, plus within, of as few bytes as it needs. value is float32 where the file has no more.
    """

    tags: tuple[str, ...]
    step: Ints
    wall_time: Floats
    begin: Ints
    within: NDArray[Any]
    value: Values

    @classmethod
    def of(cls, tags: tuple[str, ...], step: Ints, wall_time: Floats, order: Ints, value: Values) -> Rounds:
        """Make rounds of byte offsets of the shape (k, n)."""
        begin = order.min(axis=0)
        within = order - begin
        return cls(tags, step, wall_time, begin, within.astype(np.min_scalar_type(int(within.max(initial=0)))), value)

    def blocks(self) -> list[TagBlock]:
        """Return a block for each tag."""
        return [TagBlock(self, row) for row in range(len(self.tags))]


@dataclass(frozen=True, slots=True)
class ScalarBlock:
    """Scalars of n records that hold the same k tags: step, wall_time and order have shape (n,), value (k, n).

    Rows are in file order. order is the byte offset of the record. value is float32 where the file has no more. A tag may come
    in several blocks of one batch.
    """

    tags: tuple[str, ...]
    step: Ints
    wall_time: Floats
    order: Ints
    value: Values


class TagBlock:
    """One tag of rounds, with the attributes of a ScalarBlock.

    They are made when they are asked for: each of the many runs of a sweep has many tags with few rows.
    """

    __slots__ = ("_row", "rounds")

    def __init__(self, rounds: Rounds, row: int) -> None:
        self.rounds, self._row = rounds, row

    @property
    def tags(self) -> tuple[str, ...]:
        """The tag."""
        return (self.rounds.tags[self._row],)

    @property
    def step(self) -> Ints:
        """Steps, of shape (n,)."""
        return self.rounds.step

    @property
    def wall_time(self) -> Floats:
        """Wall times in seconds, of shape (n,)."""
        row: Floats = self.rounds.wall_time[self._row]
        return row

    @property
    def order(self) -> Ints:
        """Byte offsets of the records, of shape (n,)."""
        order: Ints = self.rounds.begin + self.rounds.within[self._row]
        return order

    @property
    def value(self) -> Values:
        """Values, of shape (1, n)."""
        return self.rounds.value[self._row : self._row + 1]


@dataclass(frozen=True, slots=True)
class RareScalars:
    """Scalars of many tags that have few rows each: bounds of shape (k + 1,) say which rows a tag has, in file order.

    tags are tuples of one tag. step, wall_time, order and value have shape (n,).
    """

    tags: Sequence[tuple[str, ...]]
    bounds: Ints
    step: Ints
    wall_time: Floats
    order: Ints
    value: Values


class RareBlock:
    """One tag of rare scalars, with the attributes of a ScalarBlock.

    They are made when they are asked for: arrays of its own would take a tag with one row a kilobyte.
    """

    __slots__ = ("row", "scalars")

    def __init__(self, scalars: RareScalars, row: int) -> None:
        self.scalars, self.row = scalars, row

    @property
    def tags(self) -> tuple[str, ...]:
        """The tag."""
        return self.scalars.tags[self.row]

    @property
    def rows(self) -> slice:
        """The rows of the tag."""
        return slice(int(self.scalars.bounds[self.row]), int(self.scalars.bounds[self.row + 1]))

    @property
    def step(self) -> Ints:
        """Steps, of shape (n,)."""
        return self.scalars.step[self.rows]

    @property
    def wall_time(self) -> Floats:
        """Wall times in seconds, of shape (n,)."""
        return self.scalars.wall_time[self.rows]

    @property
    def order(self) -> Ints:
        """Byte offsets of the records, of shape (n,)."""
        return self.scalars.order[self.rows]

    @property
    def value(self) -> Values:
        """Values, of shape (1, n)."""
        return self.scalars.value[None, self.rows]


SeriesBlock = ScalarBlock | TagBlock | RareBlock
"""Scalars of one or several tags."""


class MixedBlocks(Sequence[SeriesBlock]):
    """Blocks of which many are tags of rare scalars, given by their rows and made when they are asked for.

    A quarter of a million objects that stay take half a second of the collector of garbage.
    """

    __slots__ = ("entries", "scalars")

    def __init__(self, scalars: RareScalars, entries: Sequence[int | SeriesBlock]) -> None:
        self.scalars, self.entries = scalars, entries

    def __len__(self) -> int:
        return len(self.entries)

    @overload
    def __getitem__(self, at: int) -> SeriesBlock: ...
    @overload
    def __getitem__(self, at: slice) -> list[SeriesBlock]: ...
    def __getitem__(self, at: int | slice) -> SeriesBlock | list[SeriesBlock]:
        if isinstance(at, slice):
            return [self._block(entry) for entry in self.entries[at]]
        return self._block(self.entries[at])

    def _block(self, entry: int | SeriesBlock) -> SeriesBlock:
        return RareBlock(self.scalars, entry) if isinstance(entry, int) else entry


@dataclass(frozen=True, slots=True)
class PayloadBlock:
    """Index of n large values of one kind and tag, not yet decoded; rows in file order.

    kind: "histogram", "image", "tensor", "landscape", "text", "audio", "graph", "lineage", "dataset_graph", "explain",
    "hparams", "settings" (`Reader.settings`), "conversion" or "other". step (n,), wall_time (n,) in seconds, order (n,) byte
    offset of the record, offset and length (n,) the bytes of the value's own message in the file, verified (n,) whether the
    data CRC of its record has been checked. plugin is the TensorBoard plugin name, "" for none.
    """

    kind: str
    tag: str
    step: Ints
    wall_time: Floats
    order: Ints
    offset: Ints
    length: Ints
    verified: NDArray[np.bool_]
    plugin: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """The result of one read of one file: only rows after the cursor.

    restarted: the file was cut or replaced, so this batch replaces everything read from it earlier.
    records: number of intact records read; bytes_read: number of bytes that they and the damage span.
    more: the read stopped at its limit; continue at the cursor.
    pending: bytes at the end that are an incomplete record, to be read again when the file has grown. tail: the problem that
    they are if the file does not grow any more; None if nothing is pending, or what is pending has been reported.
    started: wall time of the earliest event in seconds, or None.
    """

    cursor: Cursor
    scalars: Sequence[SeriesBlock] = ()
    payloads: Sequence[PayloadBlock] = ()
    problems: Sequence[Problem] = ()
    records: int = 0
    bytes_read: int = 0
    pending: int = 0
    tail: Problem | None = None
    restarted: bool = False
    more: bool = False
    started: float | None = None
    notes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FileKind:
    """One kind of file, and how its name reveals it.

    name is unique among the kinds and is the `SourceFile.kind` of its files. pattern is searched for in a file's name; its
    group `stamp`, if there is one, holds the seconds since 1970 at which the file was created. signed: the content alone
    tells the kind; appendable: files grow; checksummed: every damaged byte is noticed. A directory that directly holds a
    file with makes_run is a run. At most `most` files of one directory are read, 0 for no limit.
    """

    name: str
    pattern: re.Pattern[str]
    signed: bool = False
    appendable: bool = False
    checksummed: bool = False
    makes_run: bool = True
    most: int = 0

    def named(self, name: str) -> bool:
        """Return whether a file of this name is expected to be of this kind."""
        return self.pattern.search(name) is not None

    def stamp(self, match: re.Match[str]) -> int | None:
        """Return the seconds in a matched name, or None. Times after the year 5000 count as none, so every stamp is small."""
        digits = match["stamp"] if "stamp" in self.pattern.groupindex else None
        return int(digits) if digits and len(digits) <= 11 else None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reader(FileKind):
    """Reads one format. A format is a subclass (or an instance of `EventReader`) and one line in `parsers.registry`."""

    def sniff(self, head: bytes) -> bool:  # noqa: ARG002  a format without a signature
        """Return whether the first up to 4,096 bytes of a file are of this format; False for formats that are not `signed`."""
        return False

    def read(self, path: str, cursor: Cursor | None = None, limit: int | None = None) -> Batch:
        """Read what lies after the cursor (everything for None). Never raises for damage or a missing file.

        limit stops between two records after about this many bytes; the batch then says `more`.
        """
        raise NotImplementedError

    def settings(
        self, path: str, places: Sequence[int]  # noqa: ARG002  a format without settings
    ) -> tuple[Mapping[str, bool | int | float | str], Sequence[Problem]]:
        """Return the settings at these offsets, which large values of kind "settings" name, and the damage in them."""
        return {}, ()

    def verify(self, path: str) -> Sequence[Problem]:
        """Read the whole file, check every checksum and decode every message; return all problems, an incomplete tail too."""
        batch = self.read(path)
        return [*batch.problems, *([batch.tail] if batch.tail else [])]
