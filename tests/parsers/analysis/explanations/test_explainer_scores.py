"""Weighted sums of scores against exact fractions, and the tables against the frame."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import open_run
from parsers.analysis.explanations.explainer_scores import (
    EXPLAINER_TOTALS,
    ScoreTable,
    default_weights,
    label_scores,
    score_table,
    totals,
)


def frame(rows: list[tuple[str, str, int, float]]) -> pd.DataFrame:
    made = pd.DataFrame(rows, columns=["explainer", "metric", "label", "score"])
    return made.astype({"explainer": "category", "metric": "category", "label": "int64", "score": "float64"})


def test_default_weights_are_mindinsight_s() -> None:
    assert [default_weights(n) for n in range(5)] == [(), (100,), (50, 50), (33, 33, 34), (25, 25, 25, 25)]
    assert default_weights(6) == (16, 16, 16, 16, 16, 20)
    assert default_weights(7)[-1] == 16
    assert all(sum(default_weights(n)) == 100 for n in range(1, 250))
    assert default_weights(150)[0] == 0
    assert default_weights(150)[-1] == 100


@given(st.lists(st.tuples(st.floats(-3, 3, width=32) | st.just(math.nan), st.integers(0, 60)), min_size=1, max_size=6))
def test_totals_are_floored_sums(pairs: list[tuple[float, int]]) -> None:
    weights = [weight for _, weight in pairs]
    weights.append(100 - sum(weights))
    values = np.array([[*(score for score, _ in pairs), 0.123456789]])
    names = tuple(f"metric {n}" for n in range(len(weights)))
    found = EXPLAINER_TOTALS.check(totals(ScoreTable(("one",), names, values, ~np.isnan(values)), weights))
    parts = [Fraction(f"{score:.6f}") * weight for score, weight in zip(values[0], weights, strict=True) if score == score]
    assert found["total"].tolist() == [math.floor(sum(parts)) / 100]
    assert found["counted_as_0"].tolist() == [sum(math.isnan(s) and w > 0 for s, w in zip(values[0], weights, strict=True))]


def test_weights_must_sum_to_one() -> None:
    table = ScoreTable(("a", "b"), ("x", "y"), np.array([[0.5, 0.7], [1.0, 0.57]]), np.ones((2, 2), bool))
    assert totals(table, [50, 50])["total"].tolist() == [0.6, 0.78]
    assert totals(table, [0, 100])["total"].tolist() == [0.7, 0.57]
    assert totals(table, [50, 49])["total"].isna().all()
    with pytest.raises(ValueError, match="expected 2"):
        totals(table, [100])


def test_a_score_that_is_nan_or_missing_counts_as_0() -> None:
    rows = [("a", "x", -1, 0.5), ("a", "y", -1, math.nan), ("b", "x", -1, 0.25), ("a", "x", 0, 9.0), ("a", "z", -1, 4.0)]
    table = score_table(frame(rows), ("a", "b", "c"), ("x", "y"))
    np.testing.assert_equal(table.values, [[0.5, math.nan], [0.25, math.nan], [math.nan, math.nan]])
    assert table.recorded.tolist() == [[True, True], [True, False], [False, False]]
    found = totals(table, [50, 50])
    assert found["total"].tolist() == [0.25, 0.12, 0.0]
    assert found["counted_as_0"].tolist() == [1, 1, 2]


def test_scores_of_labels_are_found_by_number() -> None:
    rows = [("a", "x", -1, 0.5), ("a", "x", 0, 0.1), ("a", "x", 2, 0.3), ("b", "y", 1, math.inf), ("b", "y", 5, 0.9)]
    found = label_scores(frame(rows), ("a", "b"), ("x", "y"), [2, 0, 5, 7])
    nan = math.nan
    np.testing.assert_equal(found, [[[0.3, 0.1, nan, nan], [nan] * 4], [[nan] * 4, [nan, nan, 0.9, nan]]])
    assert label_scores(frame(rows), ("a",), ("x",), []).shape == (1, 1, 0)
    assert np.isnan(label_scores(frame([]), ("a",), ("x",), [1])).all()


def test_real_files_have_the_totals_of_their_records(real_data: Path) -> None:
    for name, count in (("summary_real", 4), ("summary_weak", 2)):
        run = open_run(str(real_data / "explain" / name)).explanations
        table = score_table(run.scores, run.explainers, run.metrics)
        weights = default_weights(count)
        found = totals(table, weights).set_index("explainer")
        for explainer in run.explainers:
            rows = run.scores[(run.scores["explainer"] == explainer) & (run.scores["label"] == -1)]
            scores = [rows.loc[rows["metric"] == metric, "score"].sum() for metric in run.metrics]
            wanted = math.floor(100 * sum(w * s for w, s in zip(weights, scores, strict=True)) / 100) / 100
            assert found["total"][explainer] == wanted
    assert found["counted_as_0"]["RISE"] == 2
    assert found["total"]["RISE"] == 0.0
