"""Whether what a page shows of a profile has been read, and what to tell while it has not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from layouts.profiling.choice import Choice
from layouts.sources import ProfileFrame, ProfileSource

MOST_PROBLEMS = 50


def reading(
    source: ProfileSource, chosen: Choice, against: Choice | None, frames: Sequence[str], *, again: bool = False
) -> dict[str, Any]:
    """How far the frames are: of those that files give all must be there, of the profile compared with too.

    state is that of `ProfileFrame`; "missing" where no file gives any of them. name is the frame that is not there yet, which
    ("" or "with") the profile it is of.
    """
    told: dict[str, Any] = {"of": [chosen.run, chosen.session, chosen.rank, chosen.mark], "problems": [], "more": 0}
    there: list[str] = []
    for which, profile in (("", chosen), ("with", against)):
        if profile is None:
            continue
        found = {name: source.profile_frame(profile.run, profile.session, profile.rank, name, again=again) for name in frames}
        left = next(((name, one) for name, one in found.items() if one.state not in ("ready", "missing")), None)
        if left is not None:
            return told | _told(left[1]) | {"name": left[0], "which": which}
        ready = [name for name, one in found.items() if one.state == "ready"]
        if not ready:
            wanted = list(dict.fromkeys(file for one in found.values() for file in one.wanted))
            return told | {"state": "missing", "wanted": wanted, "which": which}
        there = there or ready
        problems = dict.fromkeys(problem for one in found.values() for problem in one.problems)
        told["problems"] += [{"path": problem.path, "text": problem.text} for problem in problems]
    told["more"] = max(0, len(told["problems"]) - MOST_PROBLEMS)
    told["problems"] = told["problems"][:MOST_PROBLEMS]
    return told | {"state": "ready", "frames": there}


def _told(found: ProfileFrame) -> dict[str, Any]:
    return {"state": found.state, "done": found.done, "total": found.total, "text": found.text}
