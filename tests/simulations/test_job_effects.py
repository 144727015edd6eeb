"""Drawn jobs: their effects have the sizes they are said to have, and what advice says of them is right."""

from __future__ import annotations

import pytest

from tests.simulations.job_effects import EFFECTS, FAULTS, HEALTHY, Case, drawn, piped
from tests.simulations.job_verdicts import of_fault, of_healthy, true_shares

NEW = range(3000, 3100)
"""Seeds that no limit was adjusted on."""
LIMITS = {"stages": 0.1, "bubble": 0.1, "communication": 0.1, "idle": 0.1, "slow_link": 0.2, "small_packets": 0.001}
"""From which size on an effect is to be found."""
QUICK = ["buckets", "meetings", "tensor", "unequal", "hiccups", "3_steps", "fused_and_scalars"]


@pytest.mark.parametrize("effect", [0.15, 0.6])
def test_a_stage_exceeds_the_mean_by_its_effect(effect: float) -> None:
    assert true_shares(FAULTS["stages"](1, effect))["stages"] == pytest.approx(effect, rel=0.05)


@pytest.mark.parametrize("rule", ["bubble", "communication", "idle"])
def test_what_is_lost_is_the_effect_or_more(rule: str) -> None:
    assert 0.22 < true_shares(FAULTS[rule](1, 0.25))[rule] < 0.4


def test_healthy_jobs_lose_little() -> None:
    assert max(true_shares(Case(drawn(1))).values()) < 0.1
    assert max(true_shares(Case(piped(1))).values()) < 0.12


@pytest.mark.parametrize("kind", QUICK)
def test_healthy_jobs_are_not_accused(kind: str) -> None:
    assert of_healthy(kind, range(1)) == {"fine": 1}


@pytest.mark.parametrize("rule", FAULTS)
def test_an_effect_is_found_where_it_is(rule: str) -> None:
    assert of_fault(rule, EFFECTS[rule][-2], range(1))["right"] == 1


@pytest.mark.long
@pytest.mark.parametrize("kind", HEALTHY)
def test_at_most_one_in_fifty_healthy_jobs_is_accused(kind: str) -> None:
    assert of_healthy(kind, NEW)["fine"] >= 98


@pytest.mark.long
@pytest.mark.parametrize("rule", FAULTS)
def test_nineteen_in_twenty_effects_are_found(rule: str) -> None:
    for effect in EFFECTS[rule]:
        if effect > LIMITS[rule]:
            assert of_fault(rule, effect, NEW)["right"] >= 95, effect
