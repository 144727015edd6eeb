"""Exports histograms as CSV, one row per bucket; a histogram without buckets has one row with empty bucket cells."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.export.cells import csv_names, number_text
from parsers.payloads.values import HistogramValue

COLUMNS = (
    "run", "tag", "step", "wall_time", "bucket", "left", "width", "count", "min", "max", "sum", "total", "nan", "pos_inf",
    "neg_inf", "file", "order", "note",
)  # fmt: skip
ROWS = 20_000


def csv_rows(when: str, value: HistogramValue, where: str) -> Iterator[bytes]:
    """Yield lines of CSV. when holds the cells of run, tag, step and wall time, where those of file and order."""
    whole = (value.total, value.nan, value.pos_inf, value.neg_inf)
    limits = map(number_text, (value.min, value.max, value.sum))
    end = ",".join((*limits, *map(str, whole), where, csv_names(value.problem))) + "\n"
    if not len(value.left):
        yield f"{when},,,,,{end}".encode()
    for begin in range(0, len(value.left), ROWS):
        left, width, count = (column[begin : begin + ROWS].tolist() for column in (value.left, value.width, value.count))
        rows = enumerate(zip(left, width, count, strict=True), begin)
        lines = (f"{when},{n},{number_text(a)},{number_text(w)},{_count(c)},{end}" for n, (a, w, c) in rows)
        yield "".join(lines).encode()


def _count(count: float) -> str:
    """Format a count, which TensorBoard stores as a float."""
    return number_text(count).removesuffix(".0")
