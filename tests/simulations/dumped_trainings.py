"""Dumps of simulated trainings, healthy ones of many kinds and ones with a fault of known place and size. Knows no rule of the
product: networks are trained with numpy, and every operator and parameter of every iteration is written as MindSpore does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.writers.dumps import Array, Network, write_network

BATCH, WIDTH = 16, 12
TOP = "Default/network-WithLossCell/_backbone-Net"
LOSS = "Default/network-WithLossCell/_loss_fn-Loss"


@dataclass(slots=True)
class Now:
    """What changes while a network is trained: the iteration, and the factor of the learning rate in it."""

    iteration: int = 0
    rate: float = 1.0


@dataclass(slots=True)
class Training:
    """A network, what it is fed in each iteration, and how long; a fault adds its place to `culprits`.

    culprits are names of operators or parameters of which one may be named; `begins` is the iteration of the fault.
    """

    draw: np.random.Generator
    rate: float = 0.05
    adam: bool = False
    iterations: int = 10
    net: Network = field(default_factory=Network)
    now: Now = field(default_factory=Now)
    rates: Callable[[int], float] = lambda iteration: 1.0
    feed: Callable[[int], dict[str, Array]] | None = None
    culprits: tuple[str, ...] = ()
    begins: int = 0
    backward: list[Callable[[str], str]] = field(default_factory=list)
    updates: list[tuple[str, str]] = field(default_factory=list)
    names: int = 0

    def add(self, kind: str, scope: str, inputs: Sequence[str], compute: Callable[..., Any], **more: Any) -> str:
        self.names += 1
        return self.net.add(kind, scope, inputs, f"v{self.names}", compute, **more)

    def parameter(self, name: str, values: NDArray[Any]) -> str:
        self.net.parameters[name] = np.asarray(values, np.float32)
        return name

    def named(self, value: str) -> str:
        """Return the full name of the operator that makes a value."""
        return next(one.name for one in self.net.operators if one.output == value)

    # Layers: each adds its operators, remembers how gradients pass through it, and returns the name of its output.

    def dense(self, name: str, x: str, gain: float = 1.0, *, width: int = WIDTH, trained: bool = True) -> str:
        scope = f"{TOP}/{name}-Dense"
        weight = self.parameter(f"{name}.weight", self.draw.normal(0, gain / np.sqrt(width), (width, WIDTH)))
        bias = self.parameter(f"{name}.bias", self.draw.normal(0, 0.02, WIDTH))
        product = self.add("MatMul", scope, (x, weight), lambda x, w: x @ w)
        made = self.add("BiasAdd", scope, (product, bias), lambda x, b: x + b)

        def back(g: str) -> str:
            grad = f"Gradients/{scope}/Grad_MatMul"
            if trained:
                self.updates.append((weight, self.add("MatMul", grad, (x, g), lambda x, g: _flat(x).T @ _flat(g))))
                summed = self.add("BiasAddGrad", f"Gradients/{scope}/Grad_BiasAdd", (g,), lambda g: _flat(g).sum(axis=0))
                self.updates.append((bias, summed))
            return self.add("MatMul", grad, (g, weight), lambda g, w: g @ w.T)

        self.backward.append(back)
        return made

    def unit(self, kind: str, name: str, x: str, forward: Callable[[Array], Array], slope: Callable[[Array], Array]) -> str:
        """An activation; `slope` is a function of its output."""
        made = self.add(kind, f"{TOP}/{name}-{kind}", (x,), forward)

        def back(g: str) -> str:
            return self.add(f"{kind}Grad", f"Gradients/{TOP}/{name}-{kind}/Grad_{kind}", (made, g), lambda h, g: g * slope(h))

        self.backward.append(back)
        return made

    def tanh(self, name: str, x: str) -> str:
        return self.unit("Tanh", name, x, np.tanh, lambda h: np.float32(1) - h * h)

    def relu(self, name: str, x: str) -> str:
        return self.unit("ReLU", name, x, lambda x: np.maximum(x, 0), lambda h: (h > 0).astype(np.float32))

    def sigmoid(self, name: str, x: str) -> str:
        return self.unit("Sigmoid", name, x, lambda x: np.float32(1) / (np.float32(1) + np.exp(-x)), lambda h: h * (1 - h))

    def norm(self, name: str, x: str) -> str:
        """Layer normalization without parameters."""
        scope = f"{TOP}/{name}-LayerNorm"
        made = self.add("LayerNorm", scope, (x,), _normed)

        def back(g: str) -> str:
            return self.add("LayerNormGrad", f"Gradients/{scope}/Grad_LayerNorm", (x, made, g), _norm_gradient)

        self.backward.append(back)
        return made

    def dropout(self, name: str, x: str, keep: float) -> str:
        scope, now = f"{TOP}/{name}-Dropout", self.now
        seed = int(self.draw.integers(1 << 30))

        def mask(x: Array) -> Array:
            drawn = np.random.default_rng((seed, now.iteration)).random(x.shape) < keep
            return (drawn / np.float32(keep)).astype(np.float32)

        kept = self.add("DropoutGenMask", scope, (x,), mask)
        made = self.add("DropoutDoMask", scope, (x, kept), np.multiply)
        self.backward.append(
            lambda g: self.add("DropoutDoMask", f"Gradients/{scope}/Grad_DropoutDoMask", (g, kept), np.multiply)
        )
        return made

    def residual(self, name: str, x: str, inner: Callable[[str], str]) -> str:
        """x plus what `inner` makes of it."""
        begin = len(self.backward)
        made = inner(x)
        own, self.backward = self.backward[begin:], self.backward[:begin]
        added = self.add("Add", f"{TOP}/{name}-Residual", (x, made), np.add)

        def back(g: str) -> str:
            passed = g
            for one in reversed(own):
                passed = one(passed)
            return self.add("AddN", f"Gradients/{TOP}/{name}-Residual/Grad_Add", (g, passed), np.add)

        self.backward.append(back)
        return added

    def loss(self, value: str) -> None:
        """A softmax cross entropy against the labels y (one-hot), all gradients, and an optimizer for each parameter."""
        logits = self.add("Cast", LOSS, (value,), lambda x: x.astype(np.float32))
        probabilities = self.add("Softmax", LOSS, (logits,), _softmax)
        logs = self.add("LogSoftmax", LOSS, (logits,), _log_softmax)
        picked = self.add("Mul", LOSS, (logs, "y"), lambda a, y: -a * y)
        self.add("ReduceMean", LOSS, (picked,), lambda x: np.asarray(x.sum(-1).mean(), np.float32))
        grad = f"Gradients/{LOSS}/Grad_Softmax"
        self.gradients(self.add("Sub", grad, (probabilities, "y"), lambda p, y: (p - y) / np.float32(p.size / WIDTH)))

    def gradients(self, g: str) -> None:
        for one in reversed(self.backward):
            g = one(g)
        for name, gradient in self.updates:
            state = [self.parameter(f"{moment}.{name}", np.zeros_like(self.net.parameters[name]))
                     for moment in (("moment1", "moment2") if self.adam else ("moments",))]  # fmt: skip
            kind = "Adam" if self.adam else "Momentum"
            self.net.add(
                "Adam" if self.adam else "ApplyMomentum", f"Default/optimizer-{kind}", (name, *state, gradient), name,
                self._adam if self.adam else self._momentum, in_place=True,
            )  # fmt: skip

    def _momentum(self, weight: Array, moment: Array, gradient: Array) -> Array:
        moment *= np.float32(0.9)
        moment += gradient
        weight -= np.float32(self.rate * self.now.rate) * moment
        return weight

    def _adam(self, weight: Array, first: Array, second: Array, gradient: Array) -> Array:
        first += np.float32(0.1) * (gradient - first)
        second += np.float32(0.001) * (gradient * gradient - second)
        time = self.now.iteration + 1
        step = first / np.float32(1 - 0.9**time) / (np.sqrt(second / np.float32(1 - 0.999**time)) + np.float32(1e-8))
        weight -= np.float32(self.rate * self.now.rate) * step
        return weight

    def batches(self, iteration: int) -> dict[str, Array]:
        """Points around a centre for each label, which can be learned."""
        self.now.iteration, self.now.rate = iteration, self.rates(iteration)
        if self.feed is not None:
            return self.feed(iteration)
        return self.labelled(self.draw.integers(WIDTH, size=BATCH))

    def labelled(self, labels: NDArray[Any]) -> dict[str, Array]:
        centres = np.eye(WIDTH) * 2.0
        x = centres[labels] + self.draw.normal(0, 0.5, (len(labels), WIDTH))
        return {"x": x.astype(np.float32), "y": np.eye(WIDTH, dtype=np.float32)[labels]}

    def write(self, directory: Path, **more: Any) -> None:
        write_network(directory, self.net, self.draw, self.batches, self.iterations, **more)

    def norms(self) -> Norms:
        """Train without files: return the L2 norm of every output, NaN for one with NaN or Inf."""
        table = np.full((len(self.net.operators), self.iterations), np.nan)
        with np.errstate(all="ignore"):
            for iteration in range(self.iterations):
                values = self.batches(iteration)
                for place, one in enumerate(self.net.operators):
                    made = one.compute(*(self.net.parameters.get(name, values.get(name)) for name in one.inputs))
                    if not one.in_place:
                        values[one.output] = made
                    table[place, iteration] = np.linalg.norm(np.asarray(made, np.float64))
        table[~np.isfinite(table)] = np.nan
        series, when = np.indices(table.shape)
        return Norms([one.name for one in self.net.operators], series.ravel(), when.ravel(), table.ravel())


class Norms(NamedTuple):
    """Names of operators; of each output the number of its operator, its iteration and its norm."""

    names: list[str]
    series: NDArray[np.int64]
    iteration: NDArray[np.int64]
    norm: NDArray[np.float64]


def _flat(x: Array) -> Array:
    return x.reshape(-1, x.shape[-1])


def _softmax(x: Array) -> Array:
    raised = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def _log_softmax(x: Array) -> Array:
    moved = x - x.max(axis=-1, keepdims=True)
    return np.asarray(moved - np.log(np.exp(moved).sum(axis=-1, keepdims=True)))


def _normed(x: Array) -> Array:
    return np.asarray((x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + np.float32(1e-5)))


def _norm_gradient(x: Array, made: Array, g: Array) -> Array:
    inner = g - g.mean(-1, keepdims=True) - made * (g * made).mean(-1, keepdims=True)
    return np.asarray(inner / np.sqrt(x.var(-1, keepdims=True) + np.float32(1e-5)))


# Healthy trainings -------------------------------------------------------------------------------------------------------


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
    taken = made.add("BatchMatMul", scope, (made.add("Softmax", scope, (masked,), _softmax), "x"), np.matmul)
    made.loss(made.dense("head", made.relu("relu", made.dense("fc", taken, 1.41))))
    return made


def filled_attention(draw: np.random.Generator) -> Training:
    """Attention that fills masked scores with the least number of float32 instead."""
    made = Training(draw)
    scope = f"{TOP}/attention-Attention"
    allowed = np.tril(np.ones((BATCH, BATCH), bool))
    scores = made.add("MatMul", scope, ("x",), lambda x: x @ x.T / np.float32(np.sqrt(WIDTH)))
    masked = made.add("MaskedFill", scope, (scores,), lambda s: np.where(allowed, s, np.finfo(np.float32).min))
    taken = made.add("BatchMatMul", scope, (made.add("Softmax", scope, (masked,), _softmax), "x"), np.matmul)
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


# Faults -------------------------------------------------------------------------------------------------------------------


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
