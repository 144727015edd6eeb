"""Totals of communication, packets, contention and slow links, compared with sums over the raw files."""

from __future__ import annotations

import csv
import json
import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from parsers import open_run
from parsers.analysis.jobs import contention as beside
from parsers.analysis.jobs.choosing import kind_of, of_kind, rows_of
from parsers.analysis.jobs.links import listed, slow_links
from parsers.analysis.jobs.packets import folded, histogram, small_packets
from parsers.analysis.jobs.traffic import LEVELS, RankSpread, longest, operation_rows, sent_of, spread, totals
from parsers.cluster_frames import COLLECTIVES, LINKS, PACKETS
from parsers.profile_frames import KERNELS
from parsers.profiler.frame_parts import frame_of
from parsers.profiler.job_access import Job
from tests.writers.clusters import make

FOUR = "profiler_new/torch_npu_st_4ranks_pp2"
MADE = "cluster_samples/made_with_msprof_analyze_26.2.0/torch_npu_st_4ranks_pp2_text"
DP_CP, PP = "5862276114690318097", "3985310405473756128"


def job_of(path: Path) -> Job:
    (job,) = open_run(path).profile.jobs
    return job


def raw(real_data: Path) -> Iterator[tuple[int, str, str, Any]]:
    """(rank, group, name, entry) of the communication files."""
    for path in sorted((real_data / FOUR).rglob("communication.json")):
        rank = json.loads((path.parents[1] / "profiler_metadata.json").read_text())["distributed_args"]["rank"]
        for sections in json.loads(path.read_text()).values():
            for operations in sections.values():
                for key, entry in operations.items():
                    if key != "Total Op Info":
                        name, _, group = key.rpartition("@")
                        yield rank, group, name, entry


def test_nothing_has_no_totals() -> None:
    empty = COLLECTIVES.empty()
    sent = sent_of(PACKETS.empty(), LINKS.empty())
    for by in LEVELS:
        assert not len(totals(empty, sent, by))
    assert longest(empty, np.empty(0, np.int64)) == ("", "")
    one = spread(empty, np.empty(0, np.int64))
    assert (len(one.ranks), one.judged, one.latest) == (0, 0, -1)
    assert not len(histogram(PACKETS.empty()))
    assert small_packets(PACKETS.empty()) == []
    assert not len(listed(LINKS.empty()))
    found = beside.contention(empty, sent, KERNELS.empty())
    assert (len(found.operations), found.held, found.multiplications) == (0, 0, 0)
    assert math.isnan(found.beside)


def test_totals_of_a_rank_are_the_expected_ones(real_data: Path) -> None:
    job = job_of(real_data / FOUR)
    collectives = job.collectives
    rows = np.flatnonzero((collectives["rank"] == 0).to_numpy())
    by_group = totals(collectives, sent_of(job.packets, job.links), "group", rows).set_index("group")
    assert by_group.loc[PP, "elapse_ns"] / 1e6 == pytest.approx(313.8778)
    assert by_group.loc[DP_CP, "elapse_ns"] / 1e6 == pytest.approx(65.41234)
    whole = totals(collectives, sent_of(job.packets, job.links), "rank")
    found = whole[(whole["group"] == PP) & (whole["rank"] == 0)]
    assert found["elapse_ns"].item() / 1e6 == pytest.approx(313.8778)


