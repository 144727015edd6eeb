"""Causes in dumps of simulated trainings: how many faults are found and named, and how often healthy training has a cause.

Norms are computed without files, so that hundreds of trainings are tried; fewer are written as dumps and read again.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parsers import open_run
from parsers.analysis.dumps.departures import norm_changes
from parsers.analysis.dumps.first_cause import Causes, first_bad
from tests.amounts import long_after
from tests.simulations.dumped_networks import Training
from tests.simulations.faulty_trainings import EXPLODING, NON_FINITE, SHARES, VANISHING, non_finite
from tests.simulations.healthy_trainings import HEALTHY

SEEDS = range(1020, 1032)
SIGNS = {"log_of_zero": {"-Inf"}, "one_by_zero": {"+Inf", "-Inf"}, "half_overflow": {"+Inf"}, "exponential": {"+Inf"}}


def draw(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def departed(training: Training) -> tuple[int, set[int]]:
    """Return the first iteration in which a norm leaves its history, -1 for none, and in which directions norms do so then."""
    made = training.norms()
    sign = norm_changes(made.series, made.iteration, made.norm).sign
    first = min(made.iteration[sign != 0].tolist(), default=-1)
    return first, set(sign[(sign != 0) & (made.iteration == first)].tolist())


def causes_of(folder: Path, training: Training) -> Causes:
    training.write(folder)
    return Causes(open_run(folder).dump)


def found_in(kind: str, seeds: range) -> int:
    return sum(departed(HEALTHY[kind](draw(seed)))[0] >= 0 for seed in seeds)


def test_healthy_norms_stay_in_their_history() -> None:
    """Of few trainings of each kind, all kinds together."""
    assert sum(found_in(kind, SEEDS[:4]) for kind in HEALTHY) <= 0.02 * 4 * len(HEALTHY)


@pytest.mark.long
@pytest.mark.parametrize("kind", HEALTHY)
def test_few_of_many_healthy_norms_leave_their_history(kind: str) -> None:
    assert found_in(kind, range(1000, 1300)) <= 0.02 * 300


@pytest.mark.parametrize("kind", long_after(2, ["masked_attention", *sorted(set(HEALTHY) - {"masked_attention"})]))
@pytest.mark.parametrize("seed", long_after(1, range(2000, 2010)))
def test_healthy_dumps_have_no_cause(tmp_path: Path, kind: str, seed: int) -> None:
    causes = causes_of(tmp_path, HEALTHY[kind](draw(seed)))
    judgement = causes.judgement
    assert causes.frame().empty
    assert (judgement.vanishing, judgement.exploding, judgement.depth.vanishing) == (0, 0, False)


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
    first = causes_of(tmp_path, training).frame().iloc[0]
    assert first["kind"] == "exploding"
    assert {first["name"], first["from_name"]} & set(training.culprits)


@pytest.mark.parametrize("seed", long_after(1, range(4000, 4010)))
@pytest.mark.parametrize(("kind", "size"), long_after(2, [
    ("from_one_layer", 1), ("sigmoid_depth", 1), ("from_one_layer", 2), ("sigmoid_depth", 2),
]))  # fmt: skip
def test_gradients_that_vanish_from_a_layer_on_are_found_and_named(tmp_path: Path, kind: str, size: int, seed: int) -> None:
    make, sizes = VANISHING[kind]
    training = make(draw(seed), sizes[size])
    depth = causes_of(tmp_path, training).judgement.depth
    assert depth.vanishing
    assert depth.at_one is (kind == "from_one_layer")
    assert any(name in depth.begins for name in training.culprits)


@pytest.mark.parametrize("size", [1, 2], ids=["medium", "large"])
def test_one_operator_that_vanishes_leaves_its_history(size: int) -> None:
    make, sizes = VANISHING["vanishing_operator"]
    made = [make(draw(seed), sizes[size]) for seed in SEEDS]
    hits = [departed(one) for one in made]
    assert sum(first == one.begins and -1 in signs for (first, signs), one in zip(hits, made, strict=True)) >= 0.95 * len(made)


@pytest.mark.parametrize("share", long_after(1, SHARES))
@pytest.mark.parametrize("kind", long_after(3, NON_FINITE))
@pytest.mark.parametrize("seed", long_after(1, range(5000, 5010)))
def test_the_operator_that_makes_nan_or_inf_is_named(tmp_path: Path, kind: str, share: float, seed: int) -> None:
    training = non_finite(draw(seed), kind, share)
    causes = causes_of(tmp_path, training)
    first = causes.frame().iloc[0]
    assert (first["kind"], first["iteration"], first["name"]) == ("non_finite", training.begins, training.culprits[0])
    place = first_bad(causes.dump, int(first["row"]))
    assert place is not None
    assert place.value in SIGNS.get(kind, {"NaN"})
