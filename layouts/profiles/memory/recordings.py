"""Curves and blocks of one component of a profile, kept for the requests that follow."""

from __future__ import annotations

from typing import Any

from parsers.analysis.profiles.memory.recording import MemoryRecording, recording
from parsers.caches import Cache
from parsers.deferred import pandas as pd
from parsers.profile_frames import MEMORY, OPERATOR_MEMORY

from layouts.profiles.memory.asks import MemoryRequest
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources

MOST_BYTES = 256 << 20
"""Memory limit for prepared recordings; the most recent one stays whatever its size."""
_SCHEMAS = {"memory": MEMORY, "operator_memory": OPERATOR_MEMORY}


class Recordings:
    """Prepares recordings and keeps those used last, up to a limit in bytes."""

    def __init__(self, source: ProfileSources, most_bytes: int = MOST_BYTES) -> None:
        self._source = source
        self._known: Cache[Any, MemoryRecording] = Cache(limit=most_bytes, cost=MemoryRecording.size)

    def of(self, choice: ProfileChoice, ask: MemoryRequest) -> MemoryRecording | None:
        """Return the recording of a profile that a request names; None if the profile has neither a curve nor blocks."""
        key = (choice, ask.clock, ask.device, ask.component)
        known = self._known.get(key)
        if known is not None:
            return known
        frames = {name: choice.frame(self._source, name) for name in _SCHEMAS}
        memory, operator_memory = (_SCHEMAS[name].empty() if frame is None else frame for name, frame in frames.items())
        found = recording(memory, operator_memory, clock=ask.clock, device=ask.device, component=ask.component)
        absent = (name for name, frame in frames.items() if frame is None)
        if found is None or not all(choice.lacks(self._source, name) for name in absent):
            return found  # not kept: a frame may be being read again
        self._known.put(key, found)
        return found

    def frame(self, choice: ProfileChoice, name: str) -> pd.DataFrame:
        """Return the frame `memory` or `operator_memory` of a profile, without rows if it has none."""
        found = choice.frame(self._source, name)
        return found if found is not None else _SCHEMAS[name].empty()
