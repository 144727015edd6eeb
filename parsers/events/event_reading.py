"""Reads an event file from a cursor: records, messages, blocks, problems and the next cursor."""

from __future__ import annotations

from dataclasses import replace
from struct import Struct

import numpy as np

from parsers.events.collect import RecordCollector
from parsers.events.columns import ColumnDecoder
from parsers.events.damage import describe, unfinished
from parsers.events.entries import EntryReader
from parsers.events.records import FOOTER, FRAME, HEADER, Damage, Large, Records, RecordWindow
from parsers.events.rounds import RecordPatterns, RoundReader
from parsers.events.walk import MessageLayout, walk
from parsers.events.wire import WireError
from parsers.file_reading import read_growing, unreadable
from parsers.files import RegularFile, Sparse
from parsers.model import Batch, Cursor
from parsers.recording.wire import mask, masked

_u32 = Struct("<I").unpack_from


def read_events(
    path: str, form: MessageLayout, cursor: Cursor | None = None, limit: int | None = None,
    patterns: RecordPatterns | None = None
) -> Batch:
    """All intact records after the cursor, and the problems found. Never raises for the state of the file.

    limit stops between two records, or in the search for one after damage, after about this many bytes. patterns are those of
    other files of this form, which make reading faster.
    """
    known = RecordPatterns() if patterns is None else patterns
    return read_growing(path, cursor, lambda file, resumed: _read(file, form, resumed, limit, known))


def _read(file: RegularFile, form: MessageLayout, resumed: Cursor, limit: int | None, patterns: RecordPatterns) -> Batch:
    reading = _EventReading(file, form, dict(resumed.plugins), patterns)
    records = Records(file, resumed.offset, resumed.size, limit, resumed.search, patterns.lengths)
    begin = records.position
    failure = reading.consume(records)
    problems = describe(file.path, reading.damage)
    if failure is not None:
        problems.append(replace(unreadable(file.path, failure), offset=records.end))
    found = reading.found
    return Batch(
        cursor=file.cursor(records.end, records.seen, tuple(reading.plugins.items()), records.search),
        scalars=found.scalars(),
        payloads=found.payloads(),
        problems=problems,
        records=found.records,
        bytes_read=records.position - begin,
        pending=0 if records.more else file.size - records.end,
        tail=None if records.more or records.search or failure else unfinished(file, records.end, records.claim, form),
        more=records.more,
        started=found.started,
        notes=reading.notes,
    )


class _EventReading:
    """The state of one read."""

    def __init__(self, file: RegularFile, form: MessageLayout, plugins: dict[str, str], patterns: RecordPatterns) -> None:
        self.file, self.form, self.plugins = file, form, plugins
        self.found = RecordCollector()
        self.damage: list[Damage] = []
        self.notes: dict[str, str] = {}
        self._patterns = patterns
        self._rounds = RoundReader(form, self.found, patterns)
        self._entries = EntryReader(form, self.found)
        self._columns = ColumnDecoder(form, self.found)

    def consume(self, records: Records) -> OSError | None:
        """Read all records; return the error that ended the read early, if any."""
        try:
            for piece in records:
                if isinstance(piece, Damage):
                    self.damage.append(piece)
                elif isinstance(piece, Large):
                    self._take_large(piece)
                else:
                    self._take_frames(piece, records)
        except OSError as error:
            return error
        return None

    def _take_frames(self, frames: RecordWindow, records: Records) -> None:
        if not frames.base:
            self._patterns.note(frames.length)
        left, unfinished = self._rounds.read(frames)
        if unfinished and records.go_back(frames, unfinished):
            left[-unfinished:] = False
        rows, damaged = self._entries.read(frames, np.flatnonzero(left))
        rest, failed = self._columns.decode(frames, rows)
        data = frames.data.data
        for row in (*damaged.tolist(), *failed.tolist()):
            self._damaged(frames, row)
        for row in rest.tolist():
            start, length = int(frames.start[row]), int(frames.length[row])
            message = bytes(data[start : start + length])
            if masked(message) != _u32(data, start + length)[0]:
                self._damaged(frames, row)
                continue
            self._take(message, length, frames.base + start - HEADER, verified=True)

    def _damaged(self, frames: RecordWindow, row: int) -> None:
        offset = frames.base + int(frames.start[row]) - HEADER
        self.damage.append(Damage(offset, FRAME + int(frames.length[row]), "bad_data", ""))

    def _take_large(self, record: Large) -> None:
        source = Sparse(self.file, record.offset + HEADER, record.length)
        self._take(source, record.length, record.offset, verified=record.verified)

    def _intact(self, order: int, length: int) -> bool:
        """Return whether the data of a record match their CRC. Of records with large values that is checked later."""
        stored = self.file.read(order + HEADER + length, FOOTER)
        return len(stored) == FOOTER and mask(self.file.crc(order + HEADER, length)) == _u32(stored)[0]

    def _take(self, message: bytes | Sparse, length: int, order: int, *, verified: bool) -> None:
        try:
            event = walk(message, length, self.form, most=0)
        except WireError as error:
            self.damage.append(Damage(order, FRAME + length, "bad_message", str(error)))
            return
        if not verified and not event.payloads and not self._intact(order, length):
            self.damage.append(Damage(order, FRAME + length, "bad_data", ""))
            return
        self.found.add_event(event, order)
        if event.version:
            self.notes["version"] = event.version.decode("utf-8", "backslashreplace")
        for complaint in event.complaints:
            self.damage.append(Damage(order, FRAME + length, "bad_value", complaint))
        for payload in event.payloads:
            plugin = payload.plugin or self.plugins.get(payload.tag, "")
            if payload.plugin and payload.plugin != "scalars":
                plugin = self.plugins.setdefault(payload.tag, payload.plugin)
            kind = self.form.plugins.get(plugin, "other") if self.form.metadata and payload.kind == "tensor" else payload.kind
            self.found.add_payload(
                event, payload._replace(kind=kind), plugin, order=order, base=order + HEADER, verified=verified
            )
