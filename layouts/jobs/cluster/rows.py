"""What a bar stands for, and in which order: ranks, or hosts, stages and groups with the mean or the highest of their ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from parsers.analysis.jobs.job_choices import group_title
from parsers.analysis.jobs.peers import ALIKE
from parsers.analysis.jobs.ranks_by_step import RanksByStep, members_of
from parsers.analysis.jobs.step_parts import by_row
from parsers.cluster_frames import GROUPS
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints
from parsers.profiler.groups import ranks_of


@dataclass(frozen=True, slots=True, eq=False)
class ClusterBars:
    """Bars in their order: kind (rank, host, stage or group), a name and a key of each, the places of their ranks, values.

    key is the rank, the stage (-1 for unknown) or the hash of the group; parts are the times of the parts of a step, shape
    (bars, parts), value the metric. members is how many ranks a bar has.
    """

    kind: str
    names: tuple[str, ...]
    keys: tuple[str, ...]
    parts: Floats
    value: Floats
    members: Ints

    def __len__(self) -> int:
        return len(self.names)


def shown_ranks(facts: RanksByStep, group: str) -> Ints:
    """Return the places of the ranks that are shown: those of a group, or all of them."""
    members = members_of(facts, group)
    if not members:
        return np.arange(len(facts.steps.ranks))
    return np.flatnonzero(np.isin(facts.steps.ranks, np.array(members, np.int64)))


def bars_of(
    facts: RanksByStep, kind: str, order: str, hosts: Sequence[str], chosen: Ints, parts: Floats, value: Floats,
    group: str = ""
) -> ClusterBars:
    """Return the bars of the chosen ranks (their places), highest value first or by rank.

    parts and value are those of all ranks. A host and a group are the mean of their ranks, a stage the highest, column by
    column. group is the hash of a group whose kind is that of the groups shown; else those of the kind with most groups.
    """
    if kind == "rank":
        names = [str(rank) for rank in facts.steps.ranks[chosen].tolist()]
        made = ClusterBars(kind, tuple(names), tuple(names), parts[chosen], value[chosen], np.ones(len(chosen), np.int64))
    elif kind == "group":
        made = _groups(facts, chosen, parts, value, group)
    else:
        labels = [hosts[place] for place in chosen.tolist()] if kind == "host" else list(map(str, facts.places()[1][chosen]))
        made = _together(kind, labels, parts[chosen], value[chosen])
    return _ordered(made, order)


def _together(kind: str, labels: Sequence[str], parts: Floats, value: Floats) -> ClusterBars:
    named = list(dict.fromkeys(labels))
    named.sort(key=lambda name: (not name.lstrip("-").isdigit(), int(name) if name.lstrip("-").isdigit() else 0, name))
    row = np.array([named.index(label) for label in labels], np.int64) if len(named) < 64 else _codes(labels, named)
    highest = kind == "stage"
    members = np.bincount(row, minlength=len(named)).astype(np.int64)
    table = by_row(np.column_stack([parts, value]), row, len(named), highest=highest)
    return ClusterBars(kind, tuple(named), tuple(named), table[:, :-1], table[:, -1], members)


def _codes(labels: Sequence[str], named: Sequence[str]) -> Ints:
    place = {name: number for number, name in enumerate(named)}
    return np.array([place[label] for label in labels], np.int64)


def _groups(facts: RanksByStep, chosen: Ints, parts: Floats, value: Floats, group: str) -> ClusterBars:
    listed = facts.frame(GROUPS.name).drop_duplicates("group")
    listed = listed[listed["size"] > 1]
    kinds = listed["kind"].astype("str")
    own = kinds[(listed["group"].astype("str") == group).to_numpy()]
    rows: pd.DataFrame = listed[kinds == (own.iloc[0] if len(own) else _usual(kinds))]
    place = dict(zip(facts.steps.ranks[chosen].tolist(), chosen.tolist(), strict=True))
    table = np.column_stack([parts, value])
    found = []
    listed_rows = zip(*(rows[column].astype("str").tolist() for column in ("group", "name", "kind", "ranks")), strict=True)
    for hashed, name, kind, members_text in listed_rows:
        own_places = [place[rank] for rank in ranks_of(members_text) if rank in place]
        if own_places:
            means = by_row(table[own_places], np.zeros(len(own_places), np.int64), 1)[0]
            found.append((group_title(kind, members_text, name, hashed), hashed, means, len(own_places)))
    values = np.array([one[2] for one in found]) if found else np.empty((0, table.shape[1]))
    members = np.array([one[3] for one in found], np.int64)
    return ClusterBars(
        "group", tuple(one[0] for one in found), tuple(one[1] for one in found), values[:, :-1], values[:, -1], members
    )


def _usual(kinds: pd.Series[str]) -> str:
    """Return the kind of most groups, one whose ranks do the same work if there is any."""
    counts = kinds.value_counts()
    alike = counts[counts.index.isin(ALIKE)]
    best = alike if len(alike) else counts
    return str(best.index[0]) if len(best) else ""


def _ordered(bars: ClusterBars, order: str) -> ClusterBars:
    if order != "value":
        return bars
    place = np.lexsort((np.arange(len(bars)), -np.nan_to_num(bars.value, nan=-np.inf)))
    listed = place.tolist()
    return ClusterBars(
        bars.kind, tuple(bars.names[one] for one in listed), tuple(bars.keys[one] for one in listed), bars.parts[place],
        bars.value[place], bars.members[place],
    )  # fmt: skip
