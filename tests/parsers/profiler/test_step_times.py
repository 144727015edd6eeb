"""When steps began and ended: slices of a trace and rows of a database, and what is wrong with them."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import re
import sqlite3
import time
from pathlib import Path

import pandas as pd
import pytest

from parsers import open_run
from parsers.profile_frames import STEP_TIMES
from parsers.profiler.frame_parts import ProfileInput
from parsers.profiler.progress import Cancelled, watched
from parsers.profiler.step_times import from_database, from_trace
from parsers.profiler.trace import gaps, sources

START = 1_736_412_474_712_651_500


def event(step: int, ts: object, dur: object, **more: object) -> dict[str, object]:
    return {"ph": "X", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 2, "ts": ts, "dur": dur, **more}


def rows(frame: pd.DataFrame) -> list[list[int]]:
    listed: list[list[int]] = STEP_TIMES.check(frame)[["step", "start_ns", "end_ns"]].values.tolist()
    return listed


def read(path: Path) -> tuple[list[list[int]], list[str]]:
    part = from_trace(ProfileInput(str(path), path.name, {}))
    return rows(part.frame), [problem.text for problem in part.problems]


def test_times_are_exact_and_in_order(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    stack = "x.py(3): {run};\\n" * 4000
    events = [event(8, "1736412474713851.75", "999.5"), event(7, "1736412474712651.500", 1200, args={"Call stack": stack})]
    path.write_text(json.dumps([{"ph": "M", "args": {"name": "ProfilerStep#9"}}, *events]))
    wanted = [[7, START, START + 1_200_000], [8, START + 1_200_250, START + 2_199_750]]
    assert read(path) == (wanted, [])
    packed = tmp_path / "trace_view.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read(packed) == (wanted, [])
    path.write_text(path.read_text().replace('"ts": "1736412474713851.75"', '"ts": 1736412474713851.75'))
    assert read(path)[0] == wanted


def test_names_across_windows_and_mentions_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    filler = json.dumps({"ph": "X", "name": "aten::mm", "args": {"Call stack": "ProfilerStep#1 {" * 50}})
    for size, shift in itertools.product((1 << 20, 4 << 20), range(0, 40, 3)):
        text = "[" + filler + ","
        text += " " * (size - len(text) - shift) + json.dumps(event(3, "10.5", 2)) + "," + filler + "]"
        path.write_text(text)
        assert read(path) == ([[3, 10_500, 12_500]], [])


@pytest.mark.parametrize(
    "broken", [event(1, *times) for times in (("x", 1), (None, 1), (1, -1), (True, 1), ("1e400", 1), ("9" * 70, 1))]
)
def test_events_without_times_are_no_steps(broken: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps([broken, event(2, 5, 1)]))
    assert read(path)[0] == [[2, 5_000, 6_000]]
    path.write_text(json.dumps([event(2, 5, 1)])[:-9])
    assert read(path)[0] == []


def test_missing_and_empty_files(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    assert "cannot be read" in read(path)[1][0]
    path.write_bytes(b"")
    assert read(path) == ([], ["The file is empty."])
    path.write_bytes(gzip.compress(json.dumps([event(2, 5, 1)] * 300).encode())[:-20])
    assert "the compressed data end before they are complete" in read(path)[1][0]


@pytest.mark.parametrize(
    "hostile",
    ['{"a": [' + "{" * 30 + '"name": "ProfilerStep#1"', '{} {} {} "name": "ProfilerStep#1"', '[{"name": "ProfilerStep#1" x},'],
)
def test_a_hostile_trace_is_given_up_and_said_so(hostile: str, tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps([event(2, 5, 1)])[:-1] + "," + hostile * (2_000_000 // len(hostile)))
    began = time.process_time()
    found, said = read(path)
    assert found == [[2, 5_000, 6_000]]
    assert len(said) == 1
    assert re.fullmatch(r"Expected events of steps, found 1,0\d\d times text that is none; later steps are missing\.", said[0])
    assert time.process_time() - began < 5  # tens of seconds without a limit


def test_names_within_one_event_are_decoded_once(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    names = '"name": "ProfilerStep#1", ' * 500
    path.write_text("[{" + names + '"ts": 1, "dur": 2, "args": {"\u00e9": "\u00e9"}},' + json.dumps(event(2, 5, 1)) + "]")
    assert read(path) == ([[1, 1_000, 3_000], [2, 5_000, 6_000]], [])


@pytest.mark.long
def test_steps_with_long_stacks_are_no_failures(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    stack = "x.py(3): run;" * 1400
    path.write_text(json.dumps([event(step, step, 1, args={"Call stack": stack}) for step in range(1_100)]))
    assert read(path) == ([[step, step * 1000, step * 1000 + 1000] for step in range(1_100)], [])


def test_reading_is_cancelled_within_a_megabyte(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps([event(2, 5, 1)])[:-1] + " " * (8 << 20) + "]")
    seen: list[int] = []
    with watched(seen.append):
        read(path)
    assert sum(seen) == path.stat().st_size
    assert max(seen) <= 2 << 20

    def stop(size: int) -> None:
        raise Cancelled

    path.write_text('{"name": "ProfilerStep#1" x},' * 200)
    with watched(stop), pytest.raises(Cancelled):
        read(path)


@pytest.mark.parametrize("size", [1, 3 << 20])
@pytest.mark.parametrize("sparse", [True, False])
def test_a_trace_of_zeros_alone_is_said_so(size: int, sparse: bool, tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    path.write_bytes(b"" if sparse else bytes(size))
    if sparse:
        os.truncate(path, size)
    assert read(path) == (
        [], ["Expected an array of events, or an object with traceEvents, found zeros; no step is read."]
    )  # fmt: skip


@pytest.mark.parametrize("text", ["[]", " []", '{"traceEvents": []}'])
def test_a_trace_without_steps_is_not_damaged(text: str, tmp_path: Path) -> None:
    (tmp_path / "trace_view.json").write_text(text)
    assert read(tmp_path / "trace_view.json") == ([], [])


def test_a_database(tmp_path: Path) -> None:
    path = tmp_path / "ascend_pytorch_profiler_0.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER)")
        connection.executemany("INSERT INTO STEP_TIME VALUES (?, ?, ?)", [(5, 20, 30), (4, 10, 20), (6, 50, 40), ("x", 1, 2)])
    part = from_database(ProfileInput(str(path), path.name, {}))
    assert rows(part.frame) == [[4, 10, 20], [5, 20, 30]]
    assert [problem.text for problem in part.problems] == [
        "Table STEP_TIME: expected whole numbers, found ('x', 1, 2); the row was skipped.",
        "Step 6: expected an end after its begin, found 10 ns before it; 1 steps were skipped.",
    ]
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE STEP_TIME")
    part = from_database(ProfileInput(str(path), path.name, {}))
    assert (rows(part.frame), part.problems) == ([], ())


@pytest.mark.parametrize("folder", ["torch_npu_text_level2/rank0_ascend_pt", "torch_npu_text_level2/rank1_ascend_pt",
                                    "torch_npu_db_level2/rank0_ascend_pt"])  # fmt: skip
def test_steps_are_those_of_the_trace(folder: str, real_data: Path) -> None:
    (profile,) = open_run(real_data / "profiler_new" / folder).profile.values()
    trace = sources.read_all(sources.grouped(profile)[0])
    wanted = [[trace.origin_ns + start, trace.origin_ns + end] for _, start, end in gaps.steps(trace)]
    assert [row[1:] for row in rows(profile.step_times)] == wanted
    assert profile.step_times["step"].tolist() == [50]
