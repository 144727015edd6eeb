"""The body of every page about explanations: choice of run, the bar of filters, empty and damaged states.

A page passes its own components to `body` and calls `register_body` with its parts (`layouts.kit.page_parts`). In the browser
assets/explanations/explanations.js chooses the run, has it listed (`listing`), and calls the page's own script, which asks for
parts about `askOf(page)`: of, mark, and those keys of the state that filter
(`layouts.explanations.explanation_choice.FILTERS`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from dash import html

from layouts.explanations.bar import CONTROLS, note
from layouts.explanations.explanation_choice import read_choice
from layouts.explanations.listing import catalogue, listing
from layouts.explanations.texts import TEXTS
from layouts.kit.body import BodySubject, frame, register_frame, unlisted_states
from layouts.kit.page import Ids
from layouts.kit.page_parts import Answer, register_parts_in, stores
from layouts.sources import Sources

EXPLANATIONS = BodySubject("explanations", "ms-explanations", "explain", TEXTS, asks=False)


def body(
    ids: Ids, routes: str, children: Sequence[Any], *, parts: Sequence[str], controls: Sequence[str] = CONTROLS,
    texts: Iterable[str] = (), class_name: str = "",
) -> html.Div:
    """Return the page, which shows nothing until the explanations of a run are read.

    parts are the names of its parts, controls those of the bar that it has, texts further text keys for its scripts.
    """
    return frame(
        EXPLANATIONS, ids, routes, children, above=[*stores(ids, parts), note()], states=unlisted_states(EXPLANATIONS),
        texts=texts, class_name=class_name, data={"controls": " ".join(controls)},
    )  # fmt: skip


def register_body(app: Any, source: Sources, ids: Ids, parts: Mapping[str, Answer]) -> None:
    """Add the callbacks of `body`, and those of the parts of the page."""

    def look(wanted: Any) -> Any:
        choice = read_choice(wanted)
        return None if choice is None else listing(source, choice)

    register_frame(app, EXPLANATIONS, ids, partial(catalogue, source), look)
    register_parts_in(app, ids, parts, EXPLANATIONS.namespace)
