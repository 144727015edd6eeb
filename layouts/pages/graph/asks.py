"""What the page asks the server for, read from the browser's own words. Every value in it is untrusted.

Boxes have names that hold whatever is hidden: n5 and f5 are a node and an aggregate by row, s:Default/net and k:Default/net are
a scope and a stack of equal blocks (by its first) by path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layouts.queries.graphs import Of
from layouts.state import BadInput, flag, text, texts

MOST_OPEN = 1_000
LONGEST = 20_000
"""Characters of a name: a scope may be deep."""
HIDDEN = ("parameter", "constant")


@dataclass(frozen=True, slots=True)
class Ask:
    """What to draw.

    opened: names of open boxes, the latest last; None for as many as make a good first picture. pages: name of a frame ("" for
    the top) -> how many of its boxes come before those drawn. reveal: name of a box for which whatever it is in is opened.
    """

    of: Of
    opened: tuple[str, ...] | None
    pages: dict[str, int]
    reveal: str
    parameters: bool
    constants: bool
    dark: bool


def read_of(data: Any) -> Of:
    """The graph that an ask is about, or BadInput."""
    against = text(data, "with"), text(data, "other")
    return Of(text(data, "run"), text(data, "graph"), flag(data, "simple"), against if any(against) else None)


def read_ask(data: Any) -> Ask:
    """The ask a browser sent, or BadInput."""
    of = read_of(data)
    opened = _names(data, "open")
    hidden = texts(data, "hide")
    if not set(hidden) <= set(HIDDEN):
        raise BadInput(f"hide: wanted {' or '.join(HIDDEN)}")
    return Ask(
        of=of,
        opened=tuple(name for name in opened if name) if opened else None,
        pages=dict(_page(each) for each in _names(data, "page")),
        reveal=read_name(data),
        parameters="parameter" not in hidden,
        constants="constant" not in hidden,
        dark=text(data, "theme", "light", choices=("light", "dark")) == "dark",
    )


def read_name(data: Any) -> str:
    """The name of the chosen box, "" for none, or BadInput."""
    return text(data, "node", limit=LONGEST)


def _names(data: Any, key: str) -> list[str]:
    found = texts(data, key)
    if len(found) > MOST_OPEN:
        raise BadInput(f"{key}: wanted at most {MOST_OPEN:,} names; got {len(found):,}")
    if any(len(name) > LONGEST for name in found):
        raise BadInput(f"{key}: wanted at most {LONGEST:,} characters")
    return found


def _page(given: str) -> tuple[str, int]:
    number, colon, name = given.partition(":")
    if not colon or not number.isascii() or not number.isdigit() or len(number) > 9:
        raise BadInput(f"page: wanted a number, a colon and a name; got {given[:80]!r}")
    return name, int(number)
