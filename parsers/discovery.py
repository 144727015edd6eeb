"""Finds the runs below a base directory, from names and stat alone: no file is opened.

A directory is a run if it directly holds a file of a kind in `parsers.registry`:

* ``summary.<seconds>`` anywhere in the name: MindSpore events, or those kinds if it ends in ``_lineage`` or ``_explain``;
* ``tfevents`` in the name: TensorBoard events;
* ``*.pb`` except ``memory_usage_<n>.pb``, ``*.ir``, ``*.dot``, ``*.onnx``, ``trace_code_graph_<n>``: a graph; those in
  ``actor_set`` and ``verbose_ir_files`` belong to the run of the parent directory;

or if it contains a profiler directory (``profiler``, ``*_ascend_ms``, ``*_ascend_pt``, ``cluster_analysis_output``, or
``profiler_*`` with profiler output), or if it holds profiler files itself, or if it is a dump (`parsers.dumps.places`): of a
rank (``rank_<n>/.dump_metadata``), of an Ascend device, or of msprobe (``step<n>/<rank>/dump.json``).
Runs below ``rank_<n>`` or ``rank<n>`` are ranks of one job; a directory
``profile`` beside ``summary`` (MindFormers) belongs to the run in ``summary``.

``config.json``, ``hparams.json``, ``*.yaml`` and ``*.yml`` in the directory of a run are its settings; they make no run.

Symbolic links are followed, also out of the base. A directory is visited once, by device and inode: real directories
first, links after them, so cycles end and no run is listed twice. A scanner that is to stay inside the base shows a link that
leads out of it as a problem and reads nothing there. A broken link, or one to a directory that may not be
entered, is skipped unless its name is that of an event file.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections import Counter, deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from parsers.checkpoints import PLACE
from parsers.dumps.places import METADATA, STEP, is_kernel_dump, is_msprobe, last_change, named_like_kernel_dump
from parsers.errors import SourceError
from parsers.model import Problem, Source, SourceFile
from parsers.names import CLUSTER_OUTPUT, PROFILE_NAME, printable
from parsers.profiler.registry import marks_profile
from parsers.profiler.sessions import extent, files_below
from parsers.profiler.trace.files import holds_trace
from parsers.registry import KINDS, READERS, kind_of

GRAPH_PARTS = ("actor_set", "verbose_ir_files")
RANK_NAME = re.compile(r"rank_?(\d+)")
PROFILE_PARTS = ("ASCEND_PROFILER_OUTPUT", "FRAMEWORK")

_MAKE_RUNS = {kind.name for kind in KINDS if kind.makes_run}
_MOST = {kind.name: kind.most for kind in KINDS if kind.most}
_LEAST_MOST = min(_MOST.values())
_PLAN_DIRECTORY = os.path.dirname(PLACE)
KERNEL, MSPROBE = "kernel", "msprobe"
# A directory listed within this time of its last change may change again without its mtime moving.
RACY_SECONDS = 2.0
# A run that has not changed for this long may be looked at in turn with others; a scan looks at this many of them at least.
QUIET_SECONDS = 120.0
LEAST_QUIET = 256


def classify(name: str) -> tuple[str, int | None] | None:
    """Return the kind of a file and the seconds in its name, by its name alone; None for a file of no interest."""
    found = kind_of(name)
    return None if found is None else (found[0].name, found[1])


def opens_alone(path: str) -> bool:
    """Return whether a file is opened by itself: an event file, by its name, or a trace, by its content."""
    return os.path.isfile(path) and (classify(os.path.basename(path)) is not None or holds_trace(path))


def discover(base: str | os.PathLike[str]) -> list[Source]:
    """Return every run at or below a directory, newest first; SourceError if there is no such directory.

    An event file or a trace is a run of its own. A directory that may not be listed is a Source without files whose problems
    say so.
    """
    text = os.fspath(base)
    return [source_of(text)] if opens_alone(text) else Scanner(text).scan()


def source_of(path: str | os.PathLike[str]) -> Source:
    """Return the run in one directory (with its ranks), or of a single event file or trace; SourceError if there is none."""
    text = os.fspath(path)
    if os.path.isfile(text):
        directory, name = os.path.split(os.path.abspath(text))
        if classify(name) is None and holds_trace(text):
            return _measured(Source(directory, os.path.realpath(directory), name, (), profile_dirs=(os.path.abspath(text),)))
        kind, stamp = classify(name) or (READERS[0].name, None)
        return Source(directory, os.path.realpath(directory), name, (_source_file(text, kind, stamp),))
    found = discover(text)
    here = next((source for source in found if source.name == "."), None)
    if here is not None:
        return here
    if len(found) == 1:
        return found[0]
    if found:
        raise SourceError(f"{text}: expected one run, found {len(found)} runs below it; open one of them, or use discover()")
    raise SourceError(f"{text}: expected a run, found a directory without event, graph, profiler or dump files")


def rescan(source: Source) -> Source:
    """Return the same run as it is on disk now: its directory and those of its ranks are listed again, no others below.

    A run of a single event file or trace stays that file.
    """
    if not source.files and [os.path.basename(path) for path in source.profile_dirs] == [source.name]:
        alone = source.profile_dirs[0]
        if not os.path.isdir(alone):
            return _measured(source)
    if len(source.files) == 1 and source.name == os.path.basename(source.files[0].path):
        file = source.files[0]
        return replace(source, files=(_source_file(file.path, file.kind, file.stamp),)) if os.path.exists(file.path) else source
    found = _source_at(_Directory(source.path, source.real_path, source.name), _list(source.path, 0), "")
    parts = sorted({os.path.dirname(file.path) for file in source.files} - {source.path})
    listed = [_source_at(_Directory(path, path, source.name), _list(path, 0), "") for path in parts if os.path.isdir(path)]
    files = tuple(sorted((file for one in (found, *listed) for file in one.files), key=_file_order))
    elsewhere = [path for path in source.profile_dirs if os.path.isdir(path)]
    profiles = tuple(dict.fromkeys((*found.profile_dirs, *elsewhere)))
    dumps = tuple(dict.fromkeys((*found.dump_dirs, *(path for path in source.dump_dirs if os.path.isdir(path)))))
    fresh = replace(source, files=files, profile_dirs=profiles, dump_dirs=dumps, plan=found.plan, problems=found.problems)
    return _measured(replace(fresh, ranks=tuple(rescan(rank) for rank in source.ranks)))


def _measured(source: Source) -> Source:
    """Set the size and time of a source's profiles, ranks not included, and the time of its dumps."""
    if source.dump_dirs:
        source = replace(source, dump_updated=max(map(last_change, source.dump_dirs)))
    if not source.profile_dirs:
        return source
    size, newest = extent(source.profile_dirs)
    return replace(source, profile_size=size, profile_updated=newest)


