"""Operators of ranks over each other as tables: a row for each rank, and the operators of a window."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from parsers.analysis.jobs.rank_operators.operators import CATEGORIES, COMPUTING, Operators, group_of, name_of
from parsers.analysis.jobs.rank_operators.views import Laid
from parsers.analysis.profiles.busy import covered
from parsers.deferred import pandas as pd
from parsers.model import Problem

Member = tuple[str, str, int]
"""(run, session, rank) of a profile."""


@dataclass(frozen=True, slots=True)
class Rank:
    """What was read of a rank: its operators, damage, why files could not be read ("" if they were).

    traced: the operators are those of its trace.
    """

    operators: Operators
    problems: tuple[Problem, ...] = ()
    wrong: str = ""
    traced: bool = False


@dataclass(frozen=True)
class ShownOperators:
    """The operators of some ranks over each other, in the order of `laid`.

    order has all ranks of the job, stages those of each stage that is known, steps the numbers of its steps. shifts has the
    columns `shifts.COLUMNS`, without rows unless aligned; about is the frame of ranks, None where no file has it. absent are
    ranks asked for that the job lacks, left_out how many of those asked for are not shown; members the profile of each rank.
    zeros: clocks count from different zeros, so ranks begin together.
    """

    laid: Laid
    ranks: tuple[Rank, ...]
    order: tuple[int, ...]
    stages: tuple[tuple[int, ...], ...]
    steps: tuple[int, ...]
    shifts: pd.DataFrame
    about: pd.DataFrame | None
    aligned: bool = False
    absent: tuple[int, ...] = ()
    left_out: int = 0
    members: Mapping[int, Member] = field(default_factory=dict)
    zeros: bool = False

    @property
    def origin(self) -> int:
        """The time that is 0 on the axis: the begin of the first operator, in ns by the clock of the ranks, moved."""
        return self.laid.extent[0]

    @property
    def table(self) -> pd.DataFrame:
        """The rows as ranks.csv has them."""
        return pd.DataFrame(self.rows)

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each rank shown: what it ran, joined, moved, and what its job tells of it; times in ns.

        begin_ns and end_ns are on the axis. alone are operators joined with no neighbour; joined_below and uneven_below are
        joins with the next row, and keys that both do not run equally often. -1 and NaN stand for unknown and none.
        """
        told = self.shifts.set_index("rank")
        about = None if self.about is None else self.about.drop_duplicates("rank").set_index("rank")
        rows = []
        for place, (rank, stage) in enumerate(zip(self.laid.ranks, self.laid.stages, strict=True)):
            computes = rank.category < COMPUTING
            pairs = self.laid.joins[place] if place < len(self.laid.joins) else None
            known = rank.kernels or self.ranks[place].traced
            one: dict[str, Any] = {
                "rank": rank.rank, "stage": stage, "operators": len(rank), "computing": int(computes.sum()),
                "communication": int((~computes).sum()),
                "computing_ns": covered(rank.start[computes], rank.end[computes]) if known else -1,
                "communication_ns": covered(rank.start[~computes], rank.end[~computes]),
                "begin_ns": int(rank.start[0]) - self.origin if len(rank) else -1,
                "end_ns": int(rank.end.max()) - self.origin if len(rank) else -1,
                "joined_below": -1 if pairs is None else len(pairs.first),
                "uneven_below": -1 if pairs is None else pairs.uneven,
                "alone": int(len(rank) - self.laid.joined[place].sum()),
                "untimed": rank.untimed, "left_out": rank.left_out, "kernels": rank.kernels, "told": rank.told,
                "traced": self.ranks[place].traced,
                "shift_ns": 0, "part": -1, "compared": 0, "residual_ns": math.nan, "worst_ns": math.nan,
                "flops": math.nan, "flops_per_s": math.nan, "peak_bytes": -1,
            }  # fmt: skip
            if rank.rank in told.index:
                own = told.loc[rank.rank].to_dict()
                one |= {"shift_ns": int(own["shift_ns"]), "part": int(own["part"]), "compared": int(own["operations"])}
                one |= {"residual_ns": own["residual_ns"], "worst_ns": own["worst_ns"]}
            if about is not None and rank.rank in about.index:
                own = about.loc[rank.rank].to_dict()
                flops = [own[name] for name in ("cube_flops", "vector_flops") if math.isfinite(own[name])]
                one |= {"flops": sum(flops) if flops else math.nan, "flops_per_s": own["flops_per_s"]}
                one["peak_bytes"] = int(own["peak_allocated_bytes"])
            rows.append(one)
        return rows

    def listed(self, begin: int, end: int) -> pd.DataFrame:
        """Return the operators that run from begin to end (ns on the axis), as operators.csv has them."""
        parts = []
        for place, (rank, numbers) in enumerate(zip(self.laid.ranks, self.laid.numbers, strict=True)):
            rows = np.flatnonzero((rank.start - self.origin < end) & (rank.end - self.origin >= begin))
            keys = rank.key[rows].tolist()
            start = self.ranks[place].operators.start[rows]
            parts.append(pd.DataFrame({
                "rank": rank.rank, "stage": self.laid.stages[place], "step": rank.step[rows],
                "name": [name_of(rank.keys[key]) for key in keys],
                "type": [rank.types[one] for one in rank.type[rows].tolist()],
                "category": [CATEGORIES[one] for one in rank.category[rows].tolist()],
                "group": [group_of(rank.keys[key]) for key in keys], "occurrence": numbers.occurrence[rows],
                "start_ns": start, "shift_ns": rank.start[rows] - start, "duration_ns": rank.end[rows] - rank.start[rows],
                "joined": np.where(self.laid.joined[place][rows] > 0, "yes", "no"),
            }))  # fmt: skip
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    def same(self, place: int, row: int) -> list[tuple[int, int]]:
        """Return (place, row) of an operator in every row that has it: the one itself, and those that it can be joined with."""
        own, numbers = self.laid.ranks[place], self.laid.numbers
        wanted = int(numbers[place].place[row])
        communicates = own.category[row] >= COMPUTING
        found = []
        for at, one in enumerate(numbers):
            if not len(one.place) or (not communicates and self.laid.stages[at] != self.laid.stages[place]):
                continue
            spot = int(np.searchsorted(one.place, wanted, sorter=one.order))
            if spot < len(one.order) and int(one.place[one.order[spot]]) == wanted:
                found.append((at, int(one.order[spot])))
        return found
