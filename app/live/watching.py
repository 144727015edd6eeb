"""The watchpoints of a session: those wanted, those that training knows, and what it found."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from parsers.analysis.dumps.watchpoints.checking import (
    NO_HISTORY,
    NO_MEMORY,
    NO_PREVIOUS,
    NO_RECORDS,
    NO_VALUES,
    NON_FINITE,
    chosen_rows,
)  # fmt: skip
from parsers.analysis.dumps.watchpoints.conditions import CONDITIONS, Watchpoint
from parsers.debugger import commands, messages
from parsers.debugger.messages import Hit, WireTensorName
from parsers.debugger.tensors import GraphTensors
from parsers.deferred import pandas as pd
from parsers.dump_frames import DUMP_HITS
from parsers.dumps.tables import categorical
from parsers.model import Ints

MOST_HITS = 10_000
"""Hits that are kept, the newest of all steps."""
MOST_WATCHPOINTS = 100
OVERFLOW = "operator_overflow"
"""Condition that only Ascend devices report."""
_WHY = (
    (messages.NO_VALUE, NO_VALUES), (messages.NO_PREVIOUS, NO_PREVIOUS), (messages.NO_HISTORY, NO_HISTORY),
    (messages.NO_MEMORY, NO_MEMORY), (messages.OVERFLOW_NAN | messages.OVERFLOW_INF, NON_FINITE),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StepHit:
    """A hit, the step it is about, and the place of its tensor on the wire."""

    step: int
    wire: int
    hit: Hit


class NumberedWatchpoints:
    """Watchpoints with the numbers they have on the wire. The session's lock is held by callers."""

    def __init__(self) -> None:
        self.wanted: dict[int, Watchpoint] = {}
        self.known: dict[int, Watchpoint] = {}
        self.since: dict[int, int] = {}
        """First step that training checks, by the number of a watchpoint that it knows."""
        self.hits: deque[StepHit] = deque(maxlen=MOST_HITS)
        self._next = 1
        self._new = 0
        self._sent: set[int] = set()

    def want(self, watchpoints: Sequence[Watchpoint]) -> bool:
        """Set the watchpoints; return whether they changed. Equal ones keep their number and hits."""
        left = dict(self.wanted)
        found: dict[int, Watchpoint] = {}
        for one in watchpoints:
            number = next((number for number, other in left.items() if other == one), 0)
            if number:
                del left[number]
            else:
                number, self._next = self._next, self._next + 1
            found[number] = one
        changed = list(found) != list(self.wanted)
        self.wanted = found
        return changed

    @property
    def unsent(self) -> int:
        """Number of watchpoints to be set or deleted."""
        return len(self.wanted.keys() ^ self.known.keys())

    @property
    def found(self) -> int:
        """Number of hits, without what could not be checked."""
        return sum(not one.hit.error for one in self.hits)

    def flush(self, tensors: GraphTensors, *, ascend: bool, step: int) -> list[bytes]:
        """Return the commands that make training know what is wanted; from now on they count as known.

        step: the one that training checks next.
        A watchpoint about nothing is not sent: training could take it to be about everything. Without Ascend no operator is
        watched for overflows that only Ascend reports.
        """
        gone = sorted(self._sent - self.wanted.keys())
        about = {
            number: nodes_of(tensors, one) if ascend or one.condition != OVERFLOW else []
            for number, one in self.wanted.items() if number not in self.known
        }  # fmt: skip
        new = [number for number, nodes in about.items() if nodes]
        self._sent = (self._sent & self.wanted.keys()) | set(new)
        self.since = {number: self.since[number] if number in self.known else step for number in self.wanted}
        self.known = dict(self.wanted)
        return [
            *(commands.delete_watchpoint(number) for number in gone),
            *(commands.set_watchpoint(number, self.wanted[number], about[number]) for number in new),
        ]

    def show_new(self, hits: Sequence[Hit], step: int, places: Mapping[WireTensorName, int]) -> None:
        """Show the hits since the last `keep_new` as of a step, in place of those shown since then."""
        for _ in range(min(self._new, len(self.hits))):
            self.hits.pop()
        found = [(places.get(WireTensorName(hit.name.node, hit.name.slot)), hit) for hit in hits]
        new = [StepHit(step, wire, hit) for wire, hit in found if wire is not None]
        self.hits.extend(new)
        self._new = len(new)

    def keep_new(self) -> None:
        """Keep the new hits as they are shown."""
        self._new = 0

    def drop(self, step: int) -> None:
        """Forget the hits of a step, which are about to be found anew."""
        self.hits = deque((one for one in self.hits if one.step != step), MOST_HITS)


