"""What a session has sent, as pages see a dump (`layouts.dumps.open_dump.DumpView`).

Rows are the tensors of its graphs at the step it is at, those of earlier steps of which something is known, and parameters at
the step before, which training also has. Values and statistics are fetched when they are asked for and training waits: until
then there are none, and `OpenDump.mark` changes when they have come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from app.live.session import TrainingSession
from app.live.watching import OVERFLOW, hits_frame, with_unsent
from layouts.dumps.live_sessions import TRAINING
from layouts.dumps.open_dump import DumpView
from parsers.analysis.dumps.watchpoints.checking import NO_RECORDS, NOT_SENT, SENT_LATER
from parsers.analysis.dumps.watchpoints.conditions import Watchpoint
from parsers.debugger import commands
from parsers.debugger.messages import LARGEST_TENSOR, TensorHead, TensorSummary
from parsers.debugger.tensors import GraphTensors
from parsers.deferred import pandas as pd
from parsers.dump_frames import DUMP_EXECUTIONS, DUMP_HITS, DUMP_OVERFLOWS
from parsers.dumps.graphs import GraphFlow, lines_of
from parsers.dumps.statistics import TensorStatistics, statistics_of
from parsers.dumps.store import COMPUTED, StatisticsTable
from parsers.dumps.values import Array, TensorHeader
from parsers.errors import PayloadError
from parsers.graphs.graph import Graph, SourceLine
from parsers.model import Ints, Problem

ASKED_AT_ONCE = 200
"""Rows of which missing statistics are asked for: more are the work of whole dumps, for which training does not wait."""


class LiveDump(DumpView):
    """A session at one moment: rows stay the same, values may still come."""

    def __init__(self, session: TrainingSession) -> None:
        self._session = session
        with session.lock:
            self.mark = session.mark
            self._step, self._backend = session.told.step, session.told.backend
            self._tensors: GraphTensors = session.tensors
            self._steps = list(session.steps)
            self._statistics = dict(session.statistics)
            self._heads = dict(session.heads)
            self._hits = list(session.watched.hits)
            # Hits may be of a step at which training has not said yet that it is.
            self._steps += [(step, -1) for step in sorted({one.step for one in self._hits} - {at for at, _ in self._steps})]
            self._wanted = dict(session.watched.wanted)
            self._since = [(one, session.watched.since[number]) for number, one in session.watched.known.items()]
        self._values = set(session.kept.keys(session.key))
        self._lay()

    def _lay(self) -> None:
        """Choose the rows: known tensors of other steps, parameters of the step before, and everything now."""
        known = {*self._statistics, *self._heads, *self._values, *((one.wire, one.step) for one in self._hits)}
        tensors, step = self._tensors, self._step
        by_step: dict[int, set[int]] = {}
        for wire, at in known:
            if at != step:
                by_step.setdefault(at, set()).add(wire)
        every = np.arange(len(tensors))
        if step > 0 and len(tensors):
            by_step.setdefault(step - 1, set()).update(tensors.wire[tensors.parameters].tolist())
        series, iterations = [], []
        for at in sorted(by_step):
            chosen = every[np.isin(tensors.wire, sorted(by_step[at]))]
            series.append(chosen)
            iterations.append(np.full(len(chosen), at, np.int64))
        self._series = np.concatenate([*series, every]).astype(np.int64)
        self._iterations = np.concatenate([*iterations, np.full(len(every), step, np.int64)]).astype(np.int64)
        self._begin = len(self._series) - len(every)

    # What there is ---------------------------------------------------------------------------------------------------

    @cached_property
    def tensors(self) -> pd.DataFrame:
        """See `layouts.dumps.open_dump.DumpView`, as for all members; time_ns is when training arrived at the step."""
        times = dict(self._steps)
        arrived = np.array([times.get(step, -1) for step in self._iterations.tolist()], np.int64)
        return self._tensors.frame(self._series, self._iterations, arrived)

    @property
    def graph_mark(self) -> int:
        """Another number for other graphs."""
        return id(self._tensors)

    @property
    def series(self) -> Ints:
        """Number of the tensor of each row."""
        return self._series

    @cached_property
    def executions(self) -> pd.DataFrame:
        """The steps that training stopped at, with the tensors that are known of each."""
        counts = {step: len({wire for wire, at in self._known if at == step}) for step in {at for _, at in self._known}}
        graph = min(self._tensors.graphs, default=-1)
        rows = [(step, time_ns, counts.get(step, 0)) for step, time_ns in self._steps]
        if not rows:
            return DUMP_EXECUTIONS.empty()
        steps, times, tensors = (np.array(column, np.int64) for column in zip(*rows, strict=True))
        part = pd.Categorical.from_codes(
            np.zeros(len(rows), np.int32), categories=pd.Index([f"rank_{self._tensors.rank}"], dtype="str")
        )
        columns = {
            "rank": np.full(len(rows), self._tensors.rank, np.int64), "part": part,
            "graph": np.full(len(rows), graph, np.int64), "iteration": steps, "order": np.arange(len(rows), dtype=np.int64),
            "listed": np.ones(len(rows), np.bool_), "tensors": tensors, "time_ns": times,
        }  # fmt: skip
        return DUMP_EXECUTIONS.check(pd.DataFrame({name: columns[name] for name in DUMP_EXECUTIONS.names}, copy=False))

    @property
    def overflows(self) -> pd.DataFrame:
        """None: training reports overflows as hits."""
        return DUMP_OVERFLOWS.empty()

    @property
    def graphs(self) -> Mapping[tuple[int, int], Graph]:
        """(rank, number) -> graph."""
        return {(self._tensors.rank, number): graph for number, graph in self._tensors.graphs.items()}

    @property
    def ranks(self) -> tuple[int, ...]:
        """The rank of the device; none without a graph."""
        return (self._tensors.rank,) if len(self._tensors) else ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Damage in the graphs."""
        return tuple(dict.fromkeys(problem for graph in self._tensors.graphs.values() for problem in graph.problems))

    @cached_property
    def hits(self) -> pd.DataFrame:
        """What watchpoints found (schema DUMP_HITS), in the order of `watchpoints`."""
        return hits_frame(self._hits, self._wanted, self.tensors, self._row_at)

    def reported(self, watchpoints: Sequence[Watchpoint], rows: Sequence[int] | None = None) -> pd.DataFrame:
        """Return what training reported of these watchpoints and rows (schema DUMP_HITS), and what it does not know yet."""
        given = list(self._wanted.values())
        asked = list(watchpoints)
        places = {place: asked.index(one) for place, one in enumerate(given) if one in asked}
        hits = self.hits
        kept = np.isin(hits["watchpoint"].to_numpy(), list(places))
        if rows is not None:
            kept = kept & np.isin(hits["row"].to_numpy(), rows)
        found = hits[kept].reset_index(drop=True)
        found["watchpoint"] = found["watchpoint"].map(places).astype(np.int64)
        places_of = np.arange(len(self._iterations)) if rows is None else np.array(sorted(rows), np.int64)
        iterations = self._iterations[places_of]
        now = places_of[iterations == self._step]
        unchecked: list[tuple[int, Watchpoint, str, Ints]] = []
        for place, one in enumerate(asked):
            since = next((step for known, step in self._since if known == one), None)
            if one.condition == OVERFLOW and self._backend not in ("", "Ascend"):
                unchecked.append((place, one, NO_RECORDS, now))
                continue
            if since is None:
                unchecked.append((place, one, NOT_SENT, now))
            unchecked.append((place, one, SENT_LATER, places_of[iterations < (self._step if since is None else since)]))
        return with_unsent(DUMP_HITS.check(found), self.tensors, unchecked)

    # One tensor ------------------------------------------------------------------------------------------------------

    def tensor(self, row: int) -> Array:
        """Return the values of a tensor; PayloadError, which says so, while training is asked for them."""
        wire, step = self._checked(row)
        found = self._session.kept.get((self._session.key, wire, step))
        if found is not None:
            return found
        self._refuse_large(wire, step)
        head = self._heads.get((wire, step))
        wants = [(wire, step, commands.VALUE)]
        if head is None and self._tensors.shape_of(wire)[1] < 0:
            wants = [(wire, step, commands.BASE)]
        raise self._asked(row, wants)

    def header(self, row: int) -> TensorHeader:
        """Return type and shape of a tensor. Errors as for `tensor`."""
        wire, step = self._checked(row)
        head = self._heads.get((wire, step))
        if head is not None:
            return TensorHeader(head.dtype, head.shape)
        found = self._session.kept.get((self._session.key, wire, step))
        if found is not None:
            return TensorHeader(found.dtype.name, found.shape)
        raise self._asked(row, [(wire, step, commands.BASE)])

    def pieces(self, row: int, *, size_bytes: int = 1 << 20) -> Iterator[Array]:
        """Yield the values of a tensor in pieces. Errors as for `tensor`."""
        values = self.tensor(row).reshape(-1)
        count = max(size_bytes // max(values.itemsize, 1), 1)
        for at in range(0, len(values), count):
            yield values[at : at + count]

    def previous(self, row: int) -> int | None:
        """Return the row of the same tensor at the step before, or None if nothing of it is known."""
        self._check(row)
        found = np.flatnonzero((self._series == self._series[row]) & (self._iterations == self._iterations[row] - 1))
        return int(found[0]) if len(found) else None

    def history(self, row: int) -> tuple[int, ...]:
        """Return the rows of the same tensor, the earliest first."""
        self._check(row)
        found: tuple[int, ...] = tuple(np.flatnonzero(self._series == self._series[row]).tolist())
        return found

    def stack(self, row: int) -> tuple[SourceLine, ...]:
        """Return the lines of the program that the operator of a row is from, by the graph."""
        self._check(row)
        graph = self._tensors.graphs.get(self._graph_of(row))
        return () if graph is None else lines_of(graph, str(self.tensors["name"].iat[row]))

    def flow(self, row: int) -> GraphFlow | None:
        """Return what the graph of a row says of names and values."""
        self._check(row)
        return self._tensors.flows.get(self._graph_of(row))

    def parents(self, row: int) -> Mapping[str, str]:
        """Nothing: graphs have no modules."""
        self._check(row)
        return {}

    # Statistics ------------------------------------------------------------------------------------------------------

    def measured(self, rows: Ints, *, computed: bool = False) -> StatisticsTable:
        """Return what is known; training is asked for the statistics of the other rows if they are few.

        computed: only those of values that have come. Values are never fetched for their statistics.
        """
        wanted = []
        for row in rows.tolist() if len(rows) <= ASKED_AT_ONCE and not computed else ():
            wire, step = int(self._wire[row]), int(self._iterations[row])
            known = (wire, step) in self._values or (wire, step) in self._statistics
            if wire >= 0 and not known and self._can_have(row):
                wanted.append((wire, step, commands.STATISTICS))
        if wanted:
            self._session.ask(list(dict.fromkeys(wanted)))
        return self._computed if computed else self._stated

    def statistics_of(self, rows: Sequence[int] | None = None, *, computed: bool = False) -> pd.DataFrame:
        """Return the statistics of rows (schema DUMP_STATISTICS), as `measured` does."""
        chosen = np.arange(len(self._series)) if rows is None else np.asarray(rows, np.int64)
        return self.measured(chosen, computed=computed).frame(self.tensors, chosen)

    @cached_property
    def _stated(self) -> StatisticsTable:
        found = StatisticsTable(len(self._series))
        rows = self._rows_by_key
        for key, summary in self._statistics.items():
            for row in rows.get(key, ()):
                values = _values(summary)
                found.put(row, values, int(values.finite < values.count), TRAINING)
                found.dtype[row], found.shape[row] = summary.head.dtype, _shape(summary.head)
        return self._computed.over(found)

    @cached_property
    def _computed(self) -> StatisticsTable:
        found = StatisticsTable(len(self._series))
        rows = self._rows_by_key
        for key in self._values:
            values = self._session.kept.get((self._session.key, *key))
            if values is None or not rows.get(key):
                continue
            flat = values.reshape(-1)
            told = statistics_of(flat[at : at + (1 << 18)] for at in range(0, max(len(flat), 1), 1 << 18))
            for row in rows[key]:
                found.put(row, told, int(told.finite < told.count), COMPUTED)
                found.dtype[row], found.shape[row] = values.dtype.name, "x".join(map(str, values.shape)) or "[]"
        return found

    # Inside ----------------------------------------------------------------------------------------------------------

    @cached_property
    def _wire(self) -> Ints:
        return self._tensors.wire[self._series] if len(self._series) else np.empty(0, np.int64)

    @cached_property
    def _parameters(self) -> frozenset[int]:
        return frozenset(self._tensors.wire[self._tensors.parameters].tolist()) if len(self._tensors) else frozenset()

    @cached_property
    def _known(self) -> set[tuple[int, int]]:
        return {*self._statistics, *self._values}

    @cached_property
    def _rows_by_key(self) -> dict[tuple[int, int], list[int]]:
        found: dict[tuple[int, int], list[int]] = {}
        for row, key in enumerate(zip(self._wire.tolist(), self._iterations.tolist(), strict=True)):
            if key in self._known:
                found.setdefault(key, []).append(row)
        return found

    @cached_property
    def _outputs(self) -> dict[tuple[int, int], int]:
        """The row of what makes a tensor, by its place on the wire and step."""
        made = self.tensors["io"].isin(("output", "parameter")).to_numpy()
        rows = np.flatnonzero(made)
        keys = zip(self._wire[rows].tolist(), self._iterations[rows].tolist(), strict=True)
        return dict(zip(keys, rows.tolist(), strict=True))

    def _graph_of(self, row: int) -> int:
        return int(self.tensors["graph"].to_numpy()[row])

    def _row_at(self, wire: int, step: int) -> int | None:
        return self._outputs.get((wire, step))

    def _check(self, row: int) -> None:
        if not 0 <= row < len(self._series):
            raise IndexError(f"{self._session.key}: expected row 0 to {len(self._series) - 1:,}, found {row:,}")

    def _checked(self, row: int) -> tuple[int, int]:
        """Return the key of a row; PayloadError if training never has its values."""
        self._check(row)
        wire = int(self._wire[row])
        if wire < 0:
            raise PayloadError("Training has no values of constants.")
        return wire, int(self._iterations[row])

    def _can_have(self, row: int) -> bool:
        """Whether training has the values of a row now: of this step, and of parameters also those of the step before."""
        step = int(self._iterations[row])
        return step == self._step or (step == self._step - 1 and int(self._wire[row]) in self._parameters)

    def _refuse_large(self, wire: int, step: int) -> None:
        head = self._heads.get((wire, step))
        size = head.size_bytes if head is not None else self._tensors.shape_of(wire)[1]
        if size > LARGEST_TENSOR:
            raise PayloadError(f"The tensor has {size:,} bytes; values of up to {LARGEST_TENSOR:,} are fetched.")

    def _asked(self, row: int, wants: list[tuple[int, int, int]]) -> PayloadError:
        """Ask training, and return the error to raise meanwhile."""
        if not self._can_have(row):
            return PayloadError(f"Nothing was fetched at step {int(self._iterations[row])}, and training is past it.")
        with self._session.lock:
            failed = next((why for one in wants if (why := self._session.asking.failed.get(one)) is not None), "")
        why = failed or self._session.ask(wants)
        return PayloadError(why or "Training has been asked for this tensor; it is shown as soon as it has come.")


def _values(summary: TensorSummary) -> TensorStatistics:
    """Return statistics of training as columns: its mean is of all values, and NaN if one of them is."""
    count, negative, positive, nan, negative_inf, positive_inf, zero = summary.counts
    return TensorStatistics(
        max=summary.max, min=summary.min, mean=summary.mean, count=count, zero=zero, negative=negative, positive=positive,
        nan=nan, positive_inf=positive_inf, negative_inf=negative_inf,
    )  # fmt: skip


def _shape(head: TensorHead) -> str:
    return "x".join(map(str, head.shape)) or "[]"
