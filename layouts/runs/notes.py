"""Notes that users write: remarks on and tags of runs, saved views, marks on timelines, watchpoints, colours, boards.

All input is untrusted: it comes from a browser, or from a file that anybody may have edited. `remark_text`, `tag_text`,
`session_name`, `rank_number`, `mark_times` and `colour_text` validate and normalise it, or raise `InvalidInput`, as the
functions of `layouts.kit.user_input` do for texts of every kind. A tag is a word, or one of ICONS after a colon (":star").
Watchpoints are in `layouts.dumps.watchpoints`, boards in `layouts.runs.boards`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from layouts.dumps.watchpoints import WatchList
from layouts.kit.theme import legible
from layouts.kit.user_input import InvalidInput, one_line, plain_text, readable, version_of
from layouts.runs.boards import Board
from layouts.runs.checks import Checks, StepCheck

ICONS = ("star", "flag", "check", "cross", "question", "bug", "pin", "bolt", "eye", "clock")
"""Tags that are icons, in display order."""
LONGEST_REMARK = 10_000
LONGEST_TAG = 40
MOST_TAGS = 10
LONGEST_SESSION = 4_000
LONGEST_AUTHOR = 80
MOST_VIEWS = 500
MOST_MARKS = 2_000
MOST_COLOURS = 10_000
LONGEST_GROUP = 4_000
LATEST_NS = 1 << 61
HIGHEST_RANK = 10**9 - 1
"""The highest rank that a file name can have."""

_COLOUR = re.compile(r"#[0-9a-f]{6}")
class NotKept(ValueError):
    """A change that cannot be saved because of the workspace; the text is meant for the user."""


class Stale(Exception):
    """A change based on an outdated version; nothing is written. now is the current version, None if it was deleted."""

    def __init__(self, now: Note | NamedView | Mark | WatchList | StepCheck | None) -> None:
        super().__init__("changed meanwhile")
        self.now = now


@dataclass(frozen=True, slots=True)
class Note:
    """The remark on a run and its tags, icons first. by is the name of who wrote the remark last, "" if it is not known."""

    remark: str = ""
    tags: tuple[str, ...] = ()
    by: str = ""

    @property
    def version(self) -> str:
        """The version that a change of the remark must be based on."""
        return version_of(self.remark)


@dataclass(frozen=True, slots=True)
class NamedView:
    """A saved view: a page and its state under a name. place is the page's path and query: "scalars?run=a".

    by is the name of who saved it, "" if it is not known.
    """

    key: str
    name: str
    place: str
    by: str = ""

    @property
    def version(self) -> str:
        """The version that a change of the view must be based on."""
        return version_of(self.name, self.place)


@dataclass(frozen=True, slots=True)
class Mark:
    """A named mark on the timeline of a profile: one time, or two with what lies between (ns from the start of the trace)."""

    key: str
    name: str
    session: str
    rank: int
    times: tuple[int, ...]

    @property
    def version(self) -> str:
        """The version that a change of the mark must be based on."""
        return version_of(self.name, self.session, str(self.rank), *map(str, self.times))


@dataclass(frozen=True, slots=True)
class HandColour:
    """A colour set by hand, as #rrggbb; "" if it was reset."""

    colour: str

    @property
    def version(self) -> str:
        """The version of the colour."""
        return version_of(self.colour)


Group = tuple[str, str]
"""A group of runs: by what runs are grouped, as in the state of the page ("column:lr"), and its label."""


@dataclass(frozen=True, slots=True)
class NoteChange:
    """A change of the note on one run.

    remark is the new remark (None: unchanged), was the version of the remark it replaces, by the name of who writes it, "" if
    it is not known. Tags are added and removed without a version, so several people may do so at once.
    """

    remark: str | None = None
    was: str = ""
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    by: str = ""

    def applied(self, note: Note) -> Note:
        """Return the note after the change; Stale if the remark has changed meanwhile, InvalidInput for too many tags."""
        remark = note.remark if self.remark is None else remark_text(self.remark)
        if self.remark is not None and note.version != self.was and note.remark != remark:
            raise Stale(note)
        removed = {tag_text(tag) for tag in self.remove}
        tags = ordered_tags([*(tag for tag in note.tags if tag not in removed), *map(tag_text, self.add)])
        if len(tags) > MOST_TAGS and len(tags) > len(note.tags):
            raise InvalidInput(f"tags: expected at most {MOST_TAGS} on a run, found {len(tags)}")
        by = note.by if remark == note.remark else self.by
        return Note(remark, tags, by if remark else "")


