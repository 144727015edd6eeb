"""Where each rank is in the parallel dimensions, and what tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from parsers.analysis.jobs.rank_places import GROUPS, SIZES, RankPlaces, rank_places
from parsers.analysis.jobs.strategy.stage_map import StageMap
from parsers.deferred import pandas as pd
from parsers.model import Ints

DIMENSIONS = ("pp", "tp", "cp", "dp", "ep")
STEPS, FILES = "steps", "files"


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """Places of ranks: for each known dimension the place of each rank, from 0, or -1, and where this comes from.

    told is one of STEPS (tables of steps), GROUPS (members of groups), SIZES (sizes of dimensions in the settings of the job),
    FILES (stages in parallel_strategy). A dimension of which nothing is known is left out. listed has the number of the group
    of each rank by dimension, where files list the groups of all ranks. wrong are the dimensions whose sizes in the settings
    contradict the listed groups: (dimension, size there, size of the groups).
    """

    ranks: Ints
    places: Mapping[str, Ints]
    told: Mapping[str, str]
    listed: Mapping[str, Ints] = field(default_factory=dict)
    wrong: tuple[tuple[str, int, int], ...] = ()

    def size(self, dimension: str) -> int:
        """Return the number of places of a dimension; 0 for unknown."""
        return int(self.places[dimension].max()) + 1 if dimension in self.places else 0

    def at(self, rank: int) -> Mapping[str, int]:
        """Return the known places of a rank by dimension."""
        row = np.flatnonzero(self.ranks == rank)
        return {name: int(own[row[0]]) for name, own in self.places.items() if len(row) and own[row[0]] >= 0}

    def groups(self, dimension: str) -> Ints:
        """Return the number of the group of each rank, by their first ranks: as files list them, else by the places.

        By the places these are ranks that differ in this dimension alone; -1 if the dimension is unknown, or if several ranks
        have the same places, so that a dimension must be missing.
        """
        if dimension in self.listed:
            return self.listed[dimension]
        own = [name for name in self.places if name != "ep"]
        if dimension not in own or len(np.unique(self._key(own))) < len(self.ranks):
            return np.full(len(self.ranks), -1, np.int64)
        key = self._key([name for name in own if name != dimension])
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
        place = np.empty(len(first), np.int64)
        place[np.argsort(first)] = np.arange(len(first))
        return place[number]

    def group(self, rank: int, dimension: str) -> tuple[int, ...]:
        """Return the ranks of the group of a rank in a dimension (`groups`), itself included; () if it is unknown."""
        row, number = np.flatnonzero(self.ranks == rank), self.groups(dimension)
        if not len(row) or number[row[0]] < 0:
            return ()
        found: tuple[int, ...] = tuple(self.ranks[number == number[row[0]]].tolist())
        return found

    def _key(self, names: Sequence[str]) -> Ints:
        """Return one number for each combination of places."""
        key = np.zeros(len(self.ranks), np.int64)
        for name in names:
            key = key * self.size(name) + self.places[name]
        return key


def positions(
    ranks: Sequence[int], *, steps: pd.DataFrame | None = None, groups: pd.DataFrame | None = None,
    sizes: Mapping[str, int] | None = None, stages: StageMap | None = None,
) -> Positions:  # fmt: skip
    """Return the places of ranks. steps is of schema CLUSTER_STEPS, groups of GROUPS, sizes as in `JobFiles.parallel`.

    Listed groups come first, then tables of steps, sizes, and the stages in parallel_strategy. A dimension counts where all of
    these ranks have a place in it.
    """
    by_group = rank_places(ranks, groups, sizes or {})
    numbers = by_group.ranks
    found: dict[str, Ints] = {}
    told: dict[str, str] = {}
    for where, given in (
        (GROUPS, _told_by(by_group, GROUPS)), (STEPS, _of_steps(numbers, steps)), (SIZES, _told_by(by_group, SIZES)),
        (FILES, _of_stages(numbers, stages)),
    ):  # fmt: skip
        for name, own in given.items():
            if name not in found and len(own) and bool((own >= 0).all()):
                found[name], told[name] = own, where
    known = {name: found[name] for name in DIMENSIONS if name in found}
    return Positions(numbers, known, told, by_group.groups, by_group.wrong)


def _told_by(places: RankPlaces, where: str) -> dict[str, Ints]:
    return {name: own for name, own in places.of.items() if places.told[name] == where}


def _of_steps(ranks: Ints, steps: pd.DataFrame | None) -> dict[str, Ints]:
    if steps is None:
        return {}
    own = steps[(steps["kind"] == "rank").to_numpy()].drop_duplicates("rank").set_index("rank")
    return {name: own[name].reindex(ranks, fill_value=-1).to_numpy(np.int64) for name in ("pp", "tp", "dp")}


def _of_stages(ranks: Ints, stages: StageMap | None) -> dict[str, Ints]:
    if stages is None or not stages.stages:
        return {}
    place = {rank: stage for stage, members in enumerate(stages.stages) for rank in members}
    return {"pp": np.array([place.get(rank, -1) for rank in ranks.tolist()], np.int64)}
