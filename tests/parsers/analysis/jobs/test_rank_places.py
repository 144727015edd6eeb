"""Places of ranks in the parallel dimensions, against grids that are laid out by counting in a given order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pytest

from parsers.analysis.jobs.rank_places import rank_places, sized
from parsers.cluster_frames import GROUPS
from parsers.profiler.frame_parts import frame_of
from parsers.profiler.groups import text_of

SIZES = {
    "tensor_model_parallel_size": 2, "data_parallel_size": 2, "pipeline_model_parallel_size": 4, "context_parallel_size": 1,
}  # fmt: skip
LONG = {"tp": "tensor_model", "cp": "context", "dp": "data", "pp": "pipeline_model"}


def settings(sizes: Mapping[str, int], **more: int) -> dict[str, int]:
    return {f"{LONG[name]}_parallel_size": size for name, size in sizes.items()} | more


def laid_out(order: Sequence[str], sizes: Mapping[str, int]) -> tuple[dict[str, list[int]], list[tuple[str, list[int]]]]:
    """Return the place of each rank by dimension, and the groups, of ranks counted with the first of `order` fastest."""
    shape = [sizes[name] for name in reversed(order)]
    numbers = np.arange(np.prod(shape)).reshape(shape)
    axes = {name: len(order) - 1 - place for place, name in enumerate(order)}
    places = {name: np.indices(shape)[axis].ravel().tolist() for name, axis in axes.items()}
    groups = [
        (name, ranks)
        for name, axis in axes.items() if sizes[name] > 1
        for ranks in np.moveaxis(numbers, axis, -1).reshape(-1, sizes[name]).tolist()
    ]  # fmt: skip
    return places, groups


def frame(groups: Sequence[tuple[str, Sequence[int]]]) -> pd.DataFrame:
    columns = {
        "group": [str(place) for place in range(len(groups))], "kind": [kind for kind, _ in groups],
        "ranks": [text_of(ranks) for _, ranks in groups], "size": [len(ranks) for _, ranks in groups],
    }  # fmt: skip
    return frame_of(GROUPS, len(groups), columns, "made")


def test_tensor_changes_fastest_then_data_then_pipeline() -> None:
    found = sized(range(16), SIZES)
    assert found["tp"].tolist() == [0, 1] * 8
    assert found["dp"].tolist() == [0, 0, 1, 1] * 4
    assert found["pp"].tolist() == [rank // 4 for rank in range(16)]


def test_the_two_stages_of_the_sample() -> None:
    found = sized([1, 2], settings({"tp": 1, "dp": 2, "pp": 2}))
    assert [found[name].tolist() for name in ("dp", "pp", "tp")] == [[1, 0], [0, 1], [0, 0]]


def test_unknown_or_wrong_sizes_give_no_place() -> None:
    assert sized([0, 1], {})["tp"].tolist() == [-1, -1]
    assert sized([0, 16], SIZES)["tp"].tolist() == [-1, -1]
    assert rank_places([0, 1], None, {}).of == {}


@pytest.mark.parametrize("order", [("tp", "cp", "dp", "pp"), ("tp", "cp", "pp", "dp"), ("dp", "tp", "cp", "pp")])
@pytest.mark.parametrize("listed", [("tp", "dp", "pp", "cp"), ("tp", "pp"), ("dp",)])
def test_the_listed_groups_tell_the_order(order: Sequence[str], listed: Sequence[str]) -> None:
    sizes = {"tp": 2, "cp": 1, "dp": 5, "pp": 8}
    places, groups = laid_out(order, sizes)
    found = rank_places(range(80), frame([one for one in groups if one[0] in listed]), settings(sizes))
    assert found.wrong == ()
    if listed == ("dp",) and order[0] == "dp":  # tensor and pipeline may then change in either order
        assert found.of["dp"].tolist() == places["dp"]
        return
    for name in ("tp", "dp", "pp"):
        assert found.of[name].tolist() == places[name]
        assert found.told[name] == ("groups" if name in listed else "sizes")


def test_groups_count_where_sizes_contradict_them() -> None:
    places, groups = laid_out(("tp", "dp", "pp"), {"tp": 4, "dp": 2, "pp": 2})
    found = rank_places(range(16), frame([one for one in groups if one[0] != "dp"]), settings({"tp": 2, "dp": 4, "pp": 2}))
    assert found.wrong == (("tp", 2, 4),)
    assert {name: own.tolist() for name, own in found.of.items()} == {name: places[name] for name in ("tp", "pp")}


def test_of_groups_of_several_sizes_the_one_that_contradicts_is_told() -> None:
    uneven = frame([("dp", [0, 2, 4]), ("dp", [1, 3])])
    assert rank_places(range(5), uneven, settings({"tp": 2, "dp": 3, "pp": 1})).wrong == (("dp", 3, 2),)


def test_groups_contradict_a_size_of_one() -> None:
    listed = frame([("dp", [0, 1]), ("dp", [2, 3])])
    assert rank_places(range(4), listed, settings({"tp": 4, "dp": 1, "pp": 1})).wrong == (("dp", 1, 2),)


@pytest.mark.parametrize(
    ("order", "tensor"),
    [(("tp", "dp", "pp"), 1), (("tp", "dp", "pp"), 2), (("tp", "dp", "pp"), 4), (("tp", "pp", "dp"), 1)],
)  # fmt: skip
def test_experts_have_a_tensor_size_of_their_own(order: Sequence[str], tensor: int) -> None:
    """Megatron lays the ranks out a second time for experts: expert tensor size, experts, the rest; stages must be the same."""
    sizes = {"tp": 4, "dp": 4, "pp": 2}
    _, groups = laid_out(order, sizes)
    more = {"expert_model_parallel_size": 4, "expert_tensor_parallel_size": tensor}
    found = rank_places(range(32), frame(groups), settings(sizes, **more))
    for_experts = ["etp", "ep", *("edp" if name == "dp" else name for name in order[1:])]
    wanted, members = laid_out(for_experts, {"etp": tensor, "ep": 4, "edp": 16 // tensor // 4, "pp": 2})
    assert found.of["ep"].tolist() == wanted["ep"]
    together = {tuple(ranks) for kind, ranks in members if kind == "ep"}
    numbers = found.groups["ep"]
    assert {tuple(np.flatnonzero(numbers == one).tolist()) for one in np.unique(numbers).tolist()} == together


def test_without_a_size_of_their_own_experts_take_the_tensor_size() -> None:
    sizes = settings({"tp": 2, "dp": 4, "pp": 1}, expert_model_parallel_size=2)
    same = rank_places(range(8), None, {**sizes, "expert_tensor_parallel_size": 2})
    assert rank_places(range(8), None, sizes).of["ep"].tolist() == same.of["ep"].tolist() == [0, 0, 1, 1] * 2
