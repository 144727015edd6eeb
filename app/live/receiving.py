"""Puts together what arrives in pieces, graphs and values of tensors, within limits that are checked before memory is taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from parsers.debugger.messages import LARGEST_TENSOR, TensorHead, TensorPiece, WireTensorName, read_chunk, read_piece
from parsers.dumps.values import Array
from parsers.errors import FormatError
from parsers.events.wire import DELIMITED, WireError
from parsers.graphs.wire import places

LARGEST_GRAPHS = 256 << 20
"""Bytes of all graphs of a training."""
MOST_GRAPHS = 1000
MOST_NODES = 500_000
"""Nodes of all graphs; MindInsight takes 100,000."""
MOST_EMPTY = 1000
"""Pieces without bytes of a stream of graphs, or of a tensor: whoever sends nothing else would be read for ever."""
_NODE = 1 << 3 | DELIMITED
_WIDENED = 1 << 18


class TooLarge(FormatError):
    """Graphs beyond the limits."""


def graphs_of(messages: Iterator[bytes], *, several: bool) -> list[bytes]:
    """Return the bytes of each graph of a stream of chunks.

    With several each ends with its last chunk, else all chunks are one graph. Raises TooLarge, and FormatError for what is no
    chunk or ends early.
    """
    found: list[bytes] = []
    part = bytearray()
    total = nodes = empty = 0
    for message in messages:
        content, finished = read_chunk(message)
        empty += not content
        _require_few(empty)
        total += len(content)
        if total > LARGEST_GRAPHS:
            raise TooLarge(f"expected graphs of up to {LARGEST_GRAPHS:,} bytes, found more")
        part += content
        if finished and several:
            nodes += _nodes(part, MOST_NODES - nodes)
            found.append(bytes(part))
            part.clear()
            if len(found) > MOST_GRAPHS:
                raise TooLarge(f"expected up to {MOST_GRAPHS:,} graphs, found more")
    if several and part:
        raise FormatError(f"expected the last piece of a graph, found the end after {len(part):,} bytes")
    if not several:
        _nodes(part, MOST_NODES)
        found.append(bytes(part))
    if not found or not any(found):
        raise FormatError("expected a graph, found nothing")
    return found


def _require_few(empty: int) -> None:
    if empty > MOST_EMPTY:
        raise FormatError(f"expected pieces with bytes, found {empty:,} without")


def _nodes(data: bytearray, most: int) -> int:
    """Return the number of nodes of a graph, at most this many."""
    count = 0
    view = bytes(data)
    try:
        for key, _, _ in places(view, 0, len(view)):
            count += key == _NODE
            if count > most:
                raise TooLarge(f"expected up to {MOST_NODES:,} nodes, found more")
    except (WireError, IndexError):
        return count
    return count


class TensorReceiver:
    """Puts the pieces of tensors together, those that were asked for only.

    asked says whether a tensor may come; reserve is called with the bytes of the values before they are allocated.
    """

    def __init__(self, asked: Callable[[WireTensorName], bool], reserve: Callable[[int], None]) -> None:
        self._asked, self._reserve = asked, reserve
        self._name: WireTensorName | None = None
        self._head = TensorHead()
        self._buffer = np.empty(0, np.uint8)
        self._filled = self._empty = 0

    def add(self, message: bytes) -> tuple[WireTensorName, Array | None] | None:
        """Take a message; return a tensor once it is whole, with None for one that training does not have.

        Raises FormatError for pieces that do not fit together, and for tensors that were not asked for.
        """
        piece = read_piece(message)
        if self._name is None:
            self._begin(piece)
        elif piece.name != self._name:
            raise FormatError(f"expected the next piece of {self._name.node}, found one of {piece.name.node}")
        elif piece.head != self._head:
            raise FormatError(f"expected pieces of one type and shape, found {piece.head} after {self._head}")
        assert self._name is not None
        self._empty += not piece.content
        _require_few(self._empty)
        end = self._filled + len(piece.content)
        if end > self._head.size_bytes:
            raise FormatError(f"expected {self._head.size_bytes:,} bytes of {self._name.node}, found more")
        offset = len(self._buffer) - self._head.size_bytes
        self._buffer[offset + self._filled : offset + end] = np.frombuffer(piece.content, np.uint8)
        self._filled = end
        if not piece.finished:
            return None
        name, values = self._name, self._finished()
        self._name, self._buffer = None, np.empty(0, np.uint8)
        return name, values

    @property
    def inside(self) -> WireTensorName | None:
        """The tensor of which pieces are missing, or None."""
        return self._name

    def _begin(self, piece: TensorPiece) -> None:
        if not self._asked(piece.name):
            raise FormatError(f"expected a tensor that was asked for, found {piece.name.node}:{piece.name.slot}")
        size = piece.head.size_bytes
        if size > LARGEST_TENSOR:
            raise FormatError(f"expected up to {LARGEST_TENSOR:,} bytes of values, found {size:,}")
        held = size * 2 if piece.head.dtype == "bfloat16" else size
        self._reserve(held)
        self._name, self._head, self._filled, self._empty = piece.name, piece.head, 0, 0
        self._buffer = np.empty(held, np.uint8)

    def _finished(self) -> Array | None:
        assert self._name is not None
        head = self._head
        if not head.dtype:
            return None
        if self._filled < head.size_bytes:
            raise FormatError(f"expected {head.size_bytes:,} bytes of {self._name.node}, found {self._filled:,}")
        if head.dtype == "bfloat16":
            return _widened(self._buffer).reshape(head.shape)
        values = self._buffer.view(np.dtype(head.dtype).newbyteorder("<")).reshape(head.shape)
        return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def _widened(buffer: Array) -> Array:
    """Return bfloat16, which fill the second half of the buffer, as float32 in place."""
    wide = buffer.view(np.uint32)
    narrow = buffer[len(buffer) // 2 :].view("<u2")
    for at in range(0, len(wide), _WIDENED):
        wide[at : at + _WIDENED] = narrow[at : at + _WIDENED].astype(np.uint32) << 16
    return wide.view(np.float32)
