"""Parse which profile a page shows and which one it is compared with. Every value is untrusted."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from parsers import Problem
from parsers.deferred import pandas as pd

from layouts.kit.parameters import part, subject
from layouts.kit.state import number, text, whole
from layouts.sources import ProfileSources

KEYS = ("of", "session", "rank")
"""Keys of the state that name a profile; pages about profiles take them over from each other."""
JOB_KEYS = (*KEYS, "with", "group", "step")
"""Keys of the state that pages about jobs take over from each other: also the job or rank to compare with, group and step."""
ALL_RANKS = -1
"""The rank of a profile whose files are about all ranks of a job and of none alone."""
MOST_HASH = 40
"""Maximum characters of a group's hash, which is a number below 2^64."""
PATIENCE = 2.0
"""Seconds that a callback waits for a frame that was ready a moment ago but has to be read from the index again."""


@dataclass(frozen=True, slots=True)
class ProfileChoice:
    """A profile by member run, session and rank (-1 for the files about all ranks of a job). mark changes when its files do."""

    run: str
    session: str
    rank: int
    mark: str = ""

    def frame(self, source: ProfileSources, name: str) -> pd.DataFrame | None:
        """Return a frame of the profile (a name in FRAMES) or of its job (in JOB_FRAMES).

        None if no file has it, if reading it failed, or if reading it again takes more than PATIENCE (`lacks` tells which).
        """
        until = time.monotonic() + PATIENCE
        while True:
            found = source.profiles.frame(self.run, self.session, self.rank, name)
            if found.state not in ("reading", "waiting") or time.monotonic() > until:
                return found.frame

    def lacks(self, source: ProfileSources, name: str) -> bool:
        """Return whether no file has a frame, so that what is made without it may be kept."""
        return source.profiles.frame(self.run, self.session, self.rank, name).state == "missing"

    def of_torch(self, source: ProfileSources) -> bool:
        """Return whether the profile is nothing but traces of torch.profiler."""
        return source.profiles.of_torch(self.run, self.session, self.rank)

    def problems(self, source: ProfileSources, name: str) -> tuple[Problem, ...]:
        """Return the damage found in the files of a frame that has been read."""
        return source.profiles.frame(self.run, self.session, self.rank, name).problems


def read_choice(data: Any, prefix: str = "") -> ProfileChoice | None:
    """Return the profile under the keys run, session and rank (with_run ... for prefix with_); None if no run is named."""
    run = text(data, f"{prefix}run")
    if not run:
        return None
    rank = number(data, f"{prefix}rank", 0.0, ALL_RANKS, 1e9)
    return ProfileChoice(run, text(data, f"{prefix}session", "."), int(rank), text(data, f"{prefix}mark"))


def read_against(data: Any) -> ProfileChoice | None:
    """Return the profile to compare with, or None."""
    return read_choice(data, "with_")


def read_group(data: Any) -> str:
    """Return the hash of the chosen group's name; "" for none."""
    return text(data, "group", limit=MOST_HASH)


def read_step(data: Any) -> int | None:
    """Return the number of the chosen step, -1 for steps without a number; None for the mean of all steps."""
    return whole(data, "step", -1.0)


def profile() -> Any:
    """The parameter of a request about a profile, or about the job that it belongs to."""
    return subject(read_choice, named=("run", "session", "rank"))


def other_profile() -> Any:
    """The parameter of a profile to compare with."""
    return part(read_against, named=("with_run", "with_session", "with_rank"))
