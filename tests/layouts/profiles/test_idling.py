"""Idle time on the overview and the advice page: words, sums, and links to gaps; and what is said where nothing is known."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs

from layouts.jobs.advice.drawing import drawn
from layouts.jobs.advice.page import advice_for
from layouts.profiles.frames import IdleTime
from layouts.profiles.idling import MOST_STEPS, idle_card
from layouts.profiles.profile_choice import ProfileChoice
from layouts.profiles.profile_overview.page import summarised
from parsers.profiler.trace import idle
from tests.layouts.profiles.steps.test_steps_page import texts_in
from tests.parsers.profiler.trace.test_idle import waiting
from tests.sources import MemorySource

CHOICE = ProfileChoice("a", ".", 0)
ASKED: dict[str, Any] = {"run": ["a"], "session": ["."], "rank": ["0"]}


def source_of(found: IdleTime) -> MemorySource:
    return MemorySource({"a": {"profiles": {(".", 0): {"trace": None}}, "idle": {(".", 0): found}}})


def ready(steps: int = 2) -> IdleTime:
    return IdleTime("ready", idle.find(waiting(steps)))


def plain(components: Any) -> str:
    return json.dumps(components, default=lambda one: one.to_plotly_json())


def links(components: Any) -> list[dict[str, list[str]]]:
    found: list[dict[str, list[str]]] = []

    def look(one: Any) -> None:
        if isinstance(one, dict):
            if one.get("data-page") == "timeline":
                found.append(parse_qs(one["data-query"]))
            for value in one.values():
                look(value)
        elif isinstance(one, list):
            for value in one:
                look(value)

    look(json.loads(plain(components)))
    return found


def test_the_overview_tells_causes_and_calls_of_a_step() -> None:
    shown = summarised(source_of(ready()), ASKED)
    text = texts_in(shown)
    assert "Stream 2 is idle for 700 µs of a step of 1.00 ms (70.0 %)." in text
    assert "main.py train(): .item()" in text
    assert "500 µs of a step" in text
    assert "Each of the 2 steps" in text
    gap = next(link for link in links(shown) if "range" in link)
    assert gap["range"] == ["200000,700000"]
    assert (gap["by"], gap["stream"], gap["of"]) == (["gaps"], ["0"], ["a"])
    low, high = map(int, gap["span"][0].split(","))
    assert low < 200_000 < 700_000 < high


def test_of_many_steps_those_with_the_most_idle_time_are_listed() -> None:
    text = texts_in(idle_card(ready(30), CHOICE))
    assert f"The {MOST_STEPS} of 30 steps with the most idle time" in text


def test_advice_links_each_call_to_its_longest_gap() -> None:
    found = ready()
    reviewed = advice_for(source_of(found), ASKED)
    assert reviewed is not None
    cards = drawn(*reviewed, CHOICE, idle=found, traced=True)
    text = texts_in(cards)
    idle = "For 50.0 % of a step a stream of the device has nothing to do because of the host, most at main.py train(): .item()"
    assert idle in text
    assert "500 µs of a step" in text
    assert [link["range"] for link in links(cards) if "range" in link] == [["200000,700000"]]


def test_what_was_not_read_is_said_not_to_be_checked() -> None:
    words = {
        "unread": "the trace has not been read", "reading": "the trace is being read",
        "none": "no stream of a device", "missing": "no data in",
    }  # fmt: skip
    for state, said in words.items():
        found = IdleTime(state)
        reviewed = advice_for(source_of(found), ASKED)
        assert reviewed is not None
        assert "gaps" in reviewed[0].unchecked
        cards = drawn(*reviewed, CHOICE, idle=found)
        assert said in plain(cards)
        assert bool(links(cards)) == (state == "unread")
    assert "Not checked" in texts_in(summarised(source_of(IdleTime("unread")), ASKED))
    assert "Why the device was idle" not in texts_in(summarised(source_of(IdleTime("missing")), ASKED))
