"""TensorBoard scalars stored as tensors: a TensorProto of rank 0 and a numeric dtype.

Their value is in tensor_content or in the field of the dtype; with neither it is 0, as in TensorFlow. The tensor alone
decides whether it is a scalar: the plugin name is only in the first event of a tag, which may be damaged or lie before the
cursor.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from parsers.events.wire import DELIMITED, VARINT, ByteSource, WireError, signed, skip, span, varint

DTYPE, SHAPE, CONTENT = 0x08, 0x12, 4
DIMENSION, UNKNOWN_RANK = 0x12, 0x18
BFLOAT16, UINT64 = 14, 23

# DataType -> struct format of one value and number of the field that holds values outside tensor_content
DTYPES = {
    1: ("<f", 5), 2: ("<d", 6), 3: ("<i", 7), 4: ("<B", 7), 5: ("<h", 7), 6: ("<b", 7), 9: ("<q", 10), 10: ("<B", 11),
    BFLOAT16: ("<H", 13), 17: ("<H", 7), 19: ("<e", 13), 22: ("<I", 16), UINT64: ("<Q", 17),
}  # fmt: skip
NUMPY = {"<f": "<f4", "<d": "<f8", "<i": "<i4", "<B": "|u1", "<h": "<i2", "<b": "|i1", "<q": "<i8", "<H": "<u2", "<e": "<f2",
         "<I": "<u4", "<Q": "<u8"}  # fmt: skip


class ScalarPlace(NamedTuple):
    """A scalar: its value, and position and numpy dtype of its bytes ("" where they have no fixed width)."""

    value: float
    at: int
    dtype: str


def scalar_in(data: ByteSource, pos: int, end: int) -> ScalarPlace | None:
    """Return the scalar in the TensorProto at pos to end; None if it is something else."""
    number, rank_0 = 0, True
    places: dict[int, tuple[int, int, int]] = {}  # field number -> wire type, start and end of its bytes
    while pos < end:
        key, pos = varint(data, pos)
        if key == DTYPE:
            number, pos = varint(data, pos)
            continue
        start, pos = pos, skip(data, pos, end, key)
        if key & 7 == DELIMITED:
            start, _ = span(data, start, end)
        if key == SHAPE:
            rank_0 &= _is_rank_0(data, start, pos)
        elif pos > start:
            if key >> 3 in places:
                return None
            places[key >> 3] = key & 7, start, pos
    if pos != end:
        raise WireError("a field ends beyond its tensor")
    return _value(data, places, number) if rank_0 and number in DTYPES else None


def _is_rank_0(data: ByteSource, pos: int, end: int) -> bool:
    while pos < end:
        key, pos = varint(data, pos)
        if key == DIMENSION:
            return False
        if key == UNKNOWN_RANK:
            unknown, pos = varint(data, pos)
            if unknown:
                return False
        else:
            pos = skip(data, pos, end, key)
    return True


def _value(data: ByteSource, places: dict[int, tuple[int, int, int]], number: int) -> ScalarPlace | None:
    code, field = DTYPES[number]
    form = Struct(code)
    if CONTENT in places:
        _, start, stop = places[CONTENT]
        if stop - start != form.size:
            return None
        value = form.unpack(data[start:stop])[0]
        return ScalarPlace(_bfloat16(value), start, "") if number == BFLOAT16 else ScalarPlace(float(value), start, NUMPY[code])
    if field not in places:
        return ScalarPlace(0.0, -1, "")
    kind, start, stop = places[field]
    if code in ("<f", "<d"):
        if stop - start != form.size or kind == VARINT:
            return None
        return ScalarPlace(form.unpack(data[start:stop])[0], start, NUMPY[code])
    whole, after = varint(data, start)
    if after != stop or kind not in (VARINT, DELIMITED):
        return None
    if number == BFLOAT16:
        return ScalarPlace(_bfloat16(whole & 0xFFFF), start, "")
    if code == "<e":
        return ScalarPlace(form.unpack((whole & 0xFFFF).to_bytes(2, "little"))[0], start, "")
    return ScalarPlace(float(whole if number == UINT64 else signed(whole)), start, "")


def _bfloat16(bits: int) -> float:
    value: float = Struct("<f").unpack((bits << 16).to_bytes(4, "little"))[0]
    return value
