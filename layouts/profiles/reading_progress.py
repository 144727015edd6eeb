"""The progress of reading the frames that a page shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from parsers import Problem

from layouts.kit.body import DamagedFile, listed_damage
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources


class ReadFirst(TypedDict):
    """What is read before: a frame of a run, done of total bytes."""

    name: str
    run: str
    done: int
    total: int


class ReadingProgress(TypedDict):
    """The progress of reading, or what is wrong."""

    of: Annotated[list[Any], tuple[str, str, int, str]]
    """run, session, rank, mark"""
    state: str
    problems: list[DamagedFile]
    more: int
    notes: int
    frames: NotRequired[list[str]]
    wanted: NotRequired[list[str]]
    torch: NotRequired[bool]
    which: NotRequired[str]
    name: NotRequired[str]
    done: NotRequired[int]
    total: NotRequired[int]
    text: NotRequired[str]
    ahead: NotRequired[ReadFirst]


def reading(
    source: ProfileSources, chosen: ProfileChoice, against: ProfileChoice | None, frames: Sequence[str], *, again: bool = False,
    needed: bool = True,
) -> ReadingProgress:  # fmt: skip
    """Return the progress of reading these frames of the chosen profile and of the one it is compared with.

    state is "ready" once all frames that the files have are read, "missing" if the files have none of them and some are needed,
    and otherwise the state of the first frame that is not ready, whose name is `name`. which is "with" for the second profile,
    "" for the first. torch is whether the one that lacks them is of torch.profiler.
    """
    of = [chosen.run, chosen.session, chosen.rank, chosen.mark]
    there: list[str] = []
    damage: list[Problem] = []
    for which, profile in (("", chosen), ("with", against)):
        if profile is None:
            continue
        found = {name: source.profiles.frame(profile.run, profile.session, profile.rank, name, again=again) for name in frames}
        left = next(((name, one) for name, one in found.items() if one.state not in ("ready", "missing")), None)
        if left is not None:
            name, one = left
            lost = listed_damage(damage)
            progress: ReadingProgress = {
                "of": of, "state": one.state, "done": one.done, "total": one.total, "text": one.text, "name": name,
                "which": which, "problems": lost["problems"], "more": lost["more"], "notes": lost["notes"],
            }  # fmt: skip
            if one.ahead is not None:
                first = one.ahead
                progress["ahead"] = {"name": first.name, "run": first.run, "done": first.done, "total": first.total}
            return progress
        ready = [name for name, one in found.items() if one.state == "ready"]
        if needed and not ready:
            wanted = list(dict.fromkeys(file for one in found.values() for file in one.wanted))
            lost = listed_damage(damage)
            return {
                "of": of, "state": "missing", "wanted": wanted, "which": which,
                "torch": profile.of_torch(source),
                "problems": lost["problems"], "more": lost["more"], "notes": lost["notes"],
            }  # fmt: skip
        there = there or ready
        damage += dict.fromkeys(problem for one in found.values() for problem in one.problems)
    lost = listed_damage(damage)
    return {
        "of": of, "state": "ready", "frames": there, "problems": lost["problems"], "more": lost["more"], "notes": lost["notes"],
    }  # fmt: skip
