"""Requests of the page to the server, parsed and validated: values from a browser are untrusted."""

from __future__ import annotations

from dataclasses import dataclass

from layouts.kit import parameters as asked
from layouts.kit.parameters import Request
from layouts.profiles.profile_choice import ProfileChoice, profile
from layouts.profiles.step_plots import StepStyle
from layouts.profiles.step_style import read_look

FRAMES = ("steps", "reduces")


@dataclass(frozen=True, slots=True)
class StepRequest(Request):
    """A request: a profile, the name of its step trace ("" for the first), and how to draw it."""

    choice: ProfileChoice = profile()
    trace: str = asked.word("trace", limit=40)
    look: StepStyle = asked.part(read_look, "unit", "step", "from", "to")


