"""Several traces on one axis, against a count of every slice of all of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.profiler.trace import export, flames, pyramid, ranges, sources
from parsers.profiler.trace.columns import Trace, Track
from parsers.profiler.trace.opened import OpenTrace
from parsers.profiler.trace.placing import common_step
from parsers.profiler.trace.together import MOST_PARTS, Together
from tests.writers.traces import Row, trace

KINDS = ("device_stream", "python", "communication", "step")


@st.composite
def several(draw: st.DrawFn) -> list[Trace]:
    """Up to three traces of hosts and devices; one may have nothing."""
    names = st.sampled_from(["Add", "MatMul", "AllReduce", "步", "\\d"])
    row = st.tuples(st.integers(0, 400), st.one_of(st.integers(0, 8), st.integers(0, 300)), names)
    found = []
    for _ in range(draw(st.integers(1, 3))):
        kinds = draw(st.lists(st.sampled_from(KINDS), max_size=3))
        tracks = [(Track("p", f"t{index}", "1", str(index), kind, (0, index)), draw(st.lists(row, max_size=20)))
                  for index, kind in enumerate(kinds)]  # fmt: skip
        found.append(replace(trace(tracks), origin_ns=draw(st.integers(0, 300)), clock="relative"))
    return found


Slice = tuple[int, int, str, int, int, int]
"""Start on the axis, duration, name, number of the track, lane, row."""


def slices(made: Together) -> list[Slice]:
    """Every slice of every trace, with times moved by the shift that `RankPart.shift` names."""
    found = []
    for part in made.parts:
        of = part.opened.trace
        for row in range(len(of.slices)):
            track = int(of.slices.track[row])
            lane = part.lane + int(part.opened.first_lanes[track]) + int(of.slices.depth[row])
            found.append((
                int(of.slices.start[row]) + part.shift(track), int(of.slices.duration[row]),
                of.names[of.slices.name[row]], part.track + track, lane, part.row + row,
            ))  # fmt: skip
    return found


def opened(traces: list[Trace]) -> list[OpenTrace]:
    return [OpenTrace(one) for one in traces]


def stacks(frames: list[pd.DataFrame]) -> dict[tuple[str, ...], list[int]]:
    """Count, total and own time by the names of a stack."""
    found: dict[tuple[str, ...], list[int]] = {}
    for frame in frames:
        paths: list[tuple[str, ...]] = []
        for row in frame.itertuples():
            assert row.parent < row.Index
            paths.append((*(paths[row.parent] if row.parent >= 0 else ()), row.name))
            assert row.level == len(paths[-1]) - 1
            known = found.setdefault(paths[-1], [0, 0, 0])
            known[:] = (a + b for a, b in zip(known, (row[4], row.total_ns, row.self_ns), strict=True))
    return found


axes = st.sampled_from(["clock", "start", "step", None])


@given(several(), axes, st.booleans(), st.integers(0, 9), st.integers(0, 40), st.integers(1, 60))
def test_views(traces: list[Trace], axis: None, devices: bool, k: int, b0: int, n: int) -> None:
    made = Together(opened(traces), (), axis, devices=devices)
    lanes = list(range(made.lanes))[::-1]
    found = made.view(lanes, k, b0, n)
    shift = {part.track + index: part.shift(index) for part, index, _ in made.listed()}
    size = 1 << k
    big, starts, busy = set(), Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    for start, duration, _, track, lane, row in slices(made):
        late = shift[track] % size
        low, high = b0 * size + late, (b0 + n) * size + late
        if duration >= size:
            if start < high and start + duration > low:
                big.add((lane, row, start, duration))
            continue
        if low <= start < high:
            starts[lane, (start - late) // size - b0] += 1
        for ns in range(max(start, low), min(start + duration, high)):
            busy[lane, (ns - late) // size - b0] += 1
    places = [lanes[place] for place in found.lane.tolist()]
    seen = zip(places, found.row.tolist(), found.start.tolist(), found.duration.tolist(), strict=True)
    assert set(seen) == big
    pairs = zip(found.small_lane.tolist(), found.bucket.tolist(), strict=True)
    cells = [(lanes[place], int(bucket)) for place, bucket in pairs]
    assert len(cells) == len(set(cells))
    assert {cell: count for cell, count in zip(cells, found.count.tolist(), strict=True) if count} == dict(starts)
    assert {cell: ns for cell, ns in zip(cells, found.busy.tolist(), strict=True) if ns} == dict(busy)
    assert [made.name_range(name, name + 1)[0] for name in found.name.tolist()] == [
        next(one[2] for one in slices(made) if one[5] == row) for row in found.row.tolist()
    ]


@given(several(), axes, st.booleans(), st.integers(0, 700), st.integers(1, 700), st.booleans())
def test_statistics(traces: list[Trace], axis: None, devices: bool, t0: int, length: int, whole: bool) -> None:
    made = Together(opened(traces), (), axis, devices=devices)
    t1 = t0 + length
    count, total, longest = Counter[str](), Counter[str](), {}
    for start, duration, name, _, _, row in slices(made):
        # what starts in the range, or runs on into it
        if not (t0 <= start < t1 or (start < t0 < start + max(duration, 1))):
            continue
        inside = duration if whole else min(start + duration, t1) - max(start, t0)
        count[name] += 1
        total[name] += inside
        longest[name] = max(longest.get(name, (-1, 0)), (inside, -row))
    frame = made.statistics(t0, t1, clip=not whole).set_index("name")
    assert frame["count"].to_dict() == dict(count)
    assert frame["total_ns"].to_dict() == {name: total[name] for name in count}
    assert {name: (int(one["max_ns"]), -int(one["longest"])) for name, one in frame.iterrows()} == longest
    tracks = made.by_track(t0, t1)
    assert tracks["track"].tolist() == list(range(made.tracks))
    assert tracks["count"].sum() == sum(count.values())
    alone = []
    for part, index, _ in made.listed():
        alone.append(flames.flame(part.opened.trace, t0 - part.shift(index), t1 - part.shift(index), [index]))
    joined = made.flame(t0, t1)
    assert stacks([joined]) == stacks(alone)
    assert len(stacks([joined])) == len(joined)


@given(several(), axes, st.integers(0, 700), st.integers(1, 700), st.booleans())
def test_differences(traces: list[Trace], axis: None, t0: int, length: int, clip: bool) -> None:
    made = Together(opened(traces), (), axis)
    last = len(made.parts) - 1
    frame = made.difference(0, last, t0, t0 + length, clip=clip).set_index("name")
    sides = []
    for part in (made.parts[0], made.parts[last]):
        alone = ranges.statistics(part.opened.trace, t0 - part.place.shift, t0 + length - part.place.shift, clip=clip)
        sides.append(alone.set_index("name"))
    assert set(frame.index) == set(sides[0].index) | set(sides[1].index)
    for name, row in frame.iterrows():
        for side, prefix in zip(sides, ("", "other_"), strict=True):
            for column in ("count", "total_ns", "self_ns"):
                assert row[prefix + column] == (side.loc[name, column] if name in side.index else 0)
        assert row["difference_ns"] == row["other_self_ns"] - row["self_ns"]


@given(several(), axes, st.booleans(), st.integers(0, 60), st.integers(1, 20))
def test_search_and_numbers(traces: list[Trace], axis: None, devices: bool, shortest: int, limit: int) -> None:
    made = Together(opened(traces), (), axis, devices=devices)
    every = sorted((start, row, track, name, ns) for start, ns, name, track, _, row in slices(made))
    fitting = [one for one in every if "a" in one[3].lower() and one[4] >= shortest]
    names = [part.opened.names().containing("a") for part in made.parts]
    rows = made.find(names, None, shortest, limit)
    assert rows.tolist() == [row for _, row, *_ in fitting][:limit]
    assert made.starts(rows).tolist() == [start for start, *_ in fitting][:limit]
    assert made.durations(rows).tolist() == [one[4] for one in fitting][:limit]
    assert made.tracks_of(rows).tolist() == [one[2] for one in fitting][:limit]
    assert [made.name_range(name, name + 1) for name in made.names_of(rows).tolist()] == [[one[3]] for one in fitting][:limit]
    chosen = list(range(0, made.tracks, 2))
    assert made.find(names, chosen, shortest).tolist() == [row for _, row, track, *_ in fitting if track in chosen]
    assert len(made.name_range(0, made.names)) == len(made.medians(0, made.names)) == made.names
    for _, row, track, *_ in every:
        (part, own), (other, _) = made.of_row(row), made.of_track(track)
        assert part is other
        assert part.opened.trace.slices.track[own] + part.track == track
    if every:
        spans = every[0][0], max(start + ns for start, *_, ns in every)
        # devices that are moved are taken to be anywhere in their trace
        assert made.extent == spans if not devices else made.extent[0] <= spans[0] < spans[1] + 1 <= made.extent[1] + 1
        assert every[0][0] >= 0
        assert made.end >= made.extent[1]


@given(several(), axes, st.integers(0, 500), st.integers(1, 500))
def test_export(traces: list[Trace], axis: None, t0: int, length: int) -> None:
    made = Together(opened(traces), ["a", "b", "c"][: len(traces)], axis)
    parts = [
        export.TracePart(part.opened.trace, part.label, [part.shift(index) for index in range(len(part.opened.trace.tracks))])
        for part in made.parts
    ]
    found = json.loads(b"".join(export.together(parts, t0, t0 + length)))
    drawn = sorted((event["name"], round(event["ts"] * 1000)) for event in found["traceEvents"] if event["ph"] == "X")
    inside = [one for one in slices(made) if t0 <= one[0] < t0 + length or one[0] < t0 < one[0] + max(one[1], 1)]
    assert drawn == sorted((name, start) for start, _, name, *_ in inside)
    processes = [event["pid"] for event in found["traceEvents"] if event["name"] == "process_name"]
    assert len(processes) == len(set(processes)) == sum(bool(one.tracks) for one in traces)


STEP = Track("p", "Steps", "1", "0", "step", (0, 0))


def stepped(label: int, *starts: int) -> OpenTrace:
    rows: list[Row] = [(start, 100, f"ProfilerStep#{label + number}") for number, start in enumerate(starts)]
    return OpenTrace(replace(trace([(STEP, rows)]), clock="relative"))


def test_steps_begin_together() -> None:
    traces = [stepped(5, 0, 100, 200), stepped(6, 40, 340)]
    assert common_step(traces) == "6"
    made = Together(traces, (), "step")
    starts = [[step.start + part.place.shift for step in part.opened.steps()] for part in made.parts]
    assert starts == [[0, 100, 200], [100, 400]]
    assert [step.start for step in made.steps()] == [0, 100, 200]
    later = Together(traces, (), "step", step="7")
    assert [part.place.shift for part in later.parts] == [140, 0]
    # one that has no such step, nor as many: its start is where the step begins
    other = Together([*traces, stepped(90, 20)], (), "step", step="7")
    assert [(part.place.shift, part.place.by_step) for part in other.parts] == [(140, True), (0, True), (340, False)]


def test_the_axis_by_default() -> None:
    def at(origin: int, *, steps: bool = False, clock: str = "epoch") -> OpenTrace:
        made = trace([(STEP, [(0, 100, "ProfilerStep#1")]) if steps else (replace(STEP, kind="python"), [(0, 100, "f")])])
        return OpenTrace(replace(made, origin_ns=origin, clock=clock))  # type: ignore[arg-type]

    assert Together([at(5)]).axis == "clock"
    assert [part.place.shift for part in Together([at(5), at(50)]).parts] == [0, 45]
    assert Together([at(5), at(500)]).axis == "start"
    assert Together([at(5, steps=True), at(500, steps=True)]).axis == "step"
    assert Together([at(5), at(5, clock="boot")]).axis == "start"
    with pytest.raises(ValueError, match="cannot be compared"):
        Together([at(5), at(5, clock="boot")], (), "clock")
    with pytest.raises(ValueError, match="cannot be compared"):
        Together([at(5), at(1 << 60)], (), "clock")
    with pytest.raises(ValueError, match=re.escape(f"1 to {MOST_PARTS}")):
        Together([at(5)] * (MOST_PARTS + 1))


def test_two_ranks_of_a_real_job(real_data: Path, tmp_path: Path) -> None:
    folder = real_data / "profiler_new" / "torch_npu_text_level2"
    traces = []
    for rank in (0, 1):
        made = sources.read(str(folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"))
        pyramid.build(made, str(tmp_path / str(rank)))
        traces.append(OpenTrace(made, pyramid.open(str(tmp_path / str(rank)))))
    made = Together(traces, ["rank 0", "rank 1"])
    assert made.axis == "clock"
    origins = [one.trace.origin_ns for one in traces]
    assert [part.place.shift for part in made.parts] == [origin - min(origins) for origin in origins]
    aligned = Together(traces, ["rank 0", "rank 1"], devices=True)
    assert [round(part.place.device / 1000, 1) for part in aligned.parts] == [0.0, 78.2]
    row = next(each.row for each in traces[0].collectives() if each.name.startswith("hcom_allReduce"))
    before, after = made.same_collective(row), aligned.same_collective(row)
    assert len(before) == len(after) == 2
    # 80 us apart as recorded; a few us once the devices are aligned
    assert 75_000 < before[0][2] - before[1][2] < 85_000
    assert abs(after[0][2] - after[1][2]) < 5_000
    frame = made.statistics(0, made.end + 1)
    alone = [ranges.statistics(one.trace, 0, one.end + 1) for one in traces]
    assert frame["total_ns"].sum() == sum(int(one["total_ns"].sum()) for one in alone)
    whole = made.view(range(made.lanes), 20, 0, (made.end >> 20) + 1)
    assert whole.count.sum() + len(whole.row) == made.rows
