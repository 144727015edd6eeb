"""What operators took by step and by the shapes of their inputs: of operator types, of one operator, of one shape.

All functions take executions (schema SHAPE_TIMES or KERNELS) of which `executions_of` chose those of operators or of kernels.
Times are sums of `duration_ns`; an execution without a known shape has the shape "". Frames come with the longest time first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.model import Ints

Floats = NDArray[np.float64]
FEWEST_STEPS = 3
"""Steps with known shapes from which on it is said whether operators change: the first and the last may be cut."""
KERNEL = "GPU_KERNEL"
"""The core of the kernels that operators on GPU started: their times are parts of those of operators."""
WITHOUT_SHAPES = ("COMMUNICATION", "COPY")
"""Cores of what runs beside such kernels in traces of torch, which have no operators of the device."""
TYPE_COLUMNS = ("type", "operators", "changing", "shapes", "count", "total_ns", "mean_ns", "max_ns")
OPERATOR_COLUMNS = ("name", "type", "shapes", "changes", "count", "total_ns", "mean_ns", "max_ns")
SHAPE_COLUMNS = ("input_shapes", "count", "total_ns", "mean_ns", "min_ns", "max_ns", "steps")


def executions_of(frame: pd.DataFrame, *, kernels: bool = False) -> pd.DataFrame:
    """Return the executions of operators, or those of the kernels that operators on GPU started; durations are not negative."""
    cores = frame["core"].array
    chosen = np.append(cores.categories.to_numpy(object) == KERNEL, False)[cores.codes]
    wanted = (chosen if kernels else ~chosen) & (frame["duration_ns"].to_numpy() >= 0)
    if wanted.all():
        return frame
    found: pd.DataFrame = frame[wanted]
    return found


LAUNCHES = (("blocks", "grid"), ("pmu/block", "pmu/grid"))
"""Columns of block and grid: those of SHAPE_TIMES, and those of KERNELS in traces of torch."""


def launched(rows: pd.DataFrame) -> pd.DataFrame:
    """Return kernels with their launch as shape: threads of a block x blocks of the grid, as in 256,1,1 x 4,1,1.

    Rows without a pair of LAUNCHES are returned as they are.
    """
    found = next((pair for pair in LAUNCHES if all(name in rows and rows[name].dtype == "category" for name in pair)), None)
    if found is None:
        return rows
    blocks, grids = (rows[name].array for name in found)
    width = len(grids.categories) + 1
    pairs, codes = np.unique((blocks.codes.astype(np.int64) + 1) * width + grids.codes + 1, return_inverse=True)
    first, second = (["", *one.categories.tolist()] for one in (blocks, grids))
    names = [f"{first[pair // width]} x {second[pair % width]}".strip(" x") for pair in pairs.tolist()]
    texts = list(dict.fromkeys(names))
    made = np.array([texts.index(name) for name in names], np.int64)[codes]
    return rows.assign(input_shapes=pd.Categorical.from_codes(made, categories=pd.Index(texts, dtype="str")))


def cells(rows: pd.DataFrame) -> pd.DataFrame:
    """Sum up by operator, type and shape; `types` and `operators` take it. Columns: name, type, input_shapes, and sums."""
    keys = [rows[name].array for name in ("name", "type", "input_shapes")]
    key = np.zeros(len(rows), np.int64)
    for texts in keys:
        key = key * (len(texts.categories) + 1) + texts.codes + 1
    number, distinct = pd.factorize(key)
    first = np.zeros(len(distinct), np.int64)
    first[number[::-1]] = np.arange(len(rows))[::-1]
    made = {name: texts[first] for name, texts in zip(("name", "type", "input_shapes"), keys, strict=True)}
    return pd.DataFrame(made | _sums(number, np.ones(len(rows)), rows["duration_ns"].to_numpy(np.float64), None, len(distinct)))


def changing(rows: pd.DataFrame) -> NDArray[np.bool_]:
    """Return whether the shapes of an operator change from step to step, by the code of its name + 1.

    An operator that runs several times in a step may have a shape for each of its places, the same ones in every step: that
    is no change. The first and the last step of a recording may be cut, and then lack some of these shapes. So an operator
    changes if no step has all of its shapes, or if a step between the first and the last one lacks some.
    """
    names, steps, known = rows["name"].array, rows["step"].to_numpy(), _known(rows)
    found = np.zeros(len(names.categories) + 1, np.bool_)
    used = known & (steps >= 0)
    if not used.any():
        return found
    axis, step = _axis(steps[used])
    name, shape = _coded(rows["name"])[used] + 1, _coded(rows["input_shapes"])[used]
    cell = name * len(axis) + step
    pairs, number = np.unique(cell, return_inverse=True)
    here, everywhere = _different(number, shape, len(pairs)), _different(name, shape, len(found))
    owner, at = pairs // len(axis), pairs % len(axis)
    most = np.zeros(len(found), np.int64)
    np.maximum.at(most, owner, here)
    found = most < everywhere
    within = (at > 0) & (at < len(axis) - 1)
    found[owner[within & (here < everywhere[owner])]] = True
    return found


def steps_with_new_shapes(rows: pd.DataFrame) -> int:
    """Return how many steps after the first bring an operator a shape that it had in no step before.

    An operator may first run in a later step: its shapes then are not new.
    """
    used = rows[_known(rows) & (rows["step"] >= 0).to_numpy()]
    firsts = used.groupby(["name", "input_shapes"], observed=True)["step"].min().reset_index()
    begun = firsts.groupby("name", observed=True)["step"].transform("min")
    return int(firsts["step"][firsts["step"] > begun].nunique())


def types(of: pd.DataFrame, changes: NDArray[np.bool_]) -> pd.DataFrame:
    """Sum up cells by operator type. Columns: TYPE_COLUMNS.

    operators are different names, changing those of them that `changing` found, shapes the different known ones of all of
    them.
    """
    kinds, names = _coded(of["type"]), _coded(of["name"])
    shapes, known = _coded(of["input_shapes"]), _known(of)
    places, number = np.unique(kinds, return_inverse=True)
    width = int(names.max(initial=0)) + 2
    pairs = np.unique(number * width + names + 1)
    found = _sums_of(of, number, len(places)) | {
        "type": _texts(of["type"], places), "operators": np.bincount(pairs // width, minlength=len(places)),
        "changing": np.bincount(pairs // width, changes[pairs % width], len(places)).astype(np.int64),
        "shapes": _different(number[known], shapes[known], len(places)),
    }  # fmt: skip
    return _longest(found, TYPE_COLUMNS)


def operators(of: pd.DataFrame, changes: NDArray[np.bool_]) -> pd.DataFrame:
    """Sum up cells by operator; those that change first, then by number of shapes. Columns: OPERATOR_COLUMNS.

    type is the first one, changes whether the shapes change from step to step (`changing`).
    """
    names, shapes, known = _coded(of["name"]), _coded(of["input_shapes"]), _known(of)
    places, first, number = np.unique(names, return_index=True, return_inverse=True)
    found = _sums_of(of, number, len(places)) | {
        "name": _texts(of["name"], places), "type": np.asarray(of["type"].array[first], object),
        "shapes": _different(number[known], shapes[known], len(places)), "changes": changes[places + 1],
    }  # fmt: skip
    made = _longest(found, OPERATOR_COLUMNS)
    return made.sort_values(["changes", "shapes"], ascending=False, kind="stable", ignore_index=True)


def shapes_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Sum up by the shapes of the inputs. Columns: SHAPE_COLUMNS; steps are the different known ones."""
    shapes, steps = _coded(rows["input_shapes"]), rows["step"].to_numpy()
    places, number = np.unique(shapes, return_inverse=True)
    shortest = np.full(len(places), np.inf)
    np.minimum.at(shortest, number, rows["duration_ns"].to_numpy(np.float64))
    _, order = np.unique(steps, return_inverse=True)
    stepped = steps >= 0
    spent = rows["duration_ns"].to_numpy(np.float64)
    found = _sums(number, np.ones(len(rows)), spent, None, len(places)) | {
        "input_shapes": _texts(rows["input_shapes"], places), "min_ns": shortest,
        "steps": _different(number[stepped], order[stepped], len(places)),
    }  # fmt: skip
    return _longest(found, SHAPE_COLUMNS)


