"""Scalars of runs to one file: CSV, JSON or Parquet, every value, full precision.

The columns are `run` and those of the schema SCALARS. A value that is no number is written NaN, Infinity or -Infinity (in
JSON as a string, since JSON has no such numbers); a number is written with the fewest digits that read back to the same
float64. In CSV a run or tag that a spreadsheet would take for a formula (it begins with = + - @ or a control character),
or that begins with an apostrophe, is preceded by one: without its first apostrophe it is what it was. JSON and Parquet hold
it as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

import msgspec
import numpy as np
import pandas as pd

from parsers.errors import FormatError
from parsers.frames import SCALARS
from parsers.runs import Run

FORMATS = ("csv", "json", "parquet")
COLUMNS = ("run", *SCALARS.names)
_FORMULA = ("'", "=", "+", "-", "@", "\t", "\r", "\n")
_QUOTED = re.compile('[",\r\n]')
_ROWS = 50_000


def write(runs: Iterable[Run], out: str | os.PathLike[str], format: str = "csv") -> int:  # noqa: A002  the option's name
    """Write the scalars of runs (and of their ranks) to a file; the number of values written.

    out that ends in the format's suffix is the file, anything else a directory in which scalars.<format> is made.
    FormatError for an unknown format, or for parquet where pyarrow is not installed.
    """
    if format not in FORMATS:
        raise FormatError(f"format: wanted one of {', '.join(FORMATS)}, got {format!r}")
    path = Path(out)
    if path.suffix != f".{format}":
        path.mkdir(parents=True, exist_ok=True)
        path /= f"scalars.{format}"
    path.parent.mkdir(parents=True, exist_ok=True)
    leaves = (leaf for run in runs for leaf in (run, *run.ranks))
    frames = ((leaf.name, leaf.scalars) for leaf in leaves if leaf.tags("scalar"))
    writer: Callable[[Path, Iterator[tuple[str, pd.DataFrame]]], int] = {
        "csv": _write_csv,
        "json": _write_json,
        "parquet": _write_parquet,
    }[format]
    return writer(path, frames)


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


def _pieces(frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    for begin in range(0, len(frame), _ROWS):
        yield frame.iloc[begin : begin + _ROWS]


def _write_csv(path: Path, frames: Iterator[tuple[str, pd.DataFrame]]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(COLUMNS) + "\n")
        for run, frame in frames:
            for piece in _pieces(frame):
                file.writelines(_csv_lines(run, piece))
                count += len(piece)
    return count


def _csv_lines(run: str, piece: pd.DataFrame) -> Iterator[str]:
    names = [csv_names(run, tag) for tag in piece["tag"].cat.categories]
    walls = map(number_text, piece["wall_time"].tolist())
    values = map(number_text, piece["value"].tolist())
    columns = (piece["tag"].cat.codes, piece["step"].tolist(), walls, values, piece["file"].tolist(), piece["order"].tolist())
    for code, step, wall, value, number, order in zip(*columns, strict=True):
        yield f"{names[code]},{step},{wall},{value},{number},{order}\n"


def _write_json(path: Path, frames: Iterator[tuple[str, pd.DataFrame]]) -> int:
    count = 0
    with path.open("wb") as file:
        file.write(b"[")
        for run, frame in frames:
            for piece in _pieces(frame):
                count += _write_json_rows(file, run, piece, first=count == 0)
        file.write(b"\n]\n")
    return count


def _write_json_rows(file: IO[bytes], run: str, piece: pd.DataFrame, *, first: bool) -> int:
    columns = [piece[name].tolist() for name in SCALARS.names]
    for name in ("wall_time", "value"):
        place = SCALARS.names.index(name)
        columns[place] = [v if np.isfinite(v) else number_text(v) for v in columns[place]]
    encode = msgspec.json.Encoder().encode
    lines = [encode(dict(zip(COLUMNS, (run, *row), strict=True))) for row in zip(*columns, strict=True)]
    file.write((b"\n" if first else b",\n") + b",\n".join(lines))
    return len(lines)


def _write_parquet(path: Path, frames: Iterator[tuple[str, pd.DataFrame]]) -> int:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise FormatError("format: parquet wants pyarrow; install mindscope[parquet]") from error
    text = pa.dictionary(pa.int32(), pa.string())
    types = {"step": pa.int64(), "wall_time": pa.float64(), "value": pa.float64(), "file": pa.int32(), "order": pa.int64()}
    schema = pa.schema([("run", text), ("tag", text), *types.items()])
    count = 0
    with pq.ParquetWriter(path, schema) as writer:
        for run, frame in frames:
            codes = pa.array(np.zeros(len(frame), np.int32))
            runs = pa.DictionaryArray.from_arrays(codes, pa.array([run], pa.string()))
            categories = pa.array(list(frame["tag"].cat.categories), pa.string())
            tags = pa.DictionaryArray.from_arrays(pa.array(frame["tag"].cat.codes.to_numpy(np.int32)), categories)
            columns = [pa.array(frame[name].to_numpy(), kind) for name, kind in types.items()]
            writer.write_table(pa.Table.from_arrays([runs, tags, *columns], schema=schema))
            count += len(frame)
    return count
