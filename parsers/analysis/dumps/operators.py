"""The operators of a dump as they ran: which rows of the frame of tensors each of them took and made, and in which order."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.model import Ints

IN_PLACE = re.compile(
    r"(?:Sparse)?(?:Apply|Fused\w*Apply)\w+|Fused\w*(?:Adam|Momentum|Lamb|SGD)\w*|Assign\w*|Scatter\w*|SGD|Adam\w*|Lamb\w*"
)
"""Types of operators that change their first inputs, so files of these have the new values."""
COMMUNICATION = re.compile(r"all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast|hcom_", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ran:
    """One operator as it ran once: its rows, and what these say of it. rows are those of `inputs` and `outputs`."""

    name: str
    type: str
    graph: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    @property
    def in_place(self) -> bool:
        """Return whether it changes its first inputs."""
        return IN_PLACE.fullmatch(self.type) is not None

    @property
    def communicates(self) -> bool:
        """Return whether it takes values of other ranks."""
        return COMMUNICATION.search(self.type) is not None or COMMUNICATION.search(self.name) is not None


Key = tuple[int, str, int]
"""Rank, directory of the rank, iteration."""


def operators_of(tensors: pd.DataFrame) -> dict[Key, list[Ran]]:
    """Return the operators of each rank and iteration in the order they ran: by time, or by execution order without times.

    A parameter of a module is one of its inputs. Files of parameters and constants belong to no operator.
    """
    io = tensors["io"].array
    taken = _coded(io, ("input", "parameter"))
    made = _coded(io, ("output", "gradient", "saved"))
    of_msprobe = tensors["graph"].to_numpy() < 0
    used = made | (taken & (_coded(io, ("input",)) | of_msprobe))
    rows = np.flatnonzero(used & (tensors["iteration"].to_numpy() >= 0))
    if not len(rows):
        return {}
    numbers = [tensors[name].to_numpy()[rows] for name in ("rank", "iteration", "graph", "occurrence")]
    codes = [tensors[name].array.codes[rows].astype(np.int64) for name in ("part", "recorded", "type")]
    keys = np.zeros(len(rows), np.int64)
    for column in (numbers[0], codes[0], numbers[1], numbers[2], codes[1], codes[2], numbers[3]):
        keys = pd.factorize(keys * (int(column.max(initial=0)) + 2) + column + 1)[0].astype(np.int64)
    time, order = tensors["time_ns"].to_numpy()[rows], tensors["order"].to_numpy()[rows]
    by = np.lexsort((rows, order, time, keys))
    begins = np.flatnonzero(np.append(True, np.diff(keys[by]) != 0))
    found: dict[Key, list[tuple[tuple[int, int, int], Ran]]] = {}
    names, types, parts = tensors["name"].array, tensors["type"].array, tensors["part"].array
    for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(by)], strict=True):
        own = by[begin:end]
        mine = rows[own]
        first = int(mine[0])
        ran = Ran(
            str(names[first]),
            str(types[first]),
            int(numbers[2][own[0]]),
            tuple(int(row) for row in mine if taken[row]),
            tuple(int(row) for row in mine if made[row]),
        )
        key = (int(numbers[0][own[0]]), str(parts[first]), int(numbers[1][own[0]]))
        place = (int(time[own].min()), int(order[own].min()), first)
        found.setdefault(key, []).append((place, ran))
    return {key: _ordered(operators) for key, operators in sorted(found.items(), key=lambda one: (one[0][2], one[0]))}


def _ordered(operators: list[tuple[tuple[int, int, int], Ran]]) -> list[Ran]:
    timed = all(place[0] >= 0 for place, _ in operators)
    operators.sort(key=(lambda one: one[0]) if timed else (lambda one: one[0][1:]))
    return [ran for _, ran in operators]


def _coded(texts: pd.Categorical, wanted: tuple[str, ...]) -> NDArray[np.bool_]:
    known = np.array([*(text in wanted for text in texts.categories.tolist()), False], np.bool_)
    found: NDArray[np.bool_] = known[texts.codes]
    return found


def latest_rows(series: Ints, iteration: Ints) -> Ints:
    """Return the last row of each tensor in each iteration, given the number of its tensor and its iteration."""
    order: Ints = np.lexsort((np.arange(len(series)), iteration, series)).astype(np.int64)
    if not len(order):
        return order
    last = np.append((np.diff(series[order]) != 0) | (np.diff(iteration[order]) != 0), True)
    found: Ints = order[last]
    return found
