"""Differences of clocks: those put into made jobs, and those of a real one against its raw file."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd

from parsers import open_run
from parsers.analysis.jobs.clocks import COLUMNS, clock_offsets
from parsers.cluster_frames import COLLECTIVES
from parsers.profiler.frame_parts import frame_of

BEGIN = 1_764_246_877_147_674_500
Row = tuple[str, str, str, int, int, float]


def frame(rows: list[Row]) -> pd.DataFrame:
    """A frame of operations, given as (group, name, kind, rank, start in ns, elapse in ns)."""
    names = ("group", "name", "kind", "rank", "start_ns", "elapse_ns")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)) if rows else {}
    return frame_of(COLLECTIVES, len(rows), {**columns, "step": [1] * len(rows)}, "made")


def made(clocks: dict[int, int], groups: dict[str, list[int]], *, jitter: float = 0.0, operations: int = 9) -> list[Row]:
    """Operations of groups that end together by a true clock, told by clocks that are ahead of it by so many ns."""
    random = np.random.default_rng(3)
    rows = []
    for number, (group, ranks) in itertools.product(range(operations), groups.items()):
        end = BEGIN + number * 10**9
        for rank in ranks:
            elapse = int(random.integers(10**6, 10**8))
            start = end + clocks[rank] + round(jitter * float(random.standard_normal())) - elapse
            rows.append((group, f"hcom_allReduce__{number}", "allreduce", rank, start, float(elapse)))
    return rows


def test_clocks_hours_apart_are_compared_over_chains_of_groups() -> None:
    clocks = {0: 0, 1: 40, 2: 7_200_000_000_000, 3: 7_200_000_000_123, 8: 5, 9: -70_000}
    groups = {"11": [0, 1], "12": [2, 3], "13": [1, 3], "14": [8, 9]}
    found = clock_offsets(frame(made(clocks, groups)))
    assert tuple(found.columns) == COLUMNS
    assert found["rank"].tolist() == [0, 1, 2, 3, 8, 9]
    assert found["part"].tolist() == [0, 0, 0, 0, 1, 1]
    assert found["offset_ns"].tolist() == [0, 40, 7_200_000_000_000, 7_200_000_000_123, 0, -70_005]
    assert found["operations"].tolist() == [9] * 6


def test_single_operations_that_end_apart_move_little() -> None:
    clocks = {rank: 1_000_000 * (rank // 4) for rank in range(8)}
    found = clock_offsets(frame(made(clocks, {"1": list(range(8))}, jitter=20_000.0, operations=200)))
    assert np.abs(found["offset_ns"].to_numpy() - np.array(list(clocks.values()))).max() < 8_000
    assert ((found["spread_ns"].to_numpy()[1:] > 5_000) & (found["spread_ns"].to_numpy()[1:] < 60_000)).all()


def test_what_does_not_end_together_or_has_no_begin_does_not_count() -> None:
    rows = made({0: 0, 1: 50}, {"1": [0, 1]})
    others = [(group, name, "broadcast", *rest) for group, name, _, *rest in made({0: 0, 1: 10**9}, {"2": [0, 1]})]
    unknown = [(*row[:4], -1, row[5]) for row in made({2: 0, 0: 0}, {"3": [0, 2]})]
    found = clock_offsets(frame([*rows, *others, *unknown]))
    assert (found["rank"].tolist(), found["offset_ns"].tolist()) == ([0, 1], [0, 50])


def test_nothing_to_compare() -> None:
    assert clock_offsets(frame([])).empty
    assert clock_offsets(frame(made({0: 0}, {"1": [0]}))).empty


def test_operations_of_one_name_are_compared_in_the_order_of_time() -> None:
    rows = [(group, "same", kind, *rest) for group, _, kind, *rest in made({0: 0, 1: 77}, {"1": [0, 1]})]
    assert clock_offsets(frame(rows))["offset_ns"].tolist() == [0, 77]


def test_a_real_job_against_its_raw_files(real_data: Path) -> None:
    folder = real_data / "profiler_new" / "torch_npu_st_4ranks_pp2"
    (job,) = open_run(folder).profile.jobs
    found = clock_offsets(job.collectives).set_index("rank")
    ends: dict[int, dict[str, float]] = {}
    for member in job.files.members:
        path = next(file.path for file in member.files if file.kind == "communication")
        content = json.loads(Path(path).read_text())
        told = {
            key: entry["Communication Time Info"] for step in content.values() for key, entry in step["collective"].items()
            if any(kind in key.lower() for kind in ("allreduce", "allgather", "reducescatter", "alltoall"))
        }  # fmt: skip
        times = {key: (one["Start Timestamp(us)"], one["Elapse Time(ms)"]) for key, one in told.items()}
        ends[member.rank] = {key: start + 1e3 * elapse for key, (start, elapse) in times.items()}
    for one, other in itertools.combinations(sorted(ends), 2):
        both = [ends[other][key] - ends[one][key] for key in ends[one].keys() & ends[other].keys()]
        if both:
            expected = float(np.median(both)) * 1e3
            assert abs(found["offset_ns"][other] - found["offset_ns"][one] - expected) < 60_000
    assert found["offset_ns"].abs().max() < 200_000  # one machine, one clock
