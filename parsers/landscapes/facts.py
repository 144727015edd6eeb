"""Facts of computed landscapes that MindSpore's summary file has no place for: DIR/landscape-MARK.json beside it.

    {"landscapes": [{"tag": "landscape_[1, 9]", "checksum": 3735928559, "shown": 0.71, "failed": [[2, 5, "ValueError: ..."]]}]}

`mindscope landscape` writes it. A landscape is found by the checksum of its losses, so that facts of one that was computed
again are not shown with the other.
"""

from __future__ import annotations

import zlib
from typing import Annotated, NamedTuple

import msgspec
import numpy as np

from parsers.checkpoints import FACTS, files_in
from parsers.deferred import pandas as pd
from parsers.errors import FormatError
from parsers.files import RegularFile
from parsers.model import Floats
from parsers.schema import Column, Schema

LIMIT = 64 << 20
"""Bytes; a place without a loss takes up to 600 of them."""

LANDSCAPE_FACTS = Schema(
    "landscape_facts",
    "Computed landscapes, those of the newest file first.",
    (
        Column("tag", "str", "", "tag of the landscape in the summary file"),
        Column("checksum", "int64", "", "CRC-32 of its losses as little-endian float32, row by row"),
        Column("shown", "float64", "share", "part of the path's squared distances from its end in the plane; NaN: no path"),
    ),
)
LANDSCAPE_FAILURES = Schema(
    "landscape_failures",
    "Places of computed landscapes without a loss.",
    (
        Column("checksum", "int64", "", "as in landscape_facts"),
        Column("row", "int64", "", "index along y"),
        Column("column", "int64", "", "index along x"),
        Column("reason", "str", "", "what the function raised or did"),
    ),
)


class LandscapeFacts(NamedTuple):
    """Frames of the shapes LANDSCAPE_FACTS and LANDSCAPE_FAILURES."""

    facts: pd.DataFrame
    failures: pd.DataFrame


class FailedPlace(msgspec.Struct, array_like=True):
    """A place without a loss."""

    row: Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]
    column: Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]
    reason: str


class FactsRecord(msgspec.Struct):
    """One landscape in the file. shown is None for one without a path."""

    tag: str
    checksum: Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)]
    shown: float | None = None
    failed: list[FailedPlace] = []


class FactsFile(msgspec.Struct):
    """The file."""

    landscapes: list[FactsRecord]


def checksum_of(z: Floats) -> int:
    """Return the checksum of losses of shape (len(y), len(x)), the same before and after a summary file."""
    return zlib.crc32(np.ascontiguousarray(z, "<f4").tobytes())


def landscape_facts(directory: str) -> LandscapeFacts:
    """Return the facts beside a run's summary files, empty frames for none. FormatError, meant for the user, if damaged."""
    found = [one for _, path in files_in(directory, FACTS) for one in _read(path)]
    facts = {
        "tag": pd.Series([one.tag for one in found], dtype="str"),
        "checksum": pd.Series([one.checksum for one in found], dtype="int64"),
        "shown": pd.Series([one.shown for one in found], dtype="float64"),
    }
    failed = [(one.checksum, place) for one in found for place in one.failed]
    failures = {
        "checksum": pd.Series([checksum for checksum, _ in failed], dtype="int64"),
        "row": pd.Series([place.row for _, place in failed], dtype="int64"),
        "column": pd.Series([place.column for _, place in failed], dtype="int64"),
        "reason": pd.Series([place.reason for _, place in failed], dtype="str"),
    }
    return LandscapeFacts(
        LANDSCAPE_FACTS.check(pd.DataFrame(facts)), LANDSCAPE_FAILURES.check(pd.DataFrame(failures))
    )


def _read(path: str) -> list[FactsRecord]:
    try:
        with RegularFile(path) as file:
            data = file.read(0, LIMIT + 1)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise FormatError(f"{path}: expected a readable file, found {error.strerror}") from error
    if len(data) > LIMIT:
        raise FormatError(f"{path}: expected at most {LIMIT:,} bytes, found more")
    try:
        return msgspec.json.decode(data, type=FactsFile).landscapes
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"{path}: expected the JSON that mindscope landscape writes, found {error}") from error
