"""Finds the scopes that wrap a network in one of two graphs, such as those of a training around the network.

In a forward graph a layer is `Default/encoder`, in that of its training `Default/network-WithLossCell/_backbone-Bert/encoder`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

MOST = 400
"""Maximum scopes of the unwrapped graph that are looked for in the other."""
LEAST = 0.5
"""Minimum part of these that the other graph has in its wrapper."""


def wrapper(plain: Sequence[str], wrapped: Sequence[str]) -> tuple[str, str] | None:
    """Return (top, top with its wrappers) if most scopes below a top scope are in wrappers in the other graph, else None."""
    known = set(wrapped)
    tops = Counter(path.split("/", 1)[0] for path in plain if "/" in path)
    if not tops:
        return None
    top = tops.most_common(1)[0][0]
    inner = _spread(sorted({path for path in plain if path.startswith(f"{top}/")}))
    if sum(path in known for path in inner) >= LEAST * len(inner):
        return None
    ends: dict[str, list[str]] = {}
    for path in known:
        if path.startswith(f"{top}/"):
            ends.setdefault(path.rpartition("/")[2], []).append(path)
    votes: Counter[str] = Counter()
    for path in inner:
        below = path[len(top) :]
        for other in ends.get(path.rpartition("/")[2], ())[:MOST]:
            if other != path and other.endswith(below):
                votes[other[: len(other) - len(below)]] += 1
    best, many = votes.most_common(1)[0] if votes else ("", 0)
    return (top, best) if many >= LEAST * len(inner) and many else None


def _spread(paths: list[str]) -> list[str]:
    """Return at most MOST of some paths, from all over them."""
    return paths[:: max(1, len(paths) // MOST)]


def within(paths: Iterable[str], found: tuple[str, str] | None) -> list[str]:
    """Return paths as they would be in the wrapper."""
    if found is None:
        return list(paths)
    top, inner = found
    return [inner + path[len(top) :] if path == top or path.startswith(f"{top}/") else path for path in paths]
