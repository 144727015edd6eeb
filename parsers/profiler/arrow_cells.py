"""Parses the cells of intact records with Arrow, in a third of the time that pandas takes.

What Arrow refuses, or would read otherwise than `parsers.profiler.tables` says, is left to pandas: cells that are no numbers,
records with other numbers of cells, and words for NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsers.profiler.digits import WIDTH

_BOM = b"\xef\xbb\xbf"


class Texts(NamedTuple):
    """Texts by number: codes (n,) into texts, -1 for a missing one."""

    codes: NDArray[np.int32]
    texts: Sequence[str]


def arrow_cells(
    data: bytes, rows: int, cells: int, kinds: Mapping[int, str], missing: Sequence[str]
) -> dict[int, Texts | NDArray[Any]] | None:
    """Return the columns of records by position, each with this many cells; None if pandas is to judge them.

    kinds are those of the columns to read: "text" (Texts, as they stand in the file), "time" (bytes of WIDTH, as they stand)
    or another one (float64, NaN for what is `missing`). Numbers are rounded once, as IEEE 754 says.
    """
    try:
        import pyarrow as pa
        from pyarrow import csv
    except ImportError:
        return None
    if b"\x00" in data or data.startswith(_BOM):  # both end or begin a text for one of the two
        return None
    types = {"text": pa.dictionary(pa.int32(), pa.string()), "time": pa.string()}
    names = [str(place) for place in range(cells)]
    wanted = [names[place] for place in kinds]
    try:
        table = csv.read_csv(
            pa.BufferReader(pa.py_buffer(data)),
            csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=names),
            csv.ParseOptions(ignore_empty_lines=False),
            csv.ConvertOptions(
                include_columns=wanted, null_values=list(missing), strings_can_be_null=False,
                column_types={names[place]: types.get(kind, pa.float64()) for place, kind in kinds.items()},
            ),
        )  # fmt: skip
    except pa.ArrowException:
        return None
    if len(table) != rows:  # a carriage return alone ends a record, too
        return None
    found: dict[int, Texts | NDArray[Any]] = {}
    for place, kind in kinds.items():
        column = table.column(names[place]).chunk(0)
        made = _texts(column, missing) if kind == "text" else _times(column) if kind == "time" else _numbers(column)
        if made is None:
            return None
        found[place] = made
    return found


def _texts(column: Any, missing: Sequence[str]) -> Texts:
    """Return the texts in ascending order, so that they do not depend on which comes first."""
    texts = column.dictionary.to_pylist()
    order = sorted((place for place, text in enumerate(texts) if text not in missing), key=texts.__getitem__)
    codes = np.full(len(texts), -1, np.int32)
    codes[order] = np.arange(len(order), dtype=np.int32)
    return Texts(codes[column.indices.to_numpy()], [texts[place] for place in order])


def _times(column: Any) -> NDArray[Any] | None:
    """Return the bytes of texts, filled with zero bytes; None if one is longer than WIDTH."""
    import pyarrow.compute as pc

    padded = pc.ascii_rpad(column, width=WIDTH, padding="\x00")
    _, offsets, data = padded.buffers()
    rows = len(column)
    begin, end = np.frombuffer(offsets, np.int32, rows + 1)[[0, -1]].tolist()
    return None if end - begin != rows * WIDTH else np.frombuffer(data, f"S{WIDTH}", rows, begin)


def _numbers(column: Any) -> NDArray[np.float64] | None:
    """Return numbers; None if NaN stands there in another way than as a missing value."""
    numbers: NDArray[np.float64] = column.to_numpy(zero_copy_only=False)
    return None if np.count_nonzero(np.isnan(numbers)) != column.null_count else numbers
