"""What was measured, kept as data in measured.json, and its page in the manual.

`python -m benchmarks PARTS --keep` measures parts, keeps their figures and writes the page; `python -m benchmarks.measured`
writes the page of what is kept.
"""

from __future__ import annotations

import importlib
import json
import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import PARTS
from benchmarks.measure import NO_BOUND, ROOT, Figure

KEPT = Path(__file__).with_name("measured.json")
PAGE = ROOT / "docs" / "measurements.md"
DIGITS = 4
"""Significant digits of a value that is kept."""

_HEAD = """# Measurements

What `make bench` measured last: each part with its day, the load average of the machine before and after it, and what the
bare imports of a server's libraries took then, which is a measure of the machine. A line is the median of its runs beside the
least and the greatest. A median beyond its bound stands in bold type. Lines without a bound are only reported, such as those of
other programs, which are indented.

[Figures](figures.md) says how they are measured, what a profiler shows where bounds are missed, and what was decided by them.
`make bench ONLY="starting visits" KEEP=1` measures parts anew and writes this page, in which nothing is written by hand.
"""
_COLUMNS = "| | median | bound | least to greatest | runs | |\n|---|---|---|---|---|---|"


@dataclass(frozen=True, slots=True)
class Row:
    """A figure as it is kept: None where a bound is none, or where a program did not end."""

    what: str
    unit: str
    bound: float | None
    values: tuple[float | None, ...]
    note: str = ""

    @classmethod
    def of(cls, figure: Figure) -> Row:
        values = tuple(None if value == NO_BOUND else float(f"{value:.{DIGITS}g}") for value in figure.values)
        return cls(figure.what, figure.unit, None if figure.bound == NO_BOUND else figure.bound, values, figure.note)

    def line(self) -> str:
        """Return its line of the table."""
        values = [NO_BOUND if value is None else value for value in self.values]
        middle = statistics.median(values)
        missed = self.bound is not None and middle > self.bound
        cells = (
            f"- {self.what.strip()}" if self.what.startswith("  ") else self.what,
            f"**{self._amount(middle)}**" if missed else self._amount(middle),
            "" if self.bound is None else self._amount(self.bound),
            "" if max(values) == NO_BOUND else f"{_number(min(values))} to {_number(max(values))}",
            str(len(values)),
            self.note,
        )
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    def _amount(self, value: float) -> str:
        return "did not end" if value == NO_BOUND else f"{_number(value)} {self.unit}".strip()


@dataclass(frozen=True, slots=True)
class Measurement:
    """A part as it was measured: the day, cores, load averages before and after, CPU seconds of bare imports, its rows."""

    day: str
    cores: int
    load: tuple[float, float]
    imports: float
    rows: tuple[Row, ...]


def measure(part: str, times: int, imports: float) -> Measurement:
    """Measure a part and print its lines."""
    before, rows = os.getloadavg()[0], []
    for figure in importlib.import_module(f"benchmarks.{part}").figures(times):
        print(figure.line(), flush=True)
        rows.append(Row.of(figure))
    load = (round(before, 1), round(os.getloadavg()[0], 1))
    return Measurement(datetime.now(UTC).date().isoformat(), os.cpu_count() or 1, load, round(imports, 2), tuple(rows))


def kept(path: Path = KEPT) -> dict[str, Measurement]:
    """Return what is kept: part -> its last measurement."""
    return msgspec.json.decode(path.read_bytes(), type=dict[str, Measurement])


def keep(part: str, measurement: Measurement, path: Path = KEPT) -> None:
    """Put a measurement in the place of the one before of its part."""
    told = msgspec.to_builtins(dict(sorted((kept(path) | {part: measurement}).items())))
    parts = ",\n".join(f"{json.dumps(name)}: {_in_lines(one)}" for name, one in told.items())
    path.write_text(f"{{\n{parts}\n}}\n", encoding="utf-8")


def page(measured: Mapping[str, Measurement], parts: Sequence[str]) -> str:
    """Return the page of the manual: a table for each part, in the order of the parts, and the names of those without one."""
    tables = [_table(part, measured[part]) for part in parts if part in measured]
    missing = ", ".join(part for part in parts if part not in measured)
    return "\n".join([_HEAD, *tables, *([f"Not measured yet: {missing}.\n"] if missing else [])])


def _table(part: str, measured: Measurement) -> str:
    about = " ".join((importlib.import_module(f"benchmarks.{part}").__doc__ or part).split("\n\n")[0].split())
    before, after = measured.load
    when = f"{measured.day}, {measured.cores} cores, load {before:g} to {after:g}, bare imports {measured.imports:g} s"
    rows = "\n".join(row.line() for row in measured.rows)
    return f"## {part}\n\n{about}\n\n{when}.\n\n{_COLUMNS}\n{rows}\n"


def _in_lines(told: dict[str, Any]) -> str:
    """Return the JSON of a measurement, a line for each row, so that a difference shows the rows that changed."""
    rows = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in told["rows"])
    return json.dumps(told | {"rows": []}, ensure_ascii=False).replace('"rows": []', f'"rows": [\n  {rows}\n]')


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"  # with three digits 999.5 is 1e+03


if __name__ == "__main__":
    PAGE.write_text(page(kept(), PARTS), encoding="utf-8")
