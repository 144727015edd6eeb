"""How long the ranks of a job communicate in each parallel dimension: in groups for data, tensor, pipeline, experts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsers.deferred import pandas as pd


@dataclass(frozen=True, slots=True)
class Dimension:
    """Communication in the groups of one kind, per step and rank.

    kind is that of the groups, "" for unknown. groups and ranks are how many of them communicated. operations, elapse_ns,
    wait_ns and size_bytes are means over these ranks of what they did in a step; highest_ns is the elapse of the rank that
    communicates longest. wait_ns is own waiting, which is only known of operations that end in all ranks together: NaN for
    none; size_bytes is NaN for unknown.
    """

    kind: str
    groups: int
    ranks: int
    operations: float
    elapse_ns: float
    highest_ns: float
    highest_rank: int
    wait_ns: float
    size_bytes: float


def dimensions(collectives: pd.DataFrame, groups: pd.DataFrame, step: int | None = None) -> list[Dimension]:
    """Return the communication of each dimension, the longest first (schemas COLLECTIVES and GROUPS); in one step, or the mean.

    Operations may run beside each other and beside computing, so their sums are not the time that a step takes for them.
    """
    if not len(collectives):
        return []
    kind_of = dict(zip(groups["group"].astype("str"), groups["kind"].astype("str"), strict=True))
    named = collectives["group"].cat.categories
    kinds = sorted({kind_of.get(str(name), "") for name in named} | {""})
    table = np.array([*(kinds.index(kind_of.get(str(name), "")) for name in named), kinds.index("")], np.int64)
    codes = collectives["group"].cat.codes.to_numpy()
    elapse = collectives["elapse_ns"].to_numpy()
    chosen = np.isfinite(elapse)
    if step is not None:
        chosen &= collectives["step"].to_numpy() == step
    rows = np.flatnonzero(chosen)
    if not len(rows):
        return []
    ranks, rank_of = np.unique(collectives["rank"].to_numpy()[rows], return_inverse=True)
    steps, step_of = np.unique(collectives["step"].to_numpy()[rows], return_inverse=True)
    taken = np.zeros((len(ranks), len(steps)), np.bool_)
    taken[rank_of, step_of] = True
    known_steps = np.maximum(taken.sum(axis=1), 1)
    kind = table[codes[rows]]
    cell, shape = kind * len(ranks) + rank_of, (len(kinds), len(ranks))
    wait, size = collectives["own_wait_ns"].to_numpy()[rows], collectives["size_bytes"].to_numpy()[rows]
    weights = (np.ones(len(rows)), elapse[rows], np.nan_to_num(wait), np.maximum(size, 0), np.isfinite(wait), size >= 0)
    count, time, waited, sent, knows_wait, knows_size = (
        np.bincount(cell, weight, shape[0] * shape[1]).reshape(shape) for weight in weights
    )
    found = []
    for number, name in enumerate(kinds):
        mine = count[number] > 0
        if not mine.any():
            continue
        per_step = time[number] / known_steps
        longest = int(np.argmax(np.where(mine, per_step, -1.0)))
        means = [float((one[number] / known_steps)[mine].mean()) for one in (count, time, waited, sent)]
        found.append(
            Dimension(
                name, len(np.unique(codes[rows][kind == number])), int(mine.sum()), means[0], means[1],
                float(per_step[longest]), int(ranks[longest]), means[2] if knows_wait[number].any() else np.nan,
                means[3] if knows_size[number].any() else np.nan,
            )
        )  # fmt: skip
    return sorted(found, key=lambda one: -one.elapse_ns)
