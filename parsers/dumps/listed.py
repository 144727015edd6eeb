"""The tensors of a dump: listed when they are asked for, and read one by one."""

from __future__ import annotations

import itertools
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from parsers.ages import age_of
from parsers.deferred import pandas as pd
from parsers.dumps import kernel, msprobe
from parsers.dumps.graphs import DumpGraphs, GraphFlow
from parsers.dumps.listing import TensorListing, unreadable_text
from parsers.dumps.places import KERNEL_RANK, METADATA, STEP, is_msprobe
from parsers.dumps.refusals import refused
from parsers.dumps.tables import TensorTables, executions_of, overflows_of, tables_of
from parsers.dumps.values import (
    Array,
    StoredTensor,
    TensorHeader,
    TensorPlace,
    chunks,
    read_tensor,
    read_tensor_header,
)
from parsers.errors import FormatError, PayloadError
from parsers.graphs.graph import SourceLine
from parsers.model import Ints, Problem

_SETTLED_SECONDS = 60.0
_MOST_PROBLEMS = 400
_STACK_LINE = re.compile(r"File (?P<file>.*?), line (?P<line>\d{1,9}), in (?P<function>[^,\n]*),?\s*(?P<code>.*)", re.DOTALL)

TensorKey = tuple[str, int, int, int]
"""Path, offset, size and mtime in ns of a tensor: while these stay the same, one that cannot be read is not read again."""


