r"""Serialises frames of profiles, so that a table of a million rows is parsed only once.

Layout: magic ``MSPF`` and a version byte, padded to 8; uint64 LE length and uint64 LE CRC32C of the header; the header
(msgpack of `_Header`), padded to a multiple of 8; then the columns, raw little-endian, each padded to a multiple of 8. For
categoricals the columns hold codes and the header the texts. Nothing in it is executed.
"""

from __future__ import annotations

import hashlib
import os
import struct
import sys
from collections.abc import Sequence
from typing import Any

import google_crc32c
import msgspec
import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.errors import FormatError, SchemaError
from parsers.model import Problem
from parsers.profiler.sessions import ProfileFile
from parsers.schema import Schema

MAGIC = b"MSPF\0\0\0"
VERSION = 3
"""Increment whenever this layout or the output of a reader changes."""
_PREFIX = struct.Struct("<7sBQQ")
_PIECE = 1 << 20
_TYPES = ("int8", "int16", "int32", "int64", "float64")


class _Column(msgspec.Struct, array_like=True):
    name: str
    dtype: str
    texts: list[str] | None


class _Header(msgspec.Struct):
    schema: str
    rows: int
    columns: list[_Column]
    problems: list[Problem]
    size: int
    crc: int


def key_of(directory: str, files: Sequence[ProfileFile], name: str) -> str:
    """Return the key of a profile's frame; it changes with the name, size or mtime of any file."""
    parts = [str(VERSION), name, os.path.realpath(directory)]
    parts += [f"{file.name}\0{file.size}\0{file.mtime_ns}" for file in files]
    return hashlib.blake2b("\n".join(parts).encode("utf-8", "surrogateescape"), digest_size=20).hexdigest()


def dump(schema: Schema, frame: pd.DataFrame, problems: Sequence[Problem]) -> list[bytes | memoryview] | None:
    """Return the parts of a snapshot, to be written one after the other; None if a path cannot be encoded."""
    if sys.byteorder != "little":
        return None
    columns: list[_Column] = []
    arrays: list[NDArray[Any]] = []
    for name in frame.columns:
        values = frame[name].array
        if isinstance(values, pd.Categorical):
            arrays.append(np.asarray(values.codes))
            columns.append(_Column(str(name), str(values.codes.dtype), list(values.categories)))
        else:
            arrays.append(np.asarray(values))
            columns.append(_Column(str(name), str(values.dtype), None))
        if columns[-1].dtype not in _TYPES:
            return None
    parts: list[bytes | memoryview] = []
    crc = 0
    for array in arrays:
        data = memoryview(np.ascontiguousarray(array).view(np.uint8).data).cast("B")
        for part in (data, bytes(-len(data) % 8)):
            parts.append(part)
            for start in range(0, len(part), _PIECE):
                crc = google_crc32c.extend(crc, bytes(part[start : start + _PIECE]))
    try:
        size = sum(len(part) for part in parts)
        header = msgspec.msgpack.encode(_Header(schema.name, len(frame), columns, list(problems), size, crc))
    except UnicodeEncodeError:
        return None
    prefix = _PREFIX.pack(MAGIC, VERSION, len(header), google_crc32c.value(header))
    return [prefix, header, bytes(-len(header) % 8), *parts]


def load(schema: Schema, data: bytes) -> tuple[pd.DataFrame, tuple[Problem, ...]]:
    """Return the frame in a snapshot and the damage in its files; FormatError unless it is complete and of this version."""
    if len(data) < _PREFIX.size:
        raise FormatError(f"snapshot: expected at least {_PREFIX.size} bytes, found {len(data)}")
    magic, version, size, crc = _PREFIX.unpack_from(data)
    raw = data[_PREFIX.size : _PREFIX.size + size]
    if magic != MAGIC or version != VERSION or len(raw) != size or google_crc32c.value(raw) != crc:
        raise FormatError(f"snapshot: expected a whole frame of version {VERSION}")
    try:
        header = msgspec.msgpack.decode(raw, type=_Header)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"snapshot: the header cannot be decoded ({error})") from error
    body = np.frombuffer(data, np.uint8)[_PREFIX.size + size + -size % 8 :]
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
        made[column.name] = values if column.texts is None else _categories(values, column.texts)
    try:
        return schema.check(pd.DataFrame(made, copy=False)), tuple(header.problems)
    except SchemaError as error:
        raise FormatError(f"snapshot: {error}") from error


def _categories(codes: NDArray[Any], texts: list[str]) -> pd.Categorical:
    if len(codes) and (int(codes.min()) < -1 or int(codes.max()) >= len(texts)):
        raise FormatError("snapshot: a code without a text")
    try:
        return pd.Categorical.from_codes(codes, categories=pd.Index(texts, dtype="str"), validate=False)
    except ValueError as error:
        raise FormatError(f"snapshot: {error}") from error