@dataclass(frozen=True, slots=True)
class ByStep:
    """Times of operator types by step: sums and numbers of executions, types x steps; 0 where a type did not run."""

    types: tuple[str, ...]
    steps: Ints
    total_ns: Floats
    count: Ints

    @property
    def mean_ns(self) -> Floats:
        """The mean time of an execution; NaN where a type did not run."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.total_ns / self.count


def by_step(rows: pd.DataFrame, chosen: Sequence[str]) -> ByStep:
    """Sum up these types by step; executions without a step are left out."""
    steps = rows["step"].to_numpy()
    axis, step = _axis(steps)
    left = int((axis < 0).sum())
    kinds = rows["type"].array
    row_of = np.full(len(kinds.categories) + 1, -1)
    at = kinds.categories.get_indexer(list(chosen))
    row_of[at[at >= 0]] = np.flatnonzero(at >= 0)
    row = row_of[kinds.codes]
    used = (row >= 0) & (steps >= 0)
    width = len(axis) - left
    cell = row[used] * width + step[used] - left
    total: Floats = np.bincount(cell, rows["duration_ns"].to_numpy(np.float64)[used], len(chosen) * width).astype(np.float64)
    count = np.bincount(cell, minlength=len(chosen) * width)
    shape = (len(chosen), width)
    return ByStep(tuple(chosen), axis[left:], total.reshape(shape), count.reshape(shape))


def of_operator(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the executions of one operator in the order they ran: by step, then by start time or order in the file."""
    names = rows["name"].array
    code = names.categories.get_indexer([name])[0]
    own = rows[names.codes == code] if code >= 0 else rows.iloc[:0]
    start = own["start_ns"].to_numpy() if "start_ns" in own else np.zeros(len(own), np.int64)
    return own.iloc[np.lexsort((start, own["step"].to_numpy()))]


