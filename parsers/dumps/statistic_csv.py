"""Parses `statistic.csv`, in which MindSpore writes statistics of tensors instead of, or beside, their values.

The columns before the statistics are Op Type, Op Name, Task ID, Stream ID, Timestamp (us), IO (or Input/Output), Slot, Data
Size, Data Type, [Format,] Shape. Which statistics come after depends on version and settings. Traps: rows of newer files end
with a comma that the header has not; Ascend's files do not quote shapes, so a row has more cells than columns; "Negative Zero
Count" is the number of values below zero.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from parsers.dumps.names import dtype_named
from parsers.dumps.statistics import TensorStatistics

LONGEST = 1 << 30
LONGEST_HEADER = 1 << 16
_VALUES = {
    "max value": "max", "min value": "min", "avg value": "mean", "l2norm value": "l2", "count": "count",
    "negative zero count": "negative", "positive zero count": "positive", "nan count": "nan",
    "negative inf count": "negative_inf", "positive inf count": "positive_inf", "zero count": "zero",
}  # fmt: skip
_COUNTS = frozenset(("count", "negative", "positive", "nan", "negative_inf", "positive_inf", "zero"))
_HASHES = ("md5", "md5 value", "sha1")
_NEEDED = ("op type", "op name", "timestamp", "slot", "shape")


@dataclass(frozen=True, slots=True)
class StatisticRow:
    """One row: an operator, a slot, statistics. time in us. non_finite as in DUMP_STATISTICS."""

    type: str
    operator: str
    task: int
    stream: int
    time_us: int
    io: str
    slot: int
    size_bytes: int
    dtype: str
    format: str
    shape: str
    values: TensorStatistics
    non_finite: int
    hash: str


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is not in the documented form: number from 1, and why."""

    line: int
    text: str


def parse_statistics(text: str) -> Iterator[StatisticRow | BadLine]:
    """Yield the rows, and the lines that are none: also the last one, if it was cut."""
    head, _, body = text.partition("\n")
    if len(head) > LONGEST_HEADER:
        yield BadLine(1, f"expected the names of columns in {LONGEST_HEADER:,} characters, found {len(head):,}")
        return
    names = [name.strip().lower() for name in head.rstrip("\r").split(",")]
    names = ["io" if name == "input/output" else name for name in names if name]
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        yield BadLine(1, f"expected the columns {', '.join(_NEEDED)}, found no {', '.join(missing)}")
        return
    del text, head
    whole = body.endswith("\n")
    for number, (line, last) in enumerate(_lines(body), 2):
        if not line.strip():
            continue
        try:
            cells = next(csv.reader([line.rstrip("\r")]))
        except (csv.Error, StopIteration) as error:
            yield BadLine(number, f"expected a line of a table, found {error}")
            continue
        yield _row(names, _rejoined(cells, names), number, cut=last and not whole)


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield lines one by one, as a list of short ones takes twenty times their size; and whether each is the last one."""
    begin = 0
    while (end := text.find("\n", begin)) >= 0:
        yield text[begin:end], False
        begin = end + 1
    yield text[begin:], True


def _rejoined(cells: list[str], names: Sequence[str]) -> list[str]:
    """Join the cells of a shape that is not quoted; drop what a comma at the end makes."""
    place = names.index("shape")
    if len(cells) > place and cells[place].startswith("(") and not cells[place].endswith(")"):
        end = next((at for at in range(place, len(cells)) if cells[at].endswith(")")), place)
        cells[place : end + 1] = [",".join(cells[place : end + 1])]
    if len(cells) == len(names) + 1 and not cells[-1]:
        cells.pop()
    return cells


def _row(names: Sequence[str], cells: Sequence[str], line: int, *, cut: bool) -> StatisticRow | BadLine:
    if len(cells) != len(names):
        found = "it is cut" if cut else f"found {len(cells)}"
        return BadLine(line, f"expected {len(names)} cells, {found}")
    cell = dict(zip(names, map(str.strip, cells), strict=True))
    try:
        whole = {name: int(cell.get(name) or -1) for name in ("task id", "stream id", "timestamp", "slot", "data size")}
        if min(whole["timestamp"], whole["slot"]) < 0 or min(whole.values()) < -1 or max(whole.values()) >= 1 << 53:
            raise ValueError("a whole number out of range")
        values, hashed = _values(cell)
    except ValueError as error:
        return BadLine(line, f"expected numbers, found {error}")
    io = "output" if cell.get("io", "").startswith("out") else "input"
    return StatisticRow(
        cell["op type"], cell["op name"], whole["task id"], whole["stream id"], whole["timestamp"], io, whole["slot"],
        whole["data size"], dtype_named(cell.get("data type", "")), cell.get("format", ""), shape_text(cell["shape"]),
        values, _non_finite(values, cell), hashed,
    )  # fmt: skip


def shape_text(text: str) -> str:
    """Return a shape such as (2,3) as 2x3, () as []."""
    numbers = re.findall(r"\d+", text)
    return "x".join(numbers) if numbers else "[]"


def _values(cell: dict[str, str]) -> tuple[TensorStatistics, str]:
    found: dict[str, Any] = {}
    for column, name in _VALUES.items():
        text = cell.get(column, "")
        if not text or text.lower() in ("n/a", "none", "null", "unknown"):
            continue
        number = _number(text)
        if name in _COUNTS:
            found[name] = int(number) if math.isfinite(number) and 0 <= number < 1 << 62 else -1
        else:
            found[name] = number
    hashed = next((cell[name] for name in _HASHES if cell.get(name)), "")
    return TensorStatistics(**found), hashed


def _number(text: str) -> float:
    lower = text.lower()
    if lower in ("true", "false"):
        return float(lower == "true")
    return float(text)


def _non_finite(values: TensorStatistics, cell: dict[str, str]) -> int:
    counts = (values.nan, values.positive_inf, values.negative_inf)
    stated = {name: getattr(values, name) for column, name in _VALUES.items() if name not in _COUNTS and cell.get(column)}
    extremes = [stated[name] for name in ("max", "min") if name in stated]
    if max(counts) > 0 or any(not math.isfinite(one) for one in extremes) or any(map(math.isnan, stated.values())):
        return 1
    return 0 if min(counts) == 0 or stated else -1
