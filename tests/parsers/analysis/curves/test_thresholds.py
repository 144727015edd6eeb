"""The rules of the threshold dialog, case by case, as MindInsight has them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from parsers.analysis import ThresholdError, parse_threshold


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "comparator"),
        ("1.5", "comparator"),
        (">", "empty"),
        ("<", "empty"),
        ("> ", "space"),
        (">1 5", "space"),
        (">\t1", "space"),
        (">abc", "number"),
        (">Infinity", "number"),
        (">-Infinity", "number"),
        (">inf", "number"),
        (">nan", "number"),
        (">1e999", "number"),
        (">0x10", "number"),
        (">1_000", "number"),
        (">٣", "number"),
        (">1&>2", "comparator"),
        ("<1|<2", "comparator"),
        (">1&<2&<3", "comparator"),
        (">1&", "comparator"),
        (">1&<", "empty"),
        (">1&<1", "equal"),
        (">1|<1.0", "equal"),
        (">1|<2", "or"),
        ("<2|>1", "or"),
        (">2&<1", "and"),
        ("<1&>2", "and"),
        (">" + "9" * 300, "number"),
    ],
)
def test_refused(text: str, reason: str) -> None:
    with pytest.raises(ThresholdError) as caught:
        parse_threshold(text)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("text", "interval", "satisfying"),
    [
        ("<1.5", "(-Infinity,1.5)", [-3.0, 0.0, 1.0, -math.inf]),
        (">1.5", "(1.5,Infinity)", [2.0, 3.0, math.inf]),
        (">1&<3", "(1,3)", [1.5, 2.0]),
        ("<3&>1", "(1,3)", [1.5, 2.0]),
        ("<1|>2", "(-Infinity,1),(2,Infinity)", [-3.0, 0.0, 3.0, math.inf, -math.inf]),
        (">2|<1", "(-Infinity,1),(2,Infinity)", [-3.0, 0.0, 3.0, math.inf, -math.inf]),
        (">0.1234567", "(0.12346,Infinity)", [1.0, 1.5, 2.0, 3.0, math.inf]),
        (">-1e-7", "(0,Infinity)", [0.0, 1.0, 1.5, 2.0, 3.0, math.inf]),
        (">1e300", "(1e+300,Infinity)", [math.inf]),
    ],
)
def test_accepted(text: str, interval: str, satisfying: list[float]) -> None:
    threshold = parse_threshold(text)
    assert threshold.interval == interval
    values = np.array([-3.0, 0.0, 1.0, 1.5, 2.0, 3.0, math.inf, -math.inf, math.nan])
    assert sorted(values[threshold.satisfied(values)].tolist()) == sorted(satisfying)
    assert parse_threshold(threshold.text) == threshold
    assert threshold.bounds == tuple(sorted(threshold.bounds))
