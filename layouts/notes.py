"""What people say of runs: remarks and tags, and the views of pages they save under a name.

Everything here is text from a browser or from a file that anybody may have changed: `remark_text`, `tag_text`, `view_name` and
`view_place` give it in the form it is kept in, or raise `Unfit`. A tag is a word, or one of ICONS after a colon (":star").
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

ICONS = ("star", "flag", "check", "cross", "question", "bug", "pin", "bolt", "eye", "clock")
"""Tags that are icons, in the order in which they stand."""
LONGEST_REMARK = 10_000
LONGEST_TAG = 40
MOST_TAGS = 10
LONGEST_NAME = 100
LONGEST_PLACE = 60_000
MOST_VIEWS = 500

# Control characters but tab and line feed, halves of surrogate pairs, and what turns the direction of the text around it.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
_PLACE = re.compile(r"[a-z][a-z0-9_-]{0,63}|")
_QUERY = re.compile(r"[!$-;=?-~]*")
_NOT_KEPT = ("embed", "token")
"""Keys of a query that belong to a window, not to what it shows."""


class Unfit(ValueError):
    """A remark, tag, name or place that is not kept; says what was wanted and what came."""


class NotKept(ValueError):
    """A change that cannot be kept, for a reason that lies with the workspace; the text is meant for the user."""


class Stale(Exception):
    """A change of something that was changed meanwhile: nothing is written. now is what it is now, None if it is gone."""

    def __init__(self, now: Note | View | None) -> None:
        super().__init__("changed meanwhile")
        self.now = now


@dataclass(frozen=True, slots=True)
class Note:
    """The remark on a run and its tags, icons first."""

    remark: str = ""
    tags: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        """What a change of the remark names as what it is based on."""
        return version_of(self.remark)


@dataclass(frozen=True, slots=True)
class View:
    """A page with its state under a name. place is the page's path and the query of its address: "scalars?run=a"."""

    key: str
    name: str
    place: str

    @property
    def version(self) -> str:
        """What a change of the view names as what it is based on."""
        return version_of(self.name, self.place)


@dataclass(frozen=True, slots=True)
class NoteChange:
    """A change of the note on one run: another remark (None: as it is) in place of that of version `was`, and tags added and
    removed, which several people may do at once."""

    remark: str | None = None
    was: str = ""
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()

    def applied(self, note: Note) -> Note:
        """The note after the change. Stale if the remark is another by now, Unfit if there would be too many tags."""
        remark = note.remark if self.remark is None else remark_text(self.remark)
        if self.remark is not None and note.version != self.was and note.remark != remark:
            raise Stale(note)
        removed = {tag_text(tag) for tag in self.remove}
        tags = ordered_tags([*(tag for tag in note.tags if tag not in removed), *map(tag_text, self.add)])
        if len(tags) > MOST_TAGS and len(tags) > len(note.tags):
            raise Unfit(f"tags: wanted at most {MOST_TAGS} on a run, got {len(tags)}")
        return Note(remark, tags)


@dataclass(frozen=True, slots=True)
class Notebook:
    """All notes and views of a source. notes are by the key of a run, a job or a rank, and only those that are not empty.

    kept is whether changes can be kept, why_not the reason where that is a trouble of the workspace, "" where there is none.
    """

    kept: bool = False
    why_not: str = ""
    notes: Mapping[str, Note] = field(default_factory=lambda: MappingProxyType({}))
    views: Sequence[View] = ()


def version_of(*parts: str) -> str:
    """A short text that differs for other texts."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()


def remark_text(text: str) -> str:
    """A remark as it is kept: without space at its ends, lines ended by line feeds, no unseen characters."""
    kept = _UNSEEN.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n")).strip()
    if len(kept) > LONGEST_REMARK:
        raise Unfit(f"remark: wanted at most {LONGEST_REMARK:,} characters, got {len(kept):,}")
    return kept


def tag_text(text: str) -> str:
    """A tag as it is kept: an icon, or a word or few without a comma or a colon before it."""
    if text.startswith(":"):
        if text[1:] not in ICONS:
            raise Unfit(f"tag: wanted one of the icons {', '.join(ICONS)}, got {text[1:80]!r}")
        return text
    word = _line(text)
    if not word or len(word) > LONGEST_TAG or "," in word or word.startswith(":"):
        raise Unfit(f"tag: wanted 1 to {LONGEST_TAG} characters and no comma, got {word[:80]!r}")
    return word


def ordered_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Each tag once: icons in their order, then words by the alphabet, whoever gave which first."""
    return tuple(sorted(set(tags), key=lambda tag: (ICONS.index(tag[1:]) if tag.startswith(":") else len(ICONS), tag)))


def view_name(text: str) -> str:
    """The name of a view as it is kept: one line."""
    name = _line(text)
    if not name or len(name) > LONGEST_NAME:
        raise Unfit(f"name: wanted 1 to {LONGEST_NAME} characters, got {len(name):,}")
    return name


def view_place(text: str) -> str:
    """A place of this application as it is kept: the path of a page, "?" and a query. No host, no scheme, no other path.

    What a query says of the window and of its visitor is left out.
    """
    path, mark, query = text.partition("?")
    if not _PLACE.fullmatch(path) or not _QUERY.fullmatch(query) or len(text) > LONGEST_PLACE:
        raise Unfit(f"place: wanted a page of this application with its state, got {text[:80]!r}")
    parts = [part for part in query.split("&") if part and part.partition("=")[0] not in _NOT_KEPT]
    return path + mark + "&".join(parts) if parts else path


def _line(text: str) -> str:
    return " ".join(_UNSEEN.sub("\ufffd", text).split())
