"""Which nodes of a graph the names of a profile, a dump or recorded parameters stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parsers.analysis.graphs.network import Network
from parsers.dumps.names import number_of, without_number
from parsers.model import Ints

NONE, SEVERAL, NAME, WITHOUT, KERNEL, RECORDED = range(6)
WAYS = ("none", "several", "name", "without_op", "kernel", "recorded")
"""How a name was matched: not at all; not, since several nodes have it; by full name; without -op<n>; as a kernel below the
full name of its operator; as the tag of a parameter, without what the recorder appended."""
_APPENDED = ("/auto",)
"""What SummaryCollector appends to the names of parameters."""


@dataclass(frozen=True, eq=False)
class Matches:
    """row: for each name the row of its node, or -1. way: a code into WAYS."""

    row: Ints
    way: Ints

    @property
    def count(self) -> int:
        """Number of names that have a node."""
        return int((self.row >= 0).sum())


def match(names: Sequence[str], network: Network) -> Matches:
    """Match distinct names with nodes: by full name, then without the suffix -op<n>.

    Where a name without its suffix fits several nodes, names and nodes that have no partner yet are joined in the order of
    their numbers if there are as many of both; otherwise they stay without one, because any choice would be a guess.
    """
    row, way = np.full(len(names), -1, np.int64), np.full(len(names), NONE, np.int64)
    exact = network.places
    left: list[int] = []
    for place, name in enumerate(names):
        found = exact.get(name, -1)
        if found >= 0:
            row[place], way[place] = found, NAME
        else:
            left.append(place)
    if left:
        _without_suffix(names, left, network, row, way)
    for place in left:
        if row[place] >= 0:
            continue
        above = names[place].rpartition("/")[0]
        short = next((names[place].removesuffix(end) for end in _APPENDED if names[place].endswith(end)), "")
        for name, how in ((short, RECORDED), (above, KERNEL)):
            found = exact.get(name, -1) if name else -1
            if found >= 0:
                row[place], way[place] = found, how
                break
    return Matches(row, way)


def _without_suffix(names: Sequence[str], left: Sequence[int], network: Network, row: Ints, way: Ints) -> None:
    taken = set(row[row >= 0].tolist())
    wanted: dict[str, list[int]] = {}
    for place in left:
        wanted.setdefault(without_number(names[place]), []).append(place)
    free: dict[str, list[int]] = {}
    for one, name in enumerate(network.full_names):
        begin = name.rfind("-op")  # the pattern of without_number takes three times as long
        if (name if begin < 0 or not name[begin + 3 :].isdigit() else name[:begin]) in wanted and one not in taken:
            free.setdefault(without_number(name), []).append(one)
    for base, nodes in free.items():
        places = wanted[base]
        if len(nodes) != len(places):
            way[places] = SEVERAL
            continue
        places = sorted(places, key=lambda place: number_of(names[place]))
        nodes.sort(key=lambda one: number_of(network.full_names[one]))
        row[places], way[places] = nodes, WITHOUT
