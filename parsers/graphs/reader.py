"""Files that hold one graph each, as MindSpore saves them (`MS_DEV_SAVE_GRAPHS=1`, `MS_DEV_SAVE_GRAPHS_PATH=dir`), and those
of TensorFlow and ONNX. What formats they have is in `formats`.

Reading only looks whether a file is a graph and puts it into the run's index; it is decoded when somebody asks for it. A file
that changed is another graph: nothing is read on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parsers.discovery import GRAPH_NAME
from parsers.errors import FormatError
from parsers.events.files import EventFile
from parsers.events.reading import NOWHERE, unreadable
from parsers.graphs.formats import HEAD, format_of, recognised, stage_of
from parsers.graphs.graph import Graph, Origin
from parsers.model import Batch, Cursor, PayloadBlock, Problem
from parsers.names import printable

_ACTORS = re.compile(rb"\[Device tensor stores\]|%\d+ = \w*Actor\(|^\t?\[Kernel actors|Actor\(name:", re.MULTILINE)


@dataclass(frozen=True)
class GraphReader:
    """Reads files of one graph; satisfies `parsers.model.Reader`."""

    name: str = "graph"
    kinds: tuple[str, ...] = ("graph",)
    signed: bool = True
    appendable: bool = False
    checksummed: bool = False

    def sniff(self, head: bytes) -> bool:
        """Whether the first up to 4,096 bytes of a file are of a graph of any format."""
        return recognised(head)

    def named(self, name: str) -> bool:
        """Whether a file of this name is expected to be a graph."""
        return GRAPH_NAME.fullmatch(name) is not None

    def read(self, path: str, cursor: Cursor | None = None, limit: int | None = None) -> Batch:  # noqa: ARG002  one piece
        """The file as one large value of kind "graph", tagged with its name; nothing where it has not changed."""
        try:
            with EventFile(path) as file:
                return _read(file, cursor)
        except OSError as error:
            return Batch(cursor or NOWHERE, problems=(unreadable(path, error),))

    def verify(self, path: str) -> Sequence[Problem]:
        """Decode the whole graph; return all that is wrong."""
        batch = self.read(path)
        if not batch.payloads:
            return batch.problems
        try:
            return read_file(path).problems
        except (OSError, FormatError) as error:
            return (Problem(path, 0, 0, "unreadable", str(error)),)


GRAPHS = GraphReader()


def _read(file: EventFile, cursor: Cursor | None) -> Batch:
    size, mtime = file.size, file.status.st_mtime
    if cursor is not None and cursor.size == size and cursor.mtime == mtime and file.continues(cursor):
        return Batch(cursor)
    found = file.cursor(size, size)
    now = Cursor(found.offset, found.device, found.inode, found.size, found.tail_crc, mtime=mtime)
    again = cursor is not None and cursor.size > 0
    if not size:
        text = "The file has no bytes yet; it is read as soon as it grows."
        return Batch(now, problems=[Problem(file.path, 0, 0, "empty_file", text)], restarted=again)
    head = file.read(0, HEAD)
    problem = None if recognised(head) else _refused(file, head)
    if problem is not None:
        return Batch(now, problems=[problem], bytes_read=size, restarted=again)
    one = np.zeros(1, np.int64)
    tag = printable(os.path.basename(file.path))
    block = PayloadBlock("graph", tag, one, np.array([mtime]), one, one, np.array([size]), np.ones(1, np.bool_))
    return Batch(now, payloads=[block], problems=[], records=1, bytes_read=size, restarted=again)


def _refused(file: EventFile, head: bytes) -> Problem | None:
    """Why a file whose beginning is of no format holds no graph; None where something can be read of it all the same."""
    form = format_of(head, os.path.basename(file.path))
    if form is not None and file.size <= form.longest and len(form.read(file.read(0, file.size), Origin(file.path)).nodes):
        return None
    if _ACTORS.search(head):
        text = "The file is not a graph: it lists the actors that MindSpore's runtime made of one. Nothing is lost."
    else:
        text = f"The file is not a graph of a known format, though its name says so; it begins with {bytes(head[:16])!r}."
    return Problem(file.path, 0, 0, "no_graph", text)


def read_file(path: str, cursor: Cursor | None = None) -> Graph:
    """The graph of a file, of whatever format. OSError where it cannot be read, FormatError where it is not what it was at
    the cursor or too large."""
    with EventFile(path) as file:
        if cursor is not None and (file.size != cursor.size or not file.continues(cursor)):
            raise FormatError("wanted the graph that was indexed, got another file: it was replaced since")
        head, name = file.read(0, HEAD), os.path.basename(path)
        form = format_of(head, name)
        if form is None:
            raise FormatError(f"wanted a graph, got a file that begins with {head[:16]!r}")
        form.check(file.size)
        data = file.read(0, file.size)
        mtime = file.status.st_mtime
    return form.read(data, Origin(path, 0, mtime, stage_of(printable(name))))
