"""Gradients from layer to layer, in dumps of networks whose activations pass on a known share of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parsers import open_run
from parsers.analysis.dumps.first_cause import Causes
from parsers.analysis.dumps.gradients import Judgement, layer_of
from tests.amounts import long_after
from tests.writers.dumps import write_dump


def judgement(folder: Path, **options: object) -> Judgement:
    write_dump(folder, **options)  # type: ignore[arg-type]
    return Causes(open_run(folder).dump).judgement


@pytest.mark.parametrize("share", [1 / 13, 1 / 25])
@pytest.mark.parametrize("seed", long_after(1, range(3)))
def test_gradients_that_get_smaller_from_layer_to_layer_vanish(tmp_path: Path, seed: int, share: float) -> None:
    depth = judgement(tmp_path, seed=seed, layers=6, iterations=4, squashed=share, spread=0.5).depth
    assert depth.vanishing
    assert depth.begins.endswith("fc4-Dense")  # fc5 is the one next to the loss
    assert depth.known == depth.layers == 6
    assert depth.fall * share == pytest.approx(1.0, rel=0.8)  # the weights have a share in it, too
    assert (depth.fall ** (depth.layers - 1)) == pytest.approx(depth.first / depth.last)
    dump = open_run(tmp_path).dump
    gradients = [one for one in range(len(dump.tensors)) if layer_of(str(dump.tensors["name"].array[one]))]
    assert len(gradients) > 6 * 4


@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("seed", long_after(1, range(4)))
def test_gradients_of_a_healthy_network_do_not_vanish(tmp_path: Path, seed: int, relu: bool) -> None:
    depth = judgement(tmp_path, seed=seed, layers=6, iterations=4, relu=relu, spread=0.55).depth
    assert depth.judged
    assert not depth.vanishing
    assert depth.known == 6


@pytest.mark.parametrize(("layers", "iterations"), [(6, 2), (3, 6)])
def test_few_iterations_or_layers_are_not_judged(tmp_path: Path, layers: int, iterations: int) -> None:
    depth = judgement(tmp_path, layers=layers, iterations=iterations, squashed=1 / 25).depth
    assert (depth.known, depth.iterations) == (layers, iterations)
    assert not depth.judged
    assert not depth.vanishing


def test_a_dump_without_gradients_has_no_layers(tmp_path: Path) -> None:
    write_dump(tmp_path, iterations=4)
    for path in tmp_path.rglob("*Gradients*"):
        path.unlink()
    found = Causes(open_run(tmp_path).dump).judgement
    assert (found.gradients, found.depth.known, found.depth.judged) == (0, 0, False)


@pytest.mark.parametrize(("name", "layer"), [
    ("Gradients/Default/network-WithLossCell/_backbone-Net/fc0-Dense/Grad_MatMul/MatMul-op3",
     "Default/network-WithLossCell/_backbone-Net/fc0-Dense"),
    ("Module.b.Linear.parameters_grad.0", "Module.b.Linear"), ("Functional.linear.1.backward", "Functional.linear.1"),
    ("Cell.a.b.Block.backward.2", "Cell.a.b.Block"), ("Default/fc0-Dense/MatMul-op0", ""),
])  # fmt: skip
def test_layers_by_names_of_operators(name: str, layer: str) -> None:
    assert layer_of(name) == layer


def test_a_network_in_which_one_layer_passes_on_nothing_is_no_slow_fall(tmp_path: Path) -> None:
    """A fall at one layer alone is no row of layers: it is left to the limits of single gradients."""
    depth = judgement(tmp_path, layers=6, iterations=4, relu=True, spread=0.55).depth
    assert np.isfinite(depth.fall)
    assert depth.fall < 5.0


@pytest.mark.parametrize(("factor", "vanishing", "exploding"), [(1.0, False, False), (1e-13, True, False), (1e14, False, True)])
def test_gradients_beyond_an_absolute_limit_in_every_iteration_are_counted(
    tmp_path: Path, factor: float, vanishing: bool, exploding: bool
) -> None:
    write_dump(tmp_path, iterations=4)
    for path in tmp_path.rglob("*Gradients*.npy"):
        np.save(path, (np.load(path) * factor).astype(np.float32))
    found = Causes(open_run(tmp_path).dump).judgement
    assert found.gradients
    assert (found.vanishing, found.exploding) == (vanishing * found.gradients, exploding * found.gradients)
