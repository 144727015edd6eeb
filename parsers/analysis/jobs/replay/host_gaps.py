"""Lags of the host by place of the program: where a rank lags behind its peers, and by how much."""

from __future__ import annotations

import numpy as np

from parsers.analysis.jobs.replay.graph import BLOCK, OPERATION, JobGraph
from parsers.analysis.jobs.replay.replaying import INSIDE, Place
from parsers.model import Floats, Ints

OFTEN = 0.8
"""Share of steps in which a rank lags behind its peers at a place, from which on that is no chance."""


def lags(graph: JobGraph, steps: Ints) -> dict[Place, Floats]:
    """Return the lags of the host at each place that has any, by step (those of `steps`) and rank, in ns."""
    found: dict[Place, Floats] = {}
    shape = len(steps), len(graph.recording.ranks)
    for row, number in enumerate(steps.tolist()):
        for piece in graph.steps[number].pieces:
            rows = [((INSIDE, block), host) for block, host in enumerate(piece.host)]
            for kind, awaited in ((BLOCK, piece.awaited_blocks), (OPERATION, piece.awaited_operations)):
                for place, edges in enumerate(awaited):
                    rows += [((kind, place), edge.host) for edge in edges]
            for (kind, place), host in rows:
                if host.any():
                    own = found.setdefault((piece.program, kind, place), np.zeros(shape))
                    own[row, piece.rank] += host
    return found


def as_peers(graph: JobGraph, found: dict[Place, Floats], rank: int, peers: Ints, steps: Ints) -> dict[Place, Floats]:
    """Return factors (steps x ranks) that make lags of a rank those of its peers, at the places where it lags behind them.

    Launches differ by chance, so only places count at which it lags in most steps, the largest first, until they explain by how
    much all lags of the rank are longer than those of its peers in the median. A rank without longer lags has none.
    """
    if not len(peers) or not found:
        return {}
    keys = list(found)
    table = np.stack([found[key].sum(axis=0) for key in keys])
    usual = np.median(table[:, peers], axis=1)
    excess = float(table[:, rank].sum() - np.median(table[:, peers].sum(axis=0)))
    longer = table[:, rank] - usual
    factors: dict[Place, Floats] = {}
    for place in np.argsort(-longer, kind="stable").tolist():
        if excess <= 0.0 or longer[place] <= 0.0:
            break
        own = found[keys[place]]
        if np.mean(own[:, rank] > np.median(own[:, peers], axis=1)) < OFTEN:
            continue
        factor = np.ones((len(graph.recording.steps), len(graph.recording.ranks)))
        factor[steps, rank] = usual[place] / table[place, rank]
        factors[keys[place]] = factor
        excess -= float(longer[place])
    return factors
