from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from parsers import IMPORTANCE, SINGLE_CHANGES, Run, discover, lineage_table
from parsers.analysis import importance, settings_of, single_changes, targets_of
from parsers.analysis.lineage.intervals import beta_cdf, explained
from parsers.analysis.lineage.strengths import association, pearson, ranks, spearman
from tests.amounts import long_after, some_or_every
from tests.parsers.lineage.lineage_reference import lineage_event, write_run

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
    assert frame[["pearson_low", "spearman_low"]].max(axis=1).is_monotonic_decreasing
    assert frame["setting"].iloc[0] == "b"


def test_it_is_what_scipy_says() -> None:
    rng = np.random.default_rng(8)
    for n in (4, 8, 40):
        x, y = rng.normal(size=(2, n)).round(1)
        found = pearson(x, y)
        assert found.value * found.sign == pytest.approx(scipy.stats.pearsonr(x, y).statistic)
        assert spearman(x, y).value == pytest.approx(abs(scipy.stats.spearmanr(x, y).statistic))
        assert ranks(x).tolist() == scipy.stats.rankdata(x).tolist()


def test_it_is_what_mindinsight_expects_of_its_own_data(tmp_path: Path) -> None:
    """Runs and expectations of tests/st/func/optimizer/targets and tests/ut/optimizer/utils of MindInsight."""
    golden, rates, accuracies = 0.9714143567416961, [0.01, 0.001, 0.02, 0.04, 0.05], [0.8, 0.9, 0.8, 0.7, 0.6]
    for n, (rate, acc) in enumerate(zip(rates, accuracies, strict=True)):
        train = lineage_event(train_lineage={"hyper_parameters": {"learning_rate": rate}})
        write_run(tmp_path / f"train_{n + 1}", train + lineage_event(evaluation_lineage={"metric": json.dumps({"acc": acc})}))
    runs = [Run(source) for source in discover(tmp_path)]
    for run in runs:
        run.refresh()
    found = row(importance(lineage_table(runs), TARGET), "learning_rate")
    assert found["pearson"] == pytest.approx(golden, abs=1e-5)
    # It takes the float32 of a file for its double; here 0.01 is read as 0.01.
    single = np.array(rates, np.float32).astype(np.float64)
    found = row(importance(table(accuracies, learning_rate=single), TARGET), "learning_rate")
    assert found["pearson"] == pytest.approx(golden, abs=1e-14)
    assert (found["sign"], found["reason"]) == (-1, "")
    assert row(importance(table([30, 40, 50], epoch=[10, 20, 30]), TARGET), "epoch")["pearson"] == pytest.approx(1.0)
    # Where it answers with an error it is a reason here.
    assert row(importance(table([32, 32], epoch=[10, 10]), TARGET), "epoch")["reason"] == "few"
    assert row(importance(table([0.6432, 0.6281, 0.6692], epoch=[10, 10, 10]), TARGET), "epoch")["reason"] == "constant"


def test_far_from_zero_the_interval_is_fishers() -> None:
    x = np.tile([1.0, -1.0], 400)
    y = x + np.sqrt(3.0) * np.repeat([1.0, -1.0], 400)  # r = 0.5
    found = pearson(x, y)
    assert (found.low, found.high) == pytest.approx(tuple(scipy.stats.pearsonr(x, y).confidence_interval()), abs=2e-4)


def test_nothing_measured_leaves_only_weak_relations() -> None:
    found = pearson(np.tile([1.0, -1.0], 14), np.repeat([1.0, -1.0], 14))
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(np.tanh(math.sqrt(2.7) / 5))


@pytest.mark.long
@pytest.mark.parametrize(
    ("rho", "n"),
    long_after(
        1,
        [
            (0.8, 10), (0.0, 10), (0.3, 10), (0.9, 10), (0.2, 12), (0.5, 12), (0.8, 12), (0.0, 20), (-0.7, 30), (0.1, 60),
            (0.9, 60),
        ],
    ),
)  # fmt: skip
def test_intervals_cover_95_percent(rho: float, n: int) -> None:
    rng = np.random.default_rng(7)
    covered = np.zeros(2)
    for _ in range(2000):
        x = rng.normal(size=n)
        y = rho * x + math.sqrt(1 - rho * rho) * rng.normal(size=n)
        true = abs(rho), 6 / math.pi * math.asin(abs(rho) / 2)
        covered += [one.low <= value <= one.high for one, value in zip((pearson(x, y), spearman(x, y)), true, strict=True)]
    assert (covered / 2000 >= 0.93).all()
    assert (covered / 2000 <= 0.97).all()


@some_or_every
@pytest.mark.parametrize(
    ("groups", "n", "noncentrality"), long_after(1, [(3, 10, 0.0), (3, 12, 4.0), (5, 30, 1.0), (5, 30, 40.0), (20, 200, 9.0)])
)
def test_intervals_of_categories_cover_95_percent(groups: int, n: int, noncentrality: float, every: bool) -> None:
    rng = np.random.default_rng(11)
    codes = np.arange(n) % groups
    means = np.where(codes == 0, 1.0, 0.0)
    means -= means.mean()
    means *= math.sqrt(noncentrality / float(means @ means))
    true = math.sqrt(noncentrality / (noncentrality + n))
    found = [association(codes, means + rng.normal(size=n)) for _ in range(2000 if every else 200)]
    covered = np.mean([one.low <= true <= one.high for one in found])
    assert (0.93 if every else 0.9) <= covered <= (0.97 if every else 0.99)


