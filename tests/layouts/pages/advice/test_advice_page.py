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
from layouts.i18n import CATALOGUE
from layouts.pages.advice.drawing import UNITS, drawn
from layouts.pages.advice.page import FRAMES, PAGE, advice_for, as_csv, thresholds_of
from layouts.profiling.choice import Choice
from layouts.sources import FrameSource
from layouts.state import BadInput
from parsers import open_run
from parsers.analysis.advice import THRESHOLDS, Advice, advise
from tests.sources import MemorySource

DATA = Path(os.environ.get("MINDSCOPE_TEST_DATA", "/nowhere"))
ROWS = pd.DataFrame({
    "type": ["<b>Map</b>"], "queue_use": [0.25], "interval_ns": [1.5e6], "workers": [4], "free_ns": [math.nan], "op_id": [-1]
})


def advice(rule: str, subject: tuple[str, ...] = (), cost: float = 2e6) -> Advice:
    return Advice(rule, 0.9, 0.5, cost, ROWS, "preparation", subject)


def test_every_rule_has_its_words_and_a_unit() -> None:
    for rule in THRESHOLDS:
        assert {f"advice.{rule}.title", f"advice.{rule}.rule"} <= CATALOGUE.keys()
        assert rule in UNITS
    found = [advice("interval"), advice("idle"), advice("empty", ("pipeline",)), advice("cpu", cost=math.nan),
             advice("queue_use", ("BatchOp", "MapOp", "GeneratorOp", "TFReader")), advice("ai_cpu", ("Unique",))]  # fmt: skip
    text = json.dumps(drawn(found, THRESHOLDS, Choice("r", ".", 0)), default=lambda one: one.to_plotly_json())
    for word in ("2 ms of a step", "cost not told", "Batch: raise", "Map: raise", "Generator: raise", "Reader: raise", "25.0%",
                 "1.5 ms", "run=r&of=r&session=.&rank=0"):  # fmt: skip
        assert word in text.replace("2.00 ms", "2 ms").replace("1.50 ms", "1.5 ms")
    assert "Rules that found nothing" not in text
    assert "Queue use" in text
    assert "Free" not in text  # nothing is known of it
    assert "Number" not in text


def test_links_lead_to_pages_that_are_there() -> None:
    for page in ("steps", "preparation", "operators"):
        one = Advice("idle", 0.9, 0.5, 1.0, ROWS, page)
        text = json.dumps(drawn([one], THRESHOLDS, Choice("r", ".", 0)), default=lambda part: part.to_plotly_json())
        (path,) = re.findall(r'"data-page": "([^"]*)"', text)
        assert [known.name for known in PAGES if known.path == path] == [page]


def test_one_slow_operation_and_several_are_told_apart() -> None:
    def said(rows: pd.DataFrame) -> str:
        one = Advice("queue_use", 0.2, 0.8, math.nan, rows, "preparation", ("Map",))
        return json.dumps(drawn([one], THRESHOLDS, None), default=lambda part: part.to_plotly_json())

    assert "The queue behind Map is used by only 20%" in said(ROWS)
    assert "The queues behind Map are hardly used, the emptiest by 20%" in said(pd.concat([ROWS, ROWS]))


@pytest.mark.skipif(not DATA.is_dir(), reason="MINDSCOPE_TEST_DATA names no directory of real runs")
def test_advice_for_real_profiles_is_drawn() -> None:
    expected = {"mindinsight_legacy": {"interval", "empty", "queue_use", "cpu"}, "profiler_new/torch_npu_text_level2": {"idle"}}
    for name, rules in expected.items():
        profile = next(iter(open_run(DATA / name).profile.values()))
        found = advise({frame: profile.frame(frame) for frame in FRAMES})
        assert {one.rule for one in found} == rules
        text = json.dumps(drawn(found, THRESHOLDS, None), default=lambda part: part.to_plotly_json())
        assert text.count("Evidence (") == len(found)


def test_no_advice_says_so_and_lists_the_rules() -> None:
    text = json.dumps(drawn([], THRESHOLDS, None), default=lambda one: one.to_plotly_json())
    assert "No rule found anything" in text
    assert text.count('"data-rule"') == len(THRESHOLDS)


def test_thresholds_are_read_in_their_units() -> None:
    assert thresholds_of({"interval": ["2"], "cpu": ["90"]}) == {"interval": 2e6, "cpu": pytest.approx(0.9)}
    assert thresholds_of({}) == {}
    for bad in ("x", "-1", "inf", "1e99"):
        with pytest.raises(BadInput):
            thresholds_of({"idle": [bad]})


def test_the_file_has_a_line_for_each_row_of_evidence() -> None:
    rows = list(csv.reader(io.StringIO(as_csv([advice("idle"), advice("cpu", cost=math.nan)]))))
    assert rows[0] == ["rule", "value", "threshold", "cost_ns", "evidence"]
    assert [row[:4] for row in rows[1:]] == [["idle", "0.9", "0.5", "2000000.0"], ["cpu", "0.9", "0.5", ""]]
    assert "type=<b>Map</b>" in rows[1][4]


def test_without_a_profile_there_is_nothing_to_say() -> None:
    source: FrameSource = MemorySource()
    assert advice_for(source, {}) is None
    asked: Any = {"run": ["a"], "session": ["."], "rank": ["0"]}
    found = advice_for(source, asked)
    assert found is not None
    assert found[0] == []
    assert PAGE.needs[0] == "profile.steps"
