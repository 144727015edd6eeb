"""Compares two dumps tensor by tensor in the order of execution: two runs, ranks, iterations, or a CPU and a device.

Operators are matched by full name first, then by name without -op<n>, then by scope, type and direction; of several with the
same the first goes with the first, so what runs several times in an iteration goes with itself. Parameters are matched by name
only. A tensor goes with that of the same input or output. Values are compared where both dumps have them; else statistics, else
hashes, which only tell whether two tensors are the same.

The difference of two tensors is ||this - other|| / max(||this||, ||other||) over pairs of finite values, from 0 to 2, or Inf
if NaN or Inf is in one of them only. From statistics it is the larger one of | ||this|| - ||other|| | over the larger norm, and
the greatest difference of maximum, minimum and mean over the largest absolute value: a difference that leaves all of these as
they are is not seen. A pair that cannot be compared says why: other shapes, complex values with real ones, texts, damage.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.dumps.operators import operators_of
from parsers.analysis.dumps.watchpoints.targets import is_gradient
from parsers.analysis.values.tensor_comparison import compare
from parsers.deferred import pandas as pd
from parsers.dump_frames import DUMP_DIFFERENCES, DUMP_PAIRS
from parsers.dumps.graphs import GraphFlow
from parsers.dumps.store import StatisticsTable
from parsers.dumps.tables import frame_of_rows
from parsers.dumps.values import TensorHeader
from parsers.errors import FormatError, PayloadError
from parsers.model import Ints

NAME, WITHOUT_OP, SCOPE = "name", "without_op", "scope"
VALUES, STATISTICS, HASH = "values", "statistics", "hash"
SHAPES, UNREADABLE, NO_VALUES, HASHES = "shapes differ", "unreadable", "no values", "hashes differ"
TYPES, TEXTS = "types differ", "no numbers"
_OP = re.compile(r"-op\d+\Z")
_EXTREMES = ("max", "min", "mean")
_TELL_SECONDS = 0.5
TOLERANCE = 1e-3
"""Difference that is still the same unless another one is chosen."""

Progress = Callable[[int, int, "pd.DataFrame | None"], object]
"""Called with the number of pairs done, of all, and now and then what was found so far."""


class ComparedDump(Protocol):
    """What comparing needs of a dump (`parsers.dumps.access.RunDump`)."""

    @property
    def tensors(self) -> pd.DataFrame:
        """Frame of tensors."""
        ...

    def pieces(self, row: int) -> Iterator[NDArray[Any]]:
        """Yield the values of a tensor."""
        ...

    def header(self, row: int) -> TensorHeader:
        """Return type and shape of a tensor from its file."""
        ...

    def measured(self, rows: Ints, *, computed: bool = False) -> StatisticsTable:
        """Return statistics, after computing those of some rows."""
        ...


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: a dump, a rank and an iteration (-1 for constants)."""

    dump: ComparedDump
    rank: int
    iteration: int


@dataclass(frozen=True, slots=True)
class _Unit:
    """An operator as it ran once, or a parameter: its place in the order of execution, and its rows by input or output."""

    ran: bool
    place: int
    name: str
    type: str
    scope: str
    rows: dict[tuple[str, int, str], int]

    @property
    def full(self) -> str:
        """The name as files have it: without a graph / is unknown."""
        return self.name.replace("/", "_")

    @property
    def without_op(self) -> tuple[str, str]:
        """Name without -op<n>, and type."""
        return _OP.sub("", self.full), self.type.lower()

    @property
    def kind(self) -> tuple[str, str, bool]:
        """Scope, type and direction."""
        return self.scope.replace("/", "_"), self.type.lower(), is_gradient(self.name)


def pairs(this: Side, other: Side) -> pd.DataFrame:
    """Return which tensors go together (schema DUMP_PAIRS), in the order of execution of this.

    A tensor without a partner has -1 as the other row; those of the other dump come last.
    """
    one, two = _units(this), _units(other)
    partner: dict[int, tuple[_Unit, str]] = {}
    rest, free = one, two
    for how, key in ((NAME, _full), (WITHOUT_OP, _without_op), (SCOPE, _kind)):
        able = [[unit for unit in units if unit.ran or how != SCOPE] for units in (rest, free)]
        found = list(_matched(able[0], able[1], key))
        partner |= {unit.place: (match, how) for unit, match in found}
        taken = {match.place for _, match in found}
        rest = [unit for unit in rest if unit.place not in partner]
        free = [unit for unit in free if unit.place not in taken]
    rows: list[tuple[Any, ...]] = []
    for unit in one:
        match, how = partner.get(unit.place, (None, ""))
        rows += _rows(unit, match, how)
    for unit in free:
        rows += [(unit.place, "", unit.type, "", unit.name, *slot, -1, row) for slot, row in unit.rows.items()]
    return frame_of_rows(DUMP_PAIRS, rows)


