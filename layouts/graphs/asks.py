"""Requests of the page to the server, parsed and validated: values from a browser are untrusted.

Names of boxes stay valid whatever is hidden: n5 and f5 are a node and an aggregate by row, s:Default/net and k:Default/net are
a scope and a stack of equal blocks by path (that of its first block).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from layouts.graphs.graph_views import Of
from layouts.kit import parameters as asked
from layouts.kit.parameters import Request, read_words
from layouts.kit.state import BadInput, text, texts

MOST_OPEN = 1_000
LONGEST = 20_000
"""Maximum characters of a name: a scope may be deep."""
HIDDEN = ("parameter", "constant")
AS_SUITS = "auto"
"""Value of `simple` for a graph that is simplified if it is of a training."""


def read_of(data: Any) -> Of:
    """Parse which graph a request is about. BadInput if it is malformed."""
    against = text(data, "with"), text(data, "other")
    simple = text(data, "simple", "0", choices=("0", "1", AS_SUITS))
    wanted = None if simple == AS_SUITS else simple == "1"
    return Of(text(data, "run"), text(data, "graph"), wanted, against if all(against) else None)


def _page(page: str) -> tuple[str, int]:
    number, colon, name = page.partition(":")
    if not colon or not number.isascii() or not number.isdigit() or len(number) > 9:
        raise BadInput(f"page: expected a number, a colon and a name, found {page[:80]!r}")
    return name, int(number)


def _opened(data: Any) -> tuple[str, ...] | None:
    opened = read_words(data, "open", MOST_OPEN, LONGEST)
    return tuple(name for name in opened if name) if opened else None


def _pages(data: Any) -> dict[str, int]:
    return dict(_page(each) for each in read_words(data, "page", MOST_OPEN, LONGEST))


def _is_shown(data: Any, what: str) -> bool:
    hidden = texts(data, "hide")
    if not set(hidden) <= set(HIDDEN):
        raise BadInput(f"hide: expected {' or '.join(HIDDEN)}, found {', '.join(hidden)[:80]!r}")
    return what not in hidden


@dataclass(frozen=True, slots=True)
class DrawingRequest(Request):
    """A request for a drawing.

    opened: names of open boxes, the one opened last at the end; None for the default of a first picture. pages: name of a frame
    ("" for the top level) -> number of its boxes before the first one drawn. reveal: name of a box whose scopes are opened.
    """

    of: Of = asked.part(read_of, "run", "graph", "with", "other", "simple")
    opened: tuple[str, ...] | None = asked.part(_opened, "open")
    pages: dict[str, int] = asked.part(_pages, "page")
    reveal: str = asked.word("node", limit=LONGEST)
    parameters: bool = asked.part(partial(_is_shown, what="parameter"), "hide", default=True)
    constants: bool = asked.part(partial(_is_shown, what="constant"), "hide", default=True)
    dark: bool = asked.dark()


def read_acts(data: Any) -> dict[str, bool]:
    """Parse what is to be done about reading a graph: again, or cancel. BadInput if it is malformed."""
    return {act: text(data, act, choices=("", "1")) == "1" for act in ("again", "cancel")}


def read_name(data: Any) -> str:
    """Parse the name of the chosen box, "" for none. BadInput if it is malformed."""
    return text(data, "node", limit=LONGEST)


