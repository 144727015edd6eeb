"""Reads runs in MLflow's file store: mlruns/EXPERIMENT/RUN with meta.yaml, metrics/, params/ and tags/.

A file below metrics/ is a scalar, named by its path: a line has the time in ms, the value and the step. A file in params/ is a
setting.
Tags, artifacts and registered models are ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from parsers.file_reading import read_growing
from parsers.files import RegularFile
from parsers.model import CONFIG, Batch, Cursor, Reader, ScalarBlock, SourceFile
from parsers.names import printable
from parsers.tables.lines import read_lines, split
from parsers.tables.rows import MetricRows

METRICS, PARAMS = "metrics", "params"
META = "meta.yaml"
MOST_FILES = 5_000
"""Metrics, and settings, of a run."""
DEEPEST = 10
LONGEST_VALUE = 1 << 16
_LINE = re.compile(rb"(-?\d{1,18})[ \t]+(\S{1,400})(?:[ \t]+(-?\d{1,18}))?[ \t\r]*")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MlflowMetricReader(Reader):
    """Reads one metric of a run."""

    def read(self, path: str, cursor: Cursor | None = None, limit: int | None = None) -> Batch:
        """Read the lines after the cursor; an unfinished last line waits for its end."""
        tag = _tag(path)
        return read_growing(path, cursor, lambda file, resumed: _read(file, resumed, limit, tag))


MLFLOW_METRIC = MlflowMetricReader(name="mlflow_metric", pattern=re.compile(r"(?!)"), appendable=True)
"""Files of any name are metrics where they lie, so none is one by its name."""


def holds_run(directories: Collection[str], files: Collection[str]) -> bool:
    """Return whether a directory with these names in it is a run of MLflow."""
    return META in files and METRICS in directories and PARAMS in directories


def run_files(path: str) -> Iterator[SourceFile]:
    """Yield the metrics of a run, and its settings as one file of the kind CONFIG: the directory they are in."""
    count = 0
    for folder, directories, names in os.walk(os.path.join(path, METRICS)):
        if os.path.relpath(folder, path).count(os.sep) > DEEPEST:
            directories.clear()
        directories.sort()
        for name in sorted(names):
            count += 1
            found = _file(os.path.join(folder, name), MLFLOW_METRIC.name)
            if found is not None and count <= MOST_FILES:
                yield found
    settings = _file(os.path.join(path, PARAMS), CONFIG)
    if settings is not None:
        yield settings


def read_params(path: str) -> dict[str, str]:
    """Return the settings in a directory; OSError if it cannot be listed."""
    found = {}
    for name in sorted(os.listdir(path))[:MOST_FILES]:
        try:
            with RegularFile(os.path.join(path, name)) as file:
                found[printable(name)] = file.read(0, LONGEST_VALUE).decode("utf-8", "replace")
        except OSError:
            continue  # gone meanwhile, or a directory
    return found


def _file(path: str, kind: str) -> SourceFile | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return SourceFile(path, kind, status.st_size, status.st_mtime, None, status.st_dev, status.st_ino)


def _tag(path: str) -> str:
    parts = path.split(os.sep)
    begin = next((at for at in range(len(parts) - 2, 0, -1) if parts[at] == METRICS), len(parts) - 2)
    return printable("/".join(parts[begin + 1 :]))


def _read(file: RegularFile, resumed: Cursor, limit: int | None, tag: str) -> Batch:
    def add(rows: MetricRows, data: bytes, begin: int) -> tuple[list[ScalarBlock], int]:
        found: list[tuple[int, float, float, int]] = []
        for at, line in split(data):
            match = _LINE.fullmatch(line)
            try:
                found.append((int(match[3] or 0), int(match[1]) / 1000, float(match[2]), begin + at) if match else _no_line())
            except ValueError:
                if line.strip():
                    expected = f"Expected time, value and step, found {line[:60]!r}"
                    rows.complain(begin + at, len(line) + 1, f"{expected}; the line was skipped.")
        rows.records += len(found)
        if not found:
            return [], len(data)
        step, time, value, order = zip(*found, strict=True)
        columns = np.array(step, np.int64), np.array(time, np.float64), np.array(order, np.int64), np.array([value], np.float64)
        return [ScalarBlock((tag,), *columns)], len(data)

    return read_lines(file, resumed, limit, add)


def _no_line() -> tuple[int, float, float, int]:
    raise ValueError
