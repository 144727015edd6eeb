"""Watchpoints that users save: what is valid, and which tensors they are for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from app.store.runs.matching import PatternError, matching
from layouts.dumps.watchpoints import CHOICES, SavedWatchpoint, WatchList, watched
from layouts.kit.user_input import InvalidInput
from parsers.analysis.dumps.watchpoints import CONDITIONS, recommended
from tests.sources import MemorySource
from tests.sources.patterns import MemoryPatterns


class Bounded(MemoryPatterns):
    """Matches patterns as a server does."""

    def matching(self, pattern, names):
        return matching(pattern, names, 0.5)


def tensors(*rows: tuple[str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["name", "type"], dtype="category")


NET = tensors(
    ("Default/a/MatMul-op1", "MatMul"), ("Default/b/act", "ReLU"), ("Default/b/act", "ReLU"), ("фi.weight", "Parameter"),
)  # fmt: skip


@pytest.mark.parametrize(("pattern", "names", "found"), [
    ("", None, None), ("", ("x",), {"x"}), ("(?i)relu", None, {"Default/b/act"}),
    (r"op\d|фi", None, {"Default/a/MatMul-op1", "фi.weight"}),
    ("^Default/", ("Default/b/act", "фi.weight"), {"Default/b/act"}), ("^none$", None, set()),
])  # fmt: skip
def test_a_pattern_becomes_the_names_it_matches(pattern, names, found) -> None:
    made = watched(SavedWatchpoint("tensor_overflow", {}, names, pattern), NET, Bounded(MemorySource()))
    assert (made.names, made.pattern) == (found, "")


def test_no_tensors_have_no_names() -> None:
    assert watched(SavedWatchpoint("tensor_overflow", pattern="a+"), tensors(), Bounded(MemorySource())).names == frozenset()


def test_a_pattern_that_takes_forever_is_stopped() -> None:
    slow = tensors((f"{'a' * 60}!", "Add"))
    with pytest.raises(PatternError, match="longer than"):
        watched(SavedWatchpoint("tensor_overflow", pattern="(a|a)*$"), slow, Bounded(MemorySource()))


def test_what_is_recommended_can_be_saved() -> None:
    saved = WatchList(tuple(SavedWatchpoint(one.condition, one.limits, None, one.pattern) for one in recommended()))
    assert saved.checked() == saved
    patterns = Bounded(MemorySource())
    assert [watched(one, NET, patterns).checked for one in saved.watchpoints] == [one.checked for one in recommended()]


def test_every_condition_and_choice_can_be_saved() -> None:
    for name, kind in CONDITIONS.items():
        wanted = next((limit for limit in kind.limits if not limit.needs), None)
        SavedWatchpoint(name, {wanted.name: 1.0} if wanted else {}).checked()
    for by in CHOICES:
        SavedWatchpoint("tensor_overflow", by=by).checked()


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_limits_are_numbers_a_condition_allows(value: float) -> None:
    with pytest.raises(InvalidInput, match="abs_mean_gt"):
        SavedWatchpoint("tensor_too_large", {"abs_mean_gt": value}).checked()


def test_the_version_changes_with_everything_that_is_saved() -> None:
    base = SavedWatchpoint("tensor_overflow")
    every = [base, SavedWatchpoint("weight_overflow"), SavedWatchpoint("tensor_all_zero", {"zero_percentage_ge": 5.0}),
             SavedWatchpoint("tensor_overflow", {}, ()), SavedWatchpoint("tensor_overflow", {}, ("a",)),
             SavedWatchpoint("tensor_overflow", pattern="a"), SavedWatchpoint("tensor_overflow", enabled=False),
             SavedWatchpoint("tensor_overflow", by="line"), SavedWatchpoint("tensor_overflow", said="a")]  # fmt: skip
    lists = [WatchList(), *(WatchList((one,)) for one in every), WatchList((base, base))]
    assert len({one.version for one in lists}) == len(lists)
