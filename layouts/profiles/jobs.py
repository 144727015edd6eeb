"""The jobs of listed profiles, as the source finds them (`parsers.profiler.jobs` has the rule)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layouts.profiles.frames import ProfileRow
from layouts.sources import ProfileSources


@dataclass(frozen=True, slots=True)
class ListedJob:
    """A job: its name, unique among the jobs found, a title to show, and its profiles as (run, profile), by rank."""

    name: str
    title: str
    profiles: tuple[tuple[str, ProfileRow], ...]


def jobs_of(source: ProfileSources, profiles: Sequence[tuple[str, ProfileRow]]) -> list[ListedJob]:
    """Return the jobs of profiles, given as (run, profile), in the order of their first profile.

    Ranks of these jobs that are not among the profiles are left out.
    """
    listed = {(run, one.session, one.rank): (run, one) for run, one in profiles}
    placed: set[tuple[str, str, int]] = set()
    found = []
    for name in listed:
        if name in placed:
            continue
        members = [member for member in source.profiles.members(*name) if member in listed and member not in placed] or [name]
        placed.update(members)
        files = source.profiles.job(*name)
        title = _title(files.name if files is not None else name[1], {run for run, _, _ in members})
        found.append(ListedJob("|".join(map(str, members[0])), title, tuple(listed[member] for member in members)))
    return found


def _title(name: str, runs: set[str]) -> str:
    """Return the name of a job without the run that all of its ranks are in."""
    run = next(iter(runs)) if len(runs) == 1 else ""
    return "." if name == run else name.removeprefix(f"{run}/") if run else name
