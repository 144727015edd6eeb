"""Matrices of traffic: their cells compared with sums over the raw files, their bytes with a reader of its own."""

from __future__ import annotations

import json
import math
import struct
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from parsers import open_run
from parsers.analysis.jobs.matrix import CLASSES, MOST_PLACES, Matrix, cells, matrix
from parsers.cluster_frames import LINKS
from parsers.profiler.frame_parts import frame_of
from parsers.profiler.groups import ranks_of

FOUR = "profiler_new/torch_npu_st_4ranks_pp2"
DP_CP, PP, EMBD = "5862276114690318097", "3985310405473756128", "3985310491373102170"


def links_of(path: Path) -> pd.DataFrame:
    (job,) = open_run(path).profile.jobs
    return job.links


def made(rows: list[tuple[int, int, int, float]], **more: Any) -> pd.DataFrame:
    """Links of class total from (source, target, bytes, ns); more: other columns."""
    names = ("source", "target", "size_bytes", "time_ns")
    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    given: dict[str, Any] = {"step": [1] * len(rows), "class": ["total"] * len(rows), "group": ["g"] * len(rows)}
    return frame_of(LINKS, len(rows), given | columns | more, "made")


def read(data: bytes) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """Return header, ranks and dense values of packed bytes."""
    (length,) = struct.unpack_from("<I", data)
    header = json.loads(data[4 : 4 + length])
    at = 4 + length
    ranks = np.frombuffer(data, "<i4", header["ranks"], at)
    at += 4 * header["ranks"]
    size = header["rows"]
    values = np.full((size, size), np.nan, np.float32)
    if header["form"] == "sparse":
        for row, column, value in struct.iter_unpack("<HHf", data[at:]):
            values[row, column] = value
    else:
        planes = np.frombuffer(data, np.uint8, 3 * size * size, at).reshape(3, -1).astype(np.uint32)
        values = ((planes[0] << 24) | (planes[1] << 16) | (planes[2] << 8)).view(np.float32).reshape(size, size)
    return header, ranks, values


def test_nothing_is_an_empty_matrix() -> None:
    found = matrix(cells(LINKS.empty()), "bandwidth")
    assert (found.rows, len(found.row), found.steps) == (0, 0, 0)
    header, ranks, values = read(found.packed())
    assert (header["rows"], len(ranks), values.shape) == (0, 0, (0, 0))
    assert matrix(cells(LINKS.empty(), group="g", members=np.array([4, 5])), "bytes").rows == 2


def test_expected_bandwidths_of_the_four_ranks(real_data: Path) -> None:
    links = links_of(real_data / FOUR)
    for group, members, pair, told in (
        (DP_CP, (0, 1), (0, 1), 18.9444), (PP, (0, 2), (0, 2), 20.9093), (EMBD, (0, 2), (0, 2), 19.0587),
    ):  # fmt: skip
        found = cells(links, group=group, members=np.array(members))
        at = [(int(found.ranks[s]), int(found.ranks[t])) for s, t in zip(found.source, found.target, strict=True)].index(pair)
        assert found.values("bandwidth")[at] / 1e9 == pytest.approx(told, abs=5e-5)
    dp_cp = cells(links, group=DP_CP, members=np.array([0, 1]))
    at = dp_cp.source.tolist().index(0)
    assert (dp_cp.size_bytes[at] / 1e6, dp_cp.time_ns[at] / 1e6) == pytest.approx((1127.447, 59.51352), abs=5e-4)


def raw(real_data: Path) -> dict[tuple[str, str, str, int, int], list[tuple[float, float]]]:
    """(group, type, class, source, target) -> [(bytes, ns), ...] of the matrix files, with ranks of the job."""
    found = defaultdict(list)
    for path in sorted((real_data / FOUR).rglob("communication_matrix.json")):
        about = json.loads((path.parents[1] / "profiler_metadata.json").read_text())["parallel_group_info"]
        members = {hashed(name): sorted(one["global_ranks"]) for name, one in about.items()}
        for sections in json.loads(path.read_text()).values():
            for operations in sections.values():
                for name, pairs in operations.items():
                    kind, group = name.rpartition("@")[0], name.rpartition("@")[2]
                    for pair, told in pairs.items():
                        source, target = (members[group][int(one)] for one in pair.split("-"))
                        key = (group, *kind.rsplit("-", 1), source, target)
                        found[key].append((told["Transit Size(MB)"] * 1e6, told["Transit Time(ms)"] * 1e6))
    return found


def hashed(name: str) -> str:
    a = b = 0
    for character in name:
        a, b = (29 * a + ord(character)) % 2**32, (131 * b + ord(character)) % 2**32
    return str((a << 32) + b)


