"""What runs say of themselves as CSV: a row each, columns as in LINEAGE_TABLE.

Unlike in the frame, a column has no type: every cell is written as it was recorded, and what was not is empty. A loss of NaN is
NaN.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from parsers.export.cells import csv_names, number_text
from parsers.frames import LINEAGE_TABLE
from parsers.lineage.table import LineageRow, further
from parsers.lineage.values import Setting


def csv_rows(rows: Sequence[LineageRow]) -> Iterator[bytes]:
    """Lines of CSV, names of columns first."""
    values = [one.values for one in rows]
    columns = [*LINEAGE_TABLE.names, *further(values)]
    yield (csv_names(*columns) + "\n").encode()
    for one in values:
        yield (",".join(_cell(one.get(name)) for name in columns) + "\n").encode()


def _cell(value: Setting | None) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number_text(value)
    return csv_names(value) if isinstance(value, str) else str(value)
