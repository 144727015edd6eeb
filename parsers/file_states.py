"""The state of one file of a run: everything read from it so far, and the cursor to continue from."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from parsers.joined_blocks import JoinedBlocks
from parsers.model import (
    Batch,
    Cursor,
    Ints,
    MixedBlocks,
    PayloadBlock,
    Problem,
    RareBlock,
    RareScalars,
    Rounds,
    ScalarBlock,
    SeriesBlock,
    SourceFile,
    TagBlock,
)

MOST_PROBLEMS = 1000
ROW = 32
IDLE_SECONDS = 300.0
"""An incomplete record at the end of a file that has not grown for this long is a problem."""


@dataclass(slots=True)
class FileState:
    """Everything read from one file so far. `reader` names the registry entry ("" until the format is recognised).

    tail is the problem of an incomplete record at its end; it is one of `damage` once the file is idle. read_at is the
    monotonic time of the last read in seconds.
    identity is replaced by another object when the file is cut or replaced. checked are the offsets of records whose data
    CRC was checked but is not yet marked in the blocks (a record may hold thousands of values). large is the number of
    values in records whose data CRC reading does not check; damaged has the bytes of those records that failed it later, by
    offset, and lost the problems that they are. scalars has a list only of tags with several blocks, and of a tag in `rare`
    the number of the table (above ROW bits) and its row: objects of their own for a quarter of a million tags take 34 MB.
    """

    file: SourceFile
    reader: str = ""
    cursor: Cursor | None = None
    problems: tuple[Problem, ...] = ()
    records: int = 0
    bytes_read: int = 0
    pending: int = 0
    more: bool = False
    started: float | None = None
    scalars: dict[tuple[str, ...], int | SeriesBlock | list[SeriesBlock]] = field(default_factory=dict)
    payloads: dict[tuple[str, str], list[PayloadBlock]] = field(default_factory=dict)
    tail: Problem | None = None
    large: int = 0
    damaged: dict[int, int] = field(default_factory=dict)
    lost: tuple[Problem, ...] = ()
    rare: list[RareScalars] = field(default_factory=list)
    identity: object = field(default_factory=object, compare=False)
    checked: set[int] = field(default_factory=set, compare=False)
    joining: JoinedBlocks = field(default_factory=JoinedBlocks, compare=False)
    read_at: float = field(default_factory=time.monotonic, compare=False)

    def add(self, batch: Batch) -> None:
        """Add one batch; a `restarted` one replaces everything read before."""
        if batch.restarted:
            self.scalars, self.rare, self.payloads, self.problems = {}, [], {}, ()
            self.damaged, self.lost = {}, ()
            self.records = self.bytes_read = self.large = 0
            self.started = None
            self.identity, self.checked, self.joining = object(), set(), JoinedBlocks()
        self._add_scalars(batch.scalars)
        for payload in batch.payloads:
            self.payloads.setdefault((payload.kind, payload.tag), []).append(payload)
            self.large += len(payload.verified) - int(np.count_nonzero(payload.verified))
        # These describe the file at the previous read; the batch repeats them if they still hold.
        kept = tuple(p for p in self.problems if p.kind not in ("empty_file", "unreadable"))
        self.problems = _bounded(tuple(dict.fromkeys((*kept, *batch.problems))))
        self.records += batch.records
        self.bytes_read += batch.bytes_read
        self.pending, self.tail = batch.pending, batch.tail
        self.read_at = time.monotonic()
        self.cursor = batch.cursor
        if batch.started is not None:
            self.started = batch.started if self.started is None else min(self.started, batch.started)

    def _add_scalars(self, blocks: Sequence[SeriesBlock]) -> None:
        if not isinstance(blocks, MixedBlocks):
            for block in blocks:
                self._add_block(block.tags, block)
            return
        self.rare.append(blocks.scalars)
        first, tags_of, scalars = len(self.rare) - 1 << ROW, blocks.scalars.tags, self.scalars
        for entry in blocks.entries:
            if not isinstance(entry, int):
                self._add_block(entry.tags, entry)
            elif scalars.setdefault(tags_of[entry], number := first | entry) is not number:
                self._add_block(tags_of[entry], RareBlock(blocks.scalars, entry))

    def _add_block(self, tags: tuple[str, ...], block: SeriesBlock) -> None:
        known = self.scalars.setdefault(tags, block)
        if isinstance(known, list):
            known.append(block)
        elif known is not block:
            self.scalars[tags] = [self._rare_block(known) if isinstance(known, int) else known, block]

    @property
    def damage(self) -> tuple[Problem, ...]:
        """All problems of the file. A file that is not idle may still grow, so its incomplete tail is not one of them."""
        if self.tail is None or not self._idle():
            return self.problems + self.lost
        return (*self.problems, *self.lost, self.tail)

    def _idle(self) -> bool:
        # The mtime may lie in the future: file servers have clocks of their own.
        return max(time.time() - self.file.mtime, time.monotonic() - self.read_at) >= IDLE_SECONDS

    def note(self, problem: Problem) -> None:
        """Add a problem found while decoding a value."""
        self.problems = _bounded(tuple(dict.fromkeys((*self.problems, problem))))

    def block(self, tags: tuple[str, ...]) -> SeriesBlock:
        """Return all rows of the records with these tags as one block; blocks of several reads are joined once."""
        found = self.scalars[tags]
        if isinstance(found, int):
            return self._rare_block(found)
        if not isinstance(found, list):
            return found
        for block in self._joined_with(tags):
            self.scalars[block.tags] = block
        return self.block(tags)

    def parts(self, tags: tuple[str, ...]) -> Sequence[SeriesBlock]:
        """Return the blocks of the records with these tags, one for each read."""
        found = self.scalars[tags]
        return found if isinstance(found, list) else [self.block(tags)]

    def lengths(self) -> Iterator[tuple[tuple[str, ...], int]]:
        """Yield the tags of records, and how many records have these tags: each holds one value per tag."""
        for tags, found in self.scalars.items():
            if isinstance(found, int):
                bounds, row = self.rare[found >> ROW].bounds, found & (1 << ROW) - 1
                yield tags, int(bounds[row + 1] - bounds[row])
            elif isinstance(found, list):
                yield tags, sum(len(block.step) for block in found)
            else:
                yield tags, len(found.step)

    def frequent(self) -> list[tuple[str, ...]]:
        """Return the tags of all blocks but those in `rare_rows`."""
        return [tags for tags, found in self.scalars.items() if not isinstance(found, int)]

    def rare_rows(self) -> Iterator[tuple[RareScalars, list[tuple[str, ...]], Ints]]:
        """Yield each table of rare scalars with the tags that have no other block, and their rows in it."""
        if not self.rare:
            return
        found = [tags for tags, entry in self.scalars.items() if isinstance(entry, int)]
        entries = np.fromiter((entry for entry in self.scalars.values() if isinstance(entry, int)), np.int64, len(found))
        for number in np.unique(entries >> ROW).tolist():
            own = np.flatnonzero(entries >> ROW == number)
            yield self.rare[number], [found[at] for at in own.tolist()], entries[own] & (1 << ROW) - 1

    def _rare_block(self, entry: int) -> RareBlock:
        return RareBlock(self.rare[entry >> ROW], entry & (1 << ROW) - 1)

    def _joined_with(self, tags: tuple[str, ...]) -> Sequence[SeriesBlock]:
        """Return all rows of the records with these tags, and of those that share rounds with them, joined: as rounds if all of
        them have the same steps, otherwise each on its own. Joining them one by one would compare all of them every time.
        """
        parts, expected = self.parts(tags), self.file.size / max(self.bytes_read, 1)
        together = next((part.rounds.tags for part in parts if isinstance(part, TagBlock)), ())
        if not together or not all((tag,) in self.scalars for tag in together):
            return [self.joining.scalars(parts, expected)]
        if (joined := self.joining.rounds([self.parts((tag,)) for tag in together], expected)) is not None:
            return joined.blocks()
        blocks = [self.joining.scalars(self.parts((tag,)), expected) for tag in together]
        step = blocks[0].step
        if not all(np.array_equal(block.step, step) for block in blocks[1:]):
            return blocks
        wall_time, order = np.stack([block.wall_time for block in blocks]), np.stack([block.order for block in blocks])
        return Rounds.of(together, step, wall_time, order, np.concatenate([block.value for block in blocks])).blocks()

    def index(self, kind: str, tag: str) -> list[PayloadBlock]:
        """Return the index of the large values of a tag, one block per plugin; blocks of several reads are joined once."""
        parts = self.payloads.get((kind, tag), [])
        if len(parts) > 1:
            joined = [_joined(list(alike)) for _, alike in groupby(parts, key=lambda part: part.plugin)]
            self.payloads[kind, tag] = parts = joined
        return parts

    def verified(self, kind: str, tag: str, order: int) -> bool:
        """Return whether the data CRC of the record at this offset, which holds a value of the tag, has been checked."""
        if order in self.checked:
            return True
        return all(bool(block.verified[_rows(block, order)].all()) for block in self.index(kind, tag))

    def unverified(self) -> int:
        """Return the number of large values in records whose data CRC has not been checked yet."""
        return sum(len(orders) for orders in self._unchecked())

    def unchecked(self) -> list[int]:
        """Return the offsets of the records whose data CRC has not been checked yet, in file order."""
        unchecked = self._unchecked()
        found: list[int] = np.unique(np.concatenate(unchecked)).tolist() if unchecked else []
        return found

    def lose(self, order: int, damaged: dict[int, int], lost: tuple[Problem, ...]) -> None:
        """Drop the scalars of the record at this offset, whose data CRC failed; its large values say so when they are read.

        damaged and lost are the new values of these fields.
        """
        self.damaged, self.lost = damaged, lost
        for tags in list(self.scalars):
            block = self.block(tags)
            kept = block.order != order
            if kept.all():
                continue
            columns = (block.step[kept], block.wall_time[kept], block.order[kept], block.value[:, kept])
            self.scalars[tags] = ScalarBlock(tags, *columns)
            if not kept.any():
                del self.scalars[tags]

    def mark(self) -> None:
        """Mark the values of the `checked` records as verified in the blocks."""
        checked, self.checked = np.array(sorted(self.checked), np.int64), set()
        if len(checked):
            for block in self._blocks():
                block.verified[np.isin(block.order, checked)] = True

    def _unchecked(self) -> list[Ints]:
        """Return the record of each value that has not been checked, by block."""
        self.mark()
        found = [block.order[~block.verified] for block in self._blocks()]
        damaged = np.array(sorted(self.damaged), np.int64)
        return [orders[~np.isin(orders, damaged)] for orders in found] if len(damaged) else found

    def _blocks(self) -> list[PayloadBlock]:
        return [block for parts in self.payloads.values() for block in parts]


def _joined(parts: list[PayloadBlock]) -> PayloadBlock:
    first = parts[0]
    if len(parts) == 1:
        return first
    step, wall_time, order, offset, length, verified = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("step", "wall_time", "order", "offset", "length", "verified")
    )
    return PayloadBlock(first.kind, first.tag, step, wall_time, order, offset, length, verified, first.plugin)


def _bounded(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Return the first MOST_PROBLEMS problems of a file; the last one says that there are more."""
    if len(problems) <= MOST_PROBLEMS:
        return problems
    last = problems[MOST_PROBLEMS - 1]
    rest = Problem(last.path, last.offset, 0, last.kind, "From here on further damage in this file is not listed.")
    return (*problems[: MOST_PROBLEMS - 1], rest)


def _rows(block: PayloadBlock, order: int) -> slice:
    """Rows of the record at this offset."""
    return slice(int(block.order.searchsorted(order)), int(block.order.searchsorted(order, side="right")))
