"""Finds the runs below a base again and again, each time at the cost of what changed."""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from operator import itemgetter

from parsers.ages import age_of
from parsers.discovery.joining import (
    CHECKPOINT,
    GRAPH_PARTS,
    job_of,
    join_checkpoints,
    join_graphs,
    join_profiles,
    join_ranks,
)
from parsers.discovery.listing import (
    KERNEL,
    PLAN_DIRECTORY,
    Directory,
    DirectoryListing,
    child,
    databases,
    is_below,
    is_mlflow,
    is_run,
    leaves,
    list_directory,
    measured,
    source_at,
)
from parsers.errors import SourceError
from parsers.mlflow.database import sources_in, state_of
from parsers.model import Source

# A run that has not changed for this long may be looked at in turn with others; a scan looks at this many of them at least.
QUIET_SECONDS = 120.0
LEAST_QUIET = 256
# The files of a profile are looked at for this share of the time at most, if that takes longer than LONG_SECONDS: the profiles
# of 10,000 ranks take a second.
PROFILE_SHARE = 0.1
LONG_SECONDS = 0.05


@dataclass(slots=True)
class _Known:
    """A directory as last looked at.

    identity is (device, inode), name that of a run in it, unique among all; source is this run (None: no run) before runs are
    joined, rank its place in the list of runs. changed_at is the monotonic time at which a change was last seen, -inf for none,
    measure_at that from which the files of its profiles are looked at again.
    """

    place: Directory
    identity: tuple[int, int]
    listing: DirectoryListing
    name: str
    source: Source | None = None
    rank: tuple[float, str] = (0.0, "")
    changed_at: float = float("-inf")
    measure_at: float = float("-inf")

    def quiet(self, now: float, monotonic: float) -> bool:
        """Return whether the directory may be looked at in turn: nothing in it changed lately, and it is no group of runs."""
        if not self.listing.settled or len(self.listing.directories) + len(self.listing.links) > 1:
            return False
        if monotonic - self.changed_at < QUIET_SECONDS or age_of(self.listing.mtime_ns / 1e9, now) < QUIET_SECONDS:
            return False
        return self.source is None or age_of(-self.rank[0], now) >= QUIET_SECONDS


@dataclass(slots=True)
class _Database:
    """A database of runs, what it was when they were listed, and they."""

    name: str
    state: tuple[object, ...] = ()
    sources: list[Source] = field(default_factory=list)


