"""What a dump holds, as it is collected: rows without values, and their properties from names, tables and JSON.

A row is a context (rank, graph, iteration, directory), a template (operator, slot, type: the same in all iterations), a time, a
size and a file name. So 100,000 files are a few lists of numbers and short texts.
"""

from __future__ import annotations

import os
from array import array
from dataclasses import dataclass, field
from typing import NamedTuple

from parsers.dumps.statistics import TensorStatistics
from parsers.dumps.values import TensorPlace
from parsers.model import Problem
from parsers.names import printable

MOST_PROBLEMS = 200


class Context(NamedTuple):
    """Where rows are from. root is the directory of the rank, path that of the files, shown its path below the run."""

    rank: int
    part: str
    net: str
    graph: int
    iteration: int
    root: str
    path: str
    shown: str


class Template(NamedTuple):
    """What rows of all iterations share; columns of DUMP_TENSORS."""

    type: str
    recorded: str
    io: str
    slot: int
    key: str = ""
    dtype: str = ""
    shape: str = ""
    format: str = ""


@dataclass(frozen=True, slots=True)
class Stated:
    """Statistics that a file states. non_finite: 1, 0, or -1 for unknown. source: statistic.csv or dump.json."""

    values: TensorStatistics
    non_finite: int
    source: str
    hash: str = ""


@dataclass(frozen=True, slots=True)
class Overflow:
    """An overflow that a device reported, in the columns of DUMP_OVERFLOWS."""

    context: int
    name: str
    type: str
    unit: str
    task: int
    stream: int
    status: int
    time_ns: int
    file: str


@dataclass(slots=True)
class DumpRankFiles:
    """Files about one rank of a kernel dump: graphs and execution orders by number of the graph, order of iterations."""

    graphs: dict[int, str] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)
    orders: dict[int, list[str]] = field(default_factory=dict)
    runs: dict[int, list[int]] = field(default_factory=dict)


@dataclass(slots=True)
class TensorListing:
    """Everything listed so far. rows of `context`, `template`, `time_ns`, `size`, `mtime_ns` and `name` belong together.

    name is empty once the frame of tensors has the paths; strange has the names that are no text, by row. known are the
    templates of file names without their times, None for names that are not understood. places are those of tensors that are
    parts of files, stated the statistics of rows that a file states, by row. ranks are by root.
    listed is the mtime of each directory in ns.
    """

    base: str
    contexts: list[Context] = field(default_factory=list)
    templates: dict[Template, int] = field(default_factory=dict)
    context: array[int] = field(default_factory=lambda: array("i"))
    template: array[int] = field(default_factory=lambda: array("i"))
    time_ns: array[int] = field(default_factory=lambda: array("q"))
    size: array[int] = field(default_factory=lambda: array("q"))
    mtime_ns: array[int] = field(default_factory=lambda: array("q"))
    name: list[str] = field(default_factory=list)
    known: dict[tuple[str, str], int | None] = field(default_factory=dict)
    strange: dict[int, str] = field(default_factory=dict)
    places: dict[int, TensorPlace] = field(default_factory=dict)
    stated: dict[int, Stated] = field(default_factory=dict)
    ranks: dict[str, DumpRankFiles] = field(default_factory=dict)
    overflows: list[Overflow] = field(default_factory=list)
    problems: dict[Problem, None] = field(default_factory=dict)
    listed: dict[str, int] = field(default_factory=dict)

    def open_context(self, rank: int, part: str, net: str, graph: int, iteration: int, root: str, path: str) -> int:
        """Add a context; return its number."""
        shown = printable(os.path.relpath(path, self.base)).replace(os.sep, "/")
        self.contexts.append(Context(rank, part, net, graph, iteration, root, path, "" if shown == "." else f"{shown}/"))
        return len(self.contexts) - 1

    def add(self, context: int, template: Template, time_ns: int, size: int, name: str, mtime_ns: int = 0) -> int:
        """Add a row; return its number. mtime_ns is that of its file, 0 for none."""
        self.context.append(context)
        self.template.append(self.templates.setdefault(template, len(self.templates)))
        self.time_ns.append(time_ns)
        self.size.append(size)
        self.mtime_ns.append(mtime_ns)
        self.name.append(name)
        return len(self.name) - 1

    def problem(self, path: str, text: str, kind: str = "bad_dump", offset: int = 0, length: int = 0) -> None:
        """Add damage that a user is to see; of many problems only the first."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems[Problem(path, offset, length, kind, text)] = None

    def unreadable(self, path: str, error: OSError) -> None:
        """Add a file or directory that cannot be read."""
        self.problem(path, unreadable_text(error), "unreadable")


def unreadable_text(error: OSError) -> str:
    """Say why a file cannot be read; dumps are written with mode 0400."""
    reason = error.strerror or str(error)
    if isinstance(error, PermissionError):
        reason = f"{reason}: it belongs to another user, or its mode forbids reading; dumps are written with mode 0400"
    return f"The file cannot be read ({reason}); the rest of the dump is shown."
