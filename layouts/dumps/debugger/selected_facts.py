"""Facts about the selected operator: its tensors with their statistics, where they come from, and the lines it is from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers import PayloadError, SourceLine
from parsers.deferred import pandas as pd
from parsers.dumps.names import without_number
from parsers.dumps.store import COMPUTED, StatisticsTable
from parsers.graphs.sources import is_own
from parsers.model import Ints

from layouts.dumps.dump_choice import DumpChoice
from layouts.dumps.dump_tensors import LARGE_BYTES
from layouts.dumps.live_sessions import TRAINING
from layouts.dumps.open_dump import DumpReport, DumpView, DumpWork
from layouts.kit import units as fmt
from layouts.kit.page_parts import progress, worked
from layouts.sources import DumpSources

MOST_TENSORS = 200
"""Maximum number of tensors of one operator that are listed."""
SHOWN = ("min", "max", "mean", "std", "l2", "negative", "zero", "positive", "nan", "positive_inf", "negative_inf")
"""Statistics in the table of tensors, in its order."""
COUNTED = ("negative", "zero", "positive", "nan", "positive_inf", "negative_inf")
NOBODY: Ints = np.empty(0, np.int64)
_ORDER = ("input", "parameter", "output", "gradient", "constant", "saved")
_LIVE = "live:"
_STATED = ("min", "max", "mean", "l2")
"""Statistics that files state: NaN there is that of the tensor, and not an unknown value."""


# Rows ---------------------------------------------------------------------------------------------------------------


def rows_of(dump: DumpView, rank: int, step: int | None, name: str) -> list[int]:
    """Return the tensors of an operator or a parameter in one iteration: inputs, parameters, outputs.

    Constants, which belong to no iteration, are found in all of them.
    """
    tensors = dump.tensors
    there = named(dump, name)
    there = there[tensors["rank"].to_numpy()[there] == rank]
    iterations = tensors["iteration"].to_numpy()[there]
    found = there[(iterations == (-1 if step is None else step)) | (iterations < 0)].tolist()
    if not found:
        return []
    kinds = tensors["io"].array[found].astype(str)
    slots, keys = tensors["slot"].to_numpy()[found], tensors["key"].array[found].astype(str)
    order = {kind: place for place, kind in enumerate(_ORDER)}
    ranked = sorted(range(len(found)), key=lambda at: (order.get(kinds[at], len(order)), slots[at], keys[at], found[at]))
    return [found[at] for at in ranked]


def named(dump: DumpView, name: str) -> Ints:
    """Return the rows of an operator or a parameter in all iterations of all ranks."""
    column = dump.tensors["name"]
    code = int(column.cat.categories.get_indexer(pd.Index([name]))[0])
    return np.flatnonzero(column.cat.codes.to_numpy() == code) if code >= 0 else NOBODY


def id_of(dump: DumpView, row: int) -> str:
    """Return what the address calls a tensor among those of its operator: output.0, input.1:kwargs.x, output.0@2."""
    tensors = dump.tensors
    kind, key = str(tensors["io"].array[row]), str(tensors["key"].array[row])
    slot, occurrence = int(tensors["slot"].to_numpy()[row]), int(tensors["occurrence"].to_numpy()[row])
    return f"{kind}.{slot}" + (f":{key}" if key else "") + (f"@{occurrence}" if occurrence else "")


def tensor_row(dump: DumpView, rows: Sequence[int], wanted: str, statistics: StatisticsTable | None = None) -> int | None:
    """Return the tensor of this id, else one of the same input or output, else the first bad output, or the first output."""
    if not rows:
        return None
    known = {id_of(dump, row): row for row in reversed(rows)}
    if wanted in known:
        return known[wanted]
    plain = _plain(wanted)
    alike = [row for name, row in known.items() if _plain(name) == plain]
    if alike:
        return min(alike, key=rows.index)
    outputs = [row for row in rows if str(dump.tensors["io"].array[row]) == "output"] or list(rows)
    bad = [row for row in outputs if statistics is not None and statistics.non_finite[row] == 1]
    return (bad or outputs)[0]


def _plain(name: str) -> str:
    return name.partition("@")[0].partition(":")[0]


def match(dump: DumpView, rank: int, step: int | None, name: str, wanted: str) -> int | None:
    """Return the tensor of this name and id in an iteration of another dump; the number after -op may be another one."""
    rows = rows_of(dump, rank, step, name)
    if not rows:
        base = without_number(name)
        names = [str(one) for one in dump.tensors["name"].cat.categories if without_number(str(one)) == base]
        rows = next((found for one in names if (found := rows_of(dump, rank, step, one))), [])
    plain = _plain(wanted)
    known = {id_of(dump, row): row for row in reversed(rows)}
    return known.get(wanted, next((row for row in rows if _plain(id_of(dump, row)) == plain), None))


def producer(dump: DumpView, row: int) -> tuple[str, str, int] | None:
    """Return operator or parameter, id and iteration of the tensor that an input is; None if unknown, or not dumped.

    A parameter is dumped after its update, so what an operator took of it is that of the iteration before.
    """
    tensors = dump.tensors
    if str(tensors["io"].array[row]) != "input":
        return None
    flow = dump.flow(row)
    name = (flow.sources.get(str(tensors["name"].array[row])) or {}).get(int(tensors["slot"].to_numpy()[row])) if flow else None
    if not name:
        return None
    rank, step = int(tensors["rank"].to_numpy()[row]), int(tensors["iteration"].to_numpy()[row])
    for at in (step, step - 1):
        for found in rows_of(dump, rank, at, name):
            kind = str(tensors["io"].array[found])
            if kind == "output" and at == step:
                return name, id_of(dump, found), at
            if kind == "parameter" and at == step - 1:
                return name, id_of(dump, found), at
    return None


# Statistics ---------------------------------------------------------------------------------------------------------


def measured(
    source: DumpSources, choice: DumpChoice, rows: Ints, ask: Any, name: str
) -> tuple[StatisticsTable | None, dict[str, Any]]:
    """Return statistics of all rows of the dump, and the progress of computing those of these rows.

    A few small tensors are read at once, anything else in the background; the statistics are those known so far.
    """
    dump = choice.dump(source)
    if dump is None:
        return None, {"state": "missing"}
    if is_live(choice.run):
        return dump.measured(rows), {"state": "ready"}  # asks training for what is missing; the mark changes when it has come
    known = dump.measured(NOBODY, computed=True)
    tensors = dump.tensors
    # Files state some statistics only, so those of tensors with values are computed all the same.
    missing = rows[(tensors["file"].to_numpy()[rows] != "") & ~_computed(known, rows)]
    if not len(missing):
        return known, {"state": "ready"}
    if int(tensors["size_bytes"].to_numpy()[missing].sum()) <= LARGE_BYTES:
        return dump.measured(missing, computed=True), {"state": "ready"}

    def job(dump: DumpView, report: DumpReport) -> bool:  # noqa: ARG001 - `report` knows the dump
        report.measure(missing, computed=True)
        return True

    found = worked(source.dumps, choice.run, DumpWork(name, tuple(missing.tolist()), job), ask)
    return dump.measured(NOBODY, computed=True), progress(found)


def _computed(known: StatisticsTable, rows: Ints) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = known.source.is_text(COMPUTED)[rows]
    return found


def texts_of(known: StatisticsTable, row: int) -> dict[str, list[str]]:
    """Return name -> [rounded text, exact text] of the statistics of a tensor; those unknown are missing."""
    if not known.known[row]:
        return {}
    found = {}
    stated_bad = known.non_finite[row] == 1 and known.source[row] != COMPUTED
    for name in SHOWN:
        value = known.column(name)[row]
        if name in COUNTED:
            if value >= 0:
                found[name] = [fmt.count(int(value)), str(int(value))]
        elif not np.isnan(value) or (stated_bad and name in _STATED and not (name == "l2" and known.source[row] == TRAINING)):
            found[name] = [fmt.number(float(value)), fmt.exact(float(value))]
    return found


# The operator ---------------------------------------------------------------------------------------------------------


def node_facts(source: DumpSources, choice: DumpChoice, name: str, wanted: str, ask: Any) -> dict[str, Any]:
    """Return the tensors of the selected operator with their statistics, which one is chosen, and its stack.

    state is that of computing the statistics. tensors is empty if the dump has none of the operator in this iteration: then
    other is an iteration that has some, or None.
    """
    dump = choice.dump(source)
    if dump is None:
        return {"state": "missing", "name": name, "tensors": []}
    rows = rows_of(dump, choice.rank, choice.step, name)
    if not rows:
        return {"state": "ready", "name": name, "tensors": [], "other": _other(dump, choice, name)}
    listed = np.array(rows[:MOST_TENSORS], np.int64)
    known, found = measured(source, choice, listed, ask, "selected statistics")
    assert known is not None
    chosen = tensor_row(dump, rows, wanted, known)
    tensors = dump.tensors
    one = rows[0]
    return found | {
        "name": name, "mark": choice.mark, "type": str(tensors["type"].array[one]),
        "recorded": str(tensors["recorded"].array[one]), "graph": int(tensors["graph"].to_numpy()[one]),
        "tensors": [_tensor(choice, dump, known, row) for row in listed.tolist()], "more": len(rows) - len(listed),
        "chosen": None if chosen is None else id_of(dump, chosen), "row": chosen, "stack": stack_lines(dump.stack(one)),
        "before": None if chosen is None else _before(dump, chosen),
    }  # fmt: skip


def is_live(run: str) -> bool:
    """Return whether a key is that of live training."""
    return run.startswith(_LIVE)


def _before(dump: DumpView, row: int) -> int | None:
    """Return the iteration before, if the tensor was dumped in it."""
    before = dump.previous(row)
    return None if before is None else int(dump.tensors["iteration"].to_numpy()[before])


def _other(dump: DumpView, choice: DumpChoice, name: str) -> int | None:
    """Return the iteration nearest to the chosen one that has tensors of an operator."""
    tensors = dump.tensors
    there = named(dump, name)
    steps = tensors["iteration"].to_numpy()[there[tensors["rank"].to_numpy()[there] == choice.rank]]
    steps = steps[steps >= 0]
    return int(steps[np.abs(steps - (choice.step or 0)).argmin()]) if len(steps) else None


def _tensor(choice: DumpChoice, dump: DumpView, known: StatisticsTable, row: int) -> dict[str, Any]:
    tensors = dump.tensors
    status, problem, dtype, shape = "values", "", str(tensors["dtype"].array[row]), str(tensors["shape"].array[row])
    if not str(tensors["file"].array[row]) and not is_live(choice.run):
        status = "statistics"
    else:
        try:
            header = dump.header(row)
            dtype, shape = header.dtype, "x".join(map(str, header.shape)) or "[]"
        except PayloadError as error:
            status, problem = "unfetched" if is_live(choice.run) else "unreadable", str(error)
    before = producer(dump, row)
    size = int(tensors["size_bytes"].to_numpy()[row])
    return {
        "row": row, "id": id_of(dump, row), "io": str(tensors["io"].array[row]), "slot": int(tensors["slot"].to_numpy()[row]),
        "key": str(tensors["key"].array[row]), "occurrence": int(tensors["occurrence"].to_numpy()[row]),
        "parameter": str(tensors["parameter"].array[row]), "dtype": dtype, "shape": shape,
        "format": str(tensors["format"].array[row]), "size": fmt.size(size) if size >= 0 else "",
        "step": int(tensors["iteration"].to_numpy()[row]), "status": status, "problem": problem,
        "from": None if before is None else {"node": before[0], "io": before[1], "step": before[2]},
        "statistics": texts_of(known, row), "non_finite": int(known.non_finite[row]), "source": known.source[row],
    }  # fmt: skip


def stack_lines(lines: Sequence[SourceLine]) -> list[dict[str, Any]]:
    """Return the lines of a stack, outermost call first; own is whether a line is of the program and not of a package.

    A function of one line is there twice, as function and as call: it is listed once.
    """
    return [
        {"file": line.file, "first": line.first, "last": line.last, "code": line.code, "own": is_own(line.file)}
        for line in dict.fromkeys(lines)
    ]  # fmt: skip

