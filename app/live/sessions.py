"""The sessions of all trainings that have connected: who is who, what may be open at once, and what is kept of those past."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence, Set
from urllib.parse import unquote

from app.live.dump import LiveDump
from app.live.received import ReceivedValues
from app.live.session import TrainingSession
from layouts.dumps import live_sessions as live
from layouts.dumps.live_sessions import LiveSession, LiveStatus, Order, UnfitOrder
from parsers.analysis.dumps.watchpoints.conditions import Watchpoint
from parsers.debugger.messages import Metadata

MOST_OPEN = 8
"""Trainings that are connected at once; further ones are refused, unless their device has a session already."""
MOST_KNOWN = 16
"""Sessions that are kept, with those past; the oldest past ones are dropped."""
WITHOUT_GRAPH = 60.0
"""Seconds a training may take to send its graph."""
SOON_GRAPH = 10.0
"""Seconds after which one without a graph is replaced if another training wants its place."""
EVERY = 0.5
"""Seconds between looks at what is missing."""


class Sessions:
    """Sessions by key. May be called by any thread; the server calls it for training, the store for pages."""

    def __init__(self, kept: ReceivedValues | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.kept = kept or ReceivedValues()
        self.host, self.port = "", 0
        self._clock = clock
        self._lock = threading.Lock()
        self._sessions: dict[str, TrainingSession] = {}
        self._peers: dict[str, TrainingSession] = {}
        self._begun: dict[str, float] = {}
        self._dumps: dict[str, LiveDump] = {}
        self._open: frozenset[str] = frozenset()
        self._count = self._turned_away = 0

    # For pages -------------------------------------------------------------------------------------------------------

    def status(self) -> LiveStatus:
        """Return where training can connect, and all sessions, newest first."""
        with self._lock:
            known = tuple(one.look() for one in reversed(self._sessions.values()))
            return LiveStatus("listening", self.host, self.port, known, self._turned_away)

    def knows(self, key: str) -> bool:
        """Return whether there is a session of this key."""
        with self._lock:
            return key in self._sessions

    def order(self, key: str, order: Order) -> LiveSession:
        """Give an order; KeyError for an unknown session, UnfitOrder if it cannot be followed."""
        return self._dismiss(key) if order.kind == live.DISMISS else self._of(key).order(order)

    def watch(self, key: str, watchpoints: Sequence[Watchpoint]) -> LiveSession:
        """Set the watchpoints of a session. Errors as for `order`."""
        return self._of(key).watch(watchpoints)

    def dump(self, key: str) -> LiveDump | None:
        """Return what a session has sent; None for an unknown one. It is another object when `LiveDump.mark` is another."""
        with self._lock:
            session = self._sessions.get(key)
            if session is None:
                return None
            found = self._dumps.get(key)
        if found is None or found.mark != session.mark:
            found = LiveDump(session)
            with self._lock:
                self._dumps[key] = found
        return found

    def _dismiss(self, key: str) -> LiveSession:
        """Forget a session that is over, and what it sent; return what it was."""
        with self._lock:
            session = self._sessions[key]
            if session.connected:
                raise UnfitOrder(f"training is {session.state}; expected one that is over or lost")
            self._forget(session)
        session.end(live.GONE)
        return session.look()

    def _of(self, key: str) -> TrainingSession:
        with self._lock:
            return self._sessions[key]

    # For the server --------------------------------------------------------------------------------------------------

    def begin(self, peer: str, told: Metadata) -> TrainingSession | None:
        """Return the new session of a training; None if too many are open and none of them is to be replaced.

        The session that this connection had before, or one that the same device of the same machine lost, is over. If too many
        are open, one of this device is over too, be it connected, or else one that has sent no graph for some time.
        """
        with self._lock:
            past = [one for one in self._sessions.values() if one.peer == peer or self._lost(one, peer, told)]
            open_ = [one for one in self._sessions.values() if one.connected and one not in past]
            if len(open_) >= MOST_OPEN:
                own = any(_of_device(one, peer, told) for one in self._sessions.values())
                replaced = self._replaced(open_, peer, told)
                if replaced is None and not own:
                    self._turned_away += 1
                    return None
                past += [] if replaced is None else [replaced]
            for one in past:
                if one.state != live.ENDED:
                    one.end(live.REPLACED)
                if one.peer == peer and not len(one.tensors):
                    self._forget(one)
            self._count += 1
            session = TrainingSession(f"{live.KEY}{self._count}", peer, self.kept, self._clock)
            self._sessions[session.key] = self._peers[peer] = session
            self._begun[session.key] = self._clock()
            self._open |= {unquote(peer)}
            self._shorten()
            return session

    @property
    def full(self) -> bool:
        """Return whether as many trainings are connected as can be at once."""
        with self._lock:
            return sum(one.connected for one in self._sessions.values()) >= MOST_OPEN

    def of(self, peer: str) -> TrainingSession | None:
        """Return the session of a connection; None if it has none."""
        with self._lock:
            return self._peers.get(peer)

    def found(self, peer: str, told: Metadata) -> TrainingSession | None:
        """Return the session of a connection, or the one that the same device lost with another connection."""
        with self._lock:
            session = self._peers.get(peer)
            if session is None:
                lost = [one for one in self._sessions.values() if self._lost(one, peer, told) and len(one.tensors)]
                if len(lost) == 1:
                    session = lost[0]
                    self._peers.pop(session.peer, None)
                    session.peer = peer
                    self._peers[peer] = session
            return session

    def tick(self) -> None:
        """Notice missing signs of life, and trainings that send no graph."""
        with self._lock:
            sessions = list(self._sessions.values())
            late = [key for key, at in self._begun.items() if self._clock() - at > WITHOUT_GRAPH]
        for session in sessions:
            session.tick()
            if session.key in late:
                session.expect_graph()

    def stop(self) -> None:
        """End all sessions: those that wait get an answer."""
        with self._lock:
            sessions = list(self._sessions.values())
        for session in sessions:
            session.end(live.GONE)

    def close_others(self, peers: Set[str]) -> None:
        """Free the places of sessions whose connection, open at the last call or when they began, is none of these now."""
        with self._lock:
            closed = [one for one in self._sessions.values() if unquote(one.peer) in self._open - peers]
            self._open = frozenset(peers)
        for session in closed:
            session.gone()

    def _replaced(self, open_: Sequence[TrainingSession], peer: str, told: Metadata) -> TrainingSession | None:
        """Return the open session to be replaced by a training, the one longest silent. The lock is held."""
        now = self._clock()
        own = [one for one in open_ if _of_device(one, peer, told)]
        empty = [one for one in open_ if one.state == live.PENDING and now - one.heard > SOON_GRAPH]
        return min(own or empty, key=lambda one: one.heard, default=None)

    def _lost(self, session: TrainingSession, peer: str, told: Metadata) -> bool:
        """Return whether a session is lost that the same device of the same machine had. The lock is held."""
        return _of_device(session, peer, told) and session.state == live.PENDING and not session.connected

    def _shorten(self) -> None:
        past = [one for one in self._sessions.values() if not one.connected]
        for one in past[: max(len(self._sessions) - MOST_KNOWN, 0)]:
            self._forget(one)

    def _forget(self, session: TrainingSession) -> None:
        del self._sessions[session.key]
        self._begun.pop(session.key, None)
        self._dumps.pop(session.key, None)
        if self._peers.get(session.peer) is session:
            del self._peers[session.peer]
        self.kept.forget(session.key)


def _of_device(session: TrainingSession, peer: str, told: Metadata) -> bool:
    return _machine(session.peer) == _machine(peer) and session.told.device == told.device


def _machine(peer: str) -> str:
    """Return the address of a peer without its port: ipv4:10.0.0.1:4711, ipv6:[::1]:4711."""
    return peer.rpartition(":")[0]
