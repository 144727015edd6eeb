"""How many curves without a fault get a mark, and how many faults of each size are found.

Run as a script to print the figures of docs/training.md (three minutes): python -m tests.simulations.test_curve_kinds
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from parsers import Insight, Series
from parsers.analysis.curves.insights import LEVELS, RULES, insights_of
from tests.amounts import some_or_every
from tests.simulations.curve_kinds import FAULTS, HEALTHY, KnownCurve, faulty, healthy
from tests.simulations.further_curve_kinds import FURTHER, further

# The limits of recurring jumps moved once after a look at these seeds.
SEEDS = range(61_001, 61_101)
MORE_SEEDS = range(62_001, 62_401)
"""Of further curves without a fault: of 100 curves alone a share of 2 % cannot be told from one of 5 %."""
MEANT = {
    "overfitting": {"overfitting", "divergence"}, "spike": {"spike"}, "level_shift": {"shift"}, "plateau": {"plateau"},
    "divergence": {"divergence"}, "oscillation": {"oscillation"}, "growing_oscillation": {"oscillation"},
    "sudden_noise": {"noisier"}, "growing_noise": {"noisier"}, "never_moves": {"unmoved"}, "stall": {"stall"},
    "falling_speed": {"speed"}, "slower_steps": {"slower"}, "not_a_number": {"non_finite"},
}  # fmt: skip
"""The kinds of marks that tell of a fault."""
FLOORS = {
    ("overfitting", 0.4): 0.95, ("overfitting", 0.8): 0.95, ("overfitting", 2.0): 0.95, ("spike", 30): 0.95,
    ("level_shift", 15): 0.8, ("plateau", 0.7): 0.8, ("divergence", 2): 0.95, ("divergence", 10): 0.95,
    ("oscillation", 0.05): 0.95, ("oscillation", 0.15): 0.95, ("oscillation", 0.4): 0.95,
    ("growing_oscillation", 0.05): 0.95, ("growing_oscillation", 0.15): 0.95, ("growing_oscillation", 0.4): 0.95,
    ("sudden_noise", 3): 0.85, ("sudden_noise", 5): 0.95, ("growing_noise", 5): 0.9, ("never_moves", 0.0005): 0.95,
    ("never_moves", 0.0): 0.95, ("stall", 90): 0.95, ("stall", 600): 0.95, ("falling_speed", 1.5): 0.95,
    ("falling_speed", 3): 0.95, ("slower_steps", 3): 0.85, ("not_a_number", 0.0): 1.0, ("not_a_number", 0.05): 1.0,
    ("not_a_number", 1.0): 1.0,
}  # fmt: skip
"""The least share of faults of a size that is found; sizes that are not here are missed more often."""


def marks(curve: KnownCurve) -> list[Insight]:
    """The marks that pages show at *normal*; files hold values as float32."""
    points = len(curve.value)
    value = curve.value.astype(np.float32).astype(np.float64)
    series = Series(curve.step, curve.wall_time, value, np.zeros(points, np.int32), np.arange(points, dtype=np.int64))
    return [one for one in insights_of(curve.tag, series) if one.score >= LEVELS["normal"]]


def outcome(curve: KnownCurve) -> set[str]:
    """The kinds of marks of a curve."""
    return {one.kind for one in marks(curve)}


def is_found(kind: str, curve: KnownCurve) -> bool:
    """Is there a mark that tells of the fault and overlaps it, or misses it by at most 5 % of the curve?"""
    room = 0.05 * len(curve.value)
    return any(one.kind in MEANT[kind] and one.place <= curve.last + room and one.last_place >= curve.first - room
               for one in marks(curve))  # fmt: skip


def found(kind: str, size: float, seeds: Sequence[int]) -> float:
    return sum(is_found(kind, faulty(kind, size, seed)) for seed in seeds) / len(seeds)


def false_marks(kind: str, seeds: Sequence[int]) -> tuple[int, Counter[str]]:
    """(curves with any mark, curves by kind of mark) of the curves of a kind without a fault."""
    outcomes = [outcome(healthy(kind, seed)) for seed in seeds]
    return sum(bool(one) for one in outcomes), Counter(name for one in outcomes for name in one)


@pytest.mark.parametrize("kind", HEALTHY)
def test_curves_without_a_fault_are_finite_and_grow(kind: str) -> None:
    for seed in SEEDS[:5]:
        curve = healthy(kind, seed)
        assert 20 <= len(curve.value) == len(curve.step) == len(curve.wall_time) <= 20_000
        assert np.isfinite(curve.value).all()
        assert (np.diff(curve.step) > 0).all()
        assert (np.diff(curve.wall_time) > 0).all()


@pytest.mark.parametrize("kind", FAULTS)
def test_faults_lie_within_their_curves_and_their_largest_size_is_found(kind: str) -> None:
    size = FAULTS[kind].sizes[-1]
    curves = [faulty(kind, size, seed) for seed in SEEDS[:5]]
    assert all(0 <= one.first <= one.last < len(one.value) for one in curves)
    assert sum(is_found(kind, one) for one in curves) >= 4


def test_most_kinds_without_a_fault_get_hardly_a_mark() -> None:
    assert sum(false_marks(kind, SEEDS[:4])[0] for kind in HEALTHY) <= 0.05 * 4 * len(HEALTHY)


def test_further_kinds_without_a_fault_get_hardly_a_mark() -> None:
    assert sum(bool(outcome(further(kind, seed))) for kind in FURTHER for seed in range(8)) <= 2


@some_or_every
def test_a_loss_that_rises_where_its_rate_restarts_is_hardly_marked(every: bool) -> None:
    seeds = range(810_001, 810_401 if every else 810_031)
    assert false_marks("cosine_restart_loss", seeds)[0] <= (0.02 * len(seeds) if every else 1)


@pytest.mark.long
def test_neither_a_rule_nor_a_kind_has_more_marks_than_one_in_fifty_curves() -> None:
    results = {kind: false_marks(kind, SEEDS) for kind in HEALTHY}
    rules = sum((by_rule for _, by_rule in results.values()), Counter[str]())
    assert set(rules) <= set(RULES)
    assert all(number <= 0.02 * len(HEALTHY) * len(SEEDS) for number in rules.values()), rules
    # Of 100 curves, 2 % and a deviation of chance.
    assert {kind: marked for kind, (marked, _) in results.items() if marked > 0.034 * len(SEEDS)} == {}


@pytest.mark.long
@pytest.mark.parametrize("kind", FURTHER)
def test_further_kinds_are_marked_in_at_most_one_in_fifty(kind: str) -> None:
    assert sum(bool(outcome(further(kind, seed))) for seed in range(100, 250)) <= 0.02 * 150


@pytest.mark.long
@pytest.mark.parametrize("kind", FAULTS)
def test_faults_are_found_from_a_size_on(kind: str) -> None:
    shares = {size: found(kind, size, SEEDS) for size in FAULTS[kind].sizes}
    assert {size: share for size, share in shares.items() if share < FLOORS.get((kind, size), 0.0)} == {}, shares


@pytest.mark.parametrize("seed", [62_077, 62_168])
def test_a_reward_that_soon_stays_at_its_ceiling_is_judged(seed: int) -> None:
    marks(healthy("saturated_reward", seed))


def measure() -> None:
    seeds = [*SEEDS, *MORE_SEEDS]
    total, rules = 0, Counter[str]()
    for kind in HEALTHY:
        marked, by_rule = false_marks(kind, seeds)
        total, rules = total + marked, rules + by_rule
        print(f"{kind}: {marked / len(seeds):.1%}", dict(by_rule.most_common()))
    curves = len(seeds) * len(HEALTHY)
    print(f"{total} of {curves}:", ", ".join(f"{name} {number / curves:.2%}" for name, number in rules.most_common()))
    for kind, fault in FAULTS.items():
        print(f"{kind}:", ", ".join(f"{size:g}: {found(kind, size, SEEDS):.0%}" for size in fault.sizes))


if __name__ == "__main__":
    measure()
