"""Runs with a known fault, the same without it, and the same without the data that would show it, for tests of the guides.

Faults are made from numbers alone: nothing of the rules, of the insights or of the advice is imported here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from parsers import Series
from parsers.cluster_frames import COLLECTIVES, RANKS
from parsers.frames import EDGES, NODES
from parsers.graphs.graph import Graph, Origin
from parsers.lineage.datasets import DatasetGraph, DatasetNode, DatasetOperation
from parsers.payloads.values import HistogramValue, LandscapeValue, TensorValue
from parsers.profile_frames import API, KERNELS, OPERATOR_MEMORY, OPERATOR_TYPES, OPERATORS, SHAPE_TIMES
from parsers.schema import Schema
from tests.writers.clusters import make
from tests.writers.step_traces import frame as steps_frame
from tests.writers.step_traces import legacy

START_S = 200
"""Seconds between two starts of a training that recorded its pipeline at each."""


@dataclass(frozen=True)
class Made:
    """What a run recorded: scalars by tag, large values by kind and tag as (step, value), settings, pipeline, graph, frames of
    its profile; others are the runs beside it, the first one being the reference, ranks those of its job. starts are the places
    of large values at which training began anew, in another file. earlier are the pipelines of the starts before, one every
    START_S seconds."""

    scalars: Mapping[str, Series] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, Sequence[tuple[int, Any]]]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    pipeline: DatasetGraph | None = None
    graph: Graph | None = None
    frames: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    others: tuple[Made, ...] = ()
    ranks: tuple[Made, ...] = ()
    starts: tuple[int, ...] = ()
    earlier: tuple[DatasetGraph, ...] = ()


class Triple(NamedTuple):
    """A question (name of the probe and parameters), and runs with the fault, without it, and without the data."""

    probe: str
    parameters: Mapping[str, Any]
    fault: Made
    healthy: Made
    absent: Made


NOTHING = Made()


def rows_of(schema: Schema, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """A frame of a schema; what a row does not have is NaN, -1 or ""."""
    kinds: dict[str, Any] = {"float64": math.nan, "float32": math.nan, "int64": -1, "int32": -1}
    blank = {column.name: kinds.get(column.dtype, "") for column in schema.columns}
    made = pd.DataFrame([{**blank, **row} for row in rows])
    return made.astype({column.name: column.dtype for column in schema.columns})


# Scalars --------------------------------------------------------------------------------------------------------------


def curve(value: Any, *, step: Any = None, seconds: Any = None, file: Any = None) -> Series:
    """A scalar of these values; one point a second and a step, in one file, unless told otherwise."""
    values = np.asarray(value, np.float64)
    n = np.arange(values.size)
    times = 1.7e9 + (n if seconds is None else np.asarray(seconds, np.float64))
    return Series(
        (n if step is None else np.asarray(step)).astype(np.int64), times, values,
        (np.zeros(values.size) if file is None else np.asarray(file)).astype(np.int32), n * 40,
    )  # fmt: skip


def noise(n: int, seed: int, size: float = 0.01) -> Any:
    return size * np.random.default_rng(seed).standard_normal(n)


def falling(n: int = 400, seed: int = 0) -> Any:
    """A loss that falls and settles."""
    return 2.0 * np.exp(-np.arange(n) / (n / 6)) + 0.1 + noise(n, seed)


def loss(value: Any, **more: Series) -> Made:
    return Made({"loss": curve(value), **more})


def _nan(n: int = 400, first: int = 300) -> Any:
    value = falling(n)
    value[first:] = math.nan
    return value


def _spiked(n: int = 400, place: int = 250, height: float = 3.0) -> Any:
    value = falling(n)
    value[place : place + 3] += height
    return value


def _risen(n: int = 400) -> Any:
    value = falling(n)
    value[n // 2 :] += np.linspace(0.0, 3.0, n - n // 2)
    return value


def _swinging(n: int = 400) -> Any:
    return falling(n) + np.where(np.arange(n) > n // 3, 0.3 * np.sin(np.arange(n) / 4.0), 0.0)


def _jumped(n: int = 400) -> Any:
    value = falling(n)
    value[250:] += 1.0
    return value


def _halved(n: int = 400, every: int = 40) -> Any:
    return 65536.0 / 2.0 ** (np.arange(n) // every)


def _resumed(after: float) -> Made:
    """Two files; the learning rate begins anew with `after`, where it had fallen to 0.001."""
    before = np.geomspace(0.1, 0.001, 200)
    rate = curve(np.concatenate([before, np.full(200, after)]), file=np.repeat([0, 1], 200))
    return Made({"lr": rate, "loss": curve(falling())})


def scalar_triples() -> dict[str, Triple]:
    """Faults of curves."""
    ok = loss(falling())
    turned = {"kinds": ("divergence", "shift", "spike", "plateau", "frozen"), "about": ("loss", "result")}
    steps = np.arange(400)
    stairs = np.where(steps < 250, 0.01, 0.1)
    back = np.concatenate([np.arange(250), np.arange(150, 300)])
    rate = {"lr": curve(np.linspace(0.1, 0.01, 400))}
    flat = {"lr": curve(np.full(400, 0.01))}
    norm = curve(_spiked(400, 280, 40.0))
    quick, slow = np.arange(400.0), np.concatenate([np.arange(250.0), 250.0 + 5.0 * np.arange(150)])
    at_jump = {"kinds": ("shift", "divergence", "spike"), "about": ("loss",)}
    at_once = np.concatenate([np.arange(200), np.arange(200)])
    two = Made({"loss": curve(falling(), file=np.repeat([0, 1], 200), seconds=at_once)})
    after = Made({"loss": curve(falling(), file=np.repeat([0, 1], 200))})
    waits = {"train/step_time": curve(np.full(50, 1.0))}
    alike = Made(ranks=tuple(loss(falling(400, seed)) for seed in range(3)))
    return {
        "nan": Triple("insight", {"kinds": ("non_finite",)}, loss(_nan()), ok, NOTHING),
        "unmoved": Triple("insight", {"kinds": ("unmoved",), "about": ("loss",)}, loss(np.full(400, 2.302585)), ok,
                          Made({"lr": curve(np.ones(400))})),
        "turned": Triple("insight", turned, loss(_risen()), ok, Made({"epoch": curve(steps)})),
        "swinging": Triple("insight", {"kinds": ("oscillation", "noisier"), "about": ("loss",)}, loss(_swinging()), ok,
                           NOTHING),
        "overfitting": Triple("gap", {}, Made({"val_loss": curve(_risen()), "loss": curve(falling())}),
                              Made({"val_loss": curve(falling(400, 3))}), ok),
        "missing": Triple("insight", {"kinds": ("gap",)}, Made({"loss": curve(falling(), step=steps + 500 * (steps > 200))}),
                          ok, NOTHING),
        "slower": Triple("insight", {"kinds": ("slower", "speed")}, Made({"loss": curve(falling(), seconds=slow)}),
                         Made({"loss": curve(falling(), seconds=quick)}), NOTHING),
        "norm": Triple("insight", {"kinds": ("spike", "divergence"), "about": ("norm",)}, Made({"grad_norm": norm}),
                       Made({"grad_norm": curve(1.0 + noise(400, 5))}), ok),
        "scale": Triple("rates_at_bad", {}, loss(_nan(), loss_scale=curve(_halved())),
                        loss(_nan(), loss_scale=curve(np.full(400, 1024.0))), loss(_nan())),
        "highest": Triple("rates_at_bad", {}, loss(_nan(), lr=curve(np.linspace(0.001, 1.0, 400))), loss(_nan(), **rate),
                          loss(_nan())),
        "norm before": Triple("norm_before_bad", {}, loss(_nan(), grad_norm=norm),
                              loss(_nan(), grad_norm=curve(1.0 + noise(400, 5))), loss(_nan())),
        "norm at once": Triple("norm_before_bad", {}, loss(_nan(), grad_norm=norm), loss(_nan(), grad_norm=curve(_nan())),
                               loss(_nan())),
        "rate there": Triple("changed_at", {"what": "learning_rate", **at_jump}, loss(_jumped(), lr=curve(stairs)),
                             loss(_jumped(), **flat), loss(_jumped())),
        "epoch there": Triple("changed_at", {"what": "epoch", **at_jump}, loss(_jumped(), epoch=curve(steps // 250)),
                              loss(_jumped(), epoch=curve(np.zeros(400))), loss(_jumped())),
        "restart there": Triple("changed_at", {"what": "restart", **at_jump},
                                Made({"loss": curve(_jumped(), file=(steps >= 250).astype(int))}), loss(_jumped()), NOTHING),
        "restarted": Triple("restarted", {}, Made({"loss": curve(falling(), step=back)}), ok, NOTHING),
        "rate reset": Triple("rate_after_restart", {}, _resumed(0.1), _resumed(0.001), ok),
        "two writers": Triple("mixed_writers", {}, two, after, NOTHING),
        "rate beside": Triple("rate_beside_others", {}, replace(Made({"lr": curve(np.full(9, 10.0))}), others=(Made(flat),)),
                              replace(Made(flat), others=(Made(rate), Made(flat))), ok),
        "one rank alone": Triple("ranks_differ", {}, replace(alike, ranks=(*alike.ranks, loss(_nan()))), alike, ok),
        "data time": Triple("data_time", {}, Made({**waits, "data_time": curve(np.full(50, 0.7))}),
                            Made({**waits, "data_time": curve(np.full(50, 0.1))}), Made(waits)),
    }  # fmt: skip


# Large values ---------------------------------------------------------------------------------------------------------


def histogram(values: Any) -> HistogramValue:
    known = np.asarray(values, np.float64)
    count, edges = np.histogram(known, 5)
    return HistogramValue(edges[:-1], np.diff(edges), count.astype(np.float64), float(known.min()), float(known.max()),
                          float(known.sum()), known.size)  # fmt: skip


def tensor(values: Any, dtype: str = "float32") -> TensorValue:
    return TensorValue(np.asarray(values, dtype), dtype)


def bowl(curvature: float) -> Made:
    """A landscape of a paraboloid, where training ended at its lowest point."""
    x = np.linspace(-1.0, 1.0, 9)
    z = 0.1 + curvature / 2 * (x[None, :] ** 2 + x[:, None] ** 2)
    none = np.empty(0)
    value = LandscapeValue(x, x, z, np.empty(0, np.int64), none, none, none, "PCA", "epoch", 1, (0.0, 0.0, 0.1))
    return Made(values={"landscape": {"landscape": [(1, value)]}})


def value_triples() -> dict[str, Triple]:
    """Faults of weights, gradients, activations and inputs."""
    one, other = np.linspace(-1, 1, 40), np.linspace(-2, 1, 40)
    still = {"histogram": {"fc.weight": [(0, histogram(one)), (9, histogram(one))]}}
    moving = {"histogram": {"fc.weight": [(0, histogram(one)), (9, histogram(other))]}}

    def last(tag: str, values: Any) -> Made:
        return Made(values={"histogram": {tag: [(0, histogram(one)), (9, histogram(values))]}})

    def inputs(*steps: Any) -> Made:
        recorded = [(n, tensor(values)) for n, values in enumerate(steps)]
        return Made({"loss": curve(_nan(40, 30))}, {"tensor": {"input": recorded}})

    def half(*values: float) -> Made:
        """An activation of float16 at the step before the loss is NaN."""
        recorded = [(29, tensor(values, "float16"))]
        return Made({"loss": curve(_nan(40, 30))}, {"tensor": {"fc/output": recorded}})

    def resumed(*steps: Any) -> Made:
        """Two records of each of two files."""
        return replace(inputs(*steps), starts=(2,))

    def begun(values: Any) -> Made:
        return Made(values={"histogram": {"fc.weight": [(0, histogram(values))]}})

    wrong = np.where(np.arange(40) == 7, math.nan, one)
    ranks = [Made(values={"tensor": {"input": [(1, tensor(values))]}}) for values in (one, one, other)]
    weights = [Made(values={"histogram": {"fc.weight": [(1, histogram(values))]}}) for values in (one, one, other)]
    return {
        "frozen weights": Triple("frozen_weights", {}, Made(values=still), Made(values=moving), NOTHING),
        "zero gradients": Triple("zero_values", {"of": "gradients"}, last("fc.gradient", np.zeros(40)),
                                 last("fc.gradient", other), Made(values=still)),
        "dead activations": Triple("zero_values", {"of": "activations"}, last("conv/relu", np.zeros(40)),
                                   last("conv/relu", one), Made(values=still)),
        "bad inputs": Triple("bad_inputs", {}, inputs(one, wrong), inputs(one, other), loss(_nan())),
        "half overflow": Triple("half_recorded", {}, half(1.0, np.inf), half(1.0, 300.0), inputs(one, wrong)),
        "half near": Triple("half_recorded", {}, half(1.0, -40_000.0), half(1.0, 300.0), loss(_nan())),
        "one batch": Triple("repeated_batch", {}, inputs(one, one, one), inputs(one, other, one), NOTHING),
        "data anew": Triple("data_after_restart", {}, resumed(one, other, one, other), resumed(one, other, other, one),
                            NOTHING),
        "initial values": Triple("initial_values", {}, beside(begun(one), begun(10 * one)), beside(begun(one), begun(one)),
                                 beside(NOTHING, begun(one))),
        "sharp minimum": Triple("landscape", {}, beside(bowl(40.0), bowl(2.0)), beside(bowl(2.0), bowl(40.0)),
                                beside(NOTHING, bowl(2.0))),
        "same shard": Triple("ranks_inputs", {}, Made(ranks=tuple(ranks[:2])), Made(ranks=tuple(ranks[1:])), NOTHING),
        "weights of ranks": Triple("ranks_weights", {}, Made(ranks=tuple(weights[1:])), Made(ranks=tuple(weights[:2])),
                                   NOTHING),
    }  # fmt: skip


# Pipeline, graph, settings --------------------------------------------------------------------------------------------


def node(kind: str, *children: DatasetNode, name: str = "", **parameters: Any) -> DatasetNode:
    return DatasetNode(name or kind.title(), name or kind.title(), kind, parameters, children=children)


def pipeline(*chain: DatasetNode | str, **reader: Any) -> Made:
    """Operations from the reader to the last one; a name is an operation of that kind."""
    made = node("create", name="Mnist", **reader)
    for one in chain:
        kind = one if isinstance(one, str) else one.kind
        operations = (DatasetOperation("Resize", {}),) if kind == "map" else ()
        made = DatasetNode(kind.title(), kind.title(), kind, {}, operations, None, (made,))
    return Made(pipeline=DatasetGraph(made))


def mapped(*operations: str) -> Made:
    """A pipeline that applies these tensor operations to single samples."""
    applied = tuple(DatasetOperation(name, {}) for name in operations)
    return Made(pipeline=DatasetGraph(DatasetNode("Map", "Map", "map", {}, applied, None, (node("create", name="Mnist"),))))


class NoDetails:
    """Details of a graph that has none."""

    nbytes = 0

    def attributes(self, row: int) -> dict[str, str]:
        return {}

    def raw(self, row: int) -> bytes:
        return b""

    def mentions(self, word: str) -> Sequence[int]:
        return ()


def graph(*kinds: str, types: str = "") -> Made:
    nodes = rows_of(NODES, [{"name": f"{kind}-op{n}", "full_name": f"net/{kind}-op{n}", "scope": "net", "type": kind,
                             "kind": "operator", "order": n, "instance": "", "output_type": types}
                            for n, kind in enumerate(kinds)])  # fmt: skip
    ends = range(len(kinds) - 1)
    edges = rows_of(EDGES, [{"source": n, "target": n + 1, "output": 0, "input": 0, "kind": "data"} for n in ends])
    return Made(graph=Graph.of(Origin("g"), "g", "pb", nodes, edges, (), (), NoDetails()))


def again(one: Made, *earlier: Made) -> Made:
    """A training that was started again, after starts with the pipelines of others."""
    known = tuple(each.pipeline for each in earlier if each.pipeline is not None)
    return replace(one, scalars={"loss": curve(falling())}, earlier=known)


def beside(one: Made, *others: Made) -> Made:
    return replace(one, others=others)


def epochs(*lengths: int) -> Made:
    """The number of the epoch at every step; the last epoch is cut off."""
    return Made({"epoch": curve(np.repeat(np.arange(len(lengths) + 1), (*lengths, 10)))})


def noisy(batch: int | None, size: float) -> Made:
    """A steady loss with normal noise of this size."""
    return Made({"loss": curve(1.0 + noise(400, 3, size))}, settings={"lr": 0.1} if batch is None else {"batch_size": batch})


def structure_triples() -> dict[str, Triple]:
    """Faults of what was built, and of a run beside another."""
    usual, large = (Made(settings={"batch_size": size, "learning_rate": 0.1}) for size in (32, 512))
    shuffled = pipeline("map", "shuffle", "batch", "repeat")
    ok = loss(falling())
    small, log = graph("MatMul", "ReLU", "MatMul"), graph("MatMul", "Log", "MatMul")

    def seeds(value: float) -> tuple[Made, ...]:
        return tuple(Made({"accuracy": curve([value + 0.001 * n] * 3)}, settings={"lr": value, "seed": n}) for n in range(4))

    good, bad = seeds(0.9), seeds(0.8)
    mixed = tuple(replace(one, scalars={"accuracy": curve([value] * 3)}) for one, value in zip(bad, (0.85, 0.95, 0.9, 0.9),
                                                                                             strict=True))  # fmt: skip
    return {
        "no shuffle": Triple("shuffled", {}, pipeline("map", "batch", shuffle=False), shuffled, NOTHING),
        "order": Triple("pipeline_order", {}, pipeline("shuffle", "batch", "map"), shuffled, NOTHING),
        "logarithm": Triple("unbounded_operators", {}, log, small, NOTHING),
        "half in the graph": Triple("half_operators", {}, graph("MatMul", "ReduceSum", "ReLU", types="Tensor[Float16]"),
                                    graph("MatMul", "ReduceSum", "ReLU", types="Tensor[Float32]"), NOTHING),
        "pipeline at a restart": Triple("pipeline_changed", {}, again(mapped("Rescale"), mapped("Normalize")),
                                        again(mapped("Normalize"), mapped("Normalize")), ok),
        "pipeline of the reference": Triple("pipeline_changed", {}, beside(mapped("Rescale"), mapped("Normalize")),
                                            beside(mapped("Normalize"), mapped("Normalize")), beside(ok, mapped("Normalize"))),
        "redistribution": Triple("redistribution", {}, graph("MatMul", "AllGather"), small, NOTHING),
        "batch size": Triple("setting", {"of": "batch"}, beside(large, usual), beside(usual, usual), NOTHING),
        "length of an epoch": Triple("epoch_length", {}, epochs(100, 100, 80, 80), epochs(100, 100, 100, 100), NOTHING),
        "noise of a batch": Triple("noise_of_batch", {}, beside(noisy(128, 0.02), noisy(32, 0.02)),
                                   beside(noisy(128, 0.01), noisy(32, 0.02)), beside(noisy(None, 0.02), noisy(32, 0.02))),
        "no regularization": Triple("setting", {"of": "regularization"}, Made(settings={"weight_decay": 0.0}),
                                    Made(settings={"weight_decay": 1e-4}), usual),
        "settings": Triple("settings_differ", {}, beside(usual, large), beside(usual, usual), beside(NOTHING, usual)),
        "pipelines": Triple("pipelines_differ", {}, beside(shuffled, pipeline("map", "batch")), beside(shuffled, shuffled),
                            beside(NOTHING, shuffled)),
        "evaluation": Triple("evaluation_pipeline", {}, beside(mapped("RandomCrop", "Normalize"), mapped("Rescale")),
                             beside(mapped("RandomCrop", "Normalize"), mapped("Normalize")), beside(NOTHING, shuffled)),
        "graphs": Triple("graphs_differ", {}, beside(small, log), beside(small, small), beside(NOTHING, small)),
        "result": Triple("worse_result", {}, beside(bad[0], good[0]), beside(good[0], bad[0]), beside(NOTHING, good[0])),
        "seeds": Triple("seeds_differ", {}, beside(bad[0], *good, *bad[1:]), beside(mixed[0], *good, *mixed[1:]),
                        beside(NOTHING, good[0])),
    }  # fmt: skip


# Profiles -------------------------------------------------------------------------------------------------------------


def profile(**frames: pd.DataFrame) -> Made:
    return Made(frames=frames)


def legacy_steps(interval: float, forward: float = 8e6) -> pd.DataFrame:
    return steps_frame([legacy(n, interval, forward, 1e6) for n in range(1, 13)])


def new_steps(computing: float, exposed: float, free: float) -> pd.DataFrame:
    return steps_frame([
        {"step": n, "computing_ns": computing, "overlapped_ns": 0.0, "exposed_ns": exposed, "communication_ns": exposed,
         "free_ns": free, "preparing_ns": 0.0, "total_ns": computing + exposed + free} for n in range(12)
    ])  # fmt: skip


def kernels(durations: Sequence[int], *, types: str = "FLOAT16") -> pd.DataFrame:
    return rows_of(KERNELS, [
        {"step": n % 4, "name": "MatMul-op1", "type": "MatMul", "core": "AI_CORE", "start_ns": n * 1_000_000,
         "duration_ns": one, "input_shapes": "16,16", "input_types": types, "device": 0, "stream": 1,
         "file": "kernel_details.csv"} for n, one in enumerate(durations)
    ])  # fmt: skip


def with_counters(computing: float, memory: float) -> pd.DataFrame:
    """Kernels with the shares of cycles in which they computed and in which they moved data."""
    made = kernels([1_000_000] * 40)
    return made.assign(**{"pmu/aic_mac_ratio": computing, "pmu/aic_mte2_ratio": memory})


def shape_times(shapes: Sequence[str]) -> pd.DataFrame:
    return rows_of(SHAPE_TIMES, [
        {"step": n, "name": "MatMul-op1", "type": "MatMul", "core": "AI_CORE", "duration_ns": 1e6, "input_shapes": one,
         "file": "x"} for n, one in enumerate(shapes)
    ])  # fmt: skip


def operators(*rows: tuple[str, str, float]) -> pd.DataFrame:
    return rows_of(OPERATORS, [
        {"name": name, "full_name": name, "type": name, "core": core, "count": 1.0, "total_ns": time, "mean_ns": time,
         "file": "kernel_details.csv"} for name, core, time in rows
    ])  # fmt: skip


def host_calls(waiting: float) -> pd.DataFrame:
    return rows_of(OPERATORS, [
        {"name": name, "full_name": name, "type": name, "core": "HOST_CPU", "count": 1.0, "total_ns": time, "mean_ns": time,
         "self_ns": time, "stack": "a.py(1): f", "file": "operator_details.csv"}
        for name, time in (("aten::_local_scalar_dense", waiting), ("aten::add", 2e7))
    ])  # fmt: skip


def api(*rows: tuple[str, int, float]) -> pd.DataFrame:
    """Calls of the host of (name, number, time in all in ns)."""
    return rows_of(API, [
        {"level": "acl", "name": name, "count": count, "total_ns": time, "mean_ns": time / count,
         "min_ns": time / count, "max_ns": time / count, "file": "api_statistic.csv"} for name, count, time in rows
    ])  # fmt: skip


def operator_types(**times: float) -> pd.DataFrame:
    return rows_of(OPERATOR_TYPES, [{"type": name, "core": "AI_CORE", "count": 1, "total_ns": time, "file": "x"}
                                    for name, time in times.items()])  # fmt: skip


def blocks(*rows: tuple[int, int, int, int]) -> pd.DataFrame:
    """Allocations of (address, size in bytes, from ns, to ns)."""
    return rows_of(OPERATOR_MEMORY, [
        {"name": "MatMul", "component": "PTA", "address": address, "size_bytes": size, "allocated_ns": start,
         "released_ns": end, "active_released_ns": end, "device": 0, "file": "x"} for address, size, start, end in rows
    ])  # fmt: skip


def cluster(**fault: Any) -> Made:
    made = make(1, ranks=16, group=8, steps=12, hiccups=0.0, **fault)
    return profile(cluster_steps=made.steps, collectives=made.collectives, groups=made.groups, links=made.links)


def meetings(ahead_ns: int) -> Made:
    """Operations of two ranks that end together by a true clock, of which one rank's is ahead."""
    random = np.random.default_rng(3)
    rows = []
    for number in range(60):
        for rank in (0, 1):
            elapse = int(random.integers(10**6, 10**8))
            end = 1_764_000_000_000_000_000 + number * 10**9 + rank * ahead_ns + int(random.integers(-20_000, 20_000))
            rows.append({"step": 1, "group": "1", "name": f"hcom_allReduce__{number}", "kind": "allreduce", "rank": rank,
                         "start_ns": end - elapse, "elapse_ns": float(elapse), "file": "x"})  # fmt: skip
    return profile(collectives=rows_of(COLLECTIVES, rows))


