"""The interface between pages and live training."""

from __future__ import annotations

from typing import Protocol

from layouts.dumps.live_sessions import LiveSession, LiveStatus, Order


class LiveSource(Protocol):
    """Live training.

    The key of a session also names its dump and its watchpoints: `DumpSource.open`, `NoteSource.save_watchpoints`, which
    training learns of with the next order. They are forgotten with the session.
    """

    def status(self) -> LiveStatus:
        """Return whether and where training can connect, and the sessions."""
        ...

    def order(self, session: str, order: Order) -> LiveSession:
        """Give training an order.

        KeyError for an unknown session, UnfitOrder (`layouts.dumps.live_sessions`) if it cannot be followed now.
        """
        ...
