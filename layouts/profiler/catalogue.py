"""Which profiles the chosen runs have."""

from __future__ import annotations

import json
import zlib
from itertools import islice
from typing import Any

from layouts.page import FrameSource, ProfileRow, RunRow
from layouts.state import selected_runs

MOST_RUNS = 100
"""The profiles of so many runs are listed."""
MOST_PROFILES = 1_000
"""So many profiles of one run are listed."""
MOST_FILES = 12
"""So many files of a profile are named."""
MOST_ELSEWHERE = 8


def catalogue(source: FrameSource, state: Any, known: Any = None) -> dict[str, Any] | None:
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
        "elsewhere": [] if having else _elsewhere(source, set(runs)),
    }
    digest = f"{zlib.crc32(json.dumps(found).encode()):08x}"
    return None if digest == known else found | {"digest": digest}


def _elsewhere(source: FrameSource, chosen: set[str]) -> list[dict[str, str]]:
    others = (row for row in source.runs() if row.tags.get("profile") and chosen.isdisjoint(row.members))
    return [{"key": row.key, "name": row.name} for row in islice(others, MOST_ELSEWHERE)]


def _run(run: str, row: RunRow, profiles: Any) -> dict[str, Any]:
    listed = [_profile(profile) for profile in islice(profiles, MOST_PROFILES)]
    return {"key": run, "name": row.name if len(row.members) == 1 else run, "profiles": listed, "total": len(profiles)}


def _profile(profile: ProfileRow) -> dict[str, Any]:
    return {
        "session": profile.session, "rank": profile.rank, "device": profile.device, "mark": profile.mark,
        "frames": list(profile.frames), "files": list(profile.files[:MOST_FILES]),
        "more": max(0, len(profile.files) - MOST_FILES), "updated": profile.updated,
    }  # fmt: skip
