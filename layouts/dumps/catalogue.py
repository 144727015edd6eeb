"""The dumps of the chosen runs, one for all ranks of a job, and what live training has sent."""

from __future__ import annotations

from typing import Any

from layouts.dumps.live import listed
from layouts.kit.state import stamped
from layouts.runs.chosen_runs import elsewhere, selected_runs
from layouts.runs.damage import damage
from layouts.runs.rows import RunRow
from layouts.sources import Sources

MOST_DUMPS = 1_000
"""Maximum number of dumps that are listed."""
MOST_ELSEWHERE = 8


def catalogue(source: Sources, state: Any, known: Any = None) -> dict[str, Any] | None:
    """Return the dumps, [[key of the row, name, version], ...], and the numbers of runs left out and not read yet.

    live is where training can connect ("" for nowhere), sessions are [[key, mark], ...].

    None if the digest is the known one. If no chosen run has a dump, elsewhere names others that have one, and damage the
    problems of the chosen ones that may be the reason.
    """
    runs = selected_runs(state, source, ("dump",))
    source.runs.want(runs)
    chosen = set(runs)
    rows = [row for row in source.runs.rows() if not chosen.isdisjoint(row.members)]
    having = [row for row in rows if row.tags.get("dump")]
    answer = stamped({
        "chosen": len(runs),
        "dumps": [_listed(row) for row in having[:MOST_DUMPS]],
        "left": max(0, len(having) - MOST_DUMPS),
        "waiting": sum(row.state in ("waiting", "loading") for row in rows),
        "damage": [] if having else damage(source, runs, unreached=True),
        "elsewhere": [] if having else elsewhere(source, runs, "dump", MOST_ELSEWHERE),
        **listed(source),
    })  # fmt: skip
    return None if answer["digest"] == known else answer


def _listed(row: RunRow) -> list[Any]:
    return [row.key, row.name, f"{row.version}.{row.updated:.3f}"]
