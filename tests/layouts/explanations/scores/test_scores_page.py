"""The scores page: totals, radar and bars, on real files and on runs written for it."""

from __future__ import annotations

import base64
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layouts.explanations.scores import figures, page
from layouts.kit.state import BadInput
from parsers import open_run
from parsers.analysis.explanations.explainer_scores import ScoreTable
from tests.sources import MemorySource
from tests.writers.explanations import markup_text, tags, write_explanations

DATA = Path(__file__).resolve().parents[3] / "data" / "mindspore_xai" / "1.5"
NAN = math.nan


def source_of(folder: Path) -> MemorySource:
    return MemorySource({"run": {"explain": open_run(folder).explanations}})


@pytest.fixture
def real() -> MemorySource:
    return source_of(DATA / "summary_real")


def ask(**more: Any) -> dict[str, list[str]]:
    return {"of": ["run"], **{key: [str(one) for one in np.atleast_1d(value)] for key, value in more.items()}}


def rows_of(markup: Any) -> list[list[str]]:
    return [[markup_text(child[2]) for child in row] for _, row in tags(markup, "tr")]


def decoded(spec: Any) -> list[float]:
    if isinstance(spec, list):
        return spec
    found: list[float] = np.frombuffer(base64.b64decode(spec["bdata"]), np.dtype(spec["dtype"])).astype(float).tolist()
    return found


def test_the_table_has_scores_weights_and_totals(real: MemorySource) -> None:
    answer = page.answer_scores(real, ask())
    table = rows_of(answer["sections"]["table"])
    assert table[0][1:-1] == ["Faithfulness", "Localization", "ClassSensitivity", "Robustness"]
    assert table[1] == ["Weight", "", "", "", "", "1"]
    weights = [one for one, _ in tags(answer["sections"]["table"], "span") if "data-weight" in one]
    assert [(one["data-weight"], one["data-value"]) for one in weights] == [(name, "25") for name in table[0][1:-1]]
    assert table[2] == ["Gradient", "0.5138", "0.8333", "0.09538", "0.1048", "0.38"]
    assert table[3] == ["GradCAM", "0.4382", "0.3333", "0.5000", "0.8169", "0.52"]
    assert "GradCAM has the highest total: 0.52." in markup_text(answer["sections"]["table"])


def test_weights_are_those_of_the_address(real: MemorySource) -> None:
    answer = page.answer_scores(real, ask(weight=["Faithfulness:0", "Localization:100"]))
    assert [row[-1] for row in rows_of(answer["sections"]["table"])[1:]] == ["1", "0.83", "0.33"]
    answer = page.answer_scores(real, ask(weight=["Faithfulness:50", "Localization:40"]))
    assert [row[-1] for row in rows_of(answer["sections"]["table"])[1:]] == ["0.9", "–", "–"]
    assert "The weights sum to 0.9, not to 1" in markup_text(answer["sections"]["table"])
    # Weights of metrics of another run change nothing.
    other = page.answer_scores(real, ask(weight=["Fidelity:10"]))
    assert rows_of(other["sections"]["table"])[2][-1] == "0.38"


def test_missing_and_nan_scores_are_marked(tmp_path: Path) -> None:
    scores = {("A", "x"): (0.5, [NAN, 0.5]), ("A", "y"): (NAN, []), ("B", "x"): (0.25, [0.25, 0.25])}
    folder = write_explanations(
        tmp_path, {0: ([0], {0: 0.9})}, ["one", "two"], explainers=["A", "B", "C"], metrics=["x", "y"], scores=scores
    )
    answer = page.answer_scores(source_of(folder), ask())
    table = rows_of(answer["sections"]["table"])
    assert [row[1:] for row in table[2:]] == [["0.5000", "NaN 0", "0.25"], ["0.2500", "– 0", "0.12"], ["– 0", "– 0", "0.00"]]
    spans = [one for one, _ in tags(answer["sections"]["table"], "span")]
    titles = [one["title"] for one in spans if "ms-scores-zero" in one.get("class", "")]
    assert titles == ["NaN, counts as 0", *["Not recorded, counts as 0"] * 3]
    assert "They count as 0 in the total." in markup_text(answer["sections"]["table"])
    assert answer["figure"] is None  # two metrics


