"""How norms grow from operator to operator and from update to update, to follow an explosion back to where it began."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from parsers.analysis.dumps.departures import Reals
from parsers.analysis.dumps.operators import IN_PLACE, Ran, latest_rows
from parsers.analysis.dumps.watchpoints.targets import is_weight
from parsers.deferred import pandas as pd
from parsers.dumps.store import StatisticsTable
from parsers.model import Ints

_PASSIVE = re.compile(
    r"(?:leaky_?)?relu\w*|elu|gelu|dropout\w*|max_?pool\w*|avg_?pool\w*|reshape|view|flatten|transpose|permute|squeeze|unsqueeze|"
    r"expand_?dims|cast|identity|contiguous|clamp|clip\w*|tanh|slice|strided_?slice|split|chunk|depend|load",
    re.IGNORECASE,
)
"""Types of operators whose output is not larger than their input: they amplify nothing."""
LEAST_WEIGHT = 1e-3
"""Root mean square of a weight from which on its growth in one update means something: many begin with 0."""
GROWN_DECADES = 1.5
"""Decades by which no weight grows in one update of a training that succeeds."""
_ROUNDED = 1.001


def updates(tensors: pd.DataFrame, series: Ints, norm: Reals, count: Reals) -> Reals:
    """Return for each row of a weight after an update the decades by which its norm grew in it; NaN for other rows.

    Rows are files of parameters, outputs of optimizers, and parameters of modules (msprobe), each compared with the same tensor
    in the iteration before.
    """
    iteration, slots = tensors["iteration"].to_numpy(), tensors["slot"].to_numpy()
    io, kinds, names = (tensors[name].array for name in ("io", "type", "parameter"))
    weights = np.array([*(is_weight(str(name)) for name in names.categories), False], np.bool_)[names.codes]
    in_place = np.array([*(IN_PLACE.fullmatch(str(kind)) is not None for kind in kinds.categories), False], np.bool_)
    made = np.asarray(io == "output") & in_place[kinds.codes] & (slots == 0)
    rows = latest_rows(series, iteration)
    rows = rows[((np.asarray(io == "parameter") & weights) | made)[rows] & (iteration[rows] >= 0)]
    found = np.full(len(series), np.nan)
    before, after = rows[:-1], rows[1:]
    pairs = (series[before] == series[after]) & (iteration[after] == iteration[before] + 1)
    before, after = before[pairs], after[pairs]
    with np.errstate(all="ignore"):
        large = norm[before] / np.sqrt(np.maximum(count[before], 1.0)) >= LEAST_WEIGHT
        found[after] = np.where(large, np.log10(norm[after] / norm[before]), np.nan)
    return found


def by_growth(ran: Ran, decades: Reals, falling: bool = False) -> Ran:
    """Return an operator with its inputs ordered: those first that are farthest above their history, or below it."""
    sign = 1.0 if falling else -1.0
    return replace(ran, inputs=tuple(sorted(ran.inputs, key=lambda row: np.nan_to_num(sign * decades[row]))))


def passes_on(ran: Ran, norm: Reals) -> bool:
    """Return whether an operator amplifies nothing: by its type, and by norms that do not say otherwise."""
    if _PASSIVE.fullmatch(ran.type) is None:
        return False
    taken, made = ([norm[row] for row in rows if np.isfinite(norm[row])] for rows in (ran.inputs, ran.outputs))
    return not taken or not made or max(made) <= _ROUNDED * max(taken)


def producer_of(operators: Sequence[Ran], place: int, row: int, statistics: StatisticsTable, made: set[str]) -> int:
    """Return the place of the last operator before `place` that made the values of an input, by their statistics; -1 for none.

    Only operators whose name is in `made` are looked at.
    """
    columns = [statistics.column(name) for name in ("l2", "max", "min")]
    wanted = [column[row] for column in columns]
    for at in range(place - 1, -1, -1):
        if operators[at].name in made and any(
            all(column[one] == value for column, value in zip(columns, wanted, strict=True)) for one in operators[at].outputs
        ):
            return at
    return -1
