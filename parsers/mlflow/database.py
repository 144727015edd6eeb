"""Reads runs in mlflow.db, where MLflow 3 keeps them by default: each run of an SQLite database is a run of its own.

The path of a run goes through the file: `mlflow.db/<id of the run>`. Read are metrics, params and tags, also those of the
experiment; data sets, models and traces are ignored, and so are deleted runs. A process of its own reads the database
(`parsers.profiler.database`), which is never written to.
"""

from __future__ import annotations

import math
import os
import re
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from parsers.file_reading import START, unreadable
from parsers.lineage.values import Setting
from parsers.mlflow.settings import EXPERIMENT_TAGS, RUN_TAGS, parsed, tag_settings
from parsers.model import Batch, Cursor, FileKind, PayloadBlock, Problem, Reader, ScalarBlock, Source, SourceFile
from parsers.names import printable
from parsers.tables.rows import whole

if TYPE_CHECKING:
    from parsers.profiler.database_processes import Column

MOST_RUNS = 20_000
MOST_PARAMS = 2_000
"""Params, tags, and tags of an experiment."""
ROW_BYTES = 40
"""Bytes that a limit counts for a metric."""
SETTINGS = "settings"
"""What the state of the settings is named in `Cursor.plugins`."""
_LARGEST = sys.float_info.max

