"""Order nodes within layers so that few edges cross: by barycentres, then by swapping neighbours."""

from __future__ import annotations

from bisect import bisect_left, insort

SWEEPS, EXCHANGES = 8, 3
FEW = 1_200
"""Up to this many nodes and points, the best of all sweeps is used and neighbours are swapped; above, three sweeps are made."""


def reduce_crossings(layers: list[list[int]], above: list[list[int]]) -> None:
    """Order each layer in place. above: for each node its neighbours in the layer above."""
    below: list[list[int]] = [[] for _ in above]
    for node, uppers in enumerate(above):
        for upper in uppers:
            below[upper].append(node)
    place = [0.0] * len(above)
    for row in layers:
        _number(row, place)
    small = len(above) <= FEW
    best, fewest = [list(row) for row in layers], _crossings(layers, above, place) if small else 0
    for sweep in range(SWEEPS if small else 3):
        if sweep % 2:
            for row in reversed(layers[:-1]):
                _sort(row, below, place, sweep % 4 > 1)
        else:
            for row in layers[1:]:
                _sort(row, above, place, sweep % 4 > 1)
        if not small:
            continue
        count = _crossings(layers, above, place)
        if count < fewest:
            best, fewest = [list(row) for row in layers], count
        if not fewest:
            break
    if not small:
        return
    for number, row in enumerate(best):
        layers[number][:] = row
        _number(row, place)
    for _ in range(EXCHANGES if fewest else 0):
        if not sum(_exchange(row, above, below, place) for row in layers):
            return


def _number(row: list[int], place: list[float]) -> None:
    for at, node in enumerate(row):
        place[node] = at


def _sort(row: list[int], near: list[list[int]], place: list[float], turned: bool) -> None:
    """Sort by the mean place of each node's neighbours; nodes without any keep their place. turned: reverse equal ones."""
    if len(row) == 1:
        return
    wanted = {}
    for node in row:
        ends = near[node]
        wanted[node] = sum([place[end] for end in ends]) / len(ends) if ends else place[node]
    if turned:
        row.reverse()
    row.sort(key=wanted.__getitem__)
    _number(row, place)


def _crossings(layers: list[list[int]], above: list[list[int]], place: list[float]) -> int:
    """Return the number of crossings between neighbouring layers."""
    count = 0
    for row in layers:
        seen: list[float] = []
        for node in row:
            ends = sorted([place[upper] for upper in above[node]])
            count += sum(len(seen) - _right_of(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return count


def _right_of(seen: list[float], end: float) -> int:
    return bisect_left(seen, end + 0.5)


def _exchange(row: list[int], above: list[list[int]], below: list[list[int]], place: list[float]) -> bool:
    """Swap neighbours while that reduces crossings, in at most four passes. Return whether any were swapped."""
    exchanged = False
    for _ in range(4):
        changed = False
        for at in range(len(row) - 1):
            one, other = row[at], row[at + 1]
            now = later = 0
            for near in (above, below):
                mine, theirs = near[one], near[other]
                if len(mine) * len(theirs) > 400:
                    continue
                for end in mine:
                    for far in theirs:
                        now += place[end] > place[far]
                        later += place[end] < place[far]
            if later < now:
                row[at], row[at + 1] = other, one
                place[one], place[other] = place[other], place[one]
                changed = exchanged = True
        if not changed:
            break
    return exchanged
