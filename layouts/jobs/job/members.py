"""The ranks of a job as the browser draws them: found, missing, their hosts, and files that only some of them have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from parsers.analysis.jobs.coverage import lacking_files
from parsers.deferred import pandas as pd
from parsers.profiler.groups import text_of
from parsers.profiler.jobs import JobFiles
from parsers.profiler.registry import display_name

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import LONGEST, alternative
from layouts.kit.i18n import both
from layouts.kit.names import middle

MOST_CELLS = 20_000
"""Ranks that are drawn, missing ones included; of larger jobs only those with files are."""


def members(job: JobFiles) -> dict[str, Any]:
    """Return the ranks of a job as texts of ranges (`0-3,8`).

    size is the number of ranks that the files tell, 0 for unknown; missing those below it without files, missing_n how many
    these are; drawn the ranks to draw; hosts is [[host, ranks], ...]; lacking is [[file, ranks that lack it, how many, how many
    have it], ...]; alternative is the text alternative of all this.
    """
    missing = job.missing
    found = job.ranks
    drawn = found if len(found) + len(missing) > MOST_CELLS else (*found, *missing)
    hosts: dict[str, list[int]] = {}
    for member in job.members:
        if member.host:
            hosts.setdefault(member.host, []).append(member.rank)
    lacking = lacking_files({member.rank: {file.kind for file in member.files} for member in job.members})
    files = ", ".join(display_name(one.what) for one in lacking)
    facts = [
        _found(found),
        both("job.said_missing", ranks=middle(text_of(missing), LONGEST)) if missing else None,
        both("job.said_lacking", files=middle(files, LONGEST)) if lacking else None,
    ]
    return {
        "alternative": list(alternative(*facts)),
        "size": job.size, "missing": text_of(missing), "missing_n": len(missing), "drawn": text_of(drawn),
        "hosts": [[host, text_of(ranks)] for host, ranks in sorted(hosts.items())],
        "lacking": [[display_name(one.what), text_of(one.ranks), len(one.ranks), one.having] for one in lacking],
    }  # fmt: skip


def _found(ranks: Sequence[int]) -> tuple[str, str]:
    if not ranks:
        return both("job.said_none")
    return both("job.said_found", n=fmt.count(len(ranks)), ranks=middle(text_of(ranks), LONGEST))


def told_ranks(frames: Mapping[str, pd.DataFrame | None]) -> list[int]:
    """Return the ranks that the frames of a job name, in order, at most MOST_CELLS of them."""
    known: set[int] = set()
    for name in ("cluster_steps", "collectives", "ranks"):
        frame = frames.get(name)
        if frame is not None:
            known.update(frame["rank"].unique().tolist())
    return sorted(rank for rank in known if rank >= 0)[:MOST_CELLS]
