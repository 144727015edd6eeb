"""The dump of a run: its tensors by rank and iteration, listed when they are asked for, and read one by one."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from parsers.deferred import pandas as pd
from parsers.dump_frames import DUMP_STATISTICS
from parsers.dumps import kernel, msprobe
from parsers.dumps.graphs import DumpGraphs, Flow
from parsers.dumps.listing import Listing, Stated, unreadable_text
from parsers.dumps.places import KERNEL_RANK, METADATA, STEP, is_msprobe
from parsers.dumps.statistics import NAMES, TensorStatistics, statistics_of
from parsers.dumps.tables import Tables, categorical, executions_of, overflows_of, tables_of
from parsers.dumps.values import Array, TensorHeader, TensorPlace, chunks, read_tensor, read_tensor_header
from parsers.errors import FormatError, PayloadError
from parsers.graphs.graph import SourceLine
from parsers.model import Ints, Problem

COMPUTED = "computed"
_SETTLED_SECONDS = 60.0
_STACK_LINE = re.compile(r"File (?P<file>.*?), line (?P<line>\d{1,9}), in (?P<function>[^,\n]*),?\s*(?P<code>.*)", re.DOTALL)

Progress = Callable[[int, int], bool]
"""Called with the number of tensors done and the number of all; returns whether to go on."""


class RunDump:
    """The dump in directories of one run. Reads nothing before it is asked, and then only what is asked for.

    A row is a position in `tensors`; it is valid until `refresh` returns True.
    """

    def __init__(self, base: str, directories: Sequence[str]) -> None:
        """base is the directory of the run, directories those of its dumps (`Source.dump_dirs`)."""
        self.base, self.directories = base, tuple(directories)
        self._lock = threading.RLock()
        self._listing: Listing | None = None
        self._tables: Tables | None = None
        self._graphs: DumpGraphs | None = None
        self._listed_at = 0.0
        self._computed: dict[tuple[str, int, int], TensorStatistics] = {}
        self._headers: dict[tuple[str, int, int], TensorHeader] = {}
        self._failed: dict[tuple[str, int, int], Problem] = {}
        self._places: dict[tuple[int, int], list[int]] = {}
        self._described: dict[tuple[str, str], dict[str, Any]] = {}

    def __repr__(self) -> str:
        return f"RunDump({self.base!r}, directories={len(self.directories)})"

    def __bool__(self) -> bool:
        return bool(self.directories)

    # What there is -------------------------------------------------------------------------------------------------

    @property
    def tensors(self) -> pd.DataFrame:
        """Every tensor of the dump (schema DUMP_TENSORS); none of them has been read."""
        return self._found().tensors

    @property
    def executions(self) -> pd.DataFrame:
        """Runs of graphs (schema DUMP_EXECUTIONS)."""
        return executions_of(self._listed(), self.tensors)

    @property
    def overflows(self) -> pd.DataFrame:
        """Overflows that an Ascend device reported (schema DUMP_OVERFLOWS)."""
        return overflows_of(self._listed())

    @property
    def graphs(self) -> DumpGraphs:
        """(rank, number) -> computation graph, decoded when it is asked for."""
        with self._lock:
            self._found()
            assert self._graphs is not None
            return self._graphs

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that have tensors."""
        return tuple(sorted({int(rank) for rank in self.tensors["rank"].unique()}))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Damage found so far: in names, tables and JSON, and in the tensors that have been read."""
        with self._lock:
            listed = tuple(self._listing.problems) if self._listing is not None else ()
            return tuple(dict.fromkeys((*listed, *self._failed.values())))

    def refresh(self) -> bool:
        """List the dump again if files were added; return whether rows changed. Nothing is read that was not read before."""
        with self._lock:
            if self._listing is None or not self._stale():
                return False
            before = self._tables.tensors if self._tables is not None else None
            self._listing = self._tables = self._graphs = None
            self._failed.clear()
            self._places.clear()
            self._described.clear()
            return before is None or not before.equals(self.tensors)

    def _stale(self) -> bool:
        assert self._listing is not None
        newest = 0
        for path, mtime_ns in self._listing.listed.items():
            try:
                now = os.stat(path).st_mtime_ns
            except OSError:
                return True
            if now != mtime_ns:
                return True
            newest = max(newest, now)
        # A file that grows does not change the time of its directory.
        return self._listed_at - newest / 1e9 < _SETTLED_SECONDS

    def _listed(self) -> Listing:
        with self._lock:
            if self._listing is None:
                self._listing = listing = Listing(self.base)
                self._listed_at = time.time()
                for directory in self.directories:
                    _list(listing, directory)
            return self._listing

    def _found(self) -> Tables:
        with self._lock:
            if self._tables is None:
                listing = self._listed()
                ranks = {one.root: one.rank for one in reversed(listing.contexts)}
                ranks |= {root: _rank_of(root) for root in listing.ranks if root not in ranks}
                self._graphs = DumpGraphs(listing, ranks)
                self._tables = tables_of(listing, self._graphs.of_file, self._parents)
                _report_two_runs(listing, self._tables)
            return self._tables

    # One tensor ----------------------------------------------------------------------------------------------------

    def tensor(self, row: int) -> Array:
        """Return the values of a tensor; bfloat16 as float32.

        IndexError for a row that is none; PayloadError, which says why, if it has no values or they cannot be read.
        """
        found: Array = self._read(row, read_tensor)
        return found

    def header(self, row: int) -> TensorHeader:
        """Return type and shape of a tensor from its file. Errors as for `tensor`."""
        key = self._key(row)
        if key not in self._headers:
            self._headers[key] = self._read(row, read_tensor_header)
        return self._headers[key]

    def pieces(self, row: int, *, size_bytes: int = 1 << 20) -> Iterator[Array]:
        """Yield the values of a tensor in the order of the file, in pieces of about this many bytes; each is overwritten.

        Errors as for `tensor`.
        """
        place = self._place(row)
        try:
            yield from chunks(place, size_bytes=size_bytes)
        except (FormatError, OSError, MemoryError) as error:
            raise self._refused(row, place, error) from error

    def previous(self, row: int) -> int | None:
        """Return the row of the same tensor in the iteration before, of several the one of the same occurrence, else the last.

        None if that iteration was not dumped, or there is none before.
        """
        tables = self._found()
        self._check(row)
        with self._lock:
            if not self._places:
                iterations = tables.tensors["iteration"].tolist()
                for place, key in enumerate(zip(tables.series.tolist(), iterations, strict=True)):
                    self._places.setdefault(key, []).append(place)
        iteration = int(tables.tensors["iteration"].to_numpy()[row])
        if iteration < 1:
            return None
        found = self._places.get((int(tables.series[row]), iteration - 1), [])
        occurrence = int(tables.tensors["occurrence"].to_numpy()[row])
        return found[min(occurrence, len(found) - 1)] if found else None

    def history(self, row: int) -> tuple[int, ...]:
        """Return the rows of the same tensor in all iterations, the earliest first."""
        tables = self._found()
        self._check(row)
        found: tuple[int, ...] = tuple(np.flatnonzero(tables.series == tables.series[row]).tolist())
        return found

    def stack(self, row: int) -> tuple[SourceLine, ...]:
        """Return the lines of the program that the operator of a row is from, outermost call first; none if unknown."""
        tables = self._found()
        self._check(row)
        context = self._listed().contexts[self._listed().context[int(tables.listed[row])]]
        name = str(tables.tensors["name"].iat[row])
        if context.root in self._listed().ranks:
            return self.graphs.source_lines((context.rank, context.graph), name)
        stacks = self._object(context.path, "stack.json")
        lines = stacks.get(name) or stacks.get(msprobe.forward_name(name)) or []
        return tuple(_stack_line(line) for line in reversed(lines))

    def flow(self, row: int) -> Flow | None:
        """Return what the graph of a row says of names and values; None for dumps without graphs."""
        tables = self._found()
        context = self._listed().contexts[self._listed().context[int(tables.listed[row])]]
        return tables.flows.get((context.root, context.graph))

    def parents(self, row: int) -> Mapping[str, str]:
        """Return entry -> the module it is in, of the step of a row of msprobe; {} for other dumps."""
        tables = self._found()
        number = self._listed().context[int(tables.listed[row])]
        context = self._listed().contexts[number]
        return {} if context.root in self._listed().ranks else self._parents(number)

    def _parents(self, context: int) -> Mapping[str, str]:
        return self._object(self._listed().contexts[context].path, "construct.json")

    def _object(self, directory: str, name: str) -> dict[str, Any]:
        with self._lock:
            key = (directory, name)
            if key not in self._described:
                path = os.path.join(directory, name)
                try:
                    content = msprobe.read_object(path)
                except (FormatError, OSError) as error:
                    text = unreadable_text(error) if isinstance(error, OSError) else f"Nothing is taken from the file: {error}."
                    self._listed().problem(path, text, "unreadable" if isinstance(error, OSError) else "bad_dump")
                    content = {}
                of_stack = name == "stack.json"
                self._described[key] = dict(msprobe.stacks_of(content) if of_stack else msprobe.parents_of(content))
            return self._described[key]

    def _check(self, row: int) -> None:
        count = len(self._found().tensors)
        if not 0 <= row < count:
            raise IndexError(f"{self.base}: expected row 0 to {count - 1:,}, found {row:,}")

    def _place(self, row: int) -> TensorPlace:
        tables, listing = self._found(), self._listed()
        self._check(row)
        place = int(tables.listed[row])
        if place in listing.places:
            return listing.places[place]
        file = str(tables.tensors["file"].iat[row])
        if not file:
            text = f"{tables.tensors['name'].iat[row]}: only statistics were dumped, no values"
            raise PayloadError(text)
        context = listing.contexts[listing.context[place]]
        return TensorPlace(os.path.join(context.path, listing.strange.get(place, file[len(context.shown) :])))

    def _key(self, row: int) -> tuple[str, int, int]:
        place = self._place(row)
        return place.path, place.offset, int(self.tensors["size_bytes"].to_numpy()[row])

    def _read(self, row: int, read: Callable[[TensorPlace], Any]) -> Any:
        place = self._place(row)
        try:
            return read(place)
        except (FormatError, OSError, MemoryError) as error:
            raise self._refused(row, place, error) from error

    def _refused(self, row: int, place: TensorPlace, error: Exception) -> PayloadError:
        """Note why a tensor cannot be read, and return the error to raise."""
        if isinstance(error, OSError):
            kind, text = "unreadable", unreadable_text(error)
        elif isinstance(error, MemoryError):
            kind, text = "bad_dump", "The tensor does not fit in memory."
        else:
            kind, text = "bad_dump", f"The tensor is not shown: {error}."
        with self._lock:
            self._failed[self._key(row)] = Problem(place.path, max(place.offset, 0), place.size, kind, text)
        return PayloadError(text, place.path, max(place.offset, 0))

    # Statistics ----------------------------------------------------------------------------------------------------

    @property
    def statistics(self) -> pd.DataFrame:
        """Statistics of all tensors (schema DUMP_STATISTICS), in the order of `tensors`: as files state them, else computed."""
        return self.statistics_of()

    def statistics_of(
        self, rows: Sequence[int] | None = None, *, computed: bool = False, progress: Progress | None = None
    ) -> pd.DataFrame:
        """Return the statistics of rows (all of them for None), computing those that no file states.

        computed: compute all whose values were dumped, also if a file states some statistics. progress may stop after
        each tensor; the rest is then unknown. Tensors that cannot be read have no statistics, and are in `problems`.
        """
        tables, listing = self._found(), self._listed()
        chosen = range(len(tables.tensors)) if rows is None else rows
        found: list[TensorStatistics] = []
        known: list[tuple[int, str, str, str, str]] = []
        stopped = False
        for done, row in enumerate(chosen):
            stated = listing.stated.get(int(tables.listed[row]))
            if stated is not None and not (computed and tables.tensors["file"].iat[row]):
                found.append(stated.values)
                known.append((stated.non_finite, stated.hash, stated.source, "", ""))
                continue
            one = None if stopped else self._compute(row)
            if one is None:
                found.append(stated.values if stated is not None else TensorStatistics())
                known.append(_unknown(stated))
            else:
                header = self._headers.get(self._key(row))
                shape = "" if header is None else "x".join(map(str, header.shape)) or "[]"
                found.append(one)
                hashed = "" if stated is None else stated.hash
                bad = -1 if one.count < 0 else int(one.finite < one.count)
                known.append((bad, hashed, COMPUTED, "" if header is None else header.dtype, shape))
            stopped = stopped or (progress is not None and not progress(done + 1, len(chosen)))
        return _statistics_frame(tables.tensors, list(chosen), found, known)

    def known_statistics(self, row: int) -> TensorStatistics | None:
        """Return the statistics of a row if they have been computed; None if not."""
        try:
            return self._computed.get(self._key(row))
        except PayloadError:
            return None

    def keep_statistics(self, row: int, values: TensorStatistics, header: TensorHeader) -> None:
        """Take statistics that another process computed."""
        key = self._key(row)
        self._computed[key], self._headers[key] = values, header

    def _compute(self, row: int) -> TensorStatistics | None:
        """Return the statistics of a tensor's values; None if it has none or they cannot be read."""
        try:
            key = self._key(row)
            if key not in self._computed and key not in self._failed:
                self.header(row)
                self._computed[key] = statistics_of(self.pieces(row))
            return self._computed.get(key)
        except PayloadError:
            return None


