r"""The file format of remarks, tags and saved views: one line per record; the intact lines of a damaged file can be read.

A line is the CRC-32 of its JSON in hexadecimal digits, a space, and the JSON. The first line names the format, the last one has
the number of records between them:

    1f0c9a3e {"format":"mindscope notes","version":1}
    77ab90d1 {"run":"<key of its real path>","path":"/data/run1","remark":"best so far","tags":[":star","paper"]}
    c40e1a55 {"view":"8d...","base":"/data","name":"Losses","place":"scalars?run=run1"}
    93b1f2c8 {"records":2}
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from layouts.notes import Note, Unfit, View, ordered_tags, remark_text, tag_text, view_name, view_place

FORMAT = "mindscope notes"
VERSION = 1


@dataclass(frozen=True, slots=True)
class RunNote:
    """A note and the path of its run, which only helps people who read the file."""

    path: str
    note: Note


@dataclass(frozen=True, slots=True)
class SavedView:
    """A view and the base directory it belongs to."""

    base: str
    view: View


@dataclass(frozen=True, slots=True)
class Content:
    """The content of the file: notes by the key of their run's real path, views by their own key."""

    notes: Mapping[str, RunNote] = field(default_factory=dict)
    views: Mapping[str, SavedView] = field(default_factory=dict)


class _NoteLine(msgspec.Struct, forbid_unknown_fields=True):
    run: str
    path: str
    remark: str
    tags: list[str]

    def into(self, notes: dict[str, RunNote], _views: dict[str, SavedView]) -> None:
        notes[self.run] = RunNote(self.path, Note(remark_text(self.remark), ordered_tags(map(tag_text, self.tags))))


class _ViewLine(msgspec.Struct, forbid_unknown_fields=True):
    view: str
    base: str
    name: str
    place: str

    def into(self, _notes: dict[str, RunNote], views: dict[str, SavedView]) -> None:
        views[self.view] = SavedView(self.base, View(self.view, view_name(self.name), view_place(self.place)))


class Newer(ValueError):
    """The file has a newer version of the format."""


def encode(content: Content) -> bytes:
    """Serialize the content of the file."""
    records: list[dict[str, Any]] = [
        {"run": key, "path": one.path, "remark": one.note.remark, "tags": one.note.tags} for key, one in content.notes.items()
    ]
    records += [
        {"view": key, "base": one.base, "name": one.view.name, "place": one.view.place} for key, one in content.views.items()
    ]
    lines = [{"format": FORMAT, "version": VERSION}, *records, {"records": len(records)}]
    return b"".join(map(_line, lines))


def _line(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(record, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def decode(data: bytes) -> tuple[Content, bool]:
    """Parse a file into (content of all intact lines, whether the file is undamaged). Raises Newer for a newer format."""
    *lines, rest = (_checked(line) for line in data.split(b"\n"))
    first = _json(lines[0]) if lines and lines[0] is not None else None
    if isinstance(first, dict) and first.get("format") == FORMAT and first.get("version") != VERSION:
        raise Newer(f"expected version {VERSION} of the format, found {first.get('version')!r}")
    notes: dict[str, RunNote] = {}
    views: dict[str, SavedView] = {}
    taken = [line is not None and _take(line, notes, views) for line in lines]
    begun = first == {"format": FORMAT, "version": VERSION}
    ended = len(lines) > 1 and lines[-1] is not None and _json(lines[-1]) == {"records": len(lines) - 2}
    return Content(notes, views), begun and ended and all(taken[1:-1]) and data.endswith(b"\n") and rest is None


def _checked(line: bytes) -> bytes | None:
    """Return the JSON of a line, or None if its CRC does not match."""
    crc, space, text = line[:8], line[8:9], line[9:]
    return text if space == b" " and crc == b"%08x" % zlib.crc32(text) else None


def _json(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _take(text: bytes, notes: dict[str, RunNote], views: dict[str, SavedView]) -> bool:
    kinds: tuple[type[_NoteLine | _ViewLine], ...] = (_NoteLine, _ViewLine)
    for kind in kinds:
        try:
            msgspec.json.decode(text, type=kind).into(notes, views)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, Unfit):
            continue
        return True
    return False
