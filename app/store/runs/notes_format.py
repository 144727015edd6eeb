r"""The file format of notes: one line per remark, view, mark, watchpoint, colour and card of a board: damage costs lines only.

A line is the CRC-32 of its JSON in hexadecimal digits, a space, and the JSON. The first line names the format, the last one has
the number of records between them:

    1f0c9a3e {"format":"mindscope notes","version":1}
    77ab90d1 {"run":"<key of its real path>","path":"/data/run1","remark":"best so far","tags":[":star","paper"]}
    c40e1a55 {"view":"8d...","base":"/data","name":"Losses","place":"scalars?run=run1"}
    5d0e77b1 {"mark":"4f...","run":"<key>","path":"/data/run1","session":".","rank":0,"name":"stall","times":[1200,5600]}
    0e1f44d2 {"watch":"<key>","path":"/data/run1","condition":"tensor_too_large","limits":{"max_gt":1e9},"names":["Default/a"],
              "pattern":"","enabled":true,"by":"nodes","said":"Default"}
    0a33c7d2 {"colour":"#2e9ac8","run":"<key>","path":"/data/run1"}
    e1b09f44 {"colour":"#895dd6","by":"column:lr","label":"0.1"}
    6b0d1c3e {"board":"5a...","base":"/data","name":"Daily","author":"Ann"}
    2c71e0b4 {"check":"not_a_number.labels","run":"<key>","path":"/data/run1","done":true,"remark":"all in 0 to 9"}
    f4417a90 {"card":"7c...","of":"5a...","place":"scalars?run=run1","part":"key:loss","title":"","text":"",
              "x":0,"y":0,"w":4,"h":7}
    93b1f2c8 {"records":8}

(A record is on one line.) Watchpoints of a run and cards of a board are in the order of their lines; cards whose board is
missing are left out. A remark, a view and a board name their author if one is known. The version is 7 if there are checks,
else 6 if there is an author, else 5 if there are boards, else 4 if there are colours, else 3 if there are watchpoints, else
2 if there are marks, else 1; programs read the versions up to their own.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import msgspec

from layouts.dumps.watchpoints import SavedWatchpoint, WatchList
from layouts.kit.user_input import InvalidInput, view_name, view_place
from layouts.runs.boards import MOST_CARDS, Board, BoardCard, card_key
from layouts.runs.checks import Checks, StepCheck
from layouts.runs.notes import (
    Group,
    Mark,
    NamedView,
    Note,
    author_name,
    colour_text,
    group_name,
    mark_times,
    ordered_tags,
    rank_number,
    remark_text,
    session_name,
    tag_text,
)

FORMAT = "mindscope notes"
VERSION = 7


@dataclass(frozen=True, slots=True)
class RunNote:
    """A note and the path of its run, which only helps people who read the file."""

    path: str
    note: Note


@dataclass(frozen=True, slots=True)
class SavedView:
    """A view and the base directory it belongs to."""

    base: str
    view: NamedView


@dataclass(frozen=True, slots=True)
class SavedMark:
    """A mark, the key of its run's real path, and that path, which only helps people who read the file."""

    run: str
    path: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class SavedColour:
    """The colour of a run, and its path, which only helps people who read the file."""

    path: str
    colour: str


@dataclass(frozen=True, slots=True)
class SavedWatchList:
    """The watchpoints for a run and the path of the run, which only helps people who read the file."""

    path: str
    listed: WatchList


@dataclass(frozen=True, slots=True)
class SavedChecks:
    """The checks on a run and the path of the run, which only helps people who read the file."""

    path: str
    checks: Checks


@dataclass(frozen=True, slots=True)
class SavedBoard:
    """A board and the base directory it belongs to."""

    base: str
    board: Board


