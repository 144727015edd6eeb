"""Exports scalars as CSV, JSON or Parquet, in full precision: every value that no later one supersedes, or every value.

The columns are `run` and those of the schema SCALARS. Non-finite values are written NaN, Infinity or -Infinity (in JSON as
strings, since JSON has no such numbers). In CSV names are escaped by `cells`; JSON and Parquet store them unchanged.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias

import msgspec
import numpy as np

from parsers.errors import FormatError
from parsers.export.cells import csv_names, number_text
from parsers.export.files import is_stream, replacing
from parsers.frames import SCALARS
from parsers.model import Floats, Series
from parsers.runs import Run

FORMATS = ("csv", "json", "parquet")
COLUMNS = ("run", *SCALARS.names)
ROWS = 20_000
"""Rows formatted at a time."""
ROW_GROUP = 200_000
"""Minimum rows per Parquet row group."""
Steps: TypeAlias = tuple[int, int]
"""First and last step, both inclusive."""
ALL_STEPS: Steps = (-(2**63), 2**63 - 1)


def write(runs: Iterable[Run], out: str | os.PathLike[str], format: str = "csv") -> int:  # noqa: A002  the option's name
    """Write the scalars of runs (and of their ranks) to a file; return the number of values written.

    out is the file if it ends in the format's suffix or is a stream such as /dev/stdout, otherwise a directory in which
    scalars.<format> is written.
    FormatError for an unknown format, or for parquet if pyarrow is not installed.
    """
    path = Path(out) if single_file(out, format) else Path(out) / f"scalars.{format}"
    path.parent.mkdir(parents=True, exist_ok=True)
    with scalar_file(path, format) as writer:
        return sum(writer.add_run(leaf) for run in runs for leaf in (run, *run.ranks))


def single_file(out: str | os.PathLike[str], format: str) -> bool:  # noqa: A002
    """Return whether out names one file of scalars, or a stream; FormatError for an unknown format."""
    if format not in FORMATS:
        raise FormatError(f"format: expected one of {', '.join(FORMATS)}, found {format!r}")
    return Path(out).suffix.lower() == f".{format}" or is_stream(out)


# Rows --------------------------------------------------------------------------------------------------------------


def parts(series: Series, steps: Steps = ALL_STEPS) -> Iterator[Series]:
    """Yield the rows of a range of steps, up to ROWS at a time."""
    if steps != ALL_STEPS:
        series = _rows(series, np.flatnonzero((series.step >= steps[0]) & (series.step <= steps[1])))
    for begin in range(0, len(series.step), ROWS):
        yield _rows(series, slice(begin, begin + ROWS))


def _rows(series: Series, which: Any) -> Series:
    return Series(*(column[which] for column in series))


def csv_rows(run: str, tag: str, part: Series) -> bytes:
    """Format rows as lines of CSV."""
    names = csv_names(run, tag)
    walls, values = map(number_text, part.wall_time.tolist()), map(number_text, part.value.tolist())
    rows = zip(part.step.tolist(), walls, values, part.file.tolist(), part.order.tolist(), strict=True)
    lines = (f"{names},{step},{wall},{value},{file},{order}\n" for step, wall, value, file, order in rows)
    return "".join(lines).encode("utf-8", "replace")


def json_rows(run: str, tag: str, part: Series) -> bytes:
    """Format rows as JSON objects, one per line, separated by commas."""
    encode = msgspec.json.Encoder().encode
    columns = (part.step.tolist(), _json_numbers(part.wall_time), _json_numbers(part.value),
               part.file.tolist(), part.order.tolist())  # fmt: skip
    rows = (dict(zip(COLUMNS, (run, tag, *row), strict=True)) for row in zip(*columns, strict=True))
    return b",\n".join(map(encode, rows))


def _json_numbers(values: Floats) -> list[Any]:
    """Replace the numbers that JSON does not have by strings."""
    numbers = values.tolist()
    return numbers if np.isfinite(values).all() else [v if np.isfinite(v) else number_text(v) for v in numbers]


# Files -------------------------------------------------------------------------------------------------------------


class _Format(Protocol):
    def add(self, run: str, tag: str, part: Series) -> None: ...
    def finish(self) -> None: ...


class ScalarWriter:
    """Writes the scalars of runs one after the other."""

    def __init__(self, rows: _Format, *, superseded: bool = False) -> None:
        self._rows, self._superseded = rows, superseded

    def add_run(self, run: Run) -> int:
        """Write all scalars of one run, ranks not included; return their number."""
        return sum(self.add(run, tag) for tag in run.tags("scalar"))

    def add(self, run: Run, tag: str, steps: Steps = ALL_STEPS) -> int:
        """Write one tag; return the number of values in the range."""
        count = 0
        series = run.series(tag) if self._superseded else run.resolved(tag)
        for part in parts(series, steps):
            self._rows.add(run.name, tag, part)
            count += len(part.step)
        return count


@contextlib.contextmanager
def scalar_file(path: Path, format: str, *, superseded: bool = False) -> Iterator[ScalarWriter]:  # noqa: A002
    """Open a file of scalars, which appears at path when the block ends. superseded: with values that later ones supersede."""
    with replacing(path) as file:
        rows = _FORMATS[format](file)
        try:
            yield ScalarWriter(rows, superseded=superseded)
        finally:
            rows.finish()


class _Csv:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        file.write(",".join(COLUMNS).encode() + b"\n")

    def add(self, run: str, tag: str, part: Series) -> None:
        self._file.write(csv_rows(run, tag, part))

    def finish(self) -> None:
        pass


class _Json:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._separator = b"[\n"

    def add(self, run: str, tag: str, part: Series) -> None:
        self._file.write(self._separator + json_rows(run, tag, part))
        self._separator = b",\n"

    def finish(self) -> None:
        self._file.write(b"[]\n" if self._separator == b"[\n" else b"\n]\n")


class _Parquet:
    def __init__(self, file: BinaryIO) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError as error:
            raise FormatError("format: parquet needs pyarrow; install mindscope[parquet]") from error
        self._pa = pa
        text = pa.dictionary(pa.int32(), pa.string())
        types = {"step": pa.int64(), "wall_time": pa.float64(), "value": pa.float64(), "file": pa.int32(), "order": pa.int64()}
        self._schema = pa.schema([("run", text), ("tag", text), *types.items()])
        self._writer = pq.ParquetWriter(file, self._schema)
        self._waiting: list[tuple[str, str, Series]] = []
        self._count = 0

    def add(self, run: str, tag: str, part: Series) -> None:
        self._waiting.append((run, tag, part))
        self._count += len(part.step)
        if self._count >= ROW_GROUP:
            self._flush()

    def finish(self) -> None:
        if self._waiting:
            self._flush()
        self._writer.close()

    def _flush(self) -> None:
        pa = self._pa
        runs, tags, series = zip(*self._waiting, strict=True)
        counts = [len(part.step) for part in series]
        columns = [self._names(runs, counts), self._names(tags, counts)]
        for field, pieces in zip(list(self._schema)[2:], zip(*series, strict=True), strict=True):
            columns.append(pa.array(np.concatenate(pieces), field.type))
        self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema))
        self._waiting, self._count = [], 0

    def _names(self, names: Sequence[str], counts: list[int]) -> Any:
        codes = {name: code for code, name in enumerate(dict.fromkeys(names))}
        indices = np.repeat(np.array([codes[name] for name in names], np.int32), counts)
        return self._pa.DictionaryArray.from_arrays(self._pa.array(indices), self._pa.array(list(codes), self._pa.string()))


_FORMATS: dict[str, Callable[[BinaryIO], _Format]] = {"csv": _Csv, "json": _Json, "parquet": _Parquet}
