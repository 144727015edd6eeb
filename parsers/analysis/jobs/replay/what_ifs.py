"""What a job's steps would take if one thing were different: the lines of the What-if card."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from parsers.analysis.jobs.links import SlowLink, slow_links
from parsers.analysis.jobs.replay import changes
from parsers.analysis.jobs.replay.graph import (
    JobGraph,
    Tell,
    has_kernels,
    lengths,
    quietly,
    receives_unawaited,
)
from parsers.analysis.jobs.replay.kept_graphs import job_graph
from parsers.analysis.jobs.replay.recording import NotJudged
from parsers.analysis.jobs.replay.replaying import LEAST_EXACT, JobChange, replayed_all, unchanged
from parsers.analysis.jobs.who_is_slow import who_is_slow
from parsers.deferred import pandas as pd
from parsers.model import Floats

CAUSES = (
    "ranks", "rank", "link", "gaps", "stages", "communication", "collectives", "bubble",
)  # fmt: skip
"""What may be different: chosen ranks or one rank are as fast as their peers, a link is as fast as others, the host never lags,
stages are balanced, transfers or those of collectives take no time, no rank waits for another stage."""
EXACT, AT_MOST, BETWEEN = "exact", "at most", "between"
MOST_RANKS = 3
"""Ranks that have a line of their own unless some are chosen."""
LEAST_SHARE = 0.001
"""Share of a step by which a rank must take longer than its peers to have a line of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class WhatIf:
    """A line: a cause of CAUSES, whom it concerns (ranks of the job), and the mean step after it.

    saved_ns is what the mean step would be shorter; of BETWEEN at least that and at most most_ns, of AT_MOST no more than that.
    by_rank is the mean step of each rank after the change, in ns: from its own end of the step before to that of the step.
    """

    cause: str
    subject: tuple[int, ...]
    saved_ns: float
    most_ns: float
    bound: str
    by_rank: Floats = field(repr=False)
    change: JobChange = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """The lines of a job: numbers of ranks and of steps, mean recorded step and that of each rank in ns, and the lines.

    stages are what each stage computes in ns; empty without a pipeline. missed is by what share of a step the unchanged replay
    misses it at most. kernels says whether files tell slices of all ranks.
    """

    ranks: tuple[int, ...]
    steps: tuple[int, ...]
    step_ns: float
    by_rank: Floats
    lines: tuple[WhatIf, ...]
    stages: tuple[float, ...]
    missed: float
    kernels: bool


def replay_of(
    frames: Mapping[str, pd.DataFrame | None], *, ranks: Sequence[int] = (), links: Sequence[tuple[int, int]] = (),
    causes: Collection[str] = (), tell: Tell = quietly,
) -> Replay:  # fmt: skip
    """Return what could be different in a job (frames by name, as `graph_of` takes them). NotJudged if that cannot be told.

    ranks are numbers of those that are asked about together, and links pairs of them; without any, those that are slow
    (`who_is_slow`) and those that stand out are.
    causes are those wanted, all by default. tell is called with what is done and what is to be done; it may raise.
    """
    graph = job_graph(frames, lambda done, total: tell(done, 2 * total))
    step_ns, missed = checked(graph)
    found = frames.get("links")
    slow = slow_links(found) if found is not None and len(found) else []
    named = [one.replica or (one.rank,) for one in who_is_slow(frames).slow] if not ranks else []
    asked = [one for one in _asked(graph, step_ns, ranks, links, slow, named) if not causes or one[0] in causes]
    kernels, unawaited = has_kernels(graph), receives_unawaited(graph)
    wanted = [unchanged(graph), *(change for _, _, one, most in asked for change in (one, most) if change)]
    ends = replayed_all(graph, wanted, lambda done, total: tell(total + done, 2 * total))
    whole = lengths(ends, graph.begin).mean(axis=1)
    by_rank = _by_rank(ends, graph.begin)
    lines, at = [], 1
    for cause, subject, one, most in asked:
        saved = float(whole[0] - whole[at])
        highest = float(whole[0] - whole[at + 1]) if most else saved
        bound = bound_of(cause, saved, highest, step_ns, kernels=kernels and not unawaited)
        lines.append(WhatIf(cause, subject, saved, max(saved, highest), bound, by_rank[at], one))
        at += 2 if most else 1
    stages = changes.stage_times(graph) if graph.recording.stage.max() > 0 else np.empty(0)
    told = tuple(graph.recording.ranks.tolist()), tuple(graph.recording.steps.tolist())
    ordered = tuple(sorted(lines, key=lambda line: -line.saved_ns))
    return Replay(*told, step_ns, by_rank[0], ordered, tuple(stages.tolist()), missed, kernels)


