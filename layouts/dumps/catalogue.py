"""The dumps of the chosen runs, one for all ranks of a job, and what live training has sent."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Any

from layouts.dumps.dump_choice import LONGEST
from layouts.dumps.live import ListedSessions, listed
from layouts.kit.state import digest_of, text
from layouts.runs.chosen_runs import selected_runs
from layouts.runs.listed_runs import ChosenRuns, about_runs
from layouts.runs.rows import RunRow
from layouts.sources import Sources

NON_FINITE = "non_finite"
"""Kind of the insight about NaN and Inf."""
MOST_DUMPS = 1_000
"""Maximum number of dumps that are listed."""
SECONDS = 0.1
"""CPU time that may be spent on looking for NaN and Inf in the scalars of runs with a dump."""


class DumpCatalogue(ListedSessions, ChosenRuns):
    """The dumps of the chosen runs."""

    digest: str
    dumps: list[Annotated[list[str], tuple[str, str, str]]]
    """key, name, version"""
    broken: str
    """key of the newest dump of a run whose scalars have NaN or Inf as far as analysed; "" if fewer than two are listed"""
    unjudged: bool
    """whether scalars that decide `broken` are not analysed yet"""
    left: int


def catalogue(source: Sources, state: Any, known: Any = None) -> DumpCatalogue | None:
    """Return the dumps, [[key of the row, name, version], ...], and the numbers of runs left out and not read yet.

    live is where training can connect ("" for nowhere), sessions are [[key, mark], ...].

    None if the digest is the known one. If no chosen run has a dump, elsewhere names others that have one, and damage the
    problems of the chosen ones that may be the reason.
    """
    runs = selected_runs(state, source, ("dump",))
    source.runs.want(runs)
    chosen = set(runs)
    having = [row for row in source.runs.rows() if row.tags.get("dump") and not chosen.isdisjoint(row.members)]
    broken, unjudged = ("", False) if text(state, "of", limit=LONGEST) else _broken(source, having[:MOST_DUMPS])
    answer: DumpCatalogue = {
        "digest": "",
        "dumps": [_listed(row) for row in having[:MOST_DUMPS]],
        "broken": broken,
        "unjudged": unjudged,
        "left": max(0, len(having) - MOST_DUMPS),
        **about_runs(source, runs, "dump", found=bool(having), unreached=True),
        **listed(source),
    }
    answer["digest"] = digest_of(answer)
    return None if answer["digest"] == known else answer


def _broken(source: Sources, rows: Sequence[RunRow]) -> tuple[str, bool]:
    """Return the first row with NaN or Inf, "" for none, and whether a row before it, or any, is not analysed yet."""
    unjudged = False
    if len(rows) < 2:
        return "", unjudged
    until = time.monotonic() + SECONDS
    for row in rows:
        is_open = False
        for member in row.members:
            found, left = source.curves.insights(member, None, max(0.0, until - time.monotonic()))
            if any(one.kind == NON_FINITE for one in found):
                return row.key, unjudged
            is_open |= left > 0
        unjudged |= is_open
    return "", unjudged


def _listed(row: RunRow) -> list[Any]:
    return [row.key, row.name, f"{row.version}.{row.updated:.3f}"]
