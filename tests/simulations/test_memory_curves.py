"""Leaks in simulated trainings: how many are found, and how often healthy memory is called a leak."""

from __future__ import annotations

import pytest

from parsers.analysis.profiles.memory import Series, leak, step_minima
from tests.simulations.memory_curves import HEALTHY, LEAKS, simulate


def leaks(kind: str, leak_mib: float = 0) -> int:
    """Return how many of 400 recordings are said to leak."""
    made = (simulate(kind, seed, leak_mib=leak_mib) for seed in range(1000, 1400))
    return sum(leak(step_minima(Series(one.time, one.value), one.starts, one.ends)).verdict == "leak" for one in made)


@pytest.mark.parametrize("kind", HEALTHY)
def test_healthy_memory_is_no_leak(kind: str) -> None:
    assert leaks(kind) <= 0.02 * 400


@pytest.mark.parametrize("kind", HEALTHY)
def test_large_leaks_are_found(kind: str) -> None:
    assert leaks(kind, LEAKS["large"]) >= 0.95 * 400