@pytest.mark.parametrize("by", LEVELS)
def test_totals_are_those_of_the_raw_files(real_data: Path, by: str) -> None:
    job = job_of(real_data / FOUR)
    sums: dict[tuple[Any, ...], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    ranks: dict[tuple[Any, ...], set[int]] = defaultdict(set)
    for rank, group, name, entry in raw(real_data):
        key = tuple({"group": group, "kind": kind_of(name), "name": name, "rank": rank}[one] for one in LEVELS[by])
        times, bands = entry["Communication Time Info"], entry["Communication Bandwidth Info"]
        one = sums[key]
        ranks[key].add(rank)
        one["count"] += 1
        for ours, theirs in (("elapse_ns", "Elapse"), ("transit_ns", "Transit"), ("wait_ns", "Wait"), ("idle_ns", "Idle"),
                             ("synchronisation_ns", "Synchronization")):  # fmt: skip
            one[ours] += times[f"{theirs} Time(ms)"] * 1e6
        moved = (bands["SDMA"]["Transit Size(MB)"] + bands["RDMA"]["Transit Size(MB)"]) * 1e6
        one["size_bytes"] += moved
        if times["Transit Time(ms)"] == times["Wait Time(ms)"] == 0 and moved > 0:
            one["unexplained_ns"] += times["Idle Time(ms)"] * 1e6
        for size, (_, time) in bands["HCCS"]["Size Distribution"].items():
            one["sent"] += float(size) * 1e6 * bands["HCCS"]["Size Distribution"][size][0]
            one["sending"] += time * 1e6
    found = totals(job.collectives, sent_of(job.packets, job.links), by)
    assert len(found) == len(sums)
    assert found["elapse_ns"].is_monotonic_decreasing
    for row in found.to_dict("records"):
        key = tuple(row[one] for one in LEVELS[by])
        told, parts = sums[key], len(ranks[key])
        assert (row["ranks"], row["steps"]) == (parts, 1)
        for name in ("count", "elapse_ns", "transit_ns", "wait_ns", "idle_ns", "synchronisation_ns"):
            assert row[name] == pytest.approx(told[name] / parts, rel=1e-9, abs=1e-3)
        assert row["size_bytes"] == pytest.approx(told["size_bytes"] / parts, abs=1)
        assert row["unexplained_ns"] == pytest.approx(told["unexplained_ns"] / parts, abs=1e-3)
        if told["sent"]:
            assert row["transport"] == "HCCS"
            assert row["carried_bytes"] == pytest.approx(told["sent"] / parts, abs=4)
            assert row["bandwidth"] == pytest.approx(told["sent"] / told["sending"] * 1e9, rel=1e-6)
        else:
            assert math.isnan(row["bandwidth"])


def test_totals_are_those_of_the_independent_tool(real_data: Path) -> None:
    told = json.loads((real_data / MADE / "cluster_communication.json").read_text())
    job = job_of(real_data / FOUR)
    sums: dict[tuple[str, int], float] = defaultdict(float)
    for steps in told.values():
        for operations in steps.values():
            for name, ranks in operations.items():
                if not name.startswith("Total"):
                    for rank, entry in ranks.items():
                        key = name.rpartition("@")[2], int(rank)
                        sums[key] += entry["Communication Time Info"]["Elapse Time(ms)"]
    found = totals(job.collectives, sent_of(job.packets, job.links), "rank")
    ours = found.groupby(["group", "rank"], observed=True)["elapse_ns"].sum() / 1e6
    assert ours.to_dict() == pytest.approx(dict(sums))


def test_steps_and_ranks_are_averaged() -> None:
    columns: dict[str, Any] = {
        "step": [1, 1, 2, 1], "rank": [0, 0, 0, 1], "elapse_ns": [1.0, 2.0, 5.0, 4.0], "group": ["g"] * 4,
        "name": ["hcom_allReduce__1"] * 4, "kind": ["allreduce"] * 4, "wait_ns": [math.nan, 2.0, math.nan, math.nan],
        "size_bytes": [-1, 10, 20, -1], "own_wait_ns": [0.0, 1.0, math.nan, math.nan],
    }  # fmt: skip
    found = totals(frame_of(COLLECTIVES, 4, columns, "made"), sent_of(PACKETS.empty(), LINKS.empty()), "group").iloc[0]
    assert (found["ranks"], found["steps"], found["count"]) == (2, 2, pytest.approx(4 / 3))
    assert found["elapse_ns"] == pytest.approx(12 / 3)
    assert found["wait_ns"] == pytest.approx(2 / 3)
    assert found["size_bytes"] == pytest.approx(30 / 3)
    assert (found["waited_ns"], found["own_wait_ns"]) == (pytest.approx(1.0), pytest.approx(1 / 3))
    assert math.isnan(found["transit_ns"])


def test_a_legacy_job_has_its_bandwidth_from_links(real_data: Path) -> None:
    path = real_data / "mindinsight_legacy/cluster_propose"
    job = job_of(path)
    sent = sent_of(job.packets, job.links)
    found = totals(job.collectives, sent, "rank").set_index(["kind", "rank"])
    size, time = defaultdict(float), defaultdict(float)
    with next(path.rglob("hccl_raw_0.csv")).open() as file:
        for row in csv.DictReader(file):
            if row["step_num"] == "-":
                continue
            for name, (_, _, _, links) in json.loads(row["communication_operator_cost"]).items():
                for pair, transports in links.items():
                    if len(set(pair.split("-"))) == 2:
                        for ms, kb, *_ in transports.values():
                            size[kind_of(name)] += kb * 1e3
                            time[kind_of(name)] += ms * 1e-3
    for kind in size:
        assert found.loc[(kind, 0), "bandwidth"] == pytest.approx(size[kind] / time[kind], rel=1e-5)
        assert found.loc[(kind, 0), "transport"] == "SDMA"


# One operation ---------------------------------------------------------------------------------------------------------------


def test_who_came_last(real_data: Path) -> None:
    job = job_of(real_data / FOUR)
    rows = operation_rows(job.collectives, DP_CP, "hcom_reduceScatter__097_4_1")
    found = spread(job.collectives, rows)
    elapse = {
        rank: entry["Communication Time Info"]["Elapse Time(ms)"] * 1e6
        for rank, group, name, entry in raw(real_data) if (group, name) == (DP_CP, "hcom_reduceScatter__097_4_1")
    }  # fmt: skip
    assert dict(zip(found.ranks.tolist(), found.elapse_ns.tolist(), strict=True)) == pytest.approx(elapse)
    assert (found.latest, found.judged, found.last.tolist()) == (min(elapse, key=lambda rank: elapse[rank]), 1, [1, 0])
    assert found.own_wait_ns.tolist() == pytest.approx([one - min(elapse.values()) for one in elapse.values()])
    pipeline = spread(job.collectives, operation_rows(job.collectives, PP, "hcom_batchSendRecv__128_4_1"))
    assert (pipeline.latest, pipeline.judged) == (-1, 0)
    assert np.isnan(pipeline.own_wait_ns).all()


def test_the_slow_rank_of_a_made_job_comes_last() -> None:
    job = make(5, ranks=32, slow_rank=11, slower=0.1)
    group = next(name for name, ranks in zip(job.groups["group"], job.groups["ranks"], strict=True) if ranks == "8-15")
    assert longest(job.collectives, np.arange(len(job.collectives)))[0] == group
    found = spread(job.collectives, operation_rows(job.collectives, str(group), "hcom_allReduce__0"))
    assert found.ranks.tolist() == [*range(8, 16)]
    assert (found.latest, found.judged, found.steps) == (11, 10, 10)
    table = job.collectives[(job.collectives["group"] == group) & (job.collectives["name"] == "hcom_allReduce__0")]
    wide = table.pivot_table("elapse_ns", "step", "rank")
    assert found.elapse_ns == pytest.approx(wide.mean().to_numpy())
    assert found.last.tolist() == [int((wide.idxmin(axis=1) == rank).sum()) for rank in range(8, 16)]


# Packets ---------------------------------------------------------------------------------------------------------------------


def test_packets_are_those_of_the_raw_files(real_data: Path) -> None:
    job = job_of(real_data / FOUR)
    found = histogram(job.packets)
    wanted: dict[int, list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
    small = [0, 0]
    for _, _, _, entry in raw(real_data):
        for text, (count, ms) in entry["Communication Bandwidth Info"]["HCCS"]["Size Distribution"].items():
            size = round(float(text) * 1e6)
            one = wanted[size.bit_length() - 1]
            one[0] += count
            one[1] += count * size
            one[2] += ms * 1e6
            small[0] += count
            small[1] += count * (size < 16e6)
    assert found["from_bytes"].tolist() == [2**power for power in sorted(wanted)]
    assert found["count"].tolist() == [wanted[power][0] for power in sorted(wanted)]
    assert found["size_bytes"].to_numpy() == pytest.approx([wanted[power][1] for power in sorted(wanted)])
    assert found["time_ns"].to_numpy() == pytest.approx([wanted[power][2] for power in sorted(wanted)])
    assert (found["to_bytes"] == 2 * found["from_bytes"]).all()
    (one,) = small_packets(job.packets)
    assert (one.transport, one.count, one.small) == ("HCCS", *small)
    dp = small_packets(job.packets, rows_of(job.packets, group=DP_CP, kind="reducescatter"))
    assert dp[0].small == 0


def test_sizes_on_a_border() -> None:
    columns = {"size_bytes": [1, 1023, 1024, 0, 2**40], "count": [1, 1, 2, 7, 1], "time_ns": [1.0] * 5}
    packets = frame_of(PACKETS, 5, columns | {"transport": ["RDMA"] * 5}, "made")
    found = histogram(packets)
    assert found["from_bytes"].tolist() == [1, 512, 1024, 2**40]
    assert found["count"].tolist() == [1, 1, 2, 1]
    (one,) = small_packets(packets)
    assert (one.count, one.small, one.share, one.limit) == (5, 4, 0.8, 1_000_000)


def test_absurd_sizes_are_the_highest_number() -> None:
    most = 2**63 - 1
    columns = {"size_bytes": [most, 2**62, 3], "count": [most, 1, most], "time_ns": [1.0] * 3, "transport": ["RDMA"] * 3}
    packets = frame_of(PACKETS, 3, columns, "made")
    found = histogram(packets)
    assert found["from_bytes"].tolist() == [2, 2**62]
    assert found["to_bytes"].tolist() == [4, most]
    assert found["count"].tolist() == [most, most]
    assert found["size_bytes"].tolist() == [most, most]
    assert (found["bandwidth"] > 1e27).all()
    (one,) = small_packets(packets)
    assert one.share == pytest.approx(0.5)
    sent = sent_of(packets, LINKS.empty())
    assert sent["size_bytes"].tolist() == pytest.approx([2.0**126, 2.0**62, 3 * 2.0**63])


def test_transports_beyond_those_with_the_most_time_are_one() -> None:
    count = 3000
    columns = {
        "size_bytes": [1024 if place % 2 else 4096 for place in range(count)], "count": [2] * count,
        "time_ns": [float(place + 1) for place in range(count)], "transport": [f"made{place}" for place in range(count)],
    }  # fmt: skip
    packets = frame_of(PACKETS, count, columns, "made")
    found = histogram(packets)
    assert len(found) == len(small_packets(packets)) == count
    few = folded(found, "other")
    assert set(few["transport"]) == {"other", *(f"made{place}" for place in range(count - 8, count))}
    rest = few[few["transport"] == "other"].set_index("from_bytes")
    assert rest["count"].to_dict() == {1024: 2992, 4096: 2992}
    assert rest["size_bytes"].to_dict() == {1024: 2992 * 1024, 4096: 2992 * 4096}
    times = {1024: sum(range(2, 2993, 2)), 4096: sum(range(1, 2993, 2))}
    assert rest["time_ns"].to_dict() == times
    assert rest["bandwidth"].to_dict() == {size: pytest.approx(2992 * size * 1e9 / time) for size, time in times.items()}
    assert few["transport"].tolist()[-2:] == ["other"] * 2
    assert folded(few.iloc[:8], "other").equals(few.iloc[:8])


# Contention ------------------------------------------------------------------------------------------------------------------


def made_rank(starts: list[int], *, ns: float = 1e5, size: int = 1_000_000) -> tuple[pd.DataFrame, pd.DataFrame]:
    count = len(starts)
    names = [f"hcom_allReduce__{place}" for place in range(count)]
    shared: dict[str, Any] = {"step": [1] * count, "rank": [0] * count, "group": ["g"] * count, "name": names}
    collectives = frame_of(COLLECTIVES, count, shared | {"start_ns": starts, "elapse_ns": [100.0] * count}, "made")
    packets = frame_of(
        PACKETS, count,
        shared | {"size_bytes": [size] * count, "count": [1] * count, "time_ns": [ns] * count, "transport": ["HCCS"] * count},
        "made",
    )  # fmt: skip
    return collectives, sent_of(packets, LINKS.empty())


def kernels(*spans: tuple[int, int], kind: str = "MatMulV2") -> pd.DataFrame:
    times = {"start_ns": [one[0] for one in spans], "duration_ns": [one[1] - one[0] for one in spans]}
    return frame_of(KERNELS, len(spans), times | {"type": [kind] * len(spans)}, "made")


def test_operations_beside_multiplications_are_held_up() -> None:
    collectives, sent = made_rank([0, 1000, 2000])  # 10 GB/s each
    found = beside.contention(collectives, sent, kernels((50, 80), (70, 120), (1100, 1200), (1950, 2150)))
    told = found.operations.set_index("start_ns")
    assert told["beside_ns"].to_dict() == {0: 50, 1000: 0, 2000: 100}
    assert told["held"].to_dict() == {0: "yes", 1000: "no", 2000: "yes"}
    assert (found.held, found.multiplications, found.limit) == (2, 4, 14.4e9)
    assert (found.beside, found.apart) == (pytest.approx(10e9), pytest.approx(10e9))
    fast, sent = made_rank([0], ns=5e4)
    assert beside.contention(fast, sent, kernels((0, 100))).held == 0
    assert beside.contention(collectives, sent, kernels((0, 9000), kind="Add")).held == 0


def test_small_operations_and_those_hardly_beside_a_multiplication_do_not_count() -> None:
    collectives, sent = made_rank([0, 1000, 2000])
    found = beside.contention(collectives, sent, kernels((0, 9), (1000, 1010)))
    told = found.operations.set_index("start_ns")
    assert told["beside_share"].to_dict() == {0: 0.09, 1000: 0.1, 2000: 0.0}
    assert told["held"].to_dict() == {0: "no", 1000: "yes", 2000: "no"}
    assert found.near["start_ns"].tolist() == [1000]
    assert len(beside.contention(*made_rank([0], size=999_999), kernels((0, 100))).operations) == 0
    twice = pd.concat([collectives, collectives.iloc[:1]])  # of the two, whose bytes these are is unknown
    assert beside.contention(twice, sent, kernels((0, 100))).operations["start_ns"].tolist() == [1000, 2000]


def test_kernels_without_a_type_multiply_by_their_name() -> None:
    columns = {"start_ns": [0, 5, 9, -1], "duration_ns": [3, 3, 3, 3], "type": ["", "Add", "MatMul", ""]}
    made = frame_of(KERNELS, 4, columns | {"name": ["a/MatMulV3", "MatMul-add", "x", "MatMul"]}, "made")
    starts, ends = beside.multiplications(made)
    assert (starts.tolist(), ends.tolist()) == ([0, 9], [3, 12])


def test_overlap_is_that_of_every_nanosecond() -> None:
    random = np.random.default_rng(1)
    spans = [(int(a), int(a + b)) for a, b in zip(random.integers(0, 900, 30), random.integers(1, 40, 30), strict=True)]
    busy = np.zeros(2000, bool)
    for a, b in spans:
        busy[a:b] = True
    starts = random.integers(0, 900, 25).tolist()
    collectives, sent = made_rank(starts)
    told = beside.contention(collectives, sent, kernels(*spans)).operations
    for start, near in zip(told["start_ns"], told["beside_ns"], strict=True):
        assert near == busy[start : start + 100].sum()


def test_contention_of_a_real_rank(real_data: Path) -> None:
    path = real_data / "profiler_new/torch_npu_text_level2"
    run = open_run(path)
    profile = run.profile[run.profile.jobs[0].files.members[0].session, 0]
    job = run.profile.jobs[0]
    own = job.collectives[job.collectives["rank"] == 0]
    sent = sent_of(job.packets[job.packets["rank"] == 0], job.links)
    found = beside.contention(own, sent, profile.kernels)
    table = next((path / job.files.members[0].session).rglob("kernel_details.csv"))
    raw_kernels = pd.read_csv(table, dtype={"Start Time(us)": str})
    wanted = raw_kernels[raw_kernels["Type"].str.contains("matmul", case=False)]
    assert found.multiplications == len(wanted) > 0
    begin = wanted["Start Time(us)"].str.strip().map(_ns)
    for row in found.operations.to_dict("records"):
        first, last = row["start_ns"], row["start_ns"] + round(row["elapse_ns"])
        cover = np.zeros(last - first, bool)
        for start, length in zip(begin, (wanted["Duration(us)"] * 1e3).round().astype(int), strict=True):
            cover[max(0, start - first) : max(0, min(start + length, last) - first)] = True
        assert row["beside_ns"] == pytest.approx(int(cover.sum()), abs=2 * len(wanted))
    assert found.operations["beside_ns"].sum() > 0


def _ns(text: str) -> int:
    whole, _, part = text.partition(".")
    return int(whole) * 1000 + int(part.ljust(3, "0")[:3])


# Links -----------------------------------------------------------------------------------------------------------------------


def test_the_slow_link_is_the_first_one() -> None:
    links = make(2, ranks=64, slow_link=17).links
    found = listed(links)
    (slow,) = slow_links(links)
    first = found.iloc[0]
    assert (first["source"], first["target"], first["slow"]) == (17, 18, "yes")
    assert (first["bandwidth"], first["usual"], first["z"]) == pytest.approx((slow.bandwidth, slow.usual, -slow.z))
    assert first["lost_ns"] == pytest.approx(slow.lost_ns)
    assert found["slow"].tolist().count("yes") == 1
    assert not (listed(make(2, ranks=64).links)["slow"] == "yes").any()


def test_local_links_are_listed(real_data: Path) -> None:
    job = job_of(real_data / "profiler_new/torch_npu_text_level2")
    found = listed(job.links)
    local = found[found["source_local"] >= 0]
    assert (len(found), len(local)) == (14, 12)
    assert set(local["group"]) == {str(job.groups["group"].iloc[0])}
    assert sorted(set(local["target_local"].tolist())) == [2, 3, 4, 5, 6, 7]
    wanted = defaultdict(lambda: [0.0, 0.0])
    for path in sorted((real_data / "profiler_new/torch_npu_text_level2").rglob("communication_matrix.json")):
        for sections in json.loads(path.read_text()).values():
            for operations in sections.values():
                for name, pairs in operations.items():
                    for pair, told in pairs.items():
                        if "-total@" in name:
                            wanted[pair][0] += told["Transit Size(MB)"] * 1e6
                            wanted[pair][1] += told["Transit Time(ms)"] * 1e6
    for row in found.to_dict("records"):
        ends = [row[f"{end}_local"] if row[f"{end}_local"] >= 0 else row[end] for end in ("source", "target")]
        size, time = wanted["-".join(map(str, ends))]
        assert (row["size_bytes"], row["time_ns"]) == pytest.approx((size, time), rel=1e-6)
    assert not len(listed(job.links, kind="allgather"))


def test_types_of_links() -> None:
    assert of_kind("reduce", "reducescatter")
    assert of_kind("allreduce", "allreduce")
    assert not of_kind("allreduce", "reduce")
    assert of_kind("stream_41_0_AllReduce-op4582", "allreduce")


@pytest.mark.parametrize(("caused", "latest"), [(0.5e4, -1), (0.9e4, -1), (1.1e4, 2), (5e5, 2)])
def test_a_rank_that_hardly_came_last_is_not_named(caused: float, latest: int) -> None:
    """Some rank always comes last: below 1 % of the operation that is chance."""
    elapse = np.array([1e6, 1e6, 1e6 - caused])
    none = np.zeros(3)
    found = RankSpread(
        np.arange(3), elapse, elapse - elapse.min(), none, none, np.array([0.0, 0.0, caused]), np.array([0, 0, 4]), 4, 4,
        elapse, none,
    )  # fmt: skip
    assert found.last_place == 2
    assert found.latest == latest