def test_explainers_are_sorted_by_any_column(real: MemorySource) -> None:
    def names(by: str) -> list[str]:
        return [row[0] for row in rows_of(page.answer_scores(real, ask(by=by))["sections"]["table"])[2:]]

    assert names("-total") == names("explainer") == names("metric:Faithfulness") == ["GradCAM", "Gradient"]
    assert names("total") == names("-explainer") == names("-metric:Faithfulness") == names("no such") == ["Gradient", "GradCAM"]


def test_every_metric_of_mindspore_xai_is_explained(real: MemorySource) -> None:
    text = markup_text(page.answer_scores(real, ask())["sections"]["table"])
    for part in ("NaiveFaithfulness", "PointingGame", "(1 − r) / 2", "exp(−max", "mindspore_xai.benchmark.Robustness"):
        assert part in text
    assert "does not define" not in text


def test_only_chosen_explainers_are_shown(real: MemorySource) -> None:
    answer = page.answer_scores(real, ask(explainer="GradCAM"))
    assert [row[0] for row in rows_of(answer["sections"]["table"])[2:]] == ["GradCAM"]
    [_grid, one] = answer["figure"]["data"]
    both = page.answer_scores(real, ask())["figure"]["data"]
    assert one["line"]["color"] == both[2]["line"]["color"] != both[1]["line"]["color"]
    assert len(rows_of(page.answer_scores(real, ask(explainer="gone"))["sections"]["table"])) == 4


def test_the_radar_has_a_point_per_metric_at_its_score(real: MemorySource) -> None:
    found = page.answer_scores(real, ask())["figure"]
    table = real.explanations.open("run").explanations
    assert table is not None
    for trace, explainer in zip(found["data"][1:], ("Gradient", "GradCAM"), strict=True):
        rows = table.scores[(table.scores["explainer"] == explainer) & (table.scores["label"] == -1)]
        reach = np.hypot(decoded(trace["x"]), decoded(trace["y"]))
        np.testing.assert_allclose(reach, [*rows["score"], rows["score"].iloc[0]], rtol=1e-6)
        assert math.degrees(math.atan2(decoded(trace["y"])[1], decoded(trace["x"])[1])) == pytest.approx(0.0, abs=1e-6)


def test_figures_have_their_numbers_in_words(real: MemorySource) -> None:
    radar = page.answer_scores(real, ask())["figure"]["layout"]["meta"]["alternative"]
    assert "Gradient: Faithfulness: 0.5138, Localization: 0.8333, ClassSensitivity: 0.09538" in radar[0]
    bars = page.answer_labels(real, ask())["figure"]["layout"]["meta"]["alternative"]
    assert "GradCAM: horizontal: 0.1588, vertical: 0.5819" in bars[0]
    assert bars[1].startswith("各标签的评分。")


def test_the_radar_reaches_scores_beyond_0_and_1_and_marks_missing_ones() -> None:
    values = np.array([[-0.34, 1.23, NAN]])
    assert figures.scale(values) == (-0.4, 1.3)
    assert figures.scale(np.full((1, 3), NAN)) == (0.0, 1.0)
    found = figures.radar(ScoreTable(("<a>",), ("x", "y", "z"), values, ~np.isnan(values)), ("<a>",), language="en", dark=False)
    assert found is not None
    trace = found["data"][1]
    np.testing.assert_allclose(np.hypot(decoded(trace["x"]), decoded(trace["y"])), np.array([0.06, 1.63, 0.4, 0.06]) / 1.7)
    assert trace["marker"]["symbol"] == ["circle", "circle", "circle-open", "circle"]
    assert trace["name"] == "&lt;a&gt;"
    two = ScoreTable(("a",), ("x", "y"), values[:, :2], np.ones((1, 2), bool))
    assert figures.radar(two, ("a",), language="en", dark=False) is None


