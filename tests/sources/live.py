"""Part of `tests.sources.MemorySource`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layouts.dumps.live_sessions import LiveSession, LiveStatus, Order
from layouts.dumps.live_source import LiveSource

if TYPE_CHECKING:
    from tests.sources import MemorySource


class MemoryLive(LiveSource):
    def __init__(self, memory: MemorySource) -> None:
        self._memory = memory

    def status(self) -> LiveStatus:
        return self._memory.training

    def order(self, session: str, order: Order) -> LiveSession:
        found = next((one for one in self._memory.training.sessions if one.key == session), None)
        if found is None:
            raise KeyError(session)
        self._memory.orders.append((session, order))
        return found
