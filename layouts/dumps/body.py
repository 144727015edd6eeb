"""The body of every page about a dump: choice of run, rank and iteration, progress, empty and damaged states.

A page passes its own components to `body` and calls `register_body`; then
ids("ask")     is a dict of lists: of, rank, step, mark of the dump that is shown (`read_choice(ask)`), with, with_rank,
               with_step and with_mark if there is something to compare with (`read_against(ask)`), node and io as in the
               state, `theme` if it is dark, and the keys of the state that were passed to `body`. None until a dump is listed.
The page's own components are hidden until then. The browser's part is assets/dumps/dumps.js; the page's own script
calls its function `define`. What a page computes are parts (`layouts.kit.page_parts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from dash import html

from layouts.dumps.catalogue import catalogue
from layouts.dumps.dump_choice import LONGEST, read_choice
from layouts.dumps.listing import listing
from layouts.dumps.live import LIVE_TEXTS, place
from layouts.dumps.texts import TEXTS
from layouts.kit.body import BodySubject, frame, register_frame, status_line, unlisted_states
from layouts.kit.page import Ids
from layouts.kit.page_parts import Answer, register_parts_in, stores
from layouts.kit.state import text
from layouts.sources import Sources

DUMPS = BodySubject("debugging", "ms-debugging", "dump", {**TEXTS, **LIVE_TEXTS})
CHOICES = ("rank", "step")


def body(
    ids: Ids, routes: str, children: Sequence[Any], *, parts: Sequence[str] = (), keys: Sequence[str] = (),
    choices: Sequence[str] = CHOICES, compared: bool = False, texts: Iterable[str] = (), class_name: str = "",
) -> html.Div:
    """Return the page, which shows nothing until the dump is listed.

    parts are the names of its parts. keys are further keys of the state that belong to the page's ask. choices are what can be
    chosen beside the run: some of CHOICES. compared: a second dump can be chosen, with its rank and iteration if these are
    among choices. texts are further text keys for its scripts.
    """
    return frame(
        DUMPS, ids, routes, children, above=[*stores(ids, parts), place(), _opened(), status_line("debugging")],
        states=unlisted_states(DUMPS), texts=texts, class_name=class_name,
        data={"keys": " ".join(("node", "io", *keys)), "choices": " ".join(choices), "compared": "1" if compared else "0"},
    )


def _opened() -> html.P:
    """Why the dump on screen is the one that opened, where nobody chose one."""
    return html.P(className="ms-dump-opened ms-muted", hidden=True)


def register_body(app: Any, source: Sources, ids: Ids, parts: Mapping[str, Answer] | None = None) -> None:
    """Add the callbacks of `body`, and those of the parts of the page."""

    def look(wanted: Any) -> Any:
        choice = read_choice(wanted)
        return None if choice is None else listing(source, choice, text(wanted, "with", limit=LONGEST))

    register_frame(app, DUMPS, ids, partial(catalogue, source), look)
    register_parts_in(app, ids, parts or {}, DUMPS.namespace)
