"""Analyses of device memory on made frames, against plain loops; made leaks are found, and none where there is none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.analysis.profiles.memory import (
    BytesOverTime,
    alive,
    blocks_of,
    changes,
    components,
    counted,
    curve,
    difference,
    explain,
    extremes,
    grouped,
    large_components,
    leak,
    levels,
    levels_at,
    peak,
    peaks,
    plan,
    pool_at,
    step_minima,
    value_at,
)
from parsers.model import Ints
from parsers.profile_frames import MEMORY, MODULE_MEMORY, OPERATOR_MEMORY, STATIC_MEMORY
from parsers.profiler.frame_parts import categorical, frame_of

MIB = 1 << 20


def blocks_frame(rows: list[tuple[int, int, int, int]], names: list[str] | None = None, **more: object) -> pd.DataFrame:
    """A frame of (allocated, released, size, address)."""
    start, end, size, address = np.array(rows, np.int64).reshape(len(rows), 4).T
    columns = {"allocated_ns": start, "released_ns": end, "size_bytes": size, "address": address}
    columns |= {"name": categorical(names or [f"op{row % 3}" for row in range(len(rows))]), **more}
    return frame_of(OPERATOR_MEMORY, len(rows), columns, "f")


def records(times: list[int], values: list[int], component: str = "PTA") -> pd.DataFrame:
    columns = {"time_ns": times, "allocated_bytes": values, "component": categorical([component] * len(times))}
    return frame_of(MEMORY, len(times), columns, "f")


def test_nothing_at_all() -> None:
    memory, frame = MEMORY.empty(), OPERATOR_MEMORY.empty()
    blocks, series = counted(memory, frame, "PTA"), curve(memory, "PTA")
    assert components(memory) == ()
    assert peak(memory, "PTA") is None
    found = explain(frame, blocks, series, 5)
    assert (found.total, found.before, len(found.groups)) == (0, 0, 0)
    assert levels(blocks)[0].size == 0
    assert levels_at(blocks, np.array([1, 2])).tolist() == [0, 0]
    assert extremes(series, 0, 10, 3).high.tolist() == [-1, -1, -1]
    assert alive(frame, blocks, 3).empty
    assert changes(frame, blocks, 0, 9).empty
    assert pool_at(frame, blocks, 0) is None
    assert large_components(MODULE_MEMORY.empty()).empty
    assert plan(STATIC_MEMORY.empty(), 0).peak == -1
    assert difference(found.groups, found.groups).empty
    assert peaks(memory, memory).empty
    assert leak([]).verdict == "cannot tell"


def test_of_many_components_the_sums_and_the_first_are_kept() -> None:
    memory = MEMORY.empty().reindex(range(300))
    memory["component"] = [f"c{number}" for number in range(299)] + ["PTA+GE"]
    assert components(memory) == ("PTA+GE", *(f"c{number}" for number in range(99)))



ROWS = st.lists(
    st.tuples(
        st.one_of(st.just(-1), st.integers(1, 50)), st.one_of(st.just(-1), st.integers(1, 60)),
        st.integers(-1, 9), st.integers(-1, 40),
    ),
    max_size=30,
)  # fmt: skip


@given(ROWS)
def test_what_is_alive_is_that_of_a_plain_loop(rows: list[tuple[int, int, int, int]]) -> None:
    frame = blocks_frame(rows)
    blocks = blocks_of(frame)
    times = np.arange(0, 65)
    wanted = []
    for time in times.tolist():
        live = [
            row for row, (start, end, size, _) in enumerate(rows)
            if (start, end) != (-1, -1) and size >= 0 and start <= time < (end if end >= 0 else 99)
        ]  # fmt: skip
        assert sorted(alive(frame, blocks, time).index) == live
        sizes: dict[str, int] = {}
        for row in live:
            sizes[f"op{row % 3}"] = sizes.get(f"op{row % 3}", 0) + rows[row][2]
        groups = grouped(frame, blocks, blocks.alive_at(time), "name")
        assert dict(zip(groups["group"], groups["size_bytes"], strict=True)) == sizes
        by_size = grouped(frame, blocks, blocks.alive_at(time), "size")
        assert sum(by_size["size_bytes"]) == sum(sizes.values())
        wanted.append(sum(sizes.values()))
    assert levels_at(blocks, times).tolist() == wanted
    moments, sums = levels(blocks)
    assert np.all(np.diff(moments) > 0)
    assert levels_at(blocks, moments).tolist() == sums.tolist()


@given(ROWS, st.integers(0, 60), st.integers(0, 60))
def test_what_changed_in_an_interval(rows: list[tuple[int, int, int, int]], first: int, last: int) -> None:
    frame = blocks_frame(rows)
    found = changes(frame, blocks_of(frame), first, last)
    usable = [
        (row, start, end) for row, (start, end, size, _) in enumerate(rows)
        if size >= 0 and (start, end) != (-1, -1) and not 0 <= end <= start
    ]  # fmt: skip
    came = {row for row, start, _ in usable if start >= 0 and first <= start <= last}
    went = {row for row, _, end in usable if end >= 0 and first <= end <= last}
    assert set(found.index[found["allocated"]]) == came
    assert set(found.index[found["released"]]) == went
    assert set(found.index) == came | went


def test_the_two_releases_of_a_block() -> None:
    frame = blocks_frame([(10, 30, 5, -1), (10, 30, 7, -1), (10, 30, 9, -1)], active_released_ns=np.array([25, 40, -1]))
    assert blocks_of(frame).end.tolist() == [25, 30, 30]
    assert blocks_of(frame, measure="active").end.tolist() == [25, 40, 30]


def test_events_of_the_memory_tracker() -> None:
    events = {"allocated_event": np.array([1, 2, -1]), "released_event": np.array([5, -1, -1])}
    frame = blocks_frame([(-1, -1, 5, -1), (-1, -1, 7, -1), (-1, -1, 9, -1)], **events)
    blocks = blocks_of(frame, clock="event")
    assert len(blocks_of(frame)) == 0
    assert levels_at(blocks, np.array([0, 1, 2, 5])).tolist() == [0, 5, 12, 7]


def test_a_curve_that_counts_a_block_until_the_record_after_its_release() -> None:
    """As the graph engine records it: the total beside a release is the one before it."""
    frame = blocks_frame([(10, 20, 100, -1), (12, 30, 40, -1)], component=categorical(["GE", "GE"]))
    memory = records([10, 12, 20, 30, 40], [164, 204, 204, 104, 64], "GE")
    blocks, series = counted(memory, frame, "GE"), curve(memory, "GE")
    assert [explain(frame, blocks, series, time).before for time in (10, 12, 20, 25, 30, 40)] == [64] * 6
    exact = records([10, 12, 20, 30], [164, 204, 104, 64], "GE")
    blocks, series = counted(exact, frame, "GE"), curve(exact, "GE")
    assert [explain(frame, blocks, series, time).before for time in (10, 12, 20, 30)] == [64] * 4


@given(
    st.lists(st.tuples(st.integers(0, 100), st.integers(0, 9)), max_size=60), st.integers(-5, 60), st.integers(1, 60),
    st.integers(1, 30),
)  # fmt: skip
def test_extremes_are_those_of_a_plain_loop(points: list[tuple[int, int]], first: int, width: int, columns: int) -> None:
    points.sort(key=lambda point: point[0])
    series = BytesOverTime(*(np.array([point[place] for point in points], np.int64) for place in (0, 1)))
    last = first + width
    found = extremes(series, first, last, columns)
    edges = [first + width * column // columns for column in range(columns)]
    assert found.edge.tolist() == edges or not points
    for column, (begin, end) in enumerate(zip(edges, [*edges[1:], last + 1], strict=True)):
        inside = [value for time, value in points if begin <= time < end]
        at_begin = any(time == begin for time, _ in points) and begin < end
        before = [value for time, value in points if time < begin]
        seen = inside + ([before[-1]] if before and not at_begin else [])
        assert (found.low[column], found.high[column]) == ((min(seen), max(seen)) if seen else (-1, -1))
        known = [value for time, value in points if time < end]
        assert found.last[column] == (known[-1] if known else -1)


@given(ROWS, st.integers(0, 60))
def test_the_pool_is_that_of_a_plain_loop(rows: list[tuple[int, int, int, int]], time: int) -> None:
    frame = blocks_frame(rows)
    blocks = blocks_of(frame)
    found = pool_at(frame, blocks, time)
    placed = [rows[row] for row in blocks.rows.tolist() if rows[row][3] >= 0 and rows[row][2] > 0]
    known = {byte for _, _, size, address in placed for byte in range(address, address + size)}
    used = {
        byte for start, end, size, address in placed if start <= time < (end if end >= 0 else 99)
        for byte in range(address, address + size)
    }  # fmt: skip
    if not placed:
        assert found is None
        return
    assert found is not None
    free = known - used
    assert (found.used, found.free) == (len(used), len(free))
    runs = [0]
    for byte in range(min(known), max(known) + 2):
        runs[-1:] = [runs[-1] + 1] if byte in free else [runs[-1], 0]
    assert found.largest == max(runs)
    assert np.isnan(found.fragmentation) if not free else found.fragmentation == 1 - max(runs) / len(free)
    assert found.map["address"].is_monotonic_increasing
    assert found.map["size_bytes"].sum() == len(known)


def test_minima_of_steps_and_values() -> None:
    series = BytesOverTime(np.array([10, 20, 30, 40]), np.array([5, 9, 3, 7]))
    assert step_minima(series, np.array([0, 15, 31, 50]), np.array([12, 30, 45, 60])).tolist() == [5, 5, 3, 7]
    assert step_minima(series, np.array([0]), np.array([5])).tolist() == [-1]
    assert [value_at(series, time) for time in (9, 10, 45)] == [-1, 5, 7]


def test_the_peak_and_what_is_reserved_and_unused() -> None:
    memory = records([1, 2, 3], [5, 9, 9]).assign(reserved_bytes=[10, 12, 20])
    assert peak(memory, "PTA") == (2, 9, 12, -1, 3)
    process = records([1, 2], [-1, -1], "APP").assign(reserved_bytes=[10, 12])
    assert peak(process, "APP") == (2, -1, 12, -1, -1)


def test_groups_that_only_one_of_two_has() -> None:
    first = pd.DataFrame({"group": ["a", "b"], "blocks": [2, 1], "size_bytes": [8, 5]})
    second = pd.DataFrame({"group": ["b", "c"], "blocks": [1, 1], "size_bytes": [6, 30]})
    assert difference(first, second).values.tolist() == [
        ["c", 0, 1, 0, 30, 30], ["a", 2, 0, 8, 0, -8], ["b", 1, 1, 5, 6, 1],
    ]  # fmt: skip


def test_a_plan_with_memory_at_nodes() -> None:
    columns = {
        "kind": categorical(["static", "node", "node", "block", "block", "forward_start", "total"]),
        "graph": [0] * 7, "first": [-1, 0, 1, 0, 1, 1, -1], "last": [-1, -1, -1, 0, -1, -1, -1],
        "size_bytes": [4, 10, 30, 6, 26, -1, 99],
    }  # fmt: skip
    found = plan(frame_of(STATIC_MEMORY, 7, columns, "f"), 0)
    assert (found.node.tolist(), found.size.tolist()) == ([0, 1], [10, 30])
    assert (found.total, found.sum, found.peak, found.peak_node, found.static) == (99, 32, 30, 1, 4)
    assert (found.forward_start, found.backward_end) == (1, -1)


# Leaks ---------------------------------------------------------------------------------------------------------------------


def job(seed: int, steps: int, per_step: int) -> tuple[BytesOverTime, Ints, Ints]:
    """Memory of a training: 4 GiB that stay, a rise and fall in each step, noise of 2 MiB, rare spikes, and a leak."""
    draw = np.random.default_rng(seed)
    inner = 40
    shape = np.concatenate((np.linspace(0, 1, inner // 2), np.linspace(1, 0, inner // 2)))
    level = (4 << 30) + np.arange(steps)[:, None] * per_step + draw.normal(0, 2 * MIB, (steps, 1))
    value = level + shape[None, :] * 900 * MIB + np.abs(draw.normal(0, MIB / 4, (steps, inner)))
    value[draw.random(steps) < 0.05] += 64 * MIB
    time = np.arange(steps * inner, dtype=np.int64) * 1_000
    starts = np.arange(steps, dtype=np.int64) * inner * 1_000
    return BytesOverTime(time, np.rint(value).astype(np.int64).ravel()), starts, starts + inner * 1_000


def verdicts(steps: int, per_step: int) -> list[str]:
    return [leak(step_minima(*job(seed, steps, per_step))).verdict for seed in range(100)]


def test_a_leak_of_one_mib_a_step_is_found() -> None:
    assert verdicts(20, MIB).count("leak") >= 95


def test_no_leak_is_told_where_there_is_none() -> None:
    assert verdicts(20, 0).count("leak") <= 2


def test_a_few_steps_cannot_tell() -> None:
    assert set(verdicts(9, 50 * MIB)) == {"cannot tell"}
    assert leak([5 * MIB] * 3 + [-1] * 20).steps == 3


def test_slope_interval_and_test_are_those_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    values = step_minima(*job(3, 30, MIB))
    found = leak(values)
    assert found.slope == pytest.approx(stats.theilslopes(values, np.arange(30)).slope)
    wanted = stats.theilslopes(values, np.arange(30), alpha=0.99)
    assert found.low == pytest.approx(wanted.low_slope, rel=0.05)
    assert found.high == pytest.approx(wanted.high_slope, rel=0.05)
    pairs = [np.sign(values[j] - values[i]) for j in range(30) for i in range(j)]
    assert found.z == pytest.approx(sum(pairs) / np.sqrt(30 * 29 * 65 / 18))
    assert found.growth == pytest.approx(found.slope * 29)


def test_memory_that_grows_by_less_than_a_thousandth_is_no_leak() -> None:
    assert leak([(1 << 34) + step * 1024 for step in range(20)]).verdict == "none"
    assert leak([(1 << 34) + step * MIB for step in range(20)]).verdict == "leak"
    assert leak([(1 << 34) - step * MIB for step in range(20)]).verdict == "none"


def test_a_leak_over_many_steps() -> None:
    values = step_minima(*job(5, 5_000, MIB // 10))
    found = leak(values)
    assert (found.verdict, found.steps) == ("leak", 5_000)
    assert found.slope == pytest.approx(MIB / 10, rel=0.02)
