"""Routes of boards: one board as JSON, which is also the file that users export, and changes by POST.

    <prefix>api/board.json?board=KEY[&download=1]
        {"format": "mindscope board", "version": 1, "name": NAME, "cards": [CARD, ...], "key": KEY, "mark": VERSION}
    <prefix>api/board
        {"create": NAME, "key": KEY, "cards": [CARD, ...]}   {"import": FILE}   {"delete": KEY}
        {"board": KEY, "name": NAME, "change": [CHANGE, ...], "remove": [KEY, ...]}

A card is {"key", "place", "part", "title", "text", "x", "y", "w", "h"} as in `layouts.runs.boards.BoardCard`, a change has some
of these, the version of the card that it is based on (`was`), and what the browser showed of these fields (`seen`). A board has
what changes replaced without having seen it (`lost`), for the browser that had set it. A response has the board as it is `now`,
null if there is none, and the cards of others that the change has overridden. Requests are checked as those of
`app.routes.runs.notes`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import msgspec
from flask import Blueprint, Response, request

from app.routes.refusals import Unusable, body, refusal
from app.routes.values import media
from layouts.kit.user_input import InvalidInput
from layouts.runs.boards import (
    DEFAULT_SIZE,
    Board,
    BoardCard,
    BoardChange,
    CardChange,
    ChangedBoard,
    LostField,
    SentBoard,
    SentCard,
)
from layouts.runs.notes import NotKept, Stale
from layouts.sources import NoteSources

FORMAT = "mindscope board"
VERSION = 1
"""Version of the exported file."""


class _Card(msgspec.Struct, forbid_unknown_fields=True):
    key: str = ""
    place: str | None = None
    part: str = ""
    title: str = ""
    text: str = ""
    x: int = 0
    y: int = 0
    w: int = DEFAULT_SIZE[0]
    h: int = DEFAULT_SIZE[1]
    version: str = ""

    def card(self, *, new: bool = False) -> BoardCard:
        """Return the card; new: with a key of its own."""
        key = secrets.token_hex(8) if new or not self.key else self.key
        return BoardCard(key, self.place, self.part, self.title, self.text, self.x, self.y, self.w, self.h)


class _BoardFile(msgspec.Struct):
    """An exported board; fields of later versions of the program are ignored."""

    format: str
    version: int
    name: str
    cards: list[_Card]


class _BoardRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Exactly one of create, import, board and delete is set."""

    create: str | None = None
    key: str = ""
    cards: list[_Card] = []
    imported: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="import")
    board: str | None = None
    name: str | None = None
    change: list[CardChange] = []
    remove: list[str] = []
    delete: str | None = None


def add_routes(routes: Blueprint, source: NoteSources) -> None:
    """Add the routes of this module to a blueprint."""
    routes.add_url_rule("/board.json", "board-json", lambda: one(source))
    routes.add_url_rule("/board", "board", lambda: _answer(lambda: change(source), source), methods=["POST"])


def one(source: NoteSources) -> Response:
    """Respond with a board; 404 if there is none of this key."""
    key = request.args.get("board", "")
    board = next((board for board in source.notes.notebook().boards if board.key == key), None)
    if board is None:
        return refusal(Unusable(f"no such board: {key[:80]!r}", 404))
    answer = Response(msgspec.json.encode(as_json(board, source.notes.lost_fields(key))), mimetype="application/json")
    if "download" in request.args:
        answer.set_data(msgspec.json.format(msgspec.json.encode(_exported(board)), indent=1) + b"\n")
        answer.headers["Content-Disposition"] = media.attachment(f"{media.safe_name(board.name)}.board.json")
    answer.cache_control.no_store = True
    return answer


def change(source: NoteSources) -> ChangedBoard | None:
    """Create, import, change or delete a board; return the board as it is afterwards, or was if it is deleted."""
    asked = body(_BoardRequest)
    file = bytes(asked.imported)
    if [asked.create, file or None, asked.board, asked.delete].count(None) != 3:
        raise Unusable("expected exactly one of create, import, board and delete")
    if asked.create is not None:
        cards = [card.card() for card in asked.cards]
        return ChangedBoard(source.notes.create_board(asked.create, cards, key=asked.key))
    if file:
        name, cards = imported(file)
        return ChangedBoard(source.notes.create_board(name, cards))
    if asked.delete is not None:
        deleted = source.notes.delete_board(asked.delete)
        return None if deleted is None else ChangedBoard(deleted)
    return source.notes.change_board(asked.board or "", BoardChange(tuple(asked.change), tuple(asked.remove), asked.name))


def imported(data: bytes) -> tuple[str, list[BoardCard]]:
    """Parse an exported board into its name and cards, which get keys of their own. Unusable if it is none."""
    try:
        found = msgspec.json.decode(data, type=_BoardFile)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Unusable(f"expected an exported board, found an error: {error}") from None
    if found.format != FORMAT or found.version != VERSION:
        raise Unusable(f"expected a {FORMAT!r} of version {VERSION}, found {found.format[:80]!r} of version {found.version}")
    return found.name, [card.card(new=True) for card in found.cards]


def as_json(board: Board, lost: list[LostField]) -> SentBoard:
    """Return a board with the versions of it and of its cards, and what was lost of late."""
    return {
        "format": FORMAT, "version": VERSION, "name": board.name, "cards": [_card(card) for card in board.cards],
        "key": board.key, "mark": board.version, "by": board.by, "lost": lost,
    }  # fmt: skip


def _exported(board: Board) -> dict[str, Any]:
    cards = [{name: value for name, value in asdict(card).items() if name != "key"} for card in board.cards]
    return {"format": FORMAT, "version": VERSION, "name": board.name, "cards": cards}


def _card(card: BoardCard) -> SentCard:
    return asdict(card) | {"version": card.version}


def _answer(change: Callable[[], ChangedBoard | None], source: NoteSources) -> Response:
    try:
        found, done = change(), True
    except Stale:
        found, done = None, False
    except (Unusable, InvalidInput) as error:
        return refusal(error)
    except NotKept as error:
        return refusal(Unusable(str(error), 507))
    now = None if found is None else as_json(found.board, source.notes.lost_fields(found.board.key))
    overridden = [] if found is None else [_card(card) for card in found.overridden]
    answer = Response(
        msgspec.json.encode({"done": done, "now": now, "overridden": overridden}), mimetype="application/json"
    )
    answer.cache_control.no_store = True
    return answer
