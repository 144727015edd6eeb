"""Formats numbers and names as CSV cells that read back unchanged and that no spreadsheet runs as a formula.

A text that a spreadsheet would take for a formula (it begins with = + - @ or a control character), or that begins with an
apostrophe, gets an apostrophe in front: removing the first apostrophe restores it.
"""

from __future__ import annotations

import re

import numpy as np

_FORMULA = ("'", "=", "+", "-", "@", "\t", "\r", "\n")
_QUOTED = re.compile('[",\r\n]')


def number_text(value: float) -> str:
    """Format a float64 with the fewest digits that read back the same; NaN, Infinity, -Infinity otherwise."""
    if value != value:
        return "NaN"
    if value in (np.inf, -np.inf):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(float(value))


def cell_text(text: str) -> str:
    """Escape a text so that no spreadsheet runs it as a formula."""
    return "'" + text if text.startswith(_FORMULA) else text


def csv_names(*names: str) -> str:
    """Format names as cells of a CSV line. csv.writer is not used: it leaves a bare carriage return unquoted."""
    return ",".join('"' + cell.replace('"', '""') + '"' if _QUOTED.search(cell) else cell for cell in map(cell_text, names))
