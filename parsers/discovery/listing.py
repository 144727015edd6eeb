"""What one directory holds, judged by names and stat alone, and the run in it."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING

from parsers.ages import age_of
from parsers.checkpoints import PLACE
from parsers.dumps.places import METADATA, STEP, is_kernel_dump, is_msprobe, last_change, named_like_kernel_dump
from parsers.mlflow.database import MLFLOW_DATABASE
from parsers.mlflow.directories import META, holds_run, run_files
from parsers.model import NOTE, Problem, Source, SourceFile
from parsers.names import CLUSTER_OUTPUT, PROFILE_NAME, printable
from parsers.nsys import ENDINGS as NSYS_ENDINGS
from parsers.nsys import NSYS, is_nsys
from parsers.registry import KINDS, kind_of

if TYPE_CHECKING:
    from parsers.discovery.many_files import ManyFiles

File = tuple[str, str, int | None]
"""Name, kind, and the seconds in the name."""
MANY = 4096
"""Files from which on they are packed; below, tuples are quicker."""
RANK_NAME = re.compile(r"rank_?(\d+)")
MAY_MARK = re.compile(r"(?!(?:config|hparams)\.json).*\.(?:json|json\.gz|csv|db|txt)")
"""The names among which are all those that make a directory a profile (`parsers.profiler.registry.marks_profile`)."""
_TRACE_NAME = re.compile(r"(?:.*\.)?trace\.json(?:\.gz)?")
"""Names of traces in the form of Chrome, beside which others may have any name."""
_PICKLES = (".pickle", ".pkl")
PROFILE_PARTS = ("ASCEND_PROFILER_OUTPUT", "FRAMEWORK")
PLAN_DIRECTORY = os.path.dirname(PLACE)
KERNEL, MSPROBE = "kernel", "msprobe"

_MAKE_RUNS = {kind.name for kind in (*KINDS, NSYS) if kind.makes_run}
_MOST = {kind.name: kind.most for kind in KINDS if kind.most}
_LEAST_MOST = min(_MOST.values())
# A directory listed within this time of its last change may change again without its mtime moving.
RACY_SECONDS = 2.0


def classify(name: str) -> tuple[str, int | None] | None:
    """Return the kind of a file and the seconds in its name, by its name alone; None for a file of no interest."""
    found = kind_of(name)
    return None if found is None else (found[0].name, found[1])


@dataclass(frozen=True, slots=True)
class DirectoryListing:
    """The listing of one directory: names only, sorted and classified."""

    mtime_ns: int
    settled: bool
    directories: tuple[str, ...]
    links: tuple[str, ...]
    files: tuple[File, ...] | ManyFiles
    profiles: tuple[str, ...]
    profiled: bool
    dump: str
    """KERNEL: a rank of a kernel dump, which holds no other runs; MSPROBE: a dump whose steps are not searched; "" for none."""
    error: str = ""
    outside: str = ""
    """Target of a link out of the base that is not followed."""


@dataclass(frozen=True, slots=True)
class Directory:
    """A directory: its path, that path with links resolved, and the name of the run in it."""

    path: str
    real_path: str
    name: str


def source_at(place: Directory, listing: DirectoryListing, inside: str) -> Source:
    """Return the run of one directory; inside is the base whose links may not lead out of it, "" for no base."""
    files, problems = list[SourceFile](), []
    if listing.error:
        problems.append(Problem(place.path, 0, 0, "unreadable", listing.error))
    if listing.outside:
        problems.append(_outside(place.path, listing.outside))
    counts = Counter[str]()
    for name, kind, stamp in _bounded(listing.files, counts):
        if kind == MLFLOW_DATABASE.name:
            continue  # its runs are others
        path = os.path.join(place.path, name)
        if inside and (target := leaves(path, inside)):
            problems.append(_outside(path, target))
            continue
        try:
            files.append(source_file(path, kind, stamp, files[-1].device if files else 0))
        except OSError as error:
            problems.append(Problem(path, 0, 0, "unreadable", f"The file cannot be accessed ({error.strerror})."))
    for kind, most in _MOST.items():
        if counts[kind] > most:
            text = f"Expected at most {most} files of kind {kind}, found {counts[kind]:,}; the first {most} by name are read."
            problems.append(Problem(place.path, 0, 0, NOTE, text))
    if is_mlflow(listing):
        files = [file for file in files if os.path.basename(file.path) != META]
        files += [file for file in run_files(place.path) if not (inside and leaves(file.path, inside))]
    _sort(files)
    profiles = []
    for path in _profile_dirs(place.path, listing):
        leaving = next(((link, target) for link in _links(path, inside) if (target := leaves(link, inside))), None)
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
        plan="" if leaves(plan, inside) else plan,
        problems=tuple(problems),
    )


def is_below(real_path: str, base: str) -> bool:
    """Return whether a path without links is the base or below it."""
    return real_path == base or real_path.startswith(base.rstrip(os.sep) + os.sep)


def leaves(path: str, inside: str) -> str:
    """Return where a link leads if that is not below `inside`, else ""; inside "" allows everything."""
    if not (inside and path):
        return ""
    target = real_path_of(path)
    return "" if is_below(target, inside) else target


def _outside(path: str, target: str) -> Problem:
    text = f"The link leads out of the directory of runs, to {printable(target)}; what is there is not read."
    return Problem(path, 0, 0, "outside", text)


def _links(directory: str, inside: str) -> Iterator[str]:
    """Yield a profiler directory and the links in it, if they matter."""
    if inside:
        yield directory
        from parsers.profiler.sessions import files_below

        yield from (path for path in files_below((directory,)) if os.path.islink(path))


def _bounded(files: tuple[File, ...] | ManyFiles, counts: Counter[str]) -> Iterable[File]:
    """Return the files of one directory; if their kind has a limit, only the first ones, and count all of each kind then."""
    return files if len(files) <= _LEAST_MOST else _first_of_each(files, counts)


def _first_of_each(files: Iterable[File], counts: Counter[str]) -> Iterator[File]:
    for name, kind, stamp in files:
        counts[kind] += 1
        if counts[kind] <= _MOST.get(kind, counts[kind]):
            yield name, kind, stamp


def _profile_dirs(path: str, listing: DirectoryListing) -> tuple[str, ...]:
    """Return the profiler directories in a directory, or the directory itself if it is one (it then contains the others)."""
    return (path,) if listing.profiled else tuple(os.path.join(path, name) for name in listing.profiles)


def _plan(path: str, listing: DirectoryListing) -> str:
    """Return the path of the file about collected checkpoints, "" if there is none."""
    if PLAN_DIRECTORY not in listing.directories:
        return ""
    plan = os.path.join(path, PLACE)
    return plan if os.path.isfile(plan) else ""


def file_order(file: SourceFile) -> tuple[int, str]:
    """Return what the files of a run are sorted by: the time in their names, then their paths."""
    return file.stamp or 0, file.path


def _sort(files: list[SourceFile]) -> None:
    """Sort files as `file_order` does, in two sorts: its pairs would take 64 MB for a million of them."""
    files.sort(key=attrgetter("path"))
    files.sort(key=lambda file: file.stamp or 0)


def child(parent: Directory, name: str, *, linked: bool) -> Directory:
    """Return a directory in another one; linked is whether it is a symbolic link."""
    path = os.path.join(parent.path, name)
    if linked:
        real = real_path_of(path)
    else:
        real = path if parent.real_path == parent.path else os.path.join(parent.real_path, name)
    shown = printable(name)
    return Directory(path, real, f"{parent.name}/{shown}" if parent.name else shown)


def real_path_of(path: str) -> str:
    """Return the target of a link; the link itself if it cannot be resolved."""
    try:
        return os.path.realpath(path)
    except OSError:
        return path


def list_directory(path: str, mtime_ns: int) -> DirectoryListing:
    """Return what a directory of this mtime holds; one that cannot be listed holds nothing and has an error."""
    settled = age_of(mtime_ns / 1e9) > RACY_SECONDS
    directories, links, files, profiles = [], [], list[File](), []
    many: ManyFiles | None = None
    unnamed: list[str] = []
    traces: list[str] = []
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
                if not directory and _TRACE_NAME.fullmatch(name):
                    traces.append(name)
                elif not directory and _marks_profile(name):
                    profiled = True
                elif known:
                    files.append((name, *known))
                    if len(files) == MANY:
                        many = _with_more(many, files)
                        files = []
                elif directory and name in PROFILE_PARTS:
                    profiled = True
                elif directory and _named_profile(name, entry.path):
                    profiles.append(name)
                elif not directory and name.endswith((".json", ".json.gz", *_PICKLES)) and not entry.is_symlink():
                    unnamed.append(entry.path)
                elif not directory and name.endswith(NSYS_ENDINGS) and not entry.is_symlink() and is_nsys(entry.path):
                    files.append((name, NSYS.name, None))
                elif entry.is_symlink():
                    links.append(name)  # also a broken one: its target may exist at the next scan
                elif directory:
                    directories.append(name)
    except OSError as error:
        text = f"The directory cannot be listed ({error.strerror}); its contents are not shown."
        return DirectoryListing(mtime_ns, False, (), (), (), (), False, "", text)
    ray = {"progress.csv", "result.json", "params.json"}
    if many is None and ray <= {name for name, _, _ in files}:  # Ray writes each row to both
        files = [file for file in files if file[0] != "progress.csv"]
    if unnamed and not profiled:
        found, are_final = _by_content(unnamed)
        profiles += [*found, *traces] if found else []
        traces = [] if found else traces
        settled = settled and are_final
    profiled |= bool(traces)  # they are the profile if there are no traces of other names beside them
    if not dump and directories and named_like_kernel_dump(os.path.basename(path)) and is_kernel_dump(path):
        dump = KERNEL
    steps = sorted(name for name in directories if STEP.fullmatch(name))
    if steps and not dump:
        dump = MSPROBE if is_msprobe(path, steps) else ""
        settled = settled and bool(dump)  # a file that makes it a dump may come without a change of this directory
        directories = [name for name in directories if name not in set(steps)] if dump else directories
    if many is not None and files:
        many.add(files)
    return DirectoryListing(
        mtime_ns, settled, tuple(sorted(directories)), tuple(sorted(links)), many or tuple(sorted(files)),
        tuple(sorted(profiles)), profiled, dump,
    )  # fmt: skip


def _with_more(many: ManyFiles | None, files: list[File]) -> ManyFiles:
    from parsers.discovery.many_files import ManyFiles  # few directories have so many

    many = many or ManyFiles()
    many.add(files)
    return many


def _by_content(files: Sequence[str]) -> tuple[list[str], bool]:
    """Return the names of those files that begin as a trace or a memory snapshot, and whether what is known of all is final."""
    from parsers.snapshot_heads import is_snapshot  # few directories have such files
    from parsers.trace_heads import head_of

    heads = {file: head_of(file) for file in files if not file.endswith(_PICKLES)}
    found = [os.path.basename(file) for file, head in heads.items() if head.is_trace]
    found += [os.path.basename(file) for file in files if file.endswith(_PICKLES) and is_snapshot(file)]
    return found, all(head.is_final for head in heads.values())


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
        _marks_profile(name) or name in PROFILE_PARTS or PROFILE_NAME.fullmatch(name) or RANK_NAME.match(name)
        for name in names
    )


def _marks_profile(name: str) -> bool:
    """Return whether a directory that holds a file of this name is a profile."""
    if MAY_MARK.fullmatch(name) is None:
        return False
    from parsers.profiler.registry import marks_profile  # few directories have such files: 60 modules

    return marks_profile(name)


def _is_directory(entry: os.DirEntry[str]) -> bool:
    """Return whether it is a directory; a circular link, or one that may not be followed, is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def is_mlflow(listing: DirectoryListing) -> bool:
    """Return whether a directory is a run of MLflow, whose files lie below it."""
    return bool(listing.directories) and holds_run(listing.directories, {name for name, _, _ in listing.files if name == META})


