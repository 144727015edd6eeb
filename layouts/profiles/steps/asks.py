"""Requests of the page to the server, parsed and validated: values from a browser are untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layouts.kit.state import text
from layouts.profiles.profile_choice import ProfileChoice, read_choice
from layouts.profiles.step_plots import StepStyle
from layouts.profiles.step_style import read_look

FRAMES = ("steps", "reduces")
KEYS = ("trace", "unit", "step", "from", "to")
"""Keys of the state used for drawing: step trace, measure (one of MEASURES), number of the picked step (none for the average),
first and last visible position, counted from 0."""


@dataclass(frozen=True, slots=True)
class StepRequest:
    """A request: a profile, the name of its step trace ("" for the first), and how to draw it."""

    choice: ProfileChoice
    trace: str
    look: StepStyle


def read_ask(data: Any) -> StepRequest | None:
    """Parse a request from the browser; None if it names no profile. BadInput if it is malformed."""
    choice = read_choice(data)
    if choice is None:
        return None
    return StepRequest(choice, text(data, "trace", limit=40), read_look(data))
