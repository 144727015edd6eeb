"""Causes in dumps of simulated trainings: how many faults are found and named, and how often healthy training has a cause.

Norms are computed without files, so that hundreds of trainings are tried; fewer are written as dumps and read again.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.amounts import long_after
from tests.simulations.dumped_verdicts import (
    causes_of,
    departed,
    draw,
    found_in,
    has_a_cause,
    names_what_explodes,
    names_what_is_not_finite,
    names_what_vanishes,
    names_where_gradients_vanish,
)
from tests.simulations.faulty_trainings import EXPLODING, NON_FINITE, SHARES, VANISHING, non_finite
from tests.simulations.healthy_trainings import HEALTHY

SEEDS = range(1020, 1032)


def test_healthy_norms_stay_in_their_history() -> None:
    """Of few trainings of each kind, all kinds together."""
    assert sum(found_in(kind, SEEDS[:4]) for kind in HEALTHY) <= 0.02 * 4 * len(HEALTHY)


@pytest.mark.long
@pytest.mark.parametrize("kind", HEALTHY)
def test_few_of_many_healthy_norms_leave_their_history(kind: str) -> None:
    assert found_in(kind, range(1000, 1300)) <= 0.02 * 300


@pytest.mark.parametrize("kind", ["masked_attention", min(HEALTHY)])
def test_healthy_dumps_have_no_cause(tmp_path: Path, kind: str) -> None:
    assert not has_a_cause(causes_of(tmp_path, HEALTHY[kind](draw(2000))))


@pytest.mark.long
def test_at_most_one_in_fifty_healthy_dumps_has_a_cause(tmp_path: Path) -> None:
    cases = [(kind, seed) for kind in HEALTHY for seed in range(2000, 2010)]
    found = [one for one in cases if has_a_cause(causes_of(tmp_path / "{}{}".format(*one), HEALTHY[one[0]](draw(one[1]))))]
    assert len(found) <= 0.02 * len(cases), found


def test_what_goes_wrong_beside_a_mask_is_named(tmp_path: Path) -> None:
    training = HEALTHY["masked_attention"](draw(0))
    wrong = next(one for one in training.net.operators if one.type == "ReLU")
    compute = wrong.compute
    wrong.compute = lambda x: compute(x) * np.float32(np.nan if training.now.iteration == 3 else 1.0)
    first = causes_of(tmp_path, training).frame().iloc[0]
    assert (first["iteration"], first["name"], first["origin"]) == (3, wrong.name, "here")


@pytest.mark.parametrize("size", [1, 2], ids=["medium", "large"])
@pytest.mark.parametrize("kind", ["wild_input", "bad_layer", "bad_operator"])
def test_norms_leave_their_history_where_they_explode(kind: str, size: int) -> None:
    make, sizes = EXPLODING[kind]
    made = [make(draw(seed), sizes[size]) for seed in SEEDS]
    hits = [departed(one) for one in made]
    assert sum(first == one.begins and 1 in signs for (first, signs), one in zip(hits, made, strict=True)) >= 0.9 * len(made)


@pytest.mark.parametrize("size", [0, 1, 2], ids=["small", "medium", "large"])
def test_norms_that_grow_for_many_iterations_leave_their_history(size: int) -> None:
    make, sizes = EXPLODING["growing_weights"]
    hits = [departed(make(draw(seed), sizes[size])) for seed in SEEDS]
    assert sum(first >= 0 and 1 in signs for first, signs in hits) >= 0.95 * len(hits)


@pytest.mark.parametrize("kind", long_after(1, ["bad_layer", "wild_input", "growing_weights", "bad_operator"]))
@pytest.mark.parametrize("seed", long_after(1, range(3000, 3010)))
def test_what_explodes_is_named(tmp_path: Path, kind: str, seed: int) -> None:
    make, sizes = EXPLODING[kind]
    training = make(draw(seed), sizes[2])
    assert names_what_explodes(causes_of(tmp_path, training), training)


@pytest.mark.parametrize("seed", long_after(1, range(4000, 4010)))
@pytest.mark.parametrize(("kind", "size"), long_after(2, [
    ("from_one_layer", 1), ("sigmoid_depth", 1), ("from_one_layer", 2), ("sigmoid_depth", 2),
]))  # fmt: skip
def test_gradients_that_vanish_from_a_layer_on_are_found_and_named(tmp_path: Path, kind: str, size: int, seed: int) -> None:
    make, sizes = VANISHING[kind]
    training = make(draw(seed), sizes[size])
    causes = causes_of(tmp_path, training)
    assert names_where_gradients_vanish(causes, training)
    assert causes.judgement.depth.at_one is (kind == "from_one_layer")


@pytest.mark.parametrize("size", [1, 2], ids=["medium", "large"])
def test_one_operator_that_vanishes_leaves_its_history(size: int) -> None:
    make, sizes = VANISHING["vanishing_operator"]
    made = [make(draw(seed), sizes[size]) for seed in SEEDS]
    hits = [departed(one) for one in made]
    assert sum(first == one.begins and -1 in signs for (first, signs), one in zip(hits, made, strict=True)) >= 0.95 * len(made)


def test_one_operator_that_vanishes_is_named(tmp_path: Path) -> None:
    make, sizes = VANISHING["vanishing_operator"]
    training = make(draw(7000), sizes[1])
    assert names_what_vanishes(causes_of(tmp_path, training), training)


@pytest.mark.parametrize("share", long_after(1, SHARES))
@pytest.mark.parametrize("kind", long_after(3, NON_FINITE))
@pytest.mark.parametrize("seed", long_after(1, range(5000, 5010)))
def test_the_operator_that_makes_nan_or_inf_is_named(tmp_path: Path, kind: str, share: float, seed: int) -> None:
    training = non_finite(draw(seed), kind, share)
    assert names_what_is_not_finite(causes_of(tmp_path, training), training, kind)
