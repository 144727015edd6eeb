"""The saliency page: what its parts answer."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from layouts.explanations.explanation_choice import ExplanationChoice
from layouts.explanations.listing import catalogue, listing
from layouts.explanations.saliency.page import answer_looks, answer_rows, answer_sample, layout
from layouts.kit.page import Ids
from layouts.kit.state import BadInput
from parsers import open_run
from parsers.recording import ExplanationWriter
from parsers.recording.wire import delimited, float32, float64, number, record
from tests.pages import page_named
from tests.sources import MemorySource

PAGE = page_named("saliency")


@pytest.fixture
def maps() -> dict[tuple[int, str], np.ndarray]:
    rng = np.random.default_rng(2)
    return {(sample, name): rng.integers(0, 256, (5, 5)) for sample in range(6) for name in "AB"}


@pytest.fixture
def source(tmp_path: Path, maps: dict[tuple[int, str], np.ndarray]) -> MemorySource:
    folder = tmp_path / "run"
    with ExplanationWriter(str(folder), labels=["cat", "dog"], explainers=["A", "B"], seconds=1) as writer:
        for sample in range(6):
            truth = [sample % 2]
            writer.sample(sample, np.zeros((3, 3), np.uint8), truth=truth, probabilities={0: 0.1 * sample, 1: 0.55})
            for name in "AB":
                values = maps[sample, name]
                values.flat[:2] = 0, 255
                writer.heat_map(sample, name, truth[0], values)
    return MemorySource({"run": {"explain": open_run(str(folder)).explanations}, "other": {"scalar": {}}})


def test_the_page() -> None:
    assert (PAGE.name, PAGE.needs, PAGE.group) == ("saliency", ("explain",), "explanation")
    assert layout(Ids("saliency"), "/api/").id == Ids("saliency")("root")


def test_no_run_and_no_explanations(source: MemorySource) -> None:
    assert answer_rows(source, {})["state"] == "missing"
    assert answer_rows(source, {"of": ["other"]})["state"] == "missing"
    assert answer_sample(source, {"of": ["run"]})["card"] is None
    assert catalogue(source, {"run": ["other"]})["runs"] == []
    assert [one["key"] for one in catalogue(source, {"run": ["other"]})["elsewhere"]] == ["run"]


def test_what_the_network_looks_at_is_said_with_the_number_of_samples(source: MemorySource, tmp_path: Path) -> None:
    assert answer_looks(source, {})["state"] == "missing"
    assert answer_looks(source, {"of": ["other"]})["state"] == "missing"
    told = json.dumps(answer_looks(source, {"of": ["run"]}))
    # Of the most probable label, dog, the samples 1, 3 and 5 have maps.
    assert "not judged: 3 maps for the most probable label, at least 5 are needed." in told
    spot = np.zeros((9, 9), np.uint8)
    spot[4, 4] = 255
    folder = tmp_path / "spots"
    with ExplanationWriter(str(folder), labels=["cat", "dog"], explainers=["A", "B"], seconds=1) as writer:
        for sample in range(12):
            writer.sample(sample, np.zeros((3, 3), np.uint8), truth=[int(sample < 5)], probabilities={0: 0.9, 1: 0.2})
            writer.heat_map(sample, "A", 0, spot)
    spots = MemorySource({"run": {"explain": open_run(str(folder)).explanations}})
    told = json.dumps(answer_looks(spots, {"of": ["run"]}))
    assert "has 100 % (A), where an even map has 10.0 %; the middle ninth of a picture has 100 % (A)" in told
    assert "Medians over 12 samples" in told
    assert "A: the most marked tenth has 100 % for 7 right predictions and 100 % for 5 wrong ones; the difference may" in told
    assert "Not judged, as there are fewer than 5 maps: B (0)." in told
    assert "not judged" in json.dumps(answer_looks(spots, {"of": ["run"], "explainer": ["B"]}))


def test_numbers_are_those_of_the_explainers_that_are_named(tmp_path: Path) -> None:
    """B has fewer maps than A, none of a wrong prediction, one of zeros and one that is missing."""
    spot = np.zeros((9, 9), np.uint8)
    spot[4, 4] = 255
    folder = tmp_path / "run"
    with ExplanationWriter(str(folder), labels=["cat", "dog"], explainers=["A", "B"], seconds=1) as writer:
        for sample in range(20):
            writer.sample(sample, np.zeros((3, 3), np.uint8), truth=[int(sample < 6)], probabilities={0: 0.9, 1: 0.2})
            writer.heat_map(sample, "A", 0, spot)
            if sample > 10:
                writer.heat_map(sample, "B", 0, spot * (sample > 11))
    next(folder.glob("*/heatmap/B/0/19_0.png")).unlink()
    runs = MemorySource({"run": {"explain": open_run(str(folder)).explanations}})
    both = json.dumps(answer_looks(runs, {"of": ["run"]}))
    assert "Medians over 20 (A), 7 (B) samples" in both
    assert "for 14 right predictions and 100 % for 6 wrong ones" in both
    assert "right (7 (B)) and wrong (0 (B)) predictions are not compared" in both
    assert "1 map was left out: not readable." in both
    assert "1 map was left out: zero everywhere." in both
    only_a = json.dumps(answer_looks(runs, {"of": ["run"], "explainer": ["A"]}))
    assert "Medians over 20 samples" in only_a
    assert "left out" not in only_a
    only_b = json.dumps(answer_looks(runs, {"of": ["run"], "explainer": ["B"]}))
    assert "Medians over 7 samples" in only_b
    assert "right (7) and wrong (0) predictions are not compared" in only_b


def test_of_many_explainers_those_that_differ_are_named_first(tmp_path: Path) -> None:
    spot, rng = np.zeros((9, 9)), np.random.default_rng(1)
    spot[4, 4] = 1.0
    folder, names = tmp_path / "run", list("ABCDEF")
    with ExplanationWriter(str(folder), labels=["cat", "dog"], explainers=names, seconds=1) as writer:
        for sample in range(40):
            writer.sample(sample, np.zeros((3, 3), np.uint8), truth=[sample % 2], probabilities={0: 0.9, 1: 0.2})
            for name in names:
                writer.heat_map(sample, name, 0, rng.random((9, 9)) if name == "F" and sample % 2 else spot)
    runs = MemorySource({"run": {"explain": open_run(str(folder)).explanations}})
    told = json.dumps(answer_looks(runs, {"of": ["run"]}), ensure_ascii=False)
    assert "F: the most marked tenth" in told
    assert told.count("the difference may be chance") == told.count("more than chance explains") * 3
    assert "D: the most marked tenth" not in told
    assert told.count('" …"') == 1, "there are more"


def test_maps_that_do_not_count_are_told_where_too_few_are_left(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with ExplanationWriter(str(folder), labels=["cat"], explainers=["A"], seconds=1) as writer:
        for sample in range(9):
            writer.sample(sample, np.zeros((3, 3), np.uint8), truth=[0], probabilities={0: 0.9})
            writer.heat_map(sample, "A", 0, np.zeros((4, 4)))
    told = json.dumps(answer_looks(MemorySource({"run": {"explain": open_run(str(folder)).explanations}}), {"of": ["run"]}))
    assert "not judged: 0 maps for the most probable label, at least 5 are needed." in told
    assert "9 maps were left out: zero everywhere." in told


def test_what_a_run_holds(source: MemorySource) -> None:
    assert catalogue(source, {})["runs"] == [["run", "run", "1"]]
    told = listing(source, ExplanationChoice("run"))
    assert told["labels"] == [[0, "cat", 4, 3, 1], [1, "dog", 6, 3, 6]]
    assert (told["samples"], told["explainers"], told["complete"], told["uncertain"]) == (6, ["A", "B"], True, False)


def test_rows_from_the_first_that_is_wanted(source: MemorySource) -> None:
    answer = answer_rows(source, {"of": ["run"], "first": ["2"], "count": ["3"]})
    assert (answer["state"], answer["total"], answer["all"]) == ("ready", 6, 6)
    assert [card["id"] for card in answer["rows"]] == [2, 3, 4]
    assert answer["rows"][0]["maps"] == [[0, 0], [1, 0]]
    assert answer["rows"][0]["labels"][0][:2] == [1, pytest.approx(0.55)]
    assert [one[6] for one in answer["rows"][0]["labels"]] == ["FP", "FN"]
    assert answer_rows(source, {"of": ["run"], "first": ["999"]})["rows"] == []


def test_rows_around_a_sample(source: MemorySource) -> None:
    answer = answer_rows(source, {"of": ["run"], "sample": ["4"], "count": ["0"], "sort": ["confidence"]})
    assert answer["place"] == [card["id"] for card in answer["rows"]].index(4)
    assert answer_rows(source, {"of": ["run"], "sample": ["4"], "count": ["0"], "truth": ["1"]})["place"] == -1


def test_a_sample_its_neighbours_and_pairs(source: MemorySource, maps: dict[tuple[int, str], np.ndarray]) -> None:
    answer = answer_sample(source, {"of": ["run"], "sample": ["2"], "shown": ["0"], "truth": ["0"]})
    assert (answer["card"]["id"], answer["place"], answer["previous"], answer["next"]) == (2, 1, 0, 4)
    ((one, other, value),) = answer["pairs"]
    assert (one, other) == ("A", "B")
    assert value == pytest.approx(1 - spearmanr(maps[2, "A"].ravel(), maps[2, "B"].ravel()).statistic)
    out = answer_sample(source, {"of": ["run"], "sample": ["2"], "truth": ["1"]})
    assert (out["card"]["id"], out["place"], out["previous"], out["next"]) == (2, -1, None, 1)
    assert answer_sample(source, {"of": ["run"], "sample": ["77"]})["card"] is None


def test_order_by_disagreement(source: MemorySource, maps: dict[tuple[int, str], np.ndarray]) -> None:
    answer = answer_rows(source, {"of": ["run"], "sort": ["disagreement"]})
    values = {sample: 1 - spearmanr(maps[sample, "A"].ravel(), maps[sample, "B"].ravel()).statistic for sample in range(6)}
    assert [card["id"] for card in answer["rows"]] == sorted(values, key=lambda sample: -values[sample])
    assert [card["disagreement"] for card in answer["rows"]] == pytest.approx(sorted(values.values(), reverse=True))


@pytest.mark.parametrize("ask", [{"of": ["run"], "first": ["-1"]}, {"of": ["run"], "count": ["5000"]}, {"of": "run"}, [1]])
def test_bad_questions_are_refused(source: MemorySource, ask: object) -> None:
    with pytest.raises(BadInput):
        answer_rows(source, ask)


def test_records_that_lack_something_or_are_none(tmp_path: Path) -> None:
    """Metadata that comes late, no inference, no picture, no such label or explainer, and probabilities that are none."""
    folder = tmp_path / "run"
    folder.mkdir()

    def explain(message: bytes) -> bytes:
        return record(float64(1, 1.7e9) + number(2, 1) + delimited(6, message))

    nan_and_two = b"".join(float32(3, value) for value in (float("nan"), 2.0, 0.7))
    inference = number(2, 0) + number(2, 1) + number(2, 77) + nan_and_two
    parts = [
        explain(number(1, 1) + delimited(2, b"a.png")),
        explain(number(1, 2) + delimited(2, b"b.png")),
        explain(number(1, 2) + number(3, 0) + delimited(4, float32(1, 0.4) + inference)),
        explain(number(1, 3) + delimited(5, delimited(1, b"Late") + number(2, 77) + delimited(3, b"m.png"))),
        explain(delimited(7, delimited(1, b"cat") + delimited(1, b"dog"))),
        explain(delimited(7, delimited(1, b"cat") + delimited(1, b"dog"))),
    ]
    whole = record(float64(1, 1.7e9) + delimited(3, b"MindSpore.Event:1")) + b"".join(parts)
    cut = explain(number(1, 4) + delimited(2, b"c.png"))[:-9]
    (folder / "events.out.events.summary.1700000000.0.host_explain").write_bytes(whole + cut)
    source = MemorySource({"run": {"explain": open_run(str(folder)).explanations}})
    told = listing(source, ExplanationChoice("run"))
    assert [name for _, name, *_ in told["labels"]] == ["cat", "dog", "label 77"]
    assert told["problems"]
    for sort in ("id", "confidence", "uncertainty_up", "disagreement"):
        answer = answer_rows(source, {"of": ["run"], "sort": [sort]})
        json.dumps(answer, allow_nan=False)
        cards = {card["id"]: card for card in answer["rows"]}
        assert set(cards) == {1, 2, 3}
    assert (cards[1]["labels"], cards[1]["inferred"]) == ([], False)
    assert cards[3]["image"] == ""
    assert cards[3]["maps"] == [[0, 77]]
    assert told["explainers"] == ["Late"]
    probabilities = {label: (probability, outcome) for label, probability, *_, outcome in cards[2]["labels"]}
    assert probabilities[77] == (pytest.approx(0.7), "FP")
    assert probabilities[1] == (None, "")
    sample = answer_sample(source, {"of": ["run"], "sample": ["3"], "shown": ["77"]})
    assert sample["pairs"] == []
