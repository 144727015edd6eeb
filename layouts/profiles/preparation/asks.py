"""Requests of the page to the server, parsed and validated: values from a browser are untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layouts.kit.state import number, text
from layouts.profiles.profile_choice import ProfileChoice, read_choice

KEYS = ("op", "from", "to")
_MOST = 1e15


@dataclass(frozen=True, slots=True)
class PreparationRequest:
    """A request for parts of a profile.

    op: the operation whose queue is drawn, None for the slowest. first, last: the steps over which CPU use is drawn and
    averaged, None for all.
    """

    choice: ProfileChoice
    op: int | None = None
    first: int | None = None
    last: int | None = None


def read_ask(data: Any) -> PreparationRequest | None:
    """Parse a request from the browser; None if it names no profile. BadInput if it is malformed."""
    choice = read_choice(data)
    return None if choice is None else PreparationRequest(choice, _whole(data, "op"), _whole(data, "from"), _whole(data, "to"))


def _whole(data: Any, key: str) -> int | None:
    return int(number(data, key, 0.0, 0.0, _MOST)) if text(data, key) else None
