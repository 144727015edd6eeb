"""Reads runs in MLflow's file store: mlruns/EXPERIMENT/RUN with meta.yaml, metrics/, params/ and tags/.

A file below metrics/ is a scalar, named by its path: a line has the time in ms, the value and the step. Files below params/ and
tags/ are settings, as are the tags of the experiment, in tags/ of the directory above. Artifacts and registered models are
ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from parsers.file_reading import read_growing
from parsers.files import RegularFile
from parsers.lineage.values import Setting
from parsers.mlflow.settings import EXPERIMENT_TAGS, RUN_TAGS, parsed, tag_settings
from parsers.model import CONFIG, Batch, Cursor, Reader, ScalarBlock, SourceFile
from parsers.names import printable
from parsers.tables.lines import read_lines, split
from parsers.tables.rows import MetricRows

METRICS, PARAMS, TAGS = "metrics", "params", "tags"
META = "meta.yaml"
MOST_FILES = 5_000
"""Of one kind in a run: metrics, settings, tags."""
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
    """Yield the metrics of a run, and directories of settings as files of the kind CONFIG."""
    for name in _names(os.path.join(path, METRICS)):
        found = _file(os.path.join(path, METRICS, name), MLFLOW_METRIC.name)
        if found is not None:
            yield found
    above = os.path.dirname(os.path.abspath(path))
    for folder in (os.path.join(path, PARAMS), os.path.join(path, TAGS)):
        yield from _directory(folder)
    if os.path.isfile(os.path.join(above, META)):
        yield from _directory(os.path.join(above, TAGS))


def read_settings(path: str) -> dict[str, Setting]:
    """Return the settings in a directory of them; OSError if it cannot be listed."""
    os.listdir(path)  # raises, unlike walking it
    folder, kind = os.path.split(path)
    texts = _texts(path)
    if kind == PARAMS:
        return {printable(name): parsed(text) for name, text in texts}
    is_run = os.path.isdir(os.path.join(folder, METRICS))
    return dict(tag_settings(texts, RUN_TAGS if is_run else EXPERIMENT_TAGS))


def _texts(path: str) -> Iterator[tuple[str, str]]:
    """Yield names and texts; links, which MLflow does not make, may lead to any file and are left out."""
    for name in _names(path):
        place = os.path.join(path, name)
        if os.path.islink(place):
            continue
        try:
            with RegularFile(place) as file:
                yield name.replace(os.sep, "/"), file.read(0, LONGEST_VALUE).decode("utf-8", "replace")
        except OSError:
            continue  # gone meanwhile, or no file


def _names(path: str) -> Iterator[str]:
    """Yield the paths of the files below a directory, relative to it; "/" in the name of a metric or setting makes folders."""
    count = 0
    for folder, directories, names in os.walk(path):
        inner = folder[len(path) + 1 :]
        if inner.count(os.sep) > DEEPEST:
            directories.clear()
        directories.sort()
        for name in sorted(names):
            count += 1
            if count > MOST_FILES:
                return
            yield os.path.join(inner, name)


def _directory(path: str) -> Iterator[SourceFile]:
    """Yield a directory with the size of its files and the time of their last change: MLflow writes a tag anew in place."""
    found = _file(path, CONFIG)
    if found is not None:
        size, newest = _extent(path)
        yield replace(found, size=size, mtime=max(newest, found.mtime))


def _extent(path: str, depth: int = 0) -> tuple[int, float]:
    """Return the bytes of the files below a directory and the time of their last change."""
    size, newest = 0, 0.0
    with suppress(OSError), os.scandir(path) as entries:  # gone meanwhile
        for entry in islice(entries, MOST_FILES):
            if not entry.is_dir(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                more, time = status.st_size, status.st_mtime
            elif depth < DEEPEST:
                more, time = _extent(entry.path, depth + 1)
            else:
                continue
            size, newest = size + more, max(newest, time)
    return size, newest


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
