"""Find the runs below some directories, read them in the background, and follow them while they grow.

One thread scans the disk and reads; every other thread uses what is in memory. Runs are read in slices, those on screen first,
then the newest, so a run of many gigabytes never blocks another one. Between scans the thread sleeps.

This is no `app.background`: reading never ends, what is due changes with each scan, and one thread alone may change runs.
"""

from __future__ import annotations

import logging
import operator
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from app.store.runs.entries import RunEntry
from app.store.runs.keeping import RunKeeper
from app.store.runs.leaves import leaves, unique
from app.store.runs.run_list import RunList
from app.store.runs.run_rows import run_row
from layouts.runs.rows import RunChanges, RunRow
from layouts.runs.run_colours import Colours
from parsers import PayloadCache, Problem, Source, SourceError
from parsers.discovery import opens_alone, rescan, source_of
from parsers.discovery.scanner import Scanner
from parsers.names import printable
from parsers.payloads.cache import ByteStore

log = logging.getLogger(__name__)

# A slice of a run is read in well under a tenth of a second.
SLICE_BYTES = 32 << 20
# Rows are published at most this often while runs are being read, and for at most this share of the time.
PUBLISH_SECONDS = 0.2
PUBLISH_SHARE = 0.02
# A scan spends this share of the time since the last one on runs that have been quiet. Wanted runs are looked at, too.
SCAN_SHARE = 0.002
MOST_WATCHED = 500
# Large values are verified in slices, while nothing else is to be done: at most a quarter of the time.
VERIFY_BYTES = 8 << 20
VERIFY_SHARE = 0.25
# While a visitor reads such values, verifying waits: it goes on this many seconds after the last one was read.
VERIFY_QUIET_SECONDS = 0.25