@dataclass(frozen=True, slots=True)
class _Listing:
    """The listing of one directory: names only, sorted and classified."""

    mtime_ns: int
    settled: bool
    directories: tuple[str, ...]
    links: tuple[str, ...]
    files: tuple[tuple[str, str, int | None], ...]
    profiles: tuple[str, ...]
    profiled: bool
    dump: str
    """KERNEL: a rank of a kernel dump, which holds no other runs; MSPROBE: a dump whose steps are not searched; "" for none."""
    error: str = ""
    outside: str = ""
    """Target of a link out of the base that is not followed."""


@dataclass(frozen=True, slots=True)
class _Directory:
    path: str
    real_path: str
    name: str


@dataclass(slots=True)
class _Known:
    """A directory as last looked at.

    identity is (device, inode), name that of a run in it, unique among all; source is this run (None: no run) before runs are
    joined, rank its place in the list of runs. changed_at is the monotonic time at which a change was last seen, -inf for none.
    """

    place: _Directory
    identity: tuple[int, int]
    listing: _Listing
    name: str
    source: Source | None = None
    rank: tuple[float, str] = (0.0, "")
    changed_at: float = float("-inf")

    def quiet(self, now: float, monotonic: float) -> bool:
        """Return whether the directory may be looked at in turn: nothing in it changed lately, and it is no group of runs."""
        if not self.listing.settled or len(self.listing.directories) + len(self.listing.links) > 1:
            return False
        if monotonic - self.changed_at < QUIET_SECONDS or now - self.listing.mtime_ns / 1e9 < QUIET_SECONDS:
            return False
        return self.source is None or now + self.rank[0] >= QUIET_SECONDS


