"""Joins the profiles of the ranks of one job, whatever directories they are in.

Profilers write one directory per rank, named by rank (`rank0_ascend_pt`, `rank_0/profiler`), or by process and time
(`<host>_<pid>_<time>_ascend_ms`); directories of ranks may also be runs of their own. Profiles belong to one job if their
directories have the same name without ranks, processes and times. If a rank has several, it was profiled several times: the
first ones of all ranks are one job, the second ones another, by the time in the name or else of the files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from layouts.sources import ProfileRow

_RANK = re.compile(r"(?<![a-zA-Z])(rank[_-]?)\d{1,9}(?!\d)", re.IGNORECASE)
_STAMP = re.compile(r"(?:(?<=_)\d+_)?(\d{14,20})(?=_ascend_(?:ms|pt)\b)")


@dataclass(frozen=True, slots=True)
class Job:
    """A job: its name, unique among the jobs found, a title to show, and its profiles as (run, profile), by rank."""

    name: str
    title: str
    profiles: tuple[tuple[str, ProfileRow], ...]


@lru_cache(maxsize=1 << 14)
def name_of(run: str, session: str) -> str:
    """Return the name that all ranks of a job share: `*` in place of rank, process and time."""
    path = f"{run}/{session}" if run and session != "." else run or session
    return _STAMP.sub("*", _RANK.sub(r"\1*", path))


def jobs_of(profiles: Sequence[tuple[str, ProfileRow]]) -> list[Job]:
    """Return the jobs of profiles, given as (run, profile), in the order of their first profile."""
    found: dict[str, dict[int, list[tuple[str, ProfileRow]]]] = {}
    for run, profile in profiles:
        found.setdefault(name_of(run, profile.session), {}).setdefault(profile.rank, []).append((run, profile))
    jobs = []
    for name, ranks in found.items():
        captures = [sorted(mine, key=lambda one: _taken(*one)) for _, mine in sorted(ranks.items())]
        number = max(map(len, captures))
        for place in range(number):
            members = tuple(mine[place] for mine in captures if place < len(mine))
            single = len({run for run, _ in members}) == 1
            title = members[0][1].session if len(members) == 1 else name_of("", members[0][1].session) if single else name
            jobs.append(Job(f"{name} ({place})", f"{title} ({place + 1})" if number > 1 < len(members) else title, members))
    return jobs


def _taken(run: str, profile: ProfileRow) -> tuple[str, float, str]:
    stamps = _STAMP.findall(f"{run}/{profile.session}")
    return stamps[-1] if stamps else "", profile.updated, profile.session
