"""The guides page: of no run, an empty one, one with a fault, and three; ticks; the text to copy; no step is a dead end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from layouts.kit.state import BadInput
from layouts.runs.checks import Checks, StepCheck
from layouts.runs.guides.page import MOST_JUDGED, shown
from layouts.runs.symptoms.answering import SymptomAnswers
from layouts.runs.symptoms.registry import SYMPTOMS
from tests.amounts import some_or_every
from tests.sources import MemorySource
from tests.writers.symptomatic_runs import curve, falling, triples

NAN = triples()["nan"].fault.scalars


def parts(source: MemorySource, state: dict[str, list[str]] | None = None, turn: Any = None) -> Any:
    """The parts of the page once nothing is being read."""
    answers = SymptomAnswers(source)
    found = shown(source, answers, state or {}, turn)
    while found["again"]:
        found = shown(source, answers, state or {}, turn)
    return found


def text_of(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False)


def steps_of(found: Any) -> list[dict[str, str]]:
    """The attributes of the steps that are shown."""
    listed = next(one for one in found["parts"]["steps"] if one[0] == "ol")[2]
    return [one[1] for one in listed]


def all_of(content: Any, attribute: str) -> list[str]:
    if isinstance(content, str):
        return []
    if content and isinstance(content[0], str) and len(content) == 3 and isinstance(content[1], dict):
        own = [content[1][attribute]] if attribute in content[1] else []
        return own + [found for child in content[2] for found in all_of(child, attribute)]
    return [found for child in content for found in all_of(child, attribute)]


def test_without_a_run_there_are_symptoms_and_nothing_is_claimed() -> None:
    found = parts(MemorySource({}))
    assert (found["run"], found["parts"]["steps"], found["text"]) == ("", [], ["", ""])
    assert set(all_of(found["parts"]["list"], "data-symptom")) == set(SYMPTOMS)
    assert all_of(found["parts"]["list"], "data-group") == ["accuracy", "performance"]


def test_an_empty_run_has_nothing_recorded_and_code_that_records_it() -> None:
    found = parts(MemorySource({"a": {}}))
    states = {one["data-state"] for one in steps_of(found)}
    assert states == {"not-recorded", "not-in-any-file"}
    assert "found" not in all_of(found["parts"]["list"], "data-group")
    assert len(all_of(found["parts"]["steps"], "data-record")) >= 7


@pytest.mark.parametrize("symptom", SYMPTOMS)
@pytest.mark.parametrize("data", [{}, {"scalar": dict(NAN)}])
def test_no_step_is_a_dead_end(symptom: str, data: dict[str, Any]) -> None:
    """Each has a link, the code that records what is missing, a check box or another run to choose."""
    found = parts(MemorySource({"a": data}), {"symptom": [symptom]})
    listed = next(one for one in found["parts"]["steps"] if one[0] == "ol")[2]
    assert len(listed) == len(SYMPTOMS[symptom].steps)
    for step in listed:
        ways = [name for name in ("href", "data-record", "data-check", "data-other", "data-look") if all_of([step], name)]
        assert ways, step[1]["data-step"]


def test_what_was_found_comes_first_with_its_evidence_and_a_link() -> None:
    source = MemorySource({"fine": {"scalar": {"loss": curve(falling())}}, "bad": {"scalar": dict(NAN)}})
    found = parts(source, {"of": ["bad"]})
    groups = all_of(found["parts"]["list"], "data-group")
    assert groups[0] == "found"
    assert all_of(found["parts"]["list"], "data-symptom")[0] == "not_a_number" == found["symptom"]
    assert "loss is NaN at step 300" in text_of(found["parts"]["list"][0])
    first = steps_of(found)[0]
    assert (first["data-step"], first["data-state"]) == ("not_a_number.first", "found")
    (link,) = [one for one in all_of(found["parts"]["steps"], "data-query") if "zoom" in one][:1]
    assert link.startswith("run=bad&tag=loss&zoom=")
    assert parts(source, {"of": ["fine"]})["parts"]["steps"] != found["parts"]["steps"]
    assert [one for one, _ in found["runs"]] == ["fine", "bad"]


def test_the_second_run_is_compared_with() -> None:
    loss = {"loss": curve(falling())}
    data = {name: {"settings": {"learning_rate": rate}, "scalar": loss} for name, rate in (("a", 0.1), ("b", 0.2))}
    source = MemorySource({**data, "c": {}})
    alone = parts(source, {"symptom": ["worse_than_reference"]})  # of three runs none is the other one
    assert (alone["other"], all_of(alone["parts"]["steps"], "data-other") != []) == ("", True)
    both = parts(source, {"symptom": ["worse_than_reference"], "with": ["b"]})
    assert (both["run"], both["other"]) == ("a", "b")
    assert [one["data-state"] for one in steps_of(both)[:2]] == ["nothing-found", "found"]
    assert "learning_rate: 0.1, in the other run 0.2" in text_of(both["parts"]["steps"])
    assert "one=a&other=b" in all_of(both["parts"]["steps"], "data-query")[0]


def test_of_two_runs_the_other_one_is_compared_with_unless_somebody_chose() -> None:
    rising = {run: {"scalar": {"accuracy": curve([0.1, 0.4, end])}} for run, end in (("a", 0.8), ("b", 0.9))}
    source = MemorySource(rising)
    found = parts(source, {"of": ["a"]})
    assert (found["other"], found["symptom"]) == ("b", "worse_than_reference")
    assert "accuracy ends at 0.8000, 0.9000 in the other run" in text_of(found["parts"]["list"][0])
    assert parts(source, {"of": ["b"]})["symptom"] != "worse_than_reference"
    assert parts(source, {"of": ["a"], "with": [""]})["other"] == ""


def test_the_run_with_the_severest_symptom_is_opened_unless_one_was_chosen() -> None:
    fine, swinging = {"loss": curve(falling())}, triples()["swinging"].fault.scalars
    source = MemorySource({"fine": {"scalar": fine}, "swinging": {"scalar": dict(swinging)}, "bad": {"scalar": dict(NAN)}})
    found = parts(source)
    assert (found["run"], found["symptom"]) == ("bad", "not_a_number")
    assert [one for one, _ in found["runs"]] == ["fine", "swinging", "bad"]
    assert parts(source, {"run": ["fine", "swinging"]})["run"] == "swinging"
    assert parts(source, {"of": ["fine"]})["run"] == "fine"
    assert parts(MemorySource({"a": {"scalar": fine}, "b": {"scalar": fine}}))["run"] == "a"


def test_of_two_runs_the_worse_one_is_opened() -> None:
    rising = {run: {"scalar": {"accuracy": curve([0.1, 0.4, end])}} for run, end in (("better", 0.9), ("worse", 0.8))}
    found = parts(MemorySource(rising))
    assert (found["run"], found["other"], found["symptom"]) == ("worse", "better", "worse_than_reference")


def test_choosing_a_run_for_the_user_reads_its_curves_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    source = MemorySource({f"run{number:04}": {"scalar": {"loss": curve(falling())}} for number in range(100)})
    looked: set[str] = set()
    insights = source.curves.insights

    def look(run: str, tags: Any = None, seconds: float = 1.0) -> Any:
        looked.add(run)
        return insights(run, tags, seconds)

    monkeypatch.setattr(source.curves, "insights", look)
    assert parts(source)["run"] == "run0000"
    assert 1 < len(looked) <= MOST_JUDGED


@some_or_every
def test_of_many_runs_only_chosen_ones_are_looked_at(monkeypatch: pytest.MonkeyPatch, every: bool) -> None:
    loss = curve(falling())
    numbers = range(1_000) if every else (7, 8, 500)
    source = MemorySource({f"run{number:04}": {"scalar": {"loss": loss}} for number in numbers})
    looked: list[str] = []
    insights = source.curves.insights

    def look(run: str, tags: Any = None, seconds: float = 1.0) -> Any:
        looked.append(run)
        return insights(run, tags, seconds)

    monkeypatch.setattr(source.curves, "insights", look)
    found = parts(source, {"run": ["run0007", "run0500"], "of": ["run0500"]})
    assert [one for one, _ in found["runs"]] == ["run0007", "run0500"]
    assert set(looked) == {"run0500"}
    assert set(source.wanted) <= {"run0007", "run0500"}


def test_ticks_are_those_of_the_run_and_go_into_the_text() -> None:
    source = MemorySource({"a": {"scalar": dict(NAN)}})
    source.ticked["a"] = Checks({"not_a_number.labels": StepCheck(True, "all in 0 to 9")})
    found = parts(source)
    assert steps_of(found)[-1]["data-state"] == "done"
    assert all_of(found["parts"]["steps"], "data-remark") == ["all in 0 to 9"]
    english, chinese = found["text"]
    assert english.startswith("## The loss is NaN or infinite (a)\n")
    assert "Found: loss is NaN at step 300" in english
    assert f"{len(SYMPTOMS['not_a_number'].steps)}. [x] Are all labels in their range" in english
    assert "Remark: all in 0 to 9" in english
    assert "备注：all in 0 to 9" in chinese


def test_an_unknown_symptom_shows_the_usual_page() -> None:
    found = parts(MemorySource({"a": {"scalar": dict(NAN)}}), {"symptom": ["nothing"]})
    assert (found["run"], found["symptom"], found["unknown"]) == ("a", "not_a_number", "")


@pytest.mark.parametrize(("state", "name"), [
    ({"of": ["nobody"]}, "nobody"), ({"with": ["../x"]}, "../x"), ({"of": ["a"], "with": ["nobody"]}, "nobody"),
])  # fmt: skip
def test_a_run_that_nobody_has_is_said_and_no_other_one_is_shown_for_it(state: dict[str, list[str]], name: str) -> None:
    found = parts(MemorySource({"a": {"scalar": dict(NAN)}}), state)
    assert (found["run"], found["unknown"], found["parts"]["steps"]) == ("", name, [])
    assert [one for one, _ in found["runs"]] == ["a"]


def test_a_request_that_is_none_is_refused() -> None:
    source = MemorySource({"a": {}})
    with pytest.raises(BadInput):
        shown(source, SymptomAnswers(source), {"of": "a"}, None)
    with pytest.raises(BadInput):
        shown(source, SymptomAnswers(source), {}, {"act": ["burn"]})
