"""The source files of a dump with their lines: own code before packages, and which operators a line made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from parsers.graphs.sources import is_own

from layouts.dumps.open_dump import DumpReport, DumpView, DumpWork
from layouts.kit.state import number, text, texts

MOST_LISTED = 500
_EACH = 200


@dataclass(frozen=True, slots=True)
class StackLine:
    """A line of a file: its number, code, and the operators whose stack it is in, in the order they ran first."""

    number: int
    code: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StackFile:
    """A file with the lines of it that made operators."""

    path: str
    own: bool
    lines: tuple[StackLine, ...]


def lines_work(rank: int) -> DumpWork:
    """Return the work of reading the stacks of all operators of a rank."""

    def job(dump: DumpView, report: DumpReport) -> tuple[StackFile, ...]:
        tensors = dump.tensors
        names = tensors["name"].array
        own = np.flatnonzero((tensors["rank"].to_numpy() == rank) & (tensors["io"].array != "constant"))
        rows = own[np.unique(names.codes[own], return_index=True)[1]]
        order = tensors["order"].to_numpy()[rows]
        rows = rows[np.lexsort((rows, np.where(order < 0, np.iinfo(np.int64).max, order)))]
        found: dict[str, dict[int, tuple[str, dict[str, None]]]] = {}
        for done, row in enumerate(rows.tolist()):
            if done % _EACH == 0:
                report(done, len(rows), _files(found))
            for line in dump.stack(row):
                if line.file:
                    known = found.setdefault(line.file, {}).setdefault(line.first, (line.code, {}))
                    known[1][str(names[row])] = None
        return _files(found)

    return DumpWork("debugger.lines", rank, job)


def _files(found: dict[str, dict[int, tuple[str, dict[str, None]]]]) -> tuple[StackFile, ...]:
    listed = [
        StackFile(path, is_own(path), tuple(StackLine(at, *_line(found[path][at])) for at in sorted(found[path])))
        for path in found
    ]  # fmt: skip
    return tuple(sorted(listed, key=lambda one: (not one.own, one.path)))


def _line(told: tuple[str, dict[str, None]]) -> tuple[str, tuple[str, ...]]:
    return told[0], tuple(told[1])


@dataclass(frozen=True, slots=True)
class SourceFilter:
    """Which part is listed. files are paths of packages that are open; those of own code are open unless they are in it."""

    search: str
    files: frozenset[str]
    opened: frozenset[str]
    first: int
    count: int


def read_look(ask: Any) -> SourceFilter:
    """Parse a request for lines. BadInput if it is malformed."""
    return SourceFilter(
        text(ask, "q", limit=1_000).strip().lower(), frozenset(texts(ask, "files")), frozenset(texts(ask, "lines")),
        int(number(ask, "first", 0.0, 0.0, 2.0**31)), min(int(number(ask, "count", 0.0, 0.0, 2.0**31)), MOST_LISTED),
    )  # fmt: skip


def listed(found: tuple[StackFile, ...], look: SourceFilter) -> dict[str, Any]:
    """Return the part of the list: ["file", path, number of lines, open], ["line", path:number, code, operators, open] and
    ["name", name] below an open line."""
    rows: list[list[Any]] = []
    for file in found:
        wanted = [line for line in file.lines if not look.search or _matches(file, line, look.search)]
        if not wanted:
            continue
        is_open = bool(look.search) or (file.path in look.files) != file.own
        rows.append(["file", file.path, len(wanted), is_open])
        if is_open:
            for line in wanted:
                key = f"{file.path}:{line.number}"
                rows.append(["line", key, line.code, len(line.names), key in look.opened, line.number])
                if key in look.opened:
                    rows += [["name", name] for name in line.names]
    return {"total": len(rows), "first": look.first, "rows": rows[look.first : look.first + look.count]}


def _matches(file: StackFile, line: StackLine, wanted: str) -> bool:
    return wanted in line.code.lower() or wanted in f"{file.path}:{line.number}".lower()


def names_of(found: tuple[StackFile, ...], key: str) -> tuple[str, ...]:
    """Return the operators of a line by its key, path:number."""
    return next((line.names for file in found for line in file.lines if f"{file.path}:{line.number}" == key), ())
