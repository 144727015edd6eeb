"""The first operator that made values bad, in each iteration of each rank.

An operator is the origin if its output is bad and its inputs are not: NaN or Inf, or a norm that left its history
(`departures`). What hides it, and what is done about it:

* optimizers change their inputs in place, so files of these have the new values: the parameter of the iteration before counts;
* inputs that were not dumped are outputs of the operators before in the graph;
* modules contain operators (msprobe): a module with a bad operator in it is not the origin;
* an operator of communication takes values of other ranks: the origin may be on one of them;
* a norm explodes after it has grown: the operators that the growth came through are followed back (`growth`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.dumps.departures import Reals, departures, norm_changes
from parsers.analysis.dumps.gradients import JudgedNorms, judge
from parsers.analysis.dumps.growth import GROWN_DECADES, by_growth, passes_on, producer_of, updates
from parsers.analysis.dumps.masks import masks
from parsers.analysis.dumps.operators import Key, Ran, operators_of
from parsers.deferred import pandas as pd
from parsers.dump_frames import DUMP_CAUSES, DUMP_DEPARTURES, DUMP_SPREAD
from parsers.dumps.graphs import GraphFlow
from parsers.dumps.msprobe import forward_name
from parsers.dumps.store import StatisticsTable
from parsers.dumps.tables import frame_of_rows
from parsers.dumps.values import TensorHeader
from parsers.errors import PayloadError
from parsers.graphs.graph import SourceLine
from parsers.graphs.sources import is_own
from parsers.model import Ints

NON_FINITE, EXPLODING, VANISHING = "non_finite", "exploding", "vanishing"
HERE, BEFORE, RANK, UNKNOWN = "here", "before", "rank", "unknown"


MOST_VALUES = 1 << 26
"""Values of a tensor, at most, that are read to find the first one that is not finite."""


class ValuedDump(Protocol):
    """What finding a value needs of a dump."""

    def header(self, row: int) -> TensorHeader:
        """Return type and shape of a tensor."""
        ...

    def tensor(self, row: int) -> NDArray[Any]:
        """Return the values of a tensor."""
        ...


class ExaminedDump(Protocol):
    """What finding causes needs of a dump (`parsers.dumps.access.RunDump`)."""

    @property
    def tensors(self) -> pd.DataFrame:
        """Frame of tensors."""
        ...

    @property
    def series(self) -> Ints:
        """Number of the tensor of each row, the same in all iterations."""
        ...

    def measured(self, rows: Ints, *, computed: bool = False) -> StatisticsTable:
        """Return statistics, after computing those of some rows."""
        ...

    def flow(self, row: int) -> GraphFlow | None:
        """Return what the graph of a row says."""
        ...

    def parents(self, row: int) -> Mapping[str, str]:
        """Return entry -> module."""
        ...

    def stack(self, row: int) -> tuple[SourceLine, ...]:
        """Return the lines of the program of a row, outermost call first."""
        ...


@dataclass(frozen=True, slots=True)
class BadPlace:
    """The first value of a tensor that is not finite: NaN, +Inf or -Inf (Inf of complex values), and its index."""

    value: str
    index: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TensorRange:
    """The lowest and highest finite value of an input or output of an operator, NaN for unknown or none.

    io and slot are those of the frame of tensors, parameter is the name of a weight, "" for none. nan and inf count the values
    that are not finite, -1 for unknown.
    """

    io: str
    slot: int
    parameter: str
    low: float
    high: float
    nan: int
    inf: int


def first_bad(dump: ValuedDump, row: int) -> BadPlace | None:
    """Return the first value of a tensor in row order that is not finite; None if there is none, or without its values."""
    try:
        if dump.header(row).size > MOST_VALUES:
            return None
        values = dump.tensor(row)
    except PayloadError:
        return None
    if values.dtype.kind not in "fc":
        return None
    bad = np.flatnonzero(~np.isfinite(values.reshape(-1)))
    if not len(bad):
        return None
    value = values.reshape(-1)[bad[0]]
    index = tuple(int(one) for one in np.unravel_index(bad[0], values.shape)) if values.shape else ()
    if np.isnan(value):
        return BadPlace("NaN", index)
    return BadPlace("Inf" if values.dtype.kind == "c" else "+Inf" if value > 0 else "-Inf", index)


class Causes:
    """What is bad in a dump, and where it began."""

    def __init__(self, dump: ExaminedDump, *, known: bool = False, computed: bool = False) -> None:
        """known: only tensors whose statistics are known by now. computed: of these, those computed from values come first,
        which have counts of NaN and Inf; else those that files state."""
        self.dump = dump
        self.tensors = dump.tensors
        self.statistics = dump.measured(np.arange(0 if known else len(self.tensors)), computed=computed)
        self.operators = operators_of(self.tensors)
        non_finite = self.statistics.non_finite == 1
        self.bad: NDArray[np.bool_] = non_finite & ~masks(self.operators.values(), self.statistics, non_finite)
        self.known: NDArray[np.bool_] = self.statistics.non_finite >= 0
        # The norm of a tensor with NaN or Inf is that of its other values: it has no place in the history.
        real = _real(self.tensors, self.statistics)
        norm = np.where(real & ~non_finite, self.statistics.column("l2"), np.nan)
        changes = norm_changes(dump.series, self.tensors["iteration"].to_numpy(), norm)
        self.sign, self.usual, self._decades = changes.sign, changes.usual, changes.decades
        self._moved = {EXPLODING: changes.moved > 0, VANISHING: changes.moved < 0}
        known_norms = JudgedNorms(dump.series, real, non_finite, norm, self.usual)
        self.judgement = judge(self.tensors, self.statistics, known_norms, self.operators)
        self._updates = updates(self.tensors, dump.series, norm, self.statistics.column("count").astype(np.float64))
        self._add_updates(norm)
        self._parameters = self._parameter_rows()
        self._forward = {
            (key, ran.name): (*ran.inputs, *ran.outputs)
            for key, operators in self.operators.items()
            for ran in operators
            if ran.graph < 0
        }

    def frame(self) -> pd.DataFrame:
        """Return the causes (schema DUMP_CAUSES), the earliest iteration first, and in it the earliest operator."""
        found: list[tuple[tuple[int, int, int, int], dict[str, Any]]] = []
        for key, operators in self.operators.items():
            for kind, state in ((NON_FINITE, self.bad), (EXPLODING, self.sign > 0), (VANISHING, self.sign < 0)):
                cause = self._cause(key, operators, kind, state)
                if cause is not None:
                    place = cause.pop("place")
                    found.append(((key[2], cause["origin"] != HERE, place, key[0]), cause))
        self._find_ranks([cause for _, cause in found])
        found = [((place[0], cause["origin"] not in (HERE, UNKNOWN), *place[2:]), cause) for place, cause in found]
        found.sort(key=lambda one: one[0])
        names = DUMP_CAUSES.names
        return frame_of_rows(DUMP_CAUSES, [tuple(cause[name] for name in names) for _, cause in found])

    def departed(self, loss: Mapping[int, float] | None = None) -> pd.DataFrame:
        """Return the outputs and parameters whose norm left its history (schema DUMP_DEPARTURES), the earliest first.

        loss is the loss by iteration; one that is not finite has left its history too.
        """
        io, series = self.tensors["io"].array, self.dump.series
        made = np.asarray(io == "output") | np.asarray(io == "parameter") | np.asarray(io == "gradient")
        rows = np.flatnonzero((self.sign != 0) & made)
        iteration, order = (self.tensors[name].to_numpy() for name in ("iteration", "order"))
        rows = rows[np.lexsort((rows, order[rows], self.tensors["time_ns"].to_numpy()[rows], iteration[rows]))]
        rows = rows[np.sort(np.unique(series[rows], return_index=True)[1])]
        changed = _loss_changed(loss or {})
        measured, usual = self.statistics.column("l2")[rows], self.usual[rows]
        with np.errstate(divide="ignore"):
            decades = np.log10(measured / usual)
        slots, ranks = self.tensors["slot"].to_numpy(), self.tensors["rank"].to_numpy()
        names = self.tensors["name"].array
        found = [
            (
                row, int(ranks[row]), int(iteration[row]), str(names[row]), str(io[row]), int(slots[row]),
                EXPLODING if self.sign[row] > 0 else VANISHING, float(measured[place]), float(usual[place]),
                float(decades[place]), changed - int(iteration[row]),
            )
            for place, row in enumerate(rows.tolist())
        ]  # fmt: skip
        return frame_of_rows(DUMP_DEPARTURES, found)

    def spread(self, rank: int, iteration: int, *, kind: str = NON_FINITE) -> pd.DataFrame:
        """Return the operators with bad outputs in one iteration in the order they ran (schema DUMP_SPREAD)."""
        state = {NON_FINITE: self.bad, EXPLODING: self.sign > 0, VANISHING: self.sign < 0}[kind]
        found: list[tuple[Any, ...]] = []
        for key, operators in self.operators.items():
            if key[0] != rank or key[2] != iteration:
                continue
            cause = self._cause(key, operators, kind, state)
            hops = self._hops(operators, cause)
            for place, ran in enumerate(operators):
                row = next((row for row in ran.outputs if state[row]), None)
                if row is not None:
                    inputs = sum(bool(state[one]) for one in ran.inputs)
                    found.append(
                        (
                            row,
                            ran.graph,
                            ran.name,
                            ran.type,
                            hops.get(ran.name, -1),
                            *self._counts(row),
                            inputs,
                            self._line(row),
                            place,
                            int(self.statistics.column("count")[row]),
                        )
                    )
        return frame_of_rows(DUMP_SPREAD, found)

    def ranges(self, row: int) -> list[TensorRange]:
        """Return the ranges of inputs and outputs of the operator that has the tensor of a row; [] if it belongs to none."""
        numbers = {name: self.tensors[name].to_numpy() for name in ("rank", "iteration", "slot")}
        key = int(numbers["rank"][row]), str(self.tensors["part"].array[row]), int(numbers["iteration"][row])
        ran = next((one for one in self.operators.get(key, ()) if row in one.inputs or row in one.outputs), None)
        if ran is None:
            return []
        io, parameters = self.tensors["io"].array, self.tensors["parameter"].array
        low, high = (self.statistics.column(name) for name in ("min", "max"))
        return [
            TensorRange(
                str(io[one]), int(numbers["slot"][one]), str(parameters[one]), float(low[one]), float(high[one]),
                *self._counts(one),
            )
            for one in (*ran.inputs, *ran.outputs)
        ]  # fmt: skip

    def _add_updates(self, norm: Reals) -> None:
        """Take a weight that grew by GROWN_DECADES in one update for one that explodes, even if it has no history."""
        grown = (self._updates >= GROWN_DECADES) & np.isnan(self.usual)
        self.sign[grown] = 1
        self._moved[EXPLODING] |= grown
        self.usual[grown] = norm[grown] / 10.0 ** self._updates[grown]
        self._decades[grown] = self._updates[grown]

    # One iteration -------------------------------------------------------------------------------------------------

    def _cause(self, key: Key, operators: list[Ran], kind: str, state: NDArray[np.bool_]) -> dict[str, Any] | None:
        """Return the cause in one iteration of a rank; None if nothing is bad."""
        bad = [place for place, ran in enumerate(operators) if any(state[row] for row in ran.outputs)]
        if not bad:
            return self._without_outputs(key, operators, kind, state)
        containers = self._containers(operators, bad)
        made = {operators[place].name for place in bad}
        first: tuple[int, str, str] | None = None
        for place in bad:
            ran = operators[place]
            if ran.name in containers:
                continue
            origin, name = self._origin(key, ran, state, made)
            if origin == HERE:
                first = (place, origin, name)
                break
            if first is None:
                first = (place, origin, name)
        if first is None:
            first = (bad[0], UNKNOWN, "")
        place, origin, name = first if kind == NON_FINITE else self._followed(key, operators, first[0], kind)
        ran = operators[place]
        bad_rows = state if kind == NON_FINITE else state | self._moved[kind]
        row = next(row for row in ran.outputs if bad_rows[row])
        return self._described(key, ran, row, kind, origin, name) | {
            "place": place,
            "affected": len(bad),
            "operators": len(operators),
        }

    def _followed(self, key: Key, operators: list[Ran], place: int, kind: str) -> tuple[int, str, str]:
        """Follow a norm that left its history to where it began to move: (place of the operator, origin, name of its input)."""
        moved = self._moved[kind]
        places = [at for at, ran in enumerate(operators) if any(moved[row] for row in ran.outputs)]
        containers = self._containers(operators, places)
        made = {operators[at].name: at for at in places if operators[at].name not in containers}
        seen: set[int] = set()
        while True:
            seen.add(place)
            ran = by_growth(operators[place], self._decades, kind == VANISHING)
            origin, name = self._origin(key, ran, moved, set(made))
            source = made.get(name, -1)
            if origin == BEFORE and not name:
                row = next(row for row in ran.inputs if moved[row])
                source = producer_of(operators, place, row, self.statistics, set(made))
            elif origin != BEFORE and kind == EXPLODING and passes_on(ran, self.statistics.column("l2")):
                origin, name = self._passed_on(ran)
                source = made.get(name, -1)
            if source < 0 or source in seen:
                return place, origin, name
            place = source

    def _passed_on(self, ran: Ran) -> tuple[str, str]:
        """Return the origin of what an operator made that amplifies nothing: the operator that made its input."""
        flow = self.dump.flow(ran.outputs[0])
        sources = flow.sources.get(ran.name, {}) if flow is not None else {}
        return BEFORE, next(iter(sources.values()), "")

    def _without_outputs(self, key: Key, operators: list[Ran], kind: str, state: NDArray[np.bool_]) -> dict[str, Any] | None:
        """Return the cause if no output is bad, but an input is: its operator was not dumped."""
        if kind == VANISHING:
            return None
        parameters = self.tensors["parameter"].array
        for place, ran in enumerate(operators):
            row = next((row for row in ran.inputs if state[row] and (kind == NON_FINITE or parameters[row])), None)
            if row is not None:
                held = str(parameters[row])
                described = self._described(key, ran, row, kind, BEFORE if held else UNKNOWN, held)
                return described | {"place": place, "affected": 0, "operators": len(operators)}
        return None

    def _origin(self, key: Key, ran: Ran, state: NDArray[np.bool_], made: set[str]) -> tuple[str, str]:
        """Return where the bad values of an operator come from: HERE, UNKNOWN, or BEFORE with the name of its bad input."""
        parameters = self.tensors["parameter"].array
        of_msprobe = ran.graph < 0
        slots = self.tensors["slot"].to_numpy()
        flow = self.dump.flow(ran.outputs[0])
        sources = dict(flow.sources.get(ran.name, {})) if flow is not None else {}
        seen = False
        for row in ran.inputs:
            held = str(parameters[row])
            slot = int(slots[row])
            if not of_msprobe:
                sources.pop(slot, None)
            if ran.in_place and not of_msprobe and (held or (not sources and flow is None and slot < 2)):
                seen = True
                if held and self._was_bad(key, held, state):
                    return BEFORE, held
                continue
            seen = seen or bool(self.known[row])
            if state[row]:
                return BEFORE, held or self._producer(ran, slot, flow)
        for source in sources.values():  # inputs that were not dumped
            if source in made and source != ran.name:
                return BEFORE, source
            if self._was_bad(key, source, state):
                return BEFORE, source
        if of_msprobe:
            return self._forward_origin(key, ran, state, seen=seen)
        return (HERE, "") if seen or sources or (flow is not None and flow.sources) else (UNKNOWN, "")

    def _forward_origin(self, key: Key, ran: Ran, state: NDArray[np.bool_], *, seen: bool) -> tuple[str, str]:
        """Return the origin of an entry of msprobe with good inputs: a backward call uses values of the forward one too."""
        forward = forward_name(ran.name)
        if forward != ran.name and any(state[row] for row in self._forward.get((key, forward), ())):
            return BEFORE, forward
        return (HERE, "") if seen else (UNKNOWN, "")

    def _producer(self, ran: Ran, slot: int, flow: GraphFlow | None) -> str:
        return flow.sources.get(ran.name, {}).get(slot, "") if flow is not None else ""

    def _parameter_rows(self) -> dict[tuple[int, str, int, str], int]:
        """Return (rank, directory, iteration, parameter) -> row of its file, the last one: the value after the iteration."""
        io = self.tensors["io"].array
        rows = np.flatnonzero(np.asarray(io == "parameter"))
        columns = [self.tensors[name].to_numpy()[rows].tolist() for name in ("rank", "iteration")]
        texts = [self.tensors[name].array.take(rows).astype(object).tolist() for name in ("part", "name")]
        return {
            (rank, part, iteration, name): row
            for rank, iteration, part, name, row in zip(*columns, *texts, rows.tolist(), strict=True)
        }

    def _was_bad(self, key: Key, parameter: str, state: NDArray[np.bool_]) -> bool:
        """Return whether a parameter was bad after the iteration before."""
        row = self._parameters.get((key[0], key[1], key[2] - 1, parameter))
        return row is not None and bool(state[row])

    def _containers(self, operators: Sequence[Ran], bad: Sequence[int]) -> set[str]:
        """Return the modules that have something bad in them."""
        row = next((ran.outputs[0] for ran in operators if ran.outputs), None)
        parents = self.dump.parents(row) if row is not None else {}
        found: set[str] = set()
        for place in bad:
            name = parents.get(operators[place].name, "")
            while name and name not in found:
                found.add(name)
                name = parents.get(name, "")
        return found

    def _described(self, key: Key, ran: Ran, row: int, kind: str, origin: str, name: str) -> dict[str, Any]:
        nan, inf = self._counts(row)
        departed = kind != NON_FINITE
        grown = self._grown(key, ran, name) if departed and origin == BEFORE else np.nan
        return {
            "rank": key[0],
            "part": key[1],
            "iteration": key[2],
            "kind": kind,
            "origin": origin,
            "graph": ran.graph,
            "name": ran.name,
            "type": ran.type,
            "row": row,
            "nan": nan,
            "inf": inf,
            "measured": float(self.statistics.column("l2")[row]) if departed else np.nan,
            "usual": float(self.usual[row]) if departed else np.nan,
            "source": self._line(row),
            "from_rank": -1,
            "from_name": name,
            "grown": grown,
            "communicates": ran.communicates,
        }

    def _grown(self, key: Key, ran: Ran, parameter: str) -> float:
        """Return how many times larger a parameter was after the last update than before it; NaN for unknown."""
        held = [row for row in ran.inputs if str(self.tensors["parameter"].array[row]) == parameter]
        before = self._parameters.get((key[0], key[1], key[2] - 1, parameter))
        changes = self._updates[[*([] if before is None else [before]), *held]]
        known = changes[~np.isnan(changes)]
        return float(10.0 ** known.max()) if parameter and len(known) else np.nan

    def _counts(self, row: int) -> tuple[int, int]:
        nan, high, low = (int(self.statistics.column(name)[row]) for name in ("nan", "positive_inf", "negative_inf"))
        return nan, high + low if min(high, low) >= 0 else -1

    def _line(self, row: int) -> str:
        """Return the innermost line of own code, else of any."""
        lines = [line for line in self.dump.stack(row) if line.file]
        own = [line for line in lines if is_own(line.file)]
        return next((f"{line.file}:{line.first} {line.code}".strip() for line in reversed(own or lines)), "")

    # Several ranks -------------------------------------------------------------------------------------------------

    def _find_ranks(self, causes: Sequence[dict[str, Any]]) -> None:
        """Blame other ranks for operators of communication with good inputs, if one of them has bad values of its own."""
        for cause in causes:
            if cause["origin"] != HERE or not cause["communicates"]:
                continue
            same = [one for one in causes if (one["iteration"], one["kind"]) == (cause["iteration"], cause["kind"])]
            others = [one for one in same if one["rank"] != cause["rank"] and not one["communicates"]]
            other = next((one for one in others if one["origin"] == HERE), next(iter(others), None))
            if other is not None:
                cause |= {"origin": RANK, "from_rank": other["rank"], "from_name": other["name"]}

    def _hops(self, operators: Sequence[Ran], cause: dict[str, Any] | None) -> dict[str, int]:
        """Return the number of operators between the cause and others along the graph; {} without a graph."""
        flow = self.dump.flow(cause["row"]) if cause is not None else None
        if flow is None or cause is None:
            return {}
        takers: dict[str, list[str]] = {}
        for name, sources in flow.sources.items():
            for source in sources.values():
                takers.setdefault(source, []).append(name)
        dumped = {ran.name for ran in operators}
        hops = {cause["name"]: 0}
        pending = [cause["name"]]
        while pending:
            following: list[str] = []
            for name in pending:
                for taker in takers.get(name, ()):
                    if taker not in hops:
                        hops[taker] = hops[name] + (taker in dumped)
                        following.append(taker)
            pending = following
        return hops


def _loss_changed(loss: Mapping[int, float]) -> float:
    """Return the iteration at which a loss first is not finite or leaves its history; NaN for never."""
    steps = np.array(sorted(loss), np.int64)
    values = np.abs(np.array([loss[step] for step in steps.tolist()], np.float64))
    sign, _ = departures(np.zeros(len(steps), np.int64), np.arange(len(steps)), values)
    changed = steps[(sign != 0) | ~np.isfinite(values)]
    return float(changed[0]) if len(changed) else np.nan


def _real(tensors: pd.DataFrame, statistics: StatisticsTable) -> NDArray[np.bool_]:
    """Return which tensors hold real numbers: norms of counters, indices and masks mean nothing."""
    dtypes = tensors["dtype"].array
    known = np.array([*("float" in text for text in dtypes.categories.tolist()), False], np.bool_)
    real: NDArray[np.bool_] = known[dtypes.codes]
    told = statistics.dtype
    is_real = np.array(["float" in text for text in told.texts], np.bool_)
    return np.where(told.codes > 0, is_real[told.codes], real)
