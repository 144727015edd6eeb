"""The dumps of the chosen runs, one for all ranks of a job, and what live training has sent."""

from __future__ import annotations

from typing import Annotated, Any

from layouts.dumps.live import ListedSessions, listed
from layouts.kit.state import digest_of
from layouts.runs.chosen_runs import KeyAndName, elsewhere, selected_runs
from layouts.runs.damage import FileAndText, damage
from layouts.runs.rows import RunRow
from layouts.sources import Sources

MOST_DUMPS = 1_000
"""Maximum number of dumps that are listed."""
MOST_ELSEWHERE = 8


class DumpCatalogue(ListedSessions):
    """The dumps of the chosen runs."""

    digest: str
    chosen: int
    dumps: list[Annotated[list[str], tuple[str, str, str]]]
    """key, name, version"""
    left: int
    waiting: int
    damage: list[FileAndText]
    elsewhere: list[KeyAndName]


def catalogue(source: Sources, state: Any, known: Any = None) -> DumpCatalogue | None:
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
    answer: DumpCatalogue = {
        "digest": "",
        "chosen": len(runs),
        "dumps": [_listed(row) for row in having[:MOST_DUMPS]],
        "left": max(0, len(having) - MOST_DUMPS),
        "waiting": sum(row.state in ("waiting", "loading") for row in rows),
        "damage": [] if having else damage(source, runs, unreached=True),
        "elsewhere": [] if having else elsewhere(source, runs, "dump", MOST_ELSEWHERE),
        **listed(source),
    }
    answer["digest"] = digest_of(answer)
    return None if answer["digest"] == known else answer


def _listed(row: RunRow) -> list[Any]:
    return [row.key, row.name, f"{row.version}.{row.updated:.3f}"]