def compare_pairs(this: Side, other: Side, paired: pd.DataFrame, progress: Progress | None = None) -> pd.DataFrame:
    """Return how the tensors differ (schema DUMP_DIFFERENCES), in the order of `paired`; those without a partner are left out.

    Outputs are compared first, then inputs, so that what is found so far tells most.
    """
    both = paired[(paired["row"] >= 0) & (paired["other_row"] >= 0)]
    made = (both["io"] != "input").to_numpy()
    order = np.concatenate([np.flatnonzero(made), np.flatnonzero(~made)])
    rows, others = both["row"].to_numpy(), both["other_row"].to_numpy()
    work = _Work(this.dump, other.dump, rows, others)
    found: dict[int, tuple[Any, ...]] = {}
    due = time.monotonic() + _TELL_SECONDS
    for done, place in enumerate(order.tolist()):
        found[place] = work.compared(int(rows[place]), int(others[place]))
        if progress is None:
            continue
        begin = time.monotonic()
        progress(done + 1, len(order), _differences(both, found) if begin > due else None)
        if begin > due:  # making the frame of many pairs takes a while
            due = time.monotonic() + max(_TELL_SECONDS, 20 * (time.monotonic() - begin))
    return _differences(both, found)


def first_iteration(
    this: ComparedDump, rank: int, other: ComparedDump, other_rank: int, tolerance: float,
    progress: Callable[[int, int], object] | None = None
) -> tuple[int | None, int, int]:
    """Return the first iteration of both dumps in which an output differs by more than a tolerance, how many do not before,
    and how many iterations both dumps have.

    None if there is none. An iteration without tensors that can be compared counts as neither; one with hashes that differ does
    differ, by whatever. progress is called with the
    number of iterations done and of all, before each tensor.
    """
    steps = sorted(_iterations(this, rank) & _iterations(other, other_rank))
    alike = 0
    for done, step in enumerate(steps):
        one, two = Side(this, rank, step), Side(other, other_rank, step)
        paired = pairs(one, two)
        made = paired[((paired["row"] >= 0) & (paired["other_row"] >= 0) & (paired["io"] != "input")).to_numpy()]
        rows, others = made["row"].to_numpy(), made["other_row"].to_numpy()
        work = _Work(this, other, rows, others)
        compared = False
        for row, partner in zip(rows.tolist(), others.tolist(), strict=True):
            if progress is not None:
                progress(done, len(steps))
            found = work.compared(row, partner)
            difference = found[1]
            if difference > tolerance or found[-1] == HASHES:
                return step, alike, len(steps)
            compared = compared or not math.isnan(difference)
        alike += compared
    return None, alike, len(steps)


@dataclass(frozen=True, slots=True)
class LoneProducer:
    """An operator or parameter that only one dump (0 for this, 1 for the other) has, and the input that takes its values."""

    side: int
    slot: int
    name: str


def lone_producers(
    flows: tuple[GraphFlow | None, GraphFlow | None], paired: pd.DataFrame, differences: pd.DataFrame, place: int
) -> list[LoneProducer]:
    """Return what the operator at a position takes values of and only one dump has.

    flows are what the graphs of the operator and of its partner say; None without a graph, which leaves producers unknown.
    """
    alone = (paired["how"] == "").to_numpy()
    found = []
    for side, (flow, column, row) in enumerate(zip(flows, ("name", "other_name"), ("row", "other_row"), strict=True)):
        if flow is None:
            continue
        only = set(paired[column].array[np.flatnonzero(alone & (paired[row] >= 0).to_numpy())])
        sources = flow.sources.get(str(differences[column].iloc[place]), {})
        found += [LoneProducer(side, slot, name) for slot, name in sorted(sources.items()) if name in only]
    return found


def shared(this: ComparedDump, other: ComparedDump) -> tuple[int, int]:
    """Return how many iterations and how many operators and parameters both dumps have.

    Operators are the same by name without -op<n>, or, if that gives more, by scope, type and direction.
    """
    steps, names, kinds = (set.intersection(*found) for found in zip(_known(this), _known(other), strict=True))
    return len(steps), max(len(names), len(kinds))


def _known(dump: ComparedDump) -> tuple[set[Any], set[Any], set[Any]]:
    """Return iterations, operators by name, and operators by scope, type and direction."""
    tensors = dump.tensors
    steps = {int(one) for one in np.unique(tensors["iteration"].to_numpy()) if one >= 0}
    told = tensors[["name", "type", "scope"]].drop_duplicates().astype(str).itertuples(index=False)
    units = [_Unit(True, 0, name, kind, scope, {}) for name, kind, scope in told]
    return steps, {unit.without_op for unit in units}, {unit.kind for unit in units if unit.scope}


