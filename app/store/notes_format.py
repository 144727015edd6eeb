r"""The file format of remarks, tags, saved views and marks: one line per record, so that damage costs lines and not the file.

A line is the CRC-32 of its JSON in hexadecimal digits, a space, and the JSON. The first line names the format, the last one has
the number of records between them:

    1f0c9a3e {"format":"mindscope notes","version":1}
    77ab90d1 {"run":"<key of its real path>","path":"/data/run1","remark":"best so far","tags":[":star","paper"]}
    c40e1a55 {"view":"8d...","base":"/data","name":"Losses","place":"scalars?run=run1"}
    5d0e77b1 {"mark":"4f...","run":"<key>","path":"/data/run1","session":".","rank":0,"name":"stall","times":[1200,5600]}
    93b1f2c8 {"records":3}

The version is 2 if there are marks, else 1, which older programs read.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from layouts.notes import (
    Mark,
    Note,
    Unfit,
    View,
    mark_times,
    ordered_tags,
    rank_number,
    remark_text,
    session_name,
    tag_text,
    view_name,
    view_place,
)  # fmt: skip

FORMAT = "mindscope notes"
VERSION = 2


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
class SavedMark:
    """A mark, the key of its run's real path, and that path, which only helps people who read the file."""

    run: str
    path: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class Content:
    """The content of the file: notes by the key of their run's real path, views and marks by their own key."""

    notes: Mapping[str, RunNote] = field(default_factory=dict)
    views: Mapping[str, SavedView] = field(default_factory=dict)
    marks: Mapping[str, SavedMark] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Taken:
    """What has been read of a file so far, as in Content."""

    notes: dict[str, RunNote] = field(default_factory=dict)
    views: dict[str, SavedView] = field(default_factory=dict)
    marks: dict[str, SavedMark] = field(default_factory=dict)


class _NoteLine(msgspec.Struct, forbid_unknown_fields=True):
    run: str
    path: str
    remark: str
    tags: list[str]

    def into(self, taken: _Taken) -> None:
        taken.notes[self.run] = RunNote(self.path, Note(remark_text(self.remark), ordered_tags(map(tag_text, self.tags))))


class _ViewLine(msgspec.Struct, forbid_unknown_fields=True):
    view: str
    base: str
    name: str
    place: str

    def into(self, taken: _Taken) -> None:
        taken.views[self.view] = SavedView(self.base, View(self.view, view_name(self.name), view_place(self.place)))


class _MarkLine(msgspec.Struct, forbid_unknown_fields=True):
    mark: str
    run: str
    path: str
    session: str
    rank: int
    name: str
    times: list[int]

    def into(self, taken: _Taken) -> None:
        name, session, times = view_name(self.name), session_name(self.session), mark_times(self.times)
        mark = Mark(self.mark, name, session, rank_number(self.rank), times)
        taken.marks[self.mark] = SavedMark(self.run, self.path, mark)


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
    records += [
        {"mark": key, "run": one.run, "path": one.path, "session": one.mark.session, "rank": one.mark.rank,
         "name": one.mark.name, "times": one.mark.times}
        for key, one in content.marks.items()
    ]  # fmt: skip
    lines = [{"format": FORMAT, "version": VERSION if content.marks else 1}, *records, {"records": len(records)}]
    return b"".join(map(_line, lines))


def _line(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(record, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def decode(data: bytes) -> tuple[Content, bool]:
    """Parse a file into (content of all intact lines, whether the file is undamaged). Raises Newer for a newer format."""
    *lines, rest = (_checked(line) for line in data.split(b"\n"))
    first = _json(lines[0]) if lines and lines[0] is not None else None
    known = [{"format": FORMAT, "version": version} for version in range(1, VERSION + 1)]
    if isinstance(first, dict) and first.get("format") == FORMAT and first not in known:
        raise Newer(f"expected at most version {VERSION} of the format, found {first.get('version')!r}")
    found = _Taken()
    taken = [line is not None and _take(line, found) for line in lines]
    begun = first in known
    ended = len(lines) > 1 and lines[-1] is not None and _json(lines[-1]) == {"records": len(lines) - 2}
    whole = begun and ended and all(taken[1:-1]) and data.endswith(b"\n") and rest is None
    return Content(found.notes, found.views, found.marks), whole


def _checked(line: bytes) -> bytes | None:
    """Return the JSON of a line, or None if its CRC does not match."""
    crc, space, text = line[:8], line[8:9], line[9:]
    return text if space == b" " and crc == b"%08x" % zlib.crc32(text) else None


def _json(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _take(text: bytes, found: _Taken) -> bool:
    kinds: tuple[type[_NoteLine | _ViewLine | _MarkLine], ...] = (_NoteLine, _ViewLine, _MarkLine)
    for kind in kinds:
        try:
            msgspec.json.decode(text, type=kind).into(found)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, Unfit):
            continue
        return True
    return False
