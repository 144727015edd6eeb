"""Snapshots of small runs share records of the index: a record for each costs more than reading the run.

A pack is the magic ``MSPK`` and a version byte, padded to 8; uint64 LE length and uint64 LE CRC32C of its table; the table
(msgpack of key -> (offset after the table, size)); then the snapshots. Each of these has checksums of its own
(`parsers.snapshot`). The newest pack wins, and a record of its own wins over all packs.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from typing import BinaryIO

import msgspec

from app.store.runs.index import Index
from parsers.caches import Cache
from parsers.errors import FormatError
from parsers.file_states import FileState
from parsers.headers import PREFIX, Format
from parsers.snapshot import dump, load

SMALL = 256 << 10
"""Snapshots of at most this many bytes are packed."""
LEAST, MOST_BYTES, MOST_SECONDS = 8, 16 << 20, 10.0
"""Fewer runs than these get records of their own; a pack is written when it has this many bytes or has waited this long."""
FORMAT = Format("pack", b"MSPK\0\0\0", 1)
NAME = "pack-"
_MOST_OPEN = 32
_MOST_TABLE = 64 << 20


def next_name(prefix: str, newest: str) -> str:
    """Return the name of a record: sorted, it comes after the newest one, also where the clock was set back since."""
    after = newest.removeprefix(prefix).partition("-")[0]
    moment = max(time.time_ns(), int(after) + 1 if len(after) == 20 and after.isdecimal() else 0)
    return f"{prefix}{moment:020}-{secrets.token_hex(4)}"


class Snapshots:
    """The snapshots of runs by key. Used by one thread; every failure is a miss, as in `Index`."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._own: set[str] = set()
        self._packed: dict[str, tuple[str, int, int]] = {}
        self._open: Cache[str, BinaryIO] = Cache(_MOST_OPEN)
        self._pending: dict[str, bytes] = {}
        self._pending_bytes = 0
        self._pending_since = 0.0
        self._newest = ""
        self._find()

    def __contains__(self, key: str) -> bool:
        """Return whether the states of a run are cached."""
        return key in self._own or key in self._packed

    @property
    def full(self) -> bool:
        """Whether enough snapshots wait to be written, or have waited long enough."""
        return self._pending_bytes >= MOST_BYTES or time.monotonic() - self._pending_since >= MOST_SECONDS

    def load(self, key: str) -> list[FileState] | None:
        """Return the cached states of a run, or None."""
        data = self._index.read(key) if key in self._own else None
        if data is None and key in self._packed:
            data = self._read(*self._packed[key])
        if data is None:
            return None
        try:
            return load(data)
        except FormatError:
            return None

    def save(self, key: str, states: Sequence[FileState], *, together: bool) -> bool | None:
        """Cache the states of a run: True if that is done, False if it failed and may succeed later.

        None if the snapshot waits to be written together with others, by `flush`.
        """
        parts = dump(states)
        return True if parts is None else self.save_parts(key, parts, together=together)

    def save_parts(self, key: str, parts: Sequence[bytes | memoryview], *, together: bool) -> bool | None:
        """Cache a snapshot, given as the parts of its bytes; see `save`."""
        size = sum(len(part) for part in parts)
        waiting = self._pending.pop(key, None)
        self._pending_bytes -= len(waiting or b"")
        if size > SMALL or key in self._own or (waiting is None and not together):
            return self._write(key, parts)
        if not self._pending:
            self._pending_since = time.monotonic()
        self._pending_bytes += size
        self._pending[key] = b"".join(parts)
        return None

    def flush(self) -> bool:
        """Write the snapshots that wait; False if that failed: then all of them have to be saved again."""
        pending, self._pending, self._pending_bytes = self._pending, {}, 0
        if len(pending) < LEAST:
            written = [self._write(key, [data]) for key, data in pending.items()]
            return all(written)
        table, at = {}, 0
        for key, data in pending.items():
            table[key] = at, len(data)
            at += len(data)
        encoded = msgspec.msgpack.encode(table)
        name = next_name(NAME, self._newest)
        if not self._index.write(name, [FORMAT.prefix(encoded), encoded, *pending.values()]):
            return False
        self._newest = name
        begin = PREFIX.size + len(encoded)
        self._packed.update({key: (name, begin + offset, size) for key, (offset, size) in table.items()})
        return True

    def rest(self) -> None:
        """Close the files of packs."""
        for file in self._open.clear():
            file.close()

    def close(self) -> None:
        """Close the index."""
        self.rest()
        self._index.close()

    def _write(self, key: str, parts: Sequence[bytes | memoryview]) -> bool:
        written = self._index.write(key, parts)
        if written:
            self._own.add(key)
        return written

    def _find(self) -> None:
        """Find which run is in which pack; delete the packs of which nothing is the newest."""
        keys = self._index.keys()
        self._own = {key for key in keys if "-" not in key}  # those of runs are hexadecimal (`parsers.snapshot.key_of`)
        packs = sorted(key for key in keys if key.startswith(NAME))
        self._newest = max(packs, default="")
        for name in packs:
            self._packed |= {key: (name, *place) for key, place in self._table(name).items() if key not in self._own}
        for name in set(packs) - {name for name, _, _ in self._packed.values()}:
            self._index.delete(name)

    def _table(self, name: str) -> Mapping[str, tuple[int, int]]:
        """Return key -> (offset, size) of the snapshots of a pack; nothing if it is damaged."""
        try:
            size, crc = FORMAT.place(self._read(name, 0, PREFIX.size) or b"")
            if size > _MOST_TABLE:
                return {}
            encoded = self._read(name, PREFIX.size, size) or b""
            table = FORMAT.decoded(encoded, size, crc, dict[str, tuple[int, int]])
        except FormatError:
            return {}
        begin = PREFIX.size + size
        return {key: (begin + offset, length) for key, (offset, length) in table.items() if offset >= 0 <= length <= SMALL}

    def _read(self, name: str, offset: int, size: int) -> bytes | None:
        """Return a part of a pack; None if it cannot be read."""
        file = self._open.get(name)
        if file is None:
            file = self._index.open(name)
            if file is None:
                return None
            for other in self._open.put(name, file):
                other.close()
        try:
            file.seek(offset)
            return file.read(size)
        except OSError:
            return None