class RunFollower:
    """Finds and reads the runs below directories, or those of sources that were already discovered.

    `entries`, `found`, `rows` and `base_problems` are replaced, never changed, so any thread may read them. missing is whether
    the last scan did not find one of the directories.
    """

    def __init__(
        self, bases: Sequence[str | os.PathLike[str]], sources: Sequence[Source], interval: float, index_directory: str | None,
        *, names: Mapping[str, str] | None = None, stay_inside: bool = False, stored: ByteStore | None = None,
    ) -> None:
        self.interval = interval
        self.entries: dict[str, RunEntry] = {}
        self.found: dict[str, Source] = {}
        self.base_problems: tuple[tuple[str, Problem], ...] = ()
        self.failed = ""
        self.missing = False
        alone = [os.fspath(base) for base in bases if opens_alone(os.fspath(base))]
        folders = [base for base in bases if os.fspath(base) not in alone]
        self._names = {os.path.abspath(base): name for base, name in (names or {}).items() if name}
        self._scanners = [Scanner(base, stay_inside=stay_inside, share=SCAN_SHARE) for base in folders]
        self._sources = [*sources, *map(source_of, alone)]
        self._scanned: list[list[Source]] = []
        self._cache = PayloadCache(stored=stored)
        self._keeper = RunKeeper(index_directory, self._cache, self._woken)
        self._priority: tuple[str, ...] = ()
        self._list = RunList()
        self._version = 0
        self._read_at: float | None = None
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._scanned_at = float("-inf")
        self._begun_at = time.monotonic()
        self._asked_at = float("-inf")
        self._value_at = float("-inf")
        self._others_turn = False
        # Keys of entries that may be due, in the order to read them; each is checked when its turn comes.
        self._queue: deque[str] = deque()
        self._wanted: deque[str] = deque()
        self._wanted_for: tuple[str, ...] = ()
        self._long: dict[str, None] = {}
        self._undecided: set[str] = set()
        self._verifying: dict[str, None] = {}
        self._recounted: deque[str] = deque()  # appended to by other threads
        self._publish_at = 0.0
        self._scan_now = False
        self._stopping = False
        self._ready = threading.Event()
        self._when_read: deque[Callable[[], None]] = deque()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start to scan and read in the background."""
        if self._thread is None:
            self._begun_at = time.monotonic()
            self._thread = threading.Thread(target=self._work, name="mindscope-store", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop reading once the current slice is read; `join` waits for it."""
        self._stopping = True
        self._wake.set()

    def join(self) -> None:
        """Wait until the index holds everything read."""
        if self._thread is not None:
            self._thread.join(timeout=10)

    def wait(self, seconds: float) -> bool:
        """Wait until every run of the first scan has been read; return whether it has."""
        return self._ready.wait(seconds)

    def when_read(self, call: Callable[[], None]) -> None:
        """Call a function once, in the thread that reads, as soon as every run of the first scan has been read."""
        self._when_read.append(call)
        self._wake.set()

    def snapshot(self) -> tuple[tuple[RunRow, ...], int, float | None]:
        """Return the rows, their version and the time of the last scan, consistent with each other."""
        with self._lock:
            return self._list.rows, self._version, self._read_at

    def changes(self, since: str) -> RunChanges:
        """Return what has changed in the list of runs since a mark (`layouts.runs.source.RunSource.changes`)."""
        with self._lock:
            return self._list.changes(since)

    @property
    def colours(self) -> Colours:
        """The colours of all runs."""
        return self._list.colours

    def paint(self, by_hand: Mapping[str, str]) -> None:
        """Replace the colours set by hand: key of a run, job or rank -> #rrggbb."""
        with self._lock:
            self._list.paint(by_hand)

    @property
    def rows(self) -> tuple[RunRow, ...]:
        """The rows, newest first."""
        return self._list.rows

    def age(self) -> float:
        """Return the seconds since the last scan finished, or since the start if none has."""
        return time.monotonic() - max(self._scanned_at, self._begun_at)

    def asked(self) -> None:
        """Note that a page is open, so the next scan comes earlier."""
        self._asked_at = time.monotonic()

    def want(self, runs: Sequence[str]) -> None:
        """Read these runs before all others."""
        if tuple(runs) != self._priority:
            self._priority = tuple(runs)
            self._wake.set()

    def refresh(self) -> None:
        """Scan the disk now."""
        self._scan_now = True
        self._wake.set()

    def recount(self, entry: RunEntry) -> None:
        """Update the row of a run if parsing has found new problems."""
        if entry.counts != entry.row.counts:
            entry.due = True
            self._recounted.append(entry.key)
            self._wake.set()

    def _woken(self, entry: RunEntry) -> None:
        """Look at a run again that was restored, by whichever thread wanted it, and is not as its row says."""
        entry.due = True
        self._recounted.append(entry.key)
        self._wake.set()

    def changed(self, entry: RunEntry) -> None:
        """Have the version of a run increase, of which something changed that is read elsewhere."""
        entry.dump_changes += 1
        entry.due = True
        self._recounted.append(entry.key)
        self._wake.set()

    def value_wanted(self) -> None:
        """Note that a large value is about to be read, which verifying others must not slow down."""
        self._value_at = time.monotonic()

    def checked(self, entry: RunEntry) -> None:
        """Note that large values of a run have been verified by reading them."""
        entry.count_verified()
        self._recounted.append(entry.key)

    def members(self, run: str | None) -> list[RunEntry]:
        """Return the entry of a run, the entries of the ranks of a job, or (None) all."""
        entries = self.entries
        if run is None:
            return list(entries.values())
        row = self._list.row(run)
        return [entries[key] for key in (row.members if row else (run,)) if key in entries]

    def real_paths(self) -> dict[str, str]:
        """Return the keys of jobs, runs and ranks -> their directories with links resolved."""
        jobs = {key: source.real_path for key, source in self.found.items()}
        return jobs | {key: entry.source.real_path for key, entry in self.entries.items()}

    @property
    def base(self) -> str:
        """The directories of the runs, joined into one text."""
        return printable(os.pathsep.join([scanner.base for scanner in self._scanners] or [s.path for s in self._sources]))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the directories, with which those of their runs begin; none if there is one directory."""
        return tuple(printable(self._named(scanner)) for scanner in self._scanners) if len(self._scanners) > 1 else ()

    def _named(self, scanner: Scanner) -> str:
        return self._names.get(scanner.base) or (os.path.basename(scanner.base) if len(self._scanners) > 1 else "")

    # The thread ----------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        self._keeper.open()
        while not self._stopping:
            try:
                self._turn()
            except Exception as error:  # this thread is the only one that reads runs: if it ended, every page would stand still
                log.exception("scanning the runs failed")
                self.failed = f"{type(error).__name__}: {error}"
                self._wake.wait(max(self.interval, 1.0))
        self._keeper.close()

    def _turn(self) -> None:
        """Scan the disk if a scan is due, then read one slice of one run; sleep if no run is due."""
        if self._scan_now or self._until_scan() <= 0:
            if self._scan_now:
                self._scan_now = False
                for scanner in self._scanners:
                    scanner.forget()
            self._scan()
            self._scanned_at = time.monotonic()
        self.failed = ""
        entry = self._next_due()
        if entry is not None:
            self._try(entry)
            return
        if self._list.changed:
            self._publish()
        self._ready.set()
        while self._when_read:
            self._when_read.popleft()()
        pause = self._until_scan()
        unverified = self._next_unverified()
        if unverified is not None:
            in_use = self._value_at + VERIFY_QUIET_SECONDS - time.monotonic()
            pause = min(pause, in_use if in_use > 0 else self._verify(unverified))
        else:
            self._keeper.save_all(force=False)
        self._wake.wait(None if pause == float("inf") else max(0.0, pause))
        self._wake.clear()

    def _next_unverified(self) -> RunEntry | None:
        wanted = (key for key in self._priority if key in self._verifying) if self._verifying else ()
        key = next(iter(wanted), None) or next(iter(self._verifying), None)
        return None if key is None else self.entries[key]

    def _verify(self, entry: RunEntry) -> float:
        """Check the CRC of some large values of a run; return for how many seconds to pause."""
        begin = time.monotonic()
        try:
            entry.verifying = entry.run.verify(limit=VERIFY_BYTES)
        except Exception as error:  # otherwise a bug that one file triggers would stop the verification of all runs
            log.exception("verifying %s failed", entry.key)
            entry.failure, entry.verifying = _failed(entry, "Verifying", error), False
        entry.count_verified()
        if not entry.verifying:
            del self._verifying[entry.key]
            self._note_undecided(entry)
        if entry.counts != entry.row.counts:
            entry.row = _row(entry)
            self._publish_soon(entry)
        self._keeper.save(entry, force=not entry.verifying)
        return (time.monotonic() - begin) * (1 / VERIFY_SHARE - 1)

    def _until_scan(self) -> float:
        """Return the seconds until the next scan is due; infinite if the disk is to be scanned only once."""
        if not self.interval and self._scanned_at > float("-inf"):
            return float("inf")
        now = time.monotonic()
        return self._scanned_at + seconds_between(self.interval, now - self._asked_at) - now

    def _scan(self) -> None:
        scanned: list[tuple[str, list[Source]]] = []
        problems: list[tuple[str, Problem]] = []
        entries = self.entries
        watched = [entries[key].source.path for key in self._priority[:MOST_WATCHED] if key in entries]
        for scanner in self._scanners:
            scanner.watched = watched
            try:
                name = self._named(scanner)
                scanned.append((f"{name}/" if name else "", scanner.scan()))
            except SourceError as error:
                problems.append(("", Problem(scanner.base, 0, 0, "unreadable", str(error))))
        sources = [_same_or(source, rescan(source)) for source in self._sources]
        if not all(map(operator.is_, sources, self._sources)):
            self._sources = sources
        scanned.append(("", self._sources))
        lists = [runs for _, runs in scanned]
        if len(lists) == len(self._scanned) and all(map(operator.is_, lists, self._scanned)):
            found = self.found
        else:
            found = unique((prefix + source.name, source) for prefix, runs in scanned for source in runs)
        self._scanned = lists
        self._take(found, tuple(problems))

    def _take(self, found: dict[str, Source], problems: tuple[tuple[str, Problem], ...]) -> None:
        """Update the entries from a scan: add new ones, drop those that are gone, mark changed ones as due."""
        if found is not self.found:
            self._take_changed(found)
        for key in self._undecided:
            self._decide(self.entries[key])
        self.missing = bool(problems)  # `Scanner.scan` fails for this reason only
        self.base_problems, before = problems, self.base_problems
        if problems != before:
            self._version += 1
        self._read_at = time.time()
        if time.monotonic() >= self._publish_at:  # later otherwise, as after reading a run
            self._publish()

    def _take_changed(self, found: dict[str, Source]) -> None:
        entries: dict[str, RunEntry] = {}
        due: list[str] = []
        for name, source in found.items():
            known = self._list.members(name) if self.found.get(name) is source else ()
            if known:
                entries.update((key, self.entries[key]) for key in known)
                continue
            members = leaves(name, source)
            for key, leaf in members:
                entry = self.entries.get(key)
                if entry is None or entry.source.path != leaf.path:
                    entry = RunEntry(key, name, leaf, self._cache, self._keeper.asleep(key, leaf))
                else:
                    entry.job = name
                    entry.take(leaf)
                entries[key] = entry
                if entry.due and not entry.behind:
                    due.append(key)
            self._list.take(name, source, tuple(key for key, _ in members))
        self._list.keep(found)
        self.found = found
        for gone in [key for key, entry in self.entries.items() if entries.get(key) is not entry]:
            for keys in (self._long, self._verifying):
                keys.pop(gone, None)
            self._keeper.forget(gone)
            self._undecided.discard(gone)
        self.entries = entries
        self._queue.extendleft(reversed(due))
        self._wanted_for = ()

    def _note_undecided(self, entry: RunEntry) -> None:
        (self._undecided.add if entry.undecided() else self._undecided.discard)(entry.key)

    def _decide(self, entry: RunEntry) -> None:
        if not entry.due:
            entry.decide()
            if entry.due:
                self._enqueue(entry.key)

    def _enqueue(self, key: str) -> None:
        self._queue.append(key)
        self._wanted_for = ()

    def _next_due(self) -> RunEntry | None:
        """Return the run to read next: those on screen first, but a run of several slices takes turns with the others."""
        while self._recounted:
            key = self._recounted.popleft()
            if key in self.entries:
                self._keeper.later(self.entries[key])
                self._enqueue(key)
        if self._priority is not self._wanted_for:
            self._wanted_for = self._priority
            self._wanted = deque(self._priority)
        fresh = self._first_fresh(self._wanted)
        if fresh is not None:
            return fresh
        other = self._first_fresh(self._queue)
        if not self._long:
            return other
        long = self.entries[next((key for key in self._priority if key in self._long), next(iter(self._long)))]
        self._others_turn = not self._others_turn
        return (other or long) if self._others_turn else long

    def _first_fresh(self, queue: deque[str]) -> RunEntry | None:
        """Return the first run of a queue that is due and has no slice read yet; drop the others before it."""
        while queue:
            entry = self.entries.get(queue[0])
            if entry is not None and entry.due and not entry.behind:
                return entry
            queue.popleft()
        return None

    def _try(self, entry: RunEntry) -> None:
        try:
            self._read(entry)
            entry.failure = ()
        except Exception as error:  # otherwise a bug that one file triggers would keep the runs after it from being read
            log.exception("reading %s failed", entry.key)
            entry.failure = _failed(entry, "Reading", error)
            entry.due, entry.loaded = False, True
            self._long.pop(entry.key, None)
            self._undecided.add(entry.key)
            entry.row = replace(entry.row, state="unreadable", problems=entry.counts[0], notes=entry.counts[1])
            self._publish_soon(entry)

    def _read(self, entry: RunEntry) -> None:
        """Read one slice of one run, after restoring it from the index."""
        self._keeper.restore(entry)
        changed = entry.run.refresh(entry.source, limit=SLICE_BYTES)
        entry.due = entry.run.behind
        if entry.due:
            self._long[entry.key] = None
        else:
            self._long.pop(entry.key, None)
        first = not entry.loaded and not entry.due
        entry.loaded = entry.loaded or not entry.due
        elsewhere = entry.run.version + entry.dump_changes != entry.row.version
        if changed or elsewhere or first or not entry.loaded or entry.counts != entry.row.counts:
            entry.row = _row(entry)
            entry.count_verified()
            self._publish_soon(entry)
        entry.verifying = entry.verified[0] < entry.verified[1]
        if entry.verifying:
            self._verifying[entry.key] = None
        else:
            self._verifying.pop(entry.key, None)
        self._note_undecided(entry)
        if not entry.due:
            self._keeper.save(entry, force=entry.indexed_at == 0.0)

    def _publish_soon(self, entry: RunEntry) -> None:
        """Publish the row of a run soon: reading a thousand small runs must not publish a thousand times."""
        self._list.change(entry.job)
        if time.monotonic() >= self._publish_at:
            self._publish()

    def _publish(self) -> None:
        """Replace the rows that changed; increase the version if any did."""
        begun = time.monotonic()
        rows = self._list.rebuilt(self.entries, time.time())
        with self._lock:
            if rows is not None:
                self._list.show(rows)
                self._version += 1
        cost = time.monotonic() - begun
        self._publish_at = begun + max(PUBLISH_SECONDS, cost / PUBLISH_SHARE)


def _row(entry: RunEntry) -> RunRow:
    row = run_row(entry.key, entry.run, entry.source, entry.counts, loaded=entry.loaded)
    return replace(row, version=row.version + entry.dump_changes) if entry.dump_changes else row


def _failed(entry: RunEntry, what: str, error: Exception) -> tuple[Problem, ...]:
    """Return the problem of a run that triggers a bug."""
    text = f"{what} stopped at an internal error ({type(error).__name__}: {error}); the log has the details."
    return (Problem(entry.source.path, 0, 0, "unreadable", text),)


def seconds_between(interval: float, asked: float) -> float:
    """Return the seconds between two scans; asked is the number of seconds since a page last asked for the status.

    If no page is open: the interval. Otherwise half of it, because pages poll as well and new data is to be on screen within
    one interval.
    """
    return interval / 2 if asked <= 2 * interval else interval


def _same_or(before: Source, now: Source) -> Source:
    """Return the run as it was if it is unchanged: the same object."""
    return before if before == now else now
