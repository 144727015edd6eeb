"""The profiles of the chosen runs."""

from __future__ import annotations

from itertools import islice
from typing import Any

from layouts.profiling.jobs import Job, jobs_of
from layouts.queries.damage import damage
from layouts.sources import ProfileRow, ProfileSource
from layouts.state import elsewhere, label_of, selected_runs, stamped

MOST_RUNS = 100
"""Maximum number of runs whose profiles are listed."""
MOST_PROFILES = 1_000
"""Maximum number of profiles listed per run."""
MOST_FILES = 12
"""Maximum number of file names listed per profile."""
MOST_ELSEWHERE = 8


def catalogue(source: ProfileSource, state: Any, known: Any = None) -> dict[str, Any] | None:
    """Return the profiles by run and the numbers of runs left out and not read yet; None if the digest is the known one.

    elsewhere lists other runs that have profiles, if none of the chosen runs has any; damage the problems of the chosen ones
    that may hide one.
    """
    runs = selected_runs(state, source, ("profile",))
    source.want(runs)
    rows = {member: row for row in source.runs() for member in row.members}
    listed = ((run, source.profiles(run)) for run in runs)
    having = [(run, profiles) for run, profiles in listed if profiles]
    listed_profiles = [(run, list(islice(profiles, MOST_PROFILES))) for run, profiles in having[:MOST_RUNS]]
    jobs = {(run, one.session, one.rank): job for job in jobs_of([(run, one) for run, some in listed_profiles for one in some])
            for run, one in job.profiles}  # fmt: skip
    found: dict[str, Any] = {
        "chosen": len(runs),
        "runs": [
            {
                "key": run, "name": label_of(run, rows[run]), "total": len(source.profiles(run)),
                "profiles": [_profile(one, jobs[run, one.session, one.rank]) for one in some],
            }
            for run, some in listed_profiles
        ],
        "left": max(0, len(having) - MOST_RUNS),
        "waiting": sum(rows[run].state in ("waiting", "loading") for run in runs),
        "damage": [] if having else damage(source, runs, unreached=True),
        "elsewhere": [] if having else elsewhere(source, runs, "profile", MOST_ELSEWHERE),
    }
    answer = stamped(found)
    return None if answer["digest"] == known else answer


def _profile(profile: ProfileRow, job: Job) -> dict[str, Any]:
    return {
        "job": job.name, "title": job.title, "session": profile.session, "rank": profile.rank,
        "device": profile.device, "mark": profile.mark,
        "frames": list(profile.frames), "files": list(profile.files[:MOST_FILES]),
        "more": max(0, len(profile.files) - MOST_FILES), "updated": profile.updated,
    }  # fmt: skip