class Scanner:
    """Finds the runs below a base repeatedly; a later scan lists only directories whose mtime changed.

    A run that is the same as in the last scan is the same object. With a share, a scan looks at the runs that changed in the
    last QUIET_SECONDS, at groups of runs and at those in `watched`; at the other directories it looks in turn: for this share
    of the time since the last scan, and at least at LEAST_QUIET of them.
    """

    def __init__(self, base: str | os.PathLike[str], *, stay_inside: bool = False, share: float | None = None) -> None:
        """stay_inside: report links that lead out of the base instead of following them."""
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

    def forget(self) -> None:
        """Let the next scan look at everything."""
        self._ended_at = float("-inf")

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
            changed = True
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
            listing = _list(path, status.st_mtime_ns)
            tree = (listing.directories, listing.links, listing.dump, _is_run(listing))
            if before.outside or tree != (before.directories, before.links, before.dump, _is_run(before)):
                stale.add(path)
                return False
            known.listing = listing
        return self._update(known, now)

    def _update(self, known: _Known, now: float) -> bool:
        """Set the run of a directory from its listing and the state of its files; return whether that changed it."""
        if known.source is not None and known.source.name == known.name and _is_same(known.source, known.listing):
            return False
        found = _measured(_source_at(known.place, known.listing, self._inside)) if _is_run(known.listing) else None
        if found is not None and found.name != known.name:
            found = replace(found, name=known.name)
        if found == known.source:
            return False
        if known.source is not None:
            known.changed_at = now
        known.source = found
        known.rank = _rank(found) if found is not None else (0.0, "")
        return True

    def _walk(self, stale: set[str], now: float) -> None:
        """Follow the tree of directories: those that are not stale are what they were."""
        known: dict[str, _Known] = {}
        names: dict[str, int] = {}
        fresh: list[_Known] = []
        visited: set[tuple[int, int]] = set()
        pending = [_Directory(self.base, os.path.realpath(self.base), "")]
        links: list[_Directory] = []
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
            if _is_run(listing):
                number = names[name] = names.get(name, 0) + 1
                # a directory name that is not UTF-8 may be escaped to the name of another one
                name = f"{name}~{number}" if number > 1 else name
            if visit or one.name != name:
                one.name = name
                fresh.append(one)
            if listing.dump == KERNEL or listing.outside:
                continue
            pending.extend(_child(place, name, linked=False) for name in reversed(listing.directories))
            links.extend(_child(place, name, linked=True) for name in listing.links)
        for one in fresh:
            self._update(one, now)
        self._known = known

    def _visit(self, place: _Directory, before: _Known | None) -> _Known | None:
        """Return a directory as it is now; None if it is gone since its parent was listed, or a link to nothing."""
        try:
            status = os.stat(place.path)
        except OSError:
            return None
        identity = (status.st_dev, status.st_ino)
        if self._inside and not _is_below(place.real_path, self._inside):
            if not os.path.isdir(place.path):
                return None
            listing = _Listing(status.st_mtime_ns, True, (), (), (), (), False, "", outside=place.real_path)
        elif before is None or not before.listing.settled or before.listing.mtime_ns != status.st_mtime_ns:
            listing = _list(place.path, status.st_mtime_ns)
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
            if last in GRAPH_PARTS:
                parent = self._known.get(os.path.dirname(known.place.path))
                partners.append(parent.name if parent is not None else "")
            if last == "profile":
                partners.append(f"{above}/summary" if above else "summary")
            job = _job_of(name)
            if job is not None:
                partners.append(job[0])
                if job[0].rpartition("/")[2] == "profile":
                    partners.append(job[0][: -len("profile")] + "summary")
            if partners:
                special |= dict.fromkeys((name, *(partner for partner in partners if partner in runs)))
        self._special = [known for name, known in runs.items() if name in special]
        self._plain = [known for name, known in runs.items() if name not in special]

    def _collect(self) -> None:
        """Join the runs that belong together and sort all."""
        special = [known.source for known in self._special if known.source is not None]
        joined, before = _join_profiles(_join_ranks(_join_graphs(special))), self._joined
        self._joined = {source.name: _same_or(before.get(source.name), source) for source in joined}
        ranked = [(known.rank, known.source) for known in self._plain if known.source is not None]
        ranked += [(_rank(source), source) for source in self._joined.values()]
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


def _is_same(source: Source, listing: _Listing) -> bool:
    """Return whether a run has nothing but files, and these are unchanged by name and stat."""
    if source.problems or source.profile_dirs or source.dump_dirs or source.plan or len(source.files) != len(listing.files):
        return False
    if listing.profiles or listing.profiled or listing.dump or _PLAN_DIRECTORY in listing.directories:
        return False
    if listing.error or listing.outside:
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


