"""Stacks from the slices of Python functions, against those that torch wrote beside them and against nesting by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from parsers.profiler.kineto import stacks
from parsers.profiler.kineto.operators import operators
from parsers.profiler.kineto.recording import KinetoRecording, read
from parsers.profiler.kineto.stacks import PYTHON, stacks_around

STEP = str(Path(__file__).resolve().parents[3] / "data" / "torch" / "2.13" / "step.pt.trace.json.gz")


def functions(stack: str) -> list[str]:
    return [re.sub(r"\(\d+\)", "", line) for line in stack.split("\n") if re.search(r"\.py\b(?!bind)", line)]


def test_functions_around_operators_are_those_of_the_recorded_stacks() -> None:
    recording = read(STEP)
    recorded, around = recording.stacks, stacks_around(recording.trace, recording.host.slice)
    names = [recording.trace.names[code] for code in recording.host.name.tolist()]
    compared = 0
    for row, name in enumerate(names):
        stack = recorded.texts[recorded.code[row]]
        if name.startswith("aten::") and stack:  # an annotation records the stack from within its own function of Python
            assert functions(around.texts[around.code[row]]) == functions(stack), name
            compared += 1
    assert compared > 300


def test_recorded_lines_win_over_functions() -> None:
    recording = read(STEP)
    frame = operators(recording, "file")
    stack = frame.loc[frame["name"] == "aten::conv2d", "stack"].iloc[0]
    assert "one.py(8): forward" in stack.split("\n")


def written(tmp_path: Path, events: list[tuple[str, str, int, int, int]]) -> KinetoRecording:
    """Write (category, name, thread, start, duration) in microseconds."""
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({
        "schemaVersion": 1, "deviceProperties": [], "traceEvents": [
            {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": start, "dur": duration}
            for category, name, thread, start, duration in events
        ],
    }))  # fmt: skip
    return read(str(path))


def test_file_and_function_without_the_first_line_innermost_first(tmp_path: Path) -> None:
    recording = written(tmp_path, [
        (PYTHON, "main.py(3): main", 1, 0, 100), (PYTHON, "net.py(40): forward", 1, 10, 50),
        (PYTHON, "<built-in method mul>", 1, 20, 20), ("cpu_op", "aten::mul", 1, 25, 10), ("cpu_op", "aten::add", 1, 70, 10),
        ("cpu_op", "aten::alone", 2, 25, 10),
    ])  # fmt: skip
    frame = operators(recording, "file").set_index("name")["stack"]
    assert frame["aten::mul"] == "<built-in method mul>\nnet.py: forward\nmain.py: main"
    assert frame["aten::add"] == "main.py: main"
    assert frame["aten::alone"] == ""


def test_what_a_stack_leaves_out_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = [(PYTHON, f"a.py(1): f{depth}", 1, depth, 1000 - 2 * depth) for depth in range(stacks.DEEPEST + 1)]
    events += [("cpu_op", "aten::deep", 1, 400, 1), (PYTHON, "b.py(1): g", 1, 2000, 90), (PYTHON, "c.py(1): h", 1, 2001, 80),
               ("cpu_op", "aten::mul", 1, 2010, 5)]  # fmt: skip
    frame = operators(written(tmp_path, events), "file").set_index("name")["stack"]
    assert frame["aten::deep"].split("\n") == [*(f"a.py: f{depth}" for depth in range(stacks.DEEPEST, 0, -1)), "..."]
    assert frame["aten::mul"] == "c.py: h\nb.py: g"
    monkeypatch.setattr(stacks, "MOST_CHARACTERS", 1)
    frame = operators(written(tmp_path, events), "file").set_index("name")["stack"]
    assert frame["aten::mul"] == "c.py: h\nb.py: g"
    assert frame["aten::deep"] == f"a.py: f{stacks.DEEPEST}\n..."


def test_the_stack_is_that_with_most_own_time(tmp_path: Path) -> None:
    events = [(PYTHON, "main.py(1): main", 1, 0, 1000)]
    for call in range(6):
        name, long = ("a.py(1): seldom", 30) if call == 0 else ("b.py(1): often", 10)
        events += [(PYTHON, name, 1, 100 * call, 50), ("cpu_op", "aten::mul", 1, 100 * call + 5, long)]
    frame = operators(written(tmp_path, events), "file").set_index("name")["stack"]
    assert frame["aten::mul"] == "b.py: often\nmain.py: main"


@settings(deadline=None)
@example([(0, 0, 2, True), (0, 1, 1, False), (0, 1, 2, False)])
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30), st.integers(1, 20), st.booleans()), max_size=20))
def test_any_slices_give_the_functions_that_contain_them(
    tmp_path_factory: pytest.TempPathFactory, found: list[tuple[int, int, int, bool]]
) -> None:
    place = tmp_path_factory.mktemp("any")
    events = [("cpu_op", "aten::first", 1, 500, 1), (PYTHON, "last.py(1): last", 1, 600, 1)]
    for number, (thread, start, duration, is_python) in enumerate(found):
        name = f"f{number}.py(1): f" if is_python else f"aten::op{number}"
        events.append((PYTHON if is_python else "cpu_op", name, thread, start, duration))
    recording = written(place, events)
    around = stacks_around(recording.trace, recording.host.slice)
    slices, names = recording.trace.slices, recording.trace.names
    python = np.flatnonzero(slices.category == list(recording.trace.categories).index(PYTHON))
    for row, slice_ in enumerate(recording.host.slice.tolist()):
        begin, end = slices.start[slice_], slices.start[slice_] + slices.duration[slice_]
        lines = [line for line in around.texts[around.code[row]].split("\n") if line]
        for line in lines:
            one = next(at for at in python.tolist() if names[slices.name[at]].startswith(line.split(":")[0]))
            assert slices.track[one] == slices.track[slice_]
            assert slices.start[one] <= begin
            assert slices.start[one] + slices.duration[one] >= end
        inside = [
            at for at in python.tolist()
            if slices.track[at] == slices.track[slice_] and at < slice_
            and slices.start[at] <= begin and slices.start[at] + slices.duration[at] >= end
        ]  # fmt: skip
        assert bool(lines) == bool(inside)
