"""Requests of the page to the server, parsed and validated: values from a browser are untrusted."""

from __future__ import annotations

from dataclasses import dataclass

from layouts.kit import parameters as asked
from layouts.kit.parameters import Request
from layouts.profiles.profile_choice import ProfileChoice, profile

_MOST = 1e15


@dataclass(frozen=True, slots=True)
class PreparationRequest(Request):
    """A request for parts of a profile.

    op: the operation whose queue is drawn, None for the slowest. first, last: the steps over which CPU use is drawn and
    averaged, None for all.
    """

    choice: ProfileChoice = profile()
    op: int | None = asked.whole("op", high=_MOST)
    first: int | None = asked.whole("from", high=_MOST)
    last: int | None = asked.whole("to", high=_MOST)


