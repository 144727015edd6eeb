"""Reads runs in mlflow.db, where MLflow 3 keeps them by default: each run of an SQLite database is a run of its own.

The path of a run goes through the file: `mlflow.db/<id of the run>`. Read are metrics and params; tags, data sets, models and
traces are ignored, and so are deleted runs. A process of its own reads the database (`parsers.profiler.database`), which is
never written to.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from parsers.file_reading import START, unreadable
from parsers.lineage.values import Setting
from parsers.mlflow.params import parsed
from parsers.model import Batch, Cursor, FileKind, PayloadBlock, Problem, Reader, ScalarBlock, Source, SourceFile
from parsers.names import printable
from parsers.tables.rows import whole

MOST_RUNS = 20_000
MOST_PARAMS = 2_000
ROW_BYTES = 40
"""Bytes that a limit counts for a metric."""
PARAMS = "params"
"""What the last setting read is named in `Cursor.plugins`."""
_LARGEST = sys.float_info.max

MLFLOW_DATABASE = FileKind(name="mlflow_db", pattern=re.compile(r"\Amlflow\.db\Z"), makes_run=False)
_RUNS = "SELECT runs.run_uuid, runs.name, runs.start_time, runs.experiment_id FROM runs WHERE runs.lifecycle_stage = 'active'"
_COUNTS = "SELECT run_uuid, COUNT(*), MAX(timestamp) FROM metrics GROUP BY run_uuid"
_PARAM_COUNTS = "SELECT run_uuid, COUNT(*) FROM params GROUP BY run_uuid"
_METRICS = (
    "SELECT ROWID, key, value, timestamp, step, is_nan FROM metrics WHERE run_uuid = ? AND ROWID > ? ORDER BY ROWID LIMIT ?"
)
_PARAMS = "SELECT ROWID, key, value FROM params WHERE run_uuid = ? AND ROWID > ? ORDER BY ROWID"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MlflowRunReader(Reader):
    """Reads one run of a database."""

    def read(self, path: str, cursor: Cursor | None = None, limit: int | None = None) -> Batch:
        """Read the metrics and settings after the cursor; all if the run has fewer of them than before."""
        database, run = os.path.split(path)
        try:
            return _read(path, database, run, cursor, limit)
        except OSError as error:
            return Batch(cursor or START, problems=(unreadable(path, error),))
        except ValueError as error:
            return Batch(cursor or START, problems=(_damage(path, error),))

    def settings(self, path: str, places: Sequence[int]) -> tuple[Mapping[str, Setting], Sequence[Problem]]:  # noqa: ARG002  all
        """Return the settings of the run."""
        database, run = os.path.split(path)
        try:
            with _opened(database) as opened:
                found = _rows(opened, _PARAMS, (run, 0), path, [])
        except (OSError, ValueError):
            return {}, ()  # which reading it says
        return {printable(str(key)): parsed(str(value)) for _, key, value in found[:MOST_PARAMS]}, ()


MLFLOW_RUN = MlflowRunReader(name="mlflow_run", pattern=re.compile(r"(?!)"), appendable=True)
"""No name is that of a run in a database: discovery lists them."""


def sources_in(path: str, name: str) -> list[Source]:
    """Return the runs in a database by the name of it; a source with a problem and without files if it cannot be read."""
    try:
        status = os.stat(path)
        with _opened(path) as database:
            problems: list[Problem] = []
            runs = _rows(database, f"{_RUNS} LIMIT {MOST_RUNS}", (), path, problems)
            counts = {run: (int(count), newest) for run, count, newest in _rows(database, _COUNTS, (), path, problems)}
            params = {run: int(count) for run, count in _rows(database, _PARAM_COUNTS, (), path, problems)}
            names = _rows(database, "SELECT experiment_id, name FROM experiments", (), path, problems)
            experiments = {number: printable(str(title)) for number, title in names}
    except (OSError, ValueError) as error:
        problem = unreadable(path, error) if isinstance(error, OSError) else _damage(path, error)
        return [Source(path, os.path.realpath(path), name, (), problems=(problem,))]
    found: list[Source] = []
    taken: set[str] = set()
    for run, title, start, experiment in runs:
        if not isinstance(run, str) or not re.fullmatch(r"[\w-]{1,64}", run):
            continue
        shown = f"{name}/{experiments.get(experiment, experiment)}/{printable(str(title or run)).replace('/', '_')}"
        shown = f"{shown}-{run[:8]}" if shown in taken else shown
        taken.add(shown)
        count, newest = counts.get(run, (0, None))
        times = [float(time) / 1000 for time in (newest, start) if isinstance(time, int | float)]
        part, size = os.path.join(path, run), count + params.get(run, 0)
        newest = times[0] if times else status.st_mtime
        file = SourceFile(part, MLFLOW_RUN.name, size, newest, None, status.st_dev, status.st_ino)
        found.append(Source(part, os.path.join(os.path.realpath(path), run), shown, (file,)))
    return found


def database_of(path: str) -> str:
    """Return the database that a path is or goes through, "" for none."""
    for one in (path, os.path.dirname(path)):
        if MLFLOW_DATABASE.named(os.path.basename(one)) and os.path.isfile(one):
            return one
    return ""


def state_of(path: str) -> tuple[object, ...]:
    """Return what changes whenever a database or the log beside it does."""
    found: list[object] = []
    for one in (path, f"{path}-wal"):
        try:
            status = os.stat(one)
        except OSError:
            found.append(None)
        else:
            found.append((status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(found)


def _opened(path: str) -> Any:
    from parsers.profiler.database import Database  # few directories have such files

    return Database(path)


def _rows(database: Any, query: str, values: Sequence[Any], path: str, problems: list[Problem]) -> list[tuple[Any, ...]]:
    from parsers.profiler.lines import Complaints

    complaints = Complaints(path)
    found = [row for rows in database.rows(query, "metrics", complaints, values) for row in rows]
    problems += complaints.all()
    return found


def _read(path: str, database: str, run: str, cursor: Cursor | None, limit: int | None) -> Batch:
    status = os.stat(database)
    problems: list[Problem] = []
    with _opened(database) as opened:
        counted = [
            _rows(opened, f"SELECT COUNT(*) FROM {table} WHERE run_uuid = ?", (run,), path, problems)[0][0]  # noqa: S608  two names
            for table in ("metrics", "params")
        ]
        size = sum(counted)
        same = cursor is not None and (cursor.device, cursor.inode) == (status.st_dev, status.st_ino) and cursor.size <= size
        resumed = cursor if cursor is not None and same else START
        most = -1 if limit is None else max(limit // ROW_BYTES, 1000)
        metrics = _rows(opened, _METRICS, (run, resumed.offset, most), path, problems)
        last = int(dict(resumed.plugins).get(PARAMS, "0"))
        params = [int(row[0]) for row in _rows(opened, _PARAMS, (run, last), path, problems)]
    more = len(metrics) == most
    offset = int(metrics[-1][0]) if metrics else resumed.offset
    plugins = ((PARAMS, str(max(params, default=last))),)
    blocks = _blocks(path, metrics, problems)
    times = [float(np.nanmin(block.wall_time)) for block in blocks if not np.isnan(block.wall_time).all()]
    return Batch(
        Cursor(offset, status.st_dev, status.st_ino, size, 0, plugins), blocks, _index(params), problems=problems,
        records=len(metrics) + len(params), bytes_read=len(metrics) * ROW_BYTES, more=more,
        restarted=cursor is not None and cursor.size > 0 and not same, started=min(times, default=None),
    )  # fmt: skip


def _blocks(path: str, rows: list[tuple[Any, ...]], problems: list[Problem]) -> list[ScalarBlock]:
    """Return the metrics by name."""
    if not rows:
        return []
    order, keys, values, times, steps, nan = zip(*rows, strict=True)
    try:
        value, time = np.array(values, np.float64), np.array(times, np.float64) / 1000
        step = np.array(steps, np.int64)
        if {*map(type, values), *map(type, times)} - {int, float} or {*map(type, steps)} - {int}:
            raise TypeError
    except (TypeError, ValueError, OverflowError):
        kept = [row for row in rows if whole(row[4]) is not None and _is_number(row[2]) and _is_number(row[3])]
        text = f"{len(rows) - len(kept):,} metrics have a value, time or step that is no number; they were skipped."
        if len(kept) < len(rows):
            problems.append(Problem(path, 0, 0, "bad_table", text))
        plain = [(one, key, float(value), float(time), int(step), is_nan) for one, key, value, time, step, is_nan in kept]
        return _blocks(path, plain, problems)
    value[np.array([bool(one) for one in nan])] = np.nan
    value[np.abs(value) == _LARGEST] *= np.inf  # as MLflow writes infinity
    codes: dict[str, int] = {}
    code = np.array([codes.setdefault(key, len(codes)) for key in map(str, keys)])
    place = np.array(order, np.int64)
    found = []
    for name, number in codes.items():
        mine = np.flatnonzero(code == number) if len(codes) > 1 else slice(None)
        found.append(ScalarBlock((printable(name),), step[mine], time[mine], place[mine], value[mine][None]))
    return found


def _is_number(value: Any) -> bool:
    return (isinstance(value, int | float) and abs(value) <= _LARGEST) or (isinstance(value, float) and value != value)


def _index(places: list[int]) -> list[PayloadBlock]:
    if not places:
        return []
    zeros = np.zeros(len(places), np.int64)
    order = np.array(places, np.int64)
    return [PayloadBlock("settings", "params", zeros, np.full(len(places), np.nan), order, order, zeros, zeros == 0)]


def _damage(path: str, error: Exception) -> Problem:
    text = f"Expected a database of MLflow that can be read, found: {error}; what was read from it before is still shown."
    return Problem(path, 0, 0, "bad_table", text)
