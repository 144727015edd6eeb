"""Horizontal coordinates after Brandes and Köpf, "Fast and simple horizontal coordinate assignment" (2001).

Nodes are aligned with the median of their neighbours in four ways (from above and from below, leftmost and rightmost). Each
alignment is packed as narrowly as possible, and the place of a node is the mean of the two middle ones of its four places.
Nodes differ in width, so packing uses the graph of aligned blocks, as in the erratum of 2020.
"""

from __future__ import annotations

Layers = list[list[int]]


def coordinates(
    layers: Layers, above: Layers, left: list[float], right: list[float], real: int, gap: float, gap_point: float
) -> list[float]:
    """Return the x of each node's centre. Nodes from number `real` on are points of edges.

    Nodes without width, such as points, need only gap_point next to them.
    """
    below: Layers = [[] for _ in above]
    for node, uppers in enumerate(above):
        for upper in uppers:
            below[upper].append(node)
    place = [0] * len(above)
    for row in layers:
        for step, node in enumerate(row):
            place[node] = step
    barred = _barred(layers, above, place, real)
    space = [gap / 2 if low + high else gap_point / 2 for low, high in zip(left, right, strict=True)]
    found = []
    flipped = [row[::-1] for row in layers]
    mirror = [0] * len(above)
    for row in flipped:
        for step, node in enumerate(row):
            mirror[node] = step
    for near, upward in ((above, False), (below, True)):
        for rows, at, low, high, sign in ((layers, place, left, right, 1), (flipped, mirror, right, left, -1)):
            ordered = rows[::-1] if upward else rows
            root = _aligned(ordered, near, at, barred, upward)
            packed = _packed(rows, root, low, high, space)
            found.append([sign * one for one in packed])
    return _balanced(found, left, right)


def _barred(layers: Layers, above: Layers, place: list[int], real: int) -> set[tuple[int, int]]:
    """Return edges (upper, lower) that cross an inner edge, one between two points. They must not bend the inner edge."""
    barred = set()
    for row in layers[1:]:
        inner = [(place[node], place[above[node][0]]) for node in row if node >= real and above[node][0] >= real]
        if not inner:
            continue
        bounds = [-1, *(upper for _, upper in inner)]
        at = 0
        limits = [*(upper for _, upper in inner), 1 << 60]
        # Nothing fits between inner edges that cross each other; the running extremes keep the bounds in order.
        for number in range(1, len(bounds)):
            bounds[number] = max(bounds[number], bounds[number - 1])
        for number in range(len(limits) - 2, -1, -1):
            limits[number] = min(limits[number], limits[number + 1])
        for here, node in enumerate(row):
            while at < len(inner) and inner[at][0] < here:
                at += 1
            if at < len(inner) and inner[at][0] == here:
                continue
            for upper in above[node]:
                if not bounds[at] < place[upper] < limits[at]:
                    barred.add((upper, node))
    return barred


def _aligned(rows: Layers, near: Layers, place: list[int], barred: set[tuple[int, int]], upward: bool) -> list[int]:
    """Return for each node the first node of its aligned block."""
    root = list(range(len(place)))
    taken = [False] * len(place)
    for row in rows[1:]:
        edge = -1
        for node in row:
            ends = near[node]
            if not ends:
                continue
            if len(ends) > 1:
                ends = sorted(ends, key=place.__getitem__)
            half = (len(ends) - 1) // 2
            for end in ends[half : len(ends) // 2 + 1]:
                if taken[end] or place[end] <= edge or ((node, end) if upward else (end, node)) in barred:
                    continue
                root[node] = root[end]
                taken[end] = True
                edge = place[end]
                break
    return root


def _packed(rows: Layers, root: list[int], low: list[float], high: list[float], space: list[float]) -> list[float]:
    """Move blocks as far left as possible, then those with room towards their right neighbours."""
    follows: dict[int, dict[int, float]] = {}
    waiting: dict[int, int] = {}
    for row in rows:
        before = -1
        for node in row:
            mine = root[node]
            waiting.setdefault(mine, 0)
            if before >= 0:
                other = root[before]
                need = high[before] + space[before] + space[node] + low[node]
                after = follows.setdefault(other, {})
                if mine not in after:
                    waiting[mine] += 1
                    after[mine] = need
                elif need > after[mine]:
                    after[mine] = need
            before = node
    order = [block for block, count in waiting.items() if not count]
    x = dict.fromkeys(waiting, 0.0)
    for block in order:
        for right, need in follows.get(block, {}).items():
            x[right] = max(x[right], x[block] + need)
            waiting[right] -= 1
            if not waiting[right]:
                order.append(right)
    for block in reversed(order):
        afters = follows.get(block)
        if afters:
            x[block] = max(x[block], min([x[right] - need for right, need in afters.items()]))
    return [x[block] for block in root]


def _balanced(found: list[list[float]], left: list[float], right: list[float]) -> list[float]:
    spans = []
    for xs in found:
        low = min(x - side for x, side in zip(xs, left, strict=True))
        high = max(x + side for x, side in zip(xs, right, strict=True))
        spans.append((high - low, low, high))
    narrow = min(range(len(found)), key=lambda way: spans[way][0])
    for way, xs in enumerate(found):
        shift = spans[narrow][2] - spans[way][2] if way % 2 else spans[narrow][1] - spans[way][1]
        if shift:
            found[way] = [x + shift for x in xs]
    balanced = []
    for four in zip(*found, strict=True):
        a, b, c, d = four
        balanced.append((a + b + c + d - max(four) - min(four)) / 2)
    return balanced
