"""Files of one recording read as one trace: the ten iterations of a real profile, and made ones."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from parsers import open_run
from parsers.profiler.trace import export, joining, sources, storage
from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.sources import TraceFiles


def event(name: str, us: float, ns: int, thread: int = 1, **more: Any) -> dict[str, Any]:
    return {"ph": "X", "name": name, "pid": 1, "tid": thread, "ts": str(us), "dur": ns / 1000, **more}


def flow(phase: str, us: float, thread: int) -> dict[str, Any]:
    return {"ph": phase, "bp": "e", "id": 7, "cat": "launch", "name": "launch", "pid": 1, "tid": thread, "ts": str(us)}


FIRST = [
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "Stream 1"}},
    event("a", 5_000_000, 4000, args={"number": 1}), event("b", 5_000_001, 1000, 2, cat="x"), flow("s", 5_000_001, 2),
    flow("f", 5_000_002, 1), {"ph": "C", "name": "c", "pid": 1, "ts": "5000003", "args": {"v": 2}},
]  # fmt: skip
SECOND = [
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "Stream 1"}},
    event("c", 4_000_000, 2000, args={"number": 2}), event("a", 4_000_001, 500, args={"number": 3}),
    event("d", 4_000_005, 0, 3),
    {"ph": "C", "name": "c", "pid": 1, "ts": "4000003", "args": {"v": 1}},
]  # fmt: skip


def written(folder: Path, *parts: object) -> tuple[str, ...]:
    paths = []
    for number, part in enumerate(parts, 1):
        paths.append(folder / f"msprof_0_1_{number}.json")
        paths[-1].write_text(part if isinstance(part, str) else json.dumps(part))
    return tuple(map(str, paths))


def read(folder: Path, *parts: object) -> Trace:
    return sources.read_all(TraceFiles("msprof_0_1_*.json", written(folder, *parts)))


def test_tracks_names_arrows_and_counters_are_joined(tmp_path: Path) -> None:
    trace = read(tmp_path, FIRST, SECOND)
    assert (Path(trace.path).name, trace.origin_ns) == ("msprof_0_1_*.json", 4_000_000_000)
    assert [(track.thread_id, track.last - track.first) for track in trace.tracks if track.last > track.first] == [
        ("1", 3), ("2", 1), ("3", 1),
    ]  # fmt: skip
    slices = trace.slices
    columns = (slices.start, slices.duration, slices.depth)
    rows = [(trace.names[slices.name[row]], *(int(column[row]) for column in columns)) for row in range(len(slices))]
    assert rows == [
        ("c", 0, 2000, 0), ("a", 1000, 500, 1), ("a", 1_000_000_000, 4000, 0), ("b", 1_000_001_000, 1000, 0), ("d", 5000, 0, 0),
    ]  # fmt: skip
    assert [trace.names[trace.slices.name[row]] for row in (trace.flows.source[0], trace.flows.target[0])] == ["b", "a"]
    assert list(zip(trace.counters.time.tolist(), trace.counters.value.tolist(), strict=True)) == [
        (3000, 1),
        (1_000_003_000, 2),
    ]
    assert [sources.arguments(trace, row).get("number") for row in range(3)] == [2, 3, 1]
    assert joining.of_file(trace, 0)[0] == trace.files[1]


def test_it_is_stored_with_its_files(tmp_path: Path) -> None:
    trace = read(tmp_path, FIRST, SECOND)
    storage.write(trace, str(tmp_path / "index"))
    stored = storage.open(str(tmp_path / "index"))
    assert (stored.files, stored.path) == (trace.files, trace.path)
    assert sources.arguments(stored, 2) == {"number": 1}
    before = storage.key_of(*trace.files)
    Path(trace.files[1]).write_text("[]")
    assert storage.key_of(*trace.files) != before
    assert storage.key_of(trace.files[0]) != before


@pytest.mark.parametrize("damaged", ["", "[", "no trace", '[{"ph": "X", "name": 5'])
def test_a_damaged_file_leaves_the_others(tmp_path: Path, damaged: str) -> None:
    trace = read(tmp_path, FIRST, damaged, SECOND)
    assert len(trace.slices) == 5
    assert {Path(problem.path).name for problem in trace.problems} == {"msprof_0_1_2.json"}
    nothing = read(tmp_path, damaged, damaged)
    assert (len(nothing.slices), nothing.tracks) == (0, ())


def test_a_file_of_another_clock_is_left_out_and_said(tmp_path: Path) -> None:
    later = [event("e", 1_700_000_000_000_000, 5)]
    trace = read(tmp_path, FIRST, later)
    assert sorted(trace.names) == ["a", "b"]
    assert "another one" in trace.problems[-1].text


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_arguments_in_files_of_several_pieces(tmp_path: Path, count: int) -> None:
    filler = "x" * 12_000
    parts = [
        [event(f"e{at % 7}", at * 100 + part, 10, args={"of": [part, at], "filler": filler}) for at in range(240)]
        for part in range(count)
    ]
    paths = written(tmp_path, *parts)
    assert min(Path(path).stat().st_size for path in paths) > 2 << 20
    trace = sources.read_all(TraceFiles("msprof_0_1_*.json", paths))
    storage.write(trace, str(tmp_path / "index"))
    trace = storage.open(str(tmp_path / "index"))
    assert len(trace.slices) == 240 * count
    rows = range(0, len(trace.slices), 7)
    for row in rows:
        number, part = divmod(int(trace.slices.start[row]) // 1000, 100)
        assert sources.arguments(trace, row)["of"] == [part, number]
    start, stop = int(trace.slices.start[rows[-1]]), trace.end
    part_of_trace = export.TracePart(trace, "", [0] * len(trace.tracks), lambda row: sources.arguments(trace, row))
    exported = json.loads(b"".join(export.together([part_of_trace], start, stop)))
    found = [one["args"]["of"] for one in exported["traceEvents"] if one["ph"] == "X"]
    late = [one["args"]["of"] for each in parts for one in each if float(one["ts"]) * 1000 >= start]
    assert sorted(found) == sorted(late)
    assert found


def test_a_file_whose_events_have_no_place_is_left_out_and_said(tmp_path: Path) -> None:
    first, second = (sources.read(path) for path in written(tmp_path, FIRST, SECOND))
    event = second.slices.event
    most = replace(second, slices=replace(second.slices, event=event - event.max() + (1 << 62) - 1))
    trace = joining.joined("all", [first, most])
    assert (len(trace.slices), trace.problems) == (5, ())
    found = {joining.of_file(trace, row) for row in range(len(trace.slices))}
    assert found == {(one.path, place) for one in (first, most) for place in one.slices.event.tolist()}
    longer = replace(second, slices=replace(second.slices, event=most.slices.event + 1))
    trace = joining.joined("all", [first, longer])
    assert (trace.files, len(trace.slices)) == ((first.path,), 2)
    assert [(problem.path, "2^62" in problem.text) for problem in trace.problems] == [(second.path, True)]


def test_more_files_than_there_may_be_are_left_out_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "MOST_FILES", 2)
    trace = read(tmp_path, FIRST, SECOND, SECOND)
    assert len(trace.slices) == 5
    (problem,) = trace.problems
    assert (Path(problem.path).name, "at most 2" in problem.text) == ("msprof_0_1_3.json", True)


def test_progress_is_about_all_files(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    paths = written(tmp_path, FIRST, SECOND)
    sources.read_all(TraceFiles("all", paths), progress=lambda done, total: seen.append((done, total)))
    sizes = [Path(path).stat().st_size for path in paths]
    assert seen[-1] == (sum(sizes), sum(sizes))
    assert seen == sorted(seen)


def test_which_files_are_one_recording(tmp_path: Path) -> None:
    folder = tmp_path / "run/PROF_1/device_0/timeline"
    folder.mkdir(parents=True)
    for name in (
        "msprof_0_2_1.json", "msprof_0_2_2.json", "msprof_0_2_10.json", "msprof_1_2_1.json", "msprof_20250101101010.json",
        "msprof_slice_0_20250101101010.json", "msprof_slice_1_20250101101010.json", "msprof_0_20250101101011.json",
    ):  # fmt: skip
        (folder / name).write_text("[]")
    found = [one for profile in open_run(tmp_path / "run").profile.values() for one in sources.grouped(profile)]
    groups = {one.name.rsplit("/", 1)[-1]: [Path(path).name for path in one.paths] for one in found}
    assert groups == {
        "msprof_0_2_*.json": ["msprof_0_2_1.json", "msprof_0_2_2.json", "msprof_0_2_10.json"],
        "msprof_1_2_1.json": ["msprof_1_2_1.json"],
        "msprof_20250101101010.json": ["msprof_20250101101010.json"],
        "msprof_0_20250101101011.json": ["msprof_0_20250101101011.json"],
        "msprof_slice_*_20250101101010.json": ["msprof_slice_0_20250101101010.json", "msprof_slice_1_20250101101010.json"],
    }


def test_the_iterations_of_a_real_profile(real_data: Path) -> None:
    runs = open_run(real_data / "mindinsight_legacy")
    (files,) = [
        one for profile in runs.profile.values() for one in sources.grouped(profile) if one.name.endswith("msprof_0_2_*.json")
    ]
    assert len(files.paths) == 10
    trace = sources.read_all(files)
    expected: Counter[tuple[str, int, int]] = Counter()
    for path in files.paths:
        for one in json.loads(Path(path).read_text()):
            if one["ph"] == "X":
                expected[one["name"], int(Decimal(str(one["ts"])) * 1000), round(Decimal(str(one["dur"])) * 1000)] += 1
    first = min(start for _, start, _ in expected)
    slices = trace.slices
    found = Counter(zip(
        [trace.names[name] for name in slices.name.tolist()], (slices.start + first).tolist(), slices.duration.tolist(),
        strict=True,
    ))  # fmt: skip
    assert found == expected
    assert sum(found.values()) == 10_838
    assert len(trace.tracks) == 18
    assert int(slices.self.min()) >= 0
    row = next(row for row in range(len(slices)) if joining.of_file(trace, row)[0] == trace.files[7])
    path, _ = joining.of_file(trace, row)
    texts = [one for one in json.loads(Path(path).read_text()) if one["name"] == trace.names[slices.name[row]]]
    assert sources.arguments(trace, row) in [one.get("args", {}) for one in texts]
