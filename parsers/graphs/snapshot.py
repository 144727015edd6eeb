r"""Serialises what decoding a graph gave, so that a large one is decoded only once.

Layout: magic ``MSGR`` and a version byte, padded to 8; uint64 LE length and uint64 LE CRC32C of the header; the header (msgpack
of `_GraphHeader`), padded to a multiple of 8; then the columns, raw little-endian,
each padded to a multiple of 8. A column of texts
is two: where each text begins, and at last where the last one ends, then the texts in UTF-8. For categoricals the header has
the texts, and the columns hold codes. Nothing in it is executed. The bytes of the graph stay in its file: the key is their
hash, so a snapshot never belongs to other bytes than those at hand. Damaged graphs are not stored.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import google_crc32c
import msgspec
import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.errors import FormatError, SchemaError
from parsers.frames import EDGES, NODES
from parsers.graphs import anf_ir
from parsers.graphs.graph import Graph, Origin
from parsers.headers import PREFIX, Format, crc_of
from parsers.schema import Schema

FORMAT = Format("graph snapshot", b"MSGR\0\0\0", 2)
"""Increment the version whenever this layout or the output of the decoder changes."""
LEAST_BYTES = 1 << 20
"""Smaller graphs are decoded in a few ms."""
_TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint32")


class _GraphColumn(msgspec.Struct, array_like=True):
    """A column: dtype of its numbers, "" for texts; texts of codes."""

    name: str
    dtype: str
    texts: list[str] | None


class _GraphHeader(msgspec.Struct):
    title: str
    nodes: int
    edges: int
    columns: list[_GraphColumn]
    outputs: list[int]
    notes: list[str]
    operators: int
    parameters: int
    size: int
    crc: int


def key_of(data: bytes) -> str:
    """Return the key of the graph in these bytes; it changes with the version of the snapshot."""
    return hashlib.blake2b(data, digest_size=20, person=f"graph {FORMAT.version}".encode()).hexdigest()


def dump(graph: Graph) -> list[bytes | memoryview] | None:
    """Return the parts of a snapshot, to be written one after the other; None for a graph that cannot be stored."""
    details = graph.details
    if graph.problems or not isinstance(details, anf_ir.Messages) or sys.byteorder != "little":
        return None
    columns: list[_GraphColumn] = []
    arrays: list[NDArray[Any]] = []
    for frame in (graph.nodes, graph.edges):
        for name in frame.columns:
            values = frame[name].array
            texts = None
            if isinstance(values, pd.Categorical):
                texts = [str(text) for text in values.categories]
                arrays.append(np.asarray(values.codes))
            elif pd.api.types.is_string_dtype(values.dtype):
                try:
                    arrays += _packed(frame[name].tolist())
                except UnicodeEncodeError:
                    return None
                columns.append(_GraphColumn(str(name), "", None))
                continue
            else:
                arrays.append(np.asarray(values))
            columns.append(_GraphColumn(str(name), str(arrays[-1].dtype), texts))
            if columns[-1].dtype not in _TYPES:
                return None
    arrays.append(details.spans.astype(np.uint32).reshape(-1))
    parts: list[bytes | memoryview] = []
    for array in arrays:
        column = memoryview(np.ascontiguousarray(array).view(np.uint8).data).cast("B")
        parts += (column, bytes(-len(column) % 8))
    header = _GraphHeader(
        graph.title, len(graph.nodes), len(graph.edges), columns, list(graph.outputs), list(graph.notes), details.operators,
        details.parameters, sum(map(len, parts)), crc_of(parts),
    )  # fmt: skip
    try:
        encoded = msgspec.msgpack.encode(header)
    except UnicodeEncodeError:
        return None
    return [FORMAT.prefix(encoded), encoded, bytes(-len(encoded) % 8), *parts]


def load(stored: bytes, data: bytes, origin: Origin) -> Graph:
    """Return the graph of a snapshot, with its bytes; FormatError unless it is complete, of this version and fits the bytes."""
    header, end = FORMAT.header(stored, _GraphHeader)
    body = np.frombuffer(stored, np.uint8)[end + (PREFIX.size - end) % 8 :]
    if len(body) != header.size or google_crc32c.value(body) != header.crc:
        raise FormatError("graph snapshot: the columns do not match the header")
    reading = _SnapshotReading(body)
    frames = [
        reading.frame(schema, rows, columns)
        for schema, rows, columns in (
            (NODES, header.nodes, header.columns[: len(NODES.names)]),
            (EDGES, header.edges, header.columns[len(NODES.names) :]),
        )
    ]  # fmt: skip
    spans = reading.numbers("uint32", 2 * header.nodes).reshape(-1, 2)
    nodes, edges = frames
    if spans.size and (int(spans.max()) > len(data) or bool((spans[:, 0] > spans[:, 1]).any())):
        raise FormatError("graph snapshot: a node lies beyond the bytes of the graph")
    ends = edges[["source", "target"]].to_numpy()
    if any(not 0 <= node < header.nodes for node in header.outputs) or (
        ends.size and not 0 <= int(ends.min()) <= int(ends.max()) < header.nodes
    ):
        raise FormatError("graph snapshot: an edge or output names no node")
    if not 0 <= header.operators <= header.operators + header.parameters <= header.nodes:
        raise FormatError("graph snapshot: more operators and parameters than nodes")
    details = anf_ir.Messages(data, spans.astype(np.int64), header.operators, header.parameters)
    return Graph.of(origin, header.title, anf_ir.FORMAT, nodes, edges, header.outputs, (), details, header.notes)


class _SnapshotReading:
    """Takes columns from the body of a snapshot, one after the other."""

    def __init__(self, body: NDArray[np.uint8]) -> None:
        self._body = body
        self._at = 0

    def numbers(self, dtype: str, count: int) -> NDArray[Any]:
        """Return the next column."""
        if dtype not in _TYPES or count < 0:
            raise FormatError(f"graph snapshot: expected numbers of {', '.join(_TYPES)}, found {count} of {dtype}")
        length = count * np.dtype(dtype).itemsize
        if self._at + length > len(self._body):
            raise FormatError(f"graph snapshot: expected {length} bytes of a column, found {len(self._body) - self._at}")
        values = self._body[self._at : self._at + length].view(dtype)
        self._at += length + -length % 8
        return values

    def frame(self, schema: Schema, rows: int, columns: Sequence[_GraphColumn]) -> pd.DataFrame:
        """Return the frame of the next columns; FormatError if it does not match its schema."""
        made: dict[str, Any] = {}
        for column in columns:
            if column.dtype:
                values = self.numbers(column.dtype, rows)
                made[column.name] = values if column.texts is None else _categories(values, column.texts)
            else:
                starts = self.numbers("int64", rows + 1)
                if starts[0] or bool((np.diff(starts) < 0).any()):
                    raise FormatError(f"graph snapshot: the texts of {column.name} do not follow each other")
                made[column.name] = _texts(starts, self.numbers("uint8", int(starts[-1])))
        try:
            return schema.check(pd.DataFrame(made, copy=False))
        except (SchemaError, ValueError) as error:
            raise FormatError(f"graph snapshot: {error}") from error


def _categories(codes: NDArray[Any], texts: list[str]) -> pd.Categorical:
    if len(codes) and (int(codes.min()) < -1 or int(codes.max()) >= len(texts)):
        raise FormatError("graph snapshot: a code without a text")
    try:
        return pd.Categorical.from_codes(codes, categories=pd.Index(texts, dtype="str"), validate=False)
    except ValueError as error:
        raise FormatError(f"graph snapshot: {error}") from error


def _packed(texts: list[str]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return where each text begins, with the end of the last one, and their bytes; UnicodeEncodeError for half a character."""
    encoded = [text.encode() for text in texts]
    starts = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(one) for one in encoded], out=starts[1:])
    return starts, np.frombuffer(b"".join(encoded), np.uint8)


def _texts(starts: NDArray[Any], data: NDArray[Any]) -> pd.api.extensions.ExtensionArray:
    """Return packed texts as a column; with pyarrow without a copy. FormatError if they are no UTF-8."""
    try:
        import pyarrow as pa
    except ImportError:
        pa = None
    try:
        if pa is None:
            view = data.data
            return pd.array([str(view[a:b], "utf-8") for a, b in pairwise(starts.tolist())], dtype="str")
        packed = pa.LargeStringArray.from_buffers(len(starts) - 1, pa.py_buffer(starts), pa.py_buffer(data))
        packed.validate(full=True)
    except ValueError as error:  # of both: UnicodeDecodeError and ArrowInvalid
        raise FormatError(f"graph snapshot: {error}") from error
    found: pd.api.extensions.ExtensionArray = pd.array(packed, dtype="str")
    return found
