"""What advice saves: by how much the steps of the job would be shorter without its cause, by replay.

Causes are removed one after the other, the largest first, so the costs of cards add up and never exceed the step: a card shows
what it adds to those before it, and what it saves alone. A rank or link goes before a general cause that is hardly more. Ranks
or links that one card names are one cause: they may save only together. Advice about time that no replay covers keeps its own
cost, up to what is left of the step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from parsers.analysis.jobs.advice.model import Advice, Frames, frame_of
from parsers.analysis.jobs.replay import changes
from parsers.analysis.jobs.replay.graph import JobGraph, Tell, has_kernels, quietly
from parsers.analysis.jobs.replay.kept_graphs import job_graph
from parsers.analysis.jobs.replay.recording import NotJudged
from parsers.analysis.jobs.replay.replaying import JobChange, unchanged
from parsers.analysis.jobs.replay.savings import Saving, in_turn, part_of, saved
from parsers.analysis.jobs.replay.what_ifs import AT_MOST, BETWEEN, EXACT, LEAST_SHARE, bound_of_link, checked
from parsers.deferred import pandas as pd

OF_SEVERAL = ("slow_rank", "slow_link", "bubble", "stages")
"""Rules about several ranks; idle and communication are, too, if they say `ranks`."""
NAMED = ("slow_rank", "slow_link")
"""Rules that say which rank or link it is."""
FROM_SUMS = "sums"
"""The files do not tell when what ran, so the cost is made of sums and may be too high."""
_MAKE: Mapping[str, Callable[[JobGraph, Advice], JobChange]] = {
    "slow_rank": lambda graph, one: _slow_ranks(graph, one.evidence),
    "slow_link": lambda graph, one: _slow_links(graph, one.evidence),
    "bubble": lambda graph, _one: changes.no_waiting_for_stages(graph),
    "stages": lambda graph, _one: changes.stages_balanced(graph),
    "idle": lambda graph, _one: changes.gaps_closed(graph),
    "communication": lambda graph, _one: changes.communication_free(graph),
}


@dataclass(frozen=True, slots=True)
class Savings:
    """What replays tell of advice about several ranks: by rule (what it saves alone and adds, the most, how exact that is) and
    of slow ranks the evidence; the mean step in ns."""

    told: Mapping[str, tuple[Saving, float, str]]
    evidence: Mapping[str, pd.DataFrame]
    step_ns: float


def to_replay(found: Sequence[Advice], frames: Frames) -> tuple[Advice, ...]:
    """Return the advice whose saving a replay of the job would tell."""
    return tuple(one for one in found if _of_several(one)) if frame_of(frames, "collectives") is not None else ()


def question(asked: Sequence[Advice]) -> Hashable:
    """Return what a replay is asked by such advice: of one job, equal questions have equal answers."""
    names = {"slow_rank": ["rank", "why"], "slow_link": ["source", "target", "link_share"]}
    return tuple((one.rule, tuple(one.evidence[names.get(one.rule, [])].itertuples(index=False, name=None))) for one in asked)


def replayed_savings(asked: Sequence[Advice], frames: Frames, tell: Tell = quietly) -> Savings | None:
    """Return what such advice saves; None if files tell too little for a replay.

    tell is called with what is done and what is to be done; it may raise.
    """
    parts = 3
    try:
        graph = job_graph(frames, part_of(tell, 0, parts))
        checked(graph)
    except NotJudged:
        return None
    changed = {one.rule: _MAKE[one.rule](graph, one) for one in asked}
    found = {one.name: one for one in in_turn(graph, changed, NAMED, part_of(tell, 1, parts))}
    step = float(graph.step_ns.mean())
    told = {rule: (one, *_most(graph, rule, changed[rule], one.alone_ns, step)) for rule, one in found.items()}
    last = part_of(tell, 2, parts)
    return Savings(told, {one.rule: _alone(graph, one, last) for one in asked if one.rule == "slow_rank"}, step)


def with_savings(found: Sequence[Advice], savings: Savings | None) -> list[Advice]:
    """Return advice with what replays tell of it; without any, costs are those of sums."""
    if savings is None:
        return [replace(one, bound=FROM_SUMS) if _of_several(one) else one for one in found]
    left = savings.step_ns - math.fsum(one.adds_ns for one, _, _ in savings.told.values())
    changed = []
    for one in found:
        if one.rule in savings.told and _of_several(one):
            saving, most, bound = savings.told[one.rule]
            one = replace(one, cost_ns=saving.adds_ns, alone_ns=saving.alone_ns, most_ns=most, bound=bound,
                          evidence=savings.evidence.get(one.rule, one.evidence))  # fmt: skip
        elif one.cost_ns == one.cost_ns:
            one = replace(one, cost_ns=min(one.cost_ns, max(left, 0.0)))
            left -= one.cost_ns
        changed.append(one)
    return changed


def _of_several(one: Advice) -> bool:
    return one.rule in OF_SEVERAL or (one.rule in _MAKE and one.variant == "ranks")


def _most(graph: JobGraph, rule: str, change: JobChange, alone: float, step: float) -> tuple[float, str]:
    """Return what a cause saves at most, and how exact that is."""
    if rule == "communication":
        most = saved(graph, [changes.communication_free(graph, most=True)])[0]
        return (most, BETWEEN) if most - alone > LEAST_SHARE * step else (alone, EXACT)
    if rule == "slow_link":
        return alone, bound_of_link(alone, saved(graph, [replace(change, released=frozenset())])[0], step)
    exact = rule not in ("bubble", "idle") and has_kernels(graph)
    return alone, EXACT if exact else AT_MOST


def _slow_ranks(graph: JobGraph, evidence: pd.DataFrame) -> JobChange:
    """All ranks that a card names are as fast as their peers in what makes them slow."""
    known = {int(rank): place for place, rank in enumerate(graph.recording.ranks.tolist())}
    found = unchanged(graph)
    for make, causes in ((changes.computing_as_peers, ("computing",)), (changes.host_as_peers, ("host", "link", "unknown"))):
        rows = evidence[evidence["why"].isin(causes) & evidence["rank"].isin(list(known))]
        if len(rows):
            found = found & make(graph, [known[rank] for rank in rows["rank"].tolist()])
    return found


def _alone(graph: JobGraph, one: Advice, tell: Tell) -> pd.DataFrame:
    """Return the evidence with what each rank saves alone, never below 0."""
    rows = [one.evidence.iloc[[place]] for place in range(len(one.evidence))]
    alone = saved(graph, [_slow_ranks(graph, row) for row in rows], tell)
    return one.evidence.assign(saved_ns=[max(value, 0.0) for value in alone])


def _slow_links(graph: JobGraph, evidence: pd.DataFrame) -> JobChange:
    known = {int(rank): place for place, rank in enumerate(graph.recording.ranks.tolist())}
    found = unchanged(graph)
    for source, target, share in evidence[["source", "target", "link_share"]].itertuples(index=False):
        if source in known and target in known:
            found = found & changes.link_as_others(graph, known[source], known[target], share)
    return found
