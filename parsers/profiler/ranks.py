"""Reads what one rank tells of its job, as a pure function from files to bytes: workers import it and share nothing.

Where several files hold the same, the text outputs come first, then analysis.db, then the databases of profilers. The files of
`cluster_analysis_output` are read in the same way; their rows say which rank they are of.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, TypeVar

import msgspec

from parsers.cluster_frames import DEVICE_TIMES, GROUPS, JOB_FRAMES, RANKS, STAGES
from parsers.errors import FormatError
from parsers.files import RegularFile
from parsers.model import Problem
from parsers.profiler import (
    communication_json,
    communication_tables,
    device_times,
    hccl_raw,
    rank_bubble,
    rank_facts,
    step_parts,
    strategy,
)
from parsers.profiler.columns import FileRows, packed
from parsers.profiler.communication_json import Links, Operations
from parsers.profiler.communication_tables import Tasks
from parsers.profiler.database import Database
from parsers.profiler.groups import hash_of, ranks_in, ranks_named, text_of, told_ranks
from parsers.profiler.json_files import LONGEST_JSON, read_json
from parsers.profiler.kineto import of_rank, recording
from parsers.profiler.lines import Complaints
from parsers.profiler.progress import report_read
from parsers.profiler.sessions import ProfileFile
from parsers.profiler.tables import NONE

FRAMES = tuple(JOB_FRAMES)
"""What can be asked for."""
KINDS: Mapping[str, tuple[str, ...]] = {
    "groups": ("profiler_metadata", "database", "msprof", "cluster_groups", "cluster_database", "chrome_trace"),
    "collectives": (
        "communication", "analysis", "database", "msprof", "hccl_raw", "cluster_communication", "cluster_database",
        "chrome_trace",
    ),
    "packets": ("communication", "analysis", "database", "msprof", "cluster_communication", "cluster_database"),
    "links": ("communication_matrix", "analysis", "database", "msprof", "hccl_raw", "cluster_matrix", "cluster_database"),
    "cluster_steps": (
        "step_trace_time", "analysis", "cluster_analyse", "step_trace_raw", "cluster_steps", "cluster_database",
        "chrome_trace",
    ),
    "ranks": (*rank_facts.KINDS, "chrome_trace"), "device_times": (*device_times.KINDS, "chrome_trace"),
    "stages": ("parallel_strategy",),
}  # fmt: skip
"""Frame -> kinds of files that give it, the first ones first."""
BESIDE: Mapping[str, tuple[tuple[str, ...], ...]] = {"cluster_steps": rank_bubble.KINDS}
"""Frame -> kinds of files that together tell more of it, but do not give it."""
_BESIDE = (together for kinds in BESIDE.values() for together in kinds)
KINDS_READ = frozenset(kind for kinds in (*KINDS.values(), *_BESIDE) for kind in kinds)
"""Kinds of files that have a say in any frame."""
MOST_BESIDE = 256 << 20
"""Bytes of such files of all ranks of a job beyond which they are left alone: they would take longer than the rest."""
_GROUP = ("group", "name", "kind", "ranks", "size", "told")
T = TypeVar("T")


class _RankReading:
    """The files of one rank, or of all ranks, by kind; each database is opened once."""

    def __init__(self, files: Sequence[ProfileFile]) -> None:
        self._files = {file.kind: file for file in reversed(files)}
        self._complaints: dict[str, Complaints] = {}

    def has(self, kind: str) -> bool:
        """Return whether there is a file of this kind."""
        return kind in self._files

    def path(self, kind: str) -> str:
        """Return the path of the file of a kind; "" for none."""
        return self._files[kind].path if kind in self._files else ""

    def name(self, kind: str) -> str:
        """Return the name of the file of a kind below its session."""
        return self._files[kind].name if kind in self._files else ""

    def complaints(self, kind: str) -> Complaints:
        """Return what is collected about the file of a kind."""
        path = self.path(kind)
        return self._complaints.setdefault(path, Complaints(path))

    def problems(self) -> list[Problem]:
        """Return the damage found."""
        return [problem for complaints in self._complaints.values() for problem in complaints.all()]

    def asked(self, kind: str, ask: Callable[[Database, Complaints], Any]) -> Any:
        """Return what `ask` reads from the database of a kind; None if there is none or it cannot be read."""
        if not self.has(kind):
            return None
        complaints = self.complaints(kind)
        path = self.path(kind)
        try:
            if not os.path.getsize(path):
                complaints.add("The file is empty.", "empty_file")
                return None
            with Database(path) as database:
                for text in database.problems:
                    complaints.add(text)
                return ask(database, complaints)
        except OSError as error:
            complaints.add(f"The file cannot be read ({error.strerror or error}); what is in it is not shown.", "unreadable")
        except (OverflowError, ValueError, TypeError) as error:
            complaints.add(f"Expected a database that can be read, found: {error}; the rest is not taken from it.")
        return None


def extent(files: Sequence[ProfileFile], what: Iterable[str]) -> int:
    """Return the bytes of the files from which frames are read, unless these turn out to lack what others have."""
    sizes = {file.kind: file.size for file in reversed(files)}
    if "parallel_strategy" in sizes:
        sizes["parallel_strategy"] = min(sizes["parallel_strategy"], strategy.HEAD)
    names = tuple(what)
    kernels = RANKS.name in names and _reads_kernels(files)
    return sum([sizes[kind] for kind in _kinds_used(frozenset(sizes), names, kernels)])


@lru_cache(maxsize=1 << 10)  # the ranks of a job have files of the same kinds
def _kinds_used(kinds: frozenset[str], names: tuple[str, ...], kernels: bool) -> tuple[str, ...]:
    """Return those of these kinds of files from which frames are read; kernels: whether facts of a rank take kernel_details."""
    used: set[str] = set()
    for name in names:
        giving = [kind for kind in KINDS[name] if kind in kinds]
        if name == RANKS.name and not kernels:
            giving = [kind for kind in giving if kind != "kernel_details"]
        used.update(giving if name in (RANKS.name, DEVICE_TIMES.name) else giving[:1])
        used.update(kind for together in BESIDE.get(name, ()) if kinds.issuperset(together) for kind in together)
    return tuple(used)


def _reads_kernels(files: Sequence[ProfileFile]) -> bool:
    """Return whether the facts of a rank take more of kernel_details, its largest file, than the header: with it a job of one
    rank looks as if it were worth a process."""
    paths = {file.kind: file.path for file in reversed(files)}
    return "kernel_details" in paths and rank_facts.reads_kernels(paths["kernel_details"], paths.get("op_statistic", ""))


def columns_of(files: Sequence[ProfileFile], what: Collection[str]) -> bytes:
    """Return frames of one rank, or of `cluster_analysis_output`, as bytes of `parsers.profiler.columns`.

    files are those of one rank, or the files about all ranks of one directory; what are names in FRAMES. Damage in the files is
    among the bytes. Never raises for the content of files; KeyError for another name.
    """
    unknown = set(what).difference(FRAMES)
    if unknown:
        raise KeyError(min(unknown))
    reading = _RankReading(files)
    rows: list[FileRows] = []
    if "groups" in what:
        rows.append(_groups(reading))
    raw = None
    if reading.has("hccl_raw") and {"collectives", "packets", "links"}.intersection(what):
        raw = hccl_raw.read(reading.path("hccl_raw"), reading.complaints("hccl_raw"))
        raw[0].collectives.file = raw[0].packets.file = raw[1].rows.file = reading.name("hccl_raw")
    if "collectives" in what or "packets" in what:
        found = _operations(reading) or (raw[0] if raw else None)
        if found is not None:
            rows += [one for one in (found.collectives, found.packets) if one.schema.name in what]
            if "groups" in what:
                _add_seen(rows[0], found.groups, reading.name("cluster_communication"))
    if "links" in what:
        linked = _links(reading) or (raw[1] if raw else None)
        if linked is not None:
            rows.append(linked.rows)
    if "cluster_steps" in what:
        rows.append(_steps(reading))
    if "ranks" in what:
        rows.append(_facts(reading, files[0].rank if files else NONE))
    if "device_times" in what:
        rows.append(device_times.read(reading))
    if "stages" in what and reading.has("parallel_strategy"):
        rows.append(_stages(reading))
    if reading.has("chrome_trace"):
        rows = _with_trace(reading, what, rows)
    return packed(rows, reading.problems())


def _with_trace(reading: _RankReading, what: Collection[str], rows: list[FileRows]) -> list[FileRows]:
    """Return the rows, and from a trace of torch those of the frames that no other file gives."""
    full = [one for one in rows if len(one)]
    wanted = set(what) - {one.schema.name for one in full}
    complaints = reading.complaints("chrome_trace")
    try:
        found = recording.read(reading.path("chrome_trace"))
    except OSError as error:
        complaints.add(f"The file cannot be read ({error.strerror or error}); what is in it is not shown.", "unreadable")
        return rows
    complaints.problems += [one for one in found.trace.problems if one not in complaints.problems]
    return [*full, *of_rank.rows_of(found, wanted, reading.name("chrome_trace"))] if found.is_kineto else rows


def _facts(reading: _RankReading, rank: int) -> FileRows:
    if reading.has("cluster_database"):
        found = reading.asked("cluster_database", rank_facts.of_cluster)
        if isinstance(found, FileRows):
            found.file = reading.name("cluster_database")
            return found
    return rank_facts.read(reading, rank)


def _stages(reading: _RankReading) -> FileRows:
    rows = FileRows(STAGES, ("told_rank", "stage", "mode", "stages"), reading.name("parallel_strategy"))
    told = strategy.read_config(reading.path("parallel_strategy"), reading.complaints("parallel_strategy"))
    if told is not None:
        rows.add(told_rank=told.rank, stage=told.stage, mode=told.mode, stages=";".join(map(text_of, told.stages)))
    return rows


def _operations(reading: _RankReading) -> Operations | None:
    for kind, read in (
        ("communication", communication_json.read_operations),
        ("cluster_communication", communication_json.read_cluster_operations),
    ):
        if reading.has(kind):
            found = read(reading.path(kind), reading.complaints(kind))
            found.collectives.file = found.packets.file = reading.name(kind)
            return found
    kind, asked = _first(reading, communication_tables.operations, Tasks.operations)
    if not isinstance(asked, Operations):
        return None
    asked.collectives.file = asked.packets.file = reading.name(kind)
    return asked


def _links(reading: _RankReading) -> Links | None:
    for kind, cluster in (("communication_matrix", False), ("cluster_matrix", True)):
        if reading.has(kind):
            found = communication_json.read_links(reading.path(kind), reading.complaints(kind), cluster=cluster)
            found.rows.file = reading.name(kind)
            return found
    kind, linked = _first(reading, communication_tables.links, Tasks.links)
    if not isinstance(linked, Links):
        return None
    linked.rows.file = reading.name(kind)
    return linked


def _first(
    reading: _RankReading, of_tables: Callable[..., T | None], of_tasks: Callable[[Tasks], T | None]
) -> tuple[str, T | None]:
    """Return the first kind of database that answers, and its answer: from the tables of an analysis, or from single tasks."""
    asks: tuple[tuple[str, Callable[[Database, Complaints], T | None]], ...] = (
        ("analysis", of_tables),
        ("database", lambda database, complaints: of_tasks(Tasks(database, complaints))),
        ("msprof", lambda database, complaints: of_tasks(Tasks(database, complaints))),
        ("cluster_database", partial(of_tables, cluster=True)),
    )
    for kind, ask in asks:
        found = reading.asked(kind, ask)
        if found is not None:
            return kind, found
    return "", None


def _steps(reading: _RankReading) -> FileRows:
    whole = step_parts.new_rows(ranks=True)
    if reading.has("cluster_steps"):
        whole.file = reading.name("cluster_steps")
        step_parts.read_cluster_steps(reading.path("cluster_steps"), whole, reading.complaints("cluster_steps"))
        return whole
    if reading.asked("cluster_database", lambda database, found: step_parts.read_steps_of_cluster(database, whole, found)):
        whole.file = reading.name("cluster_database")
        return whole
    rows = _own_steps(reading)
    if len(rows):
        told = rank_bubble.bubbles(reading)
        pairs = zip(rows.values["step"], rows.values["own_bubble_ns"], strict=True)
        rows.values["own_bubble_ns"] = [told.get(step, known) for step, known in pairs]
    return rows


def _own_steps(reading: _RankReading) -> FileRows:
    rows = step_parts.new_rows()
    kinds = ("step_trace_time", "analysis", "cluster_analyse", "step_trace_raw")
    rows.file = next((reading.name(kind) for kind in kinds if reading.has(kind)), "")
    if reading.has("step_trace_time"):
        step_parts.read_step_trace_time(reading.path("step_trace_time"), rows, reading.complaints("step_trace_time"))
        return rows
    if reading.asked("analysis", lambda database, found: step_parts.read_steps_of_analysis(database, rows, found)):
        return rows
    trace = reading.path("step_trace_raw")
    if reading.has("cluster_analyse"):
        step_parts.read_cluster_analyse(reading.path("cluster_analyse"), trace, rows, reading.complaints("cluster_analyse"))
    elif trace:
        step_parts.read_step_trace_raw(trace, os.path.basename(trace), rows, reading.complaints("step_trace_raw"))
    return rows


def kinds_read(names: Collection[str], files: Iterable[Sequence[ProfileFile]]) -> set[str]:
    """Return the kinds of files that are read for frames of a job with these files by rank."""
    kinds = {kind for name in names for kind in KINDS[name]}
    sizes: dict[str, int] = {}
    for own in files if any(name in BESIDE for name in names) else ():
        for file in own:
            sizes[file.kind] = sizes.get(file.kind, 0) + file.size
    beside = {kind for name in names for together in BESIDE.get(name, ()) if sizes.keys() >= {*together} for kind in together}
    return kinds | beside if sum(sizes[kind] for kind in beside - kinds) <= MOST_BESIDE else kinds


# Groups ----------------------------------------------------------------------------------------------------------------------


def _groups(reading: _RankReading) -> FileRows:
    rows = FileRows(GROUPS, _GROUP)
    if reading.has("profiler_metadata"):
        _add_metadata(rows, reading.path("profiler_metadata"), reading.complaints("profiler_metadata"))
        rows.file = reading.name("profiler_metadata")
    for kind in ("database", "msprof"):
        if not len(rows) and reading.has(kind):
            rows.file = reading.name(kind)
            told = reading.asked(kind, lambda database, complaints: Tasks(database, complaints).groups())
            _add_told(rows, told, reading.complaints(kind))
    for kind in ("cluster_database", "cluster_groups"):
        rows.file = reading.name(kind) or rows.file
    if reading.has("cluster_groups"):
        complaints = reading.complaints("cluster_groups")
        content = _object(reading.path("cluster_groups"), complaints)
        _add_mapped(rows, content.get("comm_group_parallel_info", []), complaints)
    elif reading.has("cluster_database"):
        told = reading.asked("cluster_database", communication_tables.mapped_groups)
        _add_mapped(rows, told or [], reading.complaints("cluster_database"))
    return rows


class _MetadataGroup(msgspec.Struct):
    group_name: Any = ""
    global_ranks: msgspec.Raw = msgspec.Raw(b"null")


class _RankMetadata(msgspec.Struct):
    parallel_group_info: dict[str, _MetadataGroup] = {}


def _add_metadata(rows: FileRows, path: str, complaints: Complaints) -> None:
    """Append the groups in profiler_metadata.json. It has a list of all ranks for each of them: 600 MB at 10,000 ranks."""
    try:
        with RegularFile(path) as file:
            data = file.read(0, min(file.size, LONGEST_JSON))
        about = msgspec.json.decode(data, type=_RankMetadata)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        _add_told(rows, _object(path, complaints).get("parallel_group_info"), complaints)
        return
    report_read(len(data))
    for name, group in about.parallel_group_info.items():
        _add_group(rows, name, group.group_name, told_ranks(bytes(group.global_ranks)), complaints)


def _object(path: str, complaints: Complaints) -> dict[str, Any]:
    try:
        found = read_json(path)
    except OSError as error:
        complaints.add(f"The file cannot be read ({error.strerror or error}); what is in it is not shown.", "unreadable")
        return {}
    except FormatError as error:
        complaints.add(f"Nothing is taken from the file: {error}.")
        return {}
    return found if isinstance(found, dict) else {}


def _add(rows: FileRows, group: str, name: str, kind: str, ranks: str, size: int) -> None:
    rows.add(group=group, name=name, kind=kind, ranks=ranks, size=size, told="yes")


def _add_told(rows: FileRows, told: Any, complaints: Complaints) -> None:
    """Append parallel_group_info."""
    for name, group in told.items() if isinstance(told, dict) else ():
        about = group if isinstance(group, dict) else {}
        ranks = ranks_in(about.get("global_ranks"))
        told_in = (text_of(ranks), len(ranks)) if ranks is not None else None
        _add_group(rows, name, about.get("group_name"), told_in, complaints)


def _add_group(rows: FileRows, name: str, kind: Any, ranks: tuple[str, int] | None, complaints: Complaints) -> None:
    if ranks is None:
        complaints.add(f"Group {name[:60]}: expected global_ranks, a list of ranks; it was skipped.")
    else:
        _add(rows, hash_of(name), name, kind if isinstance(kind, str) else "", *ranks)


def _add_seen(rows: FileRows, groups: Mapping[str, tuple[int, ...]], file: str) -> None:
    """Append groups whose ranks only the keys of cluster_communication.json tell."""
    known = rows.texts["group"]
    rows.file = rows.file or file
    for group, ranks in groups.items():
        if group not in known:
            _add(rows, group, "", "", text_of(ranks), len(ranks))


def _add_mapped(rows: FileRows, told: Any, complaints: Complaints) -> None:
    """Append comm_group_parallel_info of a cluster."""
    for group in told if isinstance(told, list) else ():
        ranks = group.get("rank_set") if isinstance(group, dict) else None
        found = ranks_named(ranks) if isinstance(ranks, str) else ranks_in(ranks)
        if found is None:
            complaints.add(f"Expected a group with rank_set, found {json.dumps(group, default=str)[:60]}; it was skipped.")
            continue
        hashed, name, kind = (str(group.get(key) or "") for key in ("group_name", "group_id", "pg_name"))
        _add(rows, _NOT_TEXT.sub("", hashed), name, kind, text_of(found), len(found))


_NOT_TEXT = re.compile(r"[\ud800-\udfff]")
