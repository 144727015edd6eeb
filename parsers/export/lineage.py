"""What runs say of themselves as CSV or JSON: a row or an object each, columns as in LINEAGE_TABLE.

Unlike in the frame, a column has no type: every cell is written as it was recorded, and what was not is empty, or left out
of an object. A loss of NaN is NaN, in JSON a text.
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
    """Columns of these rows: those that all tables have, and further ones."""
    return [*LINEAGE_TABLE.names, *further([one.values for one in rows])]


def csv_rows(rows: Sequence[LineageRow], names: Sequence[str] | None = None) -> Iterator[bytes]:
    """Lines of CSV, names of columns first. names are the columns that are written, by default all."""
    values = [one.values for one in rows]
    names = columns(rows) if names is None else names
    yield (csv_names(*names) + "\n").encode()
    for one in values:
        yield (",".join(_cell(one.get(name)) for name in names) + "\n").encode()


def json_rows(rows: Sequence[LineageRow], names: Sequence[str] | None = None) -> Iterator[bytes]:
    """A JSON list of one object per row."""
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