def _unknown(stated: Stated | None) -> tuple[int, str, str, str, str]:
    return (-1, "", "", "", "") if stated is None else (stated.non_finite, stated.hash, stated.source, "", "")


def _list(listing: Listing, directory: str) -> None:
    """List one directory of a dump."""
    if not os.path.isdir(os.path.join(directory, METADATA)):
        try:
            steps = sorted(name for name in os.listdir(directory) if STEP.fullmatch(name))
        except OSError as error:
            listing.unreadable(directory, error)
            return
        if is_msprobe(directory, steps):
            msprobe.list_msprobe(listing, directory)
            return
    kernel.list_rank(listing, directory, _rank_of(directory))


def _rank_of(directory: str) -> int:
    match = KERNEL_RANK.fullmatch(os.path.basename(directory))
    return int(match[1]) if match is not None else 0


def _report_two_runs(listing: Listing, tables: Tables) -> None:
    """Say if a tensor of a graph without loops was written more often than the graph ran: files of an earlier run are left."""
    tensors = tables.tensors
    if not len(tensors):
        return
    for root, files in listing.ranks.items():
        part = os.path.basename(root)
        for graph, runs in files.runs.items():
            rows = ((tensors["graph"] == graph) & (tensors["part"] == part) & (tensors["iteration"] >= 0)).to_numpy()
            counts = np.bincount(np.array(runs, np.int64)) if runs and max(runs) < 1 << 20 else np.zeros(1, np.int64)
            iteration = tensors["iteration"].to_numpy()[rows]
            ran = counts[np.minimum(iteration, len(counts) - 1)] * (iteration < len(counts))
            more = (tensors["occurrence"].to_numpy()[rows] >= np.maximum(ran, 1)) & (ran > 0)
            if more.any():
                text = (
                    f"Graph {graph} ran {int(ran[more][0])} time(s) in iteration {int(iteration[more][0])}, but tensors were "
                    "written more often: the directory holds the dumps of two runs. Both are shown, by the column occurrence."
                )
                listing.problem(root, text)


