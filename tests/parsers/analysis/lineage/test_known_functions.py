"""Importance of settings in searches of known functions: which setting comes first, and what inert settings get.

The functions are those of tests/simulations/functions.py, whose shares are computed exactly. Run as a script with a number of
seeds to print the tables of docs/figures.md: python -m tests.parsers.analysis.lineage.test_known_functions SEEDS [SEARCH]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from parsers.analysis import Range, Shares, stoppable, variance_shares
from tests.amounts import some_or_every
from tests.simulations.functions import FUNCTIONS, Trials, random_search, shares, tpe_search
from tests.simulations.optuna_searches import optuna_search, tuner_search

# Constants were chosen on seeds below 200.
FIRST_SEED = 31_000
KNOWN = [name for name in FUNCTIONS if name != "nothing"]
Search = Callable[..., Trials]
SEARCHES: dict[str, Search] = {"random": random_search, "tuner": tuner_search, "optuna": optuna_search, "crowded": tpe_search}


def last(trials: Trials, refits: int) -> Shares:
    table = trials.frame().rename(columns={"value": "metric/value"})
    settings = trials.function.settings
    ranges = {one.name: Range(one.low, one.high, one.log, float(one.whole)) for one in settings if not one.choices}
    *_, found = variance_shares(table, "metric/value", [one.name for one in settings], refits=refits, ranges=ranges)
    return found


@dataclass(frozen=True, slots=True)
class Judged:
    """What is said of a search of a known function, beside what is true.

    first is whether a setting of the largest share is listed first, equal whether it is, or is tied with the one that is.
    listed is whether an inert setting stands above one of a share of 5 % or more, above whether one with a rank does; ranked
    are inert settings with a rank; wrong is whether a setting is surely first that has a smaller share than another one with
    a rank.
    """

    found: Shares
    first: bool
    equal: bool
    listed: bool
    above: bool
    ranked: list[str]
    wrong: bool


def judged(name: str, seed: int, search: Search, refits: int = 10) -> Judged:
    found = last(search(np.random.default_rng(seed), name, 40, FUNCTIONS[name].noise), refits)
    total = shares(name).total
    largest = [one for one, share in total.items() if share >= max(total.values()) - 1e-6]
    order = found.importance["setting"].tolist()
    with_rank = found.importance["setting"][found.importance["reason"] == ""].tolist()
    lowest = max(order.index(one) for one in order if total[one] >= 0.05)
    inert = [one for one in order if total[one] == 0.0]
    ranked = [one for one in inert if one in with_rank]
    first = order[0] in largest
    tied = bool(found.importance["tied"].iloc[0])
    lost = bool(with_rank) and not tied and total[order[0]] < max(total[one] for one in with_rank) - 1e-6
    return Judged(
        found, first, first or (tied and order[1] in largest), any(order.index(one) < lowest for one in inert),
        any(order.index(one) < lowest for one in ranked), ranked, lost,
    )  # fmt: skip


@some_or_every
@pytest.mark.parametrize("name", KNOWN)
def test_the_setting_of_the_largest_share_comes_first_and_no_inert_one_above_others(name: str, every: bool) -> None:
    found = [judged(name, FIRST_SEED + seed, random_search) for seed in range(20 if every else 3)]
    assert np.mean([one.first for one in found]) >= (0.9 if every else 0.6)
    assert not any(one.listed for one in found)


@some_or_every
def test_in_searches_of_the_tuner_the_largest_share_is_first_or_tied_and_no_inert_one_above(every: bool) -> None:
    for name in KNOWN if every else ["conditional"]:
        found = [judged(name, FIRST_SEED + seed, tuner_search) for seed in range(20 if every else 3)]
        assert sum(one.equal for one in found) >= (18 if every else 2), name
        assert not any(one.above for one in found), name


@some_or_every
@pytest.mark.parametrize("search", [tpe_search, optuna_search, tuner_search])
def test_searches_that_crowd_near_their_best_trials_are_not_ranked_wrongly(search: Search, every: bool) -> None:
    for name in KNOWN if every else ["conditional"]:
        found = [judged(name, FIRST_SEED + seed, search) for seed in range(20 if every else 3)]
        assert sum(one.wrong for one in found) <= (2 if every else 1), name


@some_or_every
def test_settings_of_equal_shares_are_tied_and_a_far_larger_one_is_not(every: bool) -> None:
    """Of random searches: two switches act only together, so each has the whole share; a learning rate has it alone."""
    seeds = range(FIRST_SEED + 400, FIRST_SEED + (420 if every else 403))
    tied = [judged("exclusive", seed, random_search).found.importance["tied"].iloc[0] for seed in seeds]
    assert sum(tied) >= 0.6 * len(tied)
    for seed in seeds:
        found = judged("log_quadratic", seed, random_search).found.importance
        assert not found["tied"].any()
        assert (found["setting"].iloc[0], found["reason"].iloc[0]) == ("learning_rate", "")


@pytest.mark.parametrize("name", ["exclusive", "u_shape"])
def test_what_can_be_left_alone_is_what_has_no_effect(name: str) -> None:
    found = judged(name, FIRST_SEED, random_search).found
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


def measure(seeds: int, search: str) -> None:
    """Print the rows of a table; shares are those of the variance of results, noise included."""
    for name in KNOWN:
        found = [judged(name, FIRST_SEED + seed, SEARCHES[search]) for seed in range(seeds)]
        known = [dict(zip(one.found.importance["setting"], one.found.importance["importance"], strict=True)) for one in found]
        true = {one: share / (1.0 + FUNCTIONS[name].noise ** 2) for one, share in shares(name).total.items()}
        said = [f"{one} {np.mean([each.get(one, np.nan) for each in known]):.2f} ({share:.2f})" for one, share in true.items()]
        untried = sum(bool((one.found.importance["reason"] == "untried").any()) for one in found)
        counts = [sum(getattr(one, field) for one in found) for field in ("first", "equal", "listed", "above")]
        counts += [sum(bool(one.ranked) for one in found), untried, sum(one.wrong for one in found)]
        print(f"| {name} | {' | '.join(map(str, counts))} | {', '.join(said)} |", flush=True)


if __name__ == "__main__":
    for asked in sys.argv[2:] or SEARCHES:
        print(asked)
        measure(int(sys.argv[1]), asked)
