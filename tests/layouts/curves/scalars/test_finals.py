"""The table of last and best values, and what the page says of groups, against the arrays they are made of."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from dash import no_update
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from layouts.curves.scalars.page import filled
from layouts.curves.scalars.sheet import MOST_ROWS, sheet
from layouts.kit.state import BadInput
from tests.amounts import examples
from tests.layouts.curves.scalars.conftest import arrays, series
from tests.sources import MemorySource

SEEDS = {
    "a_0": [3, 2, 1.0], "a_1": [3, 2, 1.2], "a_2": [3, 0.5, 1.1], "a_3": [3, 2, 0.9], "a_4": [3, 2, 1.3],
    "b_0": [3, 2, 2.0], "b_1": [3, 2, 1.25], "b_2": [3, 2, math.nan],
}  # fmt: skip


@pytest.fixture
def runs() -> MemorySource:
    return arrays({name: {"loss": series(values, step=[0, 10, 20]), "lr": series([0.1])} for name, values in SEEDS.items()})


def table(source: MemorySource, *tags: str, **more: str) -> dict[str, Any]:
    wanted = {"run": ["*"], "tag": list(tags or ["loss"]), "table": ["1"]} | {key: [value] for key, value in more.items()}
    found: dict[str, Any] = json.loads(json.dumps(sheet(source, wanted), allow_nan=False))["table"]
    return found


def cells(found: dict[str, Any], label: str) -> dict[str, Any]:
    (row,) = [row for row in found["rows"] if row["label"] == label]
    return dict(zip(found["columns"], row["cells"], strict=True))


def test_of_a_run_its_last_and_best_value(runs: MemorySource) -> None:
    found = table(runs)
    assert (found["total"], found["grouped"]) == (8, False)
    one = cells(found, "a_2")
    assert [one[name]["value"] for name in found["columns"]] == [1.1, 20, 0.5, 10, 3]
    assert cells(found, "b_2")["last"] == {
        "text": "NaN", "value": None, "wrong": True,
        "tip": ["NaN at step 20. Last finite value: 2 at step 10", "步骤 20 为 NaN。最后一个有限值：2（步骤 10）"],
    }  # fmt: skip
    # A learning rate is neither better high nor low.
    assert cells(table(runs, "lr"), "a_0")["best"]["value"] is None


def test_of_a_group_interquartile_means_and_how_likely_it_is_better(runs: MemorySource) -> None:
    found = table(runs, group="regex:^(.)", base="group:b")
    assert [row["label"] for row in found["rows"]] == ["a", "b"]
    a, b = cells(found, "a"), cells(found, "b")
    lasts = [values[-1] for name, values in SEEDS.items() if name.startswith("a")]
    assert a["last"]["value"] == pytest.approx(stats.trim_mean(lasts, 0.25))
    assert (a["n"]["text"], a["n"]["few"], b["n"]["text"], b["n"]["few"]) == ("5", False, "2 / 3", True)
    # The run that ended with NaN is worse than all others, and more than a quarter of its group.
    wins = stats.mannwhitneyu([-value for value in lasts], [-2.0, -1.25, -math.inf]).statistic / (5 * 3)
    assert a["wins"]["value"] == pytest.approx(wins)
    assert (b["last"]["text"], b["last"]["value"], a["minus"]["value"], b["wins"]["value"]) == ("NaN", None, None, None)
    assert a["best_step"]["value"] == 20


def test_difference_of_runs_to_a_run(runs: MemorySource) -> None:
    found = table(runs, base="run:a_0")
    assert cells(found, "a_4")["minus"]["value"] == pytest.approx(0.3)
    assert "wins" not in found["columns"]


def test_groups_are_told_with_their_runs(runs: MemorySource) -> None:
    told = sheet(runs, {"run": ["a_0", "b_0", "b_1"], "group": ["regex:^(a)"]})
    assert [(group["label"], group["n"], group["runs"]) for group in told["groups"]] == [
        ("a", 1, ["a_0"]), ("", 2, ["b_0", "b_1"]),
    ]  # fmt: skip
    assert told["table"] is None
    assert sheet(runs, {"base": ["run:a_0"]})["base"] == "a_0"
    assert sheet(runs, {"base": ["group:a"]})["base"] is None


def test_a_long_table_is_cut_and_says_so() -> None:
    source = arrays({f"r{number}": {"loss": series([number])} for number in range(MOST_ROWS + 5)})
    found = table(source)
    assert (len(found["rows"]), found["total"]) == (MOST_ROWS, MOST_ROWS + 5)


def test_nothing_new_is_not_sent(runs: MemorySource) -> None:
    assert filled(runs, None, None) == (no_update, no_update)
    ask = {"run": ["*"], "tag": ["loss"], "table": ["1"]}
    told, mark = filled(runs, ask, None)
    assert told["ask"] == ask
    assert filled(runs, ask, mark) == (no_update, no_update)
    runs.data["a_0"]["loss"] = series([1.0, 2.0])
    assert filled(runs, ask, mark)[1] != mark


@pytest.mark.parametrize("wrong", [{"tag": [1]}, {"tag": [str(n) for n in range(501)]}, {"group": ["x:"]}, 3, {"table": ["2"]}])
def test_wrong_words_are_refused(runs: MemorySource, wrong: Any) -> None:
    with pytest.raises(BadInput):
        sheet(runs, wrong)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.lists(st.tuples(st.integers(-9, 9), st.floats()), min_size=1, max_size=9), max_size=5),
    st.sampled_from([{}, {"group": ["regex:(.)"]}, {"group": ["job"], "base": ["group:r0"]}, {"base": ["run:r0"]}]),
)
def test_whatever_runs_hold_a_table_is_made(runs: list[list[tuple[int, float]]], more: dict[str, list[str]]) -> None:
    made = [series([v for _, v in points], step=[s for s, _ in points]) for points in runs]
    source = arrays({f"r{number}": {"loss": one} for number, one in enumerate(made)})
    with np.errstate(all="ignore"):
        json.dumps(sheet(source, {"run": ["*"], "tag": ["loss"], "table": ["1"], **more}), allow_nan=False)
