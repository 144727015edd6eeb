"""What the page asks the server for, read from the browser's own words. Every value in it is untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layouts.figures.steps import Look
from layouts.profiling.choice import Choice, read_choice
from layouts.profiling.look import read_look
from layouts.state import text

FRAMES = ("steps", "reduces")
KEYS = ("trace", "unit", "step", "from", "to")
"""Keys of the state that the page draws by: which step trace, MEASURES, number of the picked step (none for the average), first
and last place on screen counted from 0."""


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