@pytest.mark.parametrize("of", CLASSES)
@pytest.mark.parametrize("inner", [False, True])
def test_cells_are_those_of_the_raw_files(real_data: Path, of: str, inner: bool) -> None:
    wanted: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for (_, _, name, source, target), rows in raw(real_data).items():
        if name == of and (inner or source != target):
            wanted[source, target] += rows
    found = cells(links_of(real_data / FOUR), of=of, inner=inner)
    pairs = zip(found.ranks[found.source].tolist(), found.ranks[found.target].tolist(), strict=True)
    speeds = dict(zip(pairs, found.values("bandwidth").tolist(), strict=True))
    expected = {}
    for pair, rows in wanted.items():
        each = [size / time * 1e9 if size and time else math.nan for size, time in rows]
        known = sorted(one for one in each if one == one)
        sums = [sum(one) for one in zip(*rows, strict=True)]
        if of == "total" and any(sums):
            expected[pair] = sums[0] / sums[1] * 1e9 if all(sums) else math.nan
        elif of == "top1" and known:
            expected[pair] = known[-1]
        elif of.startswith("bottom") and known:
            expected[pair] = known[0]
        elif of == "middle" and known:
            expected[pair] = math.nan  # of several types any in the middle: only which links there are is compared
    expected = {pair: value for pair, value in expected.items() if of == "total" or pair in speeds}
    assert expected.keys() == speeds.keys()
    for pair, value in expected.items():
        if value == value:
            assert speeds[pair] == pytest.approx(value, rel=1e-6)


def test_links_to_unknown_ranks_keep_their_numbers_in_the_group(real_data: Path) -> None:
    links = links_of(real_data / "profiler_new/torch_npu_text_level2")
    group = str(links["group"].iloc[0])
    found = cells(links, group=group)
    assert found.ranks.tolist() == [0, 1, -1, -1, -1, -1, -1, -1]
    assert sorted(set(found.source.tolist())) == [0, 1]
    assert sorted(set(found.target.tolist())) == [*range(8)]
    assert found.unplaced == 0
    whole = cells(links)
    assert (whole.ranks.tolist(), len(whole.source), whole.unplaced) == ([0, 1], 2, 12)


def test_a_legacy_job_counts_single_operations_of_a_kind(real_data: Path) -> None:
    links = links_of(real_data / "mindinsight_legacy/cluster_propose")
    found = cells(links)
    assert found.ranks.tolist() == [0, 1, 2, 3]
    total = links[(links["class"] == "total") & (links["source"] != links["target"])]
    pairs = total.groupby(["source", "target"])["size_bytes"].sum() / found.steps
    ours = {(int(s), int(t)): v for s, t, v in zip(found.source, found.target, found.size_bytes, strict=True)}
    assert ours == pytest.approx({pair: float(value) for pair, value in pairs.items()})
    kinds = cells(links, kind="allreduce")
    assert 0 < kinds.size_bytes.sum() <= found.size_bytes.sum() * 1.0001
    assert not len(cells(links, kind="alltoall").source)


def test_steps_are_averaged_and_the_bandwidth_is_bytes_by_time() -> None:
    links = made([(0, 1, 100, 10.0), (0, 1, 300, 20.0), (1, 0, 0, 5.0), (1, 1, 7, 1.0)], step=[1, 2, 2, 2])
    found = cells(links)
    assert (found.size_bytes.tolist(), found.time_ns.tolist(), found.steps) == ([200.0, 0.0], [15.0, 2.5], 2)
    assert found.values("bandwidth")[0] == pytest.approx(400 / 30 * 1e9)
    assert math.isnan(found.values("bandwidth")[1])
    one = cells(links, step=1)
    assert (one.size_bytes.tolist(), one.steps) == ([100.0], 1)
    assert len(cells(links, inner=True).source) == 3


