"""Parts of a page that the server answers one by one: what takes long comes in pieces, and is asked for until it is ready.

A part has two stores, ids("<part>-ask") and ids("<part>"). In the browser `request(page, part, ask)` of
assets/kit/page_parts.js asks, and the page's `answers[part](page, answer)` takes each answer. If an answer has the state
"working", "waiting" or "reading", the same is asked again soon.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from dash import Input, Output, State, dcc, no_update

from layouts.kit.callbacks import in_browser
from layouts.kit.page import Ids
from layouts.kit.state import BadInput, flag, text
from layouts.kit.work import WorkResult

Asked = TypeVar("Asked", contravariant=True)
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


class PartWorker(Protocol[Asked]):
    """What works on the data of a run in the background."""

    def work(self, run: str, work: Asked, *, again: bool = False) -> WorkResult:
        """Return the result of work. again: resume what was cancelled."""
        ...

    def cancel(self, run: str, work: Asked) -> None:
        """Stop work that `work` has started."""
        ...


def worked(worker: PartWorker[Asked], run: str, work: Asked, ask: Any) -> WorkResult:
    """Return the result of work that a part of a page asks for; with cancel=1 it is stopped, with again=1 resumed."""
    if flag(ask, "cancel"):
        worker.cancel(run, work)
    return worker.work(run, work, again=flag(ask, "again"))


def progress(found: WorkResult) -> dict[str, Any]:
    """Return what the browser needs to show how far work is; without its result."""
    return {"state": found.state, "done": found.done, "total": found.total, "text": found.text, "mark": found.mark}