class Scanner:
    """Finds the runs below a base repeatedly; a later scan lists only directories whose mtime changed.

    A run that is the same as in the last scan is the same object. With a share, a scan looks at the runs that changed in the
    last QUIET_SECONDS, at groups of runs and at those in `watched`; at the other directories it looks in turn: for this share
    of the time since the last scan, and at least at LEAST_QUIET of them.
    """

    def __init__(self, base: str | os.PathLike[str], *, stay_inside: bool = False, share: float | None = None) -> None:
        """stay_inside: report links that lead out of the base instead of following them. See `files.stay_below`, too."""
        self.base = os.path.abspath(os.fspath(base))
        self.watched: Collection[str] = ()
        """Paths of directories that every scan looks at, such as those of runs on screen."""
        self._inside = os.path.realpath(self.base) if stay_inside else ""
        self._share = share
        self._known: dict[str, _Known] = {}
        self._busy: dict[str, _Known] = {}
        self._quiet: deque[_Known] = deque()
        self._plain: list[_Known] = []
        self._special: list[_Known] = []
        self._joined: dict[str, Source] = {}
        self._parted_at = self._ended_at = float("-inf")
        self._runs: list[Source] = []
        self._databases: dict[str, _Database] = {}

    def forget(self) -> None:
        """Let the next scan look at everything."""
        self._ended_at = float("-inf")
        for known in self._known.values():
            known.measure_at = float("-inf")

    def scan(self) -> list[Source]:
        """All runs as they are now, newest first; the list of the last scan if nothing changed, so never write into it."""
        begun = time.monotonic()
        if not os.path.isdir(self.base):
            self.forget()
            raise SourceError(f"{self.base}: expected a directory of runs, found {_what_is(self.base)}")
        ended, self._ended_at = self._ended_at, float("-inf")  # a scan that fails half-way is followed by a complete one
        if self._share is None or ended == float("-inf"):
            stale, changed = set(self._known), False
        else:
            stale, changed = self._look(begun, self._share * (begun - ended))
        if stale or not self._known:
            self._walk(stale, begun)
            self._find_special()
            self._find_databases()
            changed = True
        changed = self._look_at_databases() or changed
        if changed:
            self._collect()
        if self._share is not None and (stale or begun - self._parted_at >= QUIET_SECONDS / 4):
            self._part(begun)
        self._ended_at = time.monotonic()
        return self._runs

    def _look(self, now: float, seconds: float) -> tuple[set[str], bool]:
        """Look at the directories that are due: (those below which the tree changed, whether any run changed).

        seconds is how long to look at quiet ones, LEAST_QUIET aside.
        """
        stale: set[str] = set()
        changed = False
        end = now + seconds
        watched = [self._known[path] for path in self.watched if path in self._known and path not in self._busy]
        for known in (*self._busy.values(), *watched):
            changed = self._look_at(known, stale, now) or changed
        for number in range(len(self._quiet)):
            if number >= LEAST_QUIET and time.monotonic() >= end:
                break
            known = self._quiet.popleft()
            if self._look_at(known, stale, now):
                changed = True
                self._busy[known.place.path] = known
            else:
                self._quiet.append(known)
        return stale, changed

    def _look_at(self, known: _Known, stale: set[str], now: float) -> bool:
        """Look at one directory; return whether its run changed. It becomes stale if the tree below it may have changed."""
        path, before = known.place.path, known.listing
        try:
            status = os.stat(path)
        except OSError:
            stale.add(path)
            return False
        if (status.st_dev, status.st_ino) != known.identity:
            stale.add(path)
            return False
        if not before.settled or status.st_mtime_ns != before.mtime_ns:
            listing = list_directory(path, status.st_mtime_ns)
            tree = (listing.directories, listing.links, listing.dump, is_run(listing), databases(listing))
            if before.outside or tree != (before.directories, before.links, before.dump, is_run(before), databases(before)):
                stale.add(path)
                return False
            known.listing = listing
        return self._update(known, now)

    def _update(self, known: _Known, now: float) -> bool:
        """Set the run of a directory from its listing and the state of its files; return whether that changed it."""
        if known.source is not None and known.source.name == known.name and _is_same(known.source, known.listing):
            return False
        found = self._measured(known, source_at(known.place, known.listing, self._inside)) if is_run(known.listing) else None
        if found is not None and found.name != known.name:
            found = replace(found, name=known.name)
        if found == known.source:
            return False
        if known.source is not None:
            known.changed_at = now
        known.source = found
        known.rank = _rank(found) if found is not None else (0.0, "")
        return True

    def _measured(self, known: _Known, found: Source) -> Source:
        """Set the size and time of the profiles of a run: those known, if looking at many files again is not due yet."""
        before, begun = known.source, time.monotonic()
        if before is not None and begun < known.measure_at and found.profile_dirs == before.profile_dirs:
            return replace(found, profile_size=before.profile_size, profile_updated=before.profile_updated)
        made = measured(found)
        taken = time.monotonic() - begun
        known.measure_at = begun + taken / PROFILE_SHARE if self._share is not None and taken > LONG_SECONDS else begun
        return made

    def _walk(self, stale: set[str], now: float) -> None:
        """Follow the tree of directories: those that are not stale are what they were."""
        known: dict[str, _Known] = {}
        names: dict[str, int] = {}
        fresh: list[_Known] = []
        visited: set[tuple[int, int]] = set()
        pending = [Directory(self.base, os.path.realpath(self.base), "")]
        links: list[Directory] = []
        while pending or links:
            place = pending.pop() if pending else links.pop(0)
            one = self._known.get(place.path)
            visit = one is None or place.path in stale or one.place != place
            if visit:
                one = self._visit(place, one)
            if one is None or one.identity in visited:
                continue
            visited.add(one.identity)
            known[place.path] = one
            listing = one.listing
            name = place.name or "."
            if is_run(listing):
                number = names[name] = names.get(name, 0) + 1
                # a directory name that is not UTF-8 may be escaped to the name of another one
                name = f"{name}~{number}" if number > 1 else name
            if visit or one.name != name:
                one.name = name
                fresh.append(one)
            if listing.dump == KERNEL or listing.outside:
                continue
            pending.extend(child(place, name, linked=False) for name in reversed(listing.directories))
            links.extend(child(place, name, linked=True) for name in listing.links)
        for one in fresh:
            self._update(one, now)
        self._known = known

    def _visit(self, place: Directory, before: _Known | None) -> _Known | None:
        """Return a directory as it is now; None if it is gone since its parent was listed, or a link to nothing."""
        try:
            status = os.stat(place.path)
        except OSError:
            return None
        identity = (status.st_dev, status.st_ino)
        if self._inside and not is_below(place.real_path, self._inside):
            if not os.path.isdir(place.path):
                return None
            listing = DirectoryListing(status.st_mtime_ns, True, (), (), (), (), False, "", outside=place.real_path)
        elif before is None or not before.listing.settled or before.listing.mtime_ns != status.st_mtime_ns:
            listing = list_directory(place.path, status.st_mtime_ns)
        else:
            listing = before.listing
        if before is None or before.place != place or before.identity != identity:
            return _Known(place, identity, listing, place.name)
        before.listing = listing
        return before

    def _find_special(self) -> None:
        """Separate the runs that may be joined with others, judged by their names, from those that stay what they are."""
        runs = {known.name: known for known in self._known.values() if known.source is not None}
        special: dict[str, None] = {}
        for name, known in runs.items():
            above, _, last = name.rpartition("/")
            partners: list[str] = []
            if last in GRAPH_PARTS or CHECKPOINT.fullmatch(last):
                parent = self._known.get(os.path.dirname(known.place.path))
                partners.append(parent.name if parent is not None else "")
            if last == "profile":
                partners.append(f"{above}/summary" if above else "summary")
            job = job_of(name)
            if job is not None:
                partners.append(job[0])
                if job[0].rpartition("/")[2] == "profile":
                    partners.append(job[0][: -len("profile")] + "summary")
            if partners:
                special |= dict.fromkeys((name, *(partner for partner in partners if partner in runs)))
        self._special = [known for name, known in runs.items() if name in special]
        self._plain = [known for name, known in runs.items() if name not in special]

    def _find_databases(self) -> None:
        """Note the databases of runs."""
        found: dict[str, _Database] = {}
        for known in self._known.values():
            for name in () if known.listing.outside else databases(known.listing):
                path = os.path.join(known.place.path, name)
                if not leaves(path, self._inside):
                    shown = f"{known.place.name}/{name}" if known.place.name else name
                    found[path] = self._databases.get(path) or _Database(shown)
        self._databases = found

    def _look_at_databases(self) -> bool:
        """List the runs of the databases that changed; return whether there is any."""
        changed = False
        for path, one in self._databases.items():
            state = state_of(path)
            if state != one.state:
                sources = sources_in(path, one.name)
                if sources and not sources[0].files and one.sources and one.sources[0].files:
                    continue  # it is being written: what it held is shown until it can be read
                one.state, one.sources, changed = state, sources, True
        return changed

    def _collect(self) -> None:
        """Join the runs that belong together and sort all."""
        special = [known.source for known in self._special if known.source is not None]
        joined, before = join_profiles(join_ranks(join_checkpoints(join_graphs(special)))), self._joined
        self._joined = {source.name: _same_or(before.get(source.name), source) for source in joined}
        ranked = [(known.rank, known.source) for known in self._plain if known.source is not None]
        ranked += [(_rank(source), source) for source in self._joined.values()]
        ranked += [(_rank(source), source) for one in self._databases.values() for source in one.sources]
        ranked.sort(key=itemgetter(0))
        self._runs = [source for _, source in ranked]

    def _part(self, monotonic: float) -> None:
        """Part the directories that every scan looks at from the quiet ones, which keep their turns."""
        now, self._parted_at = time.time(), monotonic
        quiet = {path: known for path, known in self._known.items() if known.quiet(now, monotonic)}
        self._busy = {path: known for path, known in self._known.items() if path not in quiet}
        waiting = [path for path in (known.place.path for known in self._quiet) if path in quiet]
        self._quiet = deque([*(quiet.pop(path) for path in waiting), *quiet.values()])


def _rank(source: Source) -> tuple[float, str]:
    """Return what runs are sorted by: the newest first, then by name."""
    return -source.updated, source.name


def _same_or(before: Source | None, now: Source) -> Source:
    """Return the run as it was if it is unchanged: the same object."""
    return before if before is not None and before == now else now


def _is_same(source: Source, listing: DirectoryListing) -> bool:
    """Return whether a run has nothing but files, and these are unchanged by name and stat."""
    if source.problems or source.profile_dirs or source.dump_dirs or source.plan or len(source.files) != len(listing.files):
        return False
    if listing.profiles or listing.profiled or listing.dump or PLAN_DIRECTORY in listing.directories:
        return False
    if listing.error or listing.outside or is_mlflow(listing):
        return False
    try:
        for file in source.files:
            status = os.stat(file.path)
            now = (status.st_size, status.st_mtime, status.st_dev, status.st_ino)
            if now != (file.size, file.mtime, file.device, file.inode):
                return False
    except OSError:
        return False
    return True


def _what_is(path: str) -> str:
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        return error.strerror or "nothing"
    return "a file" if stat.S_ISREG(mode) else "no directory"