def with_experts(job: Made, rows: Callable[[int], int]) -> Made:
    """The job with rows(n) tokens for the experts of rank n."""
    ranks = rows_of(RANKS, [{"rank": n, "host": "a", "expert_rows": rows(n), "file": "x"} for n in range(16)])
    groups = job.frames["groups"].assign(kind=pd.Categorical(["ep"] * len(job.frames["groups"])))
    return replace(job, frames={**job.frames, "ranks": ranks, "groups": groups})


def profile_triples() -> dict[str, Triple]:
    """Faults of profiles and jobs."""
    interval, short = profile(steps=legacy_steps(2e6)), profile(steps=legacy_steps(1e4))
    busy, idle = profile(steps=new_steps(9.9e6, 0.0, 1e5)), profile(steps=new_steps(6e6, 0.0, 4e6))
    talking = profile(steps=new_steps(6e6, 4e6, 0.0))
    even = [1_000_000] * 40
    job = cluster()
    gapped = blocks(
        (0, 100, 0, 100), (100, 50, 0, 10), (150, 100, 0, 100), (300, 150, 0, 9), (250, 50, 20, 100), (450, 50, 20, 100),
    )  # fmt: skip
    whole = blocks((0, 100, 0, 100), (100, 200, 0, 10))
    wait = {"steps": new_steps(9e7, 0.0, 1e6)}

    def advice(*rules: str) -> dict[str, Any]:
        return {"rules": rules}

    return {
        "interval": Triple("advice", advice("interval"), interval, short, NOTHING),
        "idle": Triple("advice", advice("idle"), idle, busy, NOTHING),
        "communication": Triple("advice", advice("communication"), talking, busy, NOTHING),
        "ai_cpu": Triple("advice", advice("ai_cpu"),
                         profile(operators=operators(("MatMul", "AI_CORE", 9e6), ("Sort", "AI_CPU", 1e6))),
                         profile(operators=operators(("MatMul", "AI_CORE", 9e6))), NOTHING),
        "synchronising": Triple("advice", advice("synchronising"), profile(operators=host_calls(3e8), **wait),
                                profile(operators=host_calls(1e5), **wait), NOTHING),
        "slow rank": Triple("advice", advice("slow_rank"), cluster(slow_rank=5, slower=0.5), job, NOTHING),
        "slow link": Triple("advice", advice("slow_link"), cluster(slow_link=3, link_share=0.2), job, NOTHING),
        "longest part": Triple("part_is_longest", {"parts": ("interval",)}, profile(steps=legacy_steps(2e7)), short, NOTHING),
        "float32": Triple("wide_kernels", {}, profile(kernels=kernels(even, types="FLOAT;FLOAT")),
                          profile(kernels=kernels(even)), NOTHING),
        "shapes": Triple("changing_shapes", {}, profile(shape_times=shape_times(["1,8", "1,9", "1,7", "1,6"])),
                         profile(shape_times=shape_times(["1,8"] * 4)), NOTHING),
        "compiled again": Triple("recompiled", {},
                                 profile(api=api(("aclopCompileAndExecute", 40, 9e8), ("aclrtMalloc", 5, 1e6))),
                                 profile(api=api(("aclrtMalloc", 5, 1e6))), profile(steps=legacy_steps(1e4))),
        "bound by memory": Triple("on_roofline", {}, profile(kernels=with_counters(0.1, 0.9)),
                                  profile(kernels=with_counters(0.9, 0.1)), NOTHING),
        "far kernels": Triple("far_kernels", {}, profile(kernels=kernels([*even[:-1], 9_000_000])),
                              profile(kernels=kernels(even)), NOTHING),
        "fragmentation": Triple("fragmentation", {}, profile(operator_memory=gapped), profile(operator_memory=whole),
                                NOTHING),
        "last rank": Triple("last_rank", {}, cluster(slow_rank=5, slower=0.5), job, NOTHING),
        "clocks": Triple("clocks", {}, meetings(50_000_000), meetings(0), NOTHING),
        "longest rank": Triple("longest_rank", {"value": "total"}, cluster(slow_rank=5, slower=0.5),
                               profile(cluster_steps=job.frames["cluster_steps"].assign(
                                   total_ns=1e8, computing_ns=8e7, exposed_ns=1e7, free_ns=1e7)), NOTHING),
        "experts": Triple("expert_balance", {}, with_experts(job, lambda n: 100 + 900 * (n == 3)),
                          with_experts(job, lambda n: 100), NOTHING),
        "slower steps": Triple("steps_differ", {}, beside(profile(steps=new_steps(9e6, 0.0, 4e6)), busy), beside(busy, idle),
                               beside(NOTHING, busy)),
        "slower operators": Triple("operators_differ", {}, beside(profile(operator_types=operator_types(MatMul=9e6, Cast=1e6)),
                                                                  profile(operator_types=operator_types(MatMul=5e6, Cast=1e6))),
                                   beside(profile(operator_types=operator_types(MatMul=5e6)),
                                          profile(operator_types=operator_types(MatMul=6e6))), NOTHING),
    }  # fmt: skip


@cache
def triples() -> dict[str, Triple]:
    """All triples by name, made once: nobody changes them."""
    return {**scalar_triples(), **value_triples(), **structure_triples(), **profile_triples()}
