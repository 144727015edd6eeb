"""The place of each rank in the parallel dimensions: by the groups that the job lists, else by the sizes of its dimensions.

Sizes alone do not tell the order in which dimensions change from rank to rank (Megatron's `tp-cp-ep-dp-pp`, its
`tp-cp-ep-pp-dp`, ...). The order is one that gives all listed groups; where none does, the groups count and the sizes are said
to contradict them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from parsers.deferred import pandas as pd
from parsers.model import Ints
from parsers.profiler.groups import ranks_of

KINDS: Mapping[str, tuple[str, ...]] = {
    "pp": ("pp",), "tp": ("tp",), "cp": ("cp",), "dp": ("dp", "dp_cp"), "ep": ("ep", "exp"),
}  # fmt: skip
"""Dimension -> kinds of groups whose ranks differ in it alone; the first one that holds all ranks counts."""
GROUPS, SIZES = "groups", "sizes"
USUAL = ("tp", "cp", "dp", "pp")
"""Dimensions from the one that changes with every rank: the order of MindSpore, and Megatron's default."""
_NAMES = {"tp": "tensor_model", "cp": "context", "dp": "data", "pp": "pipeline_model"}
_EXPERTS, _OF_EXPERT = "expert_model_parallel_size", "expert_tensor_parallel_size"
Members = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class RankPlaces:
    """Places of ranks by dimension (pp, tp, cp, dp, ep), from 0, and what tells them: GROUPS or SIZES.

    A dimension of which not every rank has a place is left out. groups has the number of the group of each rank by dimension,
    by their first ranks, where groups are listed or experts are laid out by sizes. wrong are the dimensions whose sizes
    contradict the listed groups: (dimension, size in the settings, the largest other size of a group).
    """

    ranks: Ints
    of: Mapping[str, Ints]
    told: Mapping[str, str]
    groups: Mapping[str, Ints]
    wrong: tuple[tuple[str, int, int], ...]


def rank_places(ranks: Sequence[int], groups: pd.DataFrame | None, sizes: Mapping[str, int]) -> RankPlaces:
    """Return the places of ranks. groups is of schema GROUPS, sizes as in `JobFiles.parallel`."""
    numbers = np.unique(np.asarray(ranks, np.int64))
    found = listed(numbers, groups)
    known = {name: _within(numbers, members) for name, members in found.items()}
    told = dict.fromkeys(known, GROUPS)
    own = {name: _numbered(numbers, members) for name, members in found.items()}
    by_size = _of_sizes(numbers, sizes, _of_kinds(groups))
    known |= {name: place for name, place in by_size.items() if name not in known}
    experts = _experts(by_size, sizes)
    if experts is not None and "ep" not in known:
        known["ep"], own["ep"] = experts[0], _by_first(experts[1])
    told |= {name: SIZES for name in known if name not in told}
    return RankPlaces(numbers, known, told, own, _wrong(groups, sizes))


def listed(ranks: Ints, groups: pd.DataFrame | None) -> dict[str, Members]:
    """Return the groups of each dimension that hold each rank once, by their first ranks: those of one kind, else of all."""
    found = {}
    of_kinds = _of_kinds(groups)
    for name, names in KINDS.items():
        for some in (*((one,) for one in names), names):
            members = {ranks for kind in some for ranks in of_kinds.get(kind, ())}
            every = [rank for own in members for rank in own]
            if every and len(set(every)) == len(every) and set(ranks.tolist()) <= set(every):
                found[name] = tuple(sorted(members))
                break
    return found


def sized(ranks: Sequence[int], sizes: Mapping[str, int], order: Sequence[str] = USUAL) -> dict[str, Ints]:
    """Return the place of each rank in tp, cp, dp and pp where they change in this order; -1 for all of them if unknown.

    sizes are those of `distributed_args`: tensor_model_parallel_size, context_parallel_size, data_parallel_size,
    pipeline_model_parallel_size. Experts are spread over ranks that the other dimensions have already, so they take no place.
    """
    number = np.asarray(ranks, np.int64)
    known = {name: max(int(sizes[long]), 1) for name, long in _long_names().items() if long in sizes}
    unknown = {name: np.full(len(number), -1, np.int64) for name in USUAL}
    if not {"tp", "dp", "pp"} <= known.keys() or (number < 0).any():
        return unknown
    found = {}
    for name in order:
        found[name], number = number % known.get(name, 1), number // known.get(name, 1)
    return unknown if number.any() else found  # more ranks than the sizes have places for


