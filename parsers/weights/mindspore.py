"""Reads where the tensors of a MindSpore checkpoint (.ckpt) are (mindspore/ccsrc/utils/checkpoint.proto).

The file is a message Checkpoint: `value` (1), repeated, with `tag` (1) and `tensor` (2), which has `dims` (1), `tensor_type`
(2) and `tensor_content` (3): raw little-endian bytes. A large tensor is several consecutive values of one tag. A file that was
saved with a checksum ends in the word crc_num and ten bytes that are no protobuf. An encrypted file cannot be told from damage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from parsers.errors import FormatError
from parsers.events.wire import WireError, varint
from parsers.files import RegularFile
from parsers.weights.model import BFLOAT16, MOST_TENSORS, StoredBytes, WeightTensor, checked, item_size

VALUE, TAG, TENSOR = b"\x0a", 0x0A, 0x12
DIM, DIMS, TYPE, CONTENT = 0x08, 0x0A, 0x12, 0x1A
CHECKSUM = b"crc_num"
_HEAD = 16
"""Bytes of the key and length of a value."""
_WINDOW = 1 << 16
"""Bytes of a value in which its tag, shape and type are."""
DTYPES = {
    "Float64": "float64", "Float32": "float32", "Float16": "float16", "BFloat16": BFLOAT16, "Int64": "int64",
    "Int32": "int32", "Int16": "int16", "Int8": "int8", "UInt64": "uint64", "UInt32": "uint32", "UInt16": "uint16",
    "UInt8": "uint8", "Bool": "bool",
}  # fmt: skip


class _Part(NamedTuple):
    tag: str
    dtype: str
    shape: tuple[int, ...]
    piece: StoredBytes


def tensors(file: RegularFile) -> Mapping[str, WeightTensor]:
    """Return the tensors of a file; values of a type that numpy lacks, as text, are left out. Raises FormatError."""
    last: dict[str, _Part] = {}
    pieces: dict[str, list[StoredBytes]] = {}
    for part in _parts(file):
        if part.dtype not in DTYPES:
            continue
        last[part.tag] = part
        pieces.setdefault(part.tag, []).append(part.piece)
        if len(last) > MOST_TENSORS:
            raise FormatError(f"expected up to {MOST_TENSORS:,} tensors, found more")
    found = {name: WeightTensor(DTYPES[one.dtype], one.shape, tuple(pieces[name])) for name, one in last.items()}
    return {name: checked(name, _shaped(one), file.size) for name, one in found.items()}


def _shaped(tensor: WeightTensor) -> WeightTensor:
    """Return a tensor whose shape is () if no dims were written for a single value, which MindSpore does for scalars."""
    is_scalar = tensor.shape in ((), (0,)) and sum(piece.size for piece in tensor.pieces) == item_size(tensor.dtype)
    return WeightTensor(tensor.dtype, (), tensor.pieces) if is_scalar else tensor


class _Window:
    """A part of a file in memory: a file of tiny values would be read a million times."""

    def __init__(self, file: RegularFile) -> None:
        self._file, self._begin, self._data = file, 0, memoryview(b"")

    def read(self, begin: int, size: int) -> memoryview:
        """Return up to this many bytes, at most _WINDOW, from here on."""
        at = begin - self._begin
        if not 0 <= at <= len(self._data) - size:
            self._begin, self._data, at = begin, memoryview(self._file.read(begin, _WINDOW + _HEAD)), 0
        return self._data[at : at + size]


def _parts(file: RegularFile) -> Iterator[_Part]:
    at, window = 0, _Window(file)
    while at < file.size:
        head = window.read(at, _HEAD)
        if head[:1] != VALUE:
            if bytes(head[: len(CHECKSUM)]) == CHECKSUM:
                return
            raise FormatError(f"byte {at:,}: expected a value of a checkpoint, found other bytes; it is damaged or encrypted")
        try:
            length, pos = varint(head, 1)
        except (IndexError, WireError) as error:
            raise FormatError(f"byte {at:,}: expected the length of a value, found {error}; the file was cut") from error
        begin, end = at + pos, at + pos + length
        if end > file.size:
            left = file.size - begin
            raise FormatError(f"byte {at:,}: expected {length:,} bytes of a value, found {left:,}; the file was cut")
        yield _value(window.read(begin, min(length, _WINDOW)), begin, end)
        at = end


def _value(data: memoryview, begin: int, end: int) -> _Part:
    """Return the value whose first bytes are data; begin and end are its place in the file."""
    tag, dtype, dims, piece = "", "", [], StoredBytes(begin, 0)
    within = False  # of the message of the tensor
    try:
        pos, stop = 0, end - begin
        while pos < stop:
            key = data[pos]
            number, pos = varint(data, pos + 1)
            if not within and key == TENSOR:
                within, stop = True, min(stop, pos + number)
                continue
            if within and key == DIM:
                dims.append(number)
                continue
            if within and key == CONTENT:
                piece = StoredBytes(begin + pos, number)
            elif within and key == DIMS:
                dims += _packed(data[pos : pos + number])
            elif key == (TYPE if within else TAG):
                text = bytes(data[pos : pos + number]).decode("utf-8", "backslashreplace")
                tag, dtype = (tag, text) if within else (text, dtype)
            else:
                raise FormatError(f"byte {begin + pos:,}: expected a tensor, found the key {key}")
            pos += number
    except (IndexError, WireError) as error:
        raise FormatError(f"byte {begin:,}: expected tag, shape and type of a tensor, found {error}") from error
    if piece.offset + piece.size > end:
        raise FormatError(f"byte {begin:,}: expected {piece.size:,} bytes of a tensor within its value, found fewer")
    return _Part(tag, dtype, tuple(dims), piece)


def _packed(data: memoryview) -> list[int]:
    found, pos = [], 0
    while pos < len(data):
        size, pos = varint(data, pos)
        found.append(size)
    return found
