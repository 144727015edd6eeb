"""Reads where the tensors of a .safetensors file are (https://github.com/huggingface/safetensors, "Format").

Eight bytes are the length of a header in JSON, which has type, shape and the range of bytes of each tensor behind the header.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Annotated

import msgspec

from parsers.errors import FormatError
from parsers.files import RegularFile
from parsers.weights.model import BFLOAT16, MOST_TENSORS, StoredBytes, WeightTensor, checked

LONGEST_HEADER = 100_000_000
"""Bytes; the limit of the format."""
DTYPES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": BFLOAT16, "I64": "int64", "I32": "int32", "I16": "int16",
    "I8": "int8", "U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8", "BOOL": "bool",
}  # fmt: skip


_Size = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""Python writes no numbers of thousands of digits, which JSON may have."""


class _Entry(msgspec.Struct):
    dtype: str
    shape: list[_Size]
    data_offsets: tuple[_Size, _Size]


def header_size(head: bytes, size: int) -> int:
    """Return the length of the header if a file of this size can be of this format, else 0."""
    if len(head) < 9 or head[8:9] != b"{":
        return 0
    (length,) = struct.unpack_from("<Q", head)
    return length if 2 <= length <= min(LONGEST_HEADER, size - 8) else 0


def tensors(file: RegularFile) -> Mapping[str, WeightTensor]:
    """Return the tensors of a file. Types that numpy lacks (FP8) are left out. Raises FormatError."""
    length = header_size(file.read(0, 16), file.size)
    if not length:
        raise FormatError("expected the length of a header and a header in JSON, found other bytes")
    try:
        entries = msgspec.json.decode(file.read(8, length), type=dict[str, msgspec.Raw])
        entries.pop("__metadata__", None)
        if len(entries) > MOST_TENSORS:
            raise FormatError(f"expected up to {MOST_TENSORS:,} tensors, found {len(entries):,}")
        found = {name: msgspec.json.decode(raw, type=_Entry) for name, raw in entries.items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"expected a header with type, shape and bytes of each tensor, found {error}") from error
    begin = 8 + length
    return {
        name: checked(name, WeightTensor(DTYPES[one.dtype], tuple(one.shape), (_piece(begin, one),)), file.size)
        for name, one in found.items() if one.dtype in DTYPES
    }  # fmt: skip


def _piece(begin: int, entry: _Entry) -> StoredBytes:
    first, end = entry.data_offsets
    return StoredBytes(begin + first, end - first)
