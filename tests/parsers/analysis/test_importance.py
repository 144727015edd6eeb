from __future__ import annotations

import math
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from parsers import IMPORTANCE, SINGLE_CHANGES, Run, discover, lineage_table
from parsers.analysis import importance, settings_of, single_changes, targets_of, trend
from parsers.analysis.importance import association, pearson, ranks, spearman

TARGET = "metric/acc"


def table(target: Any, **settings: Any) -> pd.DataFrame:
    return pd.DataFrame({**settings, TARGET: target})


def row(frame: pd.DataFrame, setting: str) -> dict[str, Any]:
    [found] = frame[frame["setting"] == setting].to_dict("records")
    return {str(name): value for name, value in found.items()}


def test_it_is_what_numpy_and_pandas_say() -> None:
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(40, 5)).round(1), columns=list("abcde"))  # rounded: ties
    data["b"] += 2 * data["a"]
    data["c"] -= data["a"]
    frame = IMPORTANCE.check(importance(data.rename(columns={"a": TARGET}), TARGET))
    for name in "bcde":
        wanted = np.corrcoef(data["a"], data[name])[0, 1]
        found = row(frame, name)
        assert found["pearson"] == pytest.approx(abs(wanted))
        assert found["sign"] == np.sign(wanted)
        assert found["spearman"] == pytest.approx(abs(data[["a", name]].corr(method="spearman").iloc[0, 1]))
        assert found["pearson_low"] < found["pearson"] < found["pearson_high"]
        assert found["spearman_low"] <= found["spearman"] < found["spearman_high"]
    assert frame["pearson"].is_monotonic_decreasing
    assert frame["setting"].iloc[0] == "b"


def test_a_known_interval() -> None:
    # r = 0.5 over 28 runs: atanh(0.5) = 0.549306, +- 1.959964 / 5
    x = np.tile([1.0, -1.0], 14)
    y = x + np.sqrt(3.0) * np.repeat([1.0, -1.0], 14)
    found = pearson(x, y)
    assert found.value == pytest.approx(0.5)
    assert (found.low, found.high) == pytest.approx((np.tanh(0.549306144 - 0.3919928), np.tanh(0.549306144 + 0.3919928)))


def test_it_is_what_scipy_says() -> None:
    x = np.array([0.1, 0.1, 0.05, 0.01, 0.01, 0.001, 0.001, 0.2])
    y = np.array([0.62, 0.71, 0.9, 0.93, 0.91, 0.55, 0.97, 0.5])
    # scipy 1.17: pearsonr(x, y), its confidence_interval(), spearmanr(x, y)
    found = pearson(x, y)
    assert (found.value, found.low, found.high, found.sign) == pytest.approx((0.6591280246535288, 0.0, 0.9312592647345229, -1))
    assert spearman(x, y).value == pytest.approx(0.5576679417142028)


@pytest.mark.parametrize(("rho", "n"), [(0.0, 20), (0.5, 30), (-0.7, 30), (0.9, 60)])
def test_intervals_cover_95_percent(rho: float, n: int) -> None:
    rng = np.random.default_rng(7)
    covered = np.zeros(2)
    for _ in range(2000):
        x = rng.normal(size=n)
        y = rho * x + math.sqrt(1 - rho * rho) * rng.normal(size=n)
        true = abs(rho), 6 / math.pi * math.asin(abs(rho) / 2)
        covered += [one.low <= value <= one.high for one, value in zip((pearson(x, y), spearman(x, y)), true, strict=True)]
    assert (covered / 2000 > 0.93).all()
    assert (covered / 2000 < 0.97).all()