def databases(listing: DirectoryListing) -> tuple[str, ...]:
    """Return the names of databases of runs."""
    return tuple(name for name, kind, _ in listing.files if kind == MLFLOW_DATABASE.name)


def is_run(listing: DirectoryListing) -> bool:
    """Return whether a directory is a run, or must be shown like one because it cannot be read."""
    if is_mlflow(listing):
        return True
    for _, kind, _ in listing.files:
        if kind in _MAKE_RUNS:
            return True
    return bool(listing.profiles or listing.profiled or listing.dump or listing.error or listing.outside)


def source_file(path: str, kind: str, stamp: int | None, device: int = 0) -> SourceFile:
    """Return a file of a run with its size and time; OSError if it cannot be accessed.

    device: that of the file before, whose object is used if it is the same: a million equal numbers take 32 MB.
    """
    status = os.stat(path)
    device = device if status.st_dev == device else status.st_dev
    return SourceFile(path, kind, status.st_size, status.st_mtime, stamp, device, status.st_ino)


def measured(source: Source) -> Source:
    """Set the size and time of a source's profiles, ranks not included, and the time of its dumps."""
    if source.dump_dirs:
        source = replace(source, dump_updated=max(map(last_change, source.dump_dirs)))
    if not source.profile_dirs:
        return source
    from parsers.profiler.sessions import extent

    size, newest = extent(source.profile_dirs)
    return replace(source, profile_size=size, profile_updated=newest)
