"""At which bytes a test damages or cuts a file: every one in `make test-long`, chosen ones in `make test`."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

every_byte = pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.long)], ids=["chosen", "every"])
"""Runs a test with `every`, which it passes on to `positions`, False and, marked `long`, True."""
SPREAD = 60
ENDS = 12


def positions(length: int, every: bool, edges: Iterable[int] = ()) -> list[int]:
    """Return positions in a file of this length: all, or its first and last bytes, those around edges, and some between.

    edges are where records, headers, lengths, checksums and the like begin or end.
    """
    if every:
        return list(range(length))
    near = {edge + by for edge in (0, length, *edges) for by in (-1, 0, 1)} | {*range(ENDS), *range(length - ENDS, length)}
    # Not a constant step, which could meet the same byte of every record.
    spread = {(index * length + index * index % 97) // SPREAD for index in range(SPREAD)}
    return sorted(at for at in near | spread if 0 <= at < length)
