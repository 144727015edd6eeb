"""POST routes by which the pages change remarks, tags, saved views and marks on timelines; the response is JSON.

    <prefix>api/note   {"run": KEY, "remark": TEXT, "was": VERSION, "add": [TAG, ...], "remove": [TAG, ...]}
    <prefix>api/view   {"save": NAME, "place": PLACE, "instead": VERSION}
                       {"rename": KEY, "name": NAME, "was": VERSION}   {"delete": KEY, "was": VERSION}
    <prefix>api/mark   {"save": NAME, "run": KEY, "session": NAME, "rank": NUMBER, "times": [NS, NS], "instead": VERSION}
                       {"delete": KEY, "was": VERSION}

They are below our own prefix, so `app.web.security` checks Host, Origin and token first, also inside a host application. They
accept only application/json, so a page of another origin would need a CORS preflight. A concurrent change is no error: the
response has the current value as `now`, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec
from flask import Blueprint, Response, request

from app.routes.refusals import Unusable, refusal
from layouts.notes import Mark, Note, NoteChange, NotKept, Stale, Unfit, View
from layouts.shell.run_list import as_json
from layouts.sources import NoteSource

T = TypeVar("T", bound=msgspec.Struct)


class _NoteRequest(msgspec.Struct, forbid_unknown_fields=True):
    run: str
    remark: str | None = None
    was: str = ""
    add: list[str] = []
    remove: list[str] = []


class _ViewRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Exactly one of save, rename and delete is set."""

    save: str | None = None
    place: str = ""
    instead: str | None = None
    rename: str | None = None
    name: str = ""
    delete: str | None = None
    was: str = ""


class _MarkRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Exactly one of save and delete is set."""

    save: str | None = None
    run: str = ""
    session: str = "."
    rank: int = 0
    times: list[int] = []
    instead: str | None = None
    delete: str | None = None
    was: str = ""


def add_routes(routes: Blueprint, source: NoteSource) -> None:
    """Add the routes of this module to a blueprint."""
    routes.add_url_rule("/note", "note", lambda: _answer(lambda: annotate(source)), methods=["POST"])
    routes.add_url_rule("/view", "view", lambda: _answer(lambda: change_view(source)), methods=["POST"])
    routes.add_url_rule("/mark", "mark", lambda: _answer(lambda: change_mark(source)), methods=["POST"])


def annotate(source: NoteSource) -> Note:
    """Change the note of a run and return it."""
    asked = _body(_NoteRequest)
    change = NoteChange(asked.remark, asked.was, tuple(asked.add), tuple(asked.remove))
    try:
        return source.annotate(asked.run, change)
    except KeyError:
        raise Unusable(f"no such run: {asked.run[:200]!r}", 404) from None


def change_view(source: NoteSource) -> View | None:
    """Save, rename or delete a view; return the view as it is afterwards, None if deleted."""
    asked = _body(_ViewRequest)
    if [asked.save, asked.rename, asked.delete].count(None) != 2:
        raise Unusable("expected exactly one of save, rename and delete")
    if asked.save is not None:
        return source.save_view(asked.save, asked.place, instead=asked.instead)
    if asked.rename is not None:
        return source.rename_view(asked.rename, asked.name, asked.was)
    source.delete_view(asked.delete or "", asked.was)
    return None


def change_mark(source: NoteSource) -> Mark | None:
    """Save or delete a mark; return the mark as it is afterwards, None if deleted."""
    asked = _body(_MarkRequest)
    if (asked.save is None) == (asked.delete is None):
        raise Unusable("expected either save or delete")
    if asked.save is None:
        source.delete_mark(asked.delete or "", asked.was)
        return None
    mark = Mark("", asked.save, asked.session, asked.rank, tuple(asked.times))
    try:
        return source.save_mark(asked.run, mark, instead=asked.instead)
    except KeyError:
        raise Unusable(f"no such run: {asked.run[:200]!r}", 404) from None


def _body(kind: type[T]) -> T:
    if not request.is_json:
        raise Unusable(f"expected application/json, found {request.mimetype or 'no content type'}", 415)
    try:
        return msgspec.json.decode(request.get_data(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Unusable(f"expected a change as JSON, found an error: {error}") from None


def _answer(change: Callable[[], Note | View | Mark | None]) -> Response:
    try:
        now, done = change(), True
    except Stale as error:
        now, done = error.now, False
    except (Unusable, Unfit) as error:
        return refusal(error)
    except NotKept as error:
        return refusal(Unusable(str(error), 507))
    answer = Response(msgspec.json.encode({"done": done, "now": now and as_json(now)}), mimetype="application/json")
    answer.cache_control.no_store = True
    return answer
