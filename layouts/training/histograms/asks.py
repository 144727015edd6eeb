"""What one card of histograms asks the server for, read from the browser's own words. Every value in it is untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layouts.state import BadInput, flag, number, text, texts

VIEWS = ("auto", "heat", "ridge", "overlay", "step", "numbers")
AXES = ("step", "relative", "absolute")
_COLUMNS = (50, 8000)
_DAY_MINUTES = 24 * 60
_STEPS = 2.0**63


@dataclass(frozen=True, slots=True)
class Ask:
    """One card: its tag, the runs as a state names them, and how to draw it.

    at is the step of the view "step", None for the last one. zone is the browser's offset from UTC in seconds. beside: runs
    stand beside each other in the view "step", instead of over each other.
    """

    tag: str
    state: dict[str, list[str]]
    view: str
    axis: str
    at: float | None
    beside: bool
    columns: int
    zone: float


def read_ask(data: Any) -> Ask:
    """The ask a browser sent, or BadInput."""
    tags, runs = texts(data, "tag"), texts(data, "run")
    if len(tags) != 1:
        raise BadInput(f"tag: wanted one; got {len(tags)}")
    return Ask(
        tag=tags[0],
        state={"run": runs} if runs else {},
        view=text(data, "view", "auto", choices=VIEWS),
        axis=text(data, "x", "step", choices=AXES),
        at=number(data, "at", 0.0, -_STEPS, _STEPS) if texts(data, "at") else None,
        beside=flag(data, "beside"),
        columns=int(number(data, "columns", 600, *_COLUMNS)),
        zone=number(data, "zone", 0.0, -_DAY_MINUTES, _DAY_MINUTES) * 60.0,
    )