def checked(graph: JobGraph) -> tuple[float, float]:
    """Return the mean recorded step in ns, and by what share of a step the unchanged replay misses one at most.

    NotJudged if that is more than LEAST_EXACT, or if the replay leaves out much of what ranks do between two of them.
    """
    found = lengths(replayed_all(graph, [unchanged(graph)]), graph.begin)[0]
    recorded = graph.step_ns
    missed = float(np.max(np.abs(found - recorded) / recorded))
    told = np.nanmax(graph.recording.total, axis=1, initial=0.0)
    known = told > 0.0
    if known.any() and (recorded[known] < (1.0 - LEAST_EXACT) * told[known]).any():
        raise NotJudged("inexact")
    if not missed <= LEAST_EXACT:
        raise NotJudged("inexact")
    if graph.alone_share > MOST_ALONE:
        raise NotJudged("alone")
    return float(recorded.mean()), missed


MOST_ALONE = 0.05
"""Part of the time of operations between two ranks whose pair may be unknown."""


def _by_rank(ends: Floats, begin: float) -> Floats:
    """Return the mean step of each rank: from its own end of the step before to that of the step.

    Not from the end in the last rank: a rank that waits for no other would then seem to end a step before it begins.
    """
    before = np.concatenate([np.full((len(ends), 1, ends.shape[2]), begin), ends[:, :-1]], axis=1)
    mean: Floats = np.nanmean(ends - before, axis=1)
    return mean


_Asked = tuple[str, tuple[int, ...], JobChange, JobChange | None]
"""Cause, ranks it concerns, the change, and the change that is the most it may be; of a link the least."""


def _asked(
    graph: JobGraph, step_ns: float, ranks: Sequence[int], links: Sequence[tuple[int, int]], slow: Sequence[SlowLink],
    named: Sequence[tuple[int, ...]],
) -> list[_Asked]:  # fmt: skip
    """Return the changes that are asked about. named are slow ranks, and slow replicas as all of their ranks."""
    known = {int(number): place for place, number in enumerate(graph.recording.ranks)}
    found: list[_Asked] = []
    chosen = [rank for rank in dict.fromkeys(ranks) if rank in known]
    for together in [chosen] if chosen else [[rank for rank in one if rank in known] for one in named[:MOST_RANKS]]:
        if len(together) > 1:
            places = [known[rank] for rank in together]
            found.append(("ranks", tuple(together), changes.fast_as_peers(graph, places), None))
    single = [one[0] for one in named if len(one) == 1 and one[0] in known]
    alone = chosen or [*dict.fromkeys([*single, *_outstanding(graph, step_ns)])][:MOST_RANKS]
    found += [("rank", (rank,), changes.fast_as_peers(graph, [known[rank]]), None) for rank in alone]
    shares = {(one.source, one.target): one.share for one in slow}
    for source, target in links or list(shares)[:MOST_RANKS]:
        if source in known and target in known:
            share = shares.get((source, target), 1.0)
            change = changes.link_as_others(graph, known[source], known[target], share)
            found.append(("link", (source, target), change, replace(change, released=frozenset())))
    found.append(("gaps", (), changes.gaps_closed(graph), None))
    for cause, collectives in (("communication", False), ("collectives", True)):
        part, most = (changes.communication_free(graph, collectives=collectives, most=one) for one in (False, True))
        found.append((cause, (), part, most))
    if graph.recording.stage.max() > 0:
        found.append(("stages", (), changes.stages_balanced(graph), None))
        found.append(("bubble", (), changes.no_waiting_for_stages(graph), None))
    return found


def _outstanding(graph: JobGraph, step_ns: float) -> list[int]:
    """Return the ranks that take longest, slices and lags together, compared with their peers."""
    took = np.zeros(len(graph.recording.ranks))
    for step in graph.steps:
        for piece in step.pieces:
            took[piece.rank] += (piece.busy + piece.host).sum(axis=0)
    took /= len(graph.steps)
    longer = np.zeros(len(took))
    for place in range(len(took)):
        peers = changes.peers_of(graph, place, [place])
        longer[place] = took[place] - np.median(took[peers]) if len(peers) else 0.0
    order = np.argsort(-longer, kind="stable")[:MOST_RANKS]
    return [int(graph.recording.ranks[place]) for place in order.tolist() if longer[place] > LEAST_SHARE * step_ns]


def bound_of_link(saved: float, held: float, step_ns: float) -> str:
    """Return how exact the saving of a link is; held is that if what waited in a queue awaits what had ended before it."""
    return AT_MOST if saved - held > LEAST_SHARE * step_ns else EXACT


def bound_of(cause: str, saved: float, most: float, step_ns: float, *, kernels: bool) -> str:
    """Return how exact a saving is. Without kernels, time between operations may be the host's, which nothing makes shorter.

    kernels: they tell all dependencies. most is the highest saving, of a link that if what waited in a queue awaits what had
    ended before it.
    """
    if cause in ("gaps", "bubble"):
        return AT_MOST
    if cause == "link":
        return bound_of_link(saved, most, step_ns)
    if cause in ("communication", "collectives"):
        return BETWEEN if most - saved > LEAST_SHARE * step_ns else EXACT
    return EXACT if kernels else AT_MOST
