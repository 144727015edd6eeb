"""What the page asks the server for, read from the browser's own words. Every value in it is untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layouts.profiling.choice import Choice, read_choice
from layouts.state import number, text

KEYS = ("op", "from", "to")
_MOST = 1e15


@dataclass(frozen=True, slots=True)
class Ask:
    """What to show of a profile. op: the operation whose queue is drawn, None for the slowest. first and last: the steps over
    which the use of the CPU is drawn and averaged, None for all.
    """

    choice: Choice
    op: int | None = None
    first: int | None = None
    last: int | None = None


def read_ask(data: Any) -> Ask | None:
    """The ask a browser sent, None where it names no profile; or BadInput."""
    choice = read_choice(data)
    return None if choice is None else Ask(choice, _whole(data, "op"), _whole(data, "from"), _whole(data, "to"))


def _whole(data: Any, key: str) -> int | None:
    return int(number(data, key, 0.0, 0.0, _MOST)) if text(data, key) else None
