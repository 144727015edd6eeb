"""Which profile a page shows, and which one it is compared with, as the browser says it. Every value is untrusted."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import pandas as pd
from parsers import Problem

from layouts.sources import ProfileSource
from layouts.state import BadInput, number, text

PATIENCE = 2.0
"""Seconds that a callback waits for a frame that was there a moment ago and is read from the index again."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A profile: member run, session and rank. mark changes when its files do."""

    run: str
    session: str
    rank: int
    mark: str = ""

    def frame(self, source: ProfileSource, name: str) -> pd.DataFrame | None:
        """A frame of the profile that has been read, by its name in FRAMES; None where no file gives it."""
        until = time.monotonic() + PATIENCE
        while True:
            found = source.profile_frame(self.run, self.session, self.rank, name)
            if found.state not in ("reading", "waiting") or time.monotonic() > until:
                return found.frame

    def problems(self, source: ProfileSource, name: str) -> tuple[Problem, ...]:
        """The damage in the files of a frame that has been read."""
        return source.profile_frame(self.run, self.session, self.rank, name).problems


def read_choice(data: Any, prefix: str = "") -> Choice | None:
    """The profile under the keys run, session and rank (with_run ... for prefix with_); None where no run is named."""
    if data is not None and not isinstance(data, dict):
        raise BadInput(f"ask: wanted an object; got {type(data).__name__}")
    run = text(data, f"{prefix}run")
    if not run:
        return None
    rank = number(data, f"{prefix}rank", 0.0, 0.0, 1e9)
    return Choice(run, text(data, f"{prefix}session", "."), int(rank), text(data, f"{prefix}mark"))


def read_against(data: Any) -> Choice | None:
    """The profile that the chosen one is compared with."""
    return read_choice(data, "with_")
