"""What pages about profiles share: which profiles there are, which is chosen, how far it has been read."""

from __future__ import annotations

from typing import Any

import pytest

from layouts.profiling.catalogue import MOST_FILES, MOST_PROFILES, catalogue
from layouts.profiling.choice import Choice, read_against, read_choice
from layouts.profiling.reading import MOST_PROBLEMS, reading
from layouts.sources import ProfileFrame
from layouts.state import BadInput
from parsers import OPERATORS, Problem
from tests.sources import MemorySource


def profiled(run: str, ranks: int = 1) -> MemorySource:
    """A run with a profile per rank, and one without any."""
    return MemorySource({run: {"profiles": {("s", rank): {} for rank in range(ranks)}}, "bare": {}})


def test_profiles_of_the_chosen_runs() -> None:
    source = profiled("a", 8)
    found = catalogue(source, {})
    assert found is not None
    assert [run["key"] for run in found["runs"]] == ["a"]
    assert [one["rank"] for one in found["runs"][0]["profiles"]] == list(range(8))
    assert catalogue(source, {}, found["digest"]) is None
    del source.data["a"]["profiles"]["s", 7]
    assert catalogue(source, {}, found["digest"]) is not None


def test_runs_without_any_are_told_of_others() -> None:
    source = profiled("other", 2)
    found = catalogue(source, {"run": ["bare"]})
    assert found is not None
    assert (found["runs"], found["elsewhere"]) == ([], [{"key": "other", "name": "other"}])


def test_a_great_many_are_cut_and_counted() -> None:
    source = profiled("a", MOST_PROFILES + 5)
    found = catalogue(source, {})
    assert found is not None
    assert (len(found["runs"][0]["profiles"]), found["runs"][0]["total"]) == (MOST_PROFILES, MOST_PROFILES + 5)
    assert len(found["runs"][0]["profiles"][0]["files"]) <= MOST_FILES


def test_a_choice() -> None:
    assert read_choice(None) is None
    assert read_choice({"session": ["s"]}) is None
    asked = {"run": ["a"], "session": ["s"], "rank": ["3"], "mark": ["m"], "with_run": ["b"], "with_rank": ["1"]}
    assert read_choice(asked) == Choice("a", "s", 3, "m")
    assert read_against(asked) == Choice("b", ".", 1, "")


@pytest.mark.parametrize(
    "asked", ["a", {"run": "a"}, {"run": ["a"], "rank": ["x"]}, {"run": ["a"], "rank": ["-2"]}, {"run": [3]}]
)
def test_what_is_no_choice_is_refused(asked: Any) -> None:
    with pytest.raises(BadInput):
        read_choice(asked)


def test_how_far_the_reading_is() -> None:
    source = profiled("a", 2)
    answers = source.data["a"]["profiles"]["s", 0]
    one, other = Choice("a", "s", 0, "m"), Choice("a", "s", 1, "m")
    frames = ("operators", "steps")
    told = reading(source, one, None, frames)
    assert (told["state"], told["wanted"]) == ("missing", ["operators.csv", "steps.csv"])
    answers["operators"] = ProfileFrame("reading", done=3, total=9)
    told = reading(source, one, None, frames)
    assert (told["state"], told["name"], told["done"], told["total"]) == ("reading", "operators", 3, 9)
    problems = tuple(Problem("/a.csv", 0, 0, "bad_table", f"Line {line}") for line in range(MOST_PROBLEMS + 3))
    answers["operators"] = ProfileFrame("ready", OPERATORS.empty(), problems=problems)
    told = reading(source, one, None, frames)
    assert (told["state"], told["frames"], len(told["problems"]), told["more"]) == ("ready", ["operators"], MOST_PROBLEMS, 3)
    told = reading(source, one, other, frames)
    assert (told["state"], told["which"]) == ("missing", "with")
