"""The start page: what it shows of no run, an empty one, one and three, and of data of every kind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from layouts.kit.recording import RECORDINGS
from layouts.kit.state import BadInput
from layouts.runs.questions import Destination
from layouts.runs.start.page import shown
from tests.sources import MemorySource, row


def parts(source: MemorySource, state: Any = None) -> dict[str, Any]:
    return shown(source, state)["parts"]


def every(content: list[Any], tag: str) -> list[Any]:
    """All elements of a tag in plain lists."""
    found = []
    for one in content:
        if isinstance(one, list):
            found += [one] if one[0] == tag else []
            found += every(one[2], tag)
    return found


def english(content: Any) -> str:
    """The English texts of plain lists."""
    if isinstance(content, str):
        return content
    return " ".join(english(one) for one in (content[2] if _is_element(content) else content) if not _is_chinese(one)).strip()


def _is_element(content: list[Any]) -> bool:
    return len(content) == 3 and isinstance(content[0], str) and isinstance(content[1], dict)


def _is_chinese(content: Any) -> bool:
    return isinstance(content, list) and _is_element(content) and content[1].get("class") == "zh"


def test_before_the_first_scan_nothing_is_claimed() -> None:
    source = MemorySource({})
    source.read_at = None
    assert parts(source) == {}


def test_no_run() -> None:
    found = parts(MemorySource({}))
    assert english(found["found"]).startswith("No runs here yet.")
    assert found["answers"] == []
    choices = every(found["missing"], "button")
    assert [one[1]["data-record"] for one in choices if "data-record" in one[1]] == [
        "scalar", "lineage", "dump", "profile", "communication", "memory", "explain",
    ]  # fmt: skip
    shown_codes = [one[2][0][2][0] for one in every(found["missing"], "pre")]
    assert shown_codes == list(RECORDINGS["scalar"].values())


def test_an_empty_run_is_counted_and_answers_nothing() -> None:
    found = parts(MemorySource(rows=[row("empty", tags={}, main_tag="", main_value=None)]))
    assert english(found["found"]) == "1 run"
    assert found["answers"] == []


def test_runs_that_are_being_written_are_announced() -> None:
    source = MemorySource(rows=[row("a")])
    source.coming = 2
    assert "2 more runs are being written: the numbers will change" in english(parts(source)["found"])
    source.coming = 0
    assert "written" not in english(parts(source)["found"])


def test_one_run() -> None:
    source = MemorySource(rows=[row("a&b <c>")])
    (link,) = every(parts(source)["answers"], "a")
    assert link[1]["href"] == "overview?run=a%26b+%3Cc%3E"
    assert (link[1]["data-page"], link[1]["data-query"]) == ("overview", "run=a%26b+%3Cc%3E")
    assert "a&b <c>" in english(link)


def test_a_run_has_the_colour_of_the_page_that_a_link_opens() -> None:
    source = MemorySource(rows=[row(f"r{number}", tags={"scalar": 1}) for number in range(8)] + [row("x", tags={"dump": 1})])
    (link,) = [one for one in every(parts(source)["answers"], "a") if one[1]["data-key"] == "broke"]
    (dot,) = [one for one in every([link], "span") if one[1].get("class") == "ms-dot"]
    assert source.runs.colours(("x",))["x"] in json.dumps(dot)


def test_three_runs_and_one_without_a_number() -> None:
    source = MemorySource(rows=[row("a"), row("b", main_value=float("nan")), row("c")])
    links = every(parts(source)["answers"], "a")
    assert [one[1]["data-page"] for one in links] == ["overview", "", "scalars"]
    assert links[1][1]["href"] == "."
    assert links[1][1]["data-query"] == "", "the list has all runs, whatever is chosen"
    assert links[2][1]["data-query"] == "run=b&tag=loss"


def test_what_is_shown_and_what_is_missing_are_all_questions() -> None:
    tags = {"dump": 1, "explain": 1}
    source = MemorySource(rows=[row("x", tags=tags)])
    found = parts(source, {"record": ["memory"]})
    answered = [one[1]["data-key"] for one in every(found["answers"], "a")]
    choices = [one[1] for one in every(found["missing"], "button") if "data-record" in one[1]]
    assert answered == ["broke", "looks"]
    assert [one["data-record"] for one in choices] == ["scalar", "lineage", "profile", "communication", "memory"]
    assert [one["data-record"] for one in choices if one["aria-pressed"] == "true"] == ["memory"]
    assert "profile_memory=True" in json.dumps(found["missing"])


def test_runs_with_results_but_without_settings_are_told_how_to_record_them() -> None:
    found = parts(MemorySource(rows=[row("a"), row("b")]), {"record": ["lineage"]})
    assert "" in [one[1]["data-page"] for one in every(found["answers"], "a")]  # the list of runs answers which is best
    choices = {one[1]["data-record"]: one for one in every(found["missing"], "button") if "data-record" in one[1]}
    assert "Which settings made the difference?" in english(choices["lineage"])
    assert choices["lineage"][1]["aria-pressed"] == "true"
    codes = [one[2][0][2][0] for one in every(found["missing"], "pre")]
    assert codes == list(RECORDINGS["lineage"].values())
    assert any('settings={"lr"' in code for code in codes)


def test_a_kind_that_is_not_missing_shows_the_first_that_is() -> None:
    source = MemorySource(rows=[row("x", tags={"dump": 1})])
    choices = [one[1] for one in every(parts(source, {"record": ["dump"]})["missing"], "button") if "data-record" in one[1]]
    assert [one["data-record"] for one in choices if one["aria-pressed"] == "true"] == ["scalar"]
    with pytest.raises(BadInput):
        parts(source, {"record": ["nonsense"]})


def test_a_preferred_place_is_linked() -> None:
    source = MemorySource(rows=[row("x", tags={"dump": 1})])
    source.places = {"broke": Destination("first_cause", {"of": ["x"], "step": ["7"]})}
    (link,) = every(parts(source)["answers"], "a")
    assert link[1]["href"] == "first_cause?of=x&step=7"


def test_reading_and_damage_are_said() -> None:
    source = MemorySource(rows=[row("a"), row("b", state="loading")])
    assert "still reading 1 of 2 runs: the numbers may change" in english(parts(source)["found"])


def test_the_digest_changes_with_what_is_shown() -> None:
    source = MemorySource(rows=[row("a")])
    before = shown(source, {})["digest"]
    assert shown(source, {})["digest"] == before
    source.rows = [row("a"), row("b")]
    assert shown(source, {})["digest"] != before
