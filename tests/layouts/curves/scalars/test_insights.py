"""Insights as the scalars page and the overview tell them."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from layouts.curves.scalars.insights import marks
from layouts.kit.i18n import CATALOGUE
from layouts.kit.state import BadInput
from layouts.runs.overview import insights as listed
from parsers.analysis.curves.insights import RULES
from tests.sources import MemorySource, series


@pytest.fixture
def source():
    plain = series(400)
    value = plain.value.copy()
    value[200] += 5
    value[300:] = float("nan")
    return MemorySource({"a": {"scalar": {"loss": plain._replace(value=value)}}, "b": {"scalar": {"loss": series(400)}}})


def test_every_kind_has_a_name_a_sentence_and_a_unit_in_both_languages():
    for kind in RULES:
        for key in (f"insights.{kind}", f"insights.kind.{kind}", f"insights.unit.{kind}"):
            assert all(CATALOGUE[key])


def test_marks_say_where_and_why_the_severest_first(source):
    answer = marks(source, {"tag": ["loss"], "run": []})
    assert (answer["left"], answer["more"]) == (0, 0)
    told = [(mark["run"], mark["kind"], mark["step"]) for mark in answer["marks"]]
    assert told == [("a", "non_finite", 300), ("a", "spike", 200)]
    first, spike = answer["marks"]
    assert first["text"][0] == "loss is NaN at step 300; 100 of its values are not finite, the last at step 399."
    assert "步骤 300" in first["text"][1]
    assert spike["view"] == "160,240,,"
    assert spike["time"] == 1_699_990_200.0
    assert spike["score"] > 1
    assert spike["reason"][0].startswith("Score ")


def test_what_the_curves_do_is_said_once_all_are_analysed(source, monkeypatch):
    answer = marks(source, {"tag": ["loss", "nowhere"], "run": []})
    said = {one["run"]: one for one in answer["digests"]}
    assert set(said) == {"a", "b"}
    assert said["a"]["tag"] == "loss"
    assert "first NaN at 300, 100 not finite" in said["a"]["text"][0]
    assert "spike to" in said["a"]["text"][0]
    assert "步骤 300 首次出现 NaN" in said["a"]["text"][1]
    assert "nothing stands out" in said["b"]["text"][0]
    monkeypatch.setattr(source.curves, "insights", lambda *_: ((), 1))
    assert marks(source, {"tag": ["loss"], "run": []})["digests"] == []


def test_of_many_runs_the_first_are_said():
    source = MemorySource({str(number): {"scalar": {"loss": series(20), "acc": series(20)}} for number in range(9)})
    answer = marks(source, {"tag": ["loss", "acc"], "run": []})
    assert [one["tag"] for one in answer["digests"]] == ["loss"] * 5 + ["acc"] * 5


@pytest.mark.parametrize("ask", [None, {"tag": []}, {"tag": ["nowhere"]}, {"tag": ["loss"], "run": ["nobody"]}])
def test_what_is_not_there_has_no_marks(source, ask):
    assert marks(source, ask)["marks"] == []


@pytest.mark.parametrize("ask", [{"tag": "loss"}, {"tag": [1]}, [], {"tag": [str(n) for n in range(61)]}])
def test_a_bad_ask_is_refused(source, ask):
    with pytest.raises(BadInput):
        marks(source, ask)


@pytest.mark.parametrize(("values", "judged"), [(3, False), (7, False), (8, True)])
def test_of_a_few_values_nothing_is_judged(values, judged):
    """Three iterations judge nothing: the overview must not say that nothing stands out."""
    _, state = listed.entries(MemorySource({"a": {"scalar": {"loss": series(values)}}}), {"run": "a", "version": 1})
    assert state["judged"] is judged


def test_the_overview_lists_them_with_links_to_their_place(source):
    rows, state = listed.entries(source, {"run": "a", "version": 1})
    assert state == {"run": "a", "left": 0, "scalars": 1, "judged": True, "fewest": 8, "version": 1}
    anchors = [item.children[0] for item in rows]
    meanings = [parse_qs(item.children[1].href.partition("?")[2]) for item in rows if len(item.children) > 1]
    assert meanings
    assert all(one["run"] == ["a"] and one["symptom"] for one in meanings), "each leads to what it means"
    assert parse_qs(anchors[1].href.partition("?")[2]) == {"run": ["a"], "tag": ["loss"], "zoom": ["160,240,,:loss"]}
    assert listed.entries(source, {"run": "", "version": 0})[0] == []
    for bad in ([], {"run": 1}):
        with pytest.raises(BadInput):
            listed.entries(source, bad)
