"""Exports a frame as CSV: columns under the names of its schema, whole numbers without decimals, missing empty.

Texts of all columns, whether categories or not, are escaped for spreadsheets.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from parsers.deferred import pandas as pd
from parsers.export.cells import cell_text

ROWS = 20_000
"""Rows written at a time."""


def csv_rows(frame: pd.DataFrame, names: Sequence[str] | None = None) -> Iterator[bytes]:
    """Yield the header and then the rows in chunks. names: the columns to write, in this order."""
    chosen = list(frame.columns) if names is None else list(names)
    texts = {name: _guarded(frame[name].array) for name in chosen}
    yield (",".join(_quoted(cell_text(str(name))) for name in chosen) + "\n").encode()
    for start in range(0, len(frame), ROWS):
        part = frame.iloc[start : start + ROWS]
        columns: dict[int, Any] = {}
        for place, name in enumerate(chosen):
            guarded = texts[name]
            columns[place] = part[name].array if guarded is None else guarded[start : start + ROWS]
        out = io.StringIO()
        pd.DataFrame(columns).to_csv(out, header=False, index=False, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
        yield out.getvalue().encode("utf-8", "replace")


def _guarded(values: Any) -> Any:
    """Escape each distinct text for spreadsheets once; None for numbers."""
    if values.dtype.kind != "O":
        return None
    if not isinstance(values, pd.Categorical):
        values = pd.Categorical(values)
    texts = [cell_text(text) if isinstance(text, str) else text for text in values.categories]
    return np.append(np.array(texts, object), "")[values.codes]


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",\r\n]', text) else text
