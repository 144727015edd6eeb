"""A server for live training on a free port, and waiting."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from app.live.server import DebuggerServer
from app.live.sessions import Sessions
from layouts.dumps.live_sessions import LiveSession, Order
from tests.writers.debugger_client import Training


class Served(SimpleNamespace):
    """sessions, server, port, and what tests do with them."""

    sessions: Sessions
    server: DebuggerServer
    port: int

    def training(self, **given: object) -> Training:
        found = Training(self.port, **given)  # type: ignore[arg-type]
        self.trainings.append(found)
        return found.start()

    def look(self, key: str = "live:1") -> LiveSession:
        return next(one for one in self.sessions.status().sessions if one.key == key)

    def until(self, met: Callable[[], object], seconds: float = 20.0) -> None:
        end = time.monotonic() + seconds
        while not met():
            assert time.monotonic() < end, (self.sessions.status(), [one.log[-5:] for one in self.trainings])
            time.sleep(0.005)

    def reaches(self, state: str, key: str = "live:1", step: int | None = None) -> LiveSession:
        def there() -> bool:
            found = [one for one in self.sessions.status().sessions if one.key == key]
            return bool(found) and found[0].state == state and step in (None, found[0].step)

        self.until(there)
        return self.look(key)

    def order(self, kind: str, key: str = "live:1", **given: object) -> LiveSession:
        return self.sessions.order(key, Order(kind, **given))  # type: ignore[arg-type]


@pytest.fixture
def served() -> Iterator[Served]:
    sessions = Sessions()
    server = DebuggerServer(sessions, port=0)
    found = Served(sessions=sessions, server=server, port=server.port, trainings=[])
    yield found
    server.stop()
    for one in found.trainings:
        one.join()
