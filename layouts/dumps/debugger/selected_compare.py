"""The comparison of the selected tensor with any other one: of another iteration, rank, run or operator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from parsers.analysis import Tensor, chunks
from parsers.analysis.values.tensor_comparison import Comparison, ValuePair, compare
from parsers.errors import FormatError

from layouts.dumps.debugger.selected_facts import id_of, match, rows_of
from layouts.dumps.dump_choice import LONGEST, DumpChoice, read_against, read_choice
from layouts.dumps.dump_tensors import LARGE_BYTES, Dumped, numbers_of, opened, readable
from layouts.dumps.listing import iterations
from layouts.dumps.open_dump import DumpReport, DumpView, DumpWork
from layouts.kit import units as fmt
from layouts.kit.page_parts import progress, worked
from layouts.kit.state import number, text
from layouts.sources import DumpSources

KEYS = ("with_node", "with_io")
"""Keys of the state that name the operator and the tensor to compare with; without them it is the selected one."""
PERCENTS = tuple(percent / 100 for percent in range(101))
MOST_CHOICES = 300


@dataclass(frozen=True, slots=True)
class Against:
    """The tensor to compare with: its dump, operator and id."""

    choice: DumpChoice
    node: str
    io: str


def read_other(data: Any, node: str, io: str) -> Against | None:
    """Return what the selected tensor is compared with, or None."""
    other_node, other_io = text(data, "with_node", limit=LONGEST), text(data, "with_io", limit=LONGEST)
    found = read_against(data) or (read_choice(data) if other_node or other_io else None)
    return None if found is None else Against(found, other_node or node, other_io or io)


def read_tolerance(data: Any) -> float:
    """Return the tolerance, from 0 to 1, of percents in the ask."""
    return number(data, "tolerance", 0.0, 0.0, 100.0) / 100


def located(source: DumpSources, against: Against) -> tuple[Dumped | None, str]:
    """Return the tensor to compare with, or None and the reason: reading, missing, failed, unmatched."""
    found = source.dumps.open(against.choice.run)
    if found.dump is None:
        return None, found.state
    choice = against.choice
    row = match(found.dump, choice.rank, choice.step, against.node, against.io)
    return (None, "unmatched") if row is None else (Dumped(choice.run, row, found.mark), "")


# What there is to compare with ------------------------------------------------------------------------------------------


def offers(source: DumpSources, against: Against) -> dict[str, Any]:
    """Return ranks and iterations of the dump to compare with, and the tensors of its operator."""
    dump = against.choice.dump(source)
    if dump is None:
        return {"ranks": [], "steps": [], "ids": []}
    return {"ranks": list(dump.ranks), "steps": iterations(dump, against.choice.rank), "ids": _ids(dump, against)}


def _ids(dump: DumpView, against: Against) -> list[str]:
    """Return the ids of the tensors of the operator to compare with."""
    found = rows_of(dump, against.choice.rank, against.choice.step, against.node)
    return [id_of(dump, row) for row in found[:MOST_CHOICES]]


# The comparison -------------------------------------------------------------------------------------------------------


def comparison(
    source: DumpSources, choice: DumpChoice, this: Dumped, other: Dumped, tolerance: float, ask: Any
) -> dict[str, Any]:
    """Return how two tensors differ, or the progress of comparing them: large ones are compared in the background.

    problem is the reason if they cannot be compared; shapes and dtypes of both are there in any case.
    """
    try:
        tensors = [_tensor(source, one) for one in (this, other)]
    except FormatError as error:
        return {"state": "ready", "problem": str(error)}
    facts = {"problem": "", "shapes": [list(one.shape) for one in tensors], "dtypes": [one.dtype.name for one in tensors],
             "sizes": [one.size for one in tensors], "tolerance": tolerance}  # fmt: skip
    if tensors[0].size != tensors[1].size:
        return facts | {"state": "ready", "result": None}
    work = compared(tensors[0], tensors[1], tolerance)
    if sum(one.size * one.dtype.itemsize for one in tensors) <= LARGE_BYTES:
        try:
            return facts | {"state": "ready", "result": described(readable(work), tensors, tolerance)}
        except FormatError as error:
            return facts | {"state": "ready", "problem": str(error)}

    def job(dump: DumpView, report: DumpReport) -> Comparison:  # noqa: ARG001 - the tensors may be of two dumps
        found: Comparison = readable(compared(tensors[0], tensors[1], tolerance, report))
        return found

    found = worked(source.dumps, choice.run, DumpWork("comparison", (this, other, tolerance), job), ask)
    result = described(found.result, tensors, tolerance) if found.state == "ready" else None
    return facts | progress(found) | {"result": result}


def _tensor(source: DumpSources, one: Dumped) -> Tensor:
    found: Tensor = readable(lambda: numbers_of(opened(source, one), one.row))
    return found


def compared(this: Tensor, other: Tensor, tolerance: float, report: DumpReport | None = None) -> Any:
    """Return a function that compares two tensors. Of small ones it counts what exceeds each whole percent of tolerance."""
    large = this.size * this.dtype.itemsize > LARGE_BYTES
    tolerances = (tolerance,) if large else tuple(dict.fromkeys((*PERCENTS, tolerance)))
    each = this.dtype.itemsize + other.dtype.itemsize

    def run() -> Comparison:
        told = (lambda done: report(done * each, 2 * this.size * each)) if report is not None else None
        return compare(lambda: chunks(this), lambda: chunks(other), tolerances=tolerances, progress=told)

    return run


def described(found: Comparison, tensors: Sequence[Tensor], tolerance: float) -> dict[str, Any]:
    """Return a comparison as texts: [rounded, exact] of values, places as indices of both tensors."""
    shapes = [one.shape for one in tensors]
    values = {
        "cosine": found.cosine, "max_absolute": found.max_absolute, "max_relative": found.max_relative,
        "mean_absolute": found.mean_absolute, "root_mean_square": found.root_mean_square,
    }  # fmt: skip
    counts = {
        "count": found.count, "finite": found.finite, "equal": found.equal, "alike": found.alike, "unlike": found.unlike,
        "zero_other": found.zero_other, "thousandth": found.thousandth, "five_thousandths": found.five_thousandths,
        "beyond": found.beyond[tolerance],
    }  # fmt: skip
    finite = max(found.finite, 1)
    limit = tolerance * found.max_absolute if tolerance and found.max_absolute else 0.0
    return {
        "identical": found.identical,
        "values": {name: _texts(value, 7 if name == "cosine" else 4) for name, value in values.items()},
        "counts": {name: [fmt.count(value), str(value)] for name, value in counts.items()},
        "shares": {name: fmt.percent(counts[name] / finite) for name in ("beyond", "thousandth", "five_thousandths")},
        "limit": limit if math.isfinite(limit) else None,
        "max_relative_at": _index(found.max_relative_at, shapes[0]) if found.max_relative_at >= 0 else None,
        "beyond": {f"{at * 100:g}": [fmt.count(n), fmt.percent(n / finite)] for at, n in found.beyond.items()},
        "places": [_place(one, shapes) for one in (*found.strange, *found.largest)],
    }  # fmt: skip


def _texts(value: float, digits: int) -> list[str] | None:
    return None if math.isnan(value) else [fmt.number(value, digits), fmt.exact(value)]


def _place(one: ValuePair, shapes: Sequence[tuple[int, ...]]) -> dict[str, Any]:
    return {
        "index": _index(one.at, shapes[0]), "other_index": _index(one.at, shapes[1]) if shapes[0] != shapes[1] else None,
        "this": _value(one.this), "other": _value(one.other), "bad": math.isnan(one.difference),
        "difference": "" if math.isnan(one.difference) else fmt.number(one.difference),
        "relative": "" if math.isnan(one.relative) or math.isinf(one.relative) else fmt.number(one.relative),
    }  # fmt: skip


def _value(value: Any) -> str:
    if isinstance(value, float):
        return fmt.number(value, 7)
    return str(value)


def _index(at: int, shape: tuple[int, ...]) -> list[int]:
    return [int(one) for one in np.unravel_index(at, shape)] if shape else []


def is_same(against: Against, choice: DumpChoice, node: str, io: str) -> bool:
    """Return whether a tensor would be compared with itself."""
    return replace(against.choice, mark="") == replace(choice, mark="") and (against.node, against.io) == (node, io)