@given(
    share=st.floats(1e-6, 0.9999), groups=st.integers(2, 30), more=st.integers(1, 1000), noncentrality=st.floats(0, 1e4)
)
def test_the_noncentral_distribution_is_scipys(share: float, groups: int, more: int, noncentrality: float) -> None:
    noncentrality = 0.0 if noncentrality < 1e-6 else noncentrality  # scipy gives 1 for 1e-38 and any value
    first, second = groups - 1, more
    value = share / (1 - share) * second / first
    wanted = scipy.stats.ncf.cdf(value, first, second, noncentrality)
    assume(wanted == wanted)  # some of scipy's are NaN
    assert beta_cdf(share, first / 2, second / 2, noncentrality) == pytest.approx(wanted, abs=1e-8)


def test_ends_that_are_certain() -> None:
    assert explained(1.0, 3, 9) == (1.0, 1.0)
    assert all(math.isnan(end) for end in explained(0.5, 3, 3))
    assert explained(1 - 1e-12, 3, 9)[1] == 1.0
    assert pearson(np.arange(5.0), np.arange(5.0)) == (1.0, 1.0, 1.0, 1)


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
        "never": "constant", "two": "few", "tag": "unique", "lr": "", "decay": "confounded", "name": "confounded",
        "free": "", "seed": "", "twin": "confounded", "noise": "",
    }  # fmt: skip
    assert frame["pearson"].notna().tolist() == [True] * 4 + [False] * 6
    # The first of those that always change together stands for all.
    others = {"lr": "", "decay": "lr", "name": "lr", "seed": "", "twin": "seed", "free": ""}
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
    assert 0 < row(frame, "kind")["pearson_low"] < wanted < row(frame, "kind")["pearson_high"] < 1
    assert row(frame, "mixed")["levels"] == 3
    pair = row(frame, "pair")
    assert pair["pearson"] == pytest.approx(abs(np.corrcoef([0, 0, 0, 1, 1, 1, 1, 1], y)[0, 1]))
    assert (pair["kind"], pair["sign"]) == ("categorical", 0)
    assert association(np.array([0, 1, 0, 1]), np.array([1.0, 1.0, 2.0, 2.0])).value == 0.0


def test_settings_that_mostly_change_together_are_named() -> None:
    rng = np.random.default_rng(2)
    a = rng.normal(size=60)
    names = rng.choice(list("xyz"), 60)
    other = np.where(np.arange(60) % 20 == 0, "x", names)
    frame = importance(
        table(
            rng.normal(size=60), a=a, b=np.exp(a + rng.normal(size=60) * 0.1), free=rng.normal(size=60), name=names,
            other=other, level=np.searchsorted(["x", "y", "z"], other) * 10.0,
        ), TARGET,
    )  # fmt: skip
    assert {name: row(frame, name)["entangled"] for name in frame["setting"]} == {
        "a": "b", "b": "a", "free": "", "name": "other", "other": "name", "level": "",
    }  # fmt: skip
    rho = scipy.stats.spearmanr(a, np.exp(a + 0)).statistic
    assert rho == pytest.approx(1)
    assert 0.9 <= row(frame, "a")["entangled_strength"] < 1
    # `other` and `level` cannot be told apart at all, which is what is said of them.
    assert row(frame, "level")["confounded"] == "other"
    crossed = pd.crosstab(names, other)
    [v] = [row(frame, "name")["entangled_strength"]]
    chance = (scipy.stats.contingency.association(crossed, "cramer") ** 2 * 2 - 4 / 59) / (3 - 4 / 59 - 1)
    assert v == pytest.approx(math.sqrt(chance))

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
    with pytest.raises(ValueError, match="expected a column of numbers"):
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


def test_the_strongest_of_several_that_change_together_does_not_vanish() -> None:
    rng = np.random.default_rng(4)
    lr = rng.choice([1e-4, 1e-3, 1e-2, 1e-1], 40)
    y = np.log10(lr) + 0.1 * rng.normal(size=40)
    frame = importance(table(y, noise=rng.normal(size=40), lr=lr, lr_copy=lr, decay=lr * 3), TARGET)
    assert frame["setting"].iloc[0] == "lr"
    assert row(frame, "lr")["spearman"] == pytest.approx(abs(scipy.stats.spearmanr(lr, y).statistic))
    assert [row(frame, name)["confounded"] for name in ("lr_copy", "decay")] == ["lr", "lr"]


def test_names_that_almost_every_run_has_for_itself_are_set_apart() -> None:
    rng = np.random.default_rng(6)
    names = [f"job-{n}" for n in range(299)] + ["job-0"]
    frame = importance(table(rng.normal(size=300), job=names, few=[f"{n // 3}" for n in range(300)]), TARGET)
    assert row(frame, "job")["reason"] == "identifier"
    assert math.isnan(row(frame, "job")["pearson"])
    assert row(frame, "few")["reason"] == ""


def test_settings_are_sorted_by_what_is_sure() -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=200)
    few = np.full(200, np.nan)
    few[:5] = x[:5] + rng.normal(size=5) * 0.3  # stronger, of five runs
    frame = importance(table(x, few=few, many=x + rng.normal(size=200)), TARGET)
    assert row(frame, "few")["pearson"] > row(frame, "many")["pearson"]
    assert frame["setting"].tolist() == ["many", "few"]


def test_a_thousand_runs_are_ranked() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({f"user_defined/{n}": rng.normal(size=1000) for n in range(24)})
    frame = frame.assign(**{f"user_defined/t{n}": rng.choice(list("abcde"), 1000) for n in range(6)})
    frame[TARGET] = rng.normal(size=1000)
    assert len(importance(frame, TARGET)) == 30
