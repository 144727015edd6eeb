"""Reads files that hold one graph each: of MindSpore (`MS_DEV_SAVE_GRAPHS=1`, `MS_DEV_SAVE_GRAPHS_PATH=dir`), TensorFlow and
ONNX. Their formats are in `formats`.

Reading only checks whether a file is a graph and adds it to the run's index; it is decoded on demand. A changed file is
another graph, read from its start. The readers of the formats, 20 modules, are imported for the first such file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from parsers.errors import FormatError
from parsers.file_reading import read_whole
from parsers.files import RegularFile
from parsers.model import NOTE, Batch, Cursor, PayloadBlock, Problem, Reader
from parsers.names import printable

if TYPE_CHECKING:
    from parsers.graphs.graph import Graph
    from parsers.payloads.cache import ByteStore

_ACTORS = re.compile(rb"\[Device tensor stores\]|%\d+ = \w*Actor\(|^\t?\[Kernel actors|Actor\(name:", re.MULTILINE)


_PROFILE_OF_XLA = (
    "The file is a profile of XLA (JAX, TensorFlow, torch_xla), which is not read. TensorBoard with the plugin xprof opens it; "
    "the *.trace.json.gz that xprof exports from it is read here."
)
_OTHER_PROTOBUF = "The file is not a graph: it is the protobuf of another program, and is not read."
_PLANE = re.compile(rb"\x12[\x01-\x7f](?:/host:|/device:|Task Environment)")
"""The name of a plane (field 2 of XPlane in tsl/profiler/protobuf/xplane.proto)."""


def _is_xplane(head: bytes) -> bool:
    """Return whether a file begins with a plane of an XSpace, whose name comes first or after its number."""
    return head[:1] == b"\x0a" and _PLANE.search(head, 0, 64) is not None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GraphReader(Reader):
    """Reads files of one graph."""

    def sniff(self, head: bytes) -> bool:
        """Return whether the first up to 4,096 bytes of a file are of a graph of any format."""
        from parsers.graphs.formats import recognised

        return not _is_xplane(head) and recognised(head)

    def read(self, path: str, cursor: Cursor | None = None, limit: int | None = None) -> Batch:  # noqa: ARG002  one piece
        """Index the file as one large value of kind "graph", tagged with its name; nothing if it has not changed."""
        return read_whole(path, cursor, _index)

    def verify(self, path: str) -> Sequence[Problem]:
        """Decode the whole graph; return all problems."""
        batch = self.read(path)
        if not batch.payloads:
            return batch.problems
        try:
            return read_file(path).problems
        except (OSError, FormatError) as error:
            return (Problem(path, 0, 0, "unreadable", str(error)),)


GRAPHS = GraphReader(
    name="graph",
    pattern=re.compile(r"\A(?!memory_usage_\d+\.pb\Z)(?:(?s:.*)\.(?:pb|ir|dot|onnx)|trace_code_graph_\d+)\Z"),
    signed=True,
)


def _index(file: RegularFile, now: Cursor) -> Batch:
    from parsers.graphs.formats import HEAD, recognised

    head = file.read(0, HEAD)
    xplane = _is_xplane(head)
    problem = Problem(file.path, 0, 0, NOTE, _PROFILE_OF_XLA) if xplane else None if recognised(head) else _refused(file, head)
    if problem is not None:
        return Batch(now, problems=[problem], bytes_read=file.size)
    zero = np.zeros(1, np.int64)
    tag = printable(os.path.basename(file.path))
    block = PayloadBlock("graph", tag, zero, np.array([now.mtime]), zero, zero, np.array([file.size]), np.ones(1, np.bool_))
    return Batch(now, payloads=[block], problems=[], records=1, bytes_read=file.size)


def _refused(file: RegularFile, head: bytes) -> Problem | None:
    """Return why a file with an unrecognised beginning holds no graph; None if nodes can be read from it nevertheless."""
    from parsers.graphs.formats import format_of
    from parsers.graphs.graph import Origin

    form = format_of(head, os.path.basename(file.path))
    if form is not None and file.size <= form.longest and len(form.read(file.whole(), Origin(file.path)).nodes):
        return None
    if _ACTORS.search(head):
        text = "The file is not a graph: it lists the actors that MindSpore's runtime created for one. Nothing is lost."
        return Problem(file.path, 0, 0, NOTE, text)
    if file.path.endswith(".pb"):
        return Problem(file.path, 0, 0, NOTE, _OTHER_PROTOBUF)
    text = f"Expected a graph of a known format, as the name says, found a file that begins with {bytes(head[:16])!r}."
    return Problem(file.path, 0, 0, "no_graph", text)


def read_file(path: str, cursor: Cursor | None = None, stored: ByteStore | None = None) -> Graph:
    """Decode the graph of a file of any format. OSError if it cannot be read, FormatError if it changed since the cursor or
    is too large. A large graph is taken from its snapshot in `stored`, if there is one."""
    from parsers.graphs.formats import HEAD, decoded, format_of, stage_of
    from parsers.graphs.graph import Origin

    with RegularFile(path) as file:
        if cursor is not None and (file.size != cursor.size or not file.continues(cursor)):
            raise FormatError("expected the graph that was indexed, found another file: it was replaced since")
        head, name = file.read(0, HEAD), os.path.basename(path)
        form = format_of(head, name)
        if form is None:
            raise FormatError(f"expected a graph, found a file that begins with {head[:16]!r}")
        form.check(file.size)
        data = file.whole()
        mtime = file.status.st_mtime
    return decoded(form, data, Origin(path, 0, mtime, stage_of(printable(name))), stored)
