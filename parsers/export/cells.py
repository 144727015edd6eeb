"""Numbers and names as cells of a CSV file that reads back the same and that no spreadsheet runs.

A text that a spreadsheet would take for a formula (it begins with = + - @ or a control character), or that begins with an
apostrophe, is preceded by one: without its first apostrophe it is what it was.
"""

from __future__ import annotations

import re

import numpy as np

_FORMULA = ("'", "=", "+", "-", "@", "\t", "\r", "\n")
_QUOTED = re.compile('[",\r\n]')


def number_text(value: float) -> str:
    """A float64 with the fewest digits that read back the same; NaN, Infinity, -Infinity for what is no number."""
    if value != value:
        return "NaN"
    if value in (np.inf, -np.inf):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(float(value))


def cell_text(text: str) -> str:
    """Text for a CSV cell that no spreadsheet runs as a formula."""
    return "'" + text if text.startswith(_FORMULA) else text


def csv_names(*names: str) -> str:
    """Runs and tags as cells of a CSV line. They are quoted here because csv.writer leaves a bare carriage return unquoted."""
    return ",".join('"' + cell.replace('"', '""') + '"' if _QUOTED.search(cell) else cell for cell in map(cell_text, names))
