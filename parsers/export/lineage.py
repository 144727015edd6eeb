"""Exports the lineage of runs as CSV or JSON: a row or an object per run, columns as in LINEAGE_TABLE.

Unlike in the frame, columns have no type: every cell is written as it was recorded; a missing one is empty in CSV and absent
in JSON. A loss of NaN is written NaN, in JSON as a string.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence

from parsers.export.cells import csv_names, number_text
from parsers.frames import LINEAGE_TABLE
from parsers.lineage.table import LineageRow, further
from parsers.lineage.values import Setting


def columns(rows: Sequence[LineageRow]) -> list[str]:
    """Return the columns of these rows: the fixed ones of LINEAGE_TABLE, then further ones."""
    return [*LINEAGE_TABLE.names, *further([one.values for one in rows])]


def csv_rows(rows: Sequence[LineageRow], names: Sequence[str] | None = None) -> Iterator[bytes]:
    """Yield lines of CSV, the header first. names: the columns to write, by default all."""
    values = [one.values for one in rows]
    names = columns(rows) if names is None else names
    yield (csv_names(*names) + "\n").encode()
    for one in values:
        yield (",".join(_cell(one.get(name)) for name in names) + "\n").encode()


def json_rows(rows: Sequence[LineageRow], names: Sequence[str] | None = None) -> Iterator[bytes]:
    """Return a JSON list with one object per row."""
    names = columns(rows) if names is None else names
    separator = b"[\n"
    for one in rows:
        values = one.values
        there = {name: _plain(values[name]) for name in names if name in values}
        yield separator + json.dumps(there, ensure_ascii=False, allow_nan=False).encode()
        separator = b",\n"
    yield b"[]\n" if separator == b"[\n" else b"\n]\n"


def _plain(value: Setting) -> Setting:
    return number_text(value) if isinstance(value, float) and not math.isfinite(value) else value


def _cell(value: Setting | None) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number_text(value)
    return csv_names(value) if isinstance(value, str) else str(value)
