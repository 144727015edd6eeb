"""Advice from packets and memory: made inputs on which a rule fires, others on which it must not, and its edge."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from parsers import KERNELS
from parsers.analysis.jobs.advice import Advice, Review, review
from parsers.analysis.jobs.contention import contention
from parsers.analysis.jobs.traffic import sent_of
from parsers.cluster_frames import CLUSTER_STEPS, COLLECTIVES, LINKS, PACKETS, RANKS
from parsers.profile_frames import COMMUNICATION, MEMORY, STATIC_MEMORY
from tests.amounts import some_or_every
from tests.parsers.analysis.jobs.test_advice import rows_of

MB = 1_000_000


def found(result: Review, rule: str) -> Advice | None:
    return next((one for one in result.found if one.rule == rule), None)


def packet(size: int, count: int, gb_per_s: float, **more: Any) -> dict[str, Any]:
    row = {"step": 1, "group": "1", "name": "hcom_allReduce__1_1_1", "section": "collective", "rank": 0, "transport": "HCCS"}
    return {**row, "size_bytes": size, "count": count, "time_ns": size * count / gb_per_s, **more}


def packets(*rows: dict[str, Any]) -> dict[str, pd.DataFrame | None]:
    return {"packets": rows_of(PACKETS, list(rows))}


def test_small_packets_cost_what_large_ones_would_not() -> None:
    frames = packets(packet(64 * MB, 3, 20.0), packet(4 * MB, 2, 2.0), packet(4 * MB, 2, 2.0, rank=1))
    one = found(review(frames), "small_packets")
    assert one is not None
    assert one.value == pytest.approx(4 / 7)
    assert one.subject == ("SDMA",)
    assert one.cost_ns == pytest.approx(8e6 / 2.0 - 8e6 / 20.0)
    assert "small_packets" in review(frames, {"small_packets": 4 / 7}).fine
    only = found(review(packets(packet(4 * MB, 2, 2.0))), "small_packets")
    assert only is not None
    assert math.isnan(only.cost_ns)


def test_packets_of_the_least_large_size_are_not_small() -> None:
    assert "small_packets" in review(packets(packet(16 * MB, 9, 20.0))).fine
    assert found(review(packets(packet(16 * MB - 1, 9, 20.0))), "small_packets") is not None
    assert "small_packets" in review(packets(packet(MB, 9, 20.0, transport="RDMA"))).fine
    assert found(review(packets(packet(MB - 1, 9, 20.0, transport="RDMA"))), "small_packets") is not None
    assert review(packets(packet(MB, 9, 20.0, transport="LOCAL"))).reasons["small_packets"] == "no_packets"


def test_small_packets_that_cost_nothing_are_no_advice() -> None:
    frames = packets(packet(64 * MB, 1, 20.0), packet(96, 9, 0.02))
    step = {"step": 1, "kind": "rank", "rank": 0, "total_ns": 1e9, "computing_ns": 1e9, "exposed_ns": 0.0, "free_ns": 0.0}
    assert "small_packets" in review({**frames, "cluster_steps": rows_of(CLUSTER_STEPS, [step])}).fine
    assert found(review(frames), "small_packets") is not None


def test_sizes_that_are_no_multiple_of_512() -> None:
    frames = packets(packet(512 * 40_000, 9, 20.0), packet(512 * 40_000 + 2, 1, 4.0))
    one = found(review(frames), "alignment")
    assert one is not None
    odd, even = (512 * 40_000 + 2) / 4.0, 512 * 40_000 * 9 / 20.0
    assert one.value == pytest.approx(odd / (odd + even))
    assert one.cost_ns == pytest.approx(odd - (512 * 40_000 + 2) / 20.0)
    assert "alignment" in review(frames, {"alignment": one.value}).fine
    assert "alignment" in review(packets(packet(512 * 7, 9, 20.0))).fine
    assert review(packets(packet(511, 9, 20.0))).reasons["alignment"] == "no_packets"  # too small to matter
    assert review(packets(packet(1025, 9, 20.0, transport="RDMA"))).reasons["alignment"] == "no_packets"


def operation(elapse_ns: float, **more: Any) -> dict[str, Any]:
    row = {"step": 1, "group": "1", "name": "hcom_allReduce__1_1_1", "kind": "allreduce", "section": "collective", "rank": 0}
    return {**row, "start_ns": 1000, "elapse_ns": elapse_ns, **more}


def test_data_that_was_sent_again() -> None:
    sent = packets(packet(MB, 1, 20.0, transport="RDMA", time_ns=4.5e9))
    both = rows_of(COLLECTIVES, [operation(4.6e9), operation(4.1e9, rank=1)])
    one = found(review({**sent, "collectives": both}), "retransmission")
    assert one is not None
    due = MB / 12.5
    assert (one.value, one.cost_ns) == (4.5e9 - due, 4.1e9 - due)
    fast = rows_of(COLLECTIVES, [operation(4.6e9), operation(1e6, rank=1)])
    assert "retransmission" in review({**sent, "collectives": fast}).fine  # only one rank took long: it waited
    assert "retransmission" in review({**sent, "collectives": both}, {"retransmission": 4.1e9}).fine
    node = packets(packet(MB, 1, 20.0, time_ns=4.5e9))
    assert review({**node, "collectives": both}).reasons["retransmission"] == "no_packets"


def kernel(name: str, start: int, duration: int, kind: str = "") -> dict[str, Any]:
    return {"name": name, "type": kind or name, "core": "AI_CORE", "start_ns": start, "duration_ns": duration, "device": 0}


def contending(beside: float, alone: float) -> dict[str, pd.DataFrame | None]:
    """Two operations of 100 MB with these bandwidths in GB/s, the first one beside a matrix multiplication."""
    names = ("hcom_allReduce__1_1_1", "hcom_allReduce__1_2_1")
    times = [100 * MB / beside, 100 * MB / alone]
    starts = (1_000_000, 900_000_000)
    ops = [operation(time, name=name, start_ns=start, rank=3) for name, time, start in zip(names, times, starts, strict=True)]
    own = [
        {"step": 1, "kind": "collective", "name": one["name"], "group": "1", "start_ns": one["start_ns"],
         "duration_ns": one["elapse_ns"]} for one in ops
    ]  # fmt: skip
    rows = [packet(25 * MB, 4, speed, name=name, rank=3) for name, speed in zip(names, (beside, alone), strict=True)]
    other = [{**one, "rank": 4, "start_ns": one["start_ns"] + 77} for one in ops]
    kernels = [kernel("MatMulV3", 1_000_000, 3_000_000), kernel("MatMulV3", 2_000_000, 3_000_000), kernel("Add", 0, 10**9)]
    return {
        "packets": rows_of(PACKETS, [*rows, *(packet(25 * MB, 4, 1.0, name=name, rank=4) for name in names)]),
        "collectives": rows_of(COLLECTIVES, [*ops, *other]), "communication": rows_of(COMMUNICATION, own),
        "kernels": rows_of(KERNELS, kernels),
    }  # fmt: skip


def test_communication_that_is_slow_beside_a_matrix_multiplication() -> None:
    one = found(review(contending(10.0, 20.0)), "contention")
    assert one is not None
    assert one.value == pytest.approx(10e9)
    assert one.cost_ns == pytest.approx(100 * MB / 10.0 - 100 * MB / 20.0)
    assert one.evidence["beside_share"].tolist() == [pytest.approx(4_000_000 / 10_000_000)]
    assert "contention" in review(contending(10.0, 20.0), {"contention": 10e9}).fine
    assert "contention" in review(contending(10.0, 9.0)).fine  # slow everywhere: it is the link
    assert "contention" in review(contending(18.0, 20.0)).fine
    frames = contending(10.0, 20.0)
    assert review({**frames, "kernels": rows_of(KERNELS, [kernel("Add", 0, 10**9)])}).reasons["contention"] == "no_matmul"


def test_advice_and_the_communication_page_find_the_same_operations() -> None:
    frames = contending(10.0, 20.0)
    one = found(review(frames), "contention")
    collectives, packets_of, kernels = (frames[name] for name in ("collectives", "packets", "kernels"))
    assert one is not None
    assert collectives is not None
    assert packets_of is not None
    assert kernels is not None
    sent = sent_of(packets_of[packets_of["rank"] == 3], LINKS.empty())
    shown = contention(collectives[collectives["rank"] == 3], sent, kernels)
    held = shown.operations[shown.operations["held"] == "yes"]
    assert one.evidence["name"].tolist() == held["name"].tolist() == ["hcom_allReduce__1_1_1"]
    assert (one.value, one.told["usual_bandwidth"], one.threshold) == (shown.beside, shown.apart, shown.limit)


# Memory ----------------------------------------------------------------------------------------------------------------------

MIB = 1 << 20


def memory(values: list[int], component: str = "PTA+GE") -> pd.DataFrame:
    rows = [
        {"component": component, "stream": 1, "device": 0, "time_ns": place * 1_000, "allocated_bytes": value,
         "reserved_bytes": value + MIB, "active_bytes": value} for place, value in enumerate(values)
    ]  # fmt: skip
    return rows_of(MEMORY, rows)


def test_memory_close_to_the_capacity_of_the_device() -> None:
    frames: dict[str, pd.DataFrame | None] = {"memory": memory([10 * MIB, 95 * MIB, 20 * MIB])}
    assert review(frames).reasons["memory"] == "no_capacity"
    one = found(review(frames, capacity=100 * MIB), "memory")
    assert one is not None
    assert one.value == pytest.approx(0.96)
    assert one.page == "memory"
    assert math.isnan(one.cost_ns)
    assert one.told["left_bytes"] == 4 * MIB
    assert "memory" in review(frames, {"memory": 0.96}, capacity=100 * MIB).fine
    told = {**frames, "static_memory": rows_of(STATIC_MEMORY, [{"kind": "capacity", "size_bytes": 200 * MIB}])}
    assert "memory" in review(told, capacity=100 * MIB).fine  # what the file says counts
    plan = rows_of(
        STATIC_MEMORY, [{"kind": kind, "size_bytes": size * MIB} for kind, size in (("capacity", 100), ("peak", 99))]
    )
    assert found(review({"static_memory": plan}), "memory") is not None


def test_the_fullest_rank_of_a_job() -> None:
    peaks = {"peak_process_bytes": -1, "peak_reserved_bytes": 90 * MIB, "peak_allocated_bytes": 80 * MIB, "capacity_bytes": -1}
    full = {"peak_reserved_bytes": 98 * MIB, "peak_allocated_bytes": 93 * MIB}
    rows = [{"rank": 0, **peaks}, {"rank": 1, **peaks, **full}, {"rank": 2, "capacity_bytes": -1}]
    rows[2] |= {"peak_process_bytes": -1, "peak_reserved_bytes": -1, "peak_allocated_bytes": -1}
    frames: dict[str, pd.DataFrame | None] = {"ranks": rows_of(RANKS, rows)}
    assert review(frames).reasons["memory"] == "no_capacity"
    one = found(review(frames, capacity=100 * MIB), "memory")
    assert one is not None
    assert (one.variant, one.told["rank"], one.told["of"]) == ("ranks", "1", "2")
    assert one.evidence["rank"].tolist() == [1]
    assert "memory" in review(frames, {"memory": 0.98}, capacity=100 * MIB).fine
    # What the process holds beside its pools is taken from the device too.
    whole = [rows[0] | {"peak_process_bytes": 101 * MIB, "peak_allocated_bytes": 89 * MIB}, *rows[1:]]
    one = found(review({"ranks": rows_of(RANKS, whole)}, capacity=100 * MIB), "memory")
    assert one is not None
    assert (one.told["rank"], one.told["peak_bytes"]) == ("0", 101.0 * MIB)
    told = {"ranks": rows_of(RANKS, [{**row, "capacity_bytes": 200 * MIB} for row in rows])}
    assert "memory" in review(told, capacity=100 * MIB).fine  # what the file says counts


def test_a_pool_with_much_free_is_not_judged() -> None:
    row = {"rank": 0, "peak_process_bytes": 99 * MIB, "peak_reserved_bytes": 98 * MIB, "capacity_bytes": 100 * MIB}
    frames = {"ranks": rows_of(RANKS, [row | {"peak_allocated_bytes": 60 * MIB}])}
    assert review(frames).reasons["memory"] == "pool_free"
    frames = {"ranks": rows_of(RANKS, [row | {"peak_allocated_bytes": 92 * MIB}])}
    assert found(review(frames), "memory") is not None


def steps_of(number: int, length: int) -> pd.DataFrame:
    kernels = [{**kernel("Add", step * length, length), "step": step} for step in range(number)]
    return rows_of(KERNELS, kernels)


def growing(number: int, slope: float, seed: int = 0) -> dict[str, pd.DataFrame | None]:
    """1 GiB with noise of 2 MiB, a peak in every step, and growth of `slope` bytes a step; ten records a step."""
    random = np.random.default_rng(seed)
    place = np.arange(number * 10)
    peaks = np.where(place % 10 == 5, 300 * MIB, 0)
    values = (1 << 30) + slope * (place // 10) + np.abs(random.normal(0, 2 * MIB, len(place))) + peaks
    return {"memory": memory(values.astype(np.int64).tolist()), "kernels": steps_of(number, 10_000)}


@some_or_every
def test_memory_that_grows_from_step_to_step(every: bool) -> None:
    seeds = 50 if every else 8
    named = [found(review(growing(20, MIB, seed)), "leak") for seed in range(seeds)]
    assert sum(one is not None for one in named) >= 0.95 * seeds
    one = found(review(growing(20, MIB)), "leak")
    assert one is not None
    assert float(one.told["slope_bytes"]) == pytest.approx(MIB, rel=0.15)
    assert one.evidence["step"].tolist() == [str(step) for step in range(20)]
    assert "leak" in review(growing(20, MIB), {"leak": one.value}).fine


@some_or_every
def test_memory_that_does_not_grow_is_no_leak(every: bool) -> None:
    seeds = 100 if every else 16
    said = [seed for seed in range(seeds) if found(review(growing(20, 0.0, seed)), "leak") is not None]
    assert len(said) <= 0.02 * seeds


def test_few_steps_cannot_tell() -> None:
    assert review(growing(9, 50 * MIB)).reasons["leak"] == "few_steps"
    frames = growing(20, MIB)
    kernels = frames["kernels"]
    assert kernels is not None
    elsewhere = {**frames, "kernels": kernels.assign(start_ns=kernels["start_ns"] + 10**15)}
    assert review(elsewhere).reasons["leak"] == "no_step_times"
    assert "trace_view.json" in review({"memory": frames["memory"]}).unchecked["leak"]