def test_bars_by_label_are_those_of_the_frame(real: MemorySource) -> None:
    answer = page.answer_labels(real, ask())
    assert (answer["chosen"], answer["metrics"][2]) == ("Faithfulness", ["ClassSensitivity", False])
    one, other = answer["figure"]["data"]
    assert (one["name"], other["name"]) == ("Gradient", "GradCAM")
    np.testing.assert_allclose(decoded(one["x"]), [0.671993, 0.402641, 0.466718, 0.0], atol=1e-6)
    np.testing.assert_allclose(decoded(other["x"]), [0.158757, 0.581933, 0.57391, 0.0], atol=1e-6)
    assert "No sample was recorded for: background" in markup_text(answer["sections"]["labels"])
    side = page.answer_labels(real, ask(side="explainer", one="GradCAM"))
    assert side["chosen"] == "GradCAM"
    assert [trace["name"] for trace in side["figure"]["data"]] == ["Faithfulness", "Localization", "Robustness"]
    assert page.answer_labels(real, ask(one="ClassSensitivity"))["chosen"] == "Faithfulness"


def test_labels_are_chosen_by_order() -> None:
    values = np.array([[0.5, NAN, 0.1, 0.9], [0.6, NAN, 0.8, 0.3]])
    assert figures.chosen_labels(values, "label", 3).tolist() == [0, 1, 2]
    assert figures.chosen_labels(values, "worst").tolist() == [2, 3, 0, 1]
    assert figures.chosen_labels(values, "spread").tolist() == [2, 3, 0, 1]
    assert figures.chosen_labels(np.zeros((0, 4)), "worst").tolist() == [0, 1, 2, 3]


@pytest.mark.long
def test_ten_thousand_labels_fit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    each = {name: rng.random(10_000).round(4).tolist() for name in "AB"}
    scores = {(name, "x"): (0.5, values) for name, values in each.items()}
    names = [f"class {n}" for n in range(10_000)]
    folder = write_explanations(
        tmp_path, {0: ([0], {0: 0.9})}, names, explainers=["A", "B"], metrics=["x"], scores=scores
    )
    source = source_of(folder)
    answer = page.answer_labels(source, ask(order="worst"))
    assert f"{figures.MOST_LABELS} of 10,000 labels are shown." in markup_text(answer["sections"]["labels"])
    lowest = np.argsort(np.minimum(each["A"], each["B"]), kind="stable")[: figures.MOST_LABELS]
    assert answer["figure"]["layout"]["yaxis"]["ticktext"] == [f"class {n}" for n in lowest]
    assert len(str(answer)) < 100_000
    chosen = page.answer_labels(source, ask(show=[9_999, 4]))
    assert chosen["figure"]["layout"]["yaxis"]["ticktext"] == ["class 4", "class 9999"]


def test_a_run_without_scores_says_so(tmp_path: Path) -> None:
    source = source_of(write_explanations(tmp_path, {0: ([0], {0: 0.9})}, ["a"]))
    assert page.answer_scores(source, ask()) == {"state": "ready", "any": False}
    assert page.answer_labels(source, ask())["figure"] is None
    for answer in (page.answer_scores, page.answer_labels):
        assert answer(source, {"of": ["gone"]})["state"] == "missing"
        assert answer(source, {})["state"] == "missing"


@pytest.mark.parametrize(
    "wrong",
    [{"weight": "x"}, {"weight": "x:-1"}, {"weight": "x:101"}, {"weight": "x:nan"}, {"side": "z"}, {"order": "z"}],
)
def test_malformed_values_are_refused(real: MemorySource, wrong: dict[str, Any]) -> None:
    for answer in (page.answer_scores, page.answer_labels):
        with pytest.raises(BadInput):
            answer(real, ask(**wrong))
