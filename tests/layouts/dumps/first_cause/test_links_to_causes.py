"""Insights into curves that are not finite lead to the first cause, if the run has a dump."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest

from layouts.curves.scalars.insights import marks
from layouts.runs.overview import insights as listed
from parsers import Series, open_run
from tests.sources import MemorySource
from tests.writers.dumps import write_dump


def curve(first: int) -> Series:
    """A curve of 400 steps with NaN from the 301st on, and a spike at the 201st."""
    step = np.arange(first, first + 400, dtype=np.int64)
    value = np.exp(-np.arange(400) / 400) + np.random.default_rng(0).normal(0, 0.02, 400)
    value[200] += 5
    value[300:] = np.nan
    return Series(step, 1.7e9 + step, value, np.zeros(400, np.int32), step * 40)


@pytest.fixture
def content(tmp_path: Path) -> dict[str, Any]:
    write_dump(tmp_path, iterations=1, layers=1)
    return {"scalar": {"loss": curve(1)}, "dump": open_run(tmp_path).dump}


@pytest.mark.parametrize("first", [0, 1])
def test_marks_of_nan_lead_to_their_iteration(content: dict[str, Any], first: int) -> None:
    content["scalar"]["loss"] = curve(first)
    found = {mark["kind"]: mark for mark in marks(MemorySource({"a": content}), {"tag": ["loss"], "run": ["a"]})["marks"]}
    assert found["non_finite"]["step"] == 300 + first
    assert found["non_finite"]["cause"]["data-page"] == "first_cause"
    assert parse_qs(found["non_finite"]["cause"]["data-query"]) == {"of": ["a"], "step": ["300"]}
    assert found["spike"]["cause"] is None


def test_of_a_job_its_dump_is_named(content: dict[str, Any]) -> None:
    source = MemorySource({"job/rank_0": content, "job/rank_1": {}}, jobs={"job": ["job/rank_0", "job/rank_1"]})
    found = marks(source, {"tag": ["loss"], "run": ["job/rank_0"]})["marks"]
    cause = next(mark["cause"] for mark in found if mark["kind"] == "non_finite")
    assert parse_qs(cause["data-query"])["of"] == ["job"]


def test_the_overview_has_the_link_beside_the_insight(content: dict[str, Any]) -> None:
    rows, _ = listed.entries(MemorySource({"a": content}), {"run": "a", "version": 1})
    links = [[anchor.href for anchor in row.children] if isinstance(row.children, list) else [] for row in rows]
    assert [link for found in links for link in found if link.startswith("first_cause")] == ["first_cause?run=a&of=a&step=300"]


def test_without_a_dump_there_is_no_link(content: dict[str, Any]) -> None:
    del content["dump"]
    source = MemorySource({"a": content})
    assert [mark["cause"] for mark in marks(source, {"tag": ["loss"], "run": ["a"]})["marks"]] == [None, None]
    rows = listed.entries(source, {"run": "a", "version": 1})[0]
    assert rows
    assert not any("ms-insight-cause" in str(row.to_plotly_json()) for row in rows)