@pytest.mark.parametrize("how", ["", "sum", "mean", "max", "min"])
@pytest.mark.parametrize("measure", ["bandwidth", "bytes", "time"])
def test_blocks_of_neighbours(how: str, measure: str) -> None:
    random = np.random.default_rng(3)
    ranks = 130
    rows = [
        (int(a), int(b), int(random.integers(1, 10**6)), float(random.random() * 1e5) + 1)
        for a, b in {tuple(random.integers(0, ranks, 2)) for _ in range(900)} if a != b
    ]  # fmt: skip
    found = cells(made(rows), members=np.arange(ranks))
    drawn = matrix(found, measure, how=how, most=20)  # type: ignore[arg-type]
    assert (drawn.block, drawn.rows) == (7, 19)
    wanted: dict[tuple[int, int], list[tuple[int, float]]] = defaultdict(list)
    for a, b, size, time in rows:
        wanted[a // 7, b // 7].append((size, time))
    way = how or ("min" if measure == "bandwidth" else "sum")
    for row, column, value in zip(drawn.row.tolist(), drawn.column.tolist(), drawn.value.tolist(), strict=True):
        inside = wanted.pop((row, column))
        each = [{"bandwidth": size / time * 1e9, "bytes": size, "time": time}[measure] for size, time in inside]
        if measure == "bandwidth" and way in ("sum", "mean"):
            expected = sum(size for size, _ in inside) / sum(time for _, time in inside) * 1e9
        else:
            expected = {"sum": sum, "mean": np.mean, "max": max, "min": min}[way](each)
        # All of them are below 1 MB, so bandwidths are marked by their sign.
        assert (-value if measure == "bandwidth" else value) == pytest.approx(expected)
    assert not wanted


def test_bandwidths_of_few_bytes_are_marked() -> None:
    rows = [(0, 1, 2_000_000, 1e6), (0, 2, 999_999, 1e6), (3, 2, 10, 1e6), (2, 3, 600_000, 1e6), (2, 3, 600_000, 1e6)]
    found = cells(made(rows), members=np.arange(4))
    assert found.few.tolist() == [False, True, False, True]
    values = matrix(found, "bandwidth")
    assert (values.value > 0).tolist() == [True, False, True, False]
    assert (matrix(found, "bytes").value > 0).all()
    halved = matrix(found, "bandwidth", most=2)
    told = {(int(r), int(c)): v for r, c, v in zip(halved.row, halved.column, halved.value, strict=True)}
    assert told == pytest.approx({(0, 0): 2e9, (0, 1): -0.999999e9, (1, 1): 0.6e9})


def test_a_window_of_the_axis() -> None:
    found = cells(made([(0, 1, 10, 1.0), (5, 6, 20, 1.0), (6, 5, 30, 1.0), (0, 6, 40, 1.0)]), members=np.arange(8))
    part = matrix(found, "bytes", first=4, last=8)
    assert (part.ranks.tolist(), part.rows, part.block) == ([4, 5, 6, 7], 4, 1)
    assert list(zip(part.row.tolist(), part.column.tolist(), part.value.tolist(), strict=True)) == [(1, 2, 20.0), (2, 1, 30.0)]


def test_packed_matrices_come_back(real_data: Path) -> None:
    random = np.random.default_rng(5)
    for size, share in ((40, 1.0), (40, 0.02)):
        values = random.lognormal(20, 3, (size, size))
        row, column = np.nonzero(random.random((size, size)) < share)
        made_of = Matrix(np.arange(size), "bytes", "", 0, 1, size, row, column, values[row, column], 3, 2)
        header, ranks, found = read(made_of.packed())
        assert header["form"] == ("dense" if share == 1.0 else "sparse")
        assert (header["unit"], header["steps"], header["unplaced"], header["block"]) == ("B", 3, 2, 1)
        assert ranks.tolist() == list(range(size))
        assert np.isnan(found).sum() == size * size - len(row)
        assert found[row, column] == pytest.approx(values[row, column], rel=2**-16)


def test_sizes_of_answers() -> None:
    ranks = np.arange(1024)
    row, column = (place.ravel() for place in np.indices((1024, 1024)))
    dense = Matrix(ranks, "bytes", "", 0, 1, 1024, row, column, np.ones(1 << 20), 1, 0).packed()
    assert len(dense) < 4_000_000
    ring = [(rank, rank // 8 * 8 + other, 10, 1.0) for rank in range(1024) for other in range(8)]
    ring += [(rank, (rank + 8) % 1024, 10, 1.0) for rank in range(1024)]
    assert len(matrix(cells(made(ring), inner=True), "bytes").packed()) < 100_000


def test_a_group_of_files_with_ranks_of_the_job(real_data: Path) -> None:
    path = real_data / "cluster_samples/made_with_msprof_analyze_26.2.0/torch_npu_st_4ranks_pp2_db"
    (job,) = open_run(path).profile.jobs
    members = ranks_of(str(job.groups.set_index("group").loc[EMBD, "ranks"]))
    found = cells(job.links, group=EMBD, members=np.array(members))
    assert found.ranks.tolist() == [0, 2]
    assert sorted(zip(found.source.tolist(), found.target.tolist(), strict=True)) == [(0, 1), (1, 0)]


def test_damaged_links_do_no_harm() -> None:
    rows = [(-1, -1, -5, 10.0), (-1, -1, 10**15, 0.0), (-1, -1, 5_000_000, float("nan")), (2, 3, 4_000_000, 1e6)]
    local = {"source_local": [0, 999_999_999, 1, -1], "target_local": [1, 5, 2, -1]}
    links = made(rows, **local)
    whole = cells(links)
    assert (whole.ranks.tolist(), whole.unplaced) == ([2, 3], 3)
    group = cells(links, group="g")
    assert group.ranks.tolist() == [-1, -1, -1, -1, -1, -1, 2, 3]  # the greatest number that is believed is 5
    assert group.unplaced == 1
    assert MOST_PLACES < 999_999_999
    drawn = matrix(group, "bandwidth")
    assert drawn.value.tolist() == [4e9]
    assert matrix(group, "bytes").value.min() >= 0
    read(drawn.packed())
    assert not len(cells(links, group="no such group").source)
