"""The severest insights of each tag, a part of the curves with each answer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np
import pytest

from layouts.curves.scalars.ranking import CHUNK, ranking
from layouts.kit.state import BadInput
from parsers.analysis.curves.insights import insights_of
from tests.amounts import long_after
from tests.layouts.curves.scalars.conftest import arrays, series
from tests.sources import MemorySource

TAGS = 3 * CHUNK


@pytest.fixture
def source() -> MemorySource:
    rng = np.random.default_rng(5)
    data: dict[str, Any] = {}
    for run in ("a", "b"):
        curves = {f"tag{at}": np.exp(-np.arange(200) / 60) + 0.01 * rng.standard_normal(200) for at in range(TAGS)}
        curves["tag7"][120 if run == "a" else 130] = 4.0 if run == "a" else 9.0
        curves["tag40"][150:] = np.nan
        data[run] = {tag: series(value) for tag, value in curves.items()}
    return arrays(data)


def parts(source: MemorySource, clock: Iterator[float]) -> Iterator[dict[str, Any]]:
    place, total = 0, 1
    while place < total:
        found = ranking(source, {"run": [], "from": [str(place)]}, lambda: next(clock))
        assert found is not None
        assert found["from"] == place
        assert found["next"] > place, "every answer goes on"
        place, total = found["next"], found["total"]
        yield found


@pytest.mark.parametrize("pace", long_after(1, [0.0, 1.0]))
def test_the_parts_together_have_the_severest_of_each_tag(source: MemorySource, pace: float) -> None:
    found = list(parts(source, count(0.0, pace)))
    assert len(found) == (1 if pace == 0.0 else 2 * TAGS // CHUNK), "slow answers are short"
    assert found[-1]["total"] == 2 * TAGS
    best: dict[tuple[str, str], list[float]] = {}
    for run in ("a", "b"):
        for tag in source.runs.tags(run):
            one = source.curves.series(run, tag)
            assert one is not None
            for insight in insights_of(tag, one):
                key = (tag, insight.kind)
                best[key] = max(best.get(key, [0, 0.0]), [insight.severity, min(insight.score, 1e9)])
    told: dict[tuple[str, str], list[float]] = {}
    for part in found:
        for tag, kinds in part["tags"].items():
            for kind, worst in kinds.items():
                told[tag, kind] = max(told.get((tag, kind), [0, 0.0]), worst)
    assert told == best
    assert {("tag7", "spike"), ("tag40", "non_finite")} <= set(told)


def test_without_runs_curves_or_a_request_there_is_nothing(source: MemorySource) -> None:
    assert ranking(source, None) is None
    assert ranking(source, {"run": ["nobody"]}) == {"tags": {}, "from": 0, "next": 0, "total": 0}
    assert ranking(MemorySource({}), {}) == {"tags": {}, "from": 0, "next": 0, "total": 0}
    beyond = ranking(source, {"from": ["5000"]})
    assert beyond == {"tags": {}, "from": 5000, "next": 5000, "total": 2 * TAGS}


@pytest.mark.parametrize("ask", [5, {"run": "a"}, {"from": ["x"]}, {"from": ["-1"]}, {"from": ["nan"]}, {"from": 3}])
def test_what_is_no_request_is_refused(source: MemorySource, ask: Any) -> None:
    with pytest.raises(BadInput):
        ranking(source, ask)
