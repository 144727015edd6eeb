"""Where norms began to grow, in dumps of a network of which a weight was made larger, and in histories made by formulas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from parsers import open_run
from parsers.analysis.dumps.departures import departures, norm_changes
from parsers.dump_frames import DUMP_CAUSES
from tests.amounts import long_after
from tests.writers.dumps import Injection, network, write_dump

LAYERS = 4


def place_of_update(parameter: str) -> int:
    net = network(np.random.default_rng(0), LAYERS, relu=True)
    return next(at for at, one in enumerate(net.operators) if one.in_place and one.inputs[0] == parameter)


def grown(folder: Path, factor: float, *, iteration: int = 4, weight: str = "fc1.weight", **options: object) -> pd.DataFrame:
    """The causes in the dump of a network of which a weight is made larger by the update of an iteration."""
    injection = Injection(iteration, place_of_update(weight), "exploding", factor)
    write_dump(folder, injection=injection, layers=LAYERS, relu=True, iterations=iteration + 3, **options)  # type: ignore[arg-type]
    causes = DUMP_CAUSES.check(open_run(folder).dump.first_cause())
    return causes[causes["kind"] == "exploding"].set_index("iteration")


@pytest.mark.parametrize("graph", [True, False])
@pytest.mark.parametrize("seed", long_after(1, range(4)))
def test_a_weight_that_grew_below_the_limit_is_named_where_its_growth_shows(tmp_path: Path, seed: int, graph: bool) -> None:
    """The weight grows 20 times, which is no departure; what the loss makes of it is one (its square), but began there."""
    causes = grown(tmp_path, 20.0, seed=seed, graph=graph)
    assert 4 not in causes.index
    one = causes.loc[5]
    assert "fc1-Dense" in str(one["name"])
    assert "MatMul" in str(one["name"])
    assert one["origin"] == "before"
    if graph:  # which alone says that this input is the weight
        assert one["from_name"] == "fc1.weight"
        assert one["grown"] == pytest.approx(20.0, rel=0.05)


@pytest.mark.parametrize("seed", long_after(1, range(4)))
def test_a_weight_that_grew_beyond_the_limit_is_named_in_its_update_and_no_activation_is(tmp_path: Path, seed: int) -> None:
    causes = grown(tmp_path, 70.0, seed=seed)
    assert "ApplyMomentum" in str(causes.loc[4, "name"])
    assert causes.loc[4, "origin"] == "here"
    assert causes.loc[4, "measured"] / causes.loc[4, "usual"] == pytest.approx(70.0, rel=0.1)
    assert (causes.loc[5, "origin"], causes.loc[5, "from_name"]) == ("before", "fc1.weight")
    assert "MatMul" in str(causes.loc[5, "name"])
    assert causes.loc[5, "grown"] == pytest.approx(70.0, rel=0.1)
    assert not causes["name"].astype("str").str.contains("ReLU-op").any()


def test_a_weight_that_grew_in_one_update_needs_no_history(tmp_path: Path) -> None:
    causes = grown(tmp_path, 70.0, iteration=1)
    assert "ApplyMomentum" in str(causes.loc[1, "name"])
    assert causes.loc[1, "measured"] / causes.loc[1, "usual"] == pytest.approx(70.0, rel=0.1)


@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("seed", long_after(1, range(4)))
def test_weights_that_are_trained_have_not_grown(tmp_path: Path, seed: int, relu: bool) -> None:
    write_dump(tmp_path, seed=seed, layers=LAYERS, relu=relu, iterations=12)
    dump = open_run(tmp_path).dump
    assert dump.first_cause().empty
    assert dump.departures().empty


def test_an_activation_whose_input_was_not_dumped_is_not_blamed(tmp_path: Path) -> None:
    net = write_dump(tmp_path, layers=LAYERS, relu=True, iterations=8)
    relu = next(one for one in net.operators if one.type == "ReLU")
    taken = net.operators[net.operators.index(relu) - 1]
    for path in tmp_path.rglob("*.npy"):
        name = relu.name.replace("/", "_")
        if path.parent.name == "7" and path.name.startswith(f"ReLU.{name}.") and ".output." in path.name:
            path.chmod(0o600)
            values = np.load(path) * np.float32(1e4)
            np.save(path, values)
        elif ".input." in path.name or f".{taken.name.replace('/', '_')}." in path.name:
            path.unlink()
    causes = open_run(tmp_path).dump.first_cause()
    one = causes[causes["kind"] == "exploding"].iloc[0]
    assert (one["iteration"], one["name"], one["origin"], one["from_name"]) == (7, relu.name, "before", taken.name)


# Histories --------------------------------------------------------------------------------------------------------------------


def signs(norm: np.ndarray) -> list[int]:
    sign, _ = departures(np.zeros(len(norm), np.int64), np.arange(len(norm)), norm)
    return [int(one) for one in sign]


@pytest.mark.parametrize("seed", range(5))
def test_growth_over_several_iterations_does_not_widen_its_own_limit(seed: int) -> None:
    usual = np.exp(np.random.default_rng(seed).normal(0.0, 0.03, 6))
    growing = 3.0 ** np.arange(1, 8)
    assert signs(np.append(usual, growing)) == [0] * 6 + [0, 0, 0, 1, 1, 1, 1]  # 3^3 is within a factor of 30, 3^4 beyond


def test_what_has_left_its_history_stays_out_of_it() -> None:
    norm = np.r_[np.ones(5), np.full(10, 70.0)]
    assert signs(norm) == [0] * 5 + [1] * 10
    assert signs(np.r_[np.ones(5), 70.0, np.ones(4), 70.0]) == [0] * 5 + [1] + [0] * 4 + [1]


def test_a_new_level_is_the_usual_one_once_the_history_has_passed() -> None:
    sign = signs(np.r_[np.ones(5), np.full(80, 70.0)])
    assert sign[5] == 1
    assert sign[-1] == 0


def test_gradients_that_fall_fast_as_training_succeeds_have_not_vanished() -> None:
    for factor in (1.5, 2.0, 3.0):
        norm = np.r_[np.ones(4), factor ** -np.arange(1.0, 12.0)]
        assert signs(norm) == [0] * len(norm)


def test_a_norm_moves_before_it_departs() -> None:
    rng = np.random.default_rng(2)
    norm = np.r_[np.exp(rng.normal(0.0, 0.03, 8)), 2.0, 20.0, 200.0]
    found = norm_changes(np.zeros(11, np.int64), np.arange(11), norm)
    assert found.moved.tolist() == [0] * 8 + [0, 1, 1]
    assert found.sign.tolist() == [0] * 8 + [0, 0, 1]
    assert found.decades[10] == pytest.approx(np.log10(200.0), abs=0.05)