MLFLOW_DATABASE = FileKind(name="mlflow_db", pattern=re.compile(r"\Amlflow\.db\Z"), makes_run=False)
_RUNS = "SELECT runs.run_uuid, runs.name, runs.start_time, runs.experiment_id FROM runs WHERE runs.lifecycle_stage = 'active'"
_COUNTS = "SELECT run_uuid, COUNT(*), MAX(timestamp) FROM metrics GROUP BY run_uuid"
_MORE_COUNTS = {
    "params": "SELECT run_uuid, COUNT(*) FROM params GROUP BY run_uuid",
    "tags": "SELECT run_uuid, COUNT(*) FROM tags GROUP BY run_uuid",
}
_SIZES = {
    "metrics": "SELECT COUNT(*) FROM metrics WHERE run_uuid = ?", "params": "SELECT COUNT(*) FROM params WHERE run_uuid = ?",
    "tags": "SELECT COUNT(*) FROM tags WHERE run_uuid = ?",
}  # fmt: skip
"""Queries by table of what is counted as the size of a run."""
_NEWEST = "SELECT MAX(ROWID) FROM metrics"
_METRICS = (
    "SELECT ROWID, key, value, timestamp, step, is_nan FROM metrics {how} "
    "WHERE run_uuid = ? AND ROWID > ? ORDER BY ROWID LIMIT ?"
)
_SHARE = 3
"""A run that has more than a third of all rows is read by a scan of the table, which is then faster than the index of runs."""
_PARAMS = "SELECT key, value FROM params WHERE run_uuid = ? ORDER BY ROWID LIMIT ?"
_TAGS = {
    "tags": (RUN_TAGS, "SELECT key, value FROM tags WHERE run_uuid = ? ORDER BY ROWID LIMIT ?"),
    "experiment_tags": (
        EXPERIMENT_TAGS,
        ("SELECT experiment_tags.key, experiment_tags.value FROM runs JOIN experiment_tags "
         "ON experiment_tags.experiment_id = runs.experiment_id WHERE runs.run_uuid = ? LIMIT ?"),
    ),
}  # fmt: skip


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

    def settings(
        self, path: str, places: Sequence[int]  # noqa: ARG002  all of them are few
    ) -> tuple[Mapping[str, Setting], Sequence[Problem]]:
        """Return the settings of the run."""
        database, run = os.path.split(path)
        try:
            with _opened(database) as opened:
                return _settings(opened, run, path), ()
        except (OSError, ValueError):
            return {}, ()  # which reading it says


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
            sizes = [dict(_rows(database, query, (), path, problems)) for query in _of_tables(database, _MORE_COUNTS)]
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
        part, size = os.path.join(path, run), count + sum(counted.get(run, 0) for counted in sizes)
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
    from parsers.profiler.lines import Complaints

    status = os.stat(database)
    problems: list[Problem] = []
    with _opened(database) as opened:
        sizes = [_rows(opened, query, (run,), path, problems)[0][0] for query in _of_tables(opened, _SIZES)]
        size = sum(sizes)
        same = cursor is not None and (cursor.device, cursor.inode) == (status.st_dev, status.st_ino) and cursor.size <= size
        resumed = cursor if cursor is not None and same else START
        most = -1 if limit is None else max(limit // ROW_BYTES, 1000)
        complaints, metrics = Complaints(path), _Metrics()
        ((newest,),) = opened.select(_NEWEST, ())
        query = _METRICS.format(how="NOT INDEXED" if sizes[0] * _SHARE > (newest or 0) else "")
        for columns in opened.column_parts(query, "metrics", complaints, (run, resumed.offset, most)):
            metrics.add(columns)
        settings = _settings(opened, run, path)
    problems += complaints.all()
    if metrics.skipped:
        text = f"{metrics.skipped:,} metrics have a value, time or step that is no number; they were skipped."
        problems.append(Problem(path, 0, 0, "bad_table", text))
    known = dict(resumed.plugins).get(SETTINGS, "")
    state = _state(settings, known)
    is_new = state != known
    blocks = metrics.blocks()
    times = [float(np.nanmin(block.wall_time)) for block in blocks if not np.isnan(block.wall_time).all()]
    return Batch(
        Cursor(max(metrics.last, resumed.offset), status.st_dev, status.st_ino, size, 0, ((SETTINGS, state),)),
        blocks, [_settings_block(state)] if is_new else [], problems=problems,
        records=metrics.count + is_new * len(settings), bytes_read=metrics.count * ROW_BYTES, more=metrics.count == most,
        restarted=cursor is not None and cursor.size > 0 and not same, started=min(times, default=None),
    )  # fmt: skip


class _Metrics:
    """Metrics of a run as columns: rows of a million would be 300 MB."""

    def __init__(self) -> None:
        self.count = self.skipped = self.last = 0
        self._codes: dict[str, int] = {}
        self._parts: list[tuple[NDArray[Any], ...]] = []

    def add(self, columns: Sequence[Column]) -> None:
        """Add columns of _METRICS."""
        from parsers.profiler.database_processes import TextColumn

        order, keys, value, time, step, is_nan = columns
        numbers = [one for one in (order, value, time, step, is_nan) if isinstance(one, np.ndarray)]
        self.count += len(order)
        if isinstance(keys, TextColumn) and len(numbers) == 5 and numbers[3].dtype == np.int64:
            places, values, times, steps, nans = numbers
            codes = np.array([self._code(text) for text in keys.distinct])[keys.places]
            self._parts.append((codes, steps, times, places, np.where(nans, np.nan, values)))
        else:
            self._add_rows(list(zip(*(column.tolist() for column in columns), strict=True)))
        self.last = int(order.tolist()[-1])

    def _add_rows(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add rows of any cells; those without the numbers of a point are skipped."""
        kept = [
            (self._code(str(key)), whole(step), time, order, math.nan if is_nan else value)
            for order, key, value, time, step, is_nan in rows
            if whole(step) is not None and (is_nan or _is_number(value)) and _is_number(time)
        ]  # fmt: skip
        self.skipped += len(rows) - len(kept)
        if kept:
            codes, steps, times, places, values = zip(*kept, strict=True)
            self._parts.append((
                np.array(codes), np.array(steps, np.int64), np.array(times, np.float64), np.array(places, np.int64),
                np.array(values, np.float64),
            ))  # fmt: skip

    def _code(self, name: str) -> int:
        return self._codes.setdefault(name, len(self._codes))

    def blocks(self) -> list[ScalarBlock]:
        """Return the metrics by name."""
        if not self._parts:
            return []
        code, step, time, order, value = (np.concatenate(parts) for parts in zip(*self._parts, strict=True))
        time = time / 1000
        time[~np.isfinite(time)] = np.nan
        value[np.abs(value) == _LARGEST] *= np.inf  # as MLflow writes infinity
        found = []
        for name, number in self._codes.items():
            mine = np.flatnonzero(code == number) if len(self._codes) > 1 else slice(None)
            found.append(ScalarBlock((printable(name),), step[mine], time[mine], order[mine], value[mine][None]))
        return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _of_tables(database: Any, queries: Mapping[str, str]) -> list[str]:
    """Return the queries of tables that there are; MLflow has always had metrics and params, whose lack is damage."""
    return [query for table, query in queries.items() if table != "tags" or database.has("tags", "key", "value", "run_uuid")]


def _state(settings: Mapping[str, Setting], known: str) -> str:
    """Return how often settings have changed, and their checksum, in place of what is known; "" as long as there are none."""
    number, _, before = known.partition(" ")
    checksum = f"{zlib.crc32(repr(settings).encode('utf-8', 'replace')):08x}"
    return known if checksum == before or not (settings or known) else f"{int(number or 0) + 1} {checksum}"


def _settings(database: Any, run: str, path: str) -> dict[str, Setting]:
    """Return params and tags of a run, and the tags of its experiment."""
    found: dict[str, Setting] = {
        printable(str(key)): parsed(str(value)) for key, value in _rows(database, _PARAMS, (run, MOST_PARAMS), path, [])
    }
    for table, (begin, query) in _TAGS.items():
        if database.has(table, "key", "value"):
            rows = _rows(database, query, (run, MOST_PARAMS), path, [])
            found |= tag_settings(((str(key), str(value)) for key, value in rows if value is not None), begin)
    return found


def _settings_block(state: str) -> PayloadBlock:
    """Return the place of the settings in a new state; all are read again then."""
    zeros, order = np.zeros(1, np.int64), np.array([int(state.partition(" ")[0])], np.int64)
    return PayloadBlock("settings", "params", zeros, np.array([np.nan]), order, order, zeros, zeros == 0)


def _damage(path: str, error: Exception) -> Problem:
    text = f"Expected a database of MLflow that can be read, found: {error}; what was read from it before is still shown."
    return Problem(path, 0, 0, "bad_table", text)
