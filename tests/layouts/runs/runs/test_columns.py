"""Columns that users add to the list of runs: their values are those of the files, in any number of runs."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path

import numpy as np
import pytest

from app.store.runs.matching import matching
from app.store.store import Store
from layouts.kit.state import BadInput
from layouts.runs.runs.columns import MOST_COLUMNS, MOST_RUNS, choices, matched, values
from parsers import Series
from tests.sources import MemorySource, row, series
from tests.sources.patterns import MemoryPatterns


def of(*numbers: float, started: float = 1e9) -> Series:
    step = np.arange(len(numbers), dtype=np.int64)
    return Series(step, started + step, np.array(numbers, np.float64), np.zeros(len(numbers), np.int32), step)


def source() -> MemorySource:
    return MemorySource({
        "a": {"scalar": {"loss": of(3.0, 1.0, math.nan), "acc": of(0.1, 0.9, 0.5), "odd": of(1.0)},
              "settings": {"learning_rate": 0.1, "epoch": 3, "user_defined/名": "x" * 1000, "user_defined/flag": True}},
        "b": {"scalar": {"loss": of(2.0, math.inf)}, "settings": {"learning_rate": math.nan, "user_defined/big": 2**70}},
        "c": {},
    })  # fmt: skip


def found(columns: list[str], **given: object) -> dict[str, list[object]]:
    given.setdefault("run", ["a", "b", "c"])
    answer = values(source(), {"col": columns, **given})
    json.dumps(answer, allow_nan=False)
    return answer["rows"]  # type: ignore[no-any-return]


def test_settings_last_and_best_values_and_durations() -> None:
    assert found(["setting:learning_rate", "setting:epoch"]) == {"a": [0.1, 3], "b": ["NaN", None], "c": [None, None]}
    assert found(["last:loss", "best:loss", "best:acc", "best:odd", "last:gone"]) == {
        "a": ["NaN", 1.0, 0.9, None, None], "b": ["Infinity", 2.0, None, None, None], "c": [None] * 5,
    }  # fmt: skip
    assert found(["duration"]) == {"a": [2.0], "b": [1.0], "c": [None]}
    texts = found(["setting:user_defined/名", "setting:user_defined/flag", "setting:user_defined/big"])
    assert (len(str(texts["a"][0])), texts["a"][1], texts["b"][2]) == (200, "true", str(2**70))
    assert found(["duration"], run=["gone"]) == {"gone": [None]}


def test_a_job_has_the_value_of_its_first_rank_and_the_duration_of_its_longest() -> None:
    data = {
        "job/rank_0": {"scalar": {"loss": of(1.0, 2.0)}},
        "job/rank_1": {"scalar": {"loss": of(5.0, 6.0, 7.0)}, "settings": {"epoch": 4}},
    }
    given = MemorySource(data, rows=[row("job", members=tuple(data))])
    answer = values(given, {"run": ["job"], "col": ["last:loss", "setting:epoch", "duration"]})
    assert answer["rows"] == {"job": [2.0, 4, 2.0]}
    assert answer["labels"] == {"setting:epoch": ["Epochs", "训练轮次"]}


def test_real_runs_have_the_values_of_their_files(real_data: Path) -> None:
    store = Store([real_data / "summary"], interval=0).start()
    assert store.wait(60)
    keys = [one.key for one in store.runs.rows()]
    answer = values(store, {"run": keys, "col": ["last:loss", "best:loss", "setting:batch_size"]}, clock=lambda: 0.0)
    known = 0
    for one in store.runs.rows():
        drawn = store.curves.series(one.members[0], "loss")
        if drawn is None:
            continue
        known += 1
        last, best, size = answer["rows"][one.key]
        assert float(last) == pytest.approx(float(drawn.value[-1]), nan_ok=True)
        assert best == np.nanmin(np.where(np.isfinite(drawn.value), drawn.value, np.nan))
        assert size == store.lineage.settings(one.members[0]).get("batch_size")
    assert known > 10
    store.stop()


def test_what_there_is_no_time_for_is_left_out() -> None:
    times = iter([0.0, *(0.15 * n for n in range(1, 9))])
    answer = values(source(), {"run": ["a", "b", "c"], "col": ["last:loss"]}, clock=lambda: next(times))
    assert list(answer["rows"]) == ["a", "b"]


def test_settings_that_divide_the_runs_are_offered_first() -> None:
    runs = {
        f"r{n}": {"settings": {"loss": n / 7, "network": "Net", "optimizer": "AB"[n % 2], "learning_rate": 0.1 * (n // 2)}}
        for n in range(6)
    }
    runs["r0"]["settings"]["seed"] = 1
    names = [name for name, *_ in choices(MemorySource(runs), {})["settings"]]
    assert names == ["learning_rate", "optimizer", "loss", "network", "seed"]


def test_columns_to_choose_from() -> None:
    offered = choices(source(), {})
    assert offered["settings"][0][:1] + offered["settings"][0][2:] == ["learning_rate", 2]
    assert [name for name, *_ in offered["tags"]] == ["loss", "acc", "odd"]
    assert [best for _, best, _ in offered["tags"]] == ["min", "max", ""]
    assert choices(source(), {"find": ["ACC"]})["tags"] == [["acc", "max", 1]]
    assert choices(source(), {"find": ["学习率"]})["settings"] == [["learning_rate", ["Learning rate", "学习率"], 2]]
    many = MemorySource({"a": {"scalar": {f"tag{n}": series(1) for n in range(500)}}})
    assert (len(choices(many, {})["tags"]), choices(many, {})["left"]) == (200, 300)
    assert choices(MemorySource(), {}) == {"find": "", "settings": [], "tags": [], "left": 0}


class Matching(MemoryPatterns):
    """Has the time limit of the application."""

    def matching(self, pattern: str, names: object) -> list[str]:
        return matching(pattern, list(names), 0.5)  # type: ignore[call-overload]


def test_a_hostile_pattern_is_stopped() -> None:
    assert matched(MemorySource(patterns=Matching), {"pattern": ["b[0-9]$"], "text": ["ab1", "ab", "b2"]}) == {
        "pattern": "b[0-9]$", "found": [0, 2], "error": "",
    }  # fmt: skip
    begun = time.monotonic()
    answer = matched(MemorySource(patterns=Matching), {"pattern": ["(a+)+$"], "text": ["a" * 60 + "!"]})
    assert time.monotonic() - begun < 30
    assert answer["found"] == []
    assert "took longer" in answer["error"]
    assert "regular expression" in matched(MemorySource(patterns=Matching), {"pattern": ["("], "text": ["a"]})["error"]


@pytest.mark.parametrize("data", [
    {"run": [str(n) for n in range(MOST_RUNS + 1)]}, {"col": [f"last:{n}" for n in range(MOST_COLUMNS + 1)]}, {"col": "x"},
    {"run": ["a"], "col": ["worst:loss"]}, [], {"run": [1]},
])  # fmt: skip
def test_what_no_page_sends_is_refused(data: object) -> None:
    with pytest.raises(BadInput):
        values(source(), data)


def test_columns_of_derived_curves() -> None:
    loss, lr = series(50, 1), series(50, 2)
    runs = MemorySource({"a": {"scalar": {"train/loss": loss, "lr": lr}}, "b": {"scalar": {"lr": lr}}})
    tag = "=train/loss / lr"
    answer = values(runs, {"run": ["a", "b"], "col": [f"{kind}:{tag}" for kind in ("last", "min", "max", "best")]})
    ratio = loss.value / lr.value
    assert answer["rows"] == {"a": [ratio[-1], ratio.min(), ratio.max(), None], "b": [None] * 4}
    assert answer["wrong"] == {}
    assert values(runs, {"run": ["a"], "col": ["best:=log10(train/loss)"]})["rows"]["a"] == [np.log10(loss.value.min())]
    assert values(runs, {"run": ["a"], "col": ["min:lr", "max:lr"]})["rows"]["a"] == [lr.value.min(), lr.value.max()]


def test_a_column_with_an_invalid_expression_says_why() -> None:
    answer = values(source(), {"run": ["a"], "col": ["last:=loss -", "setting:=x -"]})
    assert answer["rows"] == {"a": [None, None]}
    assert list(answer["wrong"]) == ["last:=loss -"]
    assert answer["wrong"]["last:=loss -"][0] == "Column 7: expected a tag, a number, a function or (; found the end."