def _long_names() -> dict[str, str]:
    return {name: f"{long}_parallel_size" for name, long in _NAMES.items()}


def _of_kinds(groups: pd.DataFrame | None) -> dict[str, set[tuple[int, ...]]]:
    if groups is None or not len(groups):
        return {}
    found: dict[str, set[tuple[int, ...]]] = {}
    for kind, text in zip(groups["kind"].astype("str").str.lower(), groups["ranks"].astype("str"), strict=True):
        if kind and text:
            found.setdefault(kind, set()).add(ranks_of(text))
    return found


def _within(ranks: Ints, members: Members) -> Ints:
    place = {rank: number for own in members for number, rank in enumerate(own)}
    return np.array([place[rank] for rank in ranks.tolist()], np.int64)


def _numbered(ranks: Ints, members: Members) -> Ints:
    number = {rank: place for place, own in enumerate(members) for rank in own}
    return np.array([number[rank] for rank in ranks.tolist()], np.int64)


def _by_first(key: Ints) -> Ints:
    """Return numbers of equal keys, counted by their first occurrence."""
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    place = np.empty(len(first), np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return place[number]


def _of_sizes(ranks: Ints, sizes: Mapping[str, int], of_kinds: Mapping[str, set[tuple[int, ...]]]) -> dict[str, Ints]:
    """Return the places by sizes, in an order that gives all listed groups; nothing if none does."""
    members = {name: sorted(of_kinds.get(name, ())) for name in USUAL}
    for name, own in members.items():
        if any(len(one) != max(int(sizes.get(_long_names()[name], 1)), 1) for one in own):
            return {}
    for order in _orders():
        found = sized(ranks.tolist(), sizes, order)
        if (found["tp"] < 0).any():
            return {}
        if all(_agrees(name, np.array(own, np.int64), sizes, order) for name, own in members.items() if own):
            if int(sizes.get("context_parallel_size", 1)) <= 1:
                found.pop("cp")
            return found
    return {}


def _orders() -> Iterator[Sequence[str]]:
    """Yield all orders, the usual ones first; tensor parallel changes first in most."""
    first = (USUAL, ("tp", "cp", "pp", "dp"))
    yield from first
    yield from (order for order in permutations(USUAL) if order not in first)


def _agrees(name: str, members: Ints, sizes: Mapping[str, int], order: Sequence[str]) -> bool:
    """Return whether the ranks of each group (a row) differ in this dimension alone."""
    places = sized(members.ravel().tolist(), sizes, order)
    rows = [places[one].reshape(members.shape) for one in USUAL if one != name]
    return all(bool((own == own[:, :1]).all()) for own in rows)


def _experts(by_size: Mapping[str, Ints], sizes: Mapping[str, int]) -> tuple[Ints, Ints] | None:
    """Return the place of each rank among experts and a number equal within its group; None without experts.

    The ranks of a stage, counted tp, cp, dp, are laid out anew for experts: expert_tensor_parallel_size (the tensor size where
    it is not given) changes first, then expert_model_parallel_size (Megatron-LM, parallel_state.initialize_model_parallel).
    """
    experts = int(sizes.get(_EXPERTS, 1))
    if experts <= 1 or not by_size:
        return None
    tensor, across = (max(int(sizes.get(_long_names()[name], 1)), 1) for name in ("tp", "cp"))
    of_expert = int(sizes.get(_OF_EXPERT, 0)) or tensor
    zero = np.zeros(len(by_size["tp"]), np.int64)
    number = by_size["tp"] + tensor * (by_size.get("cp", zero) + across * by_size["dp"])
    block = of_expert * experts
    whole = int(number.max(initial=0)) // block + 1
    group = (by_size["pp"] * whole + number // block) * of_expert + number % of_expert
    return number // of_expert % experts, group


def _wrong(groups: pd.DataFrame | None, sizes: Mapping[str, int]) -> tuple[tuple[str, int, int], ...]:
    found = []
    of_kinds = _of_kinds(groups)
    names = {**_long_names(), "ep": _EXPERTS}
    for name, long in names.items():
        if long not in sizes:
            continue
        size = max(int(sizes[long]), 1)
        if others := {len(own) for own in of_kinds.get(name, ())} - {size}:
            found.append((name, size, max(others)))
    return tuple(found)