def test_instead_of_a_number_it_says_why() -> None:
    y = [0.1, 0.4, 0.2, 0.9, 0.7, 0.3]
    frame = importance(
        table(
            y, never=[3] * 6, two=[1.0, 2.0, np.nan, np.nan, np.nan, np.nan], tag=list("abcdef"),
            lr=[0.1, 0.1, 0.2, 0.2, 0.3, 0.3], decay=[7, 7, 1, 1, 3, 3], name=["x", "x", "y", "y", "z", "z"],
            free=[1, 2, 1, 2, 1, 2], seed=[1, 5, 2, 4, 3, 6], noise=[9, 2, 8, 1, 3, 4], twin=[-1, -5, -2, -4, -3, -6],
        ), TARGET,
    )  # fmt: skip
    reasons = {name: row(frame, name)["reason"] for name in frame["setting"]}
    assert reasons == {
        "never": "constant", "two": "few", "tag": "unique", "lr": "confounded", "decay": "confounded", "name": "confounded",
        "free": "", "seed": "confounded", "twin": "confounded", "noise": "",
    }  # fmt: skip
    assert frame["pearson"].notna().tolist() == [True] * 2 + [False] * 8
    others = {"lr": "decay", "decay": "lr", "name": "lr", "seed": "twin", "twin": "seed", "free": ""}
    assert {name: row(frame, name)["confounded"] for name in others} == others


def test_categories() -> None:
    y = np.array([1.0, 2.0, 3.0, 7.0, 8.0, 6.0, 2.0, 2.5])
    names = ["a", "a", "a", "b", "b", "b", "c", "c"]
    groups = pd.Series(y).groupby(names)
    within = float((groups.transform(lambda one: (one - one.mean()) ** 2)).sum())
    total = float(((y - y.mean()) ** 2).sum())
    wanted = math.sqrt(1 - (within / (8 - 3)) / (total / (8 - 1)))
    frame = importance(table(y, kind=names, mixed=[1, 1, "1", "1", 2.5, 2.5, 1, 1], pair=list("xxxyyyyy")), TARGET)
    assert row(frame, "kind")["pearson"] == pytest.approx(wanted)
    assert math.isnan(row(frame, "kind")["pearson_low"])
    assert row(frame, "mixed")["levels"] == 3
    pair = row(frame, "pair")
    assert pair["pearson"] == pytest.approx(abs(np.corrcoef([0, 0, 0, 1, 1, 1, 1, 1], y)[0, 1]))
    assert (pair["kind"], pair["sign"]) == ("categorical", 0)
    assert association(np.array([0, 1, 0, 1]), np.array([1.0, 1.0, 2.0, 2.0])) == 0.0


def test_values_that_are_not_finite_are_no_runs() -> None:
    y = [1.0, 2.0, 3.0, np.nan, np.inf, 5.0]
    found = row(importance(table(y, a=pd.array([1, 2, 4, 5, 6, None], dtype="Int64"), b=[2, 1, 3, 4, 5, np.inf]), TARGET), "a")
    assert found["runs"] == 3
    assert found["pearson"] == pytest.approx(abs(np.corrcoef([1, 2, 4], [1, 2, 3])[0, 1]))
    assert math.isnan(found["pearson_low"])


def test_a_target_without_variation_or_numbers() -> None:
    frame = importance(table([2.0] * 5, a=[1, 2, 3, 4, 5]), TARGET)
    assert row(frame, "a")["reason"] == "constant"
    assert len(IMPORTANCE.check(importance(table([], a=[]), TARGET))) == 1
    with pytest.raises(ValueError, match="wanted a column of numbers"):
        importance(table(["x", "y"], a=[1, 2]), TARGET)
    with pytest.raises(KeyError):
        importance(table([1.0], a=[1]), "none")


def test_which_columns_are_settings_and_targets(real_data: Path) -> None:
    runs = []
    for source in discover(real_data / "summary"):
        runs.append(Run(source))
        runs[-1].refresh()
    frame = lineage_table(runs)
    names = settings_of(frame)
    assert {"optimizer", "learning_rate", "batch_size", "epoch", "dataset_mark", "user_defined/seed"} <= set(names)
    assert {"run", "path", "loss", "metric/accuracy", "last/loss", "steps"}.isdisjoint(names)
    assert {"loss", "metric/accuracy", "best/loss"} <= set(targets_of(frame))
    found = IMPORTANCE.check(importance(frame, "metric/accuracy"))
    both = frame[["learning_rate", "metric/accuracy"]].dropna().astype(float)
    assert row(found, "learning_rate")["pearson"] == pytest.approx(abs(np.corrcoef(both.T.to_numpy())[0, 1]))
    assert row(found, "optimizer")["runs"] == 19


