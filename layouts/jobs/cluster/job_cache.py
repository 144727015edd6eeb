"""The job that the page shows: asks for its frames, in all its sessions, and keeps what is computed from them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from parsers.analysis.jobs.ranks_by_step import RanksByStep, ranks_by_step
from parsers.caches import Cache
from parsers.cluster_frames import CLUSTER_STEPS, COLLECTIVES, RANKS
from parsers.deferred import pandas as pd

from layouts.jobs.cluster.asks import FRAMES
from layouts.profiles.frames import ProfileFrame
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources

MOST_SESSIONS = 64
"""Sessions of a job that are joined."""
_KEPT = 4
_NUMBER = re.compile(r" \(\d+\)$")


class JobCache:
    """The jobs looked at last; one is made again when a frame it is made of was read again."""

    def __init__(self) -> None:
        self._jobs: Cache[tuple[str, str, int], RanksByStep] = Cache(_KEPT)

    def job(self, source: ProfileSources, choice: ProfileChoice) -> RanksByStep:
        """Return the job of a profile, made of the frames that are ready."""
        frames = {name: frame for name in FRAMES if (frame := choice.frame(source, name)) is not None}
        asked = [(one, _steps_and_operations(source, one)) for one in sessions_of(source, choice)]
        ready = [(one, pair) for one, (pair, _) in asked]
        pending = any(being_read for _, (_, being_read) in asked)
        mark = (*frames.values(), *(frame for _, pair in ready for frame in pair))
        key = choice.run, choice.session, choice.rank
        found = self._jobs.made(key, lambda: _made(source, choice, frames, ready), mark)
        found.pending = pending
        return found


def sessions_of(source: ProfileSources, choice: ProfileChoice) -> list[ProfileChoice]:
    """Return the same rank in all sessions of a job in the order of their jobs, the chosen one included."""
    job = source.profiles.job(choice.run, choice.session, choice.rank)
    if job is None:
        return [choice]
    name = _NUMBER.sub("", job.name)
    found = []
    for row in source.profiles.rows(choice.run):
        if row.rank != choice.rank:
            continue
        other = job if row.session == choice.session else source.profiles.job(choice.run, row.session, row.rank)
        if other is not None and _NUMBER.sub("", other.name) == name and other.size == job.size:
            found.append((other.name, ProfileChoice(choice.run, row.session, row.rank)))
    numbered = sorted(found, key=lambda one: (len(one[0]), one[0]))
    return [one for _, one in numbered][:MOST_SESSIONS] or [choice]


def _steps_and_operations(source: ProfileSources, choice: ProfileChoice) -> tuple[tuple[pd.DataFrame, ...], bool]:
    """Return steps and operations of a session if they have been read, and whether they are being read, which this begins."""
    names = (CLUSTER_STEPS.name, COLLECTIVES.name)
    found = [source.profiles.frame(choice.run, choice.session, choice.rank, name) for name in names]
    being_read = any(one.state in ("reading", "waiting") for one in found)
    frames = [one.frame for one in found]
    if being_read or frames[0] is None:
        return (), being_read
    return tuple(frame for frame in frames if frame is not None), False


def _made(
    source: ProfileSources, choice: ProfileChoice, frames: Mapping[str, pd.DataFrame],
    ready: Sequence[tuple[ProfileChoice, tuple[pd.DataFrame, ...]]],
) -> RanksByStep:  # fmt: skip
    sessions = [(one.session, own) for one, own in ready if own]
    place = next((number for number, (session, _) in enumerate(sessions) if session == choice.session), 0)
    job = source.profiles.job(choice.run, choice.session, choice.rank)
    return ranks_by_step(frames, [own for _, own in sessions], place, job)


def of_ranks(source: ProfileSources, choice: ProfileChoice) -> ProfileFrame:
    """Return the frame `ranks` of the job, or the progress of reading it."""
    return source.profiles.frame(choice.run, choice.session, choice.rank, RANKS.name)
