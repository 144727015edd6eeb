"""Statistics that were computed of the tensors of a dump, kept for its next listing and for a later process.

A tensor is the same if its file, its place in it, size and time of the last change are. Files are compared in pieces: the paths
of all tensors as texts of Python would take more memory than the statistics.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from parsers.deferred import pandas as pd
from parsers.dump_frames import DUMP_COMPUTED
from parsers.dumps.statistics import NAMES
from parsers.dumps.store import COMPUTED, COUNTS, REALS, StatisticsTable
from parsers.dumps.values import TensorHeader
from parsers.model import Ints

_PIECE = 1 << 13


@dataclass(frozen=True, slots=True)
class TensorFiles:
    """Where tensors are: file below the directory of the run, offset (-1 for a file of its own), size, mtime in ns of each."""

    paths: Any
    offsets: Ints
    sizes: Ints
    mtimes: Ints


@dataclass(frozen=True, slots=True)
class KnownStatistics:
    """Tensors with their statistics, of which those count that are known."""

    files: TensorFiles
    statistics: StatisticsTable

    def give(self, files: TensorFiles, statistics: StatisticsTable, rows: Ints) -> int:
        """Set the statistics of those of these rows that are among the kept tensors; return how many these are."""
        known = np.flatnonzero(self.statistics.known)
        if not len(known) or not len(rows):
            return 0
        mine, theirs = _hashes(self.files, known), _hashes(files, rows)
        order = np.argsort(mine, kind="stable")
        at = np.minimum(np.searchsorted(mine, theirs, sorter=order), len(known) - 1)
        same = mine[order[at]] == theirs
        found, kept = rows[same], known[order[at[same]]]
        for name in ("offsets", "sizes", "mtimes"):
            same = getattr(self.files, name)[kept] == getattr(files, name)[found]
            found, kept = found[same], kept[same]
        pairs = zip(_paths(self.files, kept), _paths(files, found), strict=True)
        same = np.array([one == other for ones, others in pairs for one, other in zip(ones, others, strict=True)], np.bool_)
        statistics.copy(found[same], self.statistics, kept[same])
        return int(same.sum())

    def frame(self) -> pd.DataFrame:
        """Return the statistics as a frame (schema DUMP_COMPUTED)."""
        rows = np.flatnonzero(self.statistics.known)
        codes, paths = pd.factorize(self.files.paths.take(rows))
        columns: dict[str, Any] = {"file": pd.Categorical.from_codes(codes, categories=pd.Index(paths, dtype="str"))}
        columns |= {"offset": self.files.offsets[rows], "size_bytes": self.files.sizes[rows]}
        columns |= {"mtime_ns": self.files.mtimes[rows], "dtype": self.statistics.dtype.take(rows)}
        columns |= {"shape": self.statistics.shape.take(rows)}
        columns |= {name: self.statistics.column(name)[rows] for name in NAMES}
        return DUMP_COMPUTED.check(pd.DataFrame({name: columns[name] for name in DUMP_COMPUTED.names}, copy=False))


def known_statistics(frame: pd.DataFrame) -> KnownStatistics:
    """Return what `KnownStatistics.frame` gave. ValueError if a shape in it is none."""
    numbers = {name: frame[name].to_numpy().astype(np.int64) for name in ("offset", "size_bytes", "mtime_ns")}
    statistics = StatisticsTable(len(frame))
    statistics.reals = np.stack([frame[name].to_numpy() for name in REALS])
    statistics.counts = np.stack([frame[name].to_numpy() for name in COUNTS])
    count, *parts = (statistics.column(name) for name in ("count", "nan", "positive_inf", "negative_inf"))
    told = np.minimum.reduce([count, *parts]) >= 0
    statistics.non_finite = np.where(count < 0, -1, ~told | (sum(parts) > 0)).astype(np.int8)
    statistics.known[:] = True
    for name in ("dtype", "shape"):
        texts = frame[name].array
        for code, text in enumerate(texts.categories.tolist()):
            header("", text if name == "shape" else "[]")
            getattr(statistics, name)[texts.codes == code] = text
    statistics.source[:] = COMPUTED
    return KnownStatistics(TensorFiles(frame["file"].astype("str").array, *numbers.values()), statistics)


def header(dtype: str, shape: str) -> TensorHeader:
    """Return the header of a tensor from the columns dtype and shape of a frame."""
    return TensorHeader(dtype, () if shape == "[]" else tuple(map(int, shape.split("x"))))


def _paths(files: TensorFiles, rows: Ints) -> Iterator[list[str]]:
    for at in range(0, len(rows), _PIECE):
        yield files.paths.take(rows[at : at + _PIECE]).tolist()


def _hashes(files: TensorFiles, rows: Ints) -> Ints:
    """Return a number for path and offset of each row. Different ones may have the same number, if hardly ever."""
    paths = (path for piece in _paths(files, rows) for path in piece)
    pairs = zip(paths, files.offsets[rows].tolist(), strict=True)
    return np.fromiter((hash(pair) for pair in pairs), np.int64, len(rows))
