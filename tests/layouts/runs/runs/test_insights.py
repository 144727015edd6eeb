"""The number of insights of each run in the list of runs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import layouts
from layouts.kit.state import BadInput
from layouts.runs.runs.insights import counts
from parsers.analysis.curves.insights import LEVELS, RULES
from tests.sources import MemorySource, series


@pytest.fixture
def source():
    plain = series(400)
    value = plain.value.copy()
    value[200] += 5
    value[300:] = np.nan
    return MemorySource({"a": {"scalar": {"loss": plain._replace(value=value)}}, "b": {"scalar": {"loss": plain}}})


def test_each_run_asked_for_has_its_insights(source):
    answer = counts(source, {"run": ["a", "b", "gone"]})
    assert answer["left"] == 0
    assert set(answer["runs"]) == {"a", "b"}
    assert [kind for kind, _ in answer["runs"]["a"]["found"]] == ["non_finite", "spike"]
    assert answer["runs"]["b"] == {"found": [], "more": 0}
    assert counts(source, {"run": ["b"]})["runs"].keys() == {"b"}
    assert counts(source, None) == {"runs": {}, "left": 0}


def test_a_run_whose_scalars_are_not_all_analysed_has_no_number(source):
    source.curves.insights = lambda run, tags=None, seconds=0.1: ((), 1 if seconds == 0.0 or run == "a" else 0)
    assert counts(source, {"run": ["a", "b"]}) == {"runs": {}, "left": 2}


@pytest.mark.parametrize("ask", [[], {"run": "a"}, {"run": [1]}, {"run": [str(n) for n in range(101)]}])
def test_a_bad_ask_is_refused(source, ask):
    with pytest.raises(BadInput):
        counts(source, ask)


def test_the_browser_knows_the_rules_and_levels_of_the_server():
    script = (Path(layouts.__file__).parent.parent / "assets/kit/strictness.js").read_text(encoding="utf-8")
    kinds = re.search(r"KINDS = \[(.*?)\]", script, re.DOTALL)
    levels = re.search(r"LEVELS = \{(.*?)\}", script)
    assert kinds
    assert levels
    assert re.findall(r'"(\w+)"', kinds[1]) == list(RULES)
    assert re.findall(r"(\w+):", levels[1]) == list(LEVELS)
