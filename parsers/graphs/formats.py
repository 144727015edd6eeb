"""The graph formats, one line each. A file is recognised by its content first, by its name second."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass

from parsers.errors import FormatError
from parsers.graphs import anf_ir, dot, ir_text, onnx, snapshot, tensorflow
from parsers.graphs.graph import Graph, Origin
from parsers.payloads.cache import ByteStore

log = logging.getLogger(__name__)

HEAD = 4096


@dataclass(frozen=True, slots=True)
class GraphFormat:
    """One format: its name, a check of a file's first bytes, a pattern of file names, and the function that decodes the bytes.

    longest is the maximum number of bytes read, which takes some seconds and a few gigabytes of memory. read never raises for
    damage: it returns what it finds, if need be a graph without nodes.
    """

    name: str
    sniff: Callable[[bytes], bool]
    pattern: str
    read: Callable[[bytes, Origin], Graph]
    longest: int

    def check(self, size: int) -> None:
        """Raise FormatError for more than `longest` bytes."""
        if size > self.longest:
            raise FormatError(f"expected a graph of at most {self.longest:,} bytes, found {size:,}")


# If no format recognises the content, the first one that fits the name is tried.
FORMATS: tuple[GraphFormat, ...] = (
    GraphFormat(anf_ir.FORMAT, anf_ir.sniff, r"\.pb$", anf_ir.read_graph, 256 << 20),
    GraphFormat(ir_text.FORMAT, ir_text.sniff, r"\.ir$|^trace_code_graph_\d+$", ir_text.read_graph, 512 << 20),
    GraphFormat(dot.FORMAT, dot.sniff, r"\.dot$", dot.read_graph, 64 << 20),
    GraphFormat(tensorflow.FORMAT, tensorflow.sniff, r"\.pb$", tensorflow.read_graph, 512 << 20),
    GraphFormat(onnx.FORMAT, onnx.sniff, r"\.onnx$", onnx.read_graph, 1 << 30),
)


def decoded(form: GraphFormat, data: bytes, origin: Origin, stored: ByteStore | None) -> Graph:
    """Return the graph in these bytes: from its snapshot if there is a sound one, else decoded, and a snapshot is stored."""
    if stored is None or form.name != anf_ir.FORMAT or len(data) < snapshot.LEAST_BYTES:
        return form.read(data, origin)
    key = snapshot.key_of(data)
    known = stored.read(key)
    if known is not None:
        try:
            return snapshot.load(known, data, origin)
        except FormatError as error:
            log.info("index: %s; the graph is decoded again", error)
    graph = form.read(data, origin)
    parts = snapshot.dump(graph)
    if parts is not None:
        stored.write(key, parts)
    return graph


def format_of(head: bytes, name: str) -> GraphFormat | None:
    """Return the format of a file by its first up to HEAD bytes, else by its name; None if neither is known."""
    by_name = [one for one in FORMATS if re.search(one.pattern, name)]
    by_content = [one for one in FORMATS if one.sniff(head)]
    for one in by_content:
        if one in by_name:
            return one
    return next(iter(by_content or by_name), None)


def recognised(head: bytes) -> bool:
    """Return whether the first bytes of a file are of any of the formats."""
    return any(one.sniff(head) for one in FORMATS)


def format_named(name: str) -> GraphFormat:
    """Return the format of this name."""
    return next(one for one in FORMATS if one.name == name)


def stage_of(name: str) -> str:
    """Return the compile stage in a file name: `optimize` of ms_output_optimize.pb, `24_execute` of 24_execute_0097.ir."""
    stem = re.sub(r"\.(pb|ir|dot|onnx)$", "", name).removeprefix("ms_output_")
    return re.sub(r"_\d{4,}$", "", stem)