class DumpFiles:
    """The tensors of a dump in directories of one run. Reads nothing before it is asked, and then only what is asked for.

    A row is a position in `tensors`; it is valid until `refresh` returns True.
    """

    def __init__(self, base: str, directories: Sequence[str]) -> None:
        """base is the directory of the run, directories those of its dumps (`Source.dump_dirs`)."""
        self.base, self.directories = base, tuple(directories)
        self._lock = threading.RLock()
        self._listing: TensorListing | None = None
        self._tables: TensorTables | None = None
        self._graphs: DumpGraphs | None = None
        self._listed_at = 0.0
        self._failed: dict[TensorKey, Problem] = {}
        self._by_series: tuple[Ints, Ints] | None = None
        self._described: dict[tuple[str, str], dict[str, Any]] = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base!r}, directories={len(self.directories)})"

    def __bool__(self) -> bool:
        return bool(self.directories)

    # What there is -------------------------------------------------------------------------------------------------

    @property
    def tensors(self) -> pd.DataFrame:
        """Every tensor of the dump (schema DUMP_TENSORS); none of them has been read."""
        return self._found().tensors

    @property
    def series(self) -> Ints:
        """Number of the tensor of each row: rows of one tensor in all iterations of a rank have the same."""
        return self._found().series

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
            found = tuple(dict.fromkeys((*listed, *self._failed.values())))
        if len(found) <= _MOST_PROBLEMS:
            return found
        text = f"{len(found) - _MOST_PROBLEMS + 1:,} further tensors or files are not shown either; the others are."
        return (*found[: _MOST_PROBLEMS - 1], Problem(self.base, 0, 0, "bad_dump", text))

    @property
    def failures(self) -> int:
        """Number of tensors that could not be read so far."""
        return len(self._failed)

    def refresh(self) -> bool:
        """List the dump again if files were added; return whether rows changed. Nothing is read that was not read before."""
        with self._lock:
            if self._listing is None or not self._stale():
                return False
            before = self._tables.tensors if self._tables is not None else None
            self._listing = self._tables = self._graphs = None
            self._failed.clear()
            self._by_series = None
            self._described.clear()
            return before is None or not before.equals(self.tensors)

    def successor(self, directories: Sequence[str] | None = None) -> Self:
        """Return the dump as it is now, which has not been listed yet.

        directories are given if they are others. The rows of this one stay valid for those who use it.
        """
        return type(self)(self.base, self.directories if directories is None else directories)

    def confirm(self, other: DumpFiles) -> bool:
        """Take it from a later listing that nothing changed; return whether that is so."""
        mine, others = self._found(), other._found()
        same = (
            np.array_equal(mine.mtimes, others.mtimes)
            and mine.tensors.equals(others.tensors)
            and self.executions.equals(other.executions)
            and self.overflows.equals(other.overflows)
            and list(self._listed().problems) == list(other._listed().problems)
        )
        if same:
            with self._lock:
                self._listed().listed, self._listed_at = other._listed().listed, other._listed_at
        return bool(same)

    def stale(self) -> bool:
        """Return whether files may have been added or changed since it was listed; one that was not listed is not stale."""
        with self._lock:
            return self._listing is not None and self._stale()

    def _stale(self) -> bool:
        assert self._listing is not None
        settled = True
        for path, mtime_ns in self._listing.listed.items():
            try:
                now = os.stat(path).st_mtime_ns
            except OSError:
                return True
            if now != mtime_ns:
                return True
            settled = settled and age_of(now / 1e9, self._listed_at) >= _SETTLED_SECONDS
        # A file that grows does not change the time of its directory: a large one may be incomplete for long.
        failed = itertools.islice(self._failed.copy(), _MOST_PROBLEMS)
        return not settled or any(_is_changed(key) for key in failed)

    def _listed(self) -> TensorListing:
        with self._lock:
            if self._listing is None:
                self._listing = listing = TensorListing(self.base)
                self._listed_at = time.time()
                for directory in self.directories:
                    _list(listing, directory)
            return self._listing

    def _found(self) -> TensorTables:
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
        found: TensorHeader = self._read(row, read_tensor_header)
        return found

    def stored(self, row: int) -> StoredTensor:
        """Return a tensor whose values are read where they are indexed.

        Errors as for `tensor`; reading a part raises FormatError or OSError.
        """
        found: StoredTensor = self._read(row, StoredTensor)
        return found

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
        iterations = tables.tensors["iteration"].to_numpy()
        iteration = int(iterations[row])
        if iteration < 1:
            return None
        rows = self._rows_of(tables, int(tables.series[row]))
        found = rows[iterations[rows] == iteration - 1]
        occurrence = int(tables.tensors["occurrence"].to_numpy()[row])
        return int(found[min(occurrence, len(found) - 1)]) if len(found) else None

    def history(self, row: int) -> tuple[int, ...]:
        """Return the rows of the same tensor in all iterations, the earliest first."""
        tables = self._found()
        self._check(row)
        found: tuple[int, ...] = tuple(self._rows_of(tables, int(tables.series[row])).tolist())
        return found

    def _rows_of(self, tables: TensorTables, series: int) -> Ints:
        """Return the rows of a series, ascending."""
        with self._lock:
            if self._by_series is None:
                order = np.argsort(tables.series, kind="stable")
                self._by_series = order, np.searchsorted(tables.series[order], np.arange(len(tables.series) + 1))
            order, begins = self._by_series
        return order[begins[series] : begins[series + 1]]

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

    def flow(self, row: int) -> GraphFlow | None:
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
                    content, refused = msprobe.read_object(path)
                except (FormatError, OSError) as error:
                    text = unreadable_text(error) if isinstance(error, OSError) else f"Nothing is taken from the file: {error}."
                    self._listed().problem(path, text, "unreadable" if isinstance(error, OSError) else "bad_dump")
                    content, refused = {}, 0
                if refused:
                    most = f"{msprobe.LONGEST_ENTRY:,} bytes"
                    text = f"Expected entries of at most {most}, found {refused:,} longer ones, which are left out."
                    self._listed().problem(path, text, "bad_dump")
                of_stack = name == "stack.json"
                self._described[key] = dict(msprobe.stacks_of(content) if of_stack else msprobe.parents_of(content))
            return self._described[key]

    def _check(self, row: int) -> None:
        count = len(self._found().series)
        if not 0 <= row < count:
            raise IndexError(f"{self.base}: expected row 0 to {count - 1:,}, found {row:,}")

    def _place(self, row: int) -> TensorPlace:
        tables, listing = self._found(), self._listed()
        self._check(row)
        place = int(tables.listed[row])
        if place in listing.places:
            return listing.places[place]
        file = str(tables.files[row])
        if not file:
            text = f"{tables.tensors['name'].iat[row]}: only statistics were dumped, no values"
            raise PayloadError(text)
        context = listing.contexts[listing.context[place]]
        return TensorPlace(os.path.join(context.path, listing.strange.get(place, file[len(context.shown) :])))

    def _key(self, row: int) -> TensorKey:
        return self._key_of(row, self._place(row))

    def _key_of(self, row: int, place: TensorPlace) -> TensorKey:
        tables = self._found()
        return place.path, place.offset, int(tables.sizes[row]), int(tables.mtimes[row])

    def _read(self, row: int, read: Callable[[TensorPlace], Any], place: TensorPlace | None = None) -> Any:
        place = place or self._place(row)
        try:
            return read(place)
        except (FormatError, OSError, MemoryError) as error:
            raise self._refused(row, place, error) from error

    def _refused(self, row: int, place: TensorPlace, error: Exception) -> PayloadError:
        """Note why a tensor cannot be read, and return the error to raise."""
        found = refused(place, error)
        self.keep_failure(row, found)
        return PayloadError(found.text, found.path, found.offset)

    def keep_failure(self, row: int, problem: Problem) -> None:
        """Take the reason why another process could not read a tensor."""
        with self._lock:
            self._failed[self._key(row)] = problem

    def place(self, row: int) -> TensorPlace:
        """Return where the values of a tensor are, for another process: `parsers.dumps.values.measure` computes from it.

        Errors as for `tensor`.
        """
        return self._place(row)

    def size_of(self, row: int) -> int:
        """Return how many bytes of its file a tensor takes."""
        return int(self._found().sizes[row])

    @property
    def sizes(self) -> Ints:
        """Bytes of its file that each row takes."""
        return self._found().sizes


def _is_changed(key: TensorKey) -> bool:
    """Return whether the file of a tensor that could not be read is another one now."""
    path, offset, size, mtime_ns = key
    try:
        status = os.stat(path)
    except OSError:
        return False
    return status.st_mtime_ns != mtime_ns or (offset < 0 and status.st_size != size)


def _list(listing: TensorListing, directory: str) -> None:
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


def _report_two_runs(listing: TensorListing, tables: TensorTables) -> None:
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
                    f"Tensors of graph {graph} were written more often in iteration {int(iteration[more][0])} than it ran "
                    f"there (runs: {int(ran[more][0])}): the directory holds the dumps of two runs, or this run is still "
                    "being written. All are shown, by the column occurrence."
                )
                listing.problem(root, text)


def _stack_line(line: str) -> SourceLine:
    match = _STACK_LINE.match(line)
    if match is None:
        return SourceLine("", 0, 0, line.strip())
    number = int(match["line"])
    return SourceLine(match["file"], number, number, match["code"].strip())
