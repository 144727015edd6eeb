"""Frames of a data-parallel job of many ranks and kernels in one step, made at once, to measure what replaying it costs.

All-reduces follow each other beside computing, each after its share of the kernels, and the last kernels await the last one.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from parsers.cluster_frames import CLUSTER_STEPS, COLLECTIVES, DEVICE_TIMES, GROUPS
from parsers.profiler.frame_parts import frame_of
from parsers.profiler.groups import text_of

KERNEL_NS, BETWEEN_NS, REDUCED_NS = 20_000.0, 2_000.0, 200_000.0
LAST = 50
"""Kernels after the last all-reduce."""


def large_job(ranks: int, kernels: int, operations: int, *, seed: int = 1) -> dict[str, pd.DataFrame]:
    """Return the frames of a job by name. kernels and operations are those of each rank."""
    chance = np.random.default_rng(seed)
    took = KERNEL_NS * (1.0 + 0.05 * chance.standard_normal((ranks, kernels)).clip(-4, 4))
    ends = np.cumsum(took + BETWEEN_NS, axis=1) - BETWEEN_NS
    before = kernels - LAST
    begin, over = np.empty((ranks, operations)), np.empty(operations)
    ready = ends[:, np.arange(1, operations + 1) * before // operations - 1]
    free = 0.0
    for number in range(operations):
        begin[:, number] = np.maximum(ready[:, number], free)
        free = over[number] = float(begin[:, number].max()) + REDUCED_NS
    ends[:, before:] += np.maximum(free - ends[:, before - 1], 0.0)[:, None]
    return {
        "collectives": _collectives(begin, over), "groups": _groups(ranks), "cluster_steps": _steps(ends, took),
        "device_times": _device_times(ends - took, ends),
    }  # fmt: skip


def _groups(ranks: int) -> pd.DataFrame:
    columns = {
        "group": ["0"], "name": ["dp"], "kind": ["dp"], "ranks": [text_of(tuple(range(ranks)))], "size": [ranks],
        "told": ["yes"], "sections": ["collective"],
    }  # fmt: skip
    return frame_of(GROUPS, 1, columns, "made")


def _collectives(begin: NDArray[np.float64], over: NDArray[np.float64]) -> pd.DataFrame:
    ranks, operations = begin.shape
    names = np.array([f"hcom_allReduce__000_{number}_1" for number in range(operations)])
    start = begin.ravel().round().astype(np.int64)
    elapse = np.tile(over, ranks) - start
    count = ranks * operations
    columns = {
        "step": np.ones(count, np.int64), "group": ["0"] * count, "name": np.tile(names, ranks),
        "section": ["collective"] * count, "kind": ["allreduce"] * count, "rank": np.repeat(np.arange(ranks), operations),
        "start_ns": start, "elapse_ns": elapse, "transit_ns": np.full(count, REDUCED_NS),
        "wait_ns": elapse - REDUCED_NS, "synchronisation_ns": elapse - REDUCED_NS, "idle_ns": np.zeros(count),
        "size_bytes": np.full(count, 4_000_000), "own_wait_ns": np.zeros(count),
        "lateness_ns": np.zeros(count), "idle_explained": ["yes"] * count,
    }  # fmt: skip
    return frame_of(COLLECTIVES, count, columns, "made")


def _steps(ends: NDArray[np.float64], took: NDArray[np.float64]) -> pd.DataFrame:
    ranks = len(ends)
    total, computing = ends[:, -1], took.sum(axis=1)
    zeros = np.zeros(ranks)
    columns = {
        "step": np.ones(ranks, np.int64), "kind": ["rank"] * ranks, "rank": np.arange(ranks), "device": np.arange(ranks) % 8,
        "total_ns": total, "computing_ns": computing, "exposed_ns": zeros, "overlapped_ns": total * 0.2,
        "free_ns": total - computing, "communication_ns": total * 0.2, "bubble_ns": zeros, "stage_ns": total,
        "own_bubble_ns": zeros, "exposed_without_receive_ns": zeros, "preparing_ns": zeros, "bubble_source": ["exact"] * ranks,
        "dp": np.arange(ranks), "pp": np.zeros(ranks, np.int64), "tp": np.zeros(ranks, np.int64),
    }  # fmt: skip
    return frame_of(CLUSTER_STEPS, ranks, columns, "made")


def _device_times(begins: NDArray[np.float64], ends: NDArray[np.float64]) -> pd.DataFrame:
    ranks, kernels = ends.shape
    count = ranks * kernels
    columns = {
        "step": np.ones(count, np.int64), "kind": pd.Categorical.from_codes(np.zeros(count, np.int8), pd.Index(["computing"])),
        "rank": np.repeat(np.arange(ranks), kernels), "start_ns": begins.ravel().round().astype(np.int64),
        "end_ns": ends.ravel().round().astype(np.int64), "operations": np.ones(count, np.int64),
    }  # fmt: skip
    return frame_of(DEVICE_TIMES, count, columns, "made")