def _source_at(place: _Directory, listing: _Listing, inside: str) -> Source:
    """Return the run of one directory; inside is the base whose links may not lead out of it, "" for no base."""
    files, problems = [], []
    if listing.error:
        problems.append(Problem(place.path, 0, 0, "unreadable", listing.error))
    if listing.outside:
        problems.append(_outside(place.path, listing.outside))
    for name, kind, stamp in _bounded(listing.files):
        path = os.path.join(place.path, name)
        if inside and (target := _leaves(path, inside)):
            problems.append(_outside(path, target))
            continue
        try:
            files.append(_source_file(path, kind, stamp))
        except OSError as error:
            problems.append(Problem(path, 0, 0, "unreadable", f"The file cannot be accessed ({error.strerror})."))
    files.sort(key=_file_order)
    profiles = []
    for path in _profile_dirs(place.path, listing):
        leaving = next(((link, target) for link in _links(path, inside) if (target := _leaves(link, inside))), None)
        if leaving is None:
            profiles.append(path)
        else:
            problems.append(_outside(*leaving))
    plan = _plan(place.path, listing)
    return Source(
        path=place.path,
        real_path=place.real_path,
        name=place.name or ".",
        files=tuple(files),
        profile_dirs=tuple(profiles),
        dump_dirs=(place.path,) if listing.dump else (),
        plan="" if _leaves(plan, inside) else plan,
        problems=tuple(problems),
    )


def _is_below(real_path: str, base: str) -> bool:
    """Return whether a path without links is the base or below it."""
    return real_path == base or real_path.startswith(base.rstrip(os.sep) + os.sep)


def _leaves(path: str, inside: str) -> str:
    """Return where a link leads if that is not below `inside`, else ""; inside "" allows everything."""
    if not (inside and path):
        return ""
    target = _real_path(path)
    return "" if _is_below(target, inside) else target


def _outside(path: str, target: str) -> Problem:
    text = f"The link leads out of the directory of runs, to {printable(target)}; what is there is not read."
    return Problem(path, 0, 0, "outside", text)


def _links(directory: str, inside: str) -> Iterator[str]:
    """Yield a profiler directory and the links in it, if they matter."""
    if inside:
        yield directory
        yield from (path for path in files_below((directory,)) if os.path.islink(path))


def _bounded(files: Sequence[tuple[str, str, int | None]]) -> Sequence[tuple[str, str, int | None]]:
    """Return the files of one directory; if their kind has a limit, only the first ones."""
    if len(files) <= _LEAST_MOST:
        return files
    counts: Counter[str] = Counter()
    found = []
    for name, kind, stamp in files:
        counts[kind] += 1
        if counts[kind] <= _MOST.get(kind, counts[kind]):
            found.append((name, kind, stamp))
    return found


def _profile_dirs(path: str, listing: _Listing) -> tuple[str, ...]:
    """Return the profiler directories in a directory, or the directory itself if it is one (it then contains the others)."""
    return (path,) if listing.profiled else tuple(os.path.join(path, name) for name in listing.profiles)


def _plan(path: str, listing: _Listing) -> str:
    """Return the path of the file about collected checkpoints, "" if there is none."""
    if _PLAN_DIRECTORY not in listing.directories:
        return ""
    plan = os.path.join(path, PLACE)
    return plan if os.path.isfile(plan) else ""


def _file_order(file: SourceFile) -> tuple[int, str]:
    return file.stamp or 0, file.path


def _child(parent: _Directory, name: str, *, linked: bool) -> _Directory:
    path = os.path.join(parent.path, name)
    if linked:
        real = _real_path(path)
    else:
        real = path if parent.real_path == parent.path else os.path.join(parent.real_path, name)
    shown = printable(name)
    return _Directory(path, real, f"{parent.name}/{shown}" if parent.name else shown)


def _real_path(path: str) -> str:
    """Return the target of a link; the link itself if it cannot be resolved."""
    try:
        return os.path.realpath(path)
    except OSError:
        return path


def _list(path: str, mtime_ns: int) -> _Listing:
    settled = time.time() - mtime_ns / 1e9 > RACY_SECONDS
    directories, links, files, profiles = [], [], [], []
    profiled, dump = False, ""
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                name = entry.name
                if name.startswith("."):
                    dump = KERNEL if name == METADATA else dump
                    continue
                directory = _is_directory(entry)
                known = None if directory else classify(name)
                if not directory and marks_profile(name):
                    profiled = True
                elif known:
                    files.append((name, *known))
                elif directory and name in PROFILE_PARTS:
                    profiled = True
                elif directory and _named_profile(name, entry.path):
                    profiles.append(name)
                elif entry.is_symlink():
                    links.append(name)  # also a broken one: its target may exist at the next scan
                elif directory:
                    directories.append(name)
    except OSError as error:
        text = f"The directory cannot be listed ({error.strerror}); its contents are not shown."
        return _Listing(mtime_ns, False, (), (), (), (), False, "", text)
    if not dump and directories and named_like_kernel_dump(os.path.basename(path)) and is_kernel_dump(path):
        dump = KERNEL
    steps = sorted(name for name in directories if STEP.fullmatch(name))
    if steps and not dump:
        dump = MSPROBE if is_msprobe(path, steps) else ""
        settled = settled and bool(dump)  # a file that makes it a dump may come without a change of this directory
        directories = [name for name in directories if name not in set(steps)] if dump else directories
    return _Listing(
        mtime_ns, settled, tuple(sorted(directories)), tuple(sorted(links)), tuple(sorted(files)), tuple(sorted(profiles)),
        profiled, dump,
    )  # fmt: skip


