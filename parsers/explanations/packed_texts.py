"""Many paths as few bytes: folders once, and the names in them as one run of bytes.

The paths of a million heat maps are in some hundred folders. This way they take 25 bytes each, instead of 60, or of 100 as
texts of Python.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.explanations.columns import Bytes, GrowingColumn
from parsers.model import Ints

Rows = Ints | NDArray[np.int32]
_SLASH = 0x2F
_PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class PackedPaths:
    """Paths in UTF-8: that of row i is folders[folder[i]], which ends in a slash unless it is empty, and the bytes
    names[starts[i]:starts[i + 1]]."""

    folders: tuple[bytes, ...]
    folder: NDArray[np.int32]
    names: Bytes
    starts: Ints

    def __len__(self) -> int:
        return len(self.folder)

    def __getitem__(self, row: int) -> str:
        name = self.names[int(self.starts[row]) : int(self.starts[row + 1])].tobytes()
        return (self.folders[int(self.folder[row])] + name).decode("utf-8", "replace")

    def column(self, rows: Rows) -> pd.Series:
        """Return the paths of these rows as a column of texts; bytes that are no UTF-8 are replaced."""
        found = self._arrow(rows)
        if found is None:
            pieces = [pd.array(self._texts(rows[at : at + _PIECE]), dtype="str") for at in range(0, len(rows), _PIECE)]
            return pd.concat([pd.Series(one) for one in pieces], ignore_index=True) if pieces else pd.Series([], dtype="str")
        return pd.Series(found)

    def _texts(self, rows: Rows) -> list[str]:
        folders = [folder.decode("utf-8", "replace") for folder in self.folders]
        view = self.names.data
        places = zip(self.folder[rows].tolist(), self.starts[rows].tolist(), self.starts[rows + 1].tolist(), strict=True)
        return [folders[code] + str(view[a:b], "utf-8", "replace") for code, a, b in places]

    def _arrow(self, rows: Rows) -> pd.api.extensions.ExtensionArray | None:
        """Return the column in a quarter of the time; None without pyarrow, or for bytes that are no UTF-8."""
        try:
            import pyarrow as pa
            import pyarrow.compute
        except ImportError:
            return None
        try:
            folders = pa.array([folder.decode() for folder in self.folders], type=pa.large_string())
            names = pa.LargeStringArray.from_buffers(len(self), pa.py_buffer(self.starts), pa.py_buffer(self.names))
            names.validate(full=True)
        except (UnicodeDecodeError, pa.ArrowInvalid):
            return None
        codes = self.folder[rows]
        sizes = np.array([len(folder) for folder in self.folders], np.int64)
        starts = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(sizes[codes] + self.starts[rows + 1] - self.starts[rows], out=starts[1:])
        data, between = np.empty(int(starts[-1]), np.uint8), pa.scalar("", pa.large_string())
        for at in range(0, len(rows), _PIECE):
            part = slice(at, at + _PIECE)
            joined = pa.compute.binary_join_element_wise(folders.take(codes[part]), names.take(rows[part]), between)
            begin, end = int(starts[at]), int(starts[at + len(joined)])
            data[begin:end] = np.frombuffer(joined.buffers()[2], np.uint8, end - begin)
        whole = pa.LargeStringArray.from_buffers(len(rows), pa.py_buffer(starts), pa.py_buffer(data))
        column: pd.api.extensions.ExtensionArray = pd.array(whole, dtype="str")
        return column


NO_PATHS = PackedPaths((), np.zeros(0, np.int32), np.zeros(0, np.uint8), np.zeros(1, np.int64))


def packed(data: Bytes, first: Ints, end: Ints) -> PackedPaths:
    """Return the texts between these positions of data, which ascend."""
    slashes = np.append(np.int64(-1), np.flatnonzero(data == _SLASH))
    cut = np.maximum(slashes[np.searchsorted(slashes, end) - 1] + 1, first)
    known: dict[bytes, int] = {}
    folder = np.empty(len(first), np.int32)
    size = cut - first
    for length in np.flatnonzero(np.bincount(size)).tolist():
        rows = np.flatnonzero(size == length)
        folder[rows] = _codes(data, first[rows], length, known)
    starts = np.zeros(len(first) + 1, np.int64)
    np.cumsum(end - cut, out=starts[1:])
    place = np.repeat(cut - starts[:-1], end - cut)
    place += np.arange(len(place))
    return PackedPaths(tuple(known), folder, data[place], starts)


class PathsBuilder:
    """Joins paths."""

    def __init__(self) -> None:
        self._folders: dict[bytes, int] = {}
        self._folder, self._names, self._starts = GrowingColumn(np.int32), GrowingColumn(np.uint8), GrowingColumn(np.int64)
        self._starts.add(np.zeros(1, np.int64))

    def add(self, part: PackedPaths) -> None:
        """Add paths after those that are there."""
        codes = np.array([self._folders.setdefault(folder, len(self._folders)) for folder in part.folders], np.int32)
        self._folder.add(codes[part.folder])
        self._starts.add(part.starts[1:] + len(self._names))
        self._names.add(part.names)

    def whole(self) -> PackedPaths:
        """Return all paths."""
        return PackedPaths(tuple(self._folders), self._folder.whole(), self._names.whole(), self._starts.whole())


def _codes(data: Bytes, first: Ints, length: int, known: dict[bytes, int]) -> NDArray[np.int32]:
    """Return the numbers of texts of one length; known numbers them. Neighbours are mostly alike."""
    if not length:
        return np.full(len(first), known.setdefault(b"", len(known)), np.int32)
    every = np.ndarray((len(data) - length + 1,), dtype=f"V{length}", buffer=data.data, strides=(1,))
    texts = every[first]
    begins = np.flatnonzero(np.append(True, texts[1:] != texts[:-1]))
    codes = np.array([known.setdefault(texts[at].tobytes(), len(known)) for at in begins.tolist()], np.int32)
    found: NDArray[np.int32] = np.repeat(codes, np.diff(np.append(begins, len(first))))
    return found
