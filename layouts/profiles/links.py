"""Addresses of pages about a profile, and of places on the timeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from layouts.kit.links import page_link
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources

ROOM = 2
"""A link to a part of a trace shows this many times its length on either side."""


def address(page: str, choice: ProfileChoice, **state: str | int) -> Mapping[str, Any]:
    """Return the attributes of a link to a page about a profile."""
    return page_link(page, choice.run, [("session", choice.session), ("rank", choice.rank), *state.items()])


def range_on_timeline(choice: ProfileChoice, start_ns: int, duration_ns: int, **state: str | int) -> Mapping[str, Any]:
    """Return the attributes of a link that selects a part of the trace and shows what is around it."""
    end, room = start_ns + duration_ns, ROOM * duration_ns
    span = f"{max(0, start_ns - room)},{end + room}"
    return address("timeline", choice, span=span, range=f"{start_ns},{end}", **state)


def traced_profile(source: ProfileSources, run: str) -> ProfileChoice | None:
    """Return the newest profile of a member run that has a trace, of its lowest rank; None without one."""
    found = [one for one in source.profiles.rows(run) if "trace" in one.frames]
    best = min(found, key=lambda one: (one.rank, -one.updated), default=None)
    return None if best is None else ProfileChoice(run, best.session, best.rank)


def traced(source: ProfileSources, choice: ProfileChoice | None) -> bool:
    """Return whether a profile has a trace."""
    if choice is None:
        return False
    name = choice.session, choice.rank
    return any((one.session, one.rank) == name and "trace" in one.frames for one in source.profiles.rows(choice.run))
