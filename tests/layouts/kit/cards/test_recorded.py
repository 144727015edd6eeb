"""When values were recorded, as the browser gets it: checked against sums of what was sent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from layouts.kit.state import BadInput
from layouts.values.images.page import CARDS
from parsers import PayloadSeries
from tests.sources import MemorySource, recorded


def items(steps: Sequence[int], walls: Sequence[float] | None = None) -> PayloadSeries:
    return recorded(steps, walls if walls is not None else 1.7e9 + np.array(steps) / 3)


def images(found: dict[tuple[str, str], PayloadSeries]) -> MemorySource:
    """Runs with images at given steps."""
    return MemorySource({run: {"image": {tag: one for (key, tag), one in found.items() if key == run}} for run, _ in found})


def test_steps_and_times_are_sums_and_equal_steps_are_sent_once() -> None:
    steps, back = list(range(0, 1000, 10)), [5, 9, 2, 2, 2**40]
    given = {("a", "x"): items(steps), ("b", "x"): items(steps), ("c", "x"): items(back), ("d", "y"): items([1])}
    meta = CARDS.draw(images(given), {"tag": ["x"], "run": ["*"]})["meta"]
    assert meta["tags"] == ["x"]
    assert len(meta["steps"]) == 2
    assert [one["run"] for one in meta["series"]] == ["a", "b", "c"]
    for one in meta["series"]:
        wanted = given[one["run"], "x"]
        assert np.cumsum(meta["steps"][one["steps"]]).tolist() == wanted.step.tolist()
        assert np.abs(np.cumsum(one["walls"]) / 1000 - wanted.wall_time).max() <= 0.0005
        assert one["colour"].startswith("#")


def test_times_that_are_none_do_no_harm() -> None:
    walls = [float("nan"), float("inf"), -1e300, 1.7e9]
    source = images({("a", "x"): items([1, 2, 3, 4], walls)})
    (one,) = CARDS.draw(source, {"tag": ["x"]})["meta"]["series"]
    assert np.cumsum(one["walls"]).tolist() == [0, 0, 0, 1_700_000_000_000]


def test_the_stamp_changes_with_the_values_and_only_then() -> None:
    source = images({("a", "x"): items([1, 2])})
    first = CARDS.stamp(source, {"tag": ["x"]})
    assert CARDS.stamp(source, {"tag": ["x"]}) == first
    source.data["a"]["image"]["x"] = items([1, 2, 3])
    assert CARDS.stamp(source, {"tag": ["x"]}) != first


def test_nothing_recorded_is_an_empty_card() -> None:
    assert CARDS.draw(MemorySource(), {"tag": ["x"]})["meta"] == {"tags": ["x"], "steps": [], "series": []}


@pytest.mark.parametrize("ask", [{}, {"tag": []}, {"tag": ["a", "b"]}, {"tag": "x"}, {"tag": [1]}, {"tag": ["x"], "run": 3}, 7])
def test_an_ask_that_is_none_is_refused(ask: object) -> None:
    with pytest.raises(BadInput):
        CARDS.draw(MemorySource(), ask)
