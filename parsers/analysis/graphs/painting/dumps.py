"""Amounts from a dump: NaN, Inf and norms of the outputs of operators and of parameters, and overflows of the device."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parsers.analysis.graphs.painting.amounts import Amounts
from parsers.deferred import pandas as pd
from parsers.dumps.store import StatisticsTable
from parsers.model import Floats, Ints

METRICS = ("nan", "inf", "norm")
"""The metrics that statistics of tensors have."""
IO = ("output", "parameter")
"""The tensors that count: what an operator makes, and parameters. Inputs are the outputs of others."""


def rows_of(tensors: pd.DataFrame, rank: int, graph: int | None = None) -> Ints:
    """Return the rows of the tensors of a rank that count, by iteration (schema DUMP_TENSORS).

    graph: the number of the only graph whose tensors are wanted; names of operators are those of one graph.
    """
    io = tensors["io"].array
    wanted = np.isin(np.asarray(io.categories, object), IO)
    chosen = np.append(wanted, False)[io.codes] & (tensors["rank"].to_numpy() == rank)
    if graph is not None:
        chosen &= tensors["graph"].to_numpy() == graph
    rows = np.flatnonzero(chosen)
    iteration = tensors["iteration"].to_numpy()
    return rows[np.argsort(iteration[rows], kind="stable")].astype(np.int64)


def steps_of(tensors: pd.DataFrame, rows: Ints) -> list[int]:
    """Return the iterations of some rows, constants excepted."""
    return [int(one) for one in np.unique(tensors["iteration"].to_numpy()[rows]) if one >= 0]


def amounts_of(metric: str, tensors: pd.DataFrame, statistics: StatisticsTable, rows: Sequence[int] | Ints) -> Amounts:
    """Return one of METRICS of these rows; those whose statistics are not known are left out."""
    rows = np.asarray(rows, np.int64)
    rows = rows[statistics.known[rows] & (tensors["iteration"].to_numpy()[rows] >= 0)]
    value: Floats
    if metric == "nan":
        value = _counted(statistics.column("nan")[rows])
    elif metric == "inf":
        value = _counted(statistics.column("positive_inf")[rows]) + _counted(statistics.column("negative_inf")[rows])
    else:
        value = statistics.column("l2")[rows]
    names = tensors["name"].array
    parameters = tensors["parameter"].array
    held = (tensors["io"].array.take(rows) == "parameter") & (np.asarray(parameters.take(rows), object) != "")
    texts = [*map(str, names.categories), *map(str, parameters.categories)]
    codes = np.where(held, len(names.categories) + parameters.codes[rows], names.codes[rows]).astype(np.int64)
    return Amounts.of(texts, codes, tensors["iteration"].to_numpy(np.int64)[rows], value)


def overflows_of(overflows: pd.DataFrame, rank: int) -> Amounts:
    """Return how many overflow records of the device name each operator (schema DUMP_OVERFLOWS)."""
    chosen = overflows[(overflows["rank"] == rank) & (overflows["status"] != 0) & (overflows["iteration"] >= 0)]
    names = chosen["name"].array
    known = np.flatnonzero(names.codes >= 0)
    step = chosen["iteration"].to_numpy(np.int64)[known]
    return Amounts.of(names.categories.tolist(), names.codes[known].astype(np.int64), step, np.ones(len(known)))


def _counted(counts: Ints) -> Floats:
    return np.where(counts >= 0, counts, np.nan)
