"""When steps began and ended: slices of a trace and rows of a database, and what is wrong with them."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path

import pandas as pd
import pytest

from parsers import open_run
from parsers.frames import STEP_TIMES
from parsers.profiler.parts import ProfileInput
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
    for shift in range(0, 40, 3):
        text = "[" + filler + ","
        text += " " * ((4 << 20) - len(text) - shift) + json.dumps(event(3, "10.5", 2)) + "," + filler + "]"
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
