"""What rules judged on the curves of a card, as the card shows it."""

from __future__ import annotations

from typing import Any

import pytest

from layouts.curves.scalars.judging import MOST, judged
from layouts.kit.i18n import CATALOGUE
from layouts.kit.state import BadInput
from parsers.analysis.curves.insights import RULES
from parsers.analysis.curves.insights.judging import REASONS
from tests.sources import MemorySource, series


@pytest.fixture
def source() -> MemorySource:
    plain = series(400)
    value = plain.value.copy()
    value[200] += 5
    return MemorySource({"a": {"scalar": {"loss": plain._replace(value=value)}}, "b": {"scalar": {"loss": series(20)}}})


def _rules(answer: Any, place: int) -> dict[str, Any]:
    return {one["kind"]: one for one in answer["curves"][place]["rules"]}


def test_each_curve_has_a_state_for_each_rule(source: MemorySource) -> None:
    answer = judged(source, {"tag": ["loss"], "run": []})
    assert answer is not None
    assert [one["run"] for one in answer["curves"]] == ["a", "b"]
    assert all(list(_rules(answer, place)) == list(RULES) for place in (0, 1))
    first, second = _rules(answer, 0), _rules(answer, 1)
    assert first["spike"]["state"] == "found"
    assert first["spike"]["score"] > 1
    assert first["shift"] == {"kind": "shift", "state": "nothing found", "score": 0.0, "reason": ("", "")}
    assert second["shift"]["state"] == "not judged"
    assert second["shift"]["reason"] == ("20 points of at least 60", "现有 20 个数据点，至少需要 60 个")
    assert second["overfitting"]["state"] == "not recorded"


def test_every_reason_and_state_has_words_in_both_languages() -> None:
    assert all(all(CATALOGUE[f"insights.reason.{reason}"]) for reason in REASONS)
    assert all(all(CATALOGUE[f"insights.state.{state}"]) for state in ("found", "nothing_found", "not_judged", "not_recorded"))


def test_of_many_curves_the_first_are_told_and_the_others_counted() -> None:
    source = MemorySource({str(number): {"scalar": {"loss": series(20)}} for number in range(MOST + 3)})
    answer = judged(source, {"tag": ["loss", "nowhere"], "run": [str(number) for number in range(MOST + 3)]})
    assert answer is not None
    assert (len(answer["curves"]), answer["more"]) == (MOST, 3)


def test_only_chosen_curves_are_judged(source: MemorySource) -> None:
    answer = judged(source, {"tag": ["loss"], "run": ["b"]})
    assert answer is not None
    assert [one["run"] for one in answer["curves"]] == ["b"]
    assert judged(source, None) is None
    assert judged(source, {"tag": ["nowhere"]}) == {"curves": [], "more": 0}


@pytest.mark.parametrize("ask", [{"tag": "loss"}, {"tag": [1]}, []])
def test_a_bad_ask_is_refused(source: MemorySource, ask: Any) -> None:
    with pytest.raises(BadInput):
        judged(source, ask)
