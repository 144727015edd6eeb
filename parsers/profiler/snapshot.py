r"""Serialises frames of profiles, so that a table of a million rows is parsed only once.

Layout: magic ``MSPF`` and a version byte, padded to 8; uint64 LE length and uint64 LE CRC32C of the header; the header
(msgpack of `_ProfileHeader`), padded to a multiple of 8; then the columns, raw little-endian, each padded to a multiple of 8.
For categoricals the columns hold codes and the header the texts; columns of int64 are in the smallest type that holds their
values. Nothing in it is executed.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import google_crc32c
import msgspec
import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.errors import FormatError, SchemaError
from parsers.headers import PREFIX, Format, crc_of
from parsers.model import Problem
from parsers.profiler.columns import narrow
from parsers.profiler.sessions import ProfileFile
from parsers.schema import Schema

FORMAT = Format("snapshot", b"MSPF\0\0\0", 7)
"""Increment the version whenever this layout or the output of a reader changes."""
_TYPES = ("int8", "int16", "int32", "int64", "float64")


class _ProfileColumn(msgspec.Struct, array_like=True):
    name: str
    dtype: str
    texts: list[str] | None


class _ProfileHeader(msgspec.Struct):
    schema: str
    rows: int
    columns: list[_ProfileColumn]
    problems: list[Problem]
    size: int
    crc: int


def key_of(directory: str, files: Sequence[ProfileFile], name: str) -> str:
    """Return the key of a profile's frame; it changes with the name, size or mtime of any file."""
    parts = [str(FORMAT.version), name, os.path.realpath(directory)]
    parts += [f"{file.name}\0{file.size}\0{file.mtime_ns}" for file in files]
    return hashlib.blake2b("\n".join(parts).encode("utf-8", "surrogateescape"), digest_size=20).hexdigest()


def dump(schema: Schema, frame: pd.DataFrame, problems: Sequence[Problem]) -> list[bytes | memoryview] | None:
    """Return the parts of a snapshot, to be written one after the other; None if a path cannot be encoded."""
    if sys.byteorder != "little":
        return None
    columns: list[_ProfileColumn] = []
    arrays: list[NDArray[Any]] = []
    for name in frame.columns:
        values = frame[name].array
        if isinstance(values, pd.Categorical):
            arrays.append(np.asarray(values.codes))
            columns.append(_ProfileColumn(str(name), str(values.codes.dtype), values.categories.tolist()))
        else:
            plain = np.asarray(values)
            arrays.append(narrow(plain) if plain.dtype == np.int64 else plain)
            columns.append(_ProfileColumn(str(name), str(arrays[-1].dtype), None))
        if columns[-1].dtype not in _TYPES:
            return None
    parts: list[bytes | memoryview] = []
    for array in arrays:
        data = memoryview(np.ascontiguousarray(array).view(np.uint8).data).cast("B")
        parts += (data, bytes(-len(data) % 8))
    try:
        size = sum(len(part) for part in parts)
        header = msgspec.msgpack.encode(_ProfileHeader(schema.name, len(frame), columns, list(problems), size, crc_of(parts)))
    except UnicodeEncodeError:
        return None
    return [FORMAT.prefix(header), header, bytes(-len(header) % 8), *parts]


def load(schema: Schema, data: bytes) -> tuple[pd.DataFrame, tuple[Problem, ...]]:
    """Return the frame in a snapshot and the damage in its files; FormatError unless it is complete and of this version."""
    header, end = FORMAT.header(data, _ProfileHeader)
    body = np.frombuffer(data, np.uint8)[end + (PREFIX.size - end) % 8 :]
    if header.schema != schema.name or len(body) != header.size or google_crc32c.value(body) != header.crc:
        raise FormatError("snapshot: the columns do not match the header")
    made: dict[str, Any] = {}
    at = 0
    for column in header.columns:
        if column.dtype not in _TYPES:
            raise FormatError(f"snapshot: expected one of {', '.join(_TYPES)}, found {column.dtype}")
        length = header.rows * np.dtype(column.dtype).itemsize
        if header.rows < 0 or at + length > len(body):
            raise FormatError(f"snapshot: expected {length} bytes of {column.name}, found {len(body) - at}")
        values = body[at : at + length].view(column.dtype)
        at += length + -length % 8
        made[column.name] = _plain(values) if column.texts is None else _categories(values, column.texts)
    try:
        return schema.check(pd.DataFrame(made, copy=False)), tuple(header.problems)
    except SchemaError as error:
        raise FormatError(f"snapshot: {error}") from error


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(np.int64) if values.dtype.kind == "i" else values


def _categories(codes: NDArray[Any], texts: list[str]) -> pd.Categorical:
    if len(codes) and (int(codes.min()) < -1 or int(codes.max()) >= len(texts)):
        raise FormatError("snapshot: a code without a text")
    try:
        return pd.Categorical.from_codes(codes, categories=pd.Index(texts, dtype="str"), validate=False)
    except ValueError as error:
        raise FormatError(f"snapshot: {error}") from error
