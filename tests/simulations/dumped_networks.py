"""Networks that are trained with numpy, and dumps of them: every operator and parameter of every iteration is written as
MindSpore does. Knows no rule of the product."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
        probabilities = self.add("Softmax", LOSS, (logits,), softmax)
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


def softmax(x: Array) -> Array:
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
