"""What watchpoints find in a dump: computed iteration by iteration, that on screen first; listed a part at a time."""

from __future__ import annotations

import io as files
import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers.analysis.dumps.watchpoints import CONDITIONS, Watchpoint
from parsers.analysis.dumps.watchpoints.checking import NO_RECORDS, check, chosen_rows
from parsers.deferred import pandas as pd
from parsers.model import Ints

from layouts.dumps.debugger.selected_facts import id_of
from layouts.dumps.dump_choice import DumpChoice
from layouts.dumps.open_dump import DumpReport, DumpView, DumpWork
from layouts.kit.state import number, text

BATCH = 4_000
"""Tensors that are checked together."""
MOST_LISTED = 500
"""Maximum hits in an answer."""
SORTS = ("severity", "iteration", "order", "condition")
SHOWS = ("hits", "unchecked")
_SEVERE = ((2, 13), (15, 18))
"""Numbers of conditions, the most severe first: NaN, Inf and overflows; values and changes that are too large; then others."""
_LIMITS = ("", *dict.fromkeys(limit.name for one in CONDITIONS.values() for limit in one.limits))

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Hits:
    """Hits and checks that were not possible, as columns of DUMP_HITS: parameter and why are places in _LIMITS and in whys.

    grade is how severe the condition is, 0 for the most severe.
    """

    watchpoint: Ints
    parameter: Ints
    row: Ints
    wanted: NDArray[np.float64]
    actual: NDArray[np.float64]
    hit: Bools
    excluded: Ints
    why: Ints
    whys: tuple[str, ...]
    grade: Ints

    def __len__(self) -> int:
        return len(self.row)


@dataclass(frozen=True, slots=True)
class FoundHits:
    """What was found so far: parts by batch, how many tensors each watchpoint was checked for, iterations that are done.

    grades says how severe each watchpoint is.
    """

    parts: tuple[pd.DataFrame, ...] = ()
    checked: tuple[int, ...] = ()
    done: frozenset[int] = frozenset()
    grades: tuple[int, ...] = ()

    def hits(self) -> Hits:
        """Return all parts as one."""
        whys: dict[str, int] = {}
        limits = {name: place for place, name in enumerate(_LIMITS)}

        def column(name: str, dtype: Any) -> NDArray[Any]:
            return np.concatenate([part[name].to_numpy() for part in self.parts] or [np.zeros(0)]).astype(dtype)

        def coded(name: str, known: dict[str, int]) -> Ints:
            found = [np.zeros(0, np.int64)]
            for part in self.parts:
                texts = part[name].array
                places = np.array([known.setdefault(str(one), len(known)) for one in texts.categories.tolist()], np.int64)
                found.append(places[texts.codes] if len(places) else np.zeros(len(part), np.int64))
            return np.concatenate(found)

        watchpoint = column("watchpoint", np.int64)
        return Hits(
            watchpoint, coded("parameter", limits), column("row", np.int64), column("wanted", np.float64),
            column("actual", np.float64), column("hit", np.bool_), column("excluded", np.int64), coded("why", whys),
            tuple(whys), np.array(self.grades, np.int64)[watchpoint],
        )  # fmt: skip


