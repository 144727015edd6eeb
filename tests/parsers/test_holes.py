"""Files with holes: 10 GB that were never written cost no more than a few MB, and what lies behind a hole is read."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from parsers import open_run
from parsers.model import Problem
from parsers.profiler.trace import chrome
from parsers.tuning.journal import StudyFile
from tests.writers.wandb import HEADER, history, wandb_file

HOLE = 10 << 30
SECONDS = 4.0
"""Processor time of one file, most of which is importing; bytes read one by one take 10 to 40 s."""
OUTPUT = "host_1_2_ascend_ms/ASCEND_PROFILER_OUTPUT"


def write(path: Path, before: str | bytes, after: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(before if isinstance(before, bytes) else before.encode())
        file.seek(HOLE)
        file.write(after if isinstance(after, bytes) else after.encode())
    if not hasattr(os, "SEEK_DATA") or path.stat().st_blocks * 512 > 64 << 20:
        pytest.skip("the file system knows no holes")
    return path


@pytest.fixture
def quick():
    begun = time.process_time()
    yield
    assert time.process_time() - begun < SECONDS


def kernels(folder: Path) -> tuple[list[str], tuple[Problem, ...]]:
    line = "{},1.5,10.25,AI_CORE,0,N/A\n"
    header = "Name,Start Time(us),Duration(us),Accelerator Core,Step Id,Input Shapes\n"
    write(folder / "run" / OUTPUT / "kernel_details.csv", header + line.format("before"), "\n" + line.format("after"))
    profiled = open_run(folder / "run")
    (key,) = profiled.profile
    profile = profiled.profile[key]
    return profile.frame("kernels")["name"].astype("str").tolist(), profile.problems


def steps(folder: Path) -> tuple[list[str], tuple[Problem, ...]]:
    event = '{{"name": "ProfilerStep#{}", "ph": "X", "pid": 1, "tid": 1, "ts": {}, "dur": 5}}'
    place = folder / "run" / OUTPUT / "trace_view.json"
    write(place, "[" + event.format("1", 10) + ",", "," + event.format("2", 20) + "]")
    profiled = open_run(folder / "run")
    (key,) = profiled.profile
    return profiled.profile[key].frame("step_times")["step"].astype("str").tolist(), ()


def trace(folder: Path) -> tuple[list[str], tuple[Problem, ...]]:
    event = '{{"name": "{}", "ph": "X", "pid": 1, "tid": 1, "ts": {}, "dur": 5}}'
    found = chrome.read(
        str(write(folder / "trace_view.json", "[" + event.format("before", 10) + ",", "," + event.format("after", 20) + "]")),
        None,
    )
    return list(found.names), found.problems


def metrics(folder: Path) -> tuple[list[str], tuple[Problem, ...]]:
    write(folder / "run" / "metrics.csv", "step,before\n1,1\n", "\n2,2\n")
    run = open_run(folder / "run")
    return [str(step) for step in run.scalars["step"]], run.problems


def lines(folder: Path) -> tuple[list[str], tuple[Problem, ...]]:
    line = '{{"step": {}, "before": 1}}\n'
    write(folder / "run" / "metrics.jsonl", line.format(1), "\n" + line.format(2))
    run = open_run(folder / "run")
    return [str(step) for step in run.scalars["step"]], run.problems


def wandb(folder: Path) -> tuple[list[str], tuple[Problem, ...]]:
    before, after = (wandb_file([history({"_step": step, "loss": 0.5})]) for step in (1, 2))
    write(folder / "run" / "run-abc.wandb", before, after.removeprefix(HEADER))
    run = open_run(folder / "run")
    return [str(step) for step in run.scalars["step"]], run.problems


def journal(folder: Path) -> tuple[list[str], tuple[Problem, ...]]:
    line = '{{"op_code": 0, "worker_id": "1", "study_name": "{}", "directions": [1]}}\n'
    found = StudyFile(str(write(folder / "journal.log", line.format("before"), "\n" + line.format("after"))))
    found.refresh()
    return [study.name for study in found.studies], found.problems


@pytest.mark.parametrize(
    ("read", "wanted", "is_damage"),
    [
        (kernels, ["before", "after"], True), (steps, ["1", "2"], False), (trace, ["before", "after"], True),
        (metrics, ["1", "2"], True), (lines, ["1", "2"], True), (journal, ["before", "after"], True),
        (wandb, ["1", "2"], False),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("quick")
def test_a_hole_is_skipped_and_what_lies_behind_it_is_read(
    read: Callable[[Path], tuple[list[str], tuple[Problem, ...]]], wanted: list[str], is_damage: bool, tmp_path: Path
) -> None:
    found, problems = read(tmp_path)
    assert [name for name in found if name in wanted] == wanted
    assert bool(problems) == is_damage
    assert all(problem.text for problem in problems)
