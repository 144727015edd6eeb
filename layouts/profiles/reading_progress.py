"""The progress of reading the frames that a page shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from layouts.profiles.frames import ProfileFrame
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources

MOST_PROBLEMS = 50


def reading(
    source: ProfileSources, chosen: ProfileChoice, against: ProfileChoice | None, frames: Sequence[str], *, again: bool = False,
    needed: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """Return the progress of reading these frames of the chosen profile and of the one it is compared with.

    state is "ready" once all frames that the files have are read, "missing" if the files have none of them and some are needed,
    and otherwise the state of the first frame that is not ready, whose name is `name`. which is "with" for the second profile,
    "" for the first.
    """
    answer: dict[str, Any] = {"of": [chosen.run, chosen.session, chosen.rank, chosen.mark], "problems": [], "more": 0}
    there: list[str] = []
    for which, profile in (("", chosen), ("with", against)):
        if profile is None:
            continue
        found = {name: source.profiles.frame(profile.run, profile.session, profile.rank, name, again=again) for name in frames}
        left = next(((name, one) for name, one in found.items() if one.state not in ("ready", "missing")), None)
        if left is not None:
            return answer | _progress(left[1]) | {"name": left[0], "which": which}
        ready = [name for name, one in found.items() if one.state == "ready"]
        if needed and not ready:
            wanted = list(dict.fromkeys(file for one in found.values() for file in one.wanted))
            return answer | {"state": "missing", "wanted": wanted, "which": which}
        there = there or ready
        problems = dict.fromkeys(problem for one in found.values() for problem in one.problems)
        answer["problems"] += [{"path": problem.path, "text": problem.text} for problem in problems]
    answer["more"] = max(0, len(answer["problems"]) - MOST_PROBLEMS)
    answer["problems"] = answer["problems"][:MOST_PROBLEMS]
    return answer | {"state": "ready", "frames": there}


def _progress(found: ProfileFrame) -> dict[str, Any]:
    return {"state": found.state, "done": found.done, "total": found.total, "text": found.text}
