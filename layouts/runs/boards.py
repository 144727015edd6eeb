"""Boards that users arrange: cards of pages, and texts, on a grid of COLUMNS columns.

A card of a page is an address of the application (`place`, as saved views have it) and the part of that page it shows; a card
of text has Markdown. All input is untrusted: `BoardCard.checked` and `Board.checked` validate it, or raise `InvalidInput`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypedDict

import msgspec

from layouts.kit.user_input import InvalidInput, exact_text, plain_text, version_of, view_name, view_place

COLUMNS = 12
ROWS = (2, 60)
"""The lowest and highest card, in rows of the grid."""
LOWEST = 10_000
"""The last row that a card can begin at."""
DEFAULT_SIZE = (4, 7)
"""Columns and rows of a card that comes without."""
MOST_BOARDS = 200
MOST_CARDS = 100
"""Cards of a board."""
MOST_LOST = 100
"""Fields of the cards of a board that are remembered as lost."""
MOST_LOST_CHARACTERS = 100_000
"""Characters of these: each answer about the board has them."""
LONGEST_TEXT = 20_000
LONGEST_PART = 4_000
LONGEST_TITLE = 200
MOST_CHARACTERS = 1_000_000
"""Characters of the cards of a board together."""

_KEY = re.compile(r"[0-9a-f]{16}")
_BOARD = "board"
_FIELDS = ("place", "part", "title", "text", "x", "y", "w", "h")
"""What a change may set of a card."""


@dataclass(frozen=True, slots=True)
class BoardCard:
    """A card at column x and row y, w columns wide and h rows high.

    place: path and query of a page, None for a card of text. part: the card of the page as assets/kit/alone.js names it, ""
    for the whole page. title: "" for that of the part. text: Markdown.
    """

    key: str
    place: str | None = None
    part: str = ""
    title: str = ""
    text: str = ""
    x: int = 0
    y: int = 0
    w: int = DEFAULT_SIZE[0]
    h: int = DEFAULT_SIZE[1]

    @property
    def version(self) -> str:
        """The version of what it shows, whatever its position and size."""
        return version_of(repr(self.place), self.part, self.title, self.text)

    @property
    def characters(self) -> int:
        """Number of characters that it takes."""
        return len(self.place or "") + len(self.part) + len(self.title) + len(self.text)

    def checked(self) -> BoardCard:
        """Return it with normalised texts. InvalidInput for an address, a text, a position or a size that no card can have."""
        for name, value, least, most in (
            ("width", self.w, 1, COLUMNS), ("height", self.h, *ROWS), ("column", self.x, 0, COLUMNS - self.w),
            ("row", self.y, 0, LOWEST),
        ):  # fmt: skip
            if not least <= value <= most:
                raise InvalidInput(f"{name} of a card: expected {least} to {most:,}, found {str(value)[:80]}")
        place = None if self.place is None else view_place(self.place)
        if place is not None and place.partition("?")[0] == _BOARD:
            raise InvalidInput("place: expected a page with cards, found a board")
        if place is not None and self.text:
            raise InvalidInput("card: expected either a place or a text, found both")
        part = exact_text("part", self.part, LONGEST_PART)
        title = " ".join(plain_text("title", self.title, LONGEST_TITLE).split())
        return replace(self, place=place, part=part, title=title, text=plain_text("text", self.text, LONGEST_TEXT))


@dataclass(frozen=True, slots=True)
class Board:
    """A board, with its cards in the order in which they were added. by is the name of who changed it last, "" if not known."""

    key: str
    name: str
    cards: tuple[BoardCard, ...] = ()
    by: str = ""

    @property
    def version(self) -> str:
        """The version of the whole board."""
        return version_of(self.name, *(f"{card.key} {card.version} {card.x} {card.y} {card.w} {card.h}" for card in self.cards))

    def checked(self) -> Board:
        """Return it with each card checked. InvalidInput if the board or one of its cards is not valid."""
        if len(self.cards) > MOST_CARDS:
            raise InvalidInput(f"cards: expected at most {MOST_CARDS} on a board, found {len(self.cards):,}")
        keys = {card_key(card.key) for card in self.cards}
        if len(keys) < len(self.cards):
            raise InvalidInput("cards: expected a key of its own for each, found two cards with the same key")
        cards = tuple(card.checked() for card in self.cards)
        characters = sum(card.characters for card in cards)
        if characters > MOST_CHARACTERS:
            raise InvalidInput(f"cards: expected at most {MOST_CHARACTERS:,} characters on a board, found {characters:,}")
        return replace(self, name=view_name(self.name), cards=cards)


class CardChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """New values of some fields of a card; None leaves one as it is.

    key: that of the card; one that the board lacks is added if the change says what it shows, at the first free place if x or
    y is missing. was: the version of the card that the change is based on, "" if it concerns position and size only. seen: what
    the browser showed of these fields when the change was made.
    """

    key: str
    place: str | None = None
    part: str | None = None
    title: str | None = None
    text: str | None = None
    x: int | None = None
    y: int | None = None
    w: int | None = None
    h: int | None = None
    was: str = ""
    seen: dict[str, str | int | None] = {}

    def lost(self, card: BoardCard) -> Iterator[tuple[str, str | int | None]]:
        """Yield name and value of each field of the card that this change replaces without having seen it."""
        for name in _FIELDS:
            new, now = getattr(self, name), getattr(card, name)
            if new is not None and name in self.seen and now not in (self.seen[name], new):
                yield name, now

    def applied(self, card: BoardCard) -> BoardCard:
        """Return the card after the change."""
        return replace(card, **{name: getattr(self, name) for name in _FIELDS if getattr(self, name) is not None})


@dataclass(frozen=True, slots=True)
class BoardChange:
    """A change of a board: cards that are changed or added, keys of cards that are removed, and a new name, None for none.

    by is the name of who makes it, "" if it is not known.
    """

    cards: tuple[CardChange, ...] = ()
    remove: tuple[str, ...] = ()
    name: str | None = None
    by: str = ""

    def applied(self, board: Board) -> Board:
        """Return the board after the change. InvalidInput if it is not valid then."""
        cards = {card.key: card for card in board.cards if card.key not in self.remove}
        for change in self.cards:
            known = cards.get(change.key)
            if known is None and change.place is None and change.text is None:
                continue  # moved here, deleted elsewhere
            made = change.applied(known or BoardCard(card_key(change.key)))
            if known is None and (change.x is None or change.y is None):
                x, y = free_place(cards.values(), made.w, made.h)
                made = replace(made, x=x, y=y)
            cards[change.key] = made
        name = board.name if self.name is None else self.name
        return Board(board.key, name, tuple(cards.values()), self.by).checked()

    def overridden(self, board: Board) -> tuple[BoardCard, ...]:
        """Return the cards whose content somebody else has changed since this change was made, as they are before it."""
        seen = {change.key: change for change in self.cards if change.was}
        after = {card.key: card for card in self.applied(board).cards}
        return tuple(
            card for card in board.cards
            if card.key in seen and card.version not in (seen[card.key].was, after[card.key].version)
        )  # fmt: skip

    def lost(self, board: Board) -> list[tuple[str, str, str | int | None]]:
        """Return card, field and value of what somebody else had set and this change replaces without having seen it."""
        known = {card.key: card for card in board.cards}
        return [
            (change.key, name, value) for change in self.cards if change.key in known
            for name, value in change.lost(known[change.key])
        ]  # fmt: skip


class LostField(TypedDict):
    """A field of a card that a change replaced without having seen it."""

    key: str
    """Of the card."""
    name: str
    value: str | int | None
    number: int
    """Which loss it is: another number than any other one has, also of a server before; 0 is none."""


def remembered(lost: Sequence[LostField]) -> list[LostField]:
    """Return the newest lost fields, within the limits of their number and of their characters."""
    sizes = [len(one["value"]) if isinstance(one["value"], str) else 0 for one in lost]
    first = max(0, len(lost) - MOST_LOST)
    left = sum(sizes[first:])
    while left > MOST_LOST_CHARACTERS:
        left -= sizes[first]
        first += 1
    return list(lost[first:])


@dataclass(frozen=True, slots=True)
class ChangedBoard:
    """A board after a change, and the cards of others that the change has overridden, as they were."""

    board: Board
    overridden: tuple[BoardCard, ...] = ()


SentCard = Annotated[dict[str, Any], BoardCard]
"""A card with its version."""


class SentBoard(TypedDict):
    """A board as the browser gets and exports it."""

    format: str
    version: int
    """Of the format."""
    name: str
    cards: list[SentCard]
    key: str
    mark: str
    """The version of the board with all of its cards."""
    by: str
    """Who changed it last; empty if that is not known."""
    lost: list[LostField]
    """What was replaced of late by changes that had not seen it, oldest first."""


def card_key(text: str) -> str:
    """Return the key of a card or a board as it is. InvalidInput if it is none."""
    if not _KEY.fullmatch(text):
        raise InvalidInput(f"key: expected 16 hexadecimal digits, found {text[:80]!r}")
    return text


def free_place(cards: Iterable[BoardCard], w: int, h: int) -> tuple[int, int]:
    """Return the first column and row, by rows, at which a card of this size covers no other."""
    taken = list(cards)
    rows = sorted({0, *(card.y + card.h for card in taken)})
    for y in rows:
        beside = [card for card in taken if card.y < y + h and y < card.y + card.h]
        for x in range(max(0, COLUMNS - w) + 1):
            if not any(card.x < x + w and x < card.x + card.w for card in beside):
                return x, y
    return 0, rows[-1]


def new_name(name: str, taken: Sequence[str]) -> str:
    """Return a valid name that none of these is: with a number, if it is taken."""
    wanted = view_name(name)
    number, found = 1, wanted
    while found in taken:
        number += 1
        found = view_name(f"{wanted[: 100 - 8]} ({number})")
    return found