def _iterations(dump: ComparedDump, rank: int) -> set[int]:
    tensors = dump.tensors
    found = tensors["iteration"].to_numpy()[tensors["rank"].to_numpy() == rank]
    return {int(one) for one in np.unique(found) if one >= 0}


def _differences(both: pd.DataFrame, found: dict[int, tuple[Any, ...]]) -> pd.DataFrame:
    places = sorted(found)
    columns = [both[name].tolist() for name in DUMP_PAIRS.names]
    return frame_of_rows(DUMP_DIFFERENCES, [(*(column[place] for column in columns), *found[place]) for place in places])


def differing(differences: pd.DataFrame, tolerance: float) -> NDArray[np.bool_]:
    """Return which tensors differ by more than a tolerance; those that cannot be compared do not."""
    found: NDArray[np.bool_] = differences["difference"].to_numpy() > tolerance
    return found


def first_difference(differences: pd.DataFrame, tolerance: float) -> int | None:
    """Return the position of the first output in the order of execution that differs by more than a tolerance; None if none."""
    beyond = differing(differences, tolerance) & (differences["io"] != "input").to_numpy()
    found = np.flatnonzero(beyond)
    return int(found[0]) if len(found) else None


def first_other_hash(differences: pd.DataFrame) -> int | None:
    """Return the position of the first output of which only hashes are known, which differ; None if there is none."""
    found = np.flatnonzero(((differences["why"] == HASHES) & (differences["io"] != "input")).to_numpy())
    return int(found[0]) if len(found) else None


def inputs_of(differences: pd.DataFrame, place: int) -> pd.DataFrame:
    """Return the rows of the inputs of the operator at a position."""
    of = differences["place"].to_numpy() == differences["place"].iloc[place]
    found: pd.DataFrame = differences[of & (differences["io"] == "input").to_numpy()]
    return found


# Matching ------------------------------------------------------------------------------------------------------------


def _full(unit: _Unit) -> tuple[Any, ...]:
    return (unit.full,)


def _without_op(unit: _Unit) -> tuple[Any, ...]:
    return unit.without_op


def _kind(unit: _Unit) -> tuple[Any, ...]:
    return unit.kind


def _matched(
    one: Iterable[_Unit], two: Iterable[_Unit], key: Callable[[_Unit], tuple[Any, ...]]
) -> Iterator[tuple[_Unit, _Unit]]:
    """Yield units with the same key, the first with the first."""
    free: dict[tuple[Any, ...], list[_Unit]] = {}
    for unit in two:
        free.setdefault(key(unit), []).append(unit)
    for unit in one:
        waiting = free.get(key(unit))
        if waiting:
            yield unit, waiting.pop(0)


def _rows(unit: _Unit, match: _Unit | None, how: str) -> Iterator[tuple[Any, ...]]:
    """Yield the tensors of a unit and their partners, and those that only the partner has."""
    others = dict(match.rows) if match is not None else {}
    name = match.name if match is not None else ""
    for slot, row in unit.rows.items():
        yield unit.place, unit.name, unit.type, how, name, *slot, row, others.pop(slot, -1)
    for slot, row in others.items():
        yield unit.place, unit.name, unit.type, how, name, *slot, -1, row


def _units(side: Side) -> list[_Unit]:
    """Return the operators of one iteration in the order they ran, then its parameters and constants."""
    tensors = side.dump.tensors
    rows = np.flatnonzero((tensors["rank"].to_numpy() == side.rank) & (tensors["iteration"].to_numpy() == side.iteration))
    own = tensors.iloc[rows]
    texts = {name: own[name].astype(object).tolist() for name in ("name", "type", "scope", "io", "key")}
    slots = own["slot"].tolist()
    found: list[_Unit] = []
    used: set[int] = set()
    for operators in operators_of(own).values():
        for ran in operators:
            places = sorted({*ran.inputs, *ran.outputs})
            used.update(places)
            by_slot = {(texts["io"][at], slots[at], texts["key"][at]): int(rows[at]) for at in places}
            found.append(_Unit(True, len(found), ran.name, ran.type, texts["scope"][places[0]], by_slot))
    for at, row in enumerate(rows.tolist()):
        if at not in used:
            by_slot = {(texts["io"][at], slots[at], texts["key"][at]): row}
            found.append(_Unit(False, len(found), texts["name"][at], texts["type"][at], texts["scope"][at], by_slot))
    return found


# Comparing -----------------------------------------------------------------------------------------------------------

_NOTHING = (math.nan,) * 5
"""Difference, cosine, greatest absolute and relative difference, root mean square."""


