"""Dumps of simulated healthy trainings of many kinds. Knows no rule of the product."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tests.simulations.dumped_networks import BATCH, LOSS, TOP, WIDTH, Training, softmax
from tests.writers.dumps import Array


def plain(draw: np.random.Generator, *, layers: int = 3, gain: float = 1.0, relu: bool = False, **more: Any) -> Training:
    made, x = Training(draw, **more), "x"
    for place in range(layers):
        x = made.dense(f"fc{place}", x, gain)
        x = made.relu(f"relu{place}", x) if relu else made.tanh(f"tanh{place}", x)
    made.loss(made.dense("head", x))
    return made


def deep_tanh(draw: np.random.Generator) -> Training:
    return plain(draw, layers=int(draw.integers(8, 14)), gain=1.15)


def deep_relu(draw: np.random.Generator) -> Training:
    return plain(draw, layers=int(draw.integers(6, 11)), gain=1.41, relu=True)


def deep_residual(draw: np.random.Generator) -> Training:
    made, x = Training(draw), "x"

    def inner(x: str) -> str:
        place = made.names
        return made.relu(f"r{place}", made.dense(f"fc{place}", made.norm(f"n{place}", x)))

    for place in range(int(draw.integers(8, 13))):
        x = made.residual(f"block{place}", x, inner)
    made.loss(made.dense("head", made.norm("last", x)))
    return made


def dropout(draw: np.random.Generator) -> Training:
    made, x = Training(draw), "x"
    for place in range(3):
        x = made.relu(f"relu{place}", made.dense(f"fc{place}", x, 1.41))
        x = made.dropout(f"drop{place}", x, draw.uniform(0.3, 0.9))
    made.loss(made.dense("head", x))
    return made


def embedding(draw: np.random.Generator) -> Training:
    """Tokens of a Zipf distribution: most rows of the gradient of the embedding are zero, and a few are large."""
    made = Training(draw, adam=bool(draw.random() < 0.5), rate=0.01)
    words = 200
    table = made.parameter("embedding.table", draw.normal(0, 1, (words, WIDTH)))
    scope = f"{TOP}/embedding-Embedding"
    x = made.add("Gather", scope, (table, "tokens"), lambda table, tokens: table[tokens])

    def back(g: str) -> str:
        def summed(tokens: Array, g: Array) -> Array:
            total = np.zeros((words, WIDTH), np.float32)
            np.add.at(total, tokens, g)
            return total

        made.updates.append((table, made.add("UnsortedSegmentSum", f"Gradients/{scope}/Grad_Gather", ("tokens", g), summed)))
        return g

    made.backward.append(back)
    made.loss(made.dense("head", made.tanh("tanh", made.dense("fc", x))))

    def feed(iteration: int) -> dict[str, Array]:
        tokens = np.minimum(draw.zipf(1.5, BATCH), words) - 1
        return {"tokens": tokens.astype(np.int32), "y": np.eye(WIDTH, dtype=np.float32)[tokens % WIDTH]}

    made.feed = feed
    return made


def frozen(draw: np.random.Generator) -> Training:
    made, x = Training(draw), "x"
    for place in range(4):
        x = made.tanh(f"tanh{place}", made.dense(f"fc{place}", x, trained=place >= 2))
    made.loss(made.dense("head", x))
    return made


def unfrozen(draw: np.random.Generator) -> Training:
    """The gradient of the first layers is multiplied by zero until an iteration, as fine-tuning does step by step."""
    made, x = Training(draw), "x"
    begin = int(draw.integers(3, 7))

    def gate(g: str) -> str:
        return made.add("Mul", f"Gradients/{TOP}/gate", (g,), lambda g: g * np.float32(made.now.iteration >= begin))

    for place in range(4):
        if place == 2:
            made.backward.append(gate)
        x = made.tanh(f"tanh{place}", made.dense(f"fc{place}", x))
    made.loss(made.dense("head", x))
    return made


def masked_attention(draw: np.random.Generator) -> Training:
    """A causal head of attention whose mask has -inf, before a network that is trained."""
    made = Training(draw)
    scope = f"{TOP}/attention-Attention"
    upper = np.triu(np.full((BATCH, BATCH), -np.inf, np.float32), 1)
    scores = made.add("MatMul", scope, ("x",), lambda x: x @ x.T / np.float32(np.sqrt(WIDTH)))
    masked = made.add("Add", scope, (scores, made.parameter("attention.mask", upper)), np.add)
    taken = made.add("BatchMatMul", scope, (made.add("Softmax", scope, (masked,), softmax), "x"), np.matmul)
    made.loss(made.dense("head", made.relu("relu", made.dense("fc", taken, 1.41))))
    return made


def filled_attention(draw: np.random.Generator) -> Training:
    """Attention that fills masked scores with the least number of float32 instead."""
    made = Training(draw)
    scope = f"{TOP}/attention-Attention"
    allowed = np.tril(np.ones((BATCH, BATCH), bool))
    scores = made.add("MatMul", scope, ("x",), lambda x: x @ x.T / np.float32(np.sqrt(WIDTH)))
    masked = made.add("MaskedFill", scope, (scores,), lambda s: np.where(allowed, s, np.finfo(np.float32).min))
    taken = made.add("BatchMatMul", scope, (made.add("Softmax", scope, (masked,), softmax), "x"), np.matmul)
    made.loss(made.dense("head", made.relu("relu", made.dense("fc", taken, 1.41))))
    return made


def relu_zeros(draw: np.random.Generator) -> Training:
    """Negative biases: most outputs of every ReLU are zero, in some iterations nearly all."""
    made = plain(draw, layers=3, gain=1.41, relu=True)
    for place in range(3):
        made.net.parameters[f"fc{place}.bias"] -= np.float32(draw.uniform(0.3, 0.8))
    return made


def warm_up(draw: np.random.Generator) -> Training:
    made = plain(draw, layers=4, adam=True, rate=0.01, iterations=12)
    made.rates = lambda iteration: (iteration + 1) / 12
    return made


def few(draw: np.random.Generator) -> Training:
    relu = bool(draw.random() < 0.5)
    return plain(draw, layers=int(draw.integers(2, 8)), relu=relu, gain=1.3, iterations=int(draw.integers(1, 5)))


def small_batches(draw: np.random.Generator) -> Training:
    """One sample for each iteration, of unequal size: gradients change by a factor of ten from one to the next."""
    made = plain(draw, relu=True, gain=1.41, rate=0.01, iterations=14)

    def feed(iteration: int) -> dict[str, Array]:
        given = made.labelled(draw.integers(WIDTH, size=1))
        given["x"] = given["x"] * np.float32(draw.lognormal(0, 0.7))
        return given

    made.feed = feed
    return made


def converging(draw: np.random.Generator) -> Training:
    """The same few samples again and again: the loss and its gradients fall to almost nothing, as they should."""
    made = plain(draw, relu=True, gain=1.41, adam=True, rate=0.02, iterations=40)
    given = made.labelled(draw.integers(WIDTH, size=4))
    made.feed = lambda iteration: given
    return made


def unequal_lengths(draw: np.random.Generator) -> Training:
    """Padding: between one and all samples of a batch count."""
    made = plain(draw, iterations=12)

    def feed(iteration: int) -> dict[str, Array]:
        given = made.labelled(draw.integers(WIDTH, size=BATCH))
        mask = (np.arange(BATCH) < draw.integers(1, BATCH + 1))[:, None].astype(np.float32)
        return {"x": given["x"] * mask, "y": given["y"]}

    made.feed = feed
    return made


def experts(draw: np.random.Generator) -> Training:
    """Two experts of which one gets no sample in some iterations: its gradients are zero there."""
    made = Training(draw, iterations=14)
    scope = f"{TOP}/experts-Experts"

    def part(x: str, place: int) -> str:
        return made.add("Mul", scope, (x, "gate"), lambda x, gate: x * gate[:, place:place + 1])

    first = part("x", 0)
    one = made.relu("relu0", made.dense("expert0", first, 1.41))
    kept, made.backward = made.backward, []
    other = made.relu("relu1", made.dense("expert1", part("x", 1), 1.41))
    own, made.backward = made.backward, []
    both = made.add("Add", scope, (one, other), np.add)

    def back(g: str) -> str:
        for backward in (kept, own):
            passed = g
            for layer in reversed(backward):
                passed = layer(passed)
        return passed

    made.backward.append(back)
    made.loss(made.dense("head", both))

    def feed(iteration: int) -> dict[str, Array]:
        given = made.labelled(draw.integers(WIDTH, size=BATCH))
        chosen = draw.random(BATCH) < draw.choice([0.0, 0.1, 0.5])
        return {**given, "gate": np.stack([~chosen, chosen], axis=1).astype(np.float32)}

    made.feed = feed
    return made


def scaled_loss(draw: np.random.Generator) -> Training:
    """A dynamic loss scale: gradients double at one iteration, and the optimizer divides them again."""
    made, x = Training(draw), "x"
    change = int(draw.integers(3, 9))
    for place in range(3):
        x = made.tanh(f"tanh{place}", made.dense(f"fc{place}", x))
    x = made.dense("head", x)

    def scaled(g: Array) -> Array:
        return g * np.float32(1024 << (made.now.iteration >= change))

    made.backward.append(lambda g: made.add("Mul", f"Gradients/{LOSS}/scale", (g,), scaled))
    made.rate = 0.05 / 1024
    made.loss(x)
    return made


def half(draw: np.random.Generator) -> Training:
    """Activations of float16."""
    made, x = Training(draw), "x"

    def cast_back(g: str) -> str:
        return made.add("Cast", f"Gradients/{TOP}/cast/Grad_Cast", (g,), lambda g: g.astype(np.float32))

    for place in range(3):
        x = made.tanh(f"tanh{place}", made.dense(f"fc{place}", x))
        x = made.add("Cast", f"{TOP}/cast", (x,), lambda x: x.astype(np.float16))
        made.backward.append(cast_back)
    made.loss(made.dense("head", x))
    return made


def decayed_rate(draw: np.random.Generator) -> Training:
    made = plain(draw, iterations=14)
    made.rates = lambda iteration: 0.1 ** (iteration // 5)
    return made


MAKERS: tuple[Callable[[np.random.Generator], Training], ...] = (
    plain, deep_tanh, deep_relu, deep_residual, dropout, embedding, frozen, unfrozen, masked_attention, filled_attention,
    relu_zeros, warm_up, few, small_batches, converging, unequal_lengths, experts, scaled_loss, half, decayed_rate,
)  # fmt: skip
HEALTHY: Mapping[str, Callable[[np.random.Generator], Training]] = {one.__name__: one for one in MAKERS}
