"""What the page asks the server for, read from the browser's own words. Every value in it is untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layouts.figures.steps import MEASURES, Look
from layouts.i18n import LANGUAGES
from layouts.profiling.choice import Choice, read_choice
from layouts.profiling.composition import words
from layouts.state import number, text

FRAMES = ("steps", "reduces")
KEYS = ("trace", "unit", "step", "from", "to")
"""Keys of the state that the page draws by: which step trace, MEASURES, number of the picked step (none for the average), first
and last place on screen counted from 0."""
_COLUMNS = (100, 8_000)
_MOST = 2**31


@dataclass(frozen=True, slots=True)
class Ask:
    """A profile, the name of its step trace ("" for the first), and how to draw it."""

    choice: Choice
    trace: str
    look: Look


def read_ask(data: Any) -> Ask | None:
    """The ask a browser sent; None where it names no profile. BadInput for what is none."""
    choice = read_choice(data)
    if choice is None:
        return None
    return Ask(choice, text(data, "trace", limit=40), read_look(data))


def read_look(data: Any) -> Look:
    """How to draw; BadInput for what is none."""
    step = _whole(data, "step")
    first, last = _whole(data, "from"), _whole(data, "to")
    return Look(
        words(text(data, "lang", "en", choices=LANGUAGES)),
        text(data, "unit", MEASURES[0], choices=MEASURES),
        int(number(data, "columns", 1_000, *_COLUMNS)),
        (first, last) if first is not None and last is not None else None,
        step,
        text(data, "theme", "light", choices=("light", "dark")) == "dark",
    )


def _whole(data: Any, key: str) -> int | None:
    return int(number(data, key, 0, 0, _MOST)) if text(data, key) else None
