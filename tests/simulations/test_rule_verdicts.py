"""Drawn operators, packets, memory, machines and experts: their effects are what they are said to be, and rules find them."""

from __future__ import annotations

import pytest

from tests.simulations import expert_loads, machine_load, operator_profiles, packet_sizes
from tests.simulations.rule_verdicts import EFFECTS, FAULTS, HEALTHY, of_fault, of_healthy

NEW = range(4_000, 4_050)
"""Seeds that no limit was adjusted on, but for those of `alignment`."""
LIMITS = {"ai_cpu": 0.05, "shapes": 0.0, "compilations": 0.5, "cpu": 0.8, "memory": 0.97, "alignment": 0.05, "resent": 0.0,
          "experts": 0.2}  # fmt: skip
"""From which size on an effect is to be found. A rank whose process is not recorded holds more than is known of it."""


@pytest.mark.parametrize("seed", range(3))
def test_operators_on_the_ai_cpu_take_their_share(seed: int) -> None:
    plan = operator_profiles.on_ai_cpu(seed, 0.2)
    names = frozenset(place.name for place in plan.places if place.core == "AI_CPU")
    assert operator_profiles.share_of(operator_profiles.simulate(plan), names) == pytest.approx(0.2, rel=0.15)


@pytest.mark.parametrize("seed", range(3))
def test_a_hot_expert_exceeds_its_group(seed: int) -> None:
    plan = expert_loads.hot(seed, 0.3)
    assert expert_loads.excess_of(plan, expert_loads.simulate(plan)) == pytest.approx(0.3, rel=0.15)


@pytest.mark.parametrize("seed", range(3))
def test_unaligned_packets_lose_their_share(seed: int) -> None:
    assert packet_sizes.lost(packet_sizes.unaligned(seed, 0.1)) == pytest.approx(0.1, rel=0.4)


@pytest.mark.parametrize("kind", machine_load.HEALTHY)
def test_healthy_machines_have_room(kind: str) -> None:
    assert machine_load.busy_share(machine_load.simulate(machine_load.HEALTHY[kind](1))) < 0.75


@pytest.mark.parametrize("kind", HEALTHY)
def test_healthy_data_is_not_accused(kind: str) -> None:
    assert not [said for said in of_healthy(kind, range(1)) if said.startswith("false")]


@pytest.mark.parametrize("rule", FAULTS)
def test_an_effect_is_found_where_it_is(rule: str) -> None:
    assert of_fault(rule, EFFECTS[rule][-1], range(1))["right"] == 1


@pytest.mark.long
@pytest.mark.parametrize("kind", HEALTHY)
def test_at_most_one_in_fifty_healthy_ones_is_accused(kind: str) -> None:
    counts = of_healthy(kind, NEW)
    assert sum(number for said, number in counts.items() if said.startswith("false")) <= 0.02 * len(NEW), counts


@pytest.mark.long
@pytest.mark.parametrize("rule", FAULTS)
def test_nineteen_in_twenty_effects_are_found(rule: str) -> None:
    for effect in EFFECTS[rule]:
        if effect > LIMITS[rule]:
            assert of_fault(rule, effect, NEW)["right"] >= 0.95 * len(NEW), effect
