"""The runs of a server: found, read in the background, followed while they grow, and given to the pages.

One thread looks at the disk and reads; pages only ever take what is in memory. Runs are read in slices, what is on screen
first, then the newest, so a run of many gigabytes never keeps another one waiting. Between looks the thread sleeps.
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.store.forests import Forests
from app.store.index import Index
from app.store.insights import Insights
from app.store.lineage import Lineage
from app.store.matching import Captures, matching
from app.store.notes import Notes
from app.store.profiles import ProfileFrames, profile_of, row_of
from app.store.run_rows import dated_row, job_row, kinds_of, run_row, unread_row
from layouts.notes import Note, Notebook, NoteChange, NotKept, View
from layouts.sources import Growth, ProfileFrame, ProfileRow, RunRow, SourceStatus
from parsers import (
    DatasetGraph,
    Graph,
    GraphLocation,
    HistogramValue,
    Insight,
    LandscapePlan,
    LineageRow,
    PayloadCache,
    PayloadError,
    PayloadSeries,
    Problem,
    Profile,
    Series,
    Setting,
    Source,
    SourceError,
    Value,
    landscape_plan,
)  # fmt: skip
from parsers.discovery import Scanner, rescan
from parsers.names import printable
from parsers.runs import Run
from parsers.snapshot import key_of

log = logging.getLogger(__name__)

# A slice of a run is read in well under a tenth of a second.
SLICE_BYTES = 32 << 20
# Rows are made anew at most this often while runs are being read.
PUBLISH_SECONDS = 0.2
# What has been read is written to the index when a run is up to date, at most this often while it grows.
INDEX_SECONDS = 60.0


class _Entry:
    """One leaf run of the store."""

    def __init__(self, key: str, source: Source, cache: PayloadCache) -> None:
        self.key = key
        self.run = Run(source, cache)
        self.source = source
        self.row = unread_row(key, source)
        self.unverified = 0
        self.failure: tuple[Problem, ...] = ()
        self.loaded = False
        self.due = True
        self.restored = False
        self.indexed_version = 0
        self.indexed_at = 0.0

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Damage in the files of the run, and what kept it from being read on."""
        return self.run.problems + self.failure

    def take(self, source: Source) -> None:
        """The run as the newest scan found it; due for reading if any of its files differs."""
        if _looks(source) != _looks(self.source) or any(p.kind == "unreadable" for p in self.run.problems):
            self.due = True
        if self.loaded and source.plan != self.source.plan:
            self.row = replace(self.row, tags=kinds_of(self.run, source))
        self.source = source


def _looks(source: Source) -> tuple[object, ...]:
    """What of a run is looked at on disk."""
    return source.files, source.profile_dirs, source.profile_size, source.profile_updated


