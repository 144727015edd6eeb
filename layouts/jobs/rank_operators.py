"""The operators of the ranks of a job over each other: what the page of ranks asks for and its plain routes send.

A rank is read when it is among the rows asked for: its kernels become a few arrays that are kept (`RankCaches`), so the frames
of sixty-four ranks need not be in memory together.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from parsers.analysis.jobs.rank_operators.arranging import arranged, chosen_ranks, rank_order, steps_of
from parsers.analysis.jobs.rank_operators.memory import MemoryCurve
from parsers.analysis.jobs.rank_operators.operators import COMPUTING, operators
from parsers.analysis.jobs.rank_operators.tables import Member, Rank, ShownOperators
from parsers.analysis.jobs.rank_operators.traces import of_trace
from parsers.analysis.jobs.stages import stages
from parsers.caches import Cache
from parsers.deferred import pandas as pd
from parsers.profiler.groups import ranks_of
from parsers.profiler.trace.tables import kind_of

from layouts.kit import parameters as asked
from layouts.kit.parameters import Request
from layouts.kit.state import BadInput
from layouts.profiles.frames import ProfileRow
from layouts.profiles.profile_choice import ProfileChoice, profile, read_step
from layouts.sources import ProfileSources

FRAMES = ("kernels", "collectives", "groups", "ranks")
PATIENCE = 0.4
"""Seconds in which further ranks are read within one request."""
KEPT_BYTES = 384 << 20
_KEPT_SHOWN = 4
_RANKS = re.compile(r"\d{1,7}(-\d{1,7})?(,\d{1,7}(-\d{1,7})?)*")
_MOST_NAMED = 1 << 16
Frame = Callable[[str], "pd.DataFrame | None"]


def _named(rows: str) -> tuple[int, ...]:
    """Return the ranks in a text such as "0-7, 12", in order."""
    rows = rows.replace(" ", "").strip(",")
    if not rows:
        return ()
    found: set[int] = set()
    if _RANKS.fullmatch(rows):
        for part in rows.split(","):
            first, _, last = part.partition("-")
            found.update(range(int(first), min(int(last or first), int(first) + _MOST_NAMED) + 1))
    if not found or len(found) > _MOST_NAMED:
        raise BadInput(f"rows: expected ranks such as 0-7,12; found {rows[:80]!r}")
    return tuple(sorted(found))


@dataclass(frozen=True, slots=True)
class RankOperatorRequest(Request):
    """A request: a profile, whose job is meant; step None for all; rows: the ranks, () for the first ones; a stage, or None.

    aligned: move the ranks of each stage so that their common collectives end together.
    """

    choice: ProfileChoice = profile()
    step: int | None = asked.part(read_step, "step")
    rows: tuple[int, ...] = asked.parsed("rows", _named, default=(), limit=1000)
    stage: int | None = asked.whole("stage", high=1e6)
    aligned: bool = asked.switch("aligned")


class RankCaches:
    """Operators of ranks, pictures made of them (some, by number), and curves of their memory."""

    def __init__(self, limit: int = KEPT_BYTES) -> None:
        """limit: bytes of all operators together, and a third of it those of all curves."""
        self.ranks = Cache[Any, Rank](limit=limit, cost=lambda one: one.operators.nbytes)
        self.shown = Cache[Any, ShownOperators](_KEPT_SHOWN)
        self.curves = Cache[Any, MemoryCurve](
            limit=limit // 3, cost=lambda one: one.series.time.nbytes + one.series.value.nbytes
        )


@dataclass(frozen=True, slots=True)
class RankProgress:
    """How many of the ranks asked for have been read."""

    done: int
    total: int


def look(source: ProfileSources, ask: RankOperatorRequest, kept: RankCaches, frame: Frame) -> ShownOperators | RankProgress:
    """Return the ranks that were asked for, or how many of them have been read so far; ask again then.

    frame returns a frame of the chosen profile or its job; None if no file has it.
    """
    choice = ask.choice
    members = {one[2]: one for one in source.profiles.members(choice.run, choice.session, choice.rank)}
    rows = rows_of(source, members.values())
    mark = (choice.run, choice.session, _mark(rows.values()))
    collectives, groups = frame("collectives"), frame("groups")
    known = [] if groups is None else stages(groups, ranks_of)
    order = rank_order(members, collectives, known)
    wanted, absent, left_out = chosen_ranks(order, known, ask.rows, ask.stage)
    key = (mark, wanted, ask.step, ask.aligned)
    found = kept.shown.get(key)
    if found is not None:
        return found
    ranks: list[Rank] = []
    until = time.monotonic() + PATIENCE
    for rank in wanted:
        one = kept.ranks.get((mark, rank, ask.step))
        if one is None and (time.monotonic() < until or not ranks):
            one = _read(source, members.get(rank), rows.get(rank), rank, collectives, ask.step)
            if one is not None:
                kept.ranks.put((mark, rank, ask.step), one)
        if one is not None:
            ranks.append(one)
    if len(ranks) < len(wanted):
        return RankProgress(len(ranks), len(wanted))
    shown = arranged(
        ranks, order, known, collectives, steps=steps_of(collectives, frame("kernels")), about=frame("ranks"), step=ask.step,
        aligned=ask.aligned, absent=absent, left_out=left_out, members=members,
    )  # fmt: skip
    kept.shown.put(key, shown)
    return shown


def rows_of(source: ProfileSources, members: Iterable[Member]) -> dict[int, ProfileRow]:
    """Return the profile of each rank."""
    wanted = {(run, session, rank): rank for run, session, rank in members}
    found = {}
    for run in dict.fromkeys(run for run, _, _ in wanted):
        for row in source.profiles.rows(run):
            rank = wanted.get((run, row.session, row.rank))
            if rank is not None:
                found[rank] = row
    return found


def _mark(rows: Iterable[ProfileRow]) -> str:
    """Return a text that changes whenever a file of any rank does."""
    return hashlib.blake2b("\n".join(row.mark for row in rows).encode(), digest_size=16).hexdigest()


def _read(
    source: ProfileSources, member: Member | None, row: ProfileRow | None, rank: int, collectives: pd.DataFrame | None,
    step: int | None,
) -> Rank | None:  # fmt: skip
    """Return the operators of a rank; None while its kernels are being read."""
    if member is None or row is None:
        return Rank(operators(rank, None, collectives, step=step))
    if "kernels" not in row.frames:
        return _traced(source, member, row, Rank(operators(rank, None, collectives, step=step)), step)
    found = source.profiles.frame(*member, "kernels")
    if found.state == "cancelled":
        found = source.profiles.frame(*member, "kernels", again=True)
    if found.state in ("reading", "waiting"):
        return None
    wrong = "" if found.frame is not None else found.text or found.state
    made = Rank(operators(rank, found.frame, collectives, step=step), found.problems, wrong)
    return _traced(source, member, row, made, step)


def _traced(source: ProfileSources, member: Member, row: ProfileRow, made: Rank, step: int | None) -> Rank | None:
    """Return what was read of a rank, or of its trace if that alone has times of what computes; None while it is being read."""
    timed = made.operators.kernels and bool((made.operators.category < COMPUTING).any())
    if timed or made.wrong or "trace" not in row.frames or any(map(kind_of, source.profiles.traces(*member)[:1])):
        return made  # a trace that is made of tables has no more than these
    found = source.profiles.trace_frame(*member)
    if found.state == "cancelled":
        found = source.profiles.trace_frame(*member, again=True)
    if found.state in ("reading", "waiting"):
        return None
    opened = source.profiles.trace(*member)
    if opened is None:
        return Rank(made.operators, made.problems, found.text if found.state == "failed" else "")
    traced = of_trace(made.operators.rank, opened.trace, opened.steps(), step=step)
    return Rank(traced, (*made.problems, *found.problems), traced=True) if len(traced) else made
