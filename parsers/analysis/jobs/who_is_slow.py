"""Who is slow in a job, or why nobody was looked for: the one answer that all pages show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from parsers.analysis.jobs.links import slow_links
from parsers.analysis.jobs.peers import alike
from parsers.analysis.jobs.slow_tests import LIMITS, SlowRankLimits
from parsers.analysis.jobs.stragglers import Straggler, stragglers
from parsers.deferred import pandas as pd


@dataclass(frozen=True, slots=True)
class SlowRanks:
    """The slow ranks and replicas, the costliest first; those that others waited for in single steps; and what was judged.

    reason is "" if all of it was judged; else the name of the frame that is missing, "one_rank" if only one has steps,
    "no_group" if no group is known whose ranks do the same work, "no_waits" if no operation tells who waited, or "steps" for
    too few steps to call a rank slow: `once` is known then. steps is how many were recorded.
    """

    slow: tuple[Straggler, ...] = ()
    once: tuple[Straggler, ...] = ()
    reason: str = ""
    steps: int = 0


def who_is_slow(frames: Mapping[str, pd.DataFrame | None], limits: SlowRankLimits = LIMITS) -> SlowRanks:
    """Judge the ranks of a job by its frames cluster_steps, collectives, groups and links (None or missing: no file)."""
    steps, collectives, groups, links = (frames.get(name) for name in ("cluster_steps", "collectives", "groups", "links"))
    if steps is None or not len(steps):
        return SlowRanks(reason="cluster_steps")
    own = steps[(steps["kind"].astype("str") == "rank") & (steps["total_ns"] > 0.0)]
    number = int(own["step"].nunique())
    if own.empty:
        return SlowRanks(reason="cluster_steps")
    if collectives is None or collectives.empty or groups is None or groups.empty:
        return SlowRanks(reason="collectives", steps=number)
    reasons = {
        "one_rank": own["rank"].nunique() < 2, "no_group": not alike(groups),
        "no_waits": not collectives["lateness_ns"].notna().any(),
    }  # fmt: skip
    reason = next((name for name, holds in reasons.items() if holds), "")
    if reason:
        return SlowRanks(reason=reason, steps=number)
    found = stragglers(collectives, own, groups, slow_links(links) if links is not None and len(links) else (), limits=limits)
    return SlowRanks(
        tuple(one for one in found if one.persistent), tuple(one for one in found if not one.persistent),
        "steps" if number < limits.steps else "", number,
    )  # fmt: skip
