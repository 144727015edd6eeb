"""Parts of a page that the server answers one by one: what takes long comes in pieces, and is asked for until it is ready.

A part has two stores, ids("<part>-ask") and ids("<part>"). In the browser `request(page, part, ask)` of assets/kit/parts.js
asks, and the page's `answers[part](page, answer)` takes each answer. If an answer has the state "working", "waiting" or
"reading", the same is asked again soon.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dash import Input, Output, State, dcc, no_update

from layouts.kit.callbacks import in_browser
from layouts.kit.page import Ids
from layouts.kit.state import BadInput, text

Answer = Callable[[Any], Mapping[str, Any]]
"""ask -> what the browser gets."""


def stores(ids: Ids, parts: Sequence[str]) -> list[Any]:
    """Return the stores of these parts."""
    return [dcc.Store(id=ids(name)) for part in parts for name in (f"{part}-ask", part)]


def register_parts_in(app: Any, ids: Ids, parts: Mapping[str, Answer], namespace: str) -> None:
    """Add the callbacks of parts by name. namespace has the function `answered(answer, id of the root)` in the browser."""
    call = in_browser(app, namespace)
    for part, answer in parts.items():
        app.callback(Output(ids(part), "data"), Input(ids(f"{part}-ask"), "data"), prevent_initial_call=True)(
            answering(part, answer)
        )
        call("answered", Input(ids(part), "data"), State(ids("root"), "id"), prevent_initial_call=True)


def answering(part: str, answer: Answer) -> Callable[[Any], Any]:
    """Return the callback of a part: it adds the name of the part and the turn of the question to the answer."""

    def respond(ask: Any) -> Any:
        if ask is None:
            return no_update
        if not isinstance(ask, dict):
            raise BadInput(f"{part}: expected an object, found {type(ask).__name__}")
        return {**answer(ask), "part": part, "turn": text(ask, "turn")}

    return respond