def _named_profile(name: str, path: str) -> bool:
    """Return whether a directory is a profiler directory by its name, for names that others use too by its contents."""
    if name == CLUSTER_OUTPUT:
        return True
    return PROFILE_NAME.fullmatch(name) is not None and (not name.startswith("profiler_") or _profiled(path))


def _profiled(path: str) -> bool:
    """Return whether a profiler-like directory contains profiler output."""
    try:
        names = os.listdir(path)
    except OSError:
        return False
    return any(
        marks_profile(name) or name in PROFILE_PARTS or PROFILE_NAME.fullmatch(name) or RANK_NAME.match(name) for name in names
    )


def _is_directory(entry: os.DirEntry[str]) -> bool:
    """Return whether it is a directory; a circular link, or one that may not be followed, is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_run(listing: _Listing) -> bool:
    for _, kind, _ in listing.files:
        if kind in _MAKE_RUNS:
            return True
    return bool(listing.profiles or listing.profiled or listing.dump or listing.error or listing.outside)


def _source_file(path: str, kind: str, stamp: int | None) -> SourceFile:
    status = os.stat(path)
    return SourceFile(path, kind, status.st_size, status.st_mtime, stamp, status.st_dev, status.st_ino)


def _what_is(path: str) -> str:
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        return error.strerror or "nothing"
    return "a file" if stat.S_ISREG(mode) else "no directory"


def _join_graphs(sources: list[Source]) -> list[Source]:
    """Merge the directories that MindSpore creates beside saved graphs into the run of these graphs."""
    by_path = {source.path: source for source in sources}
    for source in sources:
        above, name = os.path.split(source.path)
        run = by_path.get(above)
        if name not in GRAPH_PARTS or run is None or {file.kind for file in source.files} != {"graph"}:
            continue
        by_path[above] = replace(run, files=tuple(sorted((*run.files, *source.files), key=_file_order)))
        del by_path[source.path]
    return list(by_path.values())


def _job_of(name: str) -> tuple[str, int] | None:
    """Return the name of the job that a run of this name is a rank of, and the number of the rank; None if it is none."""
    parts = name.split("/")
    named = ((i, found) for i, part in enumerate(parts) if part.startswith("rank") and (found := RANK_NAME.fullmatch(part)))
    place, match = next(named, (0, None))
    if match is None:
        return None
    above = "/".join(parts[:place]) or "."
    below = "/".join(parts[place + 1 :])
    return f"{above}/rank_*/{below}" if below else above, int(match[1])


def _join_ranks(sources: list[Source]) -> list[Source]:
    """Join runs below rank_<n> as ranks of one job, named after the directory that holds the rank directories."""
    jobs: dict[str, list[tuple[int, Source]]] = {}
    others: list[Source] = []
    for source in sources:
        job = _job_of(source.name)
        if job is None:
            others.append(source)
            continue
        jobs.setdefault(job[0], []).append((job[1], source))
    single = {source.name: source for source in others}
    for name, members in jobs.items():
        ranks = tuple(rank for _, rank in sorted(members, key=lambda member: (member[0], member[1].name)))
        if name in single:
            single[name] = replace(single[name], ranks=ranks)
        else:
            depth = ranks[0].name.count("/") + 1 - (0 if name == "." else name.split("/rank_*")[0].count("/") + 1)
            single[name] = Source(_up(ranks[0].path, depth), _up(ranks[0].real_path, depth), name, (), ranks)
    return list(single.values())


def _up(path: str, levels: int) -> str:
    for _ in range(levels):
        path = os.path.dirname(path)
    return path


def _join_profiles(sources: list[Source]) -> list[Source]:
    """Join `profile` with `summary` beside it: they are one job, so its profiler directories move to the run in `summary`."""
    by_name = {source.name: source for source in sources}
    for name in [name for name in by_name if name == "profile" or name.endswith("/profile")]:
        run = by_name.get(name[: -len("profile")] + "summary")
        profile = by_name[name]
        if run is None or profile.files:
            continue
        found = tuple(path for leaf in (profile, *profile.ranks) for path in leaf.profile_dirs)
        by_name[run.name] = _measured(replace(run, profile_dirs=run.profile_dirs + found))
        del by_name[name]
    return list(by_name.values())