@dataclass(frozen=True, slots=True)
class Content:
    """The content of the file: views, marks and boards by their own key, all else by that of the real path of its run."""

    notes: Mapping[str, RunNote] = field(default_factory=dict)
    views: Mapping[str, SavedView] = field(default_factory=dict)
    marks: Mapping[str, SavedMark] = field(default_factory=dict)
    watched: Mapping[str, SavedWatchList] = field(default_factory=dict)
    colours: Mapping[str, SavedColour] = field(default_factory=dict)
    groups: Mapping[Group, str] = field(default_factory=dict)
    boards: Mapping[str, SavedBoard] = field(default_factory=dict)
    checks: Mapping[str, SavedChecks] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _NotesRead:
    """What has been read of a file so far, as in Content."""

    notes: dict[str, RunNote] = field(default_factory=dict)
    views: dict[str, SavedView] = field(default_factory=dict)
    marks: dict[str, SavedMark] = field(default_factory=dict)
    watched: dict[str, tuple[str, list[SavedWatchpoint]]] = field(default_factory=dict)
    colours: dict[str, SavedColour] = field(default_factory=dict)
    groups: dict[Group, str] = field(default_factory=dict)
    boards: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    cards: dict[str, dict[str, BoardCard]] = field(default_factory=dict)
    checks: dict[str, SavedChecks] = field(default_factory=dict)

    def content(self) -> Content:
        watched = {key: SavedWatchList(path, WatchList(tuple(listed))) for key, (path, listed) in self.watched.items()}
        boards = {
            key: SavedBoard(base, Board(key, name, tuple(self.cards.get(key, {}).values()), author))
            for key, (base, name, author) in self.boards.items()
        }
        return Content(self.notes, self.views, self.marks, watched, self.colours, self.groups, boards, self.checks)


class _NoteLine(msgspec.Struct, forbid_unknown_fields=True):
    run: str
    path: str
    remark: str
    tags: list[str]
    author: str = ""

    def into(self, taken: _NotesRead) -> None:
        note = Note(remark_text(self.remark), ordered_tags(map(tag_text, self.tags)), author_name(self.author))
        taken.notes[self.run] = RunNote(self.path, note)


class _ViewLine(msgspec.Struct, forbid_unknown_fields=True):
    view: str
    base: str
    name: str
    place: str
    author: str = ""

    def into(self, taken: _NotesRead) -> None:
        view = NamedView(self.view, view_name(self.name), view_place(self.place), author_name(self.author))
        taken.views[self.view] = SavedView(self.base, view)


class _MarkLine(msgspec.Struct, forbid_unknown_fields=True):
    mark: str
    run: str
    path: str
    session: str
    rank: int
    name: str
    times: list[int]

    def into(self, taken: _NotesRead) -> None:
        name, session, times = view_name(self.name), session_name(self.session), mark_times(self.times)
        mark = Mark(self.mark, name, session, rank_number(self.rank), times)
        taken.marks[self.mark] = SavedMark(self.run, self.path, mark)


class _ColourLine(msgspec.Struct, forbid_unknown_fields=True):
    colour: str
    run: str
    path: str

    def into(self, taken: _NotesRead) -> None:
        taken.colours[self.run] = SavedColour(self.path, _colour(self.colour))


class _GroupLine(msgspec.Struct, forbid_unknown_fields=True):
    colour: str
    by: str
    label: str

    def into(self, taken: _NotesRead) -> None:
        taken.groups[group_name(self.by, self.label)] = _colour(self.colour)


def _colour(text: str) -> str:
    found = colour_text(text)
    if not found:
        raise InvalidInput("colour: expected #rrggbb, found nothing")
    return found


class _WatchLine(msgspec.Struct, forbid_unknown_fields=True):
    watch: str
    path: str
    condition: str
    limits: dict[str, float]
    names: list[str] | None
    pattern: str
    enabled: bool
    by: str
    said: str

    def into(self, taken: _NotesRead) -> None:
        names = None if self.names is None else tuple(self.names)
        found = SavedWatchpoint(self.condition, self.limits, names, self.pattern, self.enabled, self.by, self.said).checked()
        taken.watched.setdefault(self.watch, (self.path, []))[1].append(found)


class _BoardLine(msgspec.Struct, forbid_unknown_fields=True):
    board: str
    base: str
    name: str
    author: str = ""

    def into(self, taken: _NotesRead) -> None:
        taken.boards[card_key(self.board)] = self.base, view_name(self.name), author_name(self.author)


