"""POST routes by which the pages change remarks, tags, views, marks on timelines, watchpoints, colours and checks, as JSON.

    <prefix>api/note   {"run": KEY, "remark": TEXT, "was": VERSION, "add": [TAG, ...], "remove": [TAG, ...]}
    <prefix>api/view   {"save": NAME, "place": PLACE, "instead": VERSION}
                       {"rename": KEY, "name": NAME, "was": VERSION}   {"delete": KEY, "was": VERSION}
    <prefix>api/mark   {"save": NAME, "run": KEY, "session": NAME, "rank": NUMBER, "times": [NS, NS], "instead": VERSION}
                       {"delete": KEY, "was": VERSION}
    <prefix>api/colour {"colour": "#rrggbb" or "", "run": KEY}   {"colour": "#rrggbb" or "", "by": GROUPING, "label": LABEL}
    <prefix>api/check  {"run": KEY, "step": "SYMPTOM.STEP", "done": true, "remark": TEXT, "was": VERSION}
    <prefix>api/watchpoints   {"run": KEY, "was": VERSION, "watchpoints": [{"condition": NAME, "limits": {NAME: NUMBER},
                               "names": [NAME, ...] or null, "pattern": TEXT, "enabled": true, "by": NAME, "said": TEXT}, ...]}

They are below our own prefix, so `app.web.security` checks Host, Origin and token first, also inside a host application. They
accept only application/json, so a page of another origin would need a CORS preflight. A concurrent change is no error: the
response has the current value as `now`, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from flask import Blueprint, Response

from app.routes.refusals import Unusable, body, refusal
from layouts.dumps.watchpoints import SavedWatchpoint, WatchList
from layouts.kit.user_input import InvalidInput
from layouts.runs.checks import StepCheck
from layouts.runs.notes import HandColour, Mark, NamedView, Note, NoteChange, NotKept, Stale
from layouts.shell.run_list import as_json
from layouts.sources import NoteSources


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


class _ColourRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Exactly one of run and by is set."""

    colour: str
    run: str | None = None
    by: str | None = None
    label: str = ""


class _Watchpoint(msgspec.Struct, forbid_unknown_fields=True):
    condition: str
    limits: dict[str, float] = {}
    names: list[str] | None = None
    pattern: str = ""
    enabled: bool = True
    by: str = "all"
    said: str = ""

    def saved(self) -> SavedWatchpoint:
        names = None if self.names is None else tuple(self.names)
        return SavedWatchpoint(self.condition, self.limits, names, self.pattern, self.enabled, self.by, self.said)


class _CheckRequest(msgspec.Struct, forbid_unknown_fields=True):
    run: str
    step: str
    done: bool = False
    remark: str = ""
    was: str = ""


class _WatchRequest(msgspec.Struct, forbid_unknown_fields=True):
    run: str
    watchpoints: list[_Watchpoint]
    was: str = ""


def add_routes(routes: Blueprint, source: NoteSources) -> None:
    """Add the routes of this module to a blueprint."""
    routes.add_url_rule("/note", "note", lambda: _answer(lambda: annotate(source)), methods=["POST"])
    routes.add_url_rule("/view", "view", lambda: _answer(lambda: change_view(source)), methods=["POST"])
    routes.add_url_rule("/mark", "mark", lambda: _answer(lambda: change_mark(source)), methods=["POST"])
    routes.add_url_rule("/colour", "colour", lambda: _answer(lambda: change_colour(source)), methods=["POST"])
    routes.add_url_rule("/check", "check", lambda: _answer(lambda: tick(source)), methods=["POST"])
    routes.add_url_rule("/watchpoints", "watchpoints", lambda: _answer(lambda: watch(source)), methods=["POST"])


def annotate(source: NoteSources) -> Note:
    """Change the note of a run and return it."""
    asked = body(_NoteRequest)
    change = NoteChange(asked.remark, asked.was, tuple(asked.add), tuple(asked.remove))
    try:
        return source.notes.annotate(asked.run, change)
    except KeyError:
        raise Unusable(f"no such run: {asked.run[:200]!r}", 404) from None


def change_view(source: NoteSources) -> NamedView | None:
    """Save, rename or delete a view; return the view as it is afterwards, None if deleted."""
    asked = body(_ViewRequest)
    if [asked.save, asked.rename, asked.delete].count(None) != 2:
        raise Unusable("expected exactly one of save, rename and delete")
    if asked.save is not None:
        return source.notes.save_view(asked.save, asked.place, instead=asked.instead)
    if asked.rename is not None:
        return source.notes.rename_view(asked.rename, asked.name, asked.was)
    source.notes.delete_view(asked.delete or "", asked.was)
    return None


def change_mark(source: NoteSources) -> Mark | None:
    """Save or delete a mark; return the mark as it is afterwards, None if deleted."""
    asked = body(_MarkRequest)
    if (asked.save is None) == (asked.delete is None):
        raise Unusable("expected either save or delete")
    if asked.save is None:
        source.notes.delete_mark(asked.delete or "", asked.was)
        return None
    mark = Mark("", asked.save, asked.session, asked.rank, tuple(asked.times))
    try:
        return source.notes.save_mark(asked.run, mark, instead=asked.instead)
    except KeyError:
        raise Unusable(f"no such run: {asked.run[:200]!r}", 404) from None


def change_colour(source: NoteSources) -> HandColour:
    """Set or reset the colour of a run or of a group; return it as it is kept."""
    asked = body(_ColourRequest)
    if (asked.run is None) == (asked.by is None):
        raise Unusable("expected either run or by")
    if asked.run is None:
        return source.notes.paint_group(asked.by or "", asked.label, asked.colour)
    try:
        return source.notes.paint(asked.run, asked.colour)
    except KeyError:
        raise Unusable(f"no such run: {asked.run[:200]!r}", 404) from None


def watch(source: NoteSources) -> WatchList:
    """Replace the watchpoints for a run and return them."""
    asked = body(_WatchRequest)
    try:
        return source.notes.save_watchpoints(asked.run, WatchList(tuple(one.saved() for one in asked.watchpoints)), asked.was)
    except KeyError:
        raise Unusable(f"no such run: {asked.run[:200]!r}", 404) from None


def tick(source: NoteSources) -> StepCheck:
    """Replace the tick and the remark on a step of a guide and return them."""
    asked = body(_CheckRequest)
    try:
        return source.notes.tick(asked.run, asked.step, StepCheck(asked.done, asked.remark), asked.was)
    except KeyError:
        raise Unusable(f"no such run: {asked.run[:200]!r}", 404) from None


def _answer(change: Callable[[], Note | NamedView | Mark | WatchList | HandColour | StepCheck | None]) -> Response:
    try:
        now, done = change(), True
    except Stale as error:
        now, done = error.now, False
    except (Unusable, InvalidInput) as error:
        return refusal(error)
    except NotKept as error:
        return refusal(Unusable(str(error), 507))
    answer = Response(msgspec.json.encode({"done": done, "now": now and as_json(now)}), mimetype="application/json")
    answer.cache_control.no_store = True
    return answer
