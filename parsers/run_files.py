"""The files of one run: followed while they grow, with an index of the tags in them."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from parsers.file_states import FileState
from parsers.model import (
    COMPUTED_LANDSCAPES,
    UNREAD,
    Batch,
    PayloadBlock,
    Problem,
    Reader,
    SeriesBlock,
    SourceFile,
)
from parsers.registry import reader_of_file

Key = tuple[str, ...]
"""Where a tag is in a FileState: the tags of a scalar block, or kind and tag of large values."""


class RunFiles:
    """What has been read of each file of a run.

    One thread may read on while others look: nobody waits for a file, only for a batch to be taken in, under `lock`. version
    grows with every change of what is shown.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.version = 0
        self._states: dict[str, FileState] = {}
        self._next: dict[str, FileState] | None = None  # files that are read again, shown once they are complete
        self._computed: list[SourceFile] = []
        self._caches: list[dict[Any, Any]] = []
        self._tags: dict[str, dict[str, list[tuple[int, Key]]]] = self.cache()

    def cache(self) -> dict[Any, Any]:
        """Return a dict that is cleared whenever what is shown changes."""
        self._caches.append({})
        return self._caches[-1]

    def touch(self) -> None:
        """Note that what is shown has changed."""
        with self.lock:
            self.version += 1
            for cache in self._caches:
                cache.clear()

    @property
    def states(self) -> Mapping[str, FileState]:
        """What has been read of each file, by path."""
        return self._states

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of the files read; a file's number is its index here."""
        return tuple(self._states)

    # Reading -------------------------------------------------------------------------------------------------------

    def forget_vanished(self, files: Sequence[SourceFile]) -> None:
        """If a file vanished from the disk, begin to read the others again, under new numbers."""
        states = self._states if self._next is None else self._next
        if states.keys() - {file.path for file in files}:
            self._next = {}

    def follow(self, file: SourceFile, limit: int | None) -> tuple[bool, int, bool]:
        """Read what is new in one file: (whether that changed anything, bytes read, whether there is more)."""
        states = self._states if self._next is None else self._next
        state = states.get(file.path)
        if file.kind in UNREAD or (state is not None and _unchanged(file, state)):
            return False, 0, False
        state = state or FileState(file)
        reader = reader_of_file(file, state.reader)
        batch = reader.read(file.path, state.cursor, limit)
        if batch.restarted:
            reader, batch = _read_again(file, reader, batch, limit)
            if batch.more and state is self._states.get(file.path):
                self._next = states = {**self._states}
                state = FileState(file)
        with self.lock:
            before = (state.records, state.problems, state.bytes_read)
            new = file.path not in states
            state.add(batch)
            state.file, state.more = file, batch.more
            state.reader = reader.name if state.records else ""
            states[file.path] = state
            grown = new or batch.restarted or before != (state.records, state.problems, state.bytes_read)
            changed = grown and state is self._states.get(file.path)
            if changed:
                self.touch()
        return changed, batch.bytes_read, batch.more

    def look_at_computed(self, files: Sequence[SourceFile]) -> bool:
        """Return whether a file of a computed landscape came, went or changed; the version grows then."""
        computed = [file for file in files if file.kind == COMPUTED_LANDSCAPES]
        if computed == self._computed:
            return False
        with self.lock:
            self._computed = computed
            self.version += 1
        return True

    def settle(self, files: Sequence[SourceFile]) -> bool:
        """Show the files that were read again, all at once, when they are complete; until then the old data stay."""
        if self._next is None:
            return False
        wanted = {file.path for file in files if file.kind not in UNREAD}
        if wanted - self._next.keys() or any(state.more for state in self._next.values()):
            return False
        with self.lock:
            self._states, self._next = self._next, None
            self.touch()
        return True

    def restore(self, states: Sequence[FileState]) -> None:
        """Take what an earlier process read."""
        with self.lock:
            self._states = {state.file.path: state for state in states}
            self.touch()

    # The index -----------------------------------------------------------------------------------------------------

    def tags(self, kind: str) -> tuple[str, ...]:
        """Tags of one kind in order of first appearance, files by the time in their names."""
        with self.lock:
            return tuple(self._entries(kind))

    def payload_kinds(self) -> tuple[str, ...]:
        """The kinds of large values in the files."""
        with self.lock:
            return tuple(dict.fromkeys(kind for state in self._states.values() for kind, _ in state.payloads))

    def scalar_blocks(self, tag: str) -> list[tuple[int, SeriesBlock]]:
        """(file number, block) of every block with a scalar tag."""
        with self.lock:
            states = list(self._states.values())
            return [(number, states[number].block(key)) for number, key in self._entries("scalar").get(tag, ())]

    def payload_blocks(self, kind: str, tag: str) -> list[tuple[int, PayloadBlock]]:
        """(file number, index) of the large values of one tag of one kind."""
        with self.lock:
            states = list(self._states.values())
            return [
                (number, block)
                for number, key in self._entries(kind).get(tag, ())
                for block in states[number].index(key[0], key[1])
            ]

    def _entries(self, kind: str) -> dict[str, list[tuple[int, Key]]]:
        """Tag -> (file number, key of the block) of each of its blocks."""
        if kind in self._tags:
            return self._tags[kind]
        found: dict[str, list[tuple[int, Key]]] = {}
        states = list(self._states.values())
        for number, state in ((number, states[number]) for number in self.order()):
            if kind == "scalar":
                for tags in state.scalars:
                    for tag in tags if len(tags) == 1 else dict.fromkeys(tags):
                        if tag in found:
                            found[tag].append((number, tags))
                        else:
                            found[tag] = [(number, tags)]  # of a million tags, a list that is to grow takes 30 MB more
            else:
                for payload_kind, tag in state.payloads:
                    if payload_kind == kind:
                        found.setdefault(tag, []).append((number, (payload_kind, tag)))
        self._tags[kind] = found
        return found

    def order(self) -> dict[int, int]:
        """Number of a file -> its position among the files by the times in their names."""
        numbered = sorted(enumerate(self._states.values()), key=lambda item: (item[1].file.stamp or 0, item[1].file.path))
        return {number: position for position, (number, _) in enumerate(numbered)}

    # Damage --------------------------------------------------------------------------------------------------------

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All damage found in the files."""
        with self.lock:
            return tuple(problem for state in self._states.values() for problem in state.damage)

    @property
    def waiting(self) -> bool:
        """Return whether a file ends within a record."""
        with self.lock:
            return any(state.tail is not None for state in self._states.values())

    @property
    def unverified(self) -> int:
        """Number of large values in records whose data CRC has not been checked yet."""
        with self.lock:
            return sum(state.unverified() for state in self._states.values())

    @property
    def large(self) -> int:
        """Number of large values in records whose data CRC reading does not check."""
        with self.lock:
            return sum(state.large for state in self._states.values())

    def mark_verified(self, state: FileState, identity: object, order: int) -> None:
        """Note that the data CRC of a record has been checked."""
        with self.lock:
            if state.identity is identity:  # otherwise the file was replaced and this is a different record
                state.checked.add(order)

    def note(self, state: FileState, identity: object, problems: Sequence[Problem]) -> None:
        """Add the problems found while decoding a value to those of its file."""
        with self.lock:
            if state.identity is identity:
                for problem in problems:
                    state.note(problem)

    def note_by_path(self, problems: Sequence[Problem]) -> None:
        """Add problems to those of the files they name."""
        with self.lock:
            for problem in problems:
                if problem.path in self._states:
                    self._states[problem.path].note(problem)


def _read_again(file: SourceFile, reader: Reader, batch: Batch, limit: int | None) -> tuple[Reader, Batch]:
    """The batch of a replaced file, read with the reader for its new content."""
    fitting = reader_of_file(file)
    if fitting is reader:
        return reader, batch
    other = fitting.read(file.path, None, limit)
    replaced = [problem for problem in batch.problems if problem.kind == "replaced"]
    return fitting, dataclasses.replace(other, restarted=True, problems=[*replaced, *other.problems])


def _unchanged(file: SourceFile, state: FileState) -> bool:
    cursor = state.cursor
    if cursor is None:
        return False
    if state.more or any(problem.kind == "unreadable" for problem in state.problems):
        return False
    now = (file.device, file.inode, file.size, file.mtime)
    return now == (cursor.device, cursor.inode, cursor.size, state.file.mtime)
