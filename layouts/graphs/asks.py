"""Requests of the page to the server, parsed and validated: values from a browser are untrusted.

Names of boxes stay valid whatever is hidden: n5 and f5 are a node and an aggregate by row, s:Default/net and k:Default/net are
a scope and a stack of equal blocks by path (that of its first block).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layouts.graphs.graph_views import Of
from layouts.kit.state import BadInput, text, texts

MOST_OPEN = 1_000
LONGEST = 20_000
"""Maximum characters of a name: a scope may be deep."""
HIDDEN = ("parameter", "constant")
AS_SUITS = "auto"
"""Value of `simple` for a graph that is simplified if it is of a training."""


@dataclass(frozen=True, slots=True)
class DrawingRequest:
    """A request for a drawing.

    opened: names of open boxes, the one opened last at the end; None for the default of a first picture. pages: name of a frame
    ("" for the top level) -> number of its boxes before the first one drawn. reveal: name of a box whose scopes are opened.
    """

    of: Of
    opened: tuple[str, ...] | None
    pages: dict[str, int]
    reveal: str
    parameters: bool
    constants: bool
    dark: bool


def read_of(data: Any) -> Of:
    """Parse which graph a request is about. BadInput if it is malformed."""
    against = text(data, "with"), text(data, "other")
    simple = text(data, "simple", "0", choices=("0", "1", AS_SUITS))
    wanted = None if simple == AS_SUITS else simple == "1"
    return Of(text(data, "run"), text(data, "graph"), wanted, against if any(against) else None)


def read_ask(data: Any) -> DrawingRequest:
    """Parse a request from the browser. BadInput if it is malformed."""
    of = read_of(data)
    opened = _names(data, "open")
    hidden = texts(data, "hide")
    if not set(hidden) <= set(HIDDEN):
        raise BadInput(f"hide: expected {' or '.join(HIDDEN)}, found {', '.join(hidden)[:80]!r}")
    return DrawingRequest(
        of=of,
        opened=tuple(name for name in opened if name) if opened else None,
        pages=dict(_page(each) for each in _names(data, "page")),
        reveal=read_name(data),
        parameters="parameter" not in hidden,
        constants="constant" not in hidden,
        dark=text(data, "theme", "light", choices=("light", "dark")) == "dark",
    )


def read_name(data: Any) -> str:
    """Parse the name of the chosen box, "" for none. BadInput if it is malformed."""
    return text(data, "node", limit=LONGEST)


def _names(data: Any, key: str) -> list[str]:
    names = texts(data, key)
    if len(names) > MOST_OPEN:
        raise BadInput(f"{key}: expected at most {MOST_OPEN:,} names, found {len(names):,}")
    longest = max(map(len, names), default=0)
    if longest > LONGEST:
        raise BadInput(f"{key}: expected at most {LONGEST:,} characters, found {longest:,}")
    return names


def _page(page: str) -> tuple[str, int]:
    number, colon, name = page.partition(":")
    if not colon or not number.isascii() or not number.isdigit() or len(number) > 9:
        raise BadInput(f"page: expected a number, a colon and a name, found {page[:80]!r}")
    return name, int(number)