finite = hnp.arrays(np.float64, st.integers(3, 12), elements=st.floats(allow_nan=False, allow_infinity=False))


@given(x=finite, data=st.data())
def test_any_numbers_give_a_strength_within_bounds(x: np.ndarray[Any, Any], data: st.DataObject) -> None:
    y = data.draw(hnp.arrays(np.float64, len(x), elements=st.floats(allow_nan=False, allow_infinity=False)))
    for found in (pearson(x, y), spearman(x, y)):
        if found.value == found.value:
            assert 0 <= found.value <= 1
            assert math.isnan(found.low) or found.low - 1e-9 <= found.value <= found.high + 1e-9 <= 1 + 2e-9
    assert ranks(x).tolist() == pd.Series(x).rank().tolist()


# Pairs -------------------------------------------------------------------------------------------------------------


def test_pairs_that_differ_in_one_setting() -> None:
    frame = pd.DataFrame(
        {
            "lr": [0.1, 0.3, 0.2, 0.1, 0.1, np.nan], "bs": pd.array([32, 32, 32, 64, 64, 64], dtype="Int64"),
            "opt": ["SGD", "SGD", "SGD", "SGD", "Adam", "SGD"], "metric/acc": [1.0, 2, 3, 4, 5, 6],
        }
    )  # fmt: skip
    found = SINGLE_CHANGES.check(single_changes(frame))
    assert [tuple(one) for one in found.to_numpy().tolist()] == [
        ("lr", 0, 2), ("lr", 2, 1), ("lr", 5, 3), ("bs", 0, 3), ("opt", 3, 4)
    ]  # fmt: skip
    assert len(SINGLE_CHANGES.check(single_changes(frame.iloc[:0]))) == 0
    assert len(single_changes(frame, [])) == 0


@given(codes=hnp.arrays(np.int64, st.tuples(st.integers(0, 8), st.just(3)), elements=st.integers(0, 2)))
def test_every_pair_is_one_and_each_setting_with_any_has_one(codes: np.ndarray[Any, Any]) -> None:
    frame = pd.DataFrame(codes, columns=list("abc"))
    found = single_changes(frame)
    apart = {(i, j): np.flatnonzero(codes[i] != codes[j]) for i in range(len(codes)) for j in range(i)}
    wanted = {"abc"[differing[0]] for differing in apart.values() if len(differing) == 1}
    assert set(found["setting"]) == wanted
    for setting, first, second in found.itertuples(index=False):
        assert [setting] == ["abc"[at] for at in np.flatnonzero(codes[first] != codes[second])]


def test_the_trend_is_the_least_squares_line() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=50), rng.normal(size=50)
    assert trend(x, y) == pytest.approx(tuple(np.polyfit(x, y, 1)))
    holes = np.append(x, [np.nan, 1.0, np.inf]), np.append(y, [1.0, np.nan, 1.0])
    assert trend(*holes) == pytest.approx(trend(x, y))
    assert all(math.isnan(one) for one in trend(np.ones(3), np.arange(3.0)))


def test_a_thousand_runs_are_ranked_in_half_a_second() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({f"user_defined/{n}": rng.normal(size=1000) for n in range(24)})
    frame = frame.assign(**{f"user_defined/t{n}": rng.choice(list("abcde"), 1000) for n in range(6)})
    frame[TARGET] = rng.normal(size=1000)
    begin = process_time()
    assert len(importance(frame, TARGET)) == 30
    assert process_time() - begin < 0.5
