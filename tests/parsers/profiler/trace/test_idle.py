"""Idle time by cause: its sums against a count of our own, and what is kept of it on disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from parsers.analysis.jobs.advice import THRESHOLDS, called, review
from parsers.errors import FormatError
from parsers.profiler.trace import idle, sources
from parsers.profiler.trace.columns import Trace, Track
from parsers.profiler.trace.gaps import WAITING
from tests.writers.traces import trace

STEP = Track("p", "t", "1", "7", "python", (0, 1))
DEVICE = Track("d", "Stream 2", "2", "2", "device_stream", (0, 0))
US = 1000


def waiting(steps: int = 2) -> Trace:
    """Each step of 1,000 us: a kernel of 200 us, 500 us of item() after it until a launch, a kernel of 100 us, and nothing."""
    calls, kernels, arrows = [], [], []
    for step in range(steps):
        at = 1000 * US * step
        calls += [(at, 1000 * US, f"ProfilerStep#{step + 5}"), (at + 10 * US, 980 * US, "main.py(373): train"),
                  (at + 100 * US, 580 * US, "aten::item"), (at + 690 * US, 10 * US, "launch")]  # fmt: skip
        kernels += [(at, 200 * US, "MatMul"), (at + 700 * US, 100 * US, "Add")]
        arrows.append(((1, 4 * step + 3), (0, 2 * step + 1), "async_npu"))
    return trace([(DEVICE, kernels), (STEP, calls)], arrows=arrows)


def test_each_step_is_idle_for_the_sum_of_its_causes() -> None:
    found = idle.find(waiting())
    assert found is not None
    assert (found.stream, found.threshold_ns) == ("Stream 2", 10_000)
    steps = found.steps
    assert steps["step"].tolist() == ["5", "6"]
    assert steps["idle_ns"].tolist() == [700 * US, 700 * US]
    causes = [name for name in steps if str(name).endswith("_ns") and name not in ("start_ns", "duration_ns", "idle_ns")]
    assert steps[causes].sum(axis=1).tolist() == [700 * US, 700 * US]
    assert steps["synchronisation_ns"].tolist() == [500 * US, 500 * US]
    first = found.calls.iloc[0]
    assert (first["cause"], first["name"], first["site"]) == ("synchronisation", "aten::item", "main.py: train")
    assert (first["count"], first["idle_ns"], first["start_ns"], first["duration_ns"]) == (2, 1000 * US, 200 * US, 500 * US)


def test_advice_names_the_line_of_the_program_and_its_time_of_a_step() -> None:
    found = idle.find(waiting())
    assert found is not None
    result = review({"gap_steps": found.steps, "gap_calls": found.calls})
    (one,) = result.found
    assert (one.rule, one.subject, one.cost_ns) == ("gaps", ("main.py train(): .item()",), 500 * US)
    assert one.value == pytest.approx(0.5)
    assert one.evidence["idle_ns"].tolist() == [500 * US]
    assert "gaps" in review({"gap_steps": found.steps, "gap_calls": found.calls}, {"gaps": 0.6}).fine
    assert "trace_view.json" in review({}).unchecked["gaps"]
    assert set(result.unchecked) == set(THRESHOLDS) - {"gaps"}


@pytest.mark.parametrize(
    ("site", "name", "text"),
    [
        ("main.py(373): train", "aten::item", "main.py:373 .item()"),
        ("/home/me/main.py(373): train", "aten::_local_scalar_dense", "main.py:373 .item()"),
        ("main.py(373): train", "<built-in method tolist of Tensor object>", "main.py:373 .tolist()"),
        ("main.py(373): train", "<built-in method run_backward of torch._C._EngineBase object>", "main.py:373 run_backward()"),
        ("main.py(373): train", "main.py(373): train", "main.py:373 train"),
        ("main.py(373): train", "ProfilerStep", "main.py:373 train"),
        ("main.py(373): train", "aten::addmm", "main.py:373 aten::addmm"),
        ("", "hcom_allReduce", "hcom_allReduce"), ("lib/main.py: train", "aten::item", "main.py train(): .item()"),
        ("main.py: train", "ProfilerStep", "main.py train()"),
    ],
)
def test_a_call_in_few_words(site: str, name: str, text: str) -> None:
    assert called(site, name) == text


@pytest.mark.parametrize(
    ("lines", "site"), [((373, 373), "main.py(373): train"), ((373, 380), "main.py: train"), ((), "main.py: train")],
)  # fmt: skip
def test_the_line_is_that_of_the_call_and_not_the_first_of_its_function(
    lines: tuple[int, ...], site: str, tmp_path: Path
) -> None:
    """Frames of Python are named by the first line of the function; operators have the line in their call stack."""
    stacks = [f"/lib/torch/x.py(9): f;\r\n/home/me/main.py({line}): train;\r\n<string>(1): <module>" for line in lines]
    device = {"ph": "M", "name": "process_name", "pid": 2, "args": {"name": "Ascend Hardware"}}
    events: list[dict[str, object]] = [device, {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "Python"}}]
    events.append({"ph": "X", "pid": 1, "tid": 7, "ts": 0, "dur": 3000, "name": "main.py(350): train"})
    for number in range(2):
        at = 1000 * number
        arguments = {"Call stack": stacks[number]} if stacks else {}
        events += [
            {"ph": "X", "pid": 1, "tid": 7, "ts": at + 100, "dur": 800, "name": "aten::item", "args": arguments},
            {"ph": "X", "pid": 1, "tid": 7, "ts": at + 910, "dur": 10, "name": "launch"},
            {"ph": "X", "pid": 2, "tid": 4, "ts": at, "dur": 200, "name": "MatMul"},
            {"ph": "X", "pid": 2, "tid": 4, "ts": at + 930, "dur": 60, "name": "Add"},
            {"ph": "s", "pid": 1, "tid": 7, "ts": at + 910, "id": number, "cat": "async_npu", "name": "a"},
            {"ph": "f", "pid": 2, "tid": 4, "ts": at + 930, "id": number, "cat": "async_npu", "name": "a", "bp": "e"},
        ]  # fmt: skip
    events.append({"ph": "M", "name": "thread_name", "pid": 2, "tid": 4, "args": {"name": "Stream 4"}})
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps(events))
    found = idle.find(sources.read(str(path)))
    assert found is not None
    assert set(found.calls.loc[found.calls["name"] == "aten::item", "site"]) == {site}


def test_names_are_counted_together_whatever_the_step() -> None:
    assert idle.plain("ProfilerStep#50") == "ProfilerStep"
    assert idle.plain("hcom_allReduce__271_0_1") == "hcom_allReduce"
    assert idle.plain("<built-in method item of Tensor object at 0xfffdc1a11890>") == "<built-in method item of Tensor object>"
    assert idle.plain("MatMul_3") == "MatMul_3"


def test_only_the_longest_gaps_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle, "MOST_GAPS", 3)
    found = idle.find(waiting(8))
    assert found is not None
    assert found.steps["idle_ns"].sum() == 8 * 700 * US
    assert found.threshold_ns > 10_000
    assert found.steps["short_ns"].sum() > 0


def test_what_is_kept_is_what_was_found(tmp_path: Path) -> None:
    found = idle.find(waiting())
    idle.write(found, str(tmp_path))
    again = idle.read(str(tmp_path))
    assert found is not None
    assert again is not None
    assert again.steps.equals(found.steps)
    assert again.calls.equals(found.calls)
    assert (again.track, again.stream, again.threshold_ns) == (found.track, found.stream, found.threshold_ns)


def test_a_trace_without_streams_has_none(tmp_path: Path) -> None:
    none = idle.find(trace([(STEP, [(0, 10, "f")])]))
    assert none is None
    idle.write(none, str(tmp_path))
    assert idle.read(str(tmp_path)) is None


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b'{"track":1}', b'{"track":0,"stream":"s","threshold_ns":1,"steps":{"step":[1]},"calls":{}}']
)
def test_what_is_damaged_says_so(tmp_path: Path, text: bytes) -> None:
    (tmp_path / idle.FILE).write_bytes(text)
    with pytest.raises(FormatError):
        idle.read(str(tmp_path))


@pytest.mark.parametrize("name", ["steps", "calls", "track", "threshold_ns"])
def test_a_number_too_large_says_so(tmp_path: Path, name: str) -> None:
    idle.write(idle.find(waiting()), str(tmp_path))
    file = tmp_path / idle.FILE
    stored = json.loads(file.read_text())
    if name in ("steps", "calls"):
        stored[name]["duration_ns"][0] = 1 << 70
    else:
        stored[name] = 1 << 70
    file.write_text(json.dumps(stored))
    with pytest.raises(FormatError):
        idle.read(str(tmp_path))


@pytest.mark.parametrize(
    "name",
    [
        "torch_npu_text_level2/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json",
        "torch_npu_db_level2/rank1_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_1.db",
    ],
)
def test_a_real_step_counts_once(real_data: Path, name: str) -> None:
    made = sources.read(str(real_data / "profiler_new" / name))
    found = idle.find(made)
    assert found is not None
    (step,) = found.steps.to_dict("records")  # the database has it in two tables
    of = made.tracks[found.track]
    begin, end = step["start_ns"], step["start_ns"] + step["duration_ns"]
    busy, reached = 0, begin  # slices are in order of their starts, and may lie in each other
    for row in range(of.first, of.last):
        start, name = int(made.slices.start[row]), made.names[made.slices.name[row]]
        stop = min(start + int(made.slices.duration[row]), end)
        if not WAITING.search(name) and stop > max(start, reached):
            busy += stop - max(start, reached)
            reached = stop
    assert step["idle_ns"] == step["duration_ns"] - busy
    assert step["step"] == "50"