def places_of(own: pd.DataFrame) -> tuple[Floats, Ints, bool]:
    """Return where to draw the executions of an operator: x, the number within the step (from 0), and whether x is a step.

    The n-th of m executions in a step is at step + n / m. Without any known step x is the number of the execution.
    """
    steps = own["step"].to_numpy()
    if not (steps >= 0).any():
        order = np.arange(len(own))
        return order.astype(np.float64), order, False
    begins = np.flatnonzero(np.append(True, np.diff(steps) != 0))
    lengths = np.diff(np.append(begins, len(steps)))
    turn = np.arange(len(steps)) - np.repeat(begins, lengths)
    x = np.where(steps >= 0, steps + turn / np.repeat(lengths, lengths), np.nan)
    return x, turn, True


def extremes(x: Floats, values: Floats, group: Ints, bins: int) -> Ints:
    """Return the rows to draw of many points: of each group the longest and the shortest in each of `bins` parts of x."""
    low, high = float(np.nanmin(x)), float(np.nanmax(x))
    part = np.zeros(len(x), np.int64) if high <= low else np.minimum((x - low) / (high - low) * bins, bins - 1).astype(np.int64)
    key = group.astype(np.int64) * bins + part
    order = np.lexsort((values, key))
    ordered = key[order]
    edge = np.append(True, np.diff(ordered) != 0)
    kept: Ints = np.unique(np.concatenate([order[edge], order[np.append(edge[1:], True)]]))
    return kept


def _coded(texts: Any) -> Ints:
    found: Ints = texts.array.codes.astype(np.int64)
    return found


def _known(rows: pd.DataFrame) -> NDArray[np.bool_]:
    shapes = rows["input_shapes"].array
    known: NDArray[np.bool_] = np.append(shapes.categories.to_numpy(object) != "", False)[shapes.codes]
    return known


def _texts(column: Any, codes: Ints) -> NDArray[np.object_]:
    made = np.append(column.array.categories.to_numpy(object), "")
    found: NDArray[np.object_] = made[codes]
    return found


def _different(groups: Ints, values: Ints, number: int) -> Ints:
    """Count the different values of each group."""
    width = int(values.max(initial=0)) + 1
    found: Ints = np.bincount(np.unique(groups * width + values) // width, minlength=number)
    return found


def _sums(groups: Ints, count: Floats, total: Floats, longest: Floats | None, number: int) -> dict[str, Any]:
    """Sum up groups of rows with numbers of executions, times, and the longest of each row (None for `total`)."""
    many, spent = np.bincount(groups, count, number).astype(np.int64), np.bincount(groups, total, number)
    most = np.zeros(number)
    np.maximum.at(most, groups, total if longest is None else longest)
    return {"count": many, "total_ns": spent, "mean_ns": spent / many, "max_ns": most}


def _sums_of(of: pd.DataFrame, groups: Ints, number: int) -> dict[str, Any]:
    count, total, longest = (of[name].to_numpy(np.float64) for name in ("count", "total_ns", "max_ns"))
    return _sums(groups, count, total, longest, number)


def _axis(values: Ints) -> tuple[Ints, Ints]:
    """Return the different values in ascending order, and the place of each value among them."""
    codes, distinct = pd.factorize(values)
    order = np.argsort(distinct, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return distinct[order].astype(np.int64), place[codes]


def _longest(columns: dict[str, Any], names: Sequence[str]) -> pd.DataFrame:
    made = pd.DataFrame({name: columns[name] for name in names})
    return made.sort_values("total_ns", ascending=False, kind="stable", ignore_index=True)
