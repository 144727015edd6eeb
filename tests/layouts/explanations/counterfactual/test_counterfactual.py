"""The counterfactual page against the frames of real runs and of a run that is written here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts.explanations.counterfactual.figure import LEAST_HEIGHT, curve, span
from layouts.explanations.counterfactual.page import answer_rows, answer_sample
from layouts.kit.state import BadInput
from parsers import open_run
from parsers.recording import ExplanationWriter, Layer
from tests.sources import MemorySource


@pytest.fixture
def real(real_data: Path) -> MemorySource:
    names = ("summary_real", "summary_weak")
    return MemorySource({name: {"explain": open_run(str(real_data / "explain" / name)).explanations} for name in names})


@pytest.fixture
def written(tmp_path: Path) -> MemorySource:
    """Three samples: with counterfactuals of two labels, of one without boxes, and without any."""
    with ExplanationWriter(str(tmp_path), labels=["a", "b"], seconds=1_700_000_000) as writer:
        for sample in range(3):
            writer.sample(sample, np.zeros((40, 60, 3)), truth=[0], probabilities={0: 0.7, 1: 0.6})
        writer.counterfactual(0, 1, [Layer(0.6, [(0, 0, 30, 20), (30, 20, 30, 20)])], radius=4)
        writer.counterfactual(1, 0, [Layer(0.5, [])], radius=4)
    return MemorySource({"run": {"explain": open_run(str(tmp_path)).explanations}})


def ask(**more: Any) -> dict[str, list[str]]:
    return {key: [str(one) for one in ([value] if not isinstance(value, list) else value)] for key, value in more.items()}


def test_the_list_has_the_samples_of_the_frames(real: MemorySource) -> None:
    answer = answer_rows(real, ask(of="summary_real"))
    assert (answer["state"], answer["total"], answer["all"], answer["hidden"], answer["any"]) == ("ready", 6, 6, 0, True)
    frames = real.explanations.open("summary_real").explanations
    assert frames is not None
    last = frames.counterfactuals.groupby("sample")["probability"].last()
    recorded = frames.predictions.set_index("sample")["probability"]
    for sample, has_picture, label, outcome, before, after, layers in answer["rows"]:
        assert (has_picture, outcome, layers) == (True, "TP", 2)
        assert label == frames.predictions.set_index("sample")["label"][sample]
        assert (before, after) == (recorded[sample], last[sample])


def test_the_filters_of_the_bar_apply(real: MemorySource) -> None:
    answer = answer_rows(real, ask(of="summary_weak", outcome="fn", sort="confidence_up"))
    assert [row[0] for row in answer["rows"]] == [3, 7]
    one = answer_sample(real, ask(of="summary_weak", outcome="fn", sort="confidence_up", sample=3))
    assert (one["at"], one["previous"], one["next"]) == (0, None, 7)
    outside = answer_sample(real, ask(of="summary_weak", outcome="fn", sample=0))
    assert (outside["sample"]["id"], outside["at"], outside["next"]) == (0, -1, 3)


def test_one_sample_has_its_boxes_and_shares(real: MemorySource) -> None:
    answer = answer_sample(real, ask(of="summary_real", sample=0))
    assert (answer["label"], answer["layer"]) == (0, 1)
    (label,) = answer["sample"]["labels"]
    assert (label["mask"], label["drawable"], label["truth"]) == ("gaussian:4", True, True)
    boxes = [(number, boxes, share) for number, _, boxes, share in label["layers"]]
    assert boxes == [(0, "55,0,56,56", 0.25), (1, "80,28,28,28", 0.0625)]
    assert answer["figure"]["data"][0]["y"] == [label["recorded"], *(one[1] for one in label["layers"])]
    first = answer_sample(real, ask(of="summary_real"))
    assert first["sample"]["id"] == 0


def test_empty_samples_are_hidden_unless_asked_for(written: MemorySource) -> None:
    answer = answer_rows(written, ask(of="run"))
    assert ([row[0] for row in answer["rows"]], answer["hidden"]) == ([0, 1], 1)
    whole = answer_rows(written, ask(of="run", empty=1))
    assert ([row[0] for row in whole["rows"]], whole["hidden"]) == ([0, 1, 2], 0)
    assert whole["rows"][2][2:] == [-1, "", None, None, 0]
    empty = answer_sample(written, ask(of="run", sample=2))
    assert (empty["sample"]["labels"], empty["figure"], empty["at"]) == ([], None, -1)


def test_several_boxes_and_none(written: MemorySource) -> None:
    two = answer_sample(written, ask(of="run", sample=0, label=0))["sample"]["labels"]
    assert two[0]["layers"] == [[0, pytest.approx(0.6), "0,0,30,20;30,20,30,20", 0.5]]
    none = answer_sample(written, ask(of="run", sample=1, shown=7, layer=9))
    assert (none["label"], none["layer"]) == (0, 0)
    assert none["sample"]["labels"][0]["layers"][0][3] == 0.0


def test_an_unknown_sample_and_run(written: MemorySource) -> None:
    answer = answer_sample(written, ask(of="run", sample=99))
    assert (answer["sample"], answer["figure"], answer["at"]) == (None, None, -1)
    assert answer_rows(written, ask(of="other"))["state"] == "missing"
    assert answer_sample(written, ask(of="other"))["state"] == "missing"
    with pytest.raises(BadInput):
        answer_rows(written, ask(of="run", first="x"))


@given(st.lists(st.floats(0, 1), max_size=5))
def test_the_axis_has_every_value_and_does_not_exaggerate(values: list[float]) -> None:
    low, high = span(values)
    assert all(low <= value <= high for value in values)
    assert high - low >= LEAST_HEIGHT
    assert low >= -0.1
    assert high <= 1.1


def test_the_curve_speaks_the_language_and_breaks_where_nothing_is_known() -> None:
    figure = curve(None, [(0, 0.5), (1, None)], 0, language="zh", dark=True)
    assert figure["layout"]["xaxis"]["ticktext"] == ["完整图片", "第 0 层", "第 1 层"]
    assert figure["data"][0]["y"] == [None, 0.5, None]
    assert figure["data"][0]["customdata"] == [-1, 0, 1]
