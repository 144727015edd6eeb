"""Live training as the store shows it: sessions beside runs, their dumps, work on these, and their watchpoints."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace

from app.live.dump import LiveDump
from app.live.sessions import Sessions
from app.live.work import LiveWork
from app.store.runs.visitors import ANYBODY, Visitor
from layouts.dumps import live_sessions as live
from layouts.dumps.live_sessions import LiveSession, LiveStatus, Order, UnfitOrder
from layouts.dumps.open_dump import DumpWork, OpenDump
from layouts.dumps.watchpoints import WatchList, proposed, watched
from layouts.kit.patterns import PatternMatcher
from layouts.kit.work import WorkResult
from layouts.runs.notes import Stale


class LiveTraining:
    """All sessions by key, if a server listens for them. Lists of watchpoints last as long as a session."""

    def __init__(self, sessions: Sessions | None, matcher: PatternMatcher, visitor: Visitor = ANYBODY) -> None:
        self._sessions, self._matcher, self._visitor = sessions, matcher, visitor
        self._work = LiveWork()
        self._lock = threading.Lock()
        self._lists: dict[str, WatchList] = {}
        self._told: dict[str, tuple[WatchList, int]] = {}

    def stop(self) -> None:
        """Stop all work."""
        self._work.stop()

    def status(self) -> LiveStatus:
        """See `layouts.dumps.live_source.LiveSource`."""
        if self._sessions is None:
            return live.OFF
        return replace(self._sessions.status(), read_only=not self._visitor.may_change())

    def order(self, key: str, order: Order) -> LiveSession:
        """See `layouts.dumps.live_source.LiveSource`."""
        if not self._visitor.may_change():
            raise UnfitOrder("expected a visitor who may change something, found one who may only read")
        session = self._session(key)
        if order.kind in (live.CONTINUE, live.NODE, live.RECHECK):
            self._watch(session, key)
        return session.order(key, order)

    def open(self, key: str) -> OpenDump:
        """Return the dump of a session."""
        found = self._dump(key)
        return OpenDump("missing") if found is None else OpenDump("ready", found, found.mark)

    def result(self, key: str, work: DumpWork, *, again: bool) -> WorkResult:
        """Return the result of work, or its progress."""
        found = self._dump(key)
        return WorkResult("missing") if found is None else self._work.result(key, found, work, again=again)

    def cancel(self, key: str, work: DumpWork) -> None:
        """Stop work."""
        self._work.cancel(key, work)

    @property
    def lists(self) -> Mapping[str, WatchList]:
        """The watchpoints of sessions that have any."""
        with self._lock:
            return dict(self._lists)

    def save(self, key: str, wanted: WatchList, was: str) -> WatchList:
        """Set the watchpoints of a session. Errors as for `NoteSource.save_watchpoints`, ValueError for a bad pattern."""
        session = self._session(key)
        checked = wanted.checked()
        for pattern in {one.pattern for one in checked.watchpoints if one.pattern}:
            self._matcher.matching(pattern, [])
        with self._lock:
            known = self._lists.get(key, WatchList())
            if known.version != was:
                raise Stale(known)
            for old in self._lists.keys() - {one.key for one in session.status().sessions}:
                del self._lists[old]
            if checked.watchpoints:
                self._lists[key] = checked
            else:
                self._lists.pop(key, None)
        self._watch(session, key)
        return checked

    def _watch(self, session: Sessions, key: str) -> None:
        """Tell a session its watchpoints, else those recommended, for the operators that its graph has now."""
        with self._lock:
            listed = self._lists.get(key) or proposed()
            known = self._told.get(key)
        dump = self._dump(key)
        if dump is None or known == (listed, dump.graph_mark):
            return
        enabled = [one for one in listed.watchpoints if one.enabled]
        session.watch(key, [watched(one, dump.tensors, self._matcher) for one in enabled])
        with self._lock:
            self._told = {one: told for one, told in self._told.items() if one in self._lists or one == key}
            self._told[key] = listed, dump.graph_mark

    def _dump(self, key: str) -> LiveDump | None:
        return None if self._sessions is None else self._sessions.dump(key)

    def _session(self, key: str) -> Sessions:
        """Return the sessions; KeyError if none has this key."""
        if self._sessions is None or not self._sessions.knows(key):
            raise KeyError(key)
        return self._sessions