class _CardLine(msgspec.Struct, forbid_unknown_fields=True):
    card: str
    of: str
    place: str | None
    part: str
    title: str
    text: str
    x: int
    y: int
    w: int
    h: int

    def into(self, taken: _NotesRead) -> None:
        key, cards = card_key(self.card), taken.cards.setdefault(self.of, {})
        if len(cards) >= MOST_CARDS:
            raise InvalidInput(f"cards: expected at most {MOST_CARDS} on a board, found more")
        shape = {"x": self.x, "y": self.y, "w": self.w, "h": self.h}
        cards[key] = BoardCard(key, self.place, self.part, self.title, self.text, **shape).checked()


class _CheckLine(msgspec.Struct, forbid_unknown_fields=True):
    check: str
    run: str
    path: str
    done: bool
    remark: str

    def into(self, taken: _NotesRead) -> None:
        known = taken.checks.get(self.run, SavedChecks(self.path, Checks()))
        taken.checks[self.run] = SavedChecks(known.path, known.checks.changed(self.check, StepCheck(self.done, self.remark)))


_Line = _NoteLine | _ViewLine | _MarkLine | _WatchLine | _ColourLine | _GroupLine | _BoardLine | _CardLine | _CheckLine
_LINES: tuple[type[_Line], ...] = (
    _NoteLine, _ViewLine, _MarkLine, _WatchLine, _ColourLine, _GroupLine, _BoardLine, _CardLine,
    _CheckLine,
)  # fmt: skip


class Newer(ValueError):
    """The file has a newer version of the format."""


def encode(content: Content) -> bytes:
    """Serialize the content of the file."""
    records: list[dict[str, Any]] = [
        {"run": key, "path": one.path, "remark": one.note.remark, "tags": one.note.tags} | _author(one.note.by)
        for key, one in content.notes.items()
    ]
    records += [
        {"view": key, "base": one.base, "name": one.view.name, "place": one.view.place} | _author(one.view.by)
        for key, one in content.views.items()
    ]
    records += [
        {"mark": key, "run": one.run, "path": one.path, "session": one.mark.session, "rank": one.mark.rank,
         "name": one.mark.name, "times": one.mark.times}
        for key, one in content.marks.items()
    ]  # fmt: skip
    records += [
        {"watch": key, "path": run.path} | asdict(one)
        for key, run in content.watched.items() for one in run.listed.watchpoints
    ]  # fmt: skip
    records += [{"colour": one.colour, "run": key, "path": one.path} for key, one in content.colours.items()]
    records += [{"colour": colour, "by": by, "label": label} for (by, label), colour in content.groups.items()]
    for key, one in content.boards.items():
        records.append({"board": key, "base": one.base, "name": one.board.name} | _author(one.board.by))
        for card in one.board.cards:
            shown = asdict(card)
            records.append({"card": shown.pop("key"), "of": key} | shown)
    records += [
        {"check": step, "run": key, "path": one.path, "done": check.done, "remark": check.remark}
        for key, one in content.checks.items() for step, check in one.checks.by_step.items()
    ]  # fmt: skip
    authors = any("author" in record for record in records)
    parts = (content.checks, authors, content.boards, content.colours or content.groups, content.watched, content.marks)
    version = next((VERSION - at for at, part in enumerate(parts) if part), 1)
    lines = [{"format": FORMAT, "version": version}, *records, {"records": len(records)}]
    return b"".join(map(_line, lines))


def _author(name: str) -> dict[str, str]:
    return {"author": name} if name else {}


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
    found = _NotesRead()
    taken = [line is not None and _take(line, found) for line in lines]
    begun = first in known
    ended = len(lines) > 1 and lines[-1] is not None and _json(lines[-1]) == {"records": len(lines) - 2}
    whole = begun and ended and all(taken[1:-1]) and data.endswith(b"\n") and rest is None
    return found.content(), whole


def _checked(line: bytes) -> bytes | None:
    """Return the JSON of a line, or None if its CRC does not match."""
    crc, space, text = line[:8], line[8:9], line[9:]
    return text if space == b" " and crc == b"%08x" % zlib.crc32(text) else None


def _json(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _take(text: bytes, found: _NotesRead) -> bool:
    for kind in _LINES:
        try:
            msgspec.json.decode(text, type=kind).into(found)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, InvalidInput):
            continue
        return True
    return False
