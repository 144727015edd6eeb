"""Which profiles the chosen runs have."""

from __future__ import annotations

from itertools import islice
from typing import Any

from layouts.sources import ProfileRow, ProfileSource, RunRow
from layouts.state import elsewhere, label_of, selected_runs, stamped

MOST_RUNS = 100
"""The profiles of so many runs are listed."""
MOST_PROFILES = 1_000
"""So many profiles of one run are listed."""
MOST_FILES = 12
"""So many files of a profile are named."""
MOST_ELSEWHERE = 8


def catalogue(source: ProfileSource, state: Any, known: Any = None) -> dict[str, Any] | None:
    """Profiles by run, how many runs are left out or unread; None where the digest is the known one.

    elsewhere names runs that are not chosen and have profiles, for a choice without any.
    """
    runs = selected_runs(state, source, ("profile",))
    source.want(runs)
    rows = {member: row for row in source.runs() for member in row.members}
    listed = ((run, source.profiles(run)) for run in runs)
    having = [(run, profiles) for run, profiles in listed if profiles]
    found: dict[str, Any] = {
        "chosen": len(runs),
        "runs": [_run(run, rows[run], profiles) for run, profiles in having[:MOST_RUNS]],
        "left": max(0, len(having) - MOST_RUNS),
        "waiting": sum(rows[run].state in ("waiting", "loading") for run in runs),
        "elsewhere": [] if having else elsewhere(source, runs, "profile", MOST_ELSEWHERE),
    }
    answer = stamped(found)
    return None if answer["digest"] == known else answer


def _run(run: str, row: RunRow, profiles: Any) -> dict[str, Any]:
    listed = [_profile(profile) for profile in islice(profiles, MOST_PROFILES)]
    return {"key": run, "name": label_of(run, row), "profiles": listed, "total": len(profiles)}


def _profile(profile: ProfileRow) -> dict[str, Any]:
    return {
        "session": profile.session, "rank": profile.rank, "device": profile.device, "mark": profile.mark,
        "frames": list(profile.frames), "files": list(profile.files[:MOST_FILES]),
        "more": max(0, len(profile.files) - MOST_FILES), "updated": profile.updated,
    }  # fmt: skip