class WantedIteration:
    """The iteration on screen, which is checked first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._steps: dict[str, int | None] = {}

    def put(self, run: str, step: int | None) -> None:
        """Note the iteration that somebody looks at."""
        with self._lock:
            self._steps[run] = step

    def step(self, run: str) -> int | None:
        """Return the iteration to check first."""
        with self._lock:
            return self._steps.get(run)


def hits_work(key: Any, watchpoints: Sequence[Watchpoint], first: Callable[[], int | None]) -> DumpWork:
    """Return the work of checking watchpoints; first tells the iteration to check next."""

    def job(dump: DumpView, report: DumpReport) -> FoundHits:
        tensors = dump.tensors
        chosen = [chosen_rows(tensors, one) for one in watchpoints]
        rows = np.unique(np.concatenate([*chosen, np.zeros(0, np.int64)]))
        iteration = tensors["iteration"].to_numpy()[rows]
        left = {int(step): rows[iteration == step] for step in np.unique(iteration)}
        iterations = tensors["iteration"].to_numpy()
        grades = tuple(_grade(one) for one in watchpoints)
        found = FoundHits((), (0,) * len(watchpoints), grades=grades)
        done = 0
        while left:
            steps = _next(left, first())
            batch = np.concatenate([left.pop(step) for step in steps])
            report.measure(batch)
            computed = [one for one, kind in zip(chosen, watchpoints, strict=True) if CONDITIONS[kind.condition].values]
            ranged = np.unique(np.concatenate([np.zeros(0, np.int64), *computed]))
            ranged = ranged[np.isin(iterations[ranged], steps)]
            if len(ranged):
                report.measure(ranged, computed=True)
            part = _once(check(dump, watchpoints, rows=batch.tolist()), found)
            done += len(batch)
            checked = [
                before + int(np.count_nonzero(np.isin(iterations[own], steps)))
                for before, own in zip(found.checked, chosen, strict=True)
            ]
            parts = (*found.parts, part) if len(part) else found.parts
            found = FoundHits(parts, tuple(checked), found.done | set(steps), grades)
            report(done, len(rows), found)
        return found

    return DumpWork("debugger.hits", key, job)


def _grade(watchpoint: Watchpoint) -> int:
    number = CONDITIONS[watchpoint.condition].number
    return next((grade for grade, numbers in enumerate(_SEVERE) if number in numbers), len(_SEVERE))


def _once(part: pd.DataFrame, found: FoundHits) -> pd.DataFrame:
    """Return a part without what says of the whole dump that it has no records of overflows, if that was said before."""
    told = (part["why"] == NO_RECORDS).to_numpy()
    known = any(bool((before["why"] == NO_RECORDS).any()) for before in found.parts)
    return part[~told] if known and told.any() else part


def _next(left: dict[int, Ints], first: int | None) -> list[int]:
    """Return the iterations to check together: the wanted one alone, else the earliest ones that make up a batch."""
    if first in left:
        return [first]
    steps: list[int] = []
    many = 0
    for step in sorted(left):
        if steps and many + len(left[step]) > BATCH:
            break
        steps.append(step)
        many += len(left[step])
    return steps


# What is listed -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HitOrder:
    """Which hits are listed: filters are None for all. first and count are the part of the list."""

    show: str
    sort: str
    rank: int | None
    graph: int | None
    watch: int | None
    step: int | None
    first: int
    count: int


def read_look(ask: Any) -> HitOrder:
    """Parse a request for hits. BadInput if it is malformed."""

    def whole(key: str) -> int | None:
        return int(number(ask, key, 0.0, -1.0, 2.0**53)) if text(ask, key) else None

    return HitOrder(
        text(ask, "show", SHOWS[0], choices=SHOWS), text(ask, "sort", SORTS[0], choices=SORTS), whole("only_rank"),
        whole("only_graph"), whole("only_watch"), whole("only_step"), whole("first") or 0,
        min(whole("count") or 0, MOST_LISTED),
    )  # fmt: skip


def chosen(dump: DumpView, hits: Hits, look: HitOrder) -> Ints:
    """Return the places of the hits that a look lists, in its order."""
    tensors = dump.tensors
    kept = (hits.hit if look.show == "hits" else ~hits.hit) & _within(dump, hits, look)
    if look.watch is not None:
        kept = kept & (hits.watchpoint == look.watch)
    places = np.flatnonzero(kept)
    rows = hits.row[places]
    iteration, order = tensors["iteration"].to_numpy()[rows], tensors["order"].to_numpy()[rows].astype(np.float64)
    order[order < 0] = math.inf  # parameters are written last
    keys = {
        "severity": (hits.watchpoint[places], rows, order, iteration, hits.grade[places]),
        "iteration": (hits.watchpoint[places], rows, order, iteration),
        "order": (hits.watchpoint[places], iteration, rows, order),
        "condition": (rows, order, iteration, hits.watchpoint[places]),
    }[look.sort]
    return places[np.lexsort(keys)]


def listed(dump: DumpView, found: FoundHits, look: HitOrder, choice: DumpChoice, node: str) -> dict[str, Any]:
    """Return the part of the list that a look is about, its length, and how many hits there are by watchpoint and filter.

    node has those of one operator in the iteration of the choice.
    """
    hits = found.hits()
    places = chosen(dump, hits, look)
    return {
        "total": len(places), "first": look.first,
        "rows": [entry(dump, hits, place) for place in places[look.first : look.first + look.count].tolist()],
        "node": [entry(dump, hits, place) for place in _of_node(dump, hits, choice, node)],
        "counts": counts(dump, hits, look, len(found.checked)), "checked": list(found.checked),
        "hits": int(np.count_nonzero(hits.hit)), "unchecked": int(np.count_nonzero(~hits.hit)),
        "steps": by_step(dump, hits),
        "graphs": sorted({int(one) for one in np.unique(dump.tensors["graph"].to_numpy()[hits.row])}),
    }  # fmt: skip


def _of_node(dump: DumpView, hits: Hits, choice: DumpChoice, node: str) -> list[int]:
    names = dump.tensors["name"].array
    code = names.categories.get_indexer([node])[0] if node else -1
    if code < 0 or choice.step is None:
        return []
    rows = hits.row
    here = (names.codes[rows] == code) & (dump.tensors["rank"].to_numpy()[rows] == choice.rank)
    here &= dump.tensors["iteration"].to_numpy()[rows] == choice.step
    found: list[int] = np.flatnonzero(here)[:MOST_LISTED].tolist()
    return found


def counts(dump: DumpView, hits: Hits, look: HitOrder, watchpoints: int) -> list[list[int]]:
    """Return for each watchpoint [hits, checks that were not possible] within rank, graph and iteration of a look."""
    kept = _within(dump, hits, look)
    both = [np.bincount(hits.watchpoint[kept & state], minlength=watchpoints) for state in (hits.hit, ~hits.hit)]
    return [[int(one), int(other)] for one, other in zip(*both, strict=True)]


def _within(dump: DumpView, hits: Hits, look: HitOrder) -> Bools:
    """Return which hits are of the rank, graph and iteration of a look. Missing overflow records are so everywhere."""
    kept: Bools = np.ones(len(hits), np.bool_)
    for name, wanted in (("rank", look.rank), ("graph", look.graph), ("iteration", look.step)):
        if wanted is not None:
            kept &= dump.tensors[name].to_numpy()[hits.row] == wanted
    everywhere = hits.whys.index(NO_RECORDS) if NO_RECORDS in hits.whys else -1
    found: Bools = kept | (hits.why == everywhere)
    return found


def by_step(dump: DumpView, hits: Hits) -> list[list[int]]:
    """Return [rank, iteration, hits] where there are any."""
    rows = hits.row[hits.hit]
    pairs = np.stack([dump.tensors[name].to_numpy()[rows] for name in ("rank", "iteration")], axis=1)
    found, many = np.unique(pairs, axis=0, return_counts=True)
    return [[int(rank), int(step), int(count)] for (rank, step), count in zip(found, many, strict=True)]


def by_name(dump: DumpView, found: FoundHits, rank: int, step: int | None) -> dict[str, int]:
    """Return operator or parameter -> number of hits in an iteration of a rank."""
    hits = found.hits()
    rows = hits.row[hits.hit]
    tensors = dump.tensors
    here = tensors["rank"].to_numpy()[rows] == rank
    if step is not None:
        here &= tensors["iteration"].to_numpy()[rows] == step
    names = tensors["name"].array
    many = np.bincount(names.codes[rows[here]], minlength=len(names.categories))
    return {str(names.categories[code]): int(many[code]) for code in np.flatnonzero(many).tolist()}


def entry(dump: DumpView, hits: Hits, place: int) -> dict[str, Any]:
    """Return a hit as the browser lists it; null for unknown numbers."""
    row = int(hits.row[place])
    tensors = dump.tensors

    def real(value: float) -> float | str | None:
        return None if math.isnan(value) else value if math.isfinite(value) else ("+Inf" if value > 0 else "-Inf")

    return {
        "row": row, "watch": int(hits.watchpoint[place]), "parameter": _LIMITS[int(hits.parameter[place])],
        "rank": int(tensors["rank"].to_numpy()[row]), "step": int(tensors["iteration"].to_numpy()[row]),
        "graph": int(tensors["graph"].to_numpy()[row]), "name": str(tensors["name"].array[row]),
        "type": str(tensors["type"].array[row]), "io": id_of(dump, row), "wanted": real(float(hits.wanted[place])),
        "actual": real(float(hits.actual[place])), "excluded": int(hits.excluded[place]),
        "why": hits.whys[int(hits.why[place])],
    }  # fmt: skip


COLUMNS = ("rank", "graph", "iteration", "name", "type", "tensor", "condition", "parameter", "wanted", "actual", "hit",
           "excluded", "why")  # fmt: skip


def csv(dump: DumpView, found: FoundHits, look: HitOrder, watchpoints: Sequence[Watchpoint]) -> str:
    """Return all hits that a look is about as CSV."""
    hits = found.hits()
    tensors = dump.tensors
    places = chosen(dump, hits, look)
    rows = hits.row[places]
    table: dict[str, Any] = {name: tensors[name].to_numpy()[rows] for name in ("rank", "graph", "iteration")}
    table |= {name: tensors[name].array.take(rows) for name in ("name", "type")}
    table["tensor"] = [id_of(dump, row) for row in rows.tolist()]
    table["condition"] = [watchpoints[one].condition for one in hits.watchpoint[places].tolist()]
    table["parameter"] = [_LIMITS[one] for one in hits.parameter[places].tolist()]
    table |= {"wanted": hits.wanted[places], "actual": hits.actual[places], "hit": hits.hit[places]}
    table |= {"excluded": hits.excluded[places], "why": [hits.whys[one] for one in hits.why[places].tolist()]}
    written = files.StringIO()
    pd.DataFrame(table)[list(COLUMNS)].to_csv(written, index=False, lineterminator="\r\n")
    return written.getvalue()
