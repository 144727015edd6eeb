"""Checks tensors of a dump for the conditions of watchpoints.

What statistics tell is computed for all tensors at once; values are read only for ranges that extremes do not decide, for
changes since the iteration before, and where files state too few statistics. NaN and Inf hide nothing: each check is of the
finite part, and says how many values it left out. MindInsight's debugger reports only those that leave out none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.dumps.watchpoints.conditions import CONDITIONS, RANGE, Watchpoint
from parsers.analysis.dumps.watchpoints.measures import MEASURES, TensorChange, exceeded, range_percentage
from parsers.analysis.dumps.watchpoints.targets import initial_weights, rows_of
from parsers.deferred import pandas as pd
from parsers.dump_frames import DUMP_HITS
from parsers.dumps.store import StatisticsTable
from parsers.dumps.tables import categorical
from parsers.errors import PayloadError
from parsers.model import Ints

NO_PREVIOUS, NO_VALUES, UNREADABLE, NO_FINITE, SHAPES = (
    "no previous iteration", "no values", "unreadable", "no finite values", "shapes differ",
)  # fmt: skip
NO_RECORDS = "no overflow records"
NON_FINITE, NO_MEMORY, NO_HISTORY = "NaN or Inf", "out of memory", "no history of graphs"
NOT_SENT, SENT_LATER = "not sent yet", "sent after this step"
"""What is said of live training only: it checks no tensor that has NaN or Inf, and no watchpoint before it knows it."""
Found = tuple[str, int, float, float, bool, int, str]
"""Parameter, row, wanted, actual, hit, values left out, why it cannot be checked."""


class CheckedDump(Protocol):
    """What checking needs of a dump (`parsers.dumps.access.RunDump`)."""

    @property
    def tensors(self) -> pd.DataFrame:
        """Frame of tensors."""
        ...

    @property
    def overflows(self) -> pd.DataFrame:
        """Frame of overflow records."""
        ...

    def measured(self, rows: Ints, *, computed: bool = False) -> StatisticsTable:
        """Return statistics, after computing those of some rows."""
        ...

    def pieces(self, row: int) -> Iterator[NDArray[Any]]:
        """Yield the values of a tensor."""
        ...

    def previous(self, row: int) -> int | None:
        """Return the row of the same tensor in the iteration before."""
        ...


@runtime_checkable
class CheckedElsewhere(Protocol):
    """A dump whose watchpoints are checked where it is made: live training reports what they found."""

    def reported(self, watchpoints: Sequence[Watchpoint], rows: Sequence[int] | None) -> pd.DataFrame:
        """Return what was reported of these watchpoints and rows (schema DUMP_HITS)."""
        ...


def check(
    dump: CheckedDump,
    watchpoints: Sequence[Watchpoint],
    *,
    rows: Sequence[int] | None = None,
    progress: Callable[[int, int], bool] | None = None,
) -> pd.DataFrame:
    """Return what watchpoints find (schema DUMP_HITS), hits and checks that were not possible, by watchpoint, then row.

    rows limits the check to some tensors, in this order: those on screen first. progress is called after each watchpoint with
    the number done and of all; if it returns False the rest is left out.
    """
    if isinstance(dump, CheckedElsewhere):
        return dump.reported(watchpoints, rows)
    tensors = dump.tensors
    allowed = None if rows is None else np.asarray(rows, np.int64)
    found: list[Found] = []
    numbers: list[int] = []
    for number, watchpoint in enumerate(watchpoints):
        found += _checked(dump, watchpoint, chosen_rows(tensors, watchpoint, allowed))
        numbers += [number] * (len(found) - len(numbers))
        if progress is not None and not progress(number + 1, len(watchpoints)):
            break
    return _frame(tensors, watchpoints, numbers, found) if found else DUMP_HITS.empty()


def _frame(tensors: pd.DataFrame, watchpoints: Sequence[Watchpoint], numbers: list[int], found: list[Found]) -> pd.DataFrame:
    parameters, rows, wanted, actual, hit, left_out, why = zip(*found, strict=True)
    places = np.array(rows, np.int64)
    columns: dict[str, Any] = {
        "watchpoint": np.array(numbers, np.int64),
        "condition": categorical([watchpoints[number].condition for number in numbers]),
        "parameter": categorical(parameters),
        "row": places,
        "wanted": np.array(wanted, np.float64),
        "actual": np.array(actual, np.float64),
        "hit": np.array(hit, np.bool_),
        "excluded": np.array(left_out, np.int64),
        "why": categorical(why),
    }
    columns |= {name: tensors[name].to_numpy()[places] for name in ("rank", "graph", "iteration", "slot")}
    columns |= {name: tensors[name].array.take(places) for name in ("name", "io")}
    return DUMP_HITS.check(pd.DataFrame({name: columns[name] for name in DUMP_HITS.names}, copy=False))


def chosen_rows(tensors: pd.DataFrame, watchpoint: Watchpoint, allowed: Ints | None = None, *, later: bool = False) -> Ints:
    """Return the rows of the frame of tensors that a watchpoint is about; allowed limits them, and gives their order.

    later: as if checked at any time, not now.
    """
    kind = CONDITIONS[watchpoint.condition]
    mask = initial_weights(tensors) if kind.initial and not later else rows_of(tensors, kind.target)
    names = tensors["name"].array
    if watchpoint.names is not None or watchpoint.pattern:
        search = re.compile(watchpoint.pattern).search
        types = tensors["type"].array
        listed = [watchpoint.names is None or text in watchpoint.names for text in names.categories.tolist()]
        matching = [[search(text) is not None for text in texts.categories.tolist()] for texts in (names, types)]
        of_name, of_type = (np.array([*one, False])[texts.codes] for one, texts in zip(matching, (names, types), strict=True))
        mask &= np.array([*listed, False])[names.codes] & (of_name | of_type)
    return np.flatnonzero(mask) if allowed is None else allowed[mask[allowed]]


def _checked(dump: CheckedDump, watchpoint: Watchpoint, rows: Ints) -> Iterator[Found]:
    kind = CONDITIONS[watchpoint.condition]
    if not len(rows):
        return
    if kind.name == "operator_overflow":
        yield from _operator_overflows(dump, rows)
    elif not kind.limits:
        yield from _overflows(dump, rows)
    elif kind.previous:
        for name, limit in watchpoint.checked.items():
            compared = (_changed(dump, name, limit, row) for row in rows.tolist())
            yield from (one for one in compared if one[4] or one[6])
    else:
        for name, limit in watchpoint.checked.items():
            if name.startswith("range_percentage"):
                yield from _ranges(dump, watchpoint, name, limit, rows)
            else:
                yield from _measured(dump, name, limit, rows)


def _overflows(dump: CheckedDump, rows: Ints) -> Iterator[Found]:
    """Yield the tensors with NaN or Inf, and those of which nothing is known."""
    statistics = dump.measured(rows)
    bad = statistics.non_finite[rows]
    left_out = _left_out(statistics, rows)
    files = dump.tensors["file"].array
    for place in np.flatnonzero(bad != 0).tolist():
        row, count = int(rows[place]), int(left_out[place])
        if bad[place] > 0:
            yield "", row, math.nan, float(count) if count >= 0 else math.nan, True, count, ""
        elif statistics.column("count")[row] != 0:
            yield "", row, math.nan, math.nan, False, -1, UNREADABLE if files[row] else NO_VALUES


def _operator_overflows(dump: CheckedDump, rows: Ints) -> Iterator[Found]:
    """Yield the outputs of operators that a device reported; a dump without any record cannot be checked."""
    records = dump.overflows
    if not len(records):
        yield "", int(rows[0]), math.nan, math.nan, False, -1, NO_RECORDS
        return
    columns = (records[name].tolist() for name in ("rank", "iteration", "name", "status"))
    reported = {(rank, iteration, name): status for rank, iteration, name, status in zip(*columns, strict=True)}
    tensors = dump.tensors
    ranks, iterations = tensors["rank"].to_numpy(), tensors["iteration"].to_numpy()
    recorded, io = tensors["recorded"].array, tensors["io"].array
    for row in rows.tolist():
        status = reported.get((int(ranks[row]), int(iterations[row]), str(recorded[row])))
        if status is not None and io[row] == "output":
            yield "", row, math.nan, float(status), True, -1, ""


def _measured(dump: CheckedDump, name: str, limit: float, rows: Ints) -> Iterator[Found]:
    """Yield the tensors that exceed a limit by their statistics."""
    statistics = dump.measured(rows)
    actual = MEASURES[name](statistics.column)[rows]
    unknown = np.isnan(actual)
    if unknown.any():
        statistics = dump.measured(rows[unknown], computed=True)
        actual[unknown] = MEASURES[name](statistics.column)[rows[unknown]]
    left_out = _left_out(statistics, rows)
    hits = exceeded(name, actual, limit)
    unknown = np.isnan(actual)
    files = dump.tensors["file"].array
    told = np.flatnonzero(hits | unknown)
    columns = (rows[told].tolist(), actual[told].tolist(), hits[told].tolist(), left_out[told].tolist())
    for row, value, hit, count in zip(*columns, strict=True):
        yield name, row, limit, value, hit, count, "" if hit else _why(statistics, row, str(files[row]))


def _why(statistics: StatisticsTable, row: int, file: str) -> str:
    if not file:
        return NO_VALUES
    if not statistics.known[row]:
        return UNREADABLE
    return NO_FINITE if statistics.column("count")[row] > 0 else NO_VALUES


def _left_out(statistics: StatisticsTable, rows: Ints) -> Ints:
    """Return the number of NaN and Inf of each row, -1 for unknown."""
    counts = [statistics.column(name)[rows] for name in ("nan", "positive_inf", "negative_inf")]
    return np.where(np.minimum.reduce(counts) >= 0, counts[0] + counts[1] + counts[2], -1)


def _ranges(dump: CheckedDump, watchpoint: Watchpoint, name: str, limit: float, rows: Ints) -> Iterator[Found]:
    """Yield the tensors of which more or fewer values than allowed are in a range; extremes decide without reading most."""
    start, end = (watchpoint.limits[one] for one in RANGE)
    statistics = dump.measured(rows, computed=True)
    least, most = statistics.column("min")[rows], statistics.column("max")[rows]
    with np.errstate(invalid="ignore"):
        actual = np.where((least >= start) & (most <= end), 100.0, np.nan)
        actual = np.where((most < start) | (least > end), 0.0, actual)
    left_out = _left_out(statistics, rows)
    files = dump.tensors["file"].array
    for place, row in enumerate(rows.tolist()):
        value, why = float(actual[place]), ""
        if math.isnan(value) and not math.isnan(float(least[place])) and files[row]:
            try:
                value = range_percentage(dump.pieces(row), start, end)
            except PayloadError:
                why = UNREADABLE
        if math.isnan(value):
            yield name, row, limit, math.nan, False, int(left_out[place]), why or _why(statistics, row, str(files[row]))
        elif exceeded(name, np.array(value), limit):
            yield name, row, limit, value, True, int(left_out[place]), ""


def _changed(dump: CheckedDump, name: str, limit: float, row: int) -> Found:
    """Compare a tensor with the iteration before."""
    before = dump.previous(row)
    if before is None:
        return name, row, limit, math.nan, False, -1, NO_PREVIOUS
    change = TensorChange(limit if name == "rtol" else 0.0)
    try:
        for now, then in _pairs(dump.pieces(row), dump.pieces(before)):
            change.add(now, then)
    except PayloadError:
        files = dump.tensors["file"].array
        return name, row, limit, math.nan, False, -1, UNREADABLE if files[row] and files[before] else NO_VALUES
    except ValueError:
        return name, row, limit, math.nan, False, -1, SHAPES
    if not change.count:
        return name, row, limit, math.nan, False, change.left_out, NO_FINITE
    if name == "rtol":
        return name, row, limit, change.ratio, change.unchanged, change.left_out, ""
    hit = bool(exceeded(name, np.array(change.ratio), limit))
    return name, row, limit, change.ratio, hit, change.left_out, ""


def _pairs(now: Iterator[NDArray[Any]], before: Iterator[NDArray[Any]]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Yield pieces of the same values of both; ValueError if they have not the same number of values."""
    for one, other in zip(now, before, strict=True):
        if len(one) != len(other):
            raise ValueError("the tensors have different sizes")
        yield one, other
