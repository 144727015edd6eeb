"""Advice as cards and as a file."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from layouts import PAGES
from layouts.jobs.advice.drawing import UNITS, drawn
from layouts.jobs.advice.page import advice_for, as_csv, thresholds_of
from layouts.kit.i18n import CATALOGUE
from layouts.kit.state import BadInput
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import Sources
from parsers import open_run
from parsers.analysis.jobs.advice import FRAMES, THRESHOLDS, Advice, Review, review
from tests.pages import page_named
from tests.sources import MemorySource

PAGE = page_named("advice")

DATA = Path(os.environ.get("MINDSCOPE_TEST_DATA", "/nowhere"))
ROWS = pd.DataFrame({
    "type": ["<b>Map</b>"], "queue_use": [0.25], "interval_ns": [1.5e6], "workers": [4], "free_ns": [math.nan], "op_id": [-1]
})


def advice(rule: str, subject: tuple[str, ...] = (), cost: float = 2e6) -> Advice:
    return Advice(rule, 0.9, 0.5, cost, ROWS, "preparation", subject)


def reviewed(*found: Advice) -> Review:
    return Review(found, (), {})


def test_every_rule_has_its_words_and_a_unit() -> None:
    for rule in THRESHOLDS:
        assert {f"advice.{rule}.title", f"advice.{rule}.rule"} <= CATALOGUE.keys()
        assert rule in UNITS
    found = [advice("interval"), advice("idle"), advice("empty", ("pipeline",)), advice("cpu", cost=math.nan),
             advice("queue_use", ("BatchOp", "MapOp", "GeneratorOp", "TFReader")), advice("ai_cpu", ("Unique",))]  # fmt: skip
    text = json.dumps(drawn(reviewed(*found), THRESHOLDS, ProfileChoice("r", ".", 0)), default=lambda one: one.to_plotly_json())
    for word in ("2.00 ms of a step", "cost unknown", "Batch: raise", "Map: raise", "Generator: raise", "Reader: raise",
                 "25.0 %", "1.50 ms", "run=r&of=r&session=.&rank=0"):  # fmt: skip
        assert word in text
    assert "Checked and fine" not in text
    assert "Not checked" not in text
    assert "Queue use" in text
    assert "Free" not in text  # nothing is known of it
    assert "Number" not in text


@pytest.mark.parametrize(("alone", "adds", "said", "not_said"), [
    (36.8e6, 84.9e6, ("at most 36.8 ms of a step", "at most 84.9 ms more once", "hide a part of it"), "cover a part"),
    (160e6, 104e6, ("at most 160 ms of a step", "at most 104 ms more once", "cover a part of that"), "hide a part"),
    (36.8e6, 36.9e6, ("at most 36.8 ms of a step",), "more once"),
])  # fmt: skip
def test_what_a_cause_saves_alone_and_after_others_is_told_apart(
    alone: float, adds: float, said: tuple[str, ...], not_said: str
) -> None:
    one = Advice("idle", 0.9, 0.5, adds, ROWS, "steps", alone_ns=alone, most_ns=alone, bound="at most")
    text = json.dumps(drawn(reviewed(one), THRESHOLDS, None), default=lambda part: part.to_plotly_json())
    for words in said:
        assert words in text
    assert not_said not in text


def test_links_lead_to_pages_that_are_there() -> None:
    for page in ("steps", "preparation", "operators"):
        one = Advice("idle", 0.9, 0.5, 1.0, ROWS, page)
        found = drawn(reviewed(one), THRESHOLDS, ProfileChoice("r", ".", 0))
        text = json.dumps(found, default=lambda part: part.to_plotly_json())
        path, meaning = re.findall(r'"data-page": "([^"]*)"', text)
        assert [known.name for known in PAGES if known.path == path] == [page]
        assert meaning == "guides"
        assert "symptom=device_gaps" in text


def test_one_slow_operation_and_several_are_told_apart() -> None:
    def said(rows: pd.DataFrame) -> str:
        one = Advice("queue_use", 0.2, 0.8, math.nan, rows, "preparation", ("Map",))
        return json.dumps(drawn(reviewed(one), THRESHOLDS, None), default=lambda part: part.to_plotly_json())

    assert "Only 20.0 % of the queue after Map is used" in said(ROWS)
    assert "The queues after Map are hardly used (the emptiest: 20.0 %)" in said(pd.concat([ROWS, ROWS]))


@pytest.mark.skipif(not DATA.is_dir(), reason="MINDSCOPE_TEST_DATA names no directory of real runs")
def test_advice_for_real_profiles_is_drawn() -> None:
    expected = {
        "mindinsight_legacy": {"interval", "queue_use"},
        "profiler_new/torch_npu_text_level2": {"idle", "communication", "synchronising"},
    }
    for name, rules in expected.items():
        profile = next(iter(open_run(DATA / name).profile.values()))
        result = review({frame: profile.frame(frame) for frame in FRAMES})
        found = result.found
        assert {one.rule for one in found} == rules
        text = json.dumps(drawn(result, THRESHOLDS, None), default=lambda part: part.to_plotly_json())
        assert text.count("Evidence (") == len(found)


def test_rules_that_found_nothing_are_told_from_those_without_data() -> None:
    fine, files = tuple(THRESHOLDS)[:2], ("step_trace_time.csv", "analysis.db")
    result = Review((), fine, dict.fromkeys(tuple(THRESHOLDS)[2:], files))
    text = json.dumps(drawn(result, THRESHOLDS, None), default=lambda one: one.to_plotly_json())
    assert f"2 of {len(THRESHOLDS)} rules were checked and found nothing to change." in text
    assert text.count('"data-rule"') == 2
    assert text.index("Checked and fine") < text.index("Not checked")
    assert text.count("no data in step_trace_time.csv or analysis.db") == len(THRESHOLDS) - 2
    nothing = Review((), (), dict.fromkeys(THRESHOLDS, files))
    text = json.dumps(drawn(nothing, THRESHOLDS, None), default=lambda one: one.to_plotly_json())
    assert "No rule could be checked" in text
    assert "nothing to change" not in text


def test_a_call_stack_is_shown_by_its_first_own_line() -> None:
    stack = "/x/site-packages/torch/_tensor.py(9): item;\n/home/me/main.py(485): train;\n<string>(1): <module>"
    rows = pd.DataFrame({"name": ["aten::item"], "self_ns": [1e6], "stack": [stack]})
    one = Advice("synchronising", 0.6, 0.05, 1e6, rows, "operators", ("aten::item",))
    text = json.dumps(drawn(reviewed(one), THRESHOLDS, None), default=lambda part: part.to_plotly_json())
    assert '"children": "/home/me/main.py(485): train"' in text
    assert "site-packages/torch/_tensor.py(9): item" in text
    assert "Call item()" in text


def test_the_hint_for_communication_is_about_its_largest_part() -> None:
    for part in ("transit", "wait", "idle"):
        parts = {"all": 3e6, "transit": 1e6, "wait": 1e6, "idle": 1e6, part: 2e6}
        one = Advice("communication", 0.6, 0.1, 1e6, ROWS, "steps", parts_ns=parts)
        text = json.dumps(drawn(reviewed(one), THRESHOLDS, None), default=lambda each: each.to_plotly_json())
        assert CATALOGUE[f"advice.do.communication_{part}"][0] in text
        assert "Communication takes 3" in text


def test_thresholds_are_read_in_their_units() -> None:
    assert thresholds_of({"interval": ["2"], "cpu": ["90"]}) == {"interval": 2e6, "cpu": pytest.approx(0.9)}
    assert thresholds_of({}) == {}
    for bad in ("x", "-1", "inf", "1e99"):
        with pytest.raises(BadInput):
            thresholds_of({"idle": [bad]})


def test_the_file_has_a_line_for_each_row_of_evidence() -> None:
    rows = list(csv.reader(io.StringIO(as_csv([advice("idle"), advice("cpu", cost=math.nan)]))))
    assert rows[0] == ["rule", "value", "threshold", "cost_ns", "alone_ns", "evidence"]
    assert [row[:5] for row in rows[1:]] == [["idle", "0.9", "0.5", "2000000.0", ""], ["cpu", "0.9", "0.5", "", ""]]
    assert "type=<b>Map</b>" in rows[1][5]


def test_without_a_profile_there_is_nothing_to_say() -> None:
    source: Sources = MemorySource()
    assert advice_for(source, {}) is None
    asked: Any = {"run": ["a"], "session": ["."], "rank": ["0"]}
    found = advice_for(source, asked)
    assert found is not None
    assert found[0].found == ()
    assert PAGE.needs[0] == "profile.steps"


def test_rules_not_checked_on_a_trace_of_torch_name_no_files_of_mindspore() -> None:
    unchecked = {
        "slow_link": ("communication_matrix.json",), "leak": ("memory_record.csv",), "alignment": ("communication.json",),
    }  # fmt: skip
    review = Review((), ("communication", "ai_cpu"), unchecked)
    ask = ProfileChoice("r", ".", 0)
    text = json.dumps(drawn(review, THRESHOLDS, ask, torch=True), default=lambda one: one.to_plotly_json())
    assert "the trace of torch.profiler does not have it" in text
    assert "set profile_memory=True" in text
    assert "Communication is not overlapped" in text
    assert not any(word in text for word in (".json", ".csv", "AI CPU", "Data is not aligned"))
    other = json.dumps(drawn(review, THRESHOLDS, ask), default=lambda one: one.to_plotly_json())
    assert all(word in other for word in ("communication_matrix.json", "memory_record.csv", "AI CPU", "Data is not aligned"))


def test_kernels_of_evidence_have_labels_with_whole_names_on_hover() -> None:
    name = "void at::native::f<4, at::native::Add<int> >(int, int)"
    rows = pd.DataFrame({"name": [name, "gemm"], "count": [3, 4]})
    one = Advice("ai_cpu", 0.5, 0.05, 1e6, rows, "operators")
    text = json.dumps(drawn(reviewed(one), THRESHOLDS, None), default=lambda part: part.to_plotly_json())
    assert json.dumps({"children": "f<4, Add<int>>", "title": name})[1:-1] in text
    assert "gemm" in text


@pytest.mark.parametrize(("rule", "variant", "told", "page"), [
    ("short_kernels", "", {"kernels": "900", "kernel_ns": 5e3}, "operators"),
    ("float32", "tf32", {"chip": "NVIDIA A100", "sum_ns": 1e6}, "operators"),
    ("float32", "half", {"chip": "Tesla V100", "sum_ns": 1e6}, "operators"),
    ("shapes", "", {"steps": "5", "of_steps": "6", "operators": "2"}, "shapes"),
])  # fmt: skip
def test_rules_about_traces_of_torch_are_drawn(rule: str, variant: str, told: dict[str, Any], page: str) -> None:
    rows = pd.DataFrame({"name": ["aten::mm"], "shapes": [7], "count": [9], "mean_ns": [1e3], "total_ns": [9e3]})
    one = Advice(rule, 0.4, 0.2, math.nan, rows, page, ("aten::mm",), variant=variant, told=told)
    cards = drawn(Review((one,), (), {}), THRESHOLDS, ProfileChoice("r", "s", 0))
    text = json.dumps(cards, default=lambda part: part.to_plotly_json(), ensure_ascii=False)
    hint = CATALOGUE[f"advice.do.{rule}{'_' * bool(variant)}{variant}"][0]
    assert ("aten::mm" if rule == "shapes" else "40.0 %") in text
    assert json.dumps(hint)[1:-1] in text
    assert CATALOGUE[f"advice.open.{page}"][0] in text