def _statistics_frame(
    tensors: pd.DataFrame, rows: list[int], found: list[TensorStatistics], known: list[tuple[int, str, str, str, str]]
) -> pd.DataFrame:
    places: Ints = np.array(rows, np.int64)
    columns: dict[str, Any] = {"row": places}
    for name in ("rank", "iteration", "slot"):
        columns[name] = tensors[name].to_numpy()[places]
    for name in ("name", "io"):
        columns[name] = tensors[name].array.take(places)
    for at, name in ((3, "dtype"), (4, "shape")):
        stated = tensors[name].astype(object).to_numpy()[places]
        texts = [str(one[at] or text) for one, text in zip(known, stated.tolist(), strict=True)]
        columns[name] = categorical(texts)
    for name in NAMES:
        kind = np.float64 if name in ("max", "min", "mean", "std", "l2", "abs_mean") else np.int64
        columns[name] = np.array([getattr(one, name) for one in found], kind)
    columns["non_finite"] = np.array([one[0] for one in known], np.int64)
    columns["hash"], columns["source"] = categorical([one[1] for one in known]), categorical([one[2] for one in known])
    frame = pd.DataFrame({name: columns[name] for name in DUMP_STATISTICS.names}, copy=False)
    return DUMP_STATISTICS.check(frame)


def _stack_line(line: str) -> SourceLine:
    match = _STACK_LINE.match(line)
    if match is None:
        return SourceLine("", 0, 0, line.strip())
    number = int(match["line"])
    return SourceLine(match["file"], number, number, match["code"].strip())
