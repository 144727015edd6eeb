"""The confusion page: what its parts answer, on real files and on runs written for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest
from sklearn import metrics

from layouts.explanations.confusion import page
from layouts.explanations.confusion.sections import MOST_LABELS, MOST_PICTURES, MOST_ROWS
from layouts.kit import units as fmt
from layouts.kit.state import BadInput
from parsers import open_run
from tests.sources import MemorySource
from tests.writers.explanations import markup_text, tags, write_explanations

DATA = Path(__file__).resolve().parents[3] / "data" / "mindspore_xai" / "1.5"


def source_of(**folders: Path) -> MemorySource:
    return MemorySource({name: {"explain": open_run(folder).explanations} for name, folder in folders.items()})


@pytest.fixture
def weak() -> MemorySource:
    return source_of(weak=DATA / "summary_weak", real=DATA / "summary_real")


def ask(run: str = "weak", **more: Any) -> dict[str, list[str]]:
    return {"of": [run], **{key.rstrip("_"): [str(one) for one in np.atleast_1d(value)] for key, value in more.items()}}


def table_of(markup: Any) -> list[list[str]]:
    return [[markup_text(cell) for cell in tags_of_row(row)] for _, row in tags(markup, "tr")]


def tags_of_row(row: Any) -> list[Any]:
    return [child[2] for child in row if child[0] in ("td", "th")]


def test_counts_are_those_of_the_files(weak: MemorySource) -> None:
    answer = page.answer_counts(weak, ask())
    assert (answer["state"], answer["single"], answer["counted"], answer["all"]) == ("ready", True, 14, 14)
    assert "12 of 14 samples (85.7 %) have their true label predicted." in markup_text(answer["sections"]["head"])
    rows = table_of(answer["sections"]["matrix"])
    assert rows[1:] == [
        ["horizontal", "4", "0", "1", "0", "5"], ["vertical", "0", "4", "1", "0", "5"], ["checker", "0", "0", "4", "0", "4"]
    ]  # fmt: skip
    labels = {row[0]: row[1:] for row in table_of(answer["sections"]["labels"])}
    assert labels["checker"] == ["4", "6", "4", "2", "0", "8", "66.7 %", "100 %", "80.0 %"]
    assert labels["background"] == ["0", "0", "0", "0", "0", "14", "–", "–", "–"]
    truth, best = [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1], [0, 1, 2, 2, 1, 2, 0, 2, 2, 0, 1, 2, 0, 1]
    precision, recall, f1, _ = metrics.precision_recall_fscore_support(truth, best, average="macro")
    assert labels["All labels, macro"][-3:] == [fmt.percent(precision), fmt.percent(recall), fmt.percent(f1)]


def test_a_cell_of_shares_is_of_its_row_or_column(weak: MemorySource) -> None:
    rows = table_of(page.answer_counts(weak, ask(cells="true"))["sections"]["matrix"])
    assert rows[1] == ["horizontal", "80.0 %", "0 %", "20.0 %", "0 %", "5"]
    rows = table_of(page.answer_counts(weak, ask(cells="predicted"))["sections"]["matrix"])
    assert [row[3] for row in rows[1:]] == ["16.7 %", "16.7 %", "66.7 %"]


def test_a_cell_shows_its_samples_and_leads_to_the_saliency_page(weak: MemorySource) -> None:
    answer = page.answer_cell(weak, "/x/", ask(cell="0,2", t=0.9))
    content = answer["sections"]["cell"]
    assert "True horizontal, predicted checker (samples: 1)" in markup_text(content)
    [(image, _)] = tags(content, "img")
    assert image["data-src"] == "/x/explanation/image?run=weak&sample=3"
    link, picture = (attributes for attributes, _ in tags(content, "a"))
    wanted = {"of": ["weak"], "truth": ["0"], "label": ["2"], "outcome": ["fp", "tp"], "t": ["0.9"]}
    assert parse_qs(link["data-query"]) == wanted
    assert parse_qs(picture["data-query"]) == wanted | {"sample": ["3"]}
    assert "0.951" in markup_text(content)
    # At 0.96 that sample has no predicted label.
    assert "nothing predicted (samples: 1)" in markup_text(page.answer_cell(weak, "", ask(cell="0,none", t=0.96))["sections"])


def test_where_the_saliency_page_has_more_samples_the_cell_says_so(tmp_path: Path) -> None:
    rows = {0: ([0], {0: 0.6, 1: 0.7}), 1: ([0], {0: 0.9, 1: 0.8}), 2: ([1], {0: 0.1, 1: 0.9})}
    source = source_of(run=write_explanations(tmp_path, rows, ["a", "b"]))
    text = markup_text(page.answer_cell(source, "", ask("run", cell="0,1"))["sections"])
    assert "predicted b (samples: 1)" in text
    assert "The saliency page shows 2 samples" in text


def test_samples_with_several_true_labels_have_no_matrix(tmp_path: Path) -> None:
    rows = {0: ([0, 1], {0: 0.9, 1: 0.8, 2: 0.1}), 1: ([2], {0: 0.6, 1: 0.2, 2: 0.7})}
    source = source_of(run=write_explanations(tmp_path, rows, ["a", "b", "c"]))
    answer = page.answer_counts(source, ask("run"))
    assert not answer["single"]
    assert "1 of 2 samples (50.0 %) have exactly their true labels predicted." in markup_text(answer["sections"]["head"])
    matrix = answer["sections"]["matrix"]
    assert "Samples with several true labels have no confusion matrix" in markup_text(matrix)
    # The last column is of samples: two labels are predicted of each, but it has the true one once.
    assert table_of(matrix)[1:] == [
        ["a", "1", "1", "0", "0", "1"], ["b", "1", "1", "0", "0", "1"], ["c", "1", "0", "1", "0", "1"]
    ]  # fmt: skip
    shares = table_of(page.answer_counts(source, ask("run", cells="predicted"))["sections"]["matrix"])[1:]
    assert [row[1:4] for row in shares] == [["50.0 %", "100 %", "0 %"], ["50.0 %", "100 %", "0 %"], ["50.0 %", "0 %", "100 %"]]
    cell = page.answer_cell(source, "", ask("run", cell="0,1"))
    assert "(samples: 1)" in markup_text(cell["sections"])
    assert page.answer_reliability(source, ask("run"))["question"] == "each"


def test_unrecorded_labels_may_be_predicted_below_one_half(tmp_path: Path) -> None:
    source = source_of(run=write_explanations(tmp_path, {0: ([0, 1], {0: 0.9, 1: 0.3})}, ["a", "b", "c"]))
    said = [markup_text(page.answer_counts(source, ask("run", t=t))["sections"]["head"]) for t in (0.2, 0.5)]
    assert "At most 1 of 1 sample (100 %) have exactly their true labels predicted." in said[0]
    assert said[1].startswith("0 of 1 sample")


def test_below_one_half_numbers_are_marked_as_bounds(weak: MemorySource, tmp_path: Path) -> None:
    sections = page.answer_counts(weak, ask(t=0.3))["sections"]
    labels = {row[0]: row[1:] for row in table_of(sections["labels"])}
    assert labels["checker"][:6] == ["4", "≥ 6", "4", "≥ 2", "0", "≤ 8"]
    assert "precision and F1 are at most" in markup_text(sections["head"])
    rows = {0: ([0], {0: 0.6, 1: 0.4}), 1: ([1], {0: 0.7, 1: 0.3})}
    whole = source_of(run=write_explanations(tmp_path, rows, ["a", "b"]))
    sections = page.answer_counts(whole, ask("run", t=0.35))["sections"]
    assert {row[0]: row[3:7] for row in table_of(sections["labels"])}["b"] == ["0", "1", "1", "0"]
    assert "at most" not in markup_text(sections["head"])


def test_a_predicted_label_that_may_not_be_the_strongest_is_told(tmp_path: Path) -> None:
    rows = {0: ([0], {0: 0.3}), 1: ([0], {0: 0.8})}
    source = source_of(run=write_explanations(tmp_path, rows, ["a", "b"]))
    text = markup_text(page.answer_counts(source, ask("run", t=0.2))["sections"]["head"])
    assert "a stronger one may not have been recorded: 1" in text
    assert "At most 2 of 2 samples (100 %) have their true label predicted." in text
    assert "stronger" not in markup_text(page.answer_counts(source, ask("run"))["sections"]["head"])


def test_what_is_left_out_is_told(tmp_path: Path) -> None:
    rows = {0: ([0], {0: 0.9}), 1: ([], {0: 0.8}), 2: ([], {1: 0.6})}
    source = source_of(run=write_explanations(tmp_path, rows, ["a", "b"]))
    answer = page.answer_counts(source, ask("run"))
    text = markup_text(answer["sections"]["head"])
    assert "Left out, without a true label: 2" in text
    assert (answer["counted"], answer["all"]) == (1, 3)
    nothing = page.answer_counts(source, ask("run", q="no such path"))
    assert "nothing can be right or wrong" in markup_text(nothing["sections"]["head"])
    assert nothing["single"]
    assert page.answer_reliability(source, ask("run", q="no such path"))["figure"] is None


def test_text_chooses_samples_and_other_filters_do_not(weak: MemorySource) -> None:
    answer = page.answer_counts(weak, ask(q="13.jpg", label="2", outcome="fp", truth="0"))
    assert answer["counted"] == 1
    assert "Only samples with “13.jpg”" in markup_text(answer["sections"]["head"])
    assert page.answer_counts(weak, ask(label="2", outcome="fp", truth="0", p="0.4,0.5"))["counted"] == 14


def test_the_reliability_diagram_has_the_bins(weak: MemorySource) -> None:
    answer = page.answer_reliability(weak, ask())
    probabilities = weak.explanations.open("weak").explanations
    assert probabilities is not None
    table = probabilities.predictions.sort_values("probability").drop_duplicates("sample", keep="last")
    high = table["probability"] > 0.9
    error = sum(part["truth"].count() / 14 * abs(part["truth"].mean() - part["probability"].mean())
                for part in (table[high], table[~high]))  # fmt: skip
    meta = answer["figure"]["layout"]["meta"]
    assert (meta["error"], meta["counted"]) == (pytest.approx(error), 14)
    assert meta["alternative"][0].startswith(f"Reliability. Expected calibration error {fmt.percent(error)}")
    assert "(0.9, 1]: 84.6 % true at a mean probability of" in meta["alternative"][0]
    assert f"Expected calibration error {fmt.percent(error)}" in markup_text(answer["sections"]["reliability"])
    assert "Only probabilities above 0.5 are counted" in markup_text(answer["sections"]["reliability"])
    roles = [trace["meta"]["role"] for trace in answer["figure"]["data"]]
    assert roles == ["ideal", "gap", "accuracy", "count"]
    each = page.answer_reliability(weak, ask(question="each", lang="zh", theme="dark", bins=5))
    assert "2 probabilities" not in str(each["figure"])
    assert "Left out: 2" in markup_text(each["sections"]["reliability"])


def test_labels_are_sorted_by_a_column(weak: MemorySource) -> None:
    rows = table_of(page.answer_counts(weak, ask(by="-f1"))["sections"]["labels"])
    assert [row[0] for row in rows[3:]] == ["horizontal", "vertical", "checker", "background"]
    rows = table_of(page.answer_counts(weak, ask(by="-predicted"))["sections"]["labels"])
    assert [row[0] for row in rows[3:]] == ["checker", "horizontal", "vertical", "background"]
    heads = [attributes for attributes, _ in tags(page.answer_counts(weak, ask(by="-f1"))["sections"]["labels"], "th")]
    assert [one["aria-sort"] for one in heads if "aria-sort" in one] == ["descending"]


@pytest.mark.long
def test_ten_thousand_labels_fit(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 10_000, 4000)
    rows = {n: ([int(a)], {int(a): 0.2, int(b): 0.9} if n % 2 else {int(a): 0.9})
            for n, (a, b) in enumerate(zip(truth, rng.permutation(truth), strict=True))}  # fmt: skip
    rows |= {5000 + n: ([17], {17: 0.1, 9000: 0.8}) for n in range(60)}
    source = source_of(run=write_explanations(tmp_path, rows, [f"class {n}" for n in range(10_000)]))
    sections = page.answer_counts(source, ask("run"))["sections"]
    matrix = table_of(sections["matrix"])
    assert len(matrix) == 1 + MOST_LABELS
    assert {"class 17", "class 9000"} <= {row[0] for row in matrix}
    assert f"Shown are {MOST_LABELS} of" in markup_text(sections["matrix"])
    assert "those with most errors (FN + FP)" in markup_text(sections["matrix"])
    heads = [markup_text(one) for _, one in tags(sections["matrix"], "th")]
    assert "Other labels" in heads
    for row in matrix[1:]:
        assert sum(int(cell.replace(",", "")) for cell in row[1:-1]) == int(row[-1])
    assert len(table_of(sections["labels"])) == 1 + 2 + MOST_ROWS
    assert len(str(sections)) < 1_000_000
    chosen = page.answer_counts(source, ask("run", show=[17, 9000, 3]))["sections"]["matrix"]
    assert [row[0] for row in table_of(chosen)[1:]] == ["class 3", "class 17", "class 9000"]
    cell = page.answer_cell(source, "", ask("run", cell="17,9000"))["sections"]["cell"]
    assert len(tags(cell, "img")) == MOST_PICTURES


def test_changes_between_runs_are_listed(weak: MemorySource) -> None:
    answer = page.answer_changes(weak, ask(**{"with": "real"}))
    text = markup_text(answer["sections"]["changes"])
    assert "Compared: 6 samples" in text
    rows = table_of(answer["sections"]["changes"])
    assert rows[1] == ["real", "2", "0", "1", "1", "0", "0"]
    assert [[cell.split()[0] for cell in row] for row in rows[3:]] == [
        ["3", "horizontal", "FN", "TP"], ["3", "checker", "FP", "TN"]
    ]  # fmt: skip
    assert "No outcome changed." in markup_text(page.answer_changes(weak, ask(**{"with": "real"}, kind="worse"))["sections"])
    back = table_of(page.answer_changes(weak, ask("real", **{"with": "weak"}))["sections"]["changes"])
    assert back[1] == ["weak", "0", "2", "0", "0", "1", "1"]
    assert page.answer_changes(weak, ask())["state"] == "missing"
    assert page.answer_changes(weak, ask(**{"with": "gone"}))["state"] == "missing"


def test_runs_of_other_samples_have_nothing_in_common(tmp_path: Path) -> None:
    one = write_explanations(tmp_path / "a", {0: ([0], {0: 0.9})}, ["x"])
    other = write_explanations(tmp_path / "b", {5: ([0], {0: 0.9})}, ["x"])
    answer = page.answer_changes(source_of(weak=one, b=other), ask(**{"with": "b"}))
    assert "no sample with the same id" in markup_text(answer["sections"])


def test_names_from_files_are_text(tmp_path: Path) -> None:
    rows = {0: ([0], {0: 0.9, 1: 0.2}), 1: ([1], {0: 0.8, 1: 0.3})}
    source = source_of(run=write_explanations(tmp_path, rows, ["<img src=x onerror=alert(1)>", "{0}"]))
    sections = page.answer_counts(source, ask("run"))["sections"]
    assert "<img src=x onerror=alert(1)>" in markup_text(sections["matrix"])
    assert not tags(sections["matrix"], "img")
    assert "{0}" in markup_text(page.answer_cell(source, "", ask("run", cell="1,0"))["sections"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"cell": "1"}, {"cell": "a,b"}, {"by": "size"}, {"bins": 7}, {"cells": "all"}, {"question": "x"}, {"show": "x"},
        {"t": 2},
    ],
)  # fmt: skip
def test_malformed_values_are_refused(weak: MemorySource, wrong: dict[str, Any]) -> None:
    for answer in (page.answer_counts, page.answer_reliability, page.answer_changes):
        with pytest.raises(BadInput):
            answer(weak, ask(**wrong))


def test_nothing_is_answered_without_a_run(weak: MemorySource) -> None:
    for answer in (page.answer_counts, page.answer_reliability, page.answer_changes):
        assert answer(weak, {})["state"] == "missing"
        assert answer(weak, ask("gone"))["state"] == "missing"
    assert "sections" not in page.answer_cell(weak, "", ask())