class _Work:
    """Compares pairs of rows."""

    def __init__(self, this: ComparedDump, other: ComparedDump, rows: Ints, others: Ints) -> None:
        self._this, self._other = this, other
        self._files = this.tensors["file"].array, other.tensors["file"].array
        self._shapes = this.tensors["shape"].array, other.tensors["shape"].array
        self._dtypes = this.tensors["dtype"].array, other.tensors["dtype"].array
        both = zip(rows.tolist(), others.tolist(), strict=True)
        left = np.array([not (self._files[0][row] and self._files[1][two]) for row, two in both], np.bool_)
        self._stated = this.measured(rows[left]), other.measured(others[left])

    def compared(self, row: int, other: int) -> tuple[Any, ...]:
        """Return by, difference, cosine, greatest absolute and relative difference, root mean square, values, unlike, why."""
        if self._files[0][row] and self._files[1][other]:
            return self._by_values(row, other)
        one, two = self._shapes[0][row], self._shapes[1][other]
        if one and two and _plain(one) != _plain(two):
            return _unlike(SHAPES)
        stated = self._stated[0].dtype[row], self._stated[1].dtype[other]
        if _differ(stated[0] or self._dtypes[0][row], stated[1] or self._dtypes[1][other]):
            return _unlike(TYPES)
        hashes = self._stated[0].hash[row], self._stated[1].hash[other]
        known = all(hashes) and len(hashes[0]) == len(hashes[1]) and self._dtypes[0][row] == self._dtypes[1][other]
        if known and hashes[0] == hashes[1]:
            return HASH, 0.0, *_NOTHING[1:], -1, 0, ""
        found = self._by_statistics(row, other)
        return found if found is not None else _unlike(HASHES if known else NO_VALUES)

    def _by_values(self, row: int, other: int) -> tuple[Any, ...]:
        try:
            one, two = self._this.header(row), self._other.header(other)
            if _squeezed(one.shape) != _squeezed(two.shape):
                return _unlike(SHAPES)
            if _differ(one.dtype, two.dtype):
                return _unlike(TYPES)
            if _is_text(one.dtype):
                return _unlike(TEXTS)
            found = compare(lambda: self._this.pieces(row), lambda: self._other.pieces(other), tolerances=(), places=1)
        except PayloadError:
            return _unlike(UNREADABLE)
        except FormatError:  # a file has fewer values than its header says
            return _unlike(SHAPES)
        difference = math.inf if found.unlike else found.norm_difference if found.finite else 0.0
        numbers = (difference, found.cosine, found.max_absolute, found.max_relative, found.root_mean_square)
        return VALUES, *numbers, found.count, found.unlike, ""

    def _by_statistics(self, row: int, other: int) -> tuple[Any, ...] | None:
        """Return the difference of the statistics; None if these do not tell."""
        this, that = self._stated
        bad = int(this.non_finite[row]), int(that.non_finite[other])
        if -1 not in bad and bad[0] != bad[1]:
            return STATISTICS, math.inf, *_NOTHING[1:], -1, -1, ""
        one = {name: float(this.column(name)[row]) for name in (*_EXTREMES, "l2")}
        two = {name: float(that.column(name)[other]) for name in (*_EXTREMES, "l2")}
        size = max((abs(side[name]) for side in (one, two) for name in _EXTREMES if math.isfinite(side[name])), default=0.0)
        norm = max(abs(one["l2"]), abs(two["l2"]))
        parts = [_relative(one[name], two[name], size) for name in _EXTREMES] + [_relative(one["l2"], two["l2"], norm)]
        parts = [part for part in parts if not math.isnan(part)]
        if not parts:
            return (STATISTICS, 0.0, *_NOTHING[1:], -1, -1, "") if bad == (1, 1) else None
        return STATISTICS, max(parts), *_NOTHING[1:], -1, -1, ""


def _unlike(why: str) -> tuple[Any, ...]:
    return "", *_NOTHING, -1, -1, why


def _differ(one: str, two: str) -> bool:
    """Return whether two types have no difference of values: complex and real, text and numbers. "" is an unknown type."""
    return bool(one and two) and (("complex" in one) != ("complex" in two) or _is_text(one) != _is_text(two))


def _is_text(dtype: str) -> bool:
    return re.fullmatch(r"[<>|=]?[SU]\d+|str\w*|string\w*", dtype) is not None


def _relative(one: float, two: float, size: float) -> float:
    """Return the difference of two numbers relative to a size; NaN if one is unknown."""
    if one == two:
        return 0.0
    return abs(one - two) / size if math.isfinite(one) and math.isfinite(two) and size else math.nan


def _squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for size in shape if size != 1)


def _plain(shape: str) -> tuple[int, ...]:
    return _squeezed(tuple(int(size) for size in shape.split("x"))) if shape != "[]" else ()
