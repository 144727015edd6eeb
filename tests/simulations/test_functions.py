"""The shares of known functions, and searches over them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulations.functions import FUNCTIONS, Function, random_search, shares, tpe_search

WITH_EFFECT = [name for name, function in FUNCTIONS.items() if function.used]


@pytest.mark.parametrize("name", WITH_EFFECT)
def test_shares_of_all_groups_of_settings_sum_to_one(name: str) -> None:
    found = shares(name)
    assert sum(found.groups.values()) == pytest.approx(1.0)
    assert sum(found.main.values()) <= 1.0 + 1e-9
    assert sum(found.total.values()) >= 1.0 - 1e-9
    for one in FUNCTIONS[name].settings:
        assert 0.0 <= found.main[one.name] <= found.total[one.name] + 1e-12 <= 1.0 + 1e-9
        assert (found.total[one.name] > 1e-6) == (one.name in FUNCTIONS[name].used)


def jansen(function: Function, of: str, rows: int = 200_000) -> tuple[float, float]:
    """Main and total share by sampling (Saltelli et al. 2010, table 2), from places that no level has."""
    random = np.random.default_rng(3)
    names = [one.name for one in function.settings]
    first, second = ({name: random.random(rows) for name in names} for _ in range(2))
    values = np.asarray(function.formula(first)), np.asarray(function.formula(second))
    mixed = np.asarray(function.formula(first | {of: second[of]}))
    variance = np.concatenate(values).var()
    return 1.0 - ((values[1] - mixed) ** 2).mean() / 2.0 / variance, ((values[0] - mixed) ** 2).mean() / 2.0 / variance


@pytest.mark.parametrize("name", WITH_EFFECT)
def test_shares_are_those_of_sampling(name: str) -> None:
    function = FUNCTIONS[name]
    for one in function.settings:
        main, total = jansen(function, one.name)
        assert shares(name).main[one.name] == pytest.approx(main, abs=0.02)
        assert shares(name).total[one.name] == pytest.approx(total, abs=0.02)


def test_two_switches_of_which_one_must_be_on_act_only_together() -> None:
    found = shares("exclusive")
    assert found.main["norm"] == found.main["skip"] == pytest.approx(0.0)
    assert found.groups["norm", "skip"] == pytest.approx(1.0)


def test_a_quadratic_of_one_setting_is_all_its_own() -> None:
    found = shares("log_quadratic")
    assert found.main["learning_rate"] == pytest.approx(1.0)
    assert found.total["seed"] == 0.0


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("search", [random_search, tpe_search])
def test_trials_have_the_value_of_their_settings(name: str, search) -> None:  # type: ignore[no-untyped-def]
    trials = search(np.random.default_rng(5), name)
    frame = trials.frame()
    assert len(frame) == 40
    function = trials.function
    at = {one.name: trials.places[:, column] for column, one in enumerate(function.settings)}
    np.testing.assert_allclose(frame["value"], function.formula(at))
    for one in function.settings:
        known = frame[one.name].dropna()
        if one.choices:
            assert set(known) <= set(one.choices)
        else:
            assert known.astype(float).between(one.low, one.high).all()
    again = search(np.random.default_rng(5), name)
    np.testing.assert_array_equal(again.values, trials.values)


def test_a_setting_without_effect_is_missing() -> None:
    frame = random_search(np.random.default_rng(5), "conditional").frame()
    assert (frame["beta"].isna() == (frame["optimizer"] == "sgd")).all()
    assert frame["beta"].isna().any()


def test_a_search_crowds_where_the_value_is_low_and_noise_is_a_share_of_the_spread() -> None:
    seeds = range(20)
    low = [np.median(tpe_search(np.random.default_rng(seed), "log_quadratic").values[20:]) for seed in seeds]
    even = [np.median(random_search(np.random.default_rng(seed), "log_quadratic").values[20:]) for seed in seeds]
    assert np.mean(low) < 0.6 * np.mean(even) + 0.4 * 0.4
    noisy = random_search(np.random.default_rng(1), "nothing", trials=4000, noise=0.5)
    assert noisy.values.std() == pytest.approx(0.5, rel=0.05)


def test_no_setting_has_a_share_where_the_value_is_constant() -> None:
    found = shares("nothing")
    assert set(found.main.values()) == set(found.total.values()) == {0.0}
