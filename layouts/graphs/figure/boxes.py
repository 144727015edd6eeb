"""The sizes and labels of the boxes of a graph."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from parsers.analysis.graphs import Item, SideNode

from layouts.kit.names import middle
from layouts.kit.units import count


@dataclass(frozen=True, slots=True)
class Rect:
    """A box by its centre and size in pixels."""

    x: float
    y: float
    width: float
    height: float


LONGEST = 28
"""Maximum number of characters of a name on a box; longer names are elided in the middle."""
_SMALL = 16
LETTER, SMALL_LETTER = 6.7, 5.4
"""Width of a Latin letter in pixels at 12 and 9.5 px; a Chinese character is twice as wide."""

NODE_HEIGHT, SCOPE_HEIGHT, MORE_HEIGHT, PILL_HEIGHT = 28.0, 34.0, 20.0, 15.0
PILL_STEP, PILL_GAP = 18.0, 4.0
HEADER, PADDING = 30.0, 16.0
"""Space in pixels above and around the content of an open frame."""


def label(item: Item) -> str:
    """Return the label of a box: its name, and the number of nodes in it."""
    if item.kind == "node":
        return elided(item.label)
    if item.kind == "scope":
        return f"{elided(item.label)}  {count(item.count)}"
    if item.kind in ("fold", "stack"):
        return f"{elided(item.label)} ×{count(len(item.members))}"
    return {"earlier": "↑ ", "later": "↓ ", "more": "+ "}[item.kind] + count(item.count)


def whole_label(item: Item) -> str:
    """Return the label of a box with the later layers that use it too, in English; the browser writes its own."""
    return f"{label(item)} · also used by layers {item.also.replace('–', ' to ')}" if item.also else label(item)


def title(item: Item, box: Rect) -> tuple[float, float]:
    """Return the centre of a frame's label, which is at the top left, where the fewest links pass."""
    return box.x - box.width / 2 + text_width(whole_label(item)) / 2 + 12, box.y - box.height / 2 + 15


def small_label(beside: SideNode) -> str:
    """Return the label of a small item: the end of its name, or the number of nodes it stands for."""
    if len(beside.nodes) > 1:
        return f"×{beside.label}"
    parts = beside.label.rpartition("/")[2].split(".")
    return elided(".".join(parts[-2:]), _SMALL)


def size(item: Item) -> tuple[float, float]:
    """Return width and height in pixels of a box that is not an open frame."""
    if item.kind == "more":
        return max(40.0, text_width(label(item)) + 14), MORE_HEIGHT
    height = NODE_HEIGHT if item.kind == "node" else SCOPE_HEIGHT
    return max(64.0, text_width(whole_label(item)) + 22), height


def small_width(beside: SideNode) -> float:
    """Return the width of a small item in pixels."""
    return max(24.0, text_width(small_label(beside), SMALL_LETTER) + 10)


def elided(text: str, longest: int = LONGEST) -> str:
    """Return a text on one line, elided in the middle if it is too long."""
    text = " ".join(text.split()) or text.strip()
    return middle(text, longest)


def text_width(text: str, letter: float = LETTER) -> float:
    """Return the approximate width of a text in pixels."""
    return letter * sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text)
