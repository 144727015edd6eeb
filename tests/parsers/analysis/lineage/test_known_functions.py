"""Importance of settings in searches of known functions: which setting comes first, and what inert settings get.

The functions are those of tests/simulations/functions.py, whose shares are computed exactly. Run as a script with a number of
seeds to print the tables of docs/figures.md: python -m tests.parsers.analysis.lineage.test_known_functions SEEDS
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest

from parsers.analysis import Range, Shares, stoppable, variance_shares
from parsers.analysis.lineage.shares import NONE
from tests.amounts import some_or_every
from tests.simulations.functions import FUNCTIONS, Trials, random_search, shares, tpe_search
from tests.simulations.optuna_searches import optuna_search

# Constants were chosen on seeds below 200.
FIRST_SEED = 9_000
KNOWN = [name for name in FUNCTIONS if name != "nothing"]
Search = Callable[..., Trials]


def last(trials: Trials, refits: int) -> Shares:
    table = trials.frame().rename(columns={"value": "metric/value"})
    settings = trials.function.settings
    ranges = {one.name: Range(one.low, one.high, one.log, float(one.whole)) for one in settings if not one.choices}
    *_, found = variance_shares(table, "metric/value", [one.name for one in settings], refits=refits, ranges=ranges)
    return found


def judged(name: str, seed: int, search: Search, refits: int = 10, noise: float = 0.1) -> tuple[bool, bool, list[str], Shares]:
    """(a setting of the largest share is first, an inert one is above one of 5 %, inert ones with a rank, the answer)."""
    found = last(search(np.random.default_rng(seed), name, 40, noise), refits)
    total = shares(name).total
    order = found.importance["setting"].tolist()
    least = min((order.index(one) for one in order if total[one] == 0.0), default=len(order))
    most = max(order.index(one) for one in order if total[one] >= 0.05)
    sure = found.importance["setting"][found.importance["low"] >= NONE]
    return total[order[0]] >= max(total.values()) - 1e-6, least < most, [one for one in sure if total[one] == 0.0], found


@some_or_every
@pytest.mark.parametrize("name", KNOWN)
def test_the_setting_of_the_largest_share_comes_first_and_no_inert_one_above_others(name: str, every: bool) -> None:
    found = [judged(name, FIRST_SEED + seed, random_search) for seed in range(20 if every else 3)]
    assert np.mean([first for first, _, _, _ in found]) >= (0.9 if every else 0.6)
    assert not any(above for _, above, _, _ in found)


def first_is_wrong(name: str, found: Shares) -> bool:
    """Is a setting surely first that has a smaller share than another one with a rank?"""
    total = shares(name).total
    ranked = found.importance[found.importance["reason"] == ""]
    if not len(ranked) or ranked["tied"].iloc[0]:
        return False
    return total[ranked["setting"].iloc[0]] < max(total[one] for one in ranked["setting"]) - 1e-6


@some_or_every
@pytest.mark.parametrize("search", [tpe_search, optuna_search])
def test_searches_that_crowd_near_their_best_trials_are_not_ranked_wrongly(search: Search, every: bool) -> None:
    for name in KNOWN if every else ["conditional"]:
        found = [judged(name, FIRST_SEED + seed, search)[3] for seed in range(20 if every else 4)]
        assert sum(first_is_wrong(name, one) for one in found) <= (2 if every else 1), name


@some_or_every
def test_a_conditional_setting_comes_first_in_searches_of_optuna(every: bool) -> None:
    found = [judged("conditional", FIRST_SEED + seed, optuna_search) for seed in range(20 if every else 3)]
    right = [first or bool(one.importance["tied"].iloc[0]) for first, _, _, one in found]
    assert sum(right) >= (18 if every else 2)


@some_or_every
def test_settings_of_equal_shares_are_tied_and_a_far_larger_one_is_not(every: bool) -> None:
    """Of random searches: two switches act only together, so each has the whole share; a learning rate has it alone."""
    seeds = range(FIRST_SEED + 400, FIRST_SEED + (420 if every else 403))
    tied = [judged("exclusive", seed, random_search)[3].importance["tied"].iloc[0] for seed in seeds]
    assert sum(tied) >= 0.6 * len(tied)
    for seed in seeds:
        found = judged("log_quadratic", seed, random_search)[3].importance
        assert not found["tied"].any()
        assert (found["setting"].iloc[0], found["reason"].iloc[0]) == ("learning_rate", "")


@pytest.mark.parametrize("name", ["exclusive", "u_shape"])
def test_what_can_be_left_alone_is_what_has_no_effect(name: str) -> None:
    _, _, _, found = judged(name, FIRST_SEED, random_search)
    alone = stoppable(found.importance, found.fit)
    assert alone is not None
    assert {"seed", "momentum"} <= set(alone[0])
    assert not {one for one in alone[0] if shares(name).total[one] > 0.05}


def test_of_noise_nothing_is_said() -> None:
    for seed in range(3):
        found = last(random_search(np.random.default_rng(FIRST_SEED + seed), "nothing", 40, 1.0), 10)
        assert found.fit < 0.2
        assert stoppable(found.importance, found.fit) is None
        assert (found.importance["low"] < 0.05).all()


def measure(seeds: int) -> None:
    for label, search in (("random", random_search), ("tpe", tpe_search), ("optuna", optuna_search)):
        for name in KNOWN:
            found = [judged(name, FIRST_SEED + seed, search) for seed in range(seeds)]
            means = {one.name: np.mean([dict(zip(each.importance["setting"], each.importance["importance"], strict=True)).get(
                one.name, np.nan) for *_, each in found]) for one in FUNCTIONS[name].settings}  # fmt: skip
            said = ", ".join(f"{one} {mean:.2f} ({shares(name).total[one]:.2f})" for one, mean in means.items())
            print(f"{label} {name}: first {sum(one[0] for one in found)}, inert above {sum(one[1] for one in found)},",
                  f"inert ranked {sum(bool(one[2]) for one in found)},",
                  f"tied first {sum(bool(one[3].importance['tied'].iloc[0]) for one in found)},",
                  f"untried {sum((one[3].importance['reason'] == 'untried').any() for one in found)},",
                  f"surely first and wrong {sum(first_is_wrong(name, one[3]) for one in found)} of {seeds};",
                  said, flush=True)  # fmt: skip


if __name__ == "__main__":
    measure(int(sys.argv[1]))