@dataclass(frozen=True, slots=True)
class Notebook:
    """All notes, views and marks of a source. notes has the notes that are not empty by the key of the run, job or rank, marks
    those on the timelines of a member run by its key, in order of time, watchpoints those for the dump of a run or job by its
    key, if there are any. groups has the colours of groups that were set by hand; those of runs are in `RunChanges.by_hand`.
    checks are those of guides by the key of the run, job or rank.
    boards are sorted by name.

    kept is whether changes can be saved. why_not says what is wrong with the workspace if they cannot, "" if nothing is.
    read_only is whether they cannot because the visitor may only read.
    """

    kept: bool = False
    why_not: str = ""
    read_only: bool = False
    notes: Mapping[str, Note] = field(default_factory=lambda: MappingProxyType({}))
    views: Sequence[NamedView] = ()
    marks: Mapping[str, Sequence[Mark]] = field(default_factory=lambda: MappingProxyType({}))
    watchpoints: Mapping[str, WatchList] = field(default_factory=lambda: MappingProxyType({}))
    groups: Mapping[Group, str] = field(default_factory=lambda: MappingProxyType({}))
    boards: Sequence[Board] = ()
    checks: Mapping[str, Checks] = field(default_factory=lambda: MappingProxyType({}))


def remark_text(text: str) -> str:
    """Normalise a remark: strip it, end lines with line feeds, replace invisible characters. InvalidInput if it is too long."""
    return plain_text("remark", text, LONGEST_REMARK)


def tag_text(text: str) -> str:
    """Normalise a tag: an icon, or a few words without a comma and without a leading colon. InvalidInput for anything else."""
    if text.startswith(":"):
        if text[1:] not in ICONS:
            raise InvalidInput(f"tag: expected one of the icons {', '.join(ICONS)}, found {text[1:80]!r}")
        return text
    word = one_line(text)
    if not word or len(word) > LONGEST_TAG or "," in word or word.startswith(":"):
        raise InvalidInput(f"tag: expected 1 to {LONGEST_TAG} characters and no comma, found {word[:80]!r}")
    return word


def ordered_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags without duplicates: icons in the order of ICONS, then words alphabetically."""
    return tuple(sorted(set(tags), key=lambda tag: (ICONS.index(tag[1:]) if tag.startswith(":") else len(ICONS), tag)))


def author_name(text: str) -> str:
    """Normalise the name of an author to one line; "" stays. InvalidInput if it is too long."""
    name = one_line(text)
    if len(name) > LONGEST_AUTHOR:
        raise InvalidInput(f"author: expected at most {LONGEST_AUTHOR} characters, found {len(name)}")
    return name


def mark_times(times: Iterable[int]) -> tuple[int, ...]:
    """Return the times of a mark in order. InvalidInput for none, more than two, or times no trace can have."""
    found = tuple(sorted(times))
    if not 1 <= len(found) <= 2 or any(abs(time) > LATEST_NS for time in found):
        raise InvalidInput(f"times: expected one or two within {LATEST_NS:,} ns, found {str(list(found))[:80]}")
    return found


def session_name(text: str) -> str:
    """Return the name of a session as it is. InvalidInput if it is none."""
    if not readable(text, LONGEST_SESSION):
        raise InvalidInput(f"session: expected 1 to {LONGEST_SESSION:,} characters, found {text[:80]!r}")
    return text


def rank_number(rank: int) -> int:
    """Return a rank as it is. InvalidInput if it is none."""
    if not 0 <= rank <= HIGHEST_RANK:
        raise InvalidInput(f"rank: expected 0 to {HIGHEST_RANK:,}, found {str(rank)[:80]}")
    return rank


def colour_text(text: str) -> str:
    """Normalise a colour to one that is readable in both themes; "" stays. InvalidInput for anything but #rrggbb."""
    if text and not _COLOUR.fullmatch(text.lower()):
        raise InvalidInput(f"colour: expected #rrggbb, found {text[:80]!r}")
    return legible(text.lower()) if text else ""


def group_name(by: str, label: str) -> Group:
    """Return a group as it is. InvalidInput if runs cannot be grouped by this, or if a name is too long."""
    if not readable(by, LONGEST_GROUP) or len(label) > LONGEST_GROUP:
        raise InvalidInput(f"group: expected what runs are grouped by and a label, found {by[:80]!r} and {label[:80]!r}")
    return by, label
