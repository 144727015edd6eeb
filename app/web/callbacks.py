"""The callbacks of the pages of an application, most of whose modules are not imported yet.

A browser needs the list of all callbacks when it starts; their functions are needed when they are first called. The list comes
from a table made from what the pages register (`python -m tests.app.web.callback_table`), so that no module of a page is
imported for it. The first request for a callback of a page imports the page and registers it. A page that the table does not
know, such as one of another package, is registered at once.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from app.web.private_dash import to_json
from layouts.kit.page import Page

TABLE = os.path.join(os.path.dirname(__file__), "callbacks.json")
USUAL: Mapping[str, Any] = {
    "state": [], "clientside_function": None, "prevent_initial_call": False, "background": None, "dynamic_creator": False,
    "no_output": False, "optional": False, "hidden": False, "websocket": False, "persistent": False,
}  # fmt: skip
"""What most callbacks have, which the table leaves out."""
Specification = dict[str, Any]
"""A callback as Dash describes it to browsers."""


class PageCallbacks(Mapping[str, Any]):
    """Output -> callback, as `Dash.callback_map` has it; asking for one registers the page that it belongs to.

    Any thread may ask.
    """

    def __init__(self, app: Any, pages: Sequence[Page], register: Callable[[Page], None]) -> None:
        """app is a Dash application, register adds the callbacks of a page to it."""
        self._app = app
        self._register = register
        self._pages = {page.name: page for page in pages}
        self._tables: dict[str, list[Specification]] = {}
        self._outputs: dict[str, str] = {}
        self._lock = threading.Lock()
        self._registered: set[str] = set()
        known = _table() if any(page.folder for page in pages) else {}
        for name, page in self._pages.items():
            if page.folder and name in known:
                self._tables[name] = known[name]
                self._outputs.update((one["output"], name) for one in known[name] if not one["clientside_function"])
            else:
                register(page)
        self._others = len(app._callback_list)

    def listed(self) -> list[Specification]:
        """Return all callbacks, for a browser."""
        found = [one for name in self._tables for one in self._tables[name]]
        return [_briefly(*each) for each in enumerate([*found, *self._app._callback_list[: self._others]])]

    def __getitem__(self, output: str) -> Any:
        name = self._outputs.get(output)
        if name is not None and name not in self._registered:
            self._first_use(name)
        return self._app.callback_map[output]

    def __iter__(self) -> Iterator[str]:
        for name in self._tables:
            if name not in self._registered:
                self._first_use(name)
        return iter(self._app.callback_map)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _first_use(self, name: str) -> None:
        with self._lock:
            if name in self._registered:  # by another thread, while this one waited
                return
            found = registered(self._app, lambda: self._register(self._pages[name]))
            if found != self._tables[name]:
                raise RuntimeError(f"page {name}: other callbacks than in {TABLE}; make it anew with 'make types'")
            self._registered.add(name)


def registered(app: Any, register: Callable[[], None]) -> list[Specification]:
    """Call a function that adds callbacks to an application and return what browsers are told of them."""
    before = len(app._callback_list)
    register()
    found: list[Specification] = json.loads(to_json(app._callback_list[before:]))
    return [one | {name: bool(one[name]) for name in ("hidden", "dynamic_creator")} for one in found]


def encoded(tables: Mapping[str, Sequence[Specification]]) -> str:
    """Return the text of the table for the callbacks of pages by their names: one line for each, without what is usual."""
    def line(one: Specification) -> str:
        return json.dumps({key: value for key, value in one.items() if key not in USUAL or value != USUAL[key]})

    pages = (f'"{name}": [\n' + ",\n".join(map(line, some)) + "\n]" for name, some in tables.items())
    return "{\n" + ",\n".join(pages) + "\n}\n"


def _table() -> dict[str, list[Specification]]:
    with open(TABLE, "rb") as file:
        found = msgspec.json.decode(file.read(), type=dict[str, list[Specification]])
    return {name: [{**USUAL, **one} for one in some] for name, some in found.items()}


def _briefly(number: int, callback: Specification) -> Specification:
    """Return a callback as the browser needs it. Dash names one without outputs by 64 random letters, which do not compress; if
    it runs in the browser only, no request names it."""
    unnamed = callback["no_output"] and callback["clientside_function"]
    return {**callback, "output": f"{number}"} if unnamed else callback
