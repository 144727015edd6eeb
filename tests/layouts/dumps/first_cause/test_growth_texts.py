"""What the page says of gradients over depth and of norms that grew."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from layouts.dumps.first_cause import page
from tests.layouts.dumps.first_cause.test_first_cause_page import ask, of, opened, words
from tests.writers.dumps import Injection, network


def head(folder: Path, **options: object) -> str:
    return words(page.causes(of(opened(folder, **options)), ask())["sections"]["head"])


def test_gradients_that_vanish_over_depth_are_no_green_light(tmp_path: Path) -> None:
    said = head(tmp_path, layers=6, iterations=4, squashed=1 / 18)
    assert "Gradients vanish from fc4-Dense towards the input: " in said
    assert "times smaller per layer over 6 layers" in said
    assert "Limits: 4 layers in a row, 5 times per layer, 1,000 times over all." in said
    assert "do not vanish" not in said


def test_a_healthy_network_says_what_its_gradients_were_compared_with(tmp_path: Path) -> None:
    said = head(tmp_path, layers=6, iterations=4)
    assert "Gradients do not vanish over depth (6 layers compared): at most they get " in said
    assert "Gradients vanish" not in said


@pytest.mark.parametrize(("layers", "iterations"), [(6, 2), (3, 4)])
def test_what_is_missing_to_judge_depth_is_said(tmp_path: Path, layers: int, iterations: int) -> None:
    said = head(tmp_path, layers=layers, iterations=iterations)
    missing = f"It takes 3 iterations and 4 layers, not {iterations} and {layers}."
    assert f"Not judged: whether gradients vanish over depth. {missing}" in said


def test_the_weight_that_grew_is_named_with_its_factor(tmp_path: Path) -> None:
    operators = network(np.random.default_rng(0), 4, relu=True).operators
    update = next(at for at, one in enumerate(operators) if one.in_place and one.inputs[0] == "fc1.weight")
    said = head(tmp_path, layers=4, relu=True, iterations=7, injection=Injection(4, update, "exploding", 20.0))
    assert "the norm of MatMul-op0 exploded" in said
    assert "_backbone-Net/fc1-Dense/MatMul-op0" in said
    assert "One of its inputs had grown already: fc1.weight, × 20 in its last update." in said
