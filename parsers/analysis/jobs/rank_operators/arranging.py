"""Arranges ranks over each other: which ones, in which order, and moved so that they lie on one axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from parsers.analysis.jobs.choosing import distinct
from parsers.analysis.jobs.rank_operators.operators import Operators
from parsers.analysis.jobs.rank_operators.shifts import ends_of, shifts, to_one_zero
from parsers.analysis.jobs.rank_operators.tables import Member, Rank, ShownOperators
from parsers.analysis.jobs.rank_operators.views import Laid
from parsers.deferred import pandas as pd

FIRST = 8
"""Ranks shown unless others are asked for."""
MOST_RANKS = 64
_PLACED = ["rank", "shift_ns", "stage", "part"]
Known = Sequence[Sequence[int]]
"""The ranks of each stage."""


def arranged(
    ranks: Sequence[Rank], order: tuple[int, ...], known: Known, collectives: pd.DataFrame | None, *, steps: tuple[int, ...],
    about: pd.DataFrame | None, step: int | None, aligned: bool, absent: tuple[int, ...], left_out: int,
    members: Mapping[int, Member],
) -> ShownOperators:  # fmt: skip
    """Return ranks over each other. collectives are those of the job, of which those of a step count, of all for None."""
    moved = shifts(ends_of(None, ()), ())
    if aligned:
        told = collectives if collectives is None or step is None else collectives[collectives["step"] == step]
        moved = shifts(ends_of(told, [one.operators for one in ranks]), known)
    stage_of = {rank: number for number, own in enumerate(known) for rank in own}
    placed, zeros = _on_one_axis([one.operators for one in ranks], moved)
    laid = Laid(tuple(placed), tuple(stage_of.get(one.rank, -1) for one in placed))
    stages = tuple(map(tuple, known))
    return ShownOperators(
        laid, tuple(ranks), order, stages, steps, moved, about, aligned, absent, left_out, members, zeros
    )  # fmt: skip


def _on_one_axis(ranks: Sequence[Operators], moved: pd.DataFrame) -> tuple[list[Operators], bool]:
    """Return ranks moved as the shifts say, and whether their clocks count from different zeros: then they begin together."""
    told = {rank: (shift, stage, part) for rank, shift, stage, part in moved[_PLACED].itertuples(index=False)}
    aligned = [one.shifted(int(told.get(one.rank, (0,))[0])) for one in ranks]
    sets: dict[object, int] = {}
    together = [sets.setdefault(told[one.rank][1:] if one.rank in told else ("", one.rank), len(sets)) for one in ranks]
    zeros = to_one_zero(aligned, together)
    return [one.shifted(shift) for one, shift in zip(aligned, zeros, strict=True)], any(zeros)


def rank_order(members: Iterable[int], collectives: pd.DataFrame | None, known: Known) -> tuple[int, ...]:
    """Return all ranks, stage after stage; those of no stage last."""
    told = [] if collectives is None else distinct(collectives["rank"].to_numpy()).tolist()
    every = {rank for rank in (*members, *told) if rank >= 0}
    staged = [rank for own in known for rank in own if rank in every]
    return (*staged, *sorted(every.difference(staged)))


def chosen_ranks(
    order: Sequence[int], known: Known, rows: Sequence[int], stage: int | None
) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Return the ranks to show, those asked for that there are none of, and how many were left out.

    rows are the ranks asked for, () for the first ones; of a stage, or of all for None.
    """
    inside = [rank for rank in order if stage is None or (stage < len(known) and rank in known[stage])]
    if not rows:
        return tuple(inside[:FIRST]), (), 0
    asked = set(rows)
    chosen = [rank for rank in inside if rank in asked]
    return tuple(chosen[:MOST_RANKS]), tuple(sorted(asked.difference(order))), max(0, len(chosen) - MOST_RANKS)


def steps_of(collectives: pd.DataFrame | None, kernels: pd.DataFrame | None) -> tuple[int, ...]:
    """Return the numbers of the steps, as communication and the kernels of the chosen rank tell them."""
    found = [one["step"].to_numpy() for one in (collectives, kernels) if one is not None]
    return tuple(int(step) for step in distinct(np.concatenate(found)) if step >= 0) if found else ()
