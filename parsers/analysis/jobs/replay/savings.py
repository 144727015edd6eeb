"""What causes of lost time save when they are removed: each alone, and one after the other.

Savings do not add up: two equally slow ranks save nothing each and much together, and once a step waits for something else, the
next cause saves nothing any more. Removed one after the other, the largest first, each saves what it adds, and all together
never more than the step.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from parsers.analysis.jobs.replay.graph import JobGraph, Tell, lengths, quietly
from parsers.analysis.jobs.replay.replaying import JobChange, replayed_all, unchanged


@dataclass(frozen=True, slots=True)
class Saving:
    """What a cause costs per step in ns: alone, and added to those before it."""

    name: str
    alone_ns: float
    adds_ns: float


def saved(graph: JobGraph, changes: Sequence[JobChange], tell: Tell = quietly) -> list[float]:
    """Return by how much the mean step is shorter after each change, in ns; negative where it is longer.

    tell is called with the steps done and all steps.
    """
    if not changes:
        return []
    steps = lengths(replayed_all(graph, [unchanged(graph), *changes], tell), graph.begin).mean(axis=1)
    return [float(steps[0] - one) for one in steps[1:]]


def part_of(tell: Tell, part: int, parts: int) -> Tell:
    """Return what tells of one of several equal parts of some work."""
    return lambda done, total: tell(part * total + done, parts * total)


NEARLY = 0.9
"""A cause with a name goes before a general one of which it is at least this part: they are the same."""


def in_turn(
    graph: JobGraph, changes: Mapping[str, JobChange], named: Collection[str] = (), tell: Tell = quietly
) -> list[Saving]:
    """Return what changes save, removed one after the other, the largest first.

    named are changes that say which rank or link is the cause; these go before general ones that save hardly more. tell is
    called with the steps done and all steps, each counted once for every round of replays.
    """
    left = dict(changes)
    alone = dict(zip(left, saved(graph, list(left.values()), part_of(tell, 0, len(changes))), strict=True))
    together, before = unchanged(graph), 0.0
    found: list[Saving] = []
    while left:
        names = list(left)
        one = part_of(tell, len(found), len(changes))
        sums = [alone[name] for name in names] if not found else saved(graph, [together & left[name] for name in names], one)
        best = int(np.argmax(sums))
        enough = before + NEARLY * (sums[best] - before)
        able = [at for at, name in enumerate(names) if name in named and sums[at] >= enough]
        best = max(able, key=sums.__getitem__, default=best)
        name = names[best]
        adds = max(sums[best] - before, 0.0)
        found.append(Saving(name, alone[name], adds))
        together, before = together & left.pop(name), max(sums[best], before)
    return found