def nodes_of(tensors: GraphTensors, watchpoint: Watchpoint) -> list[commands.WatchNode]:
    """Return the operators and parameters that a watchpoint is about, once each, as training names them."""
    every = np.arange(len(tensors))
    frame = tensors.frame(every, np.zeros(len(every), np.int64), np.zeros(len(every), np.int64))
    rows = chosen_rows(frame, watchpoint, later=True)
    rows = rows[(frame["io"].isin(("output", "parameter"))).to_numpy()[rows]]
    columns = (frame[name].to_numpy()[rows].tolist() for name in ("name", "type", "graph"))
    found: dict[tuple[str, int], commands.WatchNode] = {}
    for name, kind, graph in zip(*columns, strict=True):
        node = commands.WatchNode(str(name), str(kind), tensors.graph_names.get(graph, ""), tensors.rank)
        found.setdefault((node.name, graph), node)
    return list(found.values())


def hits_frame(
    hits: Sequence[StepHit], wanted: dict[int, Watchpoint], tensors: pd.DataFrame, row_of: Callable[[int, int], int | None]
) -> pd.DataFrame:
    """Return hits (schema DUMP_HITS), by watchpoint, then as they came. row_of finds the row of a tensor at a step.

    Hits of watchpoints that are no longer wanted, and of tensors that are in no graph, are left out.
    """
    numbers = {number: place for place, number in enumerate(wanted)}
    rows: list[tuple[Any, ...]] = []
    for one in hits:
        row = row_of(one.wire, one.step) if one.hit.watchpoint in numbers else None
        if row is not None:
            watchpoint = one.hit.watchpoint
            rows += [(numbers[watchpoint], wanted[watchpoint].condition, row, *told) for told in _told(one.hit)]
    if not rows:
        return DUMP_HITS.empty()
    rows.sort(key=lambda told: told[0])
    number, condition, found, parameter, limit, actual, hit, why = zip(*rows, strict=True)
    places = np.array(found, np.int64)
    columns: dict[str, Any] = {
        "watchpoint": np.array(number, np.int64), "condition": categorical(condition), "parameter": categorical(parameter),
        "row": places, "wanted": np.array(limit, np.float64), "actual": np.array(actual, np.float64),
        "hit": np.array(hit, np.bool_), "excluded": np.full(len(places), -1, np.int64), "why": categorical(why),
    }  # fmt: skip
    return _placed(columns, tensors, places)


def with_unsent(
    hits: pd.DataFrame, tensors: pd.DataFrame, new: Sequence[tuple[int, Watchpoint, str, Ints]]
) -> pd.DataFrame:
    """Return hits, and rows of watchpoints that training does not check: place, watchpoint, reason and the rows it may be of.

    The reason is NOT_SENT, as training does not know them yet, SENT_LATER, as it did not at that step, or NO_RECORDS, which is
    so of all rows: one stands for them.
    """
    parts = [hits] if len(hits) else []
    for place, one, why, allowed in new:
        rows = chosen_rows(tensors, one, allowed, later=True)
        rows = rows[:1] if why == NO_RECORDS else rows
        if not len(rows):
            continue
        limit = next(iter(one.checked.items()), ("", math.nan))
        columns: dict[str, Any] = {
            "watchpoint": np.full(len(rows), place, np.int64), "condition": categorical([one.condition] * len(rows)),
            "parameter": categorical([limit[0]] * len(rows)), "row": rows, "wanted": np.full(len(rows), limit[1]),
            "actual": np.full(len(rows), np.nan), "hit": np.zeros(len(rows), np.bool_),
            "excluded": np.full(len(rows), -1, np.int64), "why": categorical([why] * len(rows)),
        }  # fmt: skip
        parts.append(_placed(columns, tensors, rows))
    if len(parts) < 2:
        return parts[0] if parts else hits
    texts = [column.name for column in DUMP_HITS.columns if column.dtype == "category"]
    whole = pd.concat([part.astype(dict.fromkeys(texts, "str")) for part in parts], ignore_index=True)
    for name in texts:
        whole[name] = categorical(whole[name].tolist())
    return DUMP_HITS.check(whole)


def _placed(columns: dict[str, Any], tensors: pd.DataFrame, rows: Ints) -> pd.DataFrame:
    """Return a frame of hits with what tensors say of its rows."""
    columns |= {name: tensors[name].to_numpy()[rows] for name in ("rank", "graph", "iteration", "slot")}
    columns |= {name: tensors[name].array.take(rows) for name in ("name", "io")}
    return DUMP_HITS.check(pd.DataFrame({name: columns[name] for name in DUMP_HITS.names}, copy=False))


def _told(hit: Hit) -> list[tuple[str, float, float, bool, str]]:
    """Return (parameter, limit, measured value, whether it is exceeded, why it cannot be checked) of a hit."""
    if hit.error:
        why = next((text for bits, text in _WHY if hit.error & bits), NO_VALUES)
        given = [one for one in hit.parameters if not one.disabled and _compared(one.name)]
        return [(one.name, one.value, math.nan, False, why) for one in given] or [("", math.nan, math.nan, False, why)]
    found = [(one.name, one.value, one.actual, True, "") for one in hit.parameters if one.hit and _compared(one.name)]
    return found or [("", math.nan, math.nan, True, "")]


def _compared(name: str) -> bool:
    return any(name == limit.name for one in CONDITIONS.values() for limit in one.limits) and "inclusive" not in name
