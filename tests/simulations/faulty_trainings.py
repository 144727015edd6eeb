"""Dumps of simulated trainings with a fault of known place and size. Knows no rule of the product."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tests.simulations.dumped_networks import BATCH, TOP, WIDTH, Training
from tests.simulations.healthy_trainings import plain
from tests.writers.dumps import Array


def learning_rate(draw: np.random.Generator, factor: float) -> Training:
    """The learning rate is multiplied by a factor from an iteration on. Whatever leaves its history is a consequence."""
    made = plain(draw, layers=4, relu=True, gain=1.41, iterations=14)
    made.begins = int(draw.integers(4, 7))
    made.rates = lambda iteration: factor if iteration >= made.begins else 1.0
    return made


def wild_input(draw: np.random.Generator, factor: float) -> Training:
    """The samples of one iteration are too large by a factor."""
    made = plain(draw, layers=4, relu=True, gain=1.41)
    made.begins = int(draw.integers(4, 9))

    def feed(iteration: int) -> dict[str, Array]:
        given = made.labelled(draw.integers(WIDTH, size=BATCH))
        given["x"] = given["x"] * np.float32(factor if iteration == made.begins else 1.0)
        return given

    made.feed = feed
    made.culprits = ("x", made.net.operators[0].name)
    return made


def bad_layer(draw: np.random.Generator, factor: float) -> Training:
    """The weights of one layer are multiplied by its update of one iteration."""
    made = plain(draw, layers=5, gain=1.15)
    made.begins = int(draw.integers(4, 8))
    name = f"fc{draw.integers(5)}.weight"
    place = next(place for place, one in enumerate(made.net.operators) if one.output == name)
    update = made.net.operators[place].compute

    def wrong(weight: Array, moment: Array, gradient: Array) -> Array:
        update(weight, moment, gradient)
        if made.now.iteration == made.begins:
            weight *= np.float32(factor)
        return weight

    made.net.operators[place].compute = wrong
    first = next(one for one in made.net.operators if name in one.inputs)
    made.culprits = (name, made.net.operators[place].name, first.name)
    return made


def growing_weights(draw: np.random.Generator, factor: float) -> Training:
    """The weights of one layer grow by a factor in every update from an iteration on."""
    made = plain(draw, layers=4, gain=1.15, iterations=16)
    made.begins = int(draw.integers(4, 6))
    name = f"fc{draw.integers(4)}.weight"
    place = next(place for place, one in enumerate(made.net.operators) if one.output == name)
    update = made.net.operators[place].compute

    def wrong(weight: Array, moment: Array, gradient: Array) -> Array:
        update(weight, moment, gradient)
        if made.now.iteration >= made.begins:
            weight *= np.float32(factor)
        return weight

    made.net.operators[place].compute = wrong
    first = next(one for one in made.net.operators if name in one.inputs)
    made.culprits = (name, made.net.operators[place].name, first.name)
    return made


def bad_operator(draw: np.random.Generator, factor: float) -> Training:
    """One operator of the forward or backward pass returns values too large by a factor in one iteration."""
    made = plain(draw, layers=5, gain=1.15)
    return _at_one_operator(made, draw, factor)


def _at_one_operator(made: Training, draw: np.random.Generator, factor: float) -> Training:
    made.begins = int(draw.integers(4, 8))
    places = [place for place, one in enumerate(made.net.operators) if one.type in ("MatMul", "BiasAdd", "Tanh", "TanhGrad")]
    one = made.net.operators[int(draw.choice(places))]
    compute = one.compute
    one.compute = lambda *taken: compute(*taken) * np.float32(factor if made.now.iteration == made.begins else 1.0)
    made.culprits = (one.name,)
    return made


EXPLODING: Mapping[str, tuple[Callable[[np.random.Generator, float], Training], tuple[float, float, float]]] = {
    "learning_rate": (learning_rate, (10, 100, 10_000)),
    "wild_input": (wild_input, (10, 100, 10_000)),
    "bad_layer": (bad_layer, (10, 100, 10_000)),
    "growing_weights": (growing_weights, (1.5, 3, 10)),
    "bad_operator": (bad_operator, (10, 100, 10_000)),
}
"""Fault -> its generator, and small, medium and large factors."""


def sigmoid_depth(draw: np.random.Generator, factor: float) -> Training:
    """Gradients become smaller by a factor with each layer of a deep network, more or less."""
    made, x, layers = Training(draw, iterations=8), "x", 8
    for place in range(layers):
        x = made.tanh(f"tanh{place}", made.dense(f"fc{place}", x, 1.15))
        made.backward.append(_shrinking(made, place, factor))
    made.loss(made.dense("head", x))
    made.culprits = (f"fc{layers - 1}", f"fc{layers - 2}", "head")
    return made


def _shrinking(made: Training, place: int, factor: float) -> Callable[[str], str]:
    scope = f"Gradients/{TOP}/tanh{place}-Tanh/Grad_Mul"
    return lambda g: made.add("Mul", scope, (g,), lambda g: g / np.float32(factor))


def from_one_layer(draw: np.random.Generator, factor: float) -> Training:
    """One layer passes gradients on too small by a factor in every iteration, and those before it learn nothing."""
    made, x, layers = Training(draw, iterations=8), "x", 8
    place = int(draw.integers(2, 6))
    for layer in range(layers):
        x = made.tanh(f"tanh{layer}", made.dense(f"fc{layer}", x, 1.15))
        if layer == place:
            made.backward.append(_shrinking(made, layer, factor))
    made.loss(made.dense("head", x))
    made.culprits = (f"fc{place}", f"tanh{place}")
    return made


def vanishing_operator(draw: np.random.Generator, factor: float) -> Training:
    """One operator returns values too small by a factor in one iteration."""
    made = plain(draw, layers=5, gain=1.15)
    return _at_one_operator(made, draw, 1.0 / factor)


VANISHING: Mapping[str, tuple[Callable[[np.random.Generator, float], Training], tuple[float, float, float]]] = {
    "sigmoid_depth": (sigmoid_depth, (3, 10, 30)),
    "from_one_layer": (from_one_layer, (1e3, 1e6, 1e12)),
    "vanishing_operator": (vanishing_operator, (1e3, 1e6, 1e12)),
}


def log_of_zero(values: Array) -> Array:
    return np.log(values * np.float32(0))


def zero_by_zero(values: Array) -> Array:
    return values * np.float32(0) / np.float32(0)


def one_by_zero(values: Array) -> Array:
    return np.float32(1) / (values * np.float32(0))


def half_overflow(values: Array) -> Array:
    return (np.abs(values) * np.float32(1e7) + np.float32(7e4)).astype(np.float16)


def negative_root(values: Array) -> Array:
    return np.sqrt(-np.abs(values) - np.float32(1))


def exponential(values: Array) -> Array:
    return np.exp(np.abs(values) + np.float32(200))


NON_FINITE: Mapping[str, tuple[Callable[[Array], Array], str]] = {
    "log_of_zero": (log_of_zero, "-inf"), "zero_by_zero": (zero_by_zero, "nan"), "one_by_zero": (one_by_zero, "inf"),
    "half_overflow": (half_overflow, "inf"), "negative_root": (negative_root, "nan"), "exponential": (exponential, "inf"),
}  # fmt: skip
"""Fault -> what it does to values, and what comes of it: nan, inf, -inf (of one_by_zero either, by the sign of zero)."""
SHARES = (0.0, 0.1, 1.0)
"""Small, medium and large: one value, a tenth of them, all."""


def non_finite(draw: np.random.Generator, kind: str, share: float) -> Training:
    """An operator between two layers computes as it should but for the values of a share in one iteration."""
    made, x = Training(draw), "x"
    made.begins = int(draw.integers(0, 9))
    place = int(draw.integers(4))
    wrong = NON_FINITE[kind][0]

    def compute(values: Array) -> Array:
        made_half = kind == "half_overflow"
        out = values.astype(np.float16) if made_half else values.copy()
        if made.now.iteration == made.begins:
            count = max(round(share * out.size), 1)
            chosen = draw.choice(out.size, count, replace=False)
            out.reshape(-1)[chosen] = wrong(values.reshape(-1)[chosen])
        return out

    for layer in range(4):
        x = made.tanh(f"tanh{layer}", made.dense(f"fc{layer}", x))
        if layer == place:
            x = made.add("Special", f"{TOP}/special-Special", (x,), compute)
            made.culprits = (made.named(x),)
    made.loss(made.dense("head", x))
    return made
