"""Where each rank is in the parallel dimensions, and what tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from parsers.analysis.jobs.stages import places
from parsers.analysis.jobs.strategy.stage_map import StageMap
from parsers.deferred import pandas as pd
from parsers.model import Ints
from parsers.profiler.groups import ranks_of

DIMENSIONS = ("pp", "tp", "cp", "dp", "ep")
KINDS: Mapping[str, tuple[str, ...]] = {
    "pp": ("pp",), "tp": ("tp",), "cp": ("cp",), "dp": ("dp", "dp_cp"), "ep": ("ep", "exp"),
}  # fmt: skip
"""Dimension -> kinds of groups whose ranks differ in it alone; the first one that holds all ranks counts."""
STEPS, GROUPS, SIZES, FILES = "steps", "groups", "sizes", "files"
_OF_SIZES = "expert_model_parallel_size"


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """Places of ranks: for each known dimension the place of each rank, from 0, or -1, and where this comes from.

    told is one of STEPS (tables of steps), GROUPS (members of groups), SIZES (sizes of dimensions in the settings of the job),
    FILES (stages in parallel_strategy). A dimension of which nothing is known is left out. listed has the number of the group
    of each rank by dimension, where files list the groups of all ranks.
    """

    ranks: Ints
    places: Mapping[str, Ints]
    told: Mapping[str, str]
    listed: Mapping[str, Ints] = field(default_factory=dict)

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
        have the same places, so that a dimension must be missing. Experts are spread over ranks that the data and context
        dimensions have already: their groups are ranks that are equal in pp and tp, and in the number of the block of experts.
        """
        if dimension in self.listed:
            return self.listed[dimension]
        own = [name for name in self.places if name != "ep"]
        if dimension not in self.places or len(np.unique(self._key(own))) < len(self.ranks):
            return np.full(len(self.ranks), -1, np.int64)
        if dimension == "ep":
            key = self._key([name for name in own if name in ("pp", "tp")])
            block = self._spread() // self.size("ep")
            key = key * (int(block.max(initial=0)) + 1) + block
        else:
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

    def _spread(self) -> Ints:
        """Return the place of each rank in data and context together, context changing first."""
        zero = np.zeros(len(self.ranks), np.int64)
        spread: Ints = self.places.get("dp", zero) * max(self.size("cp"), 1) + self.places.get("cp", zero)
        return spread


def positions(
    ranks: Sequence[int], *, steps: pd.DataFrame | None = None, groups: pd.DataFrame | None = None,
    sizes: Mapping[str, int] | None = None, stages: StageMap | None = None,
) -> Positions:  # fmt: skip
    """Return the places of ranks. steps is of schema CLUSTER_STEPS, groups of GROUPS, sizes as in `JobFiles.parallel`.

    Tables of steps come first, then sizes, then groups, then the stages in parallel_strategy. A dimension counts where all of
    these ranks have a place in it.
    """
    numbers = np.array(sorted(set(ranks)), np.int64)
    found: dict[str, Ints] = {}
    told: dict[str, str] = {}
    for where, given in (
        (STEPS, _of_steps(numbers, steps)), (SIZES, _of_sizes(numbers, sizes or {})), (GROUPS, _of_groups(numbers, groups)),
        (FILES, _of_stages(numbers, stages)),
    ):  # fmt: skip
        for name, own in given.items():
            if name not in found and len(own) and bool((own >= 0).all()):
                found[name], told[name] = own, where
    listed = {name: _numbered(numbers, members) for name, members in _listed(numbers, groups).items()}
    return Positions(numbers, {name: found[name] for name in DIMENSIONS if name in found}, told, listed)


def _of_steps(ranks: Ints, steps: pd.DataFrame | None) -> dict[str, Ints]:
    if steps is None:
        return {}
    own = steps[(steps["kind"] == "rank").to_numpy()].drop_duplicates("rank").set_index("rank")
    return {name: own[name].reindex(ranks, fill_value=-1).to_numpy(np.int64) for name in ("pp", "tp", "dp")}


def _of_sizes(ranks: Ints, sizes: Mapping[str, int]) -> dict[str, Ints]:
    if not sizes:
        return {}
    found = dict(places(ranks.tolist(), sizes))
    experts = int(sizes.get(_OF_SIZES, 1))
    if experts > 1 and bool((found["dp"] >= 0).all()):
        across = int(sizes.get("context_parallel_size", 1)) or 1
        found["ep"] = (found["dp"] * across + found["cp"]) % experts
    if int(sizes.get("context_parallel_size", 1)) <= 1:
        found.pop("cp", None)
    return found


def _of_groups(ranks: Ints, groups: pd.DataFrame | None) -> dict[str, Ints]:
    found = {}
    for name, members in _listed(ranks, groups).items():
        place = {rank: number for own in members for number, rank in enumerate(own)}
        found[name] = np.array([place[rank] for rank in ranks.tolist()], np.int64)
    return found


def _listed(ranks: Ints, groups: pd.DataFrame | None) -> dict[str, list[tuple[int, ...]]]:
    """Return the groups of each dimension that hold each rank once, by their first ranks: those of one kind, else of all."""
    if groups is None or not len(groups):
        return {}
    kinds, texts = groups["kind"].astype("str").str.lower().tolist(), groups["ranks"].astype("str").tolist()
    found = {}
    for name, names in KINDS.items():
        for some in (*((one,) for one in names), names):
            members = {ranks_of(text) for own, text in zip(kinds, texts, strict=True) if own in some and text}
            every = [rank for own in members for rank in own]
            if every and len(set(every)) == len(every) and set(ranks.tolist()) <= set(every):
                found[name] = sorted(members)
                break
    return found


def _numbered(ranks: Ints, members: Sequence[tuple[int, ...]]) -> Ints:
    number = {rank: place for place, own in enumerate(members) for rank in own}
    return np.array([number[rank] for rank in ranks.tolist()], np.int64)


def _of_stages(ranks: Ints, stages: StageMap | None) -> dict[str, Ints]:
    if stages is None or not stages.stages:
        return {}
    place = {rank: stage for stage, members in enumerate(stages.stages) for rank in members}
    return {"pp": np.array([place.get(rank, -1) for rank in ranks.tolist()], np.int64)}
