"""Leaks in simulated trainings: how many are found, and how often healthy memory is called a leak."""

from __future__ import annotations

import pytest

from parsers.analysis.profiles.memory import BytesOverTime, leak, step_minima
from tests.amounts import some_or_every
from tests.simulations.memory_curves import HEALTHY, LEAKS, simulate


def leaks(kind: str, every: bool, leak_mib: float = 0) -> float:
    """Return the share of 400 recordings, or of 50 without `every`, that are said to leak."""
    seeds = range(1000, 1400 if every else 1050)
    made = (simulate(kind, seed, leak_mib=leak_mib) for seed in seeds)
    found = sum(leak(step_minima(BytesOverTime(one.time, one.value), one.starts, one.ends)).verdict == "leak" for one in made)
    return found / len(seeds)


@some_or_every
@pytest.mark.parametrize("kind", HEALTHY)
def test_healthy_memory_is_no_leak(kind: str, every: bool) -> None:
    assert leaks(kind, every) <= 0.02


@some_or_every
@pytest.mark.parametrize("kind", HEALTHY)
def test_large_leaks_are_found(kind: str, every: bool) -> None:
    assert leaks(kind, every, LEAKS["large"]) >= 0.95