class Store:
    """Satisfies layouts.page.FrameSource over directories on disk, or over sources somebody discovered."""

    def __init__(
        self,
        bases: Sequence[str | os.PathLike[str]] = (),
        *,
        sources: Sequence[Source] = (),
        interval: float = 3.0,
        index_directory: str | None = None,
        notes_directory: str | None = None,
    ) -> None:
        self._scanners = [Scanner(base) for base in bases]
        self._given = tuple(sources)
        self._interval = interval
        self._index_directory = index_directory
        self._index: Index | None = None
        self._notes = None if notes_directory is None else Notes(notes_directory)
        self._entries: dict[str, _Entry] = {}
        self._cache = PayloadCache()
        self._measuring = threading.Lock()
        self._lineage = Lineage()
        self._insights = Insights()
        self._captures = Captures()
        self._profiles = ProfileFrames(f"{index_directory}-profiles" if index_directory else None)
        self._forests = Forests()
        self._found: dict[str, Source] = {}
        self._rows: tuple[RunRow, ...] = ()
        self._base_problems: tuple[tuple[str, Problem], ...] = ()
        self._wanted: tuple[str, ...] = ()
        self._version = 0
        self._read_at: float | None = None
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._failed = ""
        self._looked = float("-inf")
        self._asked = float("-inf")
        self._unpublished = False
        self._published_at = 0.0
        self._look_now = False
        self._stopping = False
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None

    # Life ----------------------------------------------------------------------------------------------------------

    def start(self) -> Store:
        """Begin to look and read in the background."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="mindscope-store", daemon=True)
            self._thread.start()
        return self

    def stop(self) -> None:
        """Stop reading, keep in the index what has been read, and wait for both."""
        self._stopping = True
        self._wake.set()
        self._profiles.stop()
        self._forests.stop()
        if self._thread is not None:
            self._thread.join(timeout=10)

    def wait(self, seconds: float) -> bool:
        """Wait until every run found at the first look has been read; whether that is so."""
        return self._ready.wait(seconds)

    # FrameSource ---------------------------------------------------------------------------------------------------

    def status(self) -> SourceStatus:
        """State of the whole."""
        self._asked = time.monotonic()
        with self._lock:
            rows, version, read_at = self._rows, self._version, self._read_at
        problems = 0
        if self._notes is not None:
            self._notes.look()
            version, problems = version + self._notes.revision, len(self._notes.problems)
        return SourceStatus(
            base=self._base(),
            read_at=read_at,
            interval=self._interval,
            total=len(rows),
            loaded=sum(row.state not in ("waiting", "loading") for row in rows),
            problems=sum(row.problems for row in rows) + len(self._base_problems) + problems,
            version=version,
            failed=self._failed,
        )

    def runs(self) -> Sequence[RunRow]:
        """All runs, newest first."""
        return self._rows

    def member(self, run: str) -> RunRow | None:
        """One member run as a row of its own."""
        entry = self._entries.get(run)
        return dated_row(entry.row, entry.source, time.time()) if entry else None

    def tags(self, run: str, kind: str = "scalar") -> Sequence[str]:
        """Tags of one member run, in order of first appearance."""
        entry = self._entries.get(run)
        return entry.run.tags(kind) if entry else ()

    def series(self, run: str, tag: str) -> Series | None:
        """One scalar series of one member run, or None."""
        entry = self._entries.get(run)
        found = entry.run.series(tag) if entry else None
        return found if found is not None and len(found.step) else None

    def payload_series(self, run: str, kind: str, tag: str) -> PayloadSeries | None:
        """Steps, times and places of the large values of one tag of one member run, or None."""
        entry = self._entries.get(run)
        found = entry.run.payload_series(kind, tag) if entry else None
        return found if found is not None and len(found) else None

    def value(self, run: str, kind: str, tag: str, place: int) -> Value:
        """One large value of one member run; PayloadError where it cannot be shown."""
        entry = self._entries.get(run)
        if entry is None:
            raise PayloadError(f"wanted a run of this list, got {run}")
        try:
            return entry.run.value(kind, tag, place)
        finally:
            if entry.unverified:
                entry.unverified = entry.run.unverified  # the first look at a large value checks its record

    def distribution(self, run: str, tag: str, place: int, *, known: bool = False) -> HistogramValue | None:
        """How the values of one tensor of one member run are distributed; one tensor is read at a time."""
        entry = self._entries.get(run)
        if entry is None:
            raise PayloadError(f"wanted a run of this list, got {run}")
        if known:
            return entry.run.distribution(tag, place, known=True)
        with self._measuring:
            return entry.run.distribution(tag, place)

    def insights(self, run: str, tags: Sequence[str] | None = None, seconds: float = 0.1) -> tuple[Sequence[Insight], int]:
        """What deserves a look in scalars of one member run, and how many of them have not been looked at yet."""
        entry = self._entries.get(run)
        if entry is None:
            return (), 0
        found, left = self._insights.of(run, entry.run, entry.run.tags("scalar") if tags is None else tags, seconds)
        # What a training says of its result it writes at its end.
        if tags is None and not left and "loss" not in entry.run.settings:
            standing = self._insights.standing(entry.run, time.time())
            found += [standing] if standing is not None else []
        return found, left

    def settings(self, run: str) -> Mapping[str, Setting]:
        """What a member run says of itself."""
        entry = self._entries.get(run)
        return entry.run.settings if entry else {}

    def lineage(self) -> tuple[LineageRow, ...]:
        """What every member run that says anything of itself says."""
        with self._lock:
            rows, version = self._rows, self._version
        return self._lineage.rows(version, [(key, self._entries[key].run) for row in rows for key in row.members])

    def growth(self, rows: Sequence[LineageRow], target: str, act: str = "") -> Growth:
        """How far the forest over these rows has come."""
        return self._forests.growth(rows, target, act)

    def dataset_graph(self, run: str) -> DatasetGraph | None:
        """The data pipeline that fed a member run."""
        entry = self._entries.get(run)
        return entry.run.dataset_graph if entry else None

    def graphs(self, run: str) -> Sequence[GraphLocation]:
        """Where the computation graphs of one member run are."""
        entry = self._entries.get(run)
        return list(entry.run.graphs.locations.values()) if entry else ()

    def graph(self, run: str, name: str) -> Graph | None:
        """One graph of one member run, or None; PayloadError where its bytes cannot be had."""
        entry = self._entries.get(run)
        found = entry.run.graphs if entry else None
        if entry is None or found is None or name not in found:
            return None
        graph = found[name]
        self._told(entry)
        return graph

    def matching(self, pattern: str, names: Sequence[str]) -> Sequence[str]:
        """The names in which a regular expression occurs; PatternError for one that cannot be tried."""
        return matching(pattern, names)

    def captured(self, pattern: str, names: Sequence[str]) -> Sequence[str | None]:
        """What a regular expression finds in each name; PatternError for one that cannot be tried."""
        return self._captures(pattern, names)

    def landscape_plan(self, run: str) -> LandscapePlan | None:
        """What a member run's checkpoints allow to compute."""
        entry = self._entries.get(run)
        return landscape_plan(entry.source.path) if entry else None

    def profiles(self, run: str) -> Sequence[ProfileRow]:
        """The profiles of one member run by session and rank."""
        entry = self._entries.get(run)
        return [row_of(profile) for profile in entry.run.profile.values()] if entry else ()

    def profile_frame(self, run: str, session: str, rank: int, name: str, *, again: bool = False) -> ProfileFrame:
        """One frame of one profile, or how far it is."""
        entry, found = self._profile(run, session, rank)
        if entry is None or found is None:
            return ProfileFrame("missing")
        return self._profiles.frame(*found, name, again=again, told=lambda: self._told(entry))

    def cancel_profile(self, run: str, session: str, rank: int, name: str) -> None:
        """Read no further what has been begun."""
        _, found = self._profile(run, session, rank)
        if found is not None:
            self._profiles.cancel(found[0], name)

    def profile_notes(self, run: str, session: str, rank: int) -> Mapping[str, Any]:
        """What the small files of a profile tell."""
        _, found = self._profile(run, session, rank)
        return {**found[0].about, **found[0].step_points} if found is not None else {}

    def _profile(self, run: str, session: str, rank: int) -> tuple[_Entry | None, tuple[Profile, str] | None]:
        entry = self._entries.get(run)
        return entry, profile_of(entry.run.profile, session, rank) if entry else None

    def _told(self, entry: _Entry) -> None:
        """A profile or a graph was read: what was wrong in it is shown."""
        if len(entry.problems) != entry.row.problems:
            entry.due = True
            self._wake.set()

    def version(self, run: str) -> int:
        """A number that changes whenever the data of that member run changes."""
        entry = self._entries.get(run)
        return entry.run.version if entry else 0

    def problems(self, run: str | None = None) -> Sequence[tuple[str, Problem]]:
        """(run key, problem) of one run (a job: of its ranks) or of all."""
        found = [(entry.key, _shown(problem)) for entry in self._members(run) for problem in entry.problems]
        if run is not None:
            return found
        noted = self._notes.problems if self._notes is not None else ()
        return [*self._base_problems, *(("", _shown(problem)) for problem in noted), *found]

    def unverified(self, run: str | None = None) -> int:
        """Number of large values whose data CRC has not been checked yet."""
        return sum(entry.unverified for entry in self._members(run))

    def notebook(self) -> Notebook:
        """Remarks and tags of runs and the saved views of this base."""
        if self._notes is None:
            return Notebook()
        content, base = self._notes.look(), self._base()
        paths = self._real_paths() if content.notes else {}
        found = {key: content.notes.get(key_of(path)) for key, path in paths.items()}
        notes = {key: one.note for key, one in found.items() if one is not None}
        views = sorted((one.view for one in content.views.values() if one.base == base), key=lambda view: view.name.casefold())
        return Notebook(not self._notes.why_not, self._notes.why_not, notes, tuple(views))

    def annotate(self, run: str, change: NoteChange) -> Note:
        """Change remark and tags of a run, a job or a rank."""
        path = self._real_paths()[run]
        return self._kept().annotate(key_of(path), printable(path), change.applied)

    def save_view(self, name: str, place: str, *, instead: str | None = None) -> View:
        """Save a place of the application under a name."""
        return self._kept().save_view(self._base(), secrets.token_hex(8), name, place, instead=instead)

    def rename_view(self, key: str, name: str, was: str) -> View:
        """Rename the view of this key and version."""
        return self._kept().rename_view(self._base(), key, name, was)

    def delete_view(self, key: str, was: str) -> None:
        """Delete the view of this key and version."""
        self._kept().delete_view(self._base(), key, was)

    def want(self, runs: Sequence[str]) -> None:
        """These runs are on screen: read them before all others."""
        if tuple(runs) != self._wanted:
            self._wanted = tuple(runs)
            self._wake.set()

    def refresh(self) -> None:
        """Look at the disk now."""
        self._look_now = True
        self._wake.set()

    def _base(self) -> str:
        """The directories of the runs as one text."""
        return printable(os.pathsep.join([scanner.base for scanner in self._scanners] or [s.path for s in self._given]))

    def _kept(self) -> Notes:
        if self._notes is None:
            raise NotKept("there is no workspace to keep remarks, tags and views in")
        return self._notes

    def _real_paths(self) -> dict[str, str]:
        """Keys of jobs, runs and ranks -> their directories with links resolved."""
        jobs = {key: source.real_path for key, source in self._found.items()}
        return jobs | {key: entry.source.real_path for key, entry in self._entries.items()}

    def _members(self, run: str | None) -> list[_Entry]:
        entries = self._entries
        if run is None:
            return list(entries.values())
        row = next((row for row in self._rows if row.key == run), None)
        return [entries[key] for key in (row.members if row else (run,)) if key in entries]

    # The thread ----------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        self._open_index()
        while not self._stopping:
            try:
                self._turn()
            # Without this thread nothing is ever read again: a fault is logged, the header tells it, and it looks once more.
            except Exception as error:
                log.exception("looking at the runs failed")
                self._failed = f"{type(error).__name__}: {error}"
                self._wake.wait(max(self._interval, 1.0))
        self._keep_all(force=True)
        if self._index is not None:
            self._index.close()

    def _turn(self) -> None:
        """Look at the disk if it is time, then read one slice of one run; sleep where nothing is due."""
        if self._look_now or self._until_look() <= 0:
            self._look_now = False
            self._look()
            self._looked = time.monotonic()
        self._failed = ""
        entry = self._next_due()
        if entry is not None:
            self._try(entry)
            return
        if self._unpublished:
            self._publish()
        self._ready.set()
        self._keep_all(force=False)
        left = self._until_look()
        self._wake.wait(None if left == float("inf") else max(0.0, left))
        self._wake.clear()

    def _until_look(self) -> float:
        """Seconds until the next look at the disk is due; infinite where there is to be one look only."""
        if not self._interval and self._looked > float("-inf"):
            return float("inf")
        now = time.monotonic()
        return self._looked + seconds_between(self._interval, now - self._asked) - now

    def _open_index(self) -> None:
        if self._index_directory is None:
            return
        try:
            self._index = Index(self._index_directory)
        except OSError as error:
            log.warning("index: %s; going on without it", error)

    def _look(self) -> None:
        found: list[tuple[str, Source]] = []
        problems: list[tuple[str, Problem]] = []
        several = len(self._scanners) > 1
        for scanner in self._scanners:
            try:
                prefix = f"{os.path.basename(scanner.base)}/" if several else ""
                found += [(prefix + source.name, source) for source in scanner.scan()]
            except SourceError as error:
                problems.append(("", Problem(scanner.base, 0, 0, "unreadable", str(error))))
        found += [(source.name, rescan(source)) for source in self._given]
        self._take(_unique(found), tuple(problems))

    def _take(self, found: dict[str, Source], problems: tuple[tuple[str, Problem], ...]) -> None:
        """Match what was found with what is known: new entries, gone entries, changed files."""
        leaves = {key: leaf for name, source in found.items() for key, leaf in _leaves(name, source)}
        entries: dict[str, _Entry] = {}
        for key, source in leaves.items():
            entry = self._entries.get(key)
            if entry is None or entry.source.path != source.path:
                entry = _Entry(key, source, self._cache)
            else:
                entry.take(source)
            entries[key] = entry
        self._found = found
        self._entries = entries
        self._base_problems = problems
        self._read_at = time.time()
        self._publish()

    def _next_due(self) -> _Entry | None:
        entries = self._entries
        wanted = next((entries[key] for key in self._wanted if key in entries and entries[key].due), None)
        return wanted or next((entry for entry in entries.values() if entry.due), None)

    def _try(self, entry: _Entry) -> None:
        try:
            self._read(entry)
            entry.failure = ()
        # A fault of ours over one run is logged and becomes a problem of that run; all other runs are read on.
        except Exception as error:
            log.exception("reading %s failed", entry.key)
            text = f"Reading stopped at an error of this program ({type(error).__name__}: {error}); the log has more."
            entry.failure = (Problem(entry.source.path, 0, 0, "unreadable", text),)
            entry.due, entry.loaded = False, True
            entry.row = replace(entry.row, state="unreadable", problems=len(entry.problems))
            self._publish_soon()

    def _read(self, entry: _Entry) -> None:
        """Read one slice of one run, from the index first."""
        if self._index is not None and not entry.restored and not entry.loaded:
            entry.restored = True
            states = self._index.load(key_of(entry.source.real_path))
            if states:
                entry.run.restore(states)
                entry.indexed_version = entry.run.version
        changed = entry.run.refresh(entry.source, limit=SLICE_BYTES)
        entry.due = entry.run.behind
        first = not entry.loaded and not entry.due
        entry.loaded = entry.loaded or not entry.due
        if changed or first or not entry.loaded or len(entry.problems) != entry.row.problems:
            entry.row = run_row(entry.key, entry.run, entry.source, len(entry.problems), loaded=entry.loaded)
            entry.unverified = entry.run.unverified
            self._publish_soon()
        if not entry.due:
            self._keep(entry, force=entry.indexed_at == 0.0)

    def _keep_all(self, *, force: bool) -> None:
        for entry in self._entries.values():
            self._keep(entry, force=force)

    def _keep(self, entry: _Entry, *, force: bool) -> None:
        if self._index is None or not entry.loaded or entry.run.version == entry.indexed_version:
            return
        if force or time.monotonic() - entry.indexed_at >= INDEX_SECONDS:
            self._index.save(key_of(entry.source.real_path), list(entry.run.states.values()))
            entry.indexed_version, entry.indexed_at = entry.run.version, time.monotonic()

    def _publish_soon(self) -> None:
        """Publish, but not so often that a thousand small runs each cost a walk over all rows."""
        self._unpublished = True
        if time.monotonic() - self._published_at >= PUBLISH_SECONDS:
            self._publish()

    def _publish(self) -> None:
        """Make the rows anew, newest first; the version grows if any differs."""
        now = time.time()
        rows = [self._joined(name, source, now) for name, source in self._found.items()]
        rows.sort(key=lambda row: (-row.updated, row.key))
        self._unpublished = False
        self._published_at = time.monotonic()
        with self._lock:
            if tuple(rows) != self._rows or self._read_at is None:
                self._rows = tuple(rows)
                self._version += 1

    def _joined(self, name: str, source: Source, now: float) -> RunRow:
        rows = [self._entries[key].row for key, _ in _leaves(name, source)]
        row = rows[0] if len(rows) == 1 and not source.ranks else job_row(name, source, rows)
        return dated_row(row, source, now)


def seconds_between(interval: float, asked: float) -> float:
    """Seconds between two looks at the disk where the pages asked for the state of the whole so many seconds ago.

    Nobody's page: the interval. Else half of it, for a page asks every now and then itself, and what is new is to be on
    screen within one interval.
    """
    return interval / 2 if asked <= 2 * interval else interval


def _shown(problem: Problem) -> Problem:
    """The problem with a path that can be encoded."""
    return problem if problem.path.isascii() else replace(problem, path=printable(problem.path))


def _unique(found: Sequence[tuple[str, Source]]) -> dict[str, Source]:
    """Keys that no two sources share: a repeated name gets ~2, ~3 ... ."""
    unique: dict[str, Source] = {}
    for name, source in found:
        key, number = name, 1
        while key in unique:
            number += 1
            key = f"{name}~{number}"
        unique[key] = source
    return unique


def _leaves(name: str, source: Source) -> list[tuple[str, Source]]:
    """(key, source) of the runs of a row: itself, or its ranks, whose names begin with the row's."""
    own = [(name, replace(source, ranks=()))] if source.files or not source.ranks else []
    prefix = name[: len(name) - len(source.name)] if name.endswith(source.name) else ""
    return own + [(prefix + rank.name, rank) for rank in source.ranks]
