"""The operators that make stages compute unequally long: reads the kernels of one rank of each stage when they are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parsers.analysis.jobs.stage_operators import StageOperators, TwoStages, stage_operators, two_stages
from parsers.analysis.jobs.warm_up import warm_up, without_warm_up
from parsers.deferred import pandas as pd

from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources

MOST_TRIED = 8
"""Ranks of a stage of which kernels are looked for."""


@dataclass(frozen=True, slots=True)
class ComparedStages:
    """The operators of two stages. state: "ready", "reading" (ask again) or "missing" (no rank of one of them has kernels)."""

    state: str
    two: TwoStages | None = None
    operators: StageOperators | None = None


def compared_stages(source: ProfileSources, choice: ProfileChoice) -> ComparedStages:
    """Compare the stage that computes longest with the one that does for the shortest time."""
    steps = choice.frame(source, "cluster_steps")
    two = None if steps is None else two_stages(without_warm_up(steps))
    if steps is None or two is None:
        return ComparedStages("missing")
    members = {one[2]: one for one in source.profiles.members(choice.run, choice.session, choice.rank)}
    found = [_kernels(source, members, ranks) for ranks in (two.of_longest, two.of_shortest)]
    if any(one[0] == "reading" for one in found):
        return ComparedStages("reading")
    (_, rank, own), (_, other, others) = found
    if own is None or others is None:
        return ComparedStages("missing")
    first = warm_up(steps)
    made = stage_operators((rank, other), (own, others), None if first is None else first.step)
    return ComparedStages("missing" if made is None else "ready", two, made)


def _kernels(
    source: ProfileSources, members: dict[int, tuple[str, str, int]], ranks: Sequence[int]
) -> tuple[str, int, pd.DataFrame | None]:
    """Return (state, rank, kernels) of the first of these ranks that has any."""
    for rank in [rank for rank in ranks if rank in members][:MOST_TRIED]:
        found = source.profiles.frame(*members[rank], "kernels")
        if found.state in ("reading", "waiting"):
            return "reading", rank, None
        if found.frame is not None and len(found.frame):
            return "ready", rank, found.frame
    return "missing", -1, None
